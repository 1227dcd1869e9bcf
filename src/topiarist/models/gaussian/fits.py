"""Batches of Gaussian mixture fits: starts, EM loop and results. Equations (G3)-(G5): docs/models/ggm.md"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Array, Bools, Doubles, Ints
from topiarist.execution.executors import Executor, InProcess
from topiarist.execution.threads import Threads
from topiarist.models import em
from topiarist.models.gaussian.covariances import Limit, shape_of
from topiarist.models.gaussian.mixture import Block, Ggm, Options, Params
from topiarist.models.gaussian.starts import Sample

STEPS_WITH_ALL_EXAMPLES = 5
MIN_CONVERGED_SHARE = 0.3  # share of a batch that has settled when it leaves; until then it is computed in vain
MIN_EXAMPLES = 2.0  # examples that a component must have
MAX_HISTORIES = 64  # fits of a batch whose every step is remembered, at most
BLOCK_EXAMPLES = 1 << 16  # of a block: what an executor computes at once


@dataclass(frozen=True)
class Fits:
    """Results of a batch of fits."""

    model: Ggm
    params: Params
    histories: tuple[tuple[float, ...], ...] = ()  # the log-likelihood after every step, of a batch that is not large
    interrupted: bool = False  # by Ctrl-C: what was found until then

    @property
    def n_iter(self) -> Ints:
        """Number of steps of each fit."""
        return self.params.steps

    @property
    def log_likelihood(self) -> Doubles:
        """Log-likelihood of each fit, with unlabelled examples weighted."""
        return self.params.previous_log_likelihood

    @property
    def aic(self) -> Doubles:
        """Criterion (G5) of each fit: −log-likelihood + number of parameters."""
        return -self.log_likelihood + self.n_parameters

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of a mixture."""
        n_components, n_dims = self.params.component_mean.shape[1:]
        return self.model.n_parameters(n_components, n_dims)

    def corrected_aic(self, n_examples: int) -> Doubles:
        """Return AIC corrected for small samples, in which a parameter costs more (Hurvich and Tsai)."""
        n_components, n_dims = self.params.component_mean.shape[1:]
        n_parameters = self.model.n_parameters(n_components, n_dims)
        left = n_examples - n_parameters - 1
        return self.aic + (n_parameters * (n_parameters + 1) / left if left > 0 else np.inf)

    @property
    def degenerate(self) -> Bools:
        """Fits (fits,) that have a component with fewer than two examples or a covariance set by the limit."""
        return np.asarray(self.params.is_limited.any(axis=1) | (self.params.count < MIN_EXAMPLES).any(axis=1))

    def of_fits(self, fits: slice) -> Fits:
        """Return a selection of the fits."""
        limit = self.model.limit
        overall_covariance = (
            limit.overall_covariance if len(limit.overall_covariance) == 1 else limit.overall_covariance[fits]
        )
        model = replace(self.model, limit=replace(limit, overall_covariance=overall_covariance))
        params = self.params.of_fits(fits)
        histories = self.histories[fits] if self.histories else ()
        return Fits(model, params, histories, self.interrupted)


def split_examples(sample: Sample, weight: Doubles, split: float | None) -> list[Block]:
    """Return the examples of (G2) in blocks; blocks for means precede blocks for covariances."""
    if split is None:
        return _make_blocks(sample.points, sample.classes, weight, None)
    places = np.argsort(~sample.first, axis=1, kind="stable")
    points, classes, own_weight = (_take_rows(part, places) for part in (sample.points, sample.classes, weight))
    return _make_blocks(points, classes, own_weight, int(sample.first[0].sum()))


