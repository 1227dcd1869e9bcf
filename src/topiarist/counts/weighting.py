"""Weights for counts: inverse document frequency, unit rows, effective length."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Doubles
from topiarist.counts.validation import compute_document_frequency, count_tokens
from topiarist.errors import UsageError


def inverse_document_frequency(counts: Csr) -> Doubles:
    """Return log((1 + documents) / (1 + documents with the word)) + 1 for each word, as scikit-learn does."""
    return np.log((1 + counts.shape[0]) / (1 + compute_document_frequency(counts))) + 1.0


def tfidf(counts: Csr, idf: Doubles | None = None, *, sublinear: bool = False) -> Csr:
    """Return counts times ``idf``, by default the inverse document frequency in the counts.

    ``sublinear`` replaces the count n by 1 + log n.
    """
    idf = inverse_document_frequency(counts) if idf is None else idf
    weight = idf.astype(_choose_float_type(counts))[counts.indices]
    return _replace_data(counts, (1 + np.log(counts.data) if sublinear else counts.data) * weight)


def unit_rows(matrix: Csr) -> Csr:
    """Return the matrix with rows of length one; rows of zeros stay."""
    squares = _replace_data(matrix, matrix.data.astype(np.float64) ** 2)
    norms = np.sqrt(count_tokens(squares))
    return scale_rows(matrix, 1.0 / np.where(norms > 0, norms, 1.0))


def effective_length_weights(counts: Csr, length: float | None) -> Doubles:
    """Return min(1, length / n(i)) for each document, which limits the weight of long documents to ``length`` tokens.

    Without ``length`` every document has weight 1.
    """
    if length is None:
        return np.ones(counts.shape[0])
    if not length > 0:
        raise UsageError(f"the effective length must be above 0 (or None), got {length}", hint="Use 35.")
    weights: Doubles = length / np.maximum(count_tokens(counts), length)
    return weights


def shorten_documents(counts: Csr, length: float | None) -> Csr:
    """Return counts in which long documents weigh as much as ``length`` tokens; unchanged for None."""
    return counts if length is None else scale_rows(counts, effective_length_weights(counts, length))


def scale_rows(matrix: Csr, weights: Doubles) -> Csr:
    """Return the matrix with each row times its weight."""
    per_value = np.repeat(weights.astype(_choose_float_type(matrix)), np.diff(matrix.indptr))
    return _replace_data(matrix, matrix.data * per_value)


def _choose_float_type(matrix: Csr) -> type[np.floating[Any]]:
    """Return the float type of weights: the type of the matrix, or float32 for integers."""
    return np.float64 if matrix.data.dtype == np.float64 else np.float32


def _replace_data(matrix: Csr, data: Array) -> Csr:
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
