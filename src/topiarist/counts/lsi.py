"""Latent semantic indexing: documents and words in a space of few dimensions, X ≈ U S Vᵀ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.counts.weighting import inverse_document_frequency, tfidf, unit_rows
from topiarist.errors import InputError, UsageError

_SMALL = 200_000  # cells; up to this size the exact dense decomposition is faster
_POWER_ITERATIONS = 6
Factors: TypeAlias = Callable[[Csr, int, int], tuple[Floats, Floats, Floats] | None]


@dataclass(frozen=True, eq=False)
class LatentSpace:
    """Truncated singular value decomposition of weighted counts.

    ``idf`` holds the word weights if ``latent_space`` made the space; ``project`` then takes raw counts.
    """

    doc_factors: Floats  # U, documents × dimensions
    singular_values: Floats  # S, falling
    word_factors: Floats  # V, words × dimensions
    idf: np.ndarray[Any, np.dtype[np.float64]] | None = None

    @property
    def doc_vectors(self) -> Floats:
        """Return the coordinates U S of the documents, as ``project`` computes them."""
        return self.doc_factors * self.singular_values

    def project(self, counts: Csr) -> Floats:
        """Return the coordinates X V of (new) documents."""
        if counts.shape[1] != self.word_factors.shape[0]:
            raise InputError(f"expected {self.word_factors.shape[0]} columns (words), got {counts.shape[1]}")
        weighted = counts if self.idf is None else unit_rows(tfidf(counts, self.idf))
        return np.asarray(weighted @ self.word_factors)


def latent_space(counts: Csr, n_dims: int = 100, *, seed: int = 0) -> LatentSpace:
    """Return the LSI space of counts: tf-idf, unit rows, truncated singular value decomposition."""
    idf = inverse_document_frequency(counts)
    space = truncated_svd(unit_rows(tfidf(counts, idf)), n_dims, seed=seed)
    return LatentSpace(space.doc_factors, space.singular_values, space.word_factors, idf)


def compute_document_directions(counts: Csr, n_dims: int, seed: int = 0, factors: Factors | None = None) -> Floats:
    """Return documents as unit vectors of a latent space of damped counts; zeros for a document without words.

    ``factors``: see ``truncated_svd``.
    """
    space = truncated_svd(unit_rows(tfidf(counts, sublinear=True)), n_dims, seed=seed, factors=factors).doc_vectors
    lengths = np.linalg.norm(space, axis=1, keepdims=True)
    return (space / np.where(lengths > 1e-12, lengths, 1.0)).astype(np.float32)


def truncated_svd(matrix: Csr, n_dims: int, *, seed: int = 0, factors: Factors | None = None) -> LatentSpace:
    """Return at most ``n_dims`` leading singular values and vectors of a sparse matrix.

    Small matrices are decomposed exactly, others by random projections with power iterations. The result depends on
    the seed, but not on the number of threads. The largest word factor of each dimension is positive. ``factors`` can
    compute U, S, Vᵀ of a large matrix on a device, and returns None to leave it to the processor.
    """
    from sklearn.utils.extmath import randomized_svd
    from threadpoolctl import threadpool_limits

    if n_dims < 1:
        raise UsageError(f"expected at least 1 dimension, got {n_dims}", hint="Use 100.")
    k = min(n_dims, *matrix.shape)
    with threadpool_limits(limits=1, user_api="blas"):
        if matrix.shape[0] * matrix.shape[1] <= _SMALL:
            left, values, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
        else:
            device_factors = None if factors is None else factors(matrix, k, seed)
            left, values, right = device_factors or randomized_svd(
                matrix, k, n_oversamples=10, n_iter=_POWER_ITERATIONS, random_state=seed
            )
    left, values, right = left[:, :k], values[:k], right[:k]
    largest = np.abs(right).argmax(axis=1)
    signs = np.where(right[np.arange(k), largest] < 0, -1.0, 1.0).astype(right.dtype)
    return LatentSpace(left * signs, values, np.ascontiguousarray((right * signs[:, None]).T))
