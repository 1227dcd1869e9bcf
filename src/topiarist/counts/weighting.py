"""Weights for counts: inverse document frequency, unit rows, effective length."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Doubles
from topiarist.counts.validation import document_frequency, token_counts
from topiarist.errors import UsageError


def inverse_document_frequency(counts: Csr) -> Doubles:
    """Return log((1 + documents) / (1 + documents with the word)) + 1 for each word, as scikit-learn does."""
    return np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1.0


def tfidf(counts: Csr, idf: Doubles | None = None, *, sublinear: bool = False) -> Csr:
    """Return counts times the inverse document frequency of their words (that of the counts, unless given).

    ``sublinear`` uses 1 + log n in the place of the count n.
    """
    idf = inverse_document_frequency(counts) if idf is None else idf
    weight = idf.astype(_float_type(counts))[counts.indices]
    return _with_data(counts, (1 + np.log(counts.data) if sublinear else counts.data) * weight)


def unit_rows(matrix: Csr) -> Csr:
    """Return the matrix with rows of length one; rows of zeros stay as they are."""
    squares = _with_data(matrix, matrix.data.astype(np.float64) ** 2)
    norms = np.sqrt(token_counts(squares))
    return scale_rows(matrix, 1.0 / np.where(norms > 0, norms, 1.0))


def effective_length_weights(counts: Csr, length: float | None) -> Doubles:
    """Return min(1, length / n(i)) for each document: long documents count as if they had ``length`` tokens.

    With None every document weighs one.
    """
    if length is None:
        return np.ones(counts.shape[0])
    if not length > 0:
        raise UsageError(f"the effective length must be above 0 (or None), got {length}", hint="35")
    weights: Doubles = length / np.maximum(token_counts(counts), length)
    return weights


def shortened(counts: Csr, length: float | None) -> Csr:
    """Return counts in which a longer document weighs as if it had ``length`` tokens; with None as they are."""
    return counts if length is None else scale_rows(counts, effective_length_weights(counts, length))


def scale_rows(matrix: Csr, weights: Doubles) -> Csr:
    """Return the matrix with each row times its weight."""
    per_value = np.repeat(weights.astype(_float_type(matrix)), np.diff(matrix.indptr))
    return _with_data(matrix, matrix.data * per_value)


def _float_type(matrix: Csr) -> type[np.floating[Any]]:
    """Return the float type for weights: that of the matrix, or float32 for whole numbers."""
    return np.float64 if matrix.data.dtype == np.float64 else np.float32


def _with_data(matrix: Csr, data: Array) -> Csr:
    """Return a matrix with other values at the same places (which are shared, not copied)."""
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
