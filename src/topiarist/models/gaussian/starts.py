"""Where fits of Gaussian mixtures begin. Equations (G3), (G6): docs/models/ggm.md

The paper begins with the overall covariance for every component: wide, so that each sees all examples. Where clusters
lie in groups, wide components of one group stay together and never tell its clusters apart. The other start is narrow:
a few steps of k-means, and the covariances within its clusters. Restarts take turns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from topiarist.arrays import Bools, Doubles, Ints
from topiarist.models.gaussian.covariances import FitIndex, Limit, shape_of
from topiarist.models.gaussian.mixture import Options, Params

STARTS = ("auto", "overall", "clusters")
LLOYD_STEPS = 10
MOST = 20_000  # examples that clusters to begin with are sought among
DRAWN_IN = 0.1  # how far the start of one of several means is drawn from its example to the mean of the class


class Sample(NamedTuple):
    """The examples of each fit: their points, classes (−1: unknown) and which of them means are estimated from."""

    points: Doubles  # (fits or 1, examples, dimensions)
    classes: Ints  # (fits or 1, examples)
    first: Bools  # (fits or 1, examples): as many in every fit

    def of_fits(self, fits: FitIndex) -> Sample:
        """Those of some fits."""
        points, classes, first = (part if len(part) == 1 else part[fits] for part in self)
        return Sample(points, classes, first)  # type: ignore[arg-type]


class Clusters(NamedTuple):
    """A first guess at the components of one fit."""

    share: Doubles  # (components,)
    mean: Doubles  # (components, dimensions)
    covariance: Doubles  # (components, dimensions, dimensions)


def kind_of(start: str, number: int) -> str:
    """How the restart of this number begins."""
    return start if start != "auto" else ("clusters", "overall")[number % 2]


def overall_covariance(points: Doubles, weight: Doubles) -> Doubles:
    """Σ_0 of each fit, unlabelled examples weighted."""
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = np.matmul(share[:, None], points)
    centred = points - mean
    return np.asarray(np.matmul((centred * share[..., None]).swapaxes(-1, -2), centred))


def random_start(
    sample: Sample, weight: Doubles, options: Options, n_components: int, rngs: Sequence[np.random.Generator]
) -> Params:
    """The paper's start: means at random examples, the overall covariance, even weights, P(y|k) = P(y).

    A mean is drawn far from those before it: in proportion to the squared distance.
    """
    limit = Limit.of(overall_covariance(sample.points, weight), options.condition_limit)
    means = np.empty((len(rngs), n_components, sample.points.shape[-1]))
    for fit, rng in enumerate(rngs):
        points, chances = sample.points[fit % len(sample.points)], weight[fit % len(weight)]
        means[fit] = points[spread_out(points, chances, n_components, rng)]
    prior = np.full(means.shape[:2], 1.0 / n_components)
    return start_of(prior, means, limit.overall[:, None], _class_shares(sample, options, means), options, limit)


def cluster_start(
    sample: Sample, weight: Doubles, options: Options, n_components: int, rngs: Sequence[np.random.Generator]
) -> Params:
    """A start at clusters: their means, covariances and sizes, P(y|k) = P(y)."""
    limit = Limit.of(overall_covariance(sample.points, weight), options.condition_limit)
    found = []
    for fit, rng in enumerate(rngs):
        points, chances = sample.points[fit % len(sample.points)], weight[fit % len(weight)]
        if len(points) > MOST:
            rows = np.sort(rng.choice(len(points), MOST, replace=False))
            if chances[rows].any():
                points, chances = points[rows], chances[rows]
        found.append(clustered(points, chances, n_components, rng))
    prior, means, covariance = (np.stack(part) for part in zip(*found, strict=True))
    return start_of(prior, means, covariance, _class_shares(sample, options, means), options, limit)


def own_start(
    sample: Sample,
    weight: Doubles,
    options: Options,
    sizes: Ints,
    rngs: Sequence[np.random.Generator],
    kind: str = "overall",
) -> Params:
    """(G6): a start with so many components for each class: its mean, or examples or clusters of it that lie apart."""
    n_fits, owner = len(rngs), np.repeat(np.arange(len(sizes)), sizes)
    limit = Limit.of(overall_covariance(sample.points, weight), options.condition_limit)
    n_dims = sample.points.shape[-1]
    means, prior = np.empty((n_fits, len(owner), n_dims)), np.empty((n_fits, len(owner)))
    covariance = np.array(np.broadcast_to(limit.overall[:, None], (n_fits, len(owner), n_dims, n_dims)))
    for fit, rng in enumerate(rngs):
        points, labels = sample.points[fit % len(sample.points)], sample.classes[fit % len(sample.classes)]
        for label, size in enumerate(sizes):
            own, mine = points[labels == label], owner == label
            own = own if len(own) else points
            share = max(1, int((labels == label).sum()))
            if kind == "clusters" and (sizes > 1).any():
                found = clustered(own, np.ones(len(own)), int(size), rng)
                prior[fit, mine], means[fit, mine], covariance[fit, mine] = share * found.share, *found[1:]
                continue
            means[fit, mine], prior[fit, mine] = own.mean(axis=0), share / size
            if size > 1:
                drawn = own[spread_out(own, np.ones(len(own)), int(size), rng)]
                means[fit, mine] = drawn + DRAWN_IN * (own.mean(axis=0) - drawn)
    classes = np.broadcast_to(np.eye(len(sizes))[owner], (n_fits, len(owner), len(sizes)))
    return start_of(prior / prior.sum(axis=1, keepdims=True), means, covariance, classes, options, limit)


def clustered(points: Doubles, chances: Doubles, n_clusters: int, rng: np.random.Generator) -> Clusters:
    """A few steps of k-means. A covariance is drawn to that within all clusters, which counts as d + 1 examples."""
    tries = 2 + int(math.log(n_clusters))
    means = points[spread_out(points, chances, n_clusters, rng, tries)]
    numbers, count, taken = np.arange(n_clusters)[:, None], np.zeros(n_clusters), np.full(len(points), -1)
    for _ in range(LLOYD_STEPS):
        nearest = (means @ points.T - 0.5 * (means * means).sum(axis=1)[:, None]).argmax(axis=0)
        if (nearest == taken).all():
            break
        taken = nearest
        shares = (taken == numbers) * chances
        count = shares.sum(axis=1)
        filled = count > 0
        means[filled] = (shares[filled] @ points) / count[filled, None]
    n_dims = points.shape[1]
    scatter = np.zeros((n_clusters, n_dims, n_dims))
    for cluster in range(n_clusters):
        mine = taken == cluster
        away = points[mine] - means[cluster]
        scatter[cluster] = (away * chances[mine, None]).T @ away
    within = scatter.sum(axis=0) / count.sum()
    covariance = (scatter + (n_dims + 1) * within) / (count + n_dims + 1)[:, None, None]
    share = np.maximum(count, 0.5)  # a cluster without examples may still find some
    return Clusters(share / share.sum(), means, covariance)


def spread_out(points: Doubles, chances: Doubles, wanted: int, rng: np.random.Generator, tries: int = 1) -> Ints:
    """Examples far from each other, drawn one after the other; of several tries the one that leaves the least far."""
    drawn = [int(rng.choice(len(points), p=chances / chances.sum()))]
    nearest = _distance(points, drawn[-1])
    for _ in range(wanted - 1):
        chance = np.cumsum(nearest * chances)
        if not chance[-1] > 0:  # there are no more different examples
            drawn.append(int(rng.integers(len(points))))
            continue
        places = np.searchsorted(chance, rng.random(tries) * chance[-1], side="right")
        best: tuple[float, int, Doubles] | None = None
        for place in np.minimum(places, len(points) - 1).tolist():
            left = np.minimum(nearest, _distance(points, place))
            cost = float(left @ chances) if tries > 1 else 0.0
            if best is None or cost < best[0]:
                best = (cost, place, left)
        assert best is not None  # noqa: S101  there is at least one try
        drawn.append(best[1])
        nearest = best[2]
    return np.array(drawn)


def _distance(points: Doubles, place: int) -> Doubles:
    difference = points - points[place]
    return np.asarray(np.einsum("nd,nd->n", difference, difference))


def start_of(
    prior: Doubles, means: Doubles, covariance: Doubles, classes: Doubles, options: Options, limit: Limit
) -> Params:
    """A start with these covariances (fits or 1, components or 1, …), brought to the shape of the model."""
    n_fits, n_components, n_dims = means.shape
    given = np.broadcast_to(covariance, (n_fits, n_components, n_dims, n_dims))
    if options.covariance == "shared":
        given = (given * prior[..., None, None]).sum(axis=1)
    elif options.covariance == "diagonal":
        given = np.diagonal(given, axis1=-2, axis2=-1)
    kept = shape_of(options.covariance, n_dims).conditioned(np.array(given), limit).covariance
    nothing = np.zeros((n_fits, n_components))
    unknown, nobody = np.full(n_fits, -np.inf), np.zeros(n_fits, bool)
    return Params(prior, means, kept, classes, nobody, unknown, nothing, np.zeros(n_fits, int), nothing.astype(bool))


def joined(starts: Sequence[Params]) -> Params:
    """Starts of several batches as one."""
    if len(starts) == 1:
        return starts[0]
    return Params(*(np.concatenate([getattr(start, part.name) for start in starts]) for part in fields(Params)))


def _class_shares(sample: Sample, options: Options, means: Doubles) -> Doubles:
    n_fits, n_components = means.shape[:2]
    known = (sample.classes[..., None] == np.arange(options.n_classes)).sum(axis=1).astype(float)
    shares = known / np.maximum(known.sum(axis=-1, keepdims=True), 1.0)
    return np.repeat(np.broadcast_to(shares, (n_fits, options.n_classes))[:, None], n_components, axis=1)
