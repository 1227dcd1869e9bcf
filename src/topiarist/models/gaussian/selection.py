"""How many components, whose they are, and how much unlabelled examples weigh. Equations (G5), (G6): docs/models/ggm.md

A *study* is a sample for each of several fits. Everything is chosen for each fit by itself; fits that agree on the
number of components are computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from topiarist.arrays import Doubles, Ints
from topiarist.models import em
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian.covariances import Limit, shape_of
from topiarist.models.gaussian.fits import Fits
from topiarist.models.gaussian.mixture import Block, Ggm, Options, Params
from topiarist.models.gaussian.starts import (
    Sample,
    cluster_start,
    joined,
    kind_of,
    overall_covariance,
    own_start,
    random_start,
)
from topiarist.scale.executors import Executor
from topiarist.scale.threads import Threads

TOGETHER = 32  # restarts of one sample that are a batch
EXAMPLES_EACH = 2  # at least so many examples for each component that is tried


class Run(TypedDict, total=False):
    """How fits are run: who watches them, and where blocks are computed."""

    watch: Callable[[em.Loop], None] | None
    executor: Executor | None


@dataclass(frozen=True)
class Search:
    """What is tried."""

    options: Options
    sizes: tuple[int, ...]  # numbers of components; of each class, where components belong to classes
    n_init: int = 1
    split: float | None = 0.5
    seed: int = 0
    from_all: bool = False  # estimate once more from all examples in the end
    few_examples: bool = False  # correct AIC for small samples
    start: str = "overall"  # see ``ggm_starts``
    price: float = 1.0  # of a parameter: 1 is AIC, half the logarithm of the number of examples BIC
    patience: int | None = None  # numbers worse than the best, one after the other, that end the search; None: all


@dataclass(frozen=True)
class Found:
    """The chosen mixtures, each by itself because their sizes may differ, with the criterion of all that were tried."""

    fits: tuple[Fits, ...]
    tried: dict[int, Doubles]  # AIC by the number of components, (fits,)
    by_class: bool = False  # the criterion is a sum over classes: of AIC, corrected for few examples, of their own


def searched(
    sample: Sample, unlabelled_weight: float | Doubles, search: Search, threads: Threads, **run: Unpack[Run]
) -> Found:
    """(G5): a mixture for each fit, of the number of components with the lowest AIC, or as dear as a parameter is.

    A mixture with a degenerate component is taken only if there is no other.
    """
    n_fits = max(map(len, sample))
    weight = fitting.weights(sample.classes, unlabelled_weight)
    n_fits = max(n_fits, len(weight))
    if search.options.own_components:
        return _own(sample, weight, search, threads, n_fits, **run)
    best: list[Any] = [None] * n_fits
    tried = {}
    worse = 0
    for size in search.sizes:

        def start(number: int, size: int = size) -> Params:
            rngs = [np.random.default_rng([search.seed, size, number, fit]) for fit in range(n_fits)]
            begin = cluster_start if kind_of(search.start, number) == "clusters" else random_start
            return begin(sample, weight, search.options, size, rngs)

        ranks: list[Any] = [None] * n_fits
        for fits in _restarts(sample, weight, search, threads, start, **run):
            _keep_best(best, ranks, fits, sample.points.shape[1] if search.few_examples else None, search.price)
        tried[size] = np.array([rank[2] for rank in ranks])
        worse = 0 if any(kept[0][:2] == rank[:2] for kept, rank in zip(best, ranks, strict=True)) else worse + 1
        if fits.interrupted or worse == search.patience:
            break
    return Found(tuple(kept[1] for kept in best), tried)


def _restarts(
    sample: Sample,
    weight: Doubles,
    search: Search,
    threads: Threads,
    start: Callable[[int], Params],
    **run: Unpack[Run],
) -> Iterator[Fits]:
    """Fits from every start, finished. Those of one sample are one batch; those of a study come one start at a time."""
    together = TOGETHER if max(map(len, (*sample, weight))) == 1 else 1
    for first in range(0, search.n_init, together):
        batch = range(first, min(first + together, search.n_init))
        fits = _run(sample, weight, joined([start(number) for number in batch]), search, threads, **run)
        if search.from_all and search.split is not None and not fits.interrupted:
            try:
                fits = fitting.from_all(fits, sample, weight, run.get("executor"))
            except KeyboardInterrupt:
                fits = replace(fits, interrupted=True)
        yield fits
        if fits.interrupted:
            return


def _keep_best(
    best: list[Any], ranks: list[Any], fits: Fits, n_examples: int | None = None, price: float = 1.0
) -> None:
    """The best of each sample, and its rank among those of this size: not degenerate, the criterion, AIC."""
    degenerate, aic = fits.degenerate, fits.aic if n_examples is None else fits.corrected_aic(n_examples)
    more = (price - 1.0) * fits.n_parameters
    for row in range(len(fits.params)):
        place, rank = row % len(best), (bool(degenerate[row]), float(aic[row]) + more, float(aic[row]))
        if ranks[place] is None or rank < ranks[place]:
            ranks[place] = rank
        if best[place] is None or rank < best[place][0]:
            best[place] = (rank, fits.of_fits(slice(row, row + 1)))


def _run(sample: Sample, weight: Doubles, params: Params, search: Search, threads: Threads, **run: Unpack[Run]) -> Fits:
    blocks = fitting.halves(sample, weight, search.split)
    overall = overall_covariance(sample.points, weight)
    return fitting.fit_many(blocks, params, search.options, threads, overall=overall, **run)


def _own(sample: Sample, weight: Doubles, search: Search, threads: Threads, n_fits: int, **run: Unpack[Run]) -> Found:
    """(G6): each class chooses the number of its components by its own examples; then all are fitted together."""
    chosen = np.ones((n_fits, search.options.n_classes), np.int64)
    criterion = {size: np.zeros(n_fits) for size in search.sizes}
    for fit in range(n_fits):
        one = sample.of_fits(slice(fit, fit + 1))
        for label in range(search.options.n_classes):
            chosen[fit, label], values = _size_of_class(one, label, search, threads)
            for size in search.sizes:
                criterion[size][fit] += values.get(size, np.inf)
    fits: list[Any] = [None] * n_fits
    for sizes in np.unique(chosen, axis=0):
        members = np.flatnonzero((chosen == sizes).all(axis=1))
        found = _own_of_sizes(sample, weight, search, threads, members, sizes, **run)
        retry = np.array([bool(fit.degenerate[0]) for fit in found])
        if retry.any() and (sizes > 1).any() and len(search.sizes) > 1 and not found[0].interrupted:
            simple = _own_of_sizes(sample, weight, search, threads, members[retry], np.ones_like(sizes), **run)
            for place, better in zip(np.flatnonzero(retry).tolist(), simple, strict=True):
                found[place] = better
        for place, own in zip(members.tolist(), found, strict=True):
            fits[place] = own
    told = {size: values for size, values in criterion.items() if np.isfinite(values).any()}
    if len(search.sizes) == 1:
        told = {search.sizes[0]: np.array([float(fit.aic[0]) for fit in fits])}
    return Found(tuple(fits), told, by_class=len(search.sizes) > 1)


def _own_of_sizes(
    sample: Sample, weight: Doubles, search: Search, threads: Threads, members: Ints, sizes: Ints, **run: Unpack[Run]
) -> list[Fits]:
    """The best fit of each of some samples, with so many components for each class."""
    part = sample.of_fits(members)
    own = weight if len(weight) == 1 else weight[members]

    def start(number: int) -> Params:
        rngs = [np.random.default_rng([search.seed, 1, int(fit), *([number] if number else [])]) for fit in members]
        return own_start(part, own, search.options, sizes, rngs, kind_of(search.start, number))

    drawn = replace(search, n_init=search.n_init if (sizes > 1).any() else 1)  # else every start is the same
    best: list[Any] = [None] * len(members)
    for fits in _restarts(part, own, drawn, threads, start, **run):
        _keep_best(best, [None] * len(members), fits)
    return [kept[1] for kept in best]


def _size_of_class(one: Sample, label: int, search: Search, threads: Threads) -> tuple[int, dict[int, float]]:
    """The number of components of one class, by the AIC of a mixture of its labelled examples alone."""
    if len(search.sizes) == 1:
        return search.sizes[0], {}
    members = np.flatnonzero(one.classes[0] == label)
    cost = shape_of(search.options.covariance, one.points.shape[-1]).n_parameters
    dims = one.points.shape[-1]
    room = len(members) - 1
    sizes = tuple(size for size in search.sizes if cost(size, dims) + size * (dims + 1) - 1 < room)
    if len(sizes) <= 1:
        return (sizes or (1,))[0], {}
    alone = Sample(one.points[:, members], np.full((1, len(members)), -1), one.first[:, members])
    options = replace(search.options, n_classes=0, own_components=False)
    alike = replace(search, options=options, sizes=sizes, from_all=False, few_examples=True)
    found = searched(alone, 1.0, alike, threads)
    if found.fits[0].interrupted:
        raise KeyboardInterrupt
    return found.fits[0].params.n_components, {size: float(values[0]) for size, values in found.tried.items()}


def folds_of(classes: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """The fold of each labelled example, −1 for the others; classes are dealt out evenly."""
    folds = np.full(len(classes), -1)
    labelled = np.flatnonzero(classes >= 0)
    order = labelled[np.argsort(classes[labelled] + 0.9 * rng.random(len(labelled)), kind="stable")]
    folds[order] = np.arange(len(order)) % n_folds
    return folds


@dataclass(frozen=True)
class Validated:
    """Mean surprise of held-out examples by what was tried; and a fit to keep, if Ctrl-C ended it."""

    surprise: dict[tuple[float, int], float]
    stopped: Fits | None = None

    @property
    def best(self) -> tuple[float, int]:
        """The weight and the number of components of the least surprise."""
        return min(self.surprise, key=lambda key: (round(self.surprise[key], 12), key))


def cross_validated(
    sample: Sample,
    weights: Sequence[float],
    search: Search,
    threads: Threads,
    n_folds: int = 5,
    *,
    whole: bool = False,
) -> Validated:
    """Mean surprise of held-out labels, −log P(y|x), for each weight of unlabelled examples and number of components.

    Of a sample without labels: mean −log p(x) of held-out examples. With ``whole`` the number of components is chosen
    within each fold, and 0 stands for it. Ctrl-C ends all of it: kept is a fit of the best that was tried, to all but
    one fold, or else the fit that it came upon.
    """
    rng = np.random.default_rng([search.seed, 2])
    classes = sample.classes[0]
    supervised = bool((classes >= 0).any())
    pretended = classes if supervised else np.zeros(len(classes), np.int64)
    n_folds = min(n_folds, int((pretended >= 0).sum()))
    folds = folds_of(pretended, n_folds, rng)
    done, latest = Validated({}), None
    kept: dict[tuple[float, int], Fits] = {}
    try:
        for size in (0,) if whole else search.sizes:
            tried = replace(search, sizes=search.sizes if whole else (size,))
            for value in weights:
                total = 0.0
                for fold in range(n_folds):
                    rest = folds != fold
                    part = Sample(sample.points[:, rest], sample.classes[:, rest], sample.first[:, rest])
                    latest = searched(part, value, tried, threads).fits[0]
                    if latest.interrupted:
                        raise KeyboardInterrupt
                    total += _surprise(latest, sample.points[:, ~rest], classes[~rest] if supervised else None)
                done.surprise[value, size] = total / int((pretended >= 0).sum())
                kept[value, size] = latest  # type: ignore[assignment]
    except KeyboardInterrupt:
        if latest is None:
            raise
        stopped = kept[done.best] if done.surprise else latest
        return replace(done, stopped=replace(stopped, interrupted=True))
    return done


def _surprise(fit: Fits, points: Doubles, labels: Ints | None) -> float:
    joint = joint_of(fit.model, fit.params, points)[0]
    largest = joint.max(axis=0)
    shares = np.exp(joint - largest)
    if labels is None:
        return -float((largest + np.log(shares.sum(axis=0))).sum())
    chance = shares.T @ fit.params.class_given_component[0]
    chance = chance[np.arange(len(labels)), labels] / shares.sum(axis=0)
    return -float(np.log(np.maximum(chance, 1e-3)).sum())


def joint_of(model: Ggm, params: Params, points: Doubles) -> Doubles:
    """log P(k) p(x|k), (fits, components, examples), for points (fits or 1, examples, dimensions)."""
    unknown = np.full(points.shape[:2], -1)
    block = Block(points, unknown, np.ones(points.shape[:2]))
    return model.log_joint(params, block)


def model_of(covariance: str, overall: Doubles, condition_limit: float, threads: Threads, n_classes: int) -> Ggm:
    """A model to read with, when nothing is to be fitted any more."""
    shape = shape_of(covariance, overall.shape[-1])
    return Ggm(shape, Limit(overall, condition_limit), threads, n_classes)
