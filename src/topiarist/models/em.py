"""The only EM loop, with early stopping, over-relaxation and momentum.

The loop knows no model. A model has an ``e_step`` that turns a block of documents into additive statistics and new
parameters of the block's rows, an ``m_step`` that turns the added statistics into shared parameters, and the logarithm
of the prior. The loop keeps the objective of every state, decides when to stop with a reason, and can extrapolate:

**Over-relaxation.** EM takes short steps where components overlap. After a step from θ to θ′ the loop tries θ′ + (s −
1)(θ′ − θ), with a stride s that grows by a tenth after each success. The next E-step computes the objective of that
point at no extra cost. If it is lower than before, the loop returns to θ′ and halves the stride. So the objective in
the history never falls, and the objective of the returned state was always computed.

**Momentum** (Nesterov's) is for fits that need all digits and have a test for turning back. The loop extrapolates along
the last two plain steps, with growing weight, and restarts where the direction turns back. It takes a quarter of the
steps.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

from topiarist.errors import InputError
from topiarist.execution.executors import Executor, InProcess
from topiarist.storage.array_files import find_handles

STRIDE_GROWTH = 1.1


class Statistics(Protocol):
    """Expected counts of a block, with the objective at which they were computed."""

    @property
    def objective(self) -> float:
        """Log-likelihood, or a bound of it."""


class AdditiveStats:
    """Base of statistics that are dataclasses: they are added field by field, and a block can lack a field."""

    def __add__(self, other: Self) -> Self:
        return self._combine(operator.add, other)

    def __iadd__(self, other: Self) -> Self:
        """Add in place: no new memory, and rows stay aligned to cache lines. The bits are those of ``+``."""
        return self._combine(operator.iadd, other)

    def _combine(self, add: Callable[[Any, Any], Any], other: Self) -> Self:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return type(self)(*(one if two is None else two if one is None else add(one, two) for one, two in pairs))


Params = TypeVar("Params")  # shared parameters
Stats = TypeVar("Stats", bound=Statistics)
Block = TypeVar("Block", contravariant=True)  # documents
Rows = TypeVar("Rows")  # their own parameters


class Model(Protocol[Params, Stats, Block, Rows]):
    """Interface of a model; ``shared`` parameters belong to the model, ``local`` ones to the rows of a block."""

    def e_step(self, shared: Params, block: Block, local: Rows, inverse_temperature: float) -> tuple[Stats, Rows]:
        """Return the statistics of a block at these parameters, and the block's next row parameters."""

    def m_step(self, stats: Stats) -> Params:
        """Return the next shared parameters; the statistics are consumed."""

    def log_prior(self, shared: Params) -> float:
        """Return the part of the objective that is added once, not once per block."""

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """Return ``old + stride (new - old)``, projected to the simplex.

        States with rows in files come without them; ``extrapolate_rows`` computes the rows of one block after another.
        """


@dataclass(frozen=True)
class State:
    """All parameters: those of the model, and those of the documents block by block."""

    shared: Any
    local: tuple[Any, ...]


@dataclass(frozen=True)
class Rules:
    """Stopping rules. ``tol`` and held-out likelihoods are per token; ``weight`` is the number of tokens.

    Objectives are flat at their maximum: if two agree to the last digit, their parameters can agree to half of their
    digits. For more digits, ``movement`` is the size of a step, and a fit has converged if it is less than ``tol``.
    """

    max_iter: int = 200
    tol: float = 1e-4
    weight: float = 1.0
    patience: int = 10  # steps without a better held-out likelihood before stopping
    accelerate: bool = True
    movement: Callable[[State, State], float] | None = None
    turns_back: Callable[[State, State, State], bool] | None = (
        None  # for momentum: a state, its step, the previous step
    )
    has_converged: Callable[[State], bool] | None = None  # convergence test of the model

    def rounding(self, objective: float) -> float:
        """Return the tolerated decrease of the objective; with momentum it is flat long before the end."""
        return 1e-14 * abs(objective) if self.turns_back is not None else 0.0


