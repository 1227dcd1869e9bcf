"""A direction for each class beside its words: how documents that come with vectors lie. (V1)-(V3):
docs/models/vectors.md

Vectors have length one, or zero for a document that has none. A class has a mean direction μ; a document agrees with it
by κ μ·v, the logarithm of a von Mises-Fisher density up to a constant that all classes share. What a step needs of the
documents is one sum of vectors for each class, which adds up over blocks.

Vectors may lie in half precision: they are made wider piece by piece, never as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Floats
from topiarist.models.engine.host import Engine, row_pieces

TINY = 1e-300
SMALLEST = 1e-30  # share by words that a class has at least, where vectors may bring it back
PIECE = 1 << 20  # numbers of vectors that are wide at a time


@dataclass(frozen=True)
class Directions:
    """How vectors weigh: the concentration κ, and the sum of vectors that every class begins with."""

    concentration: float
    prior: Floats  # (n_dimensions,)

    @classmethod
    def of(cls, vectors: Floats, concentration: float, documents: float = 1.0) -> Directions:
        """Every class begins with so many documents that lie as all do."""
        total = np.zeros(vectors.shape[1])
        for piece in row_pieces(vectors, PIECE):
            total += vectors[piece].sum(axis=0, dtype=np.float64)
        return cls(concentration, documents * total / max(len(vectors), 1))

    def means(self, sums: Floats) -> Floats:
        """(V3): the mean direction of each class, of length one; zero where nothing points anywhere."""
        total = sums + self.prior
        length = np.linalg.norm(total, axis=1, keepdims=True)
        means: Floats = np.where(length > TINY, total / np.where(length > TINY, length, 1.0), 0.0)
        return means

    def log_prior(self, means: Floats) -> float:
        """κ Σ_c μ_c · prior."""
        return float(self.concentration * (means @ self.prior).sum())


def add_agreement(engine: Engine, scores: Floats, vectors: Floats, means: Floats, concentration: float) -> Floats:
    """``scores[d, c] += κ μ_c · v_d``, in place, in the precision of the scores."""
    weighed = np.ascontiguousarray((concentration * means).T, scores.dtype)

    def piece(rows: slice) -> None:
        scores[rows] += vectors[rows].astype(scores.dtype, copy=False) @ weighed

    engine.threads.map(piece, row_pieces(vectors, PIECE))
    return scores


def sums_of(engine: Engine, posterior: Floats, vectors: Floats) -> Floats:
    """(V2): Σ_d P(c|d) v_d, (n_classes, n_dimensions), added in double precision in the order of the pieces."""

    def piece(rows: slice) -> Floats:
        wide = vectors[rows].astype(posterior.dtype, copy=False)
        part: Floats = (posterior[rows].T @ wide).astype(np.float64)
        return part

    total = np.zeros((posterior.shape[1], vectors.shape[1]))
    for part in engine.threads.map(piece, row_pieces(vectors, PIECE)):
        total += part
    return total


def joined_rows(rows: Floats, vectors: Floats, means: Floats, concentration: float) -> Floats:
    """(V1) from P(c|words of d): times exp(κ μ_c·v_d), to sum one again."""
    agreement = concentration * (vectors.astype(np.float32, copy=False) @ means.T.astype(np.float32))
    agreement -= agreement.max(axis=1, keepdims=True)
    joint = np.maximum(rows, SMALLEST).astype(np.float64) * np.exp(agreement)
    there = np.count_nonzero(vectors, axis=1)[:, None] > 0
    joined: Floats = np.where(there, joint / joint.sum(axis=1, keepdims=True), rows).astype(rows.dtype)
    return joined


def foretold(engine: Engine, posterior: Floats, vectors: Floats, means: Floats, joined: Directions) -> Floats:
    """(V4): how well the words of each document foretell its vector, log Σ_c P(c|words) exp(κ μ_c·v), up to a constant.

    The directions are those of all other documents: what a vector has added to a sum is taken out again before it is
    compared. ``posterior`` and ``means`` belong to a step: words and vector together, and the directions they met.
    """
    kappa = joined.concentration
    sums = sums_of(engine, posterior, vectors) + joined.prior
    squares, out = (sums**2).sum(axis=1), np.zeros(len(vectors))

    def piece(rows: slice) -> None:
        some, own = vectors[rows].astype(np.float64), posterior[rows].astype(np.float64)
        by_words = np.log(np.maximum(own, TINY)) - kappa * (some @ means.T)
        by_words -= _log_sum(by_words)
        along, one = some @ sums.T, (some**2).sum(axis=1, keepdims=True)
        length = np.sqrt(np.maximum(squares - 2 * own * along + own**2 * one, 1e-12))
        out[rows] = _log_sum(by_words + kappa * (along - own * one) / length)[:, 0]

    engine.threads.map(piece, row_pieces(vectors, PIECE))
    return out


def _log_sum(values: Floats) -> Floats:
    """Log Σ exp of each row, as a column."""
    top = values.max(axis=1, keepdims=True)
    total: Floats = top + np.log(np.exp(values - top).sum(axis=1, keepdims=True))
    return total
