"""Which components lie close together: measures between them, and the merges they ask for. Equations (G7)-(G11)

See docs/models/ggm.md. A hierarchy is a linkage matrix as SciPy has it: the components are clusters 0 to K − 1, and row
*i* says which two become cluster K + *i*, at which value of the measure, and how many components it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

MEASURES = ("modified_l2", "l2", "confusion", "kl")
LARGEST_LOG = 500.0  # beyond it densities are compared with the largest of them, because exp would overflow


class Mixture(NamedTuple):
    """Weights, means and covariances of the components."""

    weight: Floats  # P(k), sums to one
    mean: Floats  # (components, dimensions)
    covariance: Floats  # (components, dimensions, dimensions)


def log_overlaps(mixture: Mixture) -> Floats:
    """(G8): log ∫ p(x|k) p(x|l) dx, the log-density of N(0, Σ_k + Σ_l) at μ_k − μ_l."""
    n_components, n_dims = mixture.mean.shape
    out = np.empty((n_components, n_components))
    for row in range(n_components):
        factors = np.linalg.cholesky(mixture.covariance[row] + mixture.covariance)
        white = np.linalg.solve(factors, (mixture.mean[row] - mixture.mean)[..., None])[..., 0]
        logarithms = np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
        out[row] = -0.5 * (white * white).sum(axis=-1) - logarithms - 0.5 * n_dims * math.log(2 * math.pi)
    return 0.5 * (out + out.T)


def overlaps(mixture: Mixture) -> Floats:
    """(G8): ∫ p(x|k) p(x|l) dx; in units of the largest where numbers would not hold it."""
    logarithms = log_overlaps(mixture)
    largest = float(logarithms.max())
    result: Floats = np.exp(logarithms - (largest if abs(largest) > LARGEST_LOG else 0.0))
    return result


def l2(mixture: Mixture) -> Callable[[Any, Any], float]:
    """(G8): ∫ (p(x|ℓ) − p(x|m))² dx between two clusters, given as masks of components."""
    matrix = overlaps(mixture)

    def measure(one: Any, other: Any) -> float:
        weights = mixture.weight * one / mixture.weight[one].sum()
        weights = weights - mixture.weight * other / mixture.weight[other].sum()
        return float(max(weights @ matrix @ weights, 0.0))

    return measure


def modified_l2(mixture: Mixture) -> Callable[[Any, Any], float]:
    """(G8): ∫ (P(ℓ)p(x|ℓ) − P(m)p(x|m))² dx."""
    matrix = overlaps(mixture)

    def measure(one: Any, other: Any) -> float:
        weights = mixture.weight * one - mixture.weight * other
        return float(max(weights @ matrix @ weights, 0.0))

    return measure


def confusion(posterior: Floats) -> Callable[[Any], Floats]:
    """(G9): one minus the probability of mistaking two clusters for each other, from P(k|x) of points of the model.

    A point counts for the cluster it may come from with its posterior, which has the same mean as counting the one it
    was drawn from, and less variance. Clusters are told apart by the arg max over all clusters of the level.
    """

    def matrix(members: Any) -> Floats:
        shares = posterior @ members.T.astype(np.float64)
        taken = shares.argmax(axis=1)
        sums = np.zeros((len(members), len(members)))
        np.add.at(sums, taken, shares)
        sums /= len(posterior)
        return 1.0 - (sums + sums.T)

    return matrix


def kl(mixture: Mixture) -> Callable[[Any, Any], float]:
    """The symmetric Kullback-Leibler divergence between Gaussians with the means and covariances of the clusters."""
    n_dims = mixture.mean.shape[1]

    def moments(one: Any) -> tuple[Floats, Floats]:
        share = mixture.weight[one] / mixture.weight[one].sum()
        mean = share @ mixture.mean[one]
        away = mixture.mean[one] - mean
        spread = np.einsum("k,kij->ij", share, mixture.covariance[one]) + (away * share[:, None]).T @ away
        return mean, spread

    def measure(one: Any, other: Any) -> float:
        (mean, spread), (those, wide) = moments(one), moments(other)
        away = mean - those
        there, back = np.linalg.inv(wide), np.linalg.inv(spread)
        traces = float((there * spread).sum() + (back * wide).sum()) - 2 * n_dims
        return float(max(0.5 * (traces + float(away @ (there + back) @ away)), 0.0))

    return measure


def merged(n_components: int, measure: Callable[..., Any], *, whole: bool = False) -> Floats:
    """(G7): the linkage matrix of merging the two closest clusters until one is left.

    ``measure(one, other)`` compares two masks of components; with ``whole`` it is given all masks of a level and
    returns all values at once.
    """
    members = np.eye(n_components, dtype=bool)
    numbers = list(range(n_components))
    values: dict[tuple[int, int], float] = {}
    linkage = np.empty((max(0, n_components - 1), 4))
    for step in range(n_components - 1):
        table = measure(members) if whole else None
        best: tuple[float, int, int] | None = None
        for one in range(len(numbers)):
            for other in range(one + 1, len(numbers)):
                key = (numbers[one], numbers[other])
                if table is not None:
                    value = float(table[one, other])
                elif key in values:
                    value = values[key]
                else:
                    value = values[key] = measure(members[one], members[other])
                if best is None or value < best[0]:
                    best = (value, one, other)
        assert best is not None  # noqa: S101  there are at least two clusters
        value, one, other = best
        joined = members[one] | members[other]
        linkage[step] = numbers[one], numbers[other], value, np.count_nonzero(joined)
        members = np.vstack([np.delete(members, [one, other], axis=0), joined])
        numbers = [number for place, number in enumerate(numbers) if place not in (one, other)]
        numbers.append(n_components + step)
    return linkage


def node_members(linkage: Floats) -> Any:
    """Which components each cluster of a linkage has, (clusters, components)."""
    n_components = len(linkage) + 1
    members = np.zeros((2 * n_components - 1, n_components), bool)
    members[:n_components] = np.eye(n_components, dtype=bool)
    for step, (one, other) in enumerate(linkage[:, :2].astype(np.int64)):
        members[n_components + step] = members[one] | members[other]
    return members


def levels(posterior: Floats, linkage: Floats, rho: float) -> tuple[Ints, Ints, Floats]:
    """(G10): the cluster of each example at the lowest level at which one is more probable than ρ, level, probability.

    Level 1 are the components; each level above has one merge more. The cluster of all is certain.
    """
    n_components = len(linkage) + 1
    cluster, level = posterior.argmax(axis=1), np.ones(len(posterior), np.int64)
    chance = posterior.max(axis=1)
    members = node_members(linkage)
    waiting = chance <= rho
    for step in range(len(linkage)):
        if not waiting.any():
            break
        number = n_components + step
        share = posterior[:, members[number]].sum(axis=1)
        here = waiting & ((share > rho) | (step == len(linkage) - 1))
        cluster[here], level[here], chance[here] = number, step + 2, share[here]
        waiting &= ~here
    return cluster, level, chance


def sample_dependent(posterior: Floats, rho: float) -> list[Ints]:
    """(G11): the fewest components, from the most probable down, that are together more probable than ρ."""
    order = np.argsort(-posterior, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(posterior, order, axis=1), axis=1)
    wanted = np.minimum((sums <= rho).sum(axis=1) + 1, posterior.shape[1])
    return [row[:count] for row, count in zip(order, wanted.tolist(), strict=True)]
