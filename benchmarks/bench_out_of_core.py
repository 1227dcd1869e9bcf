"""A synthetic collection ten times as large as the memory it may take: does it fit, and what does it cost?

The child process, ``python -m benchmarks.bench_out_of_core FOLDER HOW ALLOWANCE``, does one thing and says how it went.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import memory, ours
from benchmarks.bars import OUT_OF_CORE_RATIO
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings
from benchmarks.timing import seconds_of

ALLOWANCE = 200_000_000  # bytes
TIMES = 10
N_WORDS, N_COMPONENTS, N_TOPICS = 20_000, 64, 200
DOCUMENT_LENGTH = 100
BLOCK_SIZE = 1 << 15
N_THREADS = 2
PASSES = 3
QUICK = (ALLOWANCE // 10, N_WORDS // 10, BLOCK_SIZE // 8)  # parameters and blocks that go into a tenth too
FIT_PASSES = 3


def main(settings: Settings) -> dict:
    """Write the collection once; then a pass from files, one in memory over a part that fits, and a whole fit."""
    from topiarist.execution import BlockStore

    allowance, n_words, block_size = QUICK if settings.quick else (ALLOWANCE, N_WORDS, BLOCK_SIZE)
    folder = CACHE / "out-of-core"
    shutil.rmtree(folder, ignore_errors=True)
    CACHE.mkdir(exist_ok=True)
    try:
        store = BlockStore.write(folder, _collection(TIMES * allowance, n_words, block_size), block_size=None)
        size = sum(entry["bytes"] for block in store.manifest.blocks for entry in block.files.values())
        print(f"[out_of_core] {len(store):,} documents, {store.nnz:,} non-zeros, {size / 1e6:,.0f} MB", flush=True)
        hows = ("memory", "files")
        rounds = [{how: _child(folder, how, allowance) for how in hows} for _ in range(settings.scaling_rounds)]
        best = {how: min(one[how]["nanoseconds"] for one in rounds) for how in hows}
        fit = _child(folder, "fit", allowance)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result = {
        "documents": len(store),
        "nonzeros": store.nnz,
        "n_words": n_words,
        "n_components": N_COMPONENTS,
        "n_threads": N_THREADS,
        "n_blocks": len(store.manifest.blocks),
        "bytes": size,
        "allowance": allowance,
        "peak": fit["peak"],
        "fit_seconds": fit["seconds"],
        "fit_passes": FIT_PASSES,
        "nanoseconds": best,
        "ratio": best["files"] / best["memory"],
        "bar": OUT_OF_CORE_RATIO,
    }
    print(f"[out_of_core] {result}", flush=True)
    return result


def _collection(size: int, n_words: int, block_size: int) -> Iterator[sparse.csr_array]:
    """Blocks of documents of a few topics each, words by Zipf's law, about ``size`` bytes in files altogether."""
    rng = np.random.default_rng(0)
    zipf = 1.0 / np.arange(1, n_words + 1)
    topics = np.stack([np.cumsum(share / share.sum()) for share in zipf * rng.gamma(0.1, size=(N_TOPICS, n_words))])
    written = 0
    while written < size:
        topic = rng.integers(N_TOPICS, size=(block_size, 2))
        chosen = topic[np.arange(block_size)[:, None], rng.integers(2, size=(block_size, DOCUMENT_LENGTH))]
        draws, words = rng.random(chosen.shape), np.empty(chosen.shape, np.int64)
        for number in range(N_TOPICS):
            here = chosen == number
            words[here] = np.searchsorted(topics[number], draws[here] * topics[number][-1])
        rows = np.repeat(np.arange(block_size), DOCUMENT_LENGTH)
        ones = np.ones(rows.size, np.float32)
        block = sparse.csr_array((ones, (rows, np.minimum(words, n_words - 1).ravel())), shape=(block_size, n_words))
        block.sum_duplicates()
        written += block.nnz * 14 + block_size * 4 + n_words * 8
        yield block


def _child(folder: Path, how: str, allowance: int) -> dict:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])}
    command = [sys.executable, "-m", "benchmarks.bench_out_of_core", str(folder), how, str(allowance)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{how}: {done.stderr.strip().splitlines()[-1]}")
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"[out_of_core] {how}: {answer}", flush=True)
    return answer


def _passes(folder: Path, how: str) -> dict:
    """Nanoseconds of a pass for each non-zero; in memory only a tenth of the collection, as one block."""
    from topiarist.execution import BlockStore, InProcess
    from topiarist.kernels.shard import Shard

    store = BlockStore.open(folder, check=False)
    blocks = store.blocks()
    if how == "memory":
        part = blocks[: math.ceil(len(blocks) / TIMES)]
        counts = sparse.vstack([block.counts() for block in part], format="csr")
        blocks = [Shard.from_matrix(counts, np.float32, N_COMPONENTS)]
    walk = ours.Walk(blocks, N_COMPONENTS, InProcess(), N_THREADS)
    seconds = [seconds_of(walk.step) for _ in range(PASSES + 1)][1:]
    nonzeros = sum(len(block.load().rows.data) if how == "files" else len(block.rows.data) for block in blocks)
    return {"nanoseconds": 1e9 * min(seconds) / nonzeros}


def _fit(folder: Path, allowance: int) -> dict:
    """The peak memory of a whole fit beyond an idle, warm process."""
    from topiarist.execution import BlockStore, InProcess

    ours.warm_up(N_COMPONENTS, N_THREADS)
    memory.reset_peak()
    before = memory.current()
    model = ours.estimator(N_COMPONENTS, N_THREADS, FIT_PASSES)
    model.set_params(executor=InProcess(memory=allowance))
    seconds = seconds_of(lambda: model.fit(BlockStore.open(folder)))
    return {"peak": memory.peak() - before, "seconds": seconds}


if __name__ == "__main__":
    where, what, allowed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    print(json.dumps(_fit(where, allowed) if what == "fit" else _passes(where, what)))
