"""Selection of the number of components, their classes and the weight of unlabelled examples. Equations (G5), (G6)

See docs/models/ggm.md. A *study* is one sample for each of several fits. Every choice is made for each fit separately;
fits with the same number of components are computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from topiarist.arrays import Doubles, Ints
from topiarist.execution.executors import Executor
from topiarist.execution.threads import Threads
from topiarist.models import em
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian.covariances import Limit, shape_of
from topiarist.models.gaussian.fits import Fits
from topiarist.models.gaussian.mixture import Block, Ggm, Options, Params
from topiarist.models.gaussian.starts import (
    Sample,
    choose_start_kind,
    cluster_start,
    concatenate_starts,
    overall_covariance,
    own_start,
    random_start,
)

BATCH_RESTARTS = 32  # restarts of one sample that are a batch
EXAMPLES_EACH = 2  # at least so many examples for each component that is tried


class Run(TypedDict, total=False):
    """Arguments for running fits: the progress watcher and the executor."""

    watch: Callable[[em.Loop], None] | None
    executor: Executor | None


@dataclass(frozen=True)
class Search:
    """Settings of a search for the best mixture."""

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
class SelectedModel:
    """Selected mixture of each sample, and the criterion of every number of components that was tried."""

    fits: tuple[Fits, ...]
    criteria: dict[int, Doubles]  # AIC by the number of components, (fits,)
    by_class: bool = False  # the criterion is a sum over classes: of AIC, corrected for few examples, of their own


def search_mixtures(
    sample: Sample, unlabelled_weight: float | Doubles, search: Search, threads: Threads, **run: Unpack[Run]
) -> SelectedModel:
    """Return a mixture (G5) for each fit, with the number of components of the lowest criterion.

    A mixture with a degenerate component is selected only if there is no other.
    """
    n_fits = max(map(len, sample))
    weight = fitting.compute_weights(sample.classes, unlabelled_weight)
    n_fits = max(n_fits, len(weight))
    if search.options.own_components:
        return _search_own_components(sample, weight, search, threads, n_fits, **run)
    best: list[Any] = [None] * n_fits
    criteria = {}
    worse = 0
    for size in search.sizes:

        def start(number: int, size: int = size) -> Params:
            rngs = [np.random.default_rng([search.seed, size, number, fit]) for fit in range(n_fits)]
            begin = cluster_start if choose_start_kind(search.start, number) == "clusters" else random_start
            return begin(sample, weight, search.options, size, rngs)

        ranks: list[Any] = [None] * n_fits
        for fits in _iterate_restarts(sample, weight, search, threads, start, **run):
            _keep_best(best, ranks, fits, sample.points.shape[1] if search.few_examples else None, search.price)
        criteria[size] = np.array([rank[2] for rank in ranks])
        worse = 0 if any(entry[0][:2] == rank[:2] for entry, rank in zip(best, ranks, strict=True)) else worse + 1
        if fits.interrupted or worse == search.patience:
            break
    return SelectedModel(tuple(entry[1] for entry in best), criteria)


def _iterate_restarts(
    sample: Sample,
    weight: Doubles,
    search: Search,
    threads: Threads,
    start: Callable[[int], Params],
    **run: Unpack[Run],
) -> Iterator[Fits]:
    """Yield finished fits from every start.

    Restarts of one sample are one batch. Restarts of a study come one start at a time.
    """
    batch_size = BATCH_RESTARTS if max(map(len, (*sample, weight))) == 1 else 1
    for first in range(0, search.n_init, batch_size):
        batch = range(first, min(first + batch_size, search.n_init))
        fits = _fit_restarts(
            sample, weight, concatenate_starts([start(number) for number in batch]), search, threads, **run
        )
        if search.from_all and search.split is not None and not fits.interrupted:
            try:
                fits = fitting.refine_with_all(fits, sample, weight, run.get("executor"))
            except KeyboardInterrupt:
                fits = replace(fits, interrupted=True)
        yield fits
        if fits.interrupted:
            return


def _keep_best(
    best: list[Any], ranks: list[Any], fits: Fits, n_examples: int | None = None, price: float = 1.0
) -> None:
    """Update the best fit of each sample and its rank: not degenerate first, then the criterion, then AIC."""
    degenerate, aic = fits.degenerate, fits.aic if n_examples is None else fits.corrected_aic(n_examples)
    extra_price = (price - 1.0) * fits.n_parameters
    for row in range(len(fits.params)):
        place, rank = row % len(best), (bool(degenerate[row]), float(aic[row]) + extra_price, float(aic[row]))
        if ranks[place] is None or rank < ranks[place]:
            ranks[place] = rank
        if best[place] is None or rank < best[place][0]:
            best[place] = (rank, fits.of_fits(slice(row, row + 1)))


def _fit_restarts(
    sample: Sample, weight: Doubles, params: Params, search: Search, threads: Threads, **run: Unpack[Run]
) -> Fits:
    blocks = fitting.split_examples(sample, weight, search.split)
    covariance = overall_covariance(sample.points, weight)
    return fitting.fit_many(blocks, params, search.options, threads, overall_covariance=covariance, **run)


def _search_own_components(
    sample: Sample, weight: Doubles, search: Search, threads: Threads, n_fits: int, **run: Unpack[Run]
) -> SelectedModel:
    """Return fits (G6) in which each class chooses its number of components by its own examples."""
    sizes_by_class = np.ones((n_fits, search.options.n_classes), np.int64)
    criterion = {size: np.zeros(n_fits) for size in search.sizes}
    for fit in range(n_fits):
        sample_of_fit = sample.of_fits(slice(fit, fit + 1))
        for label in range(search.options.n_classes):
            sizes_by_class[fit, label], values = _choose_class_size(sample_of_fit, label, search, threads)
            for size in search.sizes:
                criterion[size][fit] += values.get(size, np.inf)
    fits: list[Any] = [None] * n_fits
    for sizes in np.unique(sizes_by_class, axis=0):
        members = np.flatnonzero((sizes_by_class == sizes).all(axis=1))
        group_fits = _fit_own_components(sample, weight, search, threads, members, sizes, **run)
        retry = np.array([bool(fit.degenerate[0]) for fit in group_fits])
        if retry.any() and (sizes > 1).any() and len(search.sizes) > 1 and not group_fits[0].interrupted:
            simple = _fit_own_components(sample, weight, search, threads, members[retry], np.ones_like(sizes), **run)
            for place, better in zip(np.flatnonzero(retry).tolist(), simple, strict=True):
                group_fits[place] = better
        for place, fit_of_class in zip(members.tolist(), group_fits, strict=True):
            fits[place] = fit_of_class
    known_criteria = {size: values for size, values in criterion.items() if np.isfinite(values).any()}
    if len(search.sizes) == 1:
        known_criteria = {search.sizes[0]: np.array([float(fit.aic[0]) for fit in fits])}
    return SelectedModel(tuple(fits), known_criteria, by_class=len(search.sizes) > 1)


def _fit_own_components(
    sample: Sample, weight: Doubles, search: Search, threads: Threads, members: Ints, sizes: Ints, **run: Unpack[Run]
) -> list[Fits]:
    """Return the best fit of each of some samples, with a given number of components for each class."""
    part = sample.of_fits(members)
    part_weight = weight if len(weight) == 1 else weight[members]

    def start(number: int) -> Params:
        rngs = [np.random.default_rng([search.seed, 1, int(fit), *([number] if number else [])]) for fit in members]
        return own_start(part, part_weight, search.options, sizes, rngs, choose_start_kind(search.start, number))

    restarted_search = replace(search, n_init=search.n_init if (sizes > 1).any() else 1)  # else every start is the same
    best: list[Any] = [None] * len(members)
    for fits in _iterate_restarts(part, part_weight, restarted_search, threads, start, **run):
        _keep_best(best, [None] * len(members), fits)
    return [entry[1] for entry in best]


def _choose_class_size(sample: Sample, label: int, search: Search, threads: Threads) -> tuple[int, dict[int, float]]:
    """Return the number of components of one class, by the AIC of a mixture of its labelled examples."""
    if len(search.sizes) == 1:
        return search.sizes[0], {}
    members = np.flatnonzero(sample.classes[0] == label)
    cost = shape_of(search.options.covariance, sample.points.shape[-1]).n_parameters
    dims = sample.points.shape[-1]
    room = len(members) - 1
    sizes = tuple(size for size in search.sizes if cost(size, dims) + size * (dims + 1) - 1 < room)
    if len(sizes) <= 1:
        return (sizes or (1,))[0], {}
    class_sample = Sample(sample.points[:, members], np.full((1, len(members)), -1), sample.first[:, members])
    options = replace(search.options, n_classes=0, own_components=False)
    class_search = replace(search, options=options, sizes=sizes, from_all=False, few_examples=True)
    result = search_mixtures(class_sample, 1.0, class_search, threads)
    if result.fits[0].interrupted:
        raise KeyboardInterrupt
    return result.fits[0].params.n_components, {size: float(values[0]) for size, values in result.criteria.items()}


def deal_folds(classes: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """Return the fold of each labelled example, −1 for unlabelled ones; classes are dealt out evenly."""
    folds = np.full(len(classes), -1)
    labelled_rows = np.flatnonzero(classes >= 0)
    order = labelled_rows[np.argsort(classes[labelled_rows] + 0.9 * rng.random(len(labelled_rows)), kind="stable")]
    folds[order] = np.arange(len(order)) % n_folds
    return folds


@dataclass(frozen=True)
class ValidationResult:
    """Mean surprise of held-out examples by setting, and the fit to keep after Ctrl-C."""

    surprise: dict[tuple[float, int], float]
    stopped: Fits | None = None

    @property
    def best(self) -> tuple[float, int]:
        """Weight and number of components with the least surprise."""
        return min(self.surprise, key=lambda key: (round(self.surprise[key], 12), key))


def cross_validate(
    sample: Sample,
    weights: Sequence[float],
    search: Search,
    threads: Threads,
    n_folds: int = 5,
    *,
    choose_size_in_fold: bool = False,
) -> ValidationResult:
    """Return the mean surprise of held-out examples for each weight of unlabelled ones and number of components.

    The surprise is −log P(y|x), or −log p(x) without labels. With ``choose_size_in_fold`` each fold chooses its number
    of components, and keys have 0 in its place. After Ctrl-C the result has the fit of the best finished setting, or
    else the interrupted fit.
    """
    rng = np.random.default_rng([search.seed, 2])
    classes = sample.classes[0]
    is_supervised = bool((classes >= 0).any())
    fold_classes = classes if is_supervised else np.zeros(len(classes), np.int64)
    n_folds = min(n_folds, int((fold_classes >= 0).sum()))
    folds = deal_folds(fold_classes, n_folds, rng)
    result, latest = ValidationResult({}), None
    fits_by_setting: dict[tuple[float, int], Fits] = {}
    try:
        for size in (0,) if choose_size_in_fold else search.sizes:
            candidate = replace(search, sizes=search.sizes if choose_size_in_fold else (size,))
            for value in weights:
                total = 0.0
                for fold in range(n_folds):
                    rest = folds != fold
                    part = Sample(sample.points[:, rest], sample.classes[:, rest], sample.first[:, rest])
                    latest = search_mixtures(part, value, candidate, threads).fits[0]
                    if latest.interrupted:
                        raise KeyboardInterrupt
                    total += _compute_surprise(
                        latest, sample.points[:, ~rest], classes[~rest] if is_supervised else None
                    )
                result.surprise[value, size] = total / int((fold_classes >= 0).sum())
                fits_by_setting[value, size] = latest  # type: ignore[assignment]
    except KeyboardInterrupt:
        if latest is None:
            raise
        stopped = fits_by_setting[result.best] if result.surprise else latest
        return replace(result, stopped=replace(stopped, interrupted=True))
    return result


def _compute_surprise(fit: Fits, points: Doubles, labels: Ints | None) -> float:
    """Return the negative log-likelihood of held-out labels; of the points without labels."""
    joint = compute_joint(fit.model, fit.params, points)[0]
    largest = joint.max(axis=0)
    shares = np.exp(joint - largest)
    if labels is None:
        return -float((largest + np.log(shares.sum(axis=0))).sum())
    chance = shares.T @ fit.params.class_given_component[0]
    chance = chance[np.arange(len(labels)), labels] / shares.sum(axis=0)
    return -float(np.log(np.maximum(chance, 1e-3)).sum())


def compute_joint(model: Ggm, params: Params, points: Doubles) -> Doubles:
    """Return log P(k) p(x|k), (fits, components, examples), for points (fits or 1, examples, dimensions)."""
    unknown = np.full(points.shape[:2], -1)
    block = Block(points, unknown, np.ones(points.shape[:2]))
    return model.log_joint(params, block)


def make_model(
    covariance: str, overall_covariance: Doubles, condition_limit: float, threads: Threads, n_classes: int
) -> Ggm:
    """Return a model that only computes posteriors."""
    shape = shape_of(covariance, overall_covariance.shape[-1])
    return Ggm(shape, Limit(overall_covariance, condition_limit), threads, n_classes)
