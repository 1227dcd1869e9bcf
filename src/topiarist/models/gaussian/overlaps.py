"""Which components lie close together: measures between them, and the merges they ask for. Equations (G7)-(G11)

See docs/models/ggm.md. A hierarchy is a linkage matrix as SciPy has it: the components are clusters 0 to K − 1, and row
*i* says which two become cluster K + *i*, at which value of the measure, and how many components it has.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from topiarist.arrays import Doubles, Ints

MEASURES = ("modified_l2", "l2", "confusion", "kl")
LARGEST_LOG = 500.0  # beyond it heights are told in units of the largest, because exp would overflow
NEVER = 800.0  # −log of a probability that no number holds


class Mixture(NamedTuple):
    """Weights, means and covariances of the components."""

    weight: Doubles  # P(k), sums to one
    mean: Doubles  # (components, dimensions)
    covariance: Doubles  # (components, dimensions, dimensions)


def log_overlaps(mixture: Mixture) -> Doubles:
    """(G8): log ∫ p(x|k) p(x|l) dx, the log-density of N(0, Σ_k + Σ_l) at μ_k − μ_l."""
    n_components, n_dims = mixture.mean.shape
    out = np.empty((n_components, n_components))
    for row in range(n_components):
        factors = np.linalg.cholesky(mixture.covariance[row] + mixture.covariance)
        white = np.linalg.solve(factors, (mixture.mean[row] - mixture.mean)[..., None])[..., 0]
        logarithms = np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
        out[row] = -0.5 * (white * white).sum(axis=-1) - logarithms - 0.5 * n_dims * math.log(2 * math.pi)
    return 0.5 * (out + out.T)


def overlaps(mixture: Mixture) -> Doubles:
    """(G8): ∫ p(x|k) p(x|l) dx."""
    return np.exp(log_overlaps(mixture))


class Measure(Protocol):
    """Clusters at places 0 to K − 1 while they are merged: which are close, and what a merge does to that."""

    def ranks(self) -> Doubles:
        """(places, places), symmetric: the smaller, the closer; ∞ on the diagonal and where no cluster is any more."""

    def join(self, kept: int, gone: int) -> None:
        """The cluster of one place moves into that of the other."""

    def heights(self, ranks: Doubles) -> Doubles:
        """The measure as people know it, from the ranks of merges."""


class Near:
    """log Σ P(k)P(l)∫p(x|k)p(x|l)dx over the components of two clusters: sums of logarithms, so that none vanishes."""

    def __init__(self, mixture: Mixture) -> None:
        self.log_weight = np.log(np.maximum(mixture.weight, 1e-300))
        self.table = log_overlaps(mixture) + self.log_weight[:, None] + self.log_weight

    def join(self, kept: int, gone: int) -> None:
        """See ``Measure``."""
        self.table[kept] = np.logaddexp(self.table[kept], self.table[gone])
        self.table[:, kept] = np.logaddexp(self.table[:, kept], self.table[:, gone])
        self.log_weight[kept] = np.logaddexp(self.log_weight[kept], self.log_weight[gone])


class SquaredDifference:
    """(G8): ∫ (p(x|ℓ) − p(x|m))² dx, each density times P(cluster) if ``weighted``. Ranks are logarithms.

    In many dimensions the densities of narrow components are greater than those of wide ones by more than numbers can
    hold; compared by logarithms, each pair has its own scale.
    """

    def __init__(self, mixture: Mixture, *, weighted: bool) -> None:
        self.near, self.weighted = Near(mixture), weighted
        self.table = _hollow(np.stack([self._row(place) for place in range(len(mixture.weight))]))

    def _row(self, place: int) -> Doubles:
        table, own = self.near.table, 0.0 if self.weighted else self.near.log_weight
        here = 0.0 if self.weighted else self.near.log_weight[place]
        alone = np.diagonal(table) - 2 * own
        largest = np.maximum(alone[place], alone)
        both = np.exp(alone[place] - largest) + np.exp(alone - largest)
        difference = both - 2.0 * np.exp(table[place] - own - here - largest)
        with np.errstate(divide="ignore"):
            return np.asarray(largest + np.log(np.maximum(difference, 0.0)))

    def ranks(self) -> Doubles:
        """See ``Measure``: log D, −∞ for two that are equal."""
        return self.table

    def join(self, kept: int, gone: int) -> None:
        """See ``Measure``."""
        self.near.join(kept, gone)
        _replace_row(self.table, kept, gone, self._row(kept))

    def heights(self, ranks: Doubles) -> Doubles:
        """See ``Measure``: D; in units of the largest where numbers would not hold it."""
        finite = ranks[np.isfinite(ranks)]
        largest = float(finite.max()) if len(finite) else 0.0
        return np.exp(ranks - (largest if abs(largest) > LARGEST_LOG else 0.0))


def l2(mixture: Mixture) -> Measure:
    """(G8): ∫ (p(x|ℓ) − p(x|m))² dx."""
    return SquaredDifference(mixture, weighted=False)


def modified_l2(mixture: Mixture) -> Measure:
    """(G8): ∫ (P(ℓ)p(x|ℓ) − P(m)p(x|m))² dx."""
    return SquaredDifference(mixture, weighted=True)


class Confusion:
    """(G9): the probability of mistaking two clusters for each other, from P(k|x) of points of the model.

    A point counts for the cluster it may come from with its posterior, which has the same mean as counting the one it
    was drawn from, and less variance. Clusters are told apart by the arg max over all clusters of the level. Pairs that
    no point mistakes are ranked after all others, by their overlap.
    """

    def __init__(self, posterior: Doubles, mixture: Mixture) -> None:
        self.near, self.shares = Near(mixture), np.array(posterior, np.float64)
        self.gone = np.zeros(posterior.shape[1], bool)
        self.taken, self.best = posterior.argmax(axis=1), posterior.max(axis=1)
        self.sums = np.stack([self.shares[self.taken == place].sum(axis=0) for place in range(posterior.shape[1])])

    def ranks(self) -> Doubles:
        """See ``Measure``: −log of the probability."""
        mistaken = (self.sums + self.sums.T) / len(self.shares)
        told, near = mistaken > 0, self.near.table
        ranks = -np.log(np.where(told, mistaken, 1.0))
        beyond = max(NEVER, float(ranks.max())) + (float(near.max()) - near)
        ranks = _hollow(np.where(told, ranks, beyond))
        ranks[self.gone] = ranks[:, self.gone] = np.inf
        return ranks

    def join(self, kept: int, gone: int) -> None:
        """See ``Measure``: points that the merged cluster wins are counted anew, with those they are taken from."""
        self.near.join(kept, gone)
        self.gone[gone] = True
        self.shares[:, kept] += self.shares[:, gone]
        self.sums[:, kept] += self.sums[:, gone]
        self.shares[:, gone] = self.sums[:, gone] = self.sums[gone] = 0.0
        self.taken[self.taken == gone] = kept
        won = np.flatnonzero((self.taken != kept) & (self.shares[:, kept] > self.best))
        losers = np.unique(self.taken[won])
        self.taken[won] = kept
        mine = self.taken == kept
        self.best[mine] = self.shares[mine, kept]
        for place in (*losers.tolist(), kept):
            self.sums[place] = self.shares[self.taken == place].sum(axis=0)

    def heights(self, ranks: Doubles) -> Doubles:
        """See ``Measure``: one minus the probability."""
        return -np.expm1(-ranks)


def confusion(posterior: Doubles, mixture: Mixture) -> Measure:
    """(G9): from P(k|x), (points, components), of points drawn from the mixture."""
    return Confusion(posterior, mixture)


class Divergence:
    """The symmetric Kullback-Leibler divergence between Gaussians with the means and covariances of the clusters."""

    def __init__(self, mixture: Mixture) -> None:
        self.weight, self.mean, self.covariance = (np.array(part, np.float64) for part in mixture)
        self.inverse = np.linalg.inv(self.covariance)
        self.table = _hollow(np.stack([self._row(place) for place in range(len(self.weight))]))

    def _row(self, place: int) -> Doubles:
        n_components, n_dims = self.mean.shape
        inverse, spread = (part.reshape(n_components, -1) for part in (self.inverse, self.covariance))
        traces = inverse @ spread[place] + spread @ inverse[place] - 2 * n_dims
        away = self.mean - self.mean[place]
        there = np.einsum("kd,kd->k", np.matmul(self.inverse, away[..., None])[..., 0], away)
        back = np.einsum("kd,kd->k", away @ self.inverse[place], away)
        return np.asarray(np.maximum(0.5 * (traces + there + back), 0.0))

    def ranks(self) -> Doubles:
        """See ``Measure``."""
        return self.table

    def join(self, kept: int, gone: int) -> None:
        """See ``Measure``: means and covariances of both together."""
        share = self.weight[[kept, gone]] / self.weight[[kept, gone]].sum()
        away = self.mean[kept] - self.mean[gone]
        spread = np.einsum("k,kij->ij", share, self.covariance[[kept, gone]])
        self.mean[kept] = share @ self.mean[[kept, gone]]
        self.covariance[kept] = spread + share[0] * share[1] * np.outer(away, away)
        self.inverse[kept] = np.linalg.inv(self.covariance[kept])
        self.weight[kept] += self.weight[gone]
        _replace_row(self.table, kept, gone, self._row(kept))

    def heights(self, ranks: Doubles) -> Doubles:
        """See ``Measure``."""
        return ranks


def kl(mixture: Mixture) -> Measure:
    """The symmetric Kullback-Leibler divergence between Gaussians with the means and covariances of the clusters."""
    return Divergence(mixture)


def _hollow(table: Doubles) -> Doubles:
    """Symmetric to the last bit, and nothing is near to itself."""
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, np.inf)
    return table


def _replace_row(table: Doubles, kept: int, gone: int, row: Doubles) -> None:
    row = np.where(np.isinf(table[kept]) & (table[kept] > 0), np.inf, row)  # itself, and clusters that are no more
    table[kept] = table[:, kept] = row
    table[gone] = table[:, gone] = np.inf


def merged(n_components: int, measure: Measure) -> Doubles:
    """(G7): the linkage matrix of merging the two closest clusters until one is left; the measure is used up."""
    numbers, sizes, used = np.arange(n_components), np.ones(n_components), np.ones(n_components, bool)
    linkage = np.empty((max(0, n_components - 1), 4))
    for step in range(n_components - 1):
        ranks = measure.ranks()
        one, other = divmod(int(ranks.argmin()), n_components)
        if one == other or not used[other]:  # all are beyond numbers
            one, other = np.flatnonzero(used)[:2].tolist()
        sizes[one] += sizes[other]
        linkage[step] = *sorted((numbers[one], numbers[other])), ranks[one, other], sizes[one]
        measure.join(one, other)
        numbers[one], used[other] = n_components + step, False
    linkage[:, 2] = measure.heights(linkage[:, 2])
    return linkage


def node_members(linkage: Doubles) -> Any:
    """Which components each cluster of a linkage has, (clusters, components)."""
    n_components = len(linkage) + 1
    members = np.zeros((2 * n_components - 1, n_components), bool)
    members[:n_components] = np.eye(n_components, dtype=bool)
    for step, (one, other) in enumerate(linkage[:, :2].astype(np.int64)):
        members[n_components + step] = members[one] | members[other]
    return members


def levels(posterior: Doubles, linkage: Doubles, rho: float) -> tuple[Ints, Ints, Doubles]:
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


def sample_dependent(posterior: Doubles, rho: float) -> list[Ints]:
    """(G11): the fewest components, from the most probable down, that are together more probable than ρ."""
    order = np.argsort(-posterior, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(posterior, order, axis=1), axis=1)
    wanted = np.minimum((sums <= rho).sum(axis=1) + 1, posterior.shape[1])
    return [row[:count] for row, count in zip(order, wanted.tolist(), strict=True)]
