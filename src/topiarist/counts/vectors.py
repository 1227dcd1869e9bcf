"""Vectors that documents come with, from any encoder: what they must be, their directions, a space for both.

A vector is compared by its direction alone. A document without one has a row of zeros, and is told by its words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.errors import InputError

ROWS = 1 << 13  # that are looked at together
TINY = 1e-300
WIDE = 1 << 26  # numbers that may lie in memory in single precision: a quarter of a gigabyte
SHORTEST = 1e-6  # a vector that is shorter points nowhere


def check_vectors(vectors: Any, n_docs: int, n_dims: int | None = None) -> Floats:
    """Return directions of ``n_docs`` documents: rows of length one, or of zeros; never a changed input.

    Half precision stays half precision; all else becomes single precision.
    """
    found = np.asarray(vectors)
    if found.ndim != 2 or found.dtype.kind not in "fiu":
        raise InputError(
            f"vectors must be a matrix of numbers, documents × dimensions; got {found.dtype} of shape {found.shape}",
            hint="one row for each document, as an encoder returns them",
        )
    if len(found) != n_docs:
        raise InputError(
            f"there are {n_docs:,} documents and {len(found):,} vectors", hint="one row for each, in the same order"
        )
    if found.shape[1] < 2 or n_dims not in (None, found.shape[1]):
        wanted = "at least 2" if n_dims is None else f"{n_dims}, as those that it was fitted with"
        raise InputError(f"vectors must have {wanted} dimensions, got {found.shape[1]}", hint="the same encoder")
    return unit_directions(found)


def unit_directions(vectors: Array) -> Floats:
    """Return rows of length one; zeros stay zeros. What is not finite is refused with the number of its row."""
    out: Floats = np.empty(vectors.shape, np.float16 if vectors.dtype == np.float16 else np.float32)
    for start in range(0, len(vectors), ROWS):
        some = np.asarray(vectors[start : start + ROWS], np.float64)
        bad = ~np.isfinite(some).all(axis=1)
        if bad.any():
            raise InputError(
                f"the vector of document {start + int(bad.argmax()) + 1:,} has entries that are not finite numbers",
                hint="a row of zeros for a document without a vector",
            )
        length = np.linalg.norm(some, axis=1, keepdims=True)
        out[start : start + ROWS] = np.where(length > SHORTEST, some / np.where(length > SHORTEST, length, 1.0), 0.0)
    return out


def widened(directions: Floats) -> Floats:
    """Return half precision as single precision where there is room for it: the same numbers, read twice as fast."""
    return directions.astype(np.float32) if directions.size <= WIDE and directions.dtype == np.float16 else directions


def leading_part(directions: Floats, n_dims: int) -> Floats:
    """Return vectors in their leading dimensions, as long as they are there; the same where there are no more.

    Means of many documents lie in few dimensions, so that products with them hardly change; and zeros stay zeros.
    """
    if directions.shape[1] <= n_dims:
        return directions
    second = np.zeros((directions.shape[1], directions.shape[1]))
    for start in range(0, len(directions), ROWS):
        some = directions[start : start + ROWS].astype(np.float64)
        second += some.T @ some
    axes = np.ascontiguousarray(np.linalg.eigh(second)[1][:, ::-1][:, :n_dims], np.float32)
    out: Floats = np.empty((len(directions), n_dims), np.float32)
    for start in range(0, len(directions), ROWS):
        out[start : start + ROWS] = directions[start : start + ROWS].astype(np.float32) @ axes
    return out


def joined_space(words: Floats, tokens: Array, vectors: Floats, concentration: float, n_dims: int) -> Floats:
    """Return points in which both have a say: those of words, and leading dimensions of the centred vectors.

    The second half has length one, the first that of √(n/(n + κ)) for n tokens: words say as much as there are of them.
    Either is zero where a document has no words, or no vector.
    """
    said = np.sqrt(tokens / np.maximum(tokens + concentration, TINY))[:, None]
    there = has_vector(vectors)
    wide = np.zeros((len(vectors), min(n_dims, vectors.shape[1])), np.float32)
    if there.any():
        axes, mean = _leading(vectors, there, wide.shape[1])
        for start in range(0, len(vectors), ROWS):
            some = (vectors[start : start + ROWS].astype(np.float64) - mean) @ axes
            length = np.linalg.norm(some, axis=1, keepdims=True)
            wide[start : start + ROWS] = some / np.where(length > SHORTEST, length, 1.0)
        wide[~there] = 0.0
    return np.concatenate([words * said.astype(words.dtype), wide.astype(words.dtype)], axis=1)


def nearest_cosines(vectors: Floats, directions: Floats) -> Floats:
    """Return how near each row lies to the nearest of some directions; NaN for a row of zeros."""
    wide, found = directions.T.astype(np.float32), np.full(len(vectors), np.nan)
    for start in range(0, len(vectors), ROWS):
        some = vectors[start : start + ROWS].astype(np.float32)
        near = (some @ wide).max(axis=1, initial=-1.0)
        found[start : start + ROWS] = np.where(has_vector(some), near, np.nan)
    return found


def has_vector(vectors: Floats) -> Array:
    """Return which documents have a vector."""
    return np.asarray(np.asarray(vectors).any(axis=1))


def _leading(vectors: Floats, there: Array, number: int) -> tuple[Floats, Floats]:
    """Return the leading axes of the vectors around their mean, and the mean."""
    total, second = np.zeros(vectors.shape[1]), np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), ROWS):
        some = vectors[start : start + ROWS].astype(np.float64)
        total += some.sum(axis=0)
        second += some.T @ some
    mean = total / there.sum()
    axes = np.linalg.eigh(second - there.sum() * np.outer(mean, mean))[1][:, ::-1][:, :number]
    return np.ascontiguousarray(axes), mean
