"""Starting values of Gaussian mixtures. Equations (G3), (G6): docs/models/ggm.md

The paper starts every component with the overall covariance, so that each component sees all examples. If clusters form
groups, such wide components of one group stay together and never separate its clusters. The other start is narrow: a
few steps of k-means and the covariances within its clusters. Restarts alternate between both.
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
MAX_CLUSTERED = 20_000  # examples that clusters to begin with are sought among
SHRINK_TO_MEAN = 0.1  # how far the start of one of several means is drawn from its example to the mean of the class


class Sample(NamedTuple):
    """Examples of each fit: points, classes (−1: unknown), and which examples estimate means."""

    points: Doubles  # (fits or 1, examples, dimensions)
    classes: Ints  # (fits or 1, examples)
    first: Bools  # (fits or 1, examples): as many in every fit

    def of_fits(self, fits: FitIndex) -> Sample:
        """Return the examples of some of the fits."""
        points, classes, first = (part if len(part) == 1 else part[fits] for part in self)
        return Sample(points, classes, first)  # type: ignore[arg-type]


class Clusters(NamedTuple):
    """First guess of the components of one fit."""

    share: Doubles  # (components,)
    mean: Doubles  # (components, dimensions)
    covariance: Doubles  # (components, dimensions, dimensions)


def choose_start_kind(start: str, number: int) -> str:
    """Return the kind of start of a restart, by its number."""
    return start if start != "auto" else ("clusters", "overall")[number % 2]


def overall_covariance(points: Doubles, weight: Doubles) -> Doubles:
    """Return Σ_0 of each fit, with unlabelled examples weighted."""
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = np.matmul(share[:, None], points)
    differences = points - mean
    return np.asarray(np.matmul((differences * share[..., None]).swapaxes(-1, -2), differences))


def random_start(
    sample: Sample, weight: Doubles, options: Options, n_components: int, rngs: Sequence[np.random.Generator]
) -> Params:
    """Return the paper's start: means at random examples, the overall covariance, even weights, P(y|k) = P(y).

    A mean is drawn with a probability in proportion to its squared distance from the means before it.
    """
    limit = Limit.of(overall_covariance(sample.points, weight), options.condition_limit)
    means = np.empty((len(rngs), n_components, sample.points.shape[-1]))
    for fit, rng in enumerate(rngs):
        points, chances = sample.points[fit % len(sample.points)], weight[fit % len(weight)]
        means[fit] = points[draw_spread_points(points, chances, n_components, rng)]
    prior = np.full(means.shape[:2], 1.0 / n_components)
    return make_start(
        prior, means, limit.overall_covariance[:, None], _compute_class_shares(sample, options, means), options, limit
    )


def cluster_start(
    sample: Sample, weight: Doubles, options: Options, n_components: int, rngs: Sequence[np.random.Generator]
) -> Params:
    """Return a start at clusters: their means, covariances and sizes, and P(y|k) = P(y)."""
    limit = Limit.of(overall_covariance(sample.points, weight), options.condition_limit)
    clusters = []
    for fit, rng in enumerate(rngs):
        points, chances = sample.points[fit % len(sample.points)], weight[fit % len(weight)]
        if len(points) > MAX_CLUSTERED:
            rows = np.sort(rng.choice(len(points), MAX_CLUSTERED, replace=False))
            if chances[rows].any():
                points, chances = points[rows], chances[rows]
        clusters.append(cluster_points(points, chances, n_components, rng))
    prior, means, covariance = (np.stack(part) for part in zip(*clusters, strict=True))
    return make_start(prior, means, covariance, _compute_class_shares(sample, options, means), options, limit)


def own_start(
    sample: Sample,
    weight: Doubles,
    options: Options,
    sizes: Ints,
    rngs: Sequence[np.random.Generator],
    kind: str = "overall",
) -> Params:
    """Return a start (G6) with components for each class: its mean, or spread examples or clusters of it."""
    n_fits, owner = len(rngs), np.repeat(np.arange(len(sizes)), sizes)
    limit = Limit.of(overall_covariance(sample.points, weight), options.condition_limit)
    n_dims = sample.points.shape[-1]
    means, prior = np.empty((n_fits, len(owner), n_dims)), np.empty((n_fits, len(owner)))
    covariance = np.array(np.broadcast_to(limit.overall_covariance[:, None], (n_fits, len(owner), n_dims, n_dims)))
    for fit, rng in enumerate(rngs):
        points, labels = sample.points[fit % len(sample.points)], sample.classes[fit % len(sample.classes)]
        for label, size in enumerate(sizes):
            class_points, is_own = points[labels == label], owner == label
            class_points = class_points if len(class_points) else points
            share = max(1, int((labels == label).sum()))
            if kind == "clusters" and (sizes > 1).any():
                clusters = cluster_points(class_points, np.ones(len(class_points)), int(size), rng)
                prior[fit, is_own], means[fit, is_own], covariance[fit, is_own] = share * clusters.share, *clusters[1:]
                continue
            means[fit, is_own], prior[fit, is_own] = class_points.mean(axis=0), share / size
            if size > 1:
                means_drawn = class_points[draw_spread_points(class_points, np.ones(len(class_points)), int(size), rng)]
                means[fit, is_own] = means_drawn + SHRINK_TO_MEAN * (class_points.mean(axis=0) - means_drawn)
    classes = np.broadcast_to(np.eye(len(sizes))[owner], (n_fits, len(owner), len(sizes)))
    return make_start(prior / prior.sum(axis=1, keepdims=True), means, covariance, classes, options, limit)


def cluster_points(points: Doubles, chances: Doubles, n_clusters: int, rng: np.random.Generator) -> Clusters:
    """Return clusters after a few steps of k-means.

    Each covariance is shrunk to the covariance within all clusters, which counts as d + 1 examples.
    """
    tries = 2 + int(math.log(n_clusters))
    means = points[draw_spread_points(points, chances, n_clusters, rng, tries)]
    numbers, count, assignments = np.arange(n_clusters)[:, None], np.zeros(n_clusters), np.full(len(points), -1)
    for _ in range(LLOYD_STEPS):
        closest = (means @ points.T - 0.5 * (means * means).sum(axis=1)[:, None]).argmax(axis=0)
        if (closest == assignments).all():
            break
        assignments = closest
        shares = (assignments == numbers) * chances
        count = shares.sum(axis=1)
        filled = count > 0
        means[filled] = (shares[filled] @ points) / count[filled, None]
    n_dims = points.shape[1]
    scatter = np.zeros((n_clusters, n_dims, n_dims))
    for cluster in range(n_clusters):
        is_member = assignments == cluster
        differences = points[is_member] - means[cluster]
        scatter[cluster] = (differences * chances[is_member, None]).T @ differences
    mean_covariance = scatter.sum(axis=0) / count.sum()
    covariance = (scatter + (n_dims + 1) * mean_covariance) / (count + n_dims + 1)[:, None, None]
    share = np.maximum(count, 0.5)  # a cluster without examples may still find some
    return Clusters(share / share.sum(), means, covariance)


def draw_spread_points(
    points: Doubles, chances: Doubles, n_points: int, rng: np.random.Generator, tries: int = 1
) -> Ints:
    """Draw examples far from each other; of several tries keep the one that leaves the smallest distances."""
    rows = [int(rng.choice(len(points), p=chances / chances.sum()))]
    distances = _distance(points, rows[-1])
    for _ in range(n_points - 1):
        chance = np.cumsum(distances * chances)
        if not chance[-1] > 0:  # there are no more different examples
            rows.append(int(rng.integers(len(points))))
            continue
        places = np.searchsorted(chance, rng.random(tries) * chance[-1], side="right")
        best: tuple[float, int, Doubles] | None = None
        for place in np.minimum(places, len(points) - 1).tolist():
            remaining = np.minimum(distances, _distance(points, place))
            cost = float(remaining @ chances) if tries > 1 else 0.0
            if best is None or cost < best[0]:
                best = (cost, place, remaining)
        assert best is not None  # noqa: S101  there is at least one try
        rows.append(best[1])
        distances = best[2]
    return np.array(rows)


def _distance(points: Doubles, place: int) -> Doubles:
    difference = points - points[place]
    return np.asarray(np.einsum("nd,nd->n", difference, difference))


def make_start(
    prior: Doubles, means: Doubles, covariance: Doubles, classes: Doubles, options: Options, limit: Limit
) -> Params:
    """Return a start with these covariances (fits or 1, components or 1, …), converted to the shape of the model."""
    n_fits, n_components, n_dims = means.shape
    broadcast = np.broadcast_to(covariance, (n_fits, n_components, n_dims, n_dims))
    if options.covariance == "shared":
        broadcast = (broadcast * prior[..., None, None]).sum(axis=1)
    bounded = shape_of(options.covariance, n_dims).apply_limit(np.array(broadcast), limit).covariance
    zeros = np.zeros((n_fits, n_components))
    no_likelihood, no_fit = np.full(n_fits, -np.inf), np.zeros(n_fits, bool)
    return Params(
        prior, means, bounded, classes, no_fit, no_likelihood, zeros, np.zeros(n_fits, int), zeros.astype(bool)
    )


def concatenate_starts(starts: Sequence[Params]) -> Params:
    """Return the starts of several batches as one."""
    if len(starts) == 1:
        return starts[0]
    return Params(*(np.concatenate([getattr(start, part.name) for start in starts]) for part in fields(Params)))


def _compute_class_shares(sample: Sample, options: Options, means: Doubles) -> Doubles:
    """Return the shares of the labelled classes, the same for each component."""
    n_fits, n_components = means.shape[:2]
    class_counts = (sample.classes[..., None] == np.arange(options.n_classes)).sum(axis=1).astype(float)
    shares = class_counts / np.maximum(class_counts.sum(axis=-1, keepdims=True), 1.0)
    return np.repeat(np.broadcast_to(shares, (n_fits, options.n_classes))[:, None], n_components, axis=1)
