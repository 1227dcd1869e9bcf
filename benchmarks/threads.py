"""A pass with 1, 2, 4 … threads on a machine with many cores: ``python -m benchmarks.threads COUNTS.npz [COMPONENTS]``.

Needs numpy, scipy, numba and topiarist only, so that it runs where nothing can be installed. The counts are
``indptr``, ``data``, ``shape`` and either ``indices`` or (smaller to carry) their differences ``delta``.
"""

from __future__ import annotations

import hashlib
import sys
import time

import numpy as np
from scipy import sparse

from topiarist.execution.executors import InProcess
from topiarist.execution.threads import Threads, count_available_cores
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import em, plsa
from topiarist.models.engine.host import Engine

ROUNDS = 6


def counts_of(path: str) -> sparse.csr_matrix:
    """Return the counts of a file; differences start anew in each row."""
    parts = np.load(path)
    indptr = parts["indptr"]
    if "indices" in parts:
        indices = parts["indices"]
    else:
        running = np.cumsum(parts["delta"], dtype=np.int64)
        before = np.concatenate([[0], running])[indptr[:-1]]
        indices = running - np.repeat(before, np.diff(indptr))
    shape = tuple(parts["shape"])
    return sparse.csr_matrix((parts["data"].astype(np.float32), indices.astype(np.int32), indptr), shape=shape)


def main(path: str, n_components: int = 128) -> None:
    """Print the best time of a pass, the speed-up and the bits for each number of threads, in interleaved rounds."""
    shard = Shard.from_matrix(counts_of(path), np.float32, n_components)
    numbers = [n for n in (1, 2, 4, 8, 16, 32) if n <= count_available_cores()]
    start = plsa.create_start([shard], n_components, np.random.default_rng(0))
    best, digests = dict.fromkeys(numbers, np.inf), {}
    for _ in range(ROUNDS):
        for n in numbers:
            with Threads(n) as threads:
                model = plsa.Plsa(Engine(load("compiled"), threads), 0.01, 0.05)
                began = time.perf_counter()
                state, objective = em.step(model, [shard], start, 1.0, InProcess())
                best[n] = min(best[n], time.perf_counter() - began)
            bits = hashlib.sha256(state.local[0].tobytes() + state.shared.by_word.tobytes())
            digests[n] = f"{bits.hexdigest()[:12]} {objective!r}"
    work = 8 * n_components * len(shard.rows.data)
    print(f"{shard.shape[0]:,} documents, {len(shard.rows.data):,} non-zeros, K = {n_components}")
    for n in numbers:
        rate = work / best[n] / 1e9
        print(f"{n:3} threads {1000 * best[n]:8.1f} ms {best[1] / best[n]:6.2f} × {rate:7.1f} GFLOP/s  {digests[n]}")
    print("bits:", "identical" if len(set(digests.values())) == 1 else "DIFFERENT")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
