"""enstop's PLSA and BlockParallelPLSA. It names ``np.float``, gone from NumPy: put back before the import."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from benchmarks.timing import Difference

np.float = float
from enstop import PLSA, BlockParallelPLSA  # noqa: E402

FEW, MANY = 1, 16


def plsa_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one EM iteration of PLSA (difference of two fits; it compiles at import)."""
    return _timer(PLSA, counts, n_components)


def block_parallel_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one EM iteration of BlockParallelPLSA (threads by ``NUMBA_NUM_THREADS``)."""
    return _timer(BlockParallelPLSA, counts, n_components)


def _timer(estimator: type, counts: sparse.csr_array, n_components: int) -> Difference:
    """Time fits that differ only in their iterations; convergence is tested at the first one alone."""
    matrix = sparse.csr_matrix(counts.astype(np.float32))

    def fit(n_iterations: int, matrix: sparse.csr_matrix = matrix) -> None:
        settings = {"n_iter": n_iterations, "n_iter_per_test": 10**6, "tolerance": 0.0}
        estimator(n_components=n_components, init="random", random_state=0, **settings).fit(matrix)

    return Difference(fit, FEW, MANY)
