"""Two means: a cloud of points in two halves, the drop of the squared error saying what the division is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from topiarist.arrays import Array

MAX_ROUNDS = 30
STARTS = 3


def two_means(vectors: Array, seed: int, fewest: float = 1.0, starts: int = STARTS) -> tuple[float, Array | None]:
    """The drop of the squared error when vectors are divided in two, and who is on the first side (None: no division).

    The first start cuts along the longest axis of the cloud, the others between two vectors drawn at random.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if len(vectors) < 2 * fewest:
        return best
    rng = np.random.default_rng(seed)
    mean = vectors.mean(axis=0)
    for start in range(starts):
        if start == 0:
            centred = vectors - mean
            axis = np.linalg.eigh((centred.T @ centred).astype(np.float64))[1][:, -1].astype(vectors.dtype)
            side = centred @ axis > 0
        else:
            one, other = rng.choice(len(vectors), 2, replace=False)
            side = _nearer(vectors, vectors[one], vectors[other])
        gain, side = _settled(vectors, side)
        smaller = min(np.count_nonzero(side), np.count_nonzero(~side))
        if gain > best[0] and smaller >= fewest and math.isfinite(gain):
            best = (gain, side)
    return best


def _settled(vectors: Array, side: Array) -> tuple[float, Array]:
    """Lloyd's algorithm for two means: each round is two products of the vectors with one other."""
    total = vectors.sum(axis=0, dtype=np.float64)
    for _ in range(MAX_ROUNDS):
        n_first = int(np.count_nonzero(side))
        if n_first in (0, len(side)):
            return 0.0, side
        first = side.astype(vectors.dtype) @ vectors / n_first
        second = ((total - first * n_first) / (len(side) - n_first)).astype(vectors.dtype)
        new = _nearer(vectors, first, second)
        if (new == side).all():
            break
        side = new
    gap = (first - second).astype(np.float64)
    return n_first * (len(side) - n_first) / len(side) * float(gap @ gap), side


def _nearer(vectors: Array, first: Array, second: Array) -> Array:
    """Whether each vector is nearer to the first point than to the second."""
    nearer: Array = vectors @ (first - second) > (first @ first - second @ second) / 2
    return nearer


def halves_of(
    points: Array, groups: Sequence[Array], seeds: Sequence[int], fewest: float
) -> list[tuple[float, Array | None]]:
    """``two_means`` of each of some groups of points."""
    return [two_means(points[group], seed, fewest) for group, seed in zip(groups, seeds, strict=True)]