@dataclass(frozen=True)
class Loop:
    """Complete state of the loop between two steps; ``run`` continues from a saved one."""

    state: State
    fallback: State | None = None  # the plain step that ``state`` was extrapolated from
    stride: float = 1.0
    last_step: State | None = None  # the last plain step with momentum
    momentum_steps: int = 0
    objectives: tuple[float, ...] = ()
    heldout: tuple[float, ...] = ()
    best: State | None = None  # the best on held-out data
    steps: int = 0

    def reopen(self) -> Loop:
        """Return the loop before its last state was evaluated, so that a continued run evaluates it again, once."""
        return replace(self, objectives=self.objectives[:-1], heldout=self.heldout[:-1])


@dataclass(frozen=True)
class Fit:
    """Result of the loop; ``reason`` is "converged", "max_iter", "heldout" or "interrupted"."""

    state: State
    objectives: tuple[float, ...]
    heldout: tuple[float, ...]
    steps: int
    reason: str
    inverse_temperature: float = 1.0

    @property
    def converged(self) -> bool:
        """True if the loop stopped because neither training nor held-out data improved."""
        return self.reason in ("converged", "heldout")


@dataclass(frozen=True)
class Sweep(Generic[Params, Stats, Block, Rows]):
    """E-step at fixed parameters as a function that can be sent to another process."""

    model: Model[Params, Stats, Block, Rows]
    shared: Params
    inverse_temperature: float

    def __call__(self, block: Block, rows: Rows) -> tuple[Stats, Rows]:
        """Return the statistics of a block and its next rows."""
        return self.model.e_step(self.shared, block, rows, self.inverse_temperature)


@dataclass(frozen=True)
class ExtrapolateStep:
    """Extrapolation of the rows of a block as a function that can be sent to another process."""

    model: Any
    stride: float

    def __call__(self, _: None, rows: tuple[Rows, Rows]) -> tuple[float, Rows]:
        """Return zero, because there is nothing to add, and the extrapolated rows."""
        extrapolated_rows: Rows = self.model.extrapolate_rows(*rows, self.stride)
        return 0.0, extrapolated_rows


def step(
    model: Model[Params, Stats, Block, Rows],
    blocks: Sequence[object],
    state: State,
    inverse_temperature: float,
    executor: Executor,
) -> tuple[State, float]:
    """Run one EM step; return the next state, and the objective of the given state.

    A model whose rows follow from the shared parameters can omit them (``keeps_rows``): the rows stay unchanged.
    """
    stats, local = executor.total(Sweep(model, state.shared, inverse_temperature), blocks, state.local)
    objective = stats.objective + model.log_prior(state.shared)
    keeps_rows = getattr(model, "keeps_rows", True)
    return State(model.m_step(stats), local if keeps_rows else state.local), float(objective)


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
    """Run EM from ``start`` until a rule stops it.

    ``watch`` receives the loop after every step, to show or save it. A saved loop passed as ``start`` continues to the
    same result as an uninterrupted run. Ctrl-C returns the best state so far. A start created by a function is freed
    after the first step; a start passed as a value stays in memory as long as its owner.
    """
    loop = start.reopen() if isinstance(start, Loop) else Loop(start() if callable(start) else start)
    executor = executor or InProcess()
    try:
        while True:
            following, objective = step(model, blocks, loop.state, inverse_temperature, executor)
            if loop.fallback is not None and not objective >= loop.objectives[-1] - rules.rounding(objective):
                stride = max(1.0, loop.stride / 2)
                loop = replace(
                    loop, state=loop.fallback, fallback=None, stride=stride, last_step=None, momentum_steps=0
                )
                continue
            if not math.isfinite(objective):
                raise InputError(
                    f"the objective became {objective} after {loop.steps} steps: the counts are too large "
                    "or too uneven for this precision",
                    hint="Pass dtype='float64', or smaller counts.",
                )
            loop = _record_objective(replace(loop, fallback=None), objective, heldout)
            if watch is not None:
                watch(loop)
            reason = _find_reason_to_stop(loop, following, rules)
            if reason:
                return _fit(loop, reason, inverse_temperature)
            loop = _advance(model, loop, following, rules, executor)
            del following  # at most three copies of the parameters: current, previous and next
    except KeyboardInterrupt:
        if not loop.objectives:
            raise
        return _fit(loop, "interrupted", inverse_temperature)


def _record_objective(loop: Loop, objective: float, heldout: Callable[[State], float] | None) -> Loop:
    """Return the loop with a new objective; keep its state if it is the best on held-out data."""
    loop = replace(loop, objectives=(*loop.objectives, objective))
    if heldout is None:
        return loop
    likelihood = heldout(loop.state)
    better = likelihood > max(loop.heldout, default=-math.inf)
    return replace(loop, heldout=(*loop.heldout, likelihood), best=loop.state if better else loop.best)


