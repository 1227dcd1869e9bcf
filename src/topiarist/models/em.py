"""The only EM loop.

It knows no model: a model is an ``e_step`` that turns a block of documents into additive statistics and new parameters
for the block's own rows, an ``m_step`` that turns the added statistics into shared parameters, and the logarithm of the
prior. The loop keeps the objective of every state it has seen, decides when to stop and says why, and may look ahead:

**Over-relaxation.** EM walks in short steps where components overlap. After a step from θ to θ′ the loop tries
θ′ + (s − 1)(θ′ − θ), with a stride s that grows by a tenth each time it pays. The next E-step tells the objective of
that point for nothing; if it is lower than before, the loop goes back to θ′ and halves the stride. So the objective in
the history never falls, and what is returned was always seen.

**Momentum** (Nesterov's) is for who wants all digits, and has parameters that can be told to turn: the loop looks ahead
along the last two plain steps, ever further, and begins anew where the way turns back. It takes a quarter of the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from topiarist.errors import InputError
from topiarist.scale.executors import Executor, InProcess
from topiarist.store.array_files import handles

STRIDE_GROWTH = 1.1


class Statistics(Protocol):
    """Expected counts of a block, with the objective they were computed at."""

    @property
    def objective(self) -> float:
        """The log-likelihood, or what stands for it."""


Params = TypeVar("Params")  # shared parameters
Stats = TypeVar("Stats", bound=Statistics)
Block = TypeVar("Block", contravariant=True)  # documents
Rows = TypeVar("Rows")  # their own parameters


class Model(Protocol[Params, Stats, Block, Rows]):
    """What the loop needs to know; ``shared`` belongs to the model, ``local`` to the rows of a block."""

    def e_step(self, shared: Params, block: Block, local: Rows, inverse_temperature: float) -> tuple[Stats, Rows]:
        """Statistics of a block at these parameters, and the block's next row parameters."""

    def m_step(self, stats: Stats) -> Params:
        """The next shared parameters; the statistics are spent."""

    def log_prior(self, shared: Params) -> float:
        """The part of the objective that must be added once, not once per block."""

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """See ``Looks``."""


class Looks(Protocol):
    """The part of a model that looks ahead."""

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """The point ``stride`` times as far from ``old`` as ``new`` is, brought back into the simplex.

        Where rows are files the states come without them, and ``ahead`` gives the rows of one block after the other.
        """


@dataclass(frozen=True)
class State:
    """All parameters: those of the model and, block by block, those of the documents."""

    shared: Any
    local: tuple[Any, ...]


@dataclass(frozen=True)
class Rules:
    """When to stop. ``tol`` and the held-out figures are per token (``weight`` says how many there are).

    Objectives are flat at their top: two that agree to the last digit may belong to parameters that agree to half of
    their digits. Where more is wanted, ``movement`` tells how far a step leads, and a fit has converged when that is
    less than ``tol``.
    """

    max_iter: int = 200
    tol: float = 1e-4
    weight: float = 1.0
    patience: int = 10  # steps without a better held-out likelihood before giving up
    accelerate: bool = True
    movement: Callable[[State, State], float] | None = None
    turns_back: Callable[[State, State, State], bool] | None = None  # of a state, its step, the step before: momentum
    settled: Callable[[State], bool] | None = None  # a model's own sign that the next step would change nothing

    def rounding(self, objective: float) -> float:
        """How far an objective may seem to fall: where parameters decide about the end, it is flat long before."""
        return 1e-14 * abs(objective) if self.turns_back is not None else 0.0


@dataclass(frozen=True)
class Loop:
    """Everything the loop remembers between two steps: keep one, and ``run`` can go on from it."""

    state: State
    fallback: State | None = None  # the plain step that ``state`` was extrapolated from
    stride: float = 1.0
    before: State | None = None  # the last plain step, and how many there were on this way, where there is momentum
    pace: int = 0
    objectives: tuple[float, ...] = ()
    heldout: tuple[float, ...] = ()
    best: State | None = None  # the best on held-out data
    steps: int = 0

    def reopened(self) -> Loop:
        """As it was before its last state was judged, so that going on judges it (once) again."""
        return replace(self, objectives=self.objectives[:-1], heldout=self.heldout[:-1])


