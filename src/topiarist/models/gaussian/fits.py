"""Fits of Gaussian mixtures, many at once: starts, the loop, what came out. Equations (G3)-(G5): docs/models/ggm.md"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Array, Bools, Doubles, Ints
from topiarist.models import em
from topiarist.models.gaussian.covariances import Limit, shape_of
from topiarist.models.gaussian.mixture import Block, Ggm, Options, Params
from topiarist.models.gaussian.starts import Sample
from topiarist.scale.executors import Executor, InProcess
from topiarist.scale.threads import Threads

STEPS_WITH_ALL = 5
LEAVING = 0.3  # share of a batch that has settled when it leaves; until then it is computed in vain
FEWEST = 2.0  # examples that a component must have
HISTORIES = 64  # fits of a batch whose every step is remembered, at most
EXAMPLES = 1 << 16  # of a block: what an executor computes at once


@dataclass(frozen=True)
class Fits:
    """What came out, for each fit of a batch."""

    model: Ggm
    params: Params
    histories: tuple[tuple[float, ...], ...] = ()  # the log-likelihood after every step, of a batch that is not large
    interrupted: bool = False  # by Ctrl-C: what was found until then

    @property
    def n_iter(self) -> Ints:
        """Steps of each fit."""
        return self.params.steps

    @property
    def log_likelihood(self) -> Doubles:
        """Of each fit, unlabelled examples weighted."""
        return self.params.reached

    @property
    def aic(self) -> Doubles:
        """(G5): −log-likelihood + number of parameters."""
        return -self.log_likelihood + self.n_parameters

    @property
    def n_parameters(self) -> int:
        """How many numbers a mixture is."""
        n_components, n_dims = self.params.component_mean.shape[1:]
        return self.model.n_parameters(n_components, n_dims)

    def corrected_aic(self, n_examples: int) -> Doubles:
        """AIC for small samples: a parameter costs more where there are few examples for each (Hurvich and Tsai)."""
        n_components, n_dims = self.params.component_mean.shape[1:]
        n_parameters = self.model.n_parameters(n_components, n_dims)
        left = n_examples - n_parameters - 1
        return self.aic + (n_parameters * (n_parameters + 1) / left if left > 0 else np.inf)

    @property
    def degenerate(self) -> Bools:
        """Whether a component has fewer than two examples, or a shape that the limit gave it; (fits,)."""
        return np.asarray(self.params.held.any(axis=1) | (self.params.count < FEWEST).any(axis=1))

    def of_fits(self, fits: slice) -> Fits:
        """Some of them."""
        limit = self.model.limit
        overall = limit.overall if len(limit.overall) == 1 else limit.overall[fits]
        model = replace(self.model, limit=replace(limit, overall=overall))
        params = self.params.of_fits(fits)
        histories = self.histories[fits] if self.histories else ()
        return Fits(model, params, histories, self.interrupted)


def halves(sample: Sample, weight: Doubles, split: float | None) -> list[Block]:
    """(G2): the examples as the model wants them, those for means before those for covariances; in blocks."""
    if split is None:
        return _blocks(sample.points, sample.classes, weight, None)
    places = np.argsort(~sample.first, axis=1, kind="stable")
    points, classes, own = (_taken(part, places) for part in (sample.points, sample.classes, weight))
    return _blocks(points, classes, own, int(sample.first[0].sum()))


def _blocks(points: Doubles, classes: Ints, weight: Doubles, n_first: int | None) -> list[Block]:
    """Blocks of examples whose sums add up; the same ones for every executor, and so the same bits."""
    starts = range(0, points.shape[1], EXAMPLES)
    blocks = []
    for start in starts:
        rows = slice(start, min(start + EXAMPLES, points.shape[1]))
        first = None if n_first is None else min(max(n_first - start, 0), rows.stop - start)
        blocks.append(Block(points[:, rows], classes[:, rows], weight[:, rows], first, len(starts)))
    return blocks


def _taken(array: Array, places: Ints) -> Any:
    """The examples at these places, fit by fit; all fits share what is the same for all."""
    if len(places) == 1:
        return np.ascontiguousarray(array[:, places[0]])
    rows = np.zeros(len(places), np.int64)[:, None] if len(array) == 1 else np.arange(len(places))[:, None]
    return array[rows, places]


def drawn_halves(classes: Ints, split: float, rng: np.random.Generator) -> Bools:
    """Which examples means are estimated from: a random share of the labelled and of the unlabelled ones, rounded up.

    Within the labelled ones classes take turns, so that both parts know every class that has two examples.
    """
    first = np.zeros(len(classes), bool)
    order = rng.permutation(len(classes))
    unlabelled = order[classes[order] < 0]
    first[unlabelled[: math.ceil(split * len(unlabelled))]] = True
    labelled = order[classes[order] >= 0]
    if len(labelled):
        turn = np.zeros(len(labelled))
        for label in np.unique(classes[labelled]):
            own = classes[labelled] == label
            turn[own] = (np.arange(own.sum()) + rng.random()) / own.sum()
        spread = labelled[np.argsort(turn, kind="stable")]
        wanted = math.ceil(split * len(labelled))
        taken = np.floor(np.arange(1, len(labelled) + 1) * wanted / len(labelled) + 1e-9)
        first[spread[np.diff(np.append(0, taken)) > 0]] = True
    return first


def weights(classes: Ints, unlabelled_weight: float | Doubles) -> Doubles:
    """1 for a labelled example and λ for another; everything is unlabelled alike if nothing is labelled."""
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
    overall: Doubles,
    watch: Callable[[em.Loop], None] | None = None,
    executor: Executor | None = None,
) -> Fits:
    """EM from every start, until no fit changes any more; those that have settled leave the batch now and then."""
    n_dims = start.component_mean.shape[-1]
    limit = Limit.of(overall, options.condition_limit)
    shape = shape_of(options.covariance, n_dims)
    model = Ggm(
        shape, limit, threads, options.n_classes, options.hard, options.shrinkage, options.tol, options.own_components
    )
    n_fits, n_components = start.component_prior.shape
    active = np.arange(n_fits)
    state = em.State(start, tuple(np.zeros((n_fits, n_components, block.n_examples), bool) for block in blocks))
    result, here, ours = start, model, list(blocks)
    trail: list[tuple[Ints, Doubles]] = []
    interrupted = False
    left = options.max_iter
    while len(active):
        last: list[em.State] = []  # the next step: it knows the likelihood of the state it comes from
        rules = em.Rules(left, -math.inf, accelerate=False, settled=_keeper(last, trail, active))
        fit = em.run(here, ours, state, rules, watch=watch, executor=executor)
        interrupted = fit.reason == "interrupted"
        if not last:
            raise KeyboardInterrupt
        following = last[-1].shared
        judged = replace(fit.state.shared, settled=following.settled, reached=following.reached, count=following.count)
        result = _put(result, judged, active) if len(active) < n_fits else judged
        stay = ~judged.settled & (fit.reason == "converged" and fit.steps < left)
        left -= fit.steps + 1
        active, state, ours, here = _staying(stay, active, last[-1], ours, here)
    return Fits(model, result, _histories(trail, result.steps) if n_fits <= HISTORIES else (), interrupted)


def from_all(fits: Fits, sample: Sample, weight: Doubles, executor: Executor | None = None) -> Fits:
    """A few steps more with all examples for means and for covariances, from where the fits have settled."""
    blocks = _blocks(sample.points, sample.classes, weight, None)
    local = [np.zeros((len(fits.params), fits.params.n_components, block.n_examples), bool) for block in blocks]
    place = executor or InProcess()
    histories = [list(history) for history in fits.histories]
    params, stats = fits.params, place.total(em.Sweep(fits.model, fits.params, 1.0), blocks, local)[0]
    for _ in range(STEPS_WITH_ALL):
        params = fits.model.m_step(replace(stats, changed=np.ones_like(stats.changed), at=_unsettled(stats.at)))
        stats = place.total(em.Sweep(fits.model, params, 1.0), blocks, local)[0]
        for history, value in zip(histories, stats.log_likelihood.tolist(), strict=bool(histories)):
            history.append(value)
    judged = replace(params, settled=fits.params.settled, steps=fits.params.steps)
    judged = replace(judged, reached=stats.log_likelihood, count=stats.count)
    return replace(fits, params=judged, histories=tuple(map(tuple, histories)))


def _unsettled(params: Params) -> Params:
    return replace(params, reached=np.full(len(params), -np.inf))


def _keeper(last: list[em.State], trail: list[tuple[Ints, Doubles]], active: Ints) -> Callable[[em.State], bool]:
    def settled(following: em.State) -> bool:
        last[:] = [following]
        trail.append((active, following.shared.reached))
        return bool(following.shared.settled.mean() >= LEAVING)

    return settled


def _histories(trail: Sequence[tuple[Ints, Doubles]], steps: Ints) -> tuple[tuple[float, ...], ...]:
    """The log-likelihood of the start and after every step, fit by fit."""
    histories: list[list[float]] = [[] for _ in steps]
    for active, reached in trail:
        for fit, value in zip(active.tolist(), reached.tolist(), strict=True):
            histories[fit].append(value)
    return tuple(tuple(own[: int(n) + 1]) for own, n in zip(histories, steps, strict=True))


def _staying(
    stay: Bools, active: Ints, state: em.State, blocks: Sequence[Block], model: Ggm
) -> tuple[Ints, em.State, list[Block], Ggm]:
    if not stay.any():
        return active[stay], state, list(blocks), model
    limit = model.limit
    if len(limit.overall) > 1:
        limit = replace(limit, overall=limit.overall[stay])
    left = em.State(state.shared.of_fits(stay), tuple(rows[stay] for rows in state.local))
    return active[stay], left, [block.of_fits(stay) for block in blocks], replace(model, limit=limit)


def _put(whole: Params, part: Params, places: Ints) -> Params:
    copied = {name: np.array(value) for name, value in vars(whole).items() if name != "forms"}
    for name, value in copied.items():
        value[places] = getattr(part, name)
    return Params(**copied)