def _make_blocks(points: Doubles, classes: Ints, weight: Doubles, n_first: int | None) -> list[Block]:
    """Return blocks of examples, the same for every executor, so that fits are equal bit by bit."""
    starts = range(0, points.shape[1], BLOCK_EXAMPLES)
    blocks = []
    for start in starts:
        rows = slice(start, min(start + BLOCK_EXAMPLES, points.shape[1]))
        first = None if n_first is None else min(max(n_first - start, 0), rows.stop - start)
        blocks.append(Block(points[:, rows], classes[:, rows], weight[:, rows], first, len(starts)))
    return blocks


def _take_rows(array: Array, places: Ints) -> Any:
    """Return the examples with these numbers in each fit; arrays that all fits share stay shared."""
    if len(places) == 1:
        return np.ascontiguousarray(array[:, places[0]])
    rows = np.zeros(len(places), np.int64)[:, None] if len(array) == 1 else np.arange(len(places))[:, None]
    return array[rows, places]


def draw_halves(classes: Ints, split: float, rng: np.random.Generator) -> Bools:
    """Return which examples estimate means: a random share of the labelled and of the unlabelled ones, rounded up.

    Labelled examples are dealt out by class, so that both parts have every class with two examples.
    """
    first = np.zeros(len(classes), bool)
    order = rng.permutation(len(classes))
    unlabelled_rows = order[classes[order] < 0]
    first[unlabelled_rows[: math.ceil(split * len(unlabelled_rows))]] = True
    labelled_rows = order[classes[order] >= 0]
    if len(labelled_rows):
        turn = np.zeros(len(labelled_rows))
        for label in np.unique(classes[labelled_rows]):
            in_class = classes[labelled_rows] == label
            turn[in_class] = (np.arange(in_class.sum()) + rng.random()) / in_class.sum()
        spread = labelled_rows[np.argsort(turn, kind="stable")]
        n_wanted = math.ceil(split * len(labelled_rows))
        n_taken = np.floor(np.arange(1, len(labelled_rows) + 1) * n_wanted / len(labelled_rows) + 1e-9)
        first[spread[np.diff(np.append(0, n_taken)) > 0]] = True
    return first


def compute_weights(classes: Ints, unlabelled_weight: float | Doubles) -> Doubles:
    """Return the weight 1 for labelled examples and λ for unlabelled ones; all weights are equal without labels."""
    factor = np.reshape(np.asarray(unlabelled_weight, np.float64), (-1, 1))
    if not (classes >= 0).any():
        factor = np.ones_like(factor)
    return np.where(classes >= 0, 1.0, factor)


def fit_many(
    blocks: Sequence[Block],
    start: Params,
    options: Options,
    threads: Threads,
    *,
    overall_covariance: Doubles,
    watch: Callable[[em.Loop], None] | None = None,
    executor: Executor | None = None,
) -> Fits:
    """Run EM from every start until no fit changes; converged fits leave the batch from time to time."""
    n_dims = start.component_mean.shape[-1]
    limit = Limit.of(overall_covariance, options.condition_limit)
    shape = shape_of(options.covariance, n_dims)
    model = Ggm(
        shape, limit, threads, options.n_classes, options.hard, options.shrinkage, options.tol, options.own_components
    )
    n_fits, n_components = start.component_prior.shape
    active = np.arange(n_fits)
    state = em.State(start, tuple(np.zeros((n_fits, n_components, block.n_examples), bool) for block in blocks))
    result, remaining_model, remaining_blocks = start, model, list(blocks)
    trail: list[tuple[Ints, Doubles]] = []
    was_interrupted = False
    left = options.max_iter
    while len(active):
        last: list[em.State] = []  # the next step: it knows the likelihood of the state it comes from
        rules = em.Rules(left, -math.inf, accelerate=False, has_converged=_make_convergence_test(last, trail, active))
        fit = em.run(remaining_model, remaining_blocks, state, rules, watch=watch, executor=executor)
        was_interrupted = fit.reason == "interrupted"
        if not last:
            raise KeyboardInterrupt
        following = last[-1].shared
        final_params = replace(
            fit.state.shared,
            settled=following.settled,
            previous_log_likelihood=following.previous_log_likelihood,
            count=following.count,
        )
        result = _insert_fits(result, final_params, active) if len(active) < n_fits else final_params
        stay = ~final_params.settled & (fit.reason == "converged" and fit.steps < left)
        left -= fit.steps + 1
        active, state, remaining_blocks, remaining_model = _select_remaining(
            stay, active, last[-1], remaining_blocks, remaining_model
        )
    return Fits(
        model, result, _collect_histories(trail, result.steps) if n_fits <= MAX_HISTORIES else (), was_interrupted
    )


