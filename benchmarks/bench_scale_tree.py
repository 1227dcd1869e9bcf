"""A tree grown in memory, from files, and on one and two Dask workers: passes, seconds, memory, and the same bits?

The child process, ``python -m benchmarks.bench_scale_tree FOLDER HOW N_LEAVES``, grows one tree and says how it went.
The bundled abstracts, or with ``--full`` the 192,132 of arXiv 2011-2013.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import data, memory
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings

COLLECTION, LARGE = "arxiv-demo", "arxiv-2011-2013"
N_LEAVES, LARGE_LEAVES, QUICK_LEAVES = 32, 64, 6
WORKERS = {"1 worker": 1, "2 workers": 2}
HOWS = ("in memory", "from files", *WORKERS)
BLOCK_SIZES = {COLLECTION: 4_096, LARGE: 16_384}  # documents: enough blocks for two, each worth its words
LAST = 10  # passes at the end, with all leaves, whose median is told
FEW = 400  # documents of a tree that is grown first, so that nothing is compiled or imported in the other


def main(settings: Settings) -> dict:
    """Write the blocks once; then one tree after the other, each in a process of its own."""
    from topiarist.execution import BlockStore

    name = LARGE if settings.full else COLLECTION
    counts = data.load(data.counts(name))
    if settings.quick:
        counts = counts[:2_000]
    n_leaves = QUICK_LEAVES if settings.quick else LARGE_LEAVES if settings.full else N_LEAVES
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        store = BlockStore.write(Path(folder) / "store", counts, block_size=BLOCK_SIZES[name])
        size = sum(entry["bytes"] for block in store.manifest.blocks for entry in block.files.values())
        rows = {how: _child(store.folder, how, n_leaves) for how in HOWS}
    return {
        "collection": name,
        "documents_from": data.provenance(name),
        "counts": {"documents": len(store), "words": store.shape[1], "nonzeros": store.nnz},
        "n_blocks": len(store.manifest.blocks),
        "bytes": size,
        "n_leaves": n_leaves,
        "grown": rows,
        "same_bits": len({rows[how]["digest"] for how in HOWS[1:]}) == 1,
    }


def _child(folder: Path, how: str, n_leaves: int) -> dict:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])}
    command = [sys.executable, "-m", "benchmarks.bench_scale_tree", str(folder), how, str(n_leaves)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{how}: {done.stderr.strip()[-2000:]}")
    answer: dict = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"[scale_tree] {how}: {answer}", flush=True)
    return answer


class Counted:
    """An executor that notes the seconds of every pass."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.needs_files, self.scratch = inner, getattr(inner, "needs_files", False), None
        self.times: list[float] = []

    def total(self, function: Any, blocks: Any, local: Any) -> Any:
        """See ``topiarist.execution.executors.Executor.total``."""
        began = time.perf_counter()
        try:
            return self.inner.total(function, blocks, local)
        finally:
            self.times.append(time.perf_counter() - began)


def _grown(folder: Path, how: str, n_leaves: int) -> dict:
    from topiarist import CAM
    from topiarist.execution import BlockStore, DaskExecutor, InProcess
    from topiarist.execution.dask import connect

    store = BlockStore.open(folder, check=False)
    with connect(f"local:{WORKERS[how]}") if how in WORKERS else nullcontext() as client:
        inner = InProcess() if client is None else DaskExecutor(client)
        options = {"random_state": 0, "n_threads": 1}
        few: Any = BlockStore.write(folder.parent / how.replace(" ", "-"), store.sample(FEW), block_size=FEW // 4)
        CAM(4, executor=None if how == HOWS[0] else inner, dtype="float32", **options).fit(
            store.sample(FEW) if how == HOWS[0] else few
        )
        executor = Counted(inner)
        memory.reset_peak()
        before, used, began = memory.current(), _cpu(client), time.perf_counter()
        X: Any = store
        if how == HOWS[0]:
            X = sparse.vstack([block.counts() for block in store.blocks()], format="csr")
        model = CAM(n_leaves, executor=executor, **options).fit(X)
        seconds = time.perf_counter() - began
        return {
            "leaves": len(model.tree_.leaves),
            "passes": len(executor.times),
            "pass": float(np.median(executor.times[-LAST:])),
            "seconds": seconds,
            "between_passes": seconds - sum(executor.times),
            "processor_seconds": _cpu(client) - used,
            "peak": memory.peak() - before,
            "objective": float(model.history_[-1]),
            "digest": hashlib.sha256(np.ascontiguousarray(model.word_given_node_).tobytes()).hexdigest(),
        }


def _cpu(client: Any) -> float:
    """Seconds of processors so far, of this process and of all workers."""
    return time.process_time() + (0.0 if client is None else sum(client.run(time.process_time).values()))


if __name__ == "__main__":
    print(json.dumps(_grown(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
