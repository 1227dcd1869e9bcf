"""The first critical temperatures: where a collection that is one class begins to part in two.

Let x_d = (n_d − N_d p) / √p be what is peculiar about document *d*: its counts less those expected of its length N_d, p
being the collection's words. Two classes that are nearly alike differ more after an EM step, or less, in the direction
of the leading axis of these residuals. Warmer than critical every difference fades; colder than that the classes part.

Both figures are for a flat model. Where the parent stays as a topic above the halves, they part only later: a leaf with
the share *s* of its path does at *s* times the critical temperature (CAM), or at the inverse temperature 1 / (1 + σ√s)
(HPLSA).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

Array = np.ndarray[Any, Any]
NOTHING = 1e-14  # residuals of no more than rounding: all documents are alike


def critical_inverse_temperature(counts: Any) -> float:
    """β of the first split of flat PLSA: 1 / (1 + σ), σ the second singular value of n(i,j) / √(n_i n_j).

    It lies between ½ (two kinds of documents without a common word) and 1 (all documents alike).
    """
    lengths = np.asarray(counts.sum(axis=1), np.float64).ravel()
    weights = 1.0 / np.where(lengths > 0, lengths, 1.0)
    return 1.0 / (1.0 + float(np.sqrt(_leading_eigenvalue(counts, weights))))


def critical_temperature(counts: Any) -> float:
    """T of the first split of flat clustering (CAM of one level): the top eigenvalue of (1/N) Σ_d x_d x_dᵀ.

    The counts are those that the model sees: weighted ones where documents have an effective length.
    """
    return _leading_eigenvalue(counts, np.ones(counts.shape[0]))


def _leading_eigenvalue(counts: Any, weights: Array) -> float:
    """Of (1/N) Σ_d weights_d x_d x_dᵀ: each product with it is two sweeps over the non-zeros."""
    matrix = csr_array(counts, dtype=np.float64)
    matrix = matrix[:, np.flatnonzero(matrix.sum(axis=0) > 0)]
    n_docs, n_words = matrix.shape
    total = float(matrix.sum())
    if min(n_docs, n_words) < 2:
        return 0.0
    by_word = matrix.T.tocsr()
    lengths, root = matrix.sum(axis=1), np.sqrt(matrix.sum(axis=0) / total)
    scale = np.sqrt(weights / total)

    def by_docs(values: Array) -> Array:
        vector = values.ravel()
        residual: Array = scale * (matrix @ (vector / root) - lengths * (root @ vector))
        return residual

    def by_words(values: Array) -> Array:
        vector = scale * values.ravel()
        residual: Array = (by_word @ vector) / root - root * (lengths @ vector)
        return residual

    fewer = min(n_docs, n_words)

    def square(values: Array) -> Array:
        return by_words(by_docs(values)) if fewer == n_words else by_docs(by_words(values))

    start = np.random.default_rng(0).standard_normal(fewer)
    if np.linalg.norm(square(start)) <= NOTHING * np.linalg.norm(start) * max(1.0, float((weights * lengths).max())):
        return 0.0
    operator = LinearOperator((fewer, fewer), matvec=square, dtype=np.float64)
    return max(0.0, float(eigsh(operator, 1, v0=start, return_eigenvectors=False)[0]))
