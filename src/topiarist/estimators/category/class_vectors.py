"""Gaussian distributions of the vectors of classes, from labelled and unlabelled documents.

Vectors are projected to the directions of largest variance. Each class is a Gaussian around its mean, with one
covariance for all classes. Unlabelled documents start with guessed classes, followed by a few EM steps. Documents
without a vector are read by their words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Floats, Ints
from topiarist.counts.vectors import find_rows_with_vectors
from topiarist.estimators.category.calibration import to_probabilities
from topiarist.estimators.gaussian.vector_space import VectorSpace

DIMENSIONS = 64
MAX_SAMPLE = 20_000  # vectors that tell the dimensions
BLOCK_ROWS = 1 << 13  # that are wide at once
EM_STEPS = 10  # of EM
PRIOR_DOCUMENTS = 1.0  # documents that lie as all do, with which every class begins
SPHERICAL_SHARE = 0.3  # of the covariance: as if all dimensions varied alike
MIN_VARIANCE = 1e-9  # of directions, and the least total weight


def fit_space(vectors: Floats) -> VectorSpace | None:
    """Return the space of largest variance; None if fewer than two documents have a vector."""
    rows = np.flatnonzero(find_rows_with_vectors(vectors))
    if len(rows) < 2:
        return None
    sample = rows[:: max(1, -(-len(rows) // MAX_SAMPLE))]
    return VectorSpace.of(np.asarray(vectors[sample], np.float64), min(DIMENSIONS, vectors.shape[1]))


def project_points(space: VectorSpace | None, vectors: Floats | None, n_docs: int) -> Floats:
    """Return documents as directions in the space, (n_docs, n_dimensions); zeros for one without a vector."""
    if space is None or vectors is None:
        return np.zeros((n_docs, 0 if space is None else space.axes.shape[1]), np.float32)
    points: Floats = np.zeros((n_docs, space.axes.shape[1]), np.float32)
    for start in range(0, n_docs, BLOCK_ROWS):
        block = np.asarray(vectors[start : start + BLOCK_ROWS], np.float64)
        points[start : start + BLOCK_ROWS] = space(block) * find_rows_with_vectors(block)[:, None]
    return points


@dataclass(frozen=True)
class ClassVectors:
    """Linear function log P(vector | class), up to a constant that all classes share."""

    weight: Floats  # (n_dimensions, n_classes)
    constant: Floats  # (n_classes,)

    def __call__(self, points: Floats) -> Floats:
        scores: Floats = (points @ self.weight + self.constant) * find_rows_with_vectors(points)[:, None]
        return scores


def fit_class_vectors(
    points: Floats, classes: Ints, n_classes: int, unlabelled: Floats, guess: Floats, unlabelled_weight: float
) -> ClassVectors:
    """Fit Gaussians to labelled points and to unlabelled ones, which count ``unlabelled_weight`` each."""
    has_points, has_vectors = find_rows_with_vectors(points), find_rows_with_vectors(unlabelled)
    all_points = np.concatenate([points[has_points], unlabelled[has_vectors]]).astype(np.float64)
    certain: Floats = np.eye(n_classes)[classes[has_points]]
    shares: Floats = guess[has_vectors].astype(np.float64)
    if not unlabelled_weight:
        all_points, shares = all_points[: len(certain)], shares[:0]
    gaussians, n_known = _fit_gaussians(all_points, np.concatenate([certain, unlabelled_weight * shares])), len(certain)
    for _ in range(EM_STEPS if len(shares) else 0):
        fitted, log_shares = gaussians
        shares = to_probabilities(fitted(all_points[n_known:]) + log_shares)
        gaussians = _fit_gaussians(all_points, np.concatenate([certain, unlabelled_weight * shares]))
    return gaussians[0]


def _fit_gaussians(points: Array, shares: Floats) -> tuple[ClassVectors, Floats]:
    """Return Gaussians of documents with given class shares, and the log shares of the classes."""
    size, sums = shares.sum(axis=0), shares.T @ points
    middle = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
    mean = (sums + PRIOR_DOCUMENTS * middle) / (size + PRIOR_DOCUMENTS)[:, None]
    square = points.T @ (points * shares.sum(axis=1)[:, None]) - sums.T @ mean - mean.T @ sums
    square = (square + (mean * size[:, None]).T @ mean) / max(float(size.sum()), MIN_VARIANCE)
    even = max(float(np.trace(square)) / max(len(square), 1), MIN_VARIANCE)
    covariance = (1.0 - SPHERICAL_SHARE) * square + SPHERICAL_SHARE * even * np.eye(len(square))
    weight = np.linalg.solve(covariance, mean.T)
    constant = -0.5 * (mean * weight.T).sum(axis=1)
    return ClassVectors(weight, constant), np.log((size + 1.0) / (size + 1.0).sum())
