"""Division of points into two groups by two-means, evaluated by the drop of the squared error."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from topiarist.arrays import Array

MAX_ROUNDS = 30
STARTS = 3


def split_in_two_means(
    vectors: Array, seed: int, min_size: float = 1.0, starts: int = STARTS
) -> tuple[float, Array | None]:
    """Divide vectors in two; return the drop of the squared error and the mask of the first side, None without one.

    The first start cuts along the longest axis of the points, the others between two vectors drawn at random. Each side
    has at least ``min_size`` vectors.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if len(vectors) < 2 * min_size:
        return best
    rng = np.random.default_rng(seed)
    mean = vectors.mean(axis=0)
    for start in range(starts):
        if start == 0:
            deviations = vectors - mean
            axis = np.linalg.eigh((deviations.T @ deviations).astype(np.float64))[1][:, -1].astype(vectors.dtype)
            side = deviations @ axis > 0
        else:
            first, second = rng.choice(len(vectors), 2, replace=False)
            side = _is_nearer_first(vectors, vectors[first], vectors[second])
        gain, side = _run_lloyd(vectors, side)
        smaller = min(np.count_nonzero(side), np.count_nonzero(~side))
        if gain > best[0] and smaller >= min_size and math.isfinite(gain):
            best = (gain, side)
    return best


def _run_lloyd(vectors: Array, side: Array) -> tuple[float, Array]:
    """Run Lloyd's algorithm for two means; a round takes two products of the vectors with one vector."""
    total = vectors.sum(axis=0, dtype=np.float64)
    for _ in range(MAX_ROUNDS):
        n_first = int(np.count_nonzero(side))
        if n_first in (0, len(side)):
            return 0.0, side
        first = side.astype(vectors.dtype) @ vectors / n_first
        second = ((total - first * n_first) / (len(side) - n_first)).astype(vectors.dtype)
        new = _is_nearer_first(vectors, first, second)
        if (new == side).all():
            break
        side = new
    gap = (first - second).astype(np.float64)
    return n_first * (len(side) - n_first) / len(side) * float(gap @ gap), side


def _is_nearer_first(vectors: Array, first: Array, second: Array) -> Array:
    """Return whether each vector is nearer to the first point than to the second."""
    is_nearer: Array = vectors @ (first - second) > (first @ first - second @ second) / 2
    return is_nearer


def split_groups(
    points: Array, groups: Sequence[Array], seeds: Sequence[int], min_size: float
) -> list[tuple[float, Array | None]]:
    """Apply ``split_in_two_means`` to each group of points."""
    return [split_in_two_means(points[group], seed, min_size) for group, seed in zip(groups, seeds, strict=True)]
