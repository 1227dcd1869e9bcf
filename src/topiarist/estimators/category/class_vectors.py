"""Where the vectors of classes lie, from labelled documents and from what is guessed of the others.

Documents may come with vectors (of a sentence encoder, say). They are directions in the few dimensions in which they
vary most; those of a class are Gaussian around its mean, with one covariance for all classes. A document without a
label belongs to the classes as a first guess says, then as the Gaussians do: a few steps of EM. One without a vector is
told by its words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Floats, Ints
from topiarist.counts.vectors import has_vector
from topiarist.estimators.category.calibration import probabilities
from topiarist.estimators.gaussian.vector_space import VectorSpace

DIMENSIONS = 64
LOOKED_AT = 20_000  # vectors that tell the dimensions
ROWS = 1 << 13  # that are wide at once
STEPS = 10  # of EM
BEGUN = 1.0  # documents that lie as all do, with which every class begins
ROUND = 0.3  # of the covariance: as if all dimensions varied alike
SMALLEST = 1e-9


def space_of(vectors: Floats) -> VectorSpace | None:
    """The dimensions in which vectors vary most; None where hardly any document has one."""
    rows = np.flatnonzero(has_vector(vectors))
    if len(rows) < 2:
        return None
    some = rows[:: max(1, -(-len(rows) // LOOKED_AT))]
    return VectorSpace.of(np.asarray(vectors[some], np.float64), min(DIMENSIONS, vectors.shape[1]))


def points_in(space: VectorSpace | None, vectors: Floats | None, n_docs: int) -> Floats:
    """Documents as directions in that space, (n_docs, n_dimensions); zeros for one without a vector."""
    if space is None or vectors is None:
        return np.zeros((n_docs, 0 if space is None else space.axes.shape[1]), np.float32)
    points: Floats = np.zeros((n_docs, space.axes.shape[1]), np.float32)
    for start in range(0, n_docs, ROWS):
        some = np.asarray(vectors[start : start + ROWS], np.float64)
        points[start : start + ROWS] = space(some) * has_vector(some)[:, None]
    return points


@dataclass(frozen=True)
class ClassVectors:
    """log P(vector | class), up to what is the same for all classes: with one covariance it is linear."""

    weight: Floats  # (n_dimensions, n_classes)
    constant: Floats  # (n_classes,)

    def __call__(self, points: Floats) -> Floats:
        """How much the vectors of documents speak for each class, (n_docs, n_classes); nothing where there is none."""
        told: Floats = (points @ self.weight + self.constant) * has_vector(points)[:, None]
        return told


def class_vectors(
    points: Floats, classes: Ints, n_classes: int, lenders: Floats, guess: Floats, lent: float
) -> ClassVectors:
    """``lenders``: documents without a label, each counted as ``lent``; their classes are guessed first."""
    there, others = has_vector(points), has_vector(lenders)
    every = np.concatenate([points[there], lenders[others]]).astype(np.float64)
    certain: Floats = np.eye(n_classes)[classes[there]]
    shares: Floats = guess[others].astype(np.float64)
    if not lent:
        every, shares = every[: len(certain)], shares[:0]
    found, n_known = _gaussians(every, np.concatenate([certain, lent * shares])), len(certain)
    for _ in range(STEPS if len(shares) else 0):
        fitted, log_shares = found
        shares = probabilities(fitted(every[n_known:]) + log_shares)
        found = _gaussians(every, np.concatenate([certain, lent * shares]))
    return found[0]


def _gaussians(points: Array, shares: Floats) -> tuple[ClassVectors, Floats]:
    """Of documents that belong to classes by so much; and the logarithms of the shares of classes."""
    size, sums = shares.sum(axis=0), shares.T @ points
    middle = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
    mean = (sums + BEGUN * middle) / (size + BEGUN)[:, None]
    square = points.T @ (points * shares.sum(axis=1)[:, None]) - sums.T @ mean - mean.T @ sums
    square = (square + (mean * size[:, None]).T @ mean) / max(float(size.sum()), SMALLEST)
    even = max(float(np.trace(square)) / max(len(square), 1), SMALLEST)
    covariance = (1.0 - ROUND) * square + ROUND * even * np.eye(len(square))
    weight = np.linalg.solve(covariance, mean.T)
    constant = -0.5 * (mean * weight.T).sum(axis=1)
    return ClassVectors(weight, constant), np.log((size + 1.0) / (size + 1.0).sum())