def _find_reason_to_stop(loop: Loop, following: State, rules: Rules) -> str:
    """Return why EM stops: "converged", "heldout" or "max_iter"; empty if it continues."""
    if rules.has_converged is not None and rules.has_converged(following):
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


def _advance(model: Any, loop: Loop, following: State, rules: Rules, executor: Executor) -> Loop:
    """Return the loop after an EM step, extrapolated if the rules accelerate."""
    if rules.turns_back is not None:
        return _advance_with_momentum(model, loop, following, rules.turns_back)
    if not rules.accelerate or loop.stride <= 1.0:
        stride = STRIDE_GROWTH if rules.accelerate else 1.0
        return replace(loop, state=following, stride=stride, steps=loop.steps + 1)
    extrapolated_state = _extrapolate(model, loop.state, following, loop.stride, executor)
    stride = loop.stride * STRIDE_GROWTH
    return replace(loop, state=extrapolated_state, fallback=following, stride=stride, steps=loop.steps + 1)


def _advance_with_momentum(model: Any, loop: Loop, following: State, turns_back: Callable[..., bool]) -> Loop:
    """Return the loop after a step with momentum, which restarts if the step turns back."""
    last_step, steps = loop.last_step, loop.steps + 1
    if last_step is None or turns_back(loop.state, following, last_step):
        return replace(loop, state=following, last_step=following, momentum_steps=1, steps=steps)
    extrapolated_state = model.extrapolate(
        last_step, following, 1.0 + loop.momentum_steps / (loop.momentum_steps + 3.0)
    )
    return replace(
        loop,
        state=extrapolated_state,
        fallback=following,
        last_step=following,
        momentum_steps=loop.momentum_steps + 1,
        steps=steps,
    )


def _extrapolate(model: Any, old: State, new: State, stride: float, executor: Executor) -> State:
    """Extrapolate from an old to a new state; local parameters in files are extrapolated block by block."""
    if not any(find_handles(new.local)):
        in_memory: State = model.extrapolate(old, new, stride)
        return in_memory
    shared = model.extrapolate(replace(old, local=()), replace(new, local=()), stride).shared
    pairs = list(zip(old.local, new.local, strict=True))
    return State(shared, executor.total(ExtrapolateStep(model, stride), [None] * len(pairs), pairs)[1])


def _fit(loop: Loop, reason: str, inverse_temperature: float) -> Fit:
    """Return the best state by held-out data, or else the last one.

    After an interruption between a step and its evaluation that is the plain step, no worse than the last objective.
    """
    state = loop.best or loop.fallback or loop.state
    return Fit(state, loop.objectives, loop.heldout, loop.steps, reason, inverse_temperature)


def run_starts(run_start: Callable[[], Fit], n_starts: int) -> Fit:
    """Run several starts; return the best by held-out likelihood, or else by objective. Ctrl-C ends the search."""
    best = run_start()
    is_interrupted = best.reason == "interrupted"
    for _ in range(n_starts - 1):
        if is_interrupted:
            break
        try:
            fit = run_start()
        except KeyboardInterrupt:
            is_interrupted = True
            break
        is_interrupted = fit.reason == "interrupted"
        best = max(best, fit, key=lambda fit: (max(fit.heldout, default=0.0), fit.objectives[-1]))
        del fit  # at most one other start in memory
    return replace(best, reason="interrupted") if is_interrupted else best


def cool(
    run_at: Callable[[Callable[[], State] | State, float], Fit],
    start: Callable[[], State] | State,
    *,
    factor: float = 0.9,
    coldest: float = 0.3,
) -> Fit:
    """Lower the inverse temperature as long as held-out tokens become more likely, and return the best fit.

    ``run_at(state, inverse_temperature)`` runs the loop with held-out early stopping. The fit has its inverse
    temperature.
    """
    best, inverse_temperature = run_at(start, 1.0), factor
    while inverse_temperature >= coldest and best.reason != "interrupted":
        fit = run_at(best.state, inverse_temperature)
        if max(fit.heldout) <= max(best.heldout):
            return replace(best, reason=fit.reason) if fit.reason == "interrupted" else best
        best, inverse_temperature = fit, inverse_temperature * factor
    return best