@dataclass(frozen=True)
class Fit:
    """Where the loop ended: ``reason`` is "converged", "max_iter", "heldout" or "interrupted"."""

    state: State
    objectives: tuple[float, ...]
    heldout: tuple[float, ...]
    steps: int
    reason: str
    inverse_temperature: float = 1.0

    @property
    def converged(self) -> bool:
        """Stopped because there was nothing more to gain, on the training data or on held-out data."""
        return self.reason in ("converged", "heldout")


@dataclass(frozen=True)
class Sweep(Generic[Params, Stats, Block, Rows]):
    """The E-step at some parameters as a function, which may travel to another process."""

    model: Model[Params, Stats, Block, Rows]
    shared: Params
    inverse_temperature: float

    def __call__(self, block: Block, rows: Rows) -> tuple[Stats, Rows]:
        """Statistics of a block, and its next rows."""
        return self.model.e_step(self.shared, block, rows, self.inverse_temperature)


@dataclass(frozen=True)
class Ahead:
    """Looking ahead with the rows of a block, likewise."""

    model: Any
    stride: float

    def __call__(self, _: None, rows: tuple[Rows, Rows]) -> tuple[float, Rows]:
        """Nothing to add, and the rows further on than the second of two."""
        ahead: Rows = self.model.ahead(*rows, self.stride)
        return 0.0, ahead


def step(
    model: Model[Params, Stats, Block, Rows],
    blocks: Sequence[object],
    state: State,
    inverse_temperature: float,
    executor: Executor,
) -> tuple[State, float]:
    """One EM step: the next state, and the objective of the given one.

    A model whose rows follow from the shared parameters may keep none of them (``keeps_rows``): they stay as given.
    """
    stats, local = executor.total(Sweep(model, state.shared, inverse_temperature), blocks, state.local)
    objective = stats.objective + model.log_prior(state.shared)
    kept = getattr(model, "keeps_rows", True)
    return State(model.m_step(stats), local if kept else state.local), float(objective)


def run(
    model: Model[Params, Stats, Block, Rows],
    blocks: Sequence[object],
    start: Callable[[], State] | State | Loop,
    rules: Rules,
    *,
    inverse_temperature: float = 1.0,
    heldout: Callable[[State], float] | None = None,
    watch: Callable[[Loop], None] | None = None,
    executor: Executor | None = None,
) -> Fit:
    """EM from ``start`` until a rule says stop.

    ``watch`` sees the loop after every step, to show it or to keep it: given back as ``start``, a kept loop goes on to
    the same end as if it had never been stopped. Ctrl-C returns the best state so far. A start that is made only here,
    by a function, is let go after the first step; one that is handed over stays in memory as long as its owner.
    """
    loop = start.reopened() if isinstance(start, Loop) else Loop(start() if callable(start) else start)
    executor = executor or InProcess()
    try:
        while True:
            following, objective = step(model, blocks, loop.state, inverse_temperature, executor)
            if loop.fallback is not None and not objective >= loop.objectives[-1] - rules.rounding(objective):
                stride = max(1.0, loop.stride / 2)
                loop = replace(loop, state=loop.fallback, fallback=None, stride=stride, before=None, pace=0)
                continue
            if not math.isfinite(objective):
                raise InputError(
                    f"the objective became {objective} after {loop.steps} steps: counts too large or too uneven for "
                    "this precision",
                    hint="dtype='float64', or smaller counts",
                )
            loop = _recorded(replace(loop, fallback=None), objective, heldout)
            if watch is not None:
                watch(loop)
            reason = _reason_to_stop(loop, following, rules)
            if reason:
                return _fit(loop, reason, inverse_temperature)
            loop = _advanced(model, loop, following, rules, executor)
            del following  # at most three copies of the parameters: here, before, and the next
    except KeyboardInterrupt:
        if not loop.objectives:
            raise
        return _fit(loop, "interrupted", inverse_temperature)


def _recorded(loop: Loop, objective: float, heldout: Callable[[State], float] | None) -> Loop:
    loop = replace(loop, objectives=(*loop.objectives, objective))
    if heldout is None:
        return loop
    likelihood = heldout(loop.state)
    better = likelihood > max(loop.heldout, default=-math.inf)
    return replace(loop, heldout=(*loop.heldout, likelihood), best=loop.state if better else loop.best)