def refine_with_all(fits: Fits, sample: Sample, weight: Doubles, executor: Executor | None = None) -> Fits:
    """Run a few more steps with all examples for means and for covariances."""
    blocks = _make_blocks(sample.points, sample.classes, weight, None)
    local = [np.zeros((len(fits.params), fits.params.n_components, block.n_examples), bool) for block in blocks]
    place = executor or InProcess()
    histories = [list(history) for history in fits.histories]
    params, stats = fits.params, place.total(em.Sweep(fits.model, fits.params, 1.0), blocks, local)[0]
    for _ in range(STEPS_WITH_ALL_EXAMPLES):
        params = fits.model.m_step(
            replace(stats, n_changed=np.ones_like(stats.n_changed), at=_without_likelihood(stats.at))
        )
        stats = place.total(em.Sweep(fits.model, params, 1.0), blocks, local)[0]
        for history, value in zip(histories, stats.log_likelihood.tolist(), strict=bool(histories)):
            history.append(value)
    final_params = replace(params, settled=fits.params.settled, steps=fits.params.steps)
    final_params = replace(final_params, previous_log_likelihood=stats.log_likelihood, count=stats.count)
    return replace(fits, params=final_params, histories=tuple(map(tuple, histories)))


def _without_likelihood(params: Params) -> Params:
    return replace(params, previous_log_likelihood=np.full(len(params), -np.inf))


def _make_convergence_test(
    last: list[em.State], trail: list[tuple[Ints, Doubles]], active: Ints
) -> Callable[[em.State], bool]:
    """Return a test for enough settled fits; each call also records the state and the trail."""

    def settled(state: em.State) -> bool:
        """Record a state; return whether enough of its fits have converged."""
        last[:] = [state]
        trail.append((active, state.shared.previous_log_likelihood))
        return bool(state.shared.settled.mean() >= MIN_CONVERGED_SHARE)

    return settled


def _collect_histories(trail: Sequence[tuple[Ints, Doubles]], steps: Ints) -> tuple[tuple[float, ...], ...]:
    """Return the log-likelihood of the start and after every step, for each fit."""
    histories: list[list[float]] = [[] for _ in steps]
    for active, values in trail:
        for fit, value in zip(active.tolist(), values.tolist(), strict=True):
            histories[fit].append(value)
    return tuple(tuple(history[: int(n) + 1]) for history, n in zip(histories, steps, strict=True))


def _select_remaining(
    stay: Bools, active: Ints, state: em.State, blocks: Sequence[Block], model: Ggm
) -> tuple[Ints, em.State, list[Block], Ggm]:
    """Return the numbers, state, blocks and model of the fits that ``stay`` marks."""
    if not stay.any():
        return active[stay], state, list(blocks), model
    limit = model.limit
    if len(limit.overall_covariance) > 1:
        limit = replace(limit, overall_covariance=limit.overall_covariance[stay])
    left = em.State(state.shared.of_fits(stay), tuple(rows[stay] for rows in state.local))
    return active[stay], left, [block.of_fits(stay) for block in blocks], replace(model, limit=limit)


def _insert_fits(target: Params, source: Params, places: Ints) -> Params:
    copied = {name: np.array(value) for name, value in vars(target).items() if name != "forms"}
    for name, value in copied.items():
        value[places] = getattr(source, name)
    return Params(**copied)
