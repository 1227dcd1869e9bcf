"""Embeddings of documents: validation, directions, and joined spaces of words and embeddings.

Embeddings are compared by direction only. A document without an embedding has a row of zeros, and only its words
count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import TINY, Array, Floats
from topiarist.errors import InputError

ROWS_PER_BLOCK = 1 << 13  # rows that are processed together
MAX_WIDENED = 1 << 26  # entries in single precision: 256 MiB of memory
MIN_LENGTH = 1e-6  # shorter vectors have no direction


def check_vectors(vectors: Any, n_docs: int, n_dims: int | None = None) -> Floats:
    """Return the directions of ``n_docs`` documents: rows of length one or zero, in a new array.

    Half precision stays half precision; other types become single precision.
    """
    matrix = np.asarray(vectors)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise InputError(
            f"vectors must be a matrix of numbers, documents × dimensions; got {matrix.dtype} of shape {matrix.shape}",
            hint="Give one row for each document, as an encoder returns them.",
        )
    if len(matrix) != n_docs:
        raise InputError(
            f"there are {n_docs:,} documents and {len(matrix):,} vectors",
            hint="Give one row for each document, in the same order.",
        )
    if matrix.shape[1] < 2 or n_dims not in (None, matrix.shape[1]):
        expected_dims = "at least 2 dimensions" if n_dims is None else f"the {n_dims} dimensions of training"
        raise InputError(f"vectors must have {expected_dims}, got {matrix.shape[1]}", hint="Use the same encoder.")
    return normalise_vectors(matrix)


def normalise_vectors(vectors: Array) -> Floats:
    """Return rows of length one; rows of zeros stay. Raises InputError with the row number of a non-finite entry."""
    out: Floats = np.empty(vectors.shape, np.float16 if vectors.dtype == np.float16 else np.float32)
    for start in range(0, len(vectors), ROWS_PER_BLOCK):
        block = np.asarray(vectors[start : start + ROWS_PER_BLOCK], np.float64)
        bad = ~np.isfinite(block).all(axis=1)
        if bad.any():
            raise InputError(
                f"the vector of document {start + int(bad.argmax()) + 1:,} has entries that are not finite numbers",
                hint="Use a row of zeros for a document without a vector.",
            )
        length = np.linalg.norm(block, axis=1, keepdims=True)
        out[start : start + ROWS_PER_BLOCK] = np.where(
            length > MIN_LENGTH, block / np.where(length > MIN_LENGTH, length, 1.0), 0.0
        )
    return out


def widen_directions(directions: Floats) -> Floats:
    """Return half precision as single precision, which is read twice as fast, if memory allows."""
    return (
        directions.astype(np.float32)
        if directions.size <= MAX_WIDENED and directions.dtype == np.float16
        else directions
    )


def project_to_leading_axes(directions: Floats, n_dims: int) -> Floats:
    """Project vectors to ``n_dims`` leading axes, without normalisation; fewer dimensions are returned as they are.

    Means of many documents have few dimensions, so products with them hardly change. Zeros stay zeros.
    """
    if directions.shape[1] <= n_dims:
        return directions
    second = np.zeros((directions.shape[1], directions.shape[1]))
    for start in range(0, len(directions), ROWS_PER_BLOCK):
        block = directions[start : start + ROWS_PER_BLOCK].astype(np.float64)
        second += block.T @ block
    axes = np.ascontiguousarray(np.linalg.eigh(second)[1][:, ::-1][:, :n_dims], np.float32)
    out: Floats = np.empty((len(directions), n_dims), np.float32)
    for start in range(0, len(directions), ROWS_PER_BLOCK):
        out[start : start + ROWS_PER_BLOCK] = directions[start : start + ROWS_PER_BLOCK].astype(np.float32) @ axes
    return out


def join_spaces(words: Floats, tokens: Array, vectors: Floats, concentration: float, n_dims: int) -> Floats:
    """Return coordinates by words joined with leading dimensions of the centred embeddings.

    Embeddings have length one, words have length √(n/(n + κ)) for n tokens: long documents have a larger weight of
    words. Coordinates are zero for documents without words or without an embedding.
    """
    word_weight = np.sqrt(tokens / np.maximum(tokens + concentration, TINY))[:, None]
    has_row = find_rows_with_vectors(vectors)
    wide = np.zeros((len(vectors), min(n_dims, vectors.shape[1])), np.float32)
    if has_row.any():
        axes, mean = _compute_leading_axes(vectors, has_row, wide.shape[1])
        for start in range(0, len(vectors), ROWS_PER_BLOCK):
            block = (vectors[start : start + ROWS_PER_BLOCK].astype(np.float64) - mean) @ axes
            length = np.linalg.norm(block, axis=1, keepdims=True)
            wide[start : start + ROWS_PER_BLOCK] = block / np.where(length > MIN_LENGTH, length, 1.0)
        wide[~has_row] = 0.0
    return np.concatenate([words * word_weight.astype(words.dtype), wide.astype(words.dtype)], axis=1)


def compute_nearest_cosines(vectors: Floats, directions: Floats) -> Floats:
    """Return the largest cosine of each row with ``directions``; NaN for a row of zeros."""
    wide, nearest = directions.T.astype(np.float32), np.full(len(vectors), np.nan)
    for start in range(0, len(vectors), ROWS_PER_BLOCK):
        block = vectors[start : start + ROWS_PER_BLOCK].astype(np.float32)
        cosines = (block @ wide).max(axis=1, initial=-1.0)
        nearest[start : start + ROWS_PER_BLOCK] = np.where(find_rows_with_vectors(block), cosines, np.nan)
    return nearest


def find_rows_with_vectors(vectors: Floats) -> Array:
    """Return the mask of documents with an embedding."""
    return np.asarray(np.asarray(vectors).any(axis=1))


def _compute_leading_axes(vectors: Floats, has_row: Array, number: int) -> tuple[Floats, Floats]:
    """Return the leading axes of the vectors around their mean, and the mean."""
    total, second = np.zeros(vectors.shape[1]), np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), ROWS_PER_BLOCK):
        block = vectors[start : start + ROWS_PER_BLOCK].astype(np.float64)
        total += block.sum(axis=0)
        second += block.T @ block
    mean = total / has_row.sum()
    axes = np.linalg.eigh(second - has_row.sum() * np.outer(mean, mean))[1][:, ::-1][:, :number]
    return np.ascontiguousarray(axes), mean