def _reason_to_stop(loop: Loop, following: State, rules: Rules) -> str:
    if rules.settled is not None and rules.settled(following):
        return "converged"
    if loop.heldout:
        since_best = len(loop.heldout) - 1 - loop.heldout.index(max(loop.heldout))
        if since_best >= rules.patience:
            return "heldout"
    recent = loop.objectives[-3:]
    if rules.movement is not None:
        if rules.movement(loop.state, following) < rules.tol:
            return "converged"
    elif len(recent) == 3 and max(recent[2] - recent[1], recent[1] - recent[0]) < rules.tol * rules.weight:
        return "converged"
    return "max_iter" if loop.steps >= rules.max_iter else ""


def _advanced(model: Looks, loop: Loop, following: State, rules: Rules, executor: Executor) -> Loop:
    if rules.turns_back is not None:
        return _with_momentum(model, loop, following, rules.turns_back)
    if not rules.accelerate or loop.stride <= 1.0:
        stride = STRIDE_GROWTH if rules.accelerate else 1.0
        return replace(loop, state=following, stride=stride, steps=loop.steps + 1)
    ahead = _ahead(model, loop.state, following, loop.stride, executor)
    stride = loop.stride * STRIDE_GROWTH
    return replace(loop, state=ahead, fallback=following, stride=stride, steps=loop.steps + 1)


def _with_momentum(model: Looks, loop: Loop, following: State, turns_back: Callable[..., bool]) -> Loop:
    before, steps = loop.before, loop.steps + 1
    if before is None or turns_back(loop.state, following, before):
        return replace(loop, state=following, before=following, pace=1, steps=steps)
    ahead = model.extrapolate(before, following, 1.0 + loop.pace / (loop.pace + 3.0))
    return replace(loop, state=ahead, fallback=following, before=following, pace=loop.pace + 1, steps=steps)


def _ahead(model: Looks, old: State, new: State, stride: float, executor: Executor) -> State:
    if not any(handles(new.local)):
        return model.extrapolate(old, new, stride)
    shared = model.extrapolate(replace(old, local=()), replace(new, local=()), stride).shared
    pairs = list(zip(old.local, new.local, strict=True))
    return State(shared, executor.total(Ahead(model, stride), [None] * len(pairs), pairs)[1])


def _fit(loop: Loop, reason: str, inverse_temperature: float) -> Fit:
    """The best state seen: by held-out data if there is any, else the last.

    Interrupted between a step and its judgement, that is the plain step: no worse than the last objective recorded.
    """
    state = loop.best or loop.fallback or loop.state
    return Fit(state, loop.objectives, loop.heldout, loop.steps, reason, inverse_temperature)


def best_of(one_start: Callable[[], Fit], n_starts: int) -> Fit:
    """The start with the best held-out likelihood, or else with the highest objective; Ctrl-C ends the search."""
    best = one_start()
    interrupted = best.reason == "interrupted"
    for _ in range(n_starts - 1):
        if interrupted:
            break
        try:
            fit = one_start()
        except KeyboardInterrupt:
            interrupted = True
            break
        interrupted = fit.reason == "interrupted"
        best = max(best, fit, key=lambda fit: (max(fit.heldout, default=0.0), fit.objectives[-1]))
        del fit  # at most one start in memory beside the best
    return replace(best, reason="interrupted") if interrupted else best


def cool(
    run_at: Callable[[Callable[[], State] | State, float], Fit],
    start: Callable[[], State] | State,
    *,
    factor: float = 0.9,
    coldest: float = 0.3,
) -> Fit:
    """Tempering by held-out data: lower the inverse temperature as long as unseen tokens become more likely.

    ``run_at(state, inverse_temperature)`` runs the loop with held-out early stopping. Returns the best fit, which knows
    the inverse temperature it was found at.
    """
    best, inverse_temperature = run_at(start, 1.0), factor
    while inverse_temperature >= coldest and best.reason != "interrupted":
        fit = run_at(best.state, inverse_temperature)
        if max(fit.heldout) <= max(best.heldout):
            return replace(best, reason=fit.reason) if fit.reason == "interrupted" else best
        best, inverse_temperature = fit, inverse_temperature * factor
    return best
