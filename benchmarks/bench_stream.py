"""Millions of synthetic documents through online HPLSA, from blocks on disk: documents a second, memory, slope.

Blocks are written, read and removed in turn, so that the disk holds a part of the collection at a time. Before a block
is learned from, the system is asked to forget its copy in memory: what is timed is read from the disk. The time is that
of ``partial_fit``: reading, scoring a sample of the block, learning from all of it.

The child process, ``python -m benchmarks.bench_stream DOCUMENTS``, is the whole run and says what it took.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import memory
from benchmarks.bars import STREAM_MEMORY, STREAM_SLOPE
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings

DOCUMENTS, FULL, QUICK = 2_000_000, 10_000_000, 200_000
N_WORDS, DEPTH = 50_000, 6  # 64 leaves
BLOCK_SIZE, BLOCKS_AT_A_TIME = 1 << 14, 8
SAMPLE, SAMPLE_STEPS = 20_000, 50  # documents that the tree is fitted to before the stream begins
TEST = 8192
N_THREADS = 2
FAR = 1 << 40  # where documents begin that are in no stream


def main(settings: Settings) -> dict:
    """Run the stream in a process of its own."""
    documents = FULL if settings.full else QUICK if settings.quick else DOCUMENTS
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])}
    command = [sys.executable, "-m", "benchmarks.bench_stream", str(documents)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        lines = [line for line in child.stdout if not print(f"[stream] {line.strip()}", flush=True)]
    if child.returncode:
        raise RuntimeError(f"the stream ended with {child.returncode}")
    result = json.loads(lines[-1])
    return result | {"memory_bar": STREAM_MEMORY, "slope_bar": STREAM_SLOPE}


def _stream(documents: int) -> dict:
    from sklearn.metrics import normalized_mutual_info_score

    from benchmarks.synthetic import World
    from topiarist import HPLSA, Tree

    world = World(DEPTH, N_WORDS)
    tree = Tree.balanced(2, DEPTH)
    HPLSA(tree=Tree.star(2), dtype="float32", max_iter=2, n_threads=N_THREADS).fit(world.block(FAR, 100)[0])  # compiles
    model = HPLSA(tree=tree, random_state=0, dtype="float32", max_iter=SAMPLE_STEPS, n_threads=N_THREADS)
    test, leaves = world.block(FAR, TEST)
    began = time.perf_counter()
    model.fit(world.block(2 * FAR, SAMPLE)[0])
    fitted = time.perf_counter() - began
    agreement = [float(normalized_mutual_info_score(leaves, model.predict(test)))]
    points, writing, learning, busy, tokens, nonzeros = [], 0.0, 0.0, 0.0, 0.0, 0
    began, seen, folder = time.perf_counter(), 0, CACHE / "stream"
    while seen < documents:
        start = time.perf_counter()
        store = _written(world, folder, seen, min(documents - seen, BLOCKS_AT_A_TIME * BLOCK_SIZE))
        writing += time.perf_counter() - start
        for block in store.blocks():
            start, start_busy = time.perf_counter(), time.process_time()
            model.partial_fit(block)
            learning, busy = learning + time.perf_counter() - start, busy + time.process_time() - start_busy
            seen += block.shape[0]
            points.append((seen, learning))
        tokens, nonzeros = tokens + store.n_tokens, nonzeros + store.nnz
        shutil.rmtree(folder)
        if seen % 1_048_576 == 0:
            print(f"{seen:,} documents, {learning:.0f} s, {memory.peak() / 1e9:.2f} GB", flush=True)
    agreement.append(float(normalized_mutual_info_score(leaves, model.predict(test))))
    figures = [record.log_likelihood for record in model.stream_]
    few = max(1, len(figures) // 10)
    return {
        "documents": seen,
        "tokens": tokens,
        "nonzeros": nonzeros,
        "n_words": N_WORDS,
        "n_leaves": len(tree.leaves),
        "n_nodes": len(tree),
        "n_threads": N_THREADS,
        "block_size": BLOCK_SIZE,
        "sample": SAMPLE,
        "sample_seconds": fitted,
        "seconds": learning,
        "core_seconds": busy,
        "writing_seconds": writing,
        "wall_seconds": time.perf_counter() - began,
        "documents_a_second": seen / learning,
        "peak": memory.peak(),
        "slope": _slope(points),
        "first": points[0][0],
        "likelihood": [float(np.mean(figures[:few])), float(np.mean(figures[-few:]))],
        "agreement": agreement,
    }


def _written(world: object, folder: Path, first: int, n_docs: int) -> object:
    """Blocks on disk, and nowhere else."""
    from topiarist.execution import BlockStore

    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    starts = range(first, first + n_docs, BLOCK_SIZE)
    blocks = (world.block(start, min(BLOCK_SIZE, first + n_docs - start))[0] for start in starts)
    store = BlockStore.write(folder, blocks, block_size=None)
    if hasattr(os, "posix_fadvise"):
        for path in folder.rglob("*.npy"):
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return store


def _slope(points: list[tuple[int, float]]) -> float:
    """Of log time against log documents, at points that are evenly apart on that scale."""
    seen, seconds = np.array(points).T
    at = np.unique(np.searchsorted(seen, np.geomspace(seen[0], seen[-1], 20)))
    return float(np.polyfit(np.log(seen[at]), np.log(seconds[at]), 1)[0]) if len(at) > 1 else float("nan")


if __name__ == "__main__":
    print(json.dumps(_stream(int(sys.argv[1]))))
