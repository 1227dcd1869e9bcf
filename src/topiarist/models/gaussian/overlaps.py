"""Measures of overlap between components, and the hierarchies they lead to. Equations (G7)-(G11): docs/models/ggm.md

A hierarchy is a linkage matrix as in SciPy: the components are clusters 0 to K − 1, and row *i* names the two clusters
that become cluster K + *i*, the value of the measure, and the number of components.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import TINY, Doubles, Ints

MEASURES = ("modified_l2", "l2", "confusion", "kl")
LARGEST_LOG = 500.0  # beyond it heights are told in units of the largest, because exp would overflow
MAX_NEGATIVE_LOG = 800.0  # −log of a probability that no number holds


class Mixture(NamedTuple):
    """Weights, means and covariances of the components."""

    weight: Doubles  # P(k), sums to one
    mean: Doubles  # (components, dimensions)
    covariance: Doubles  # (components, dimensions, dimensions)


def log_overlaps(mixture: Mixture) -> Doubles:
    """Return (G8) log ∫ p(x|k) p(x|l) dx, the log-density of N(0, Σ_k + Σ_l) at μ_k − μ_l."""
    n_components, n_dims = mixture.mean.shape
    out = np.empty((n_components, n_components))
    for row in range(n_components):
        factors = np.linalg.cholesky(mixture.covariance[row] + mixture.covariance)
        white = np.linalg.solve(factors, (mixture.mean[row] - mixture.mean)[..., None])[..., 0]
        logarithms = np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
        out[row] = -0.5 * (white * white).sum(axis=-1) - logarithms - 0.5 * n_dims * math.log(2 * math.pi)
    return 0.5 * (out + out.T)


class Measure:
    """Dissimilarity of clusters at places 0 to K − 1 while they are merged, and its change by a merge."""

    table: Doubles

    def ranks(self) -> Doubles:
        """Return symmetric dissimilarities of clusters; ∞ on the diagonal and for merged clusters."""
        return self.table

    def join(self, place: int, other: int) -> None:
        """Merge cluster ``other`` into cluster ``place``, in place."""
        raise NotImplementedError

    def heights(self, ranks: Doubles) -> Doubles:
        """Return the values of the measure from the ranks of merges."""
        return ranks


class LogOverlap:
    """Logarithms of Σ P(k)P(l)∫p(x|k)p(x|l)dx over the components of two clusters."""

    def __init__(self, mixture: Mixture) -> None:
        self.log_weight = np.log(np.maximum(mixture.weight, TINY))
        self.table = log_overlaps(mixture) + self.log_weight[:, None] + self.log_weight

    def join(self, place: int, other: int) -> None:
        self.table[place] = np.logaddexp(self.table[place], self.table[other])
        self.table[:, place] = np.logaddexp(self.table[:, place], self.table[:, other])
        self.log_weight[place] = np.logaddexp(self.log_weight[place], self.log_weight[other])


class SquaredDifference(Measure):
    """Measure (G8): ∫ (p(x|ℓ) − p(x|m))² dx, each density times P(cluster) if ``weighted``. Ranks are logarithms.

    In many dimensions the densities of narrow and wide components differ by more than a float can hold. Logarithms give
    each pair its own scale.
    """

    def __init__(self, mixture: Mixture, *, weighted: bool) -> None:
        self.log_overlap, self.weighted = LogOverlap(mixture), weighted
        self.table = _symmetrise(np.stack([self._row(place) for place in range(len(mixture.weight))]))

    def _row(self, place: int) -> Doubles:
        """Return the log of the squared difference between a component and each component."""
        table, log_weights = self.log_overlap.table, 0.0 if self.weighted else self.log_overlap.log_weight
        own_log_weight = 0.0 if self.weighted else self.log_overlap.log_weight[place]
        self_overlap = np.diagonal(table) - 2 * log_weights
        largest = np.maximum(self_overlap[place], self_overlap)
        sum_of_squares = np.exp(self_overlap[place] - largest) + np.exp(self_overlap - largest)
        difference = sum_of_squares - 2.0 * np.exp(table[place] - log_weights - own_log_weight - largest)
        with np.errstate(divide="ignore"):
            return np.asarray(largest + np.log(np.maximum(difference, 0.0)))

    def join(self, place: int, other: int) -> None:
        self.log_overlap.join(place, other)
        _replace_row(self.table, place, other, self._row(place))

    def heights(self, ranks: Doubles) -> Doubles:
        """Return D, in units of the largest value if a float could not hold it."""
        finite = ranks[np.isfinite(ranks)]
        largest = float(finite.max()) if len(finite) else 0.0
        return np.exp(ranks - (largest if abs(largest) > LARGEST_LOG else 0.0))


def l2(mixture: Mixture) -> Measure:
    """Return the measure (G8) ∫ (p(x|ℓ) − p(x|m))² dx."""
    return SquaredDifference(mixture, weighted=False)


def modified_l2(mixture: Mixture) -> Measure:
    """Return the measure (G8) ∫ (P(ℓ)p(x|ℓ) − P(m)p(x|m))² dx."""
    return SquaredDifference(mixture, weighted=True)


class Confusion(Measure):
    """Measure (G9): the probability of mistaking two clusters for each other, from P(k|x) of sampled points.

    A point counts for a cluster with its posterior, which has less variance than counting the component it was drawn
    from. The predicted cluster is the arg max over all clusters of the level. Pairs that no point mistakes are ranked
    last, by their overlap.
    """

    def __init__(self, posterior: Doubles, mixture: Mixture) -> None:
        self.log_overlap, self.shares = LogOverlap(mixture), np.array(posterior, np.float64)
        self.is_merged = np.zeros(posterior.shape[1], bool)
        self.assignments, self.best_share = posterior.argmax(axis=1), posterior.max(axis=1)
        self.sums = np.stack(
            [self.shares[self.assignments == place].sum(axis=0) for place in range(posterior.shape[1])]
        )

    def ranks(self) -> Doubles:
        """Return dissimilarities: small for components that the sampled points mistake for each other."""
        mistaken = (self.sums + self.sums.T) / len(self.shares)
        is_observed, overlap = mistaken > 0, self.log_overlap.table
        ranks = -np.log(np.where(is_observed, mistaken, 1.0))
        fallback = max(MAX_NEGATIVE_LOG, float(ranks.max())) + (float(overlap.max()) - overlap)
        ranks = _symmetrise(np.where(is_observed, ranks, fallback))
        ranks[self.is_merged] = ranks[:, self.is_merged] = np.inf
        return ranks

    def join(self, target: int, other: int) -> None:
        """Merge component ``other`` into ``target``, in place, and assign the points again."""
        # points that the merged cluster wins are counted again, and so are the clusters that lose them
        self.log_overlap.join(target, other)
        self.is_merged[other] = True
        self.shares[:, target] += self.shares[:, other]
        self.sums[:, target] += self.sums[:, other]
        self.shares[:, other] = self.sums[:, other] = self.sums[other] = 0.0
        self.assignments[self.assignments == other] = target
        gained = np.flatnonzero((self.assignments != target) & (self.shares[:, target] > self.best_share))
        losing_clusters = np.unique(self.assignments[gained])
        self.assignments[gained] = target
        in_cluster = self.assignments == target
        self.best_share[in_cluster] = self.shares[in_cluster, target]
        for place in (*losing_clusters.tolist(), target):
            self.sums[place] = self.shares[self.assignments == place].sum(axis=0)

    def heights(self, ranks: Doubles) -> Doubles:
        return -np.expm1(-ranks)


class Divergence(Measure):
    """Symmetric Kullback-Leibler divergence between Gaussians with the means and covariances of the clusters."""

    def __init__(self, mixture: Mixture) -> None:
        self.weight, self.mean, self.covariance = (np.array(part, np.float64) for part in mixture)
        self.inverse = np.linalg.inv(self.covariance)
        self.table = _symmetrise(np.stack([self._row(place) for place in range(len(self.weight))]))

    def _row(self, place: int) -> Doubles:
        """Return the symmetric Kullback–Leibler divergence from a component to each component."""
        n_components, n_dims = self.mean.shape
        inverse, spread = (part.reshape(n_components, -1) for part in (self.inverse, self.covariance))
        traces = inverse @ spread[place] + spread @ inverse[place] - 2 * n_dims
        difference = self.mean - self.mean[place]
        to_other = np.einsum("kd,kd->k", np.matmul(self.inverse, difference[..., None])[..., 0], difference)
        from_other = np.einsum("kd,kd->k", difference @ self.inverse[place], difference)
        return np.asarray(np.maximum(0.5 * (traces + to_other + from_other), 0.0))

    def join(self, place: int, other: int) -> None:
        """Merge component ``other`` into ``place``, in place, with the same mean and covariance."""
        share = self.weight[[place, other]] / self.weight[[place, other]].sum()
        difference = self.mean[place] - self.mean[other]
        spread = np.einsum("k,kij->ij", share, self.covariance[[place, other]])
        self.mean[place] = share @ self.mean[[place, other]]
        self.covariance[place] = spread + share[0] * share[1] * np.outer(difference, difference)
        self.inverse[place] = np.linalg.inv(self.covariance[place])
        self.weight[place] += self.weight[other]
        _replace_row(self.table, place, other, self._row(place))


def _symmetrise(table: Doubles) -> Doubles:
    """Return the table made exactly symmetric, with ∞ on the diagonal."""
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, np.inf)
    return table


def _replace_row(table: Doubles, place: int, other: int, row: Doubles) -> None:
    row = np.where(np.isinf(table[place]) & (table[place] > 0), np.inf, row)  # itself, and clusters that are no more
    table[place] = table[:, place] = row
    table[other] = table[:, other] = np.inf


def merge_components(n_components: int, measure: Measure) -> Doubles:
    """Return the linkage matrix (G7) of merging the two closest clusters until one is left; changes ``measure``."""
    numbers, sizes, is_active = np.arange(n_components), np.ones(n_components), np.ones(n_components, bool)
    linkage = np.empty((max(0, n_components - 1), 4))
    for step in range(n_components - 1):
        ranks = measure.ranks()
        first, second = divmod(int(ranks.argmin()), n_components)
        if first == second or not is_active[second]:  # all are beyond numbers
            first, second = np.flatnonzero(is_active)[:2].tolist()
        sizes[first] += sizes[second]
        linkage[step] = *sorted((numbers[first], numbers[second])), ranks[first, second], sizes[first]
        measure.join(first, second)
        numbers[first], is_active[second] = n_components + step, False
    linkage[:, 2] = measure.heights(linkage[:, 2])
    return linkage


def node_members(linkage: Doubles) -> Any:
    """Return which components each cluster of a linkage has, (clusters, components)."""
    n_components = len(linkage) + 1
    members = np.zeros((2 * n_components - 1, n_components), bool)
    members[:n_components] = np.eye(n_components, dtype=bool)
    for step, (first, second) in enumerate(linkage[:, :2].astype(np.int64)):
        members[n_components + step] = members[first] | members[second]
    return members


def assign_levels(posterior: Doubles, linkage: Doubles, rho: float) -> tuple[Ints, Ints, Doubles]:
    """Return the cluster (G10) of each example at the lowest level with a posterior above ρ, its level and probability.

    Level 1 are the components; each level above has one merge more. The cluster of all components is certain.
    """
    n_components = len(linkage) + 1
    cluster, level = posterior.argmax(axis=1), np.ones(len(posterior), np.int64)
    chance = posterior.max(axis=1)
    members = node_members(linkage)
    pending = chance <= rho
    for step in range(len(linkage)):
        if not pending.any():
            break
        number = n_components + step
        share = posterior[:, members[number]].sum(axis=1)
        reached = pending & ((share > rho) | (step == len(linkage) - 1))
        cluster[reached], level[reached], chance[reached] = number, step + 2, share[reached]
        pending &= ~reached
    return cluster, level, chance


def select_components(posterior: Doubles, rho: float) -> list[Ints]:
    """Return (G11) the fewest components, most probable first, whose posteriors sum to more than ρ."""
    order = np.argsort(-posterior, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(posterior, order, axis=1), axis=1)
    n_wanted = np.minimum((sums <= rho).sum(axis=1) + 1, posterior.shape[1])
    return [row[:count] for row, count in zip(order, n_wanted.tolist(), strict=True)]
