"""The EM loop by itself, on a model small enough to see through: one number that EM pulls towards a target."""

import math
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from topiarist.errors import InputError
from topiarist.models import em


@dataclass(frozen=True)
class Stats:
    objective: float
    pull: float

    def __add__(self, other):
        return Stats(self.objective + other.objective, self.pull + other.pull)


class Toy:
    """Each block pulls the shared number ``rate`` of the way towards its own; objective -(x - target)²."""

    def __init__(self, rate=0.1, overshoot_limit=math.inf):
        self.rate, self.limit, self.strides = rate, overshoot_limit, []

    def e_step(self, shared, block, local, inverse_temperature):
        return Stats(-inverse_temperature * (shared - block) ** 2, shared + self.rate * (block - shared)), local + 1

    def m_step(self, stats):
        return stats.pull

    def log_prior(self, shared):
        return 0.0

    def extrapolate(self, old, new, stride):
        self.strides.append(stride)
        step = (stride - 1) * (new.shared - old.shared)
        return em.State(new.shared + step, new.local)


def start(value=0.0):
    return em.State(value, (0,))


def run(model, rules, value=0.0, **options):
    return em.run(model, [10.0], start(value), rules, **options)


def test_run_records_objectives_and_stops_at_convergence():
    fit = run(Toy(0.5), em.Rules(max_iter=1000, tol=1e-6, accelerate=False))
    assert fit.reason == "converged"
    assert fit.converged
    assert len(fit.objectives) == fit.steps + 1
    assert (np.diff(fit.objectives) >= 0).all()
    assert fit.objectives[-1] == -((fit.state.shared - 10) ** 2)


@pytest.mark.parametrize(
    ("objectives", "stops"),
    [((0.0, 0.05, 0.06), True), ((0.0, 0.05, 9.0), False), ((0.0, 9.0, 9.05), False), ((0.0, 0.05), False)],
)
def test_convergence_requires_two_steps(objectives, stops):
    """A single small step may lie between two long ones."""
    toy, messages = Toy(), iter(objectives)
    toy.e_step = lambda shared, block, local, inverse_temperature: (Stats(next(messages), shared), local)
    fit = run(toy, em.Rules(max_iter=len(objectives) - 1, tol=0.1, accelerate=False))
    assert fit.objectives == objectives
    assert (fit.reason == "converged") == stops


def test_objective_includes_log_prior():
    class Believing(Toy):
        def log_prior(self, shared):
            return -3.0 * shared

    rules = em.Rules(max_iter=3, tol=0.0, accelerate=False)
    plain, believing = run(Toy(0.5), rules), run(Believing(0.5), rules)
    assert believing.state.shared == plain.state.shared
    pairs = zip(plain.objectives, (0, 5, 7.5, 8.75), strict=True)
    assert list(believing.objectives) == [messages - 3.0 * at for messages, at in pairs]


def test_run_stops_at_max_iter():
    fit = run(Toy(0.01), em.Rules(max_iter=3, tol=0.0, accelerate=False))
    assert (fit.reason, fit.converged, fit.steps) == ("max_iter", False, 3)


def test_acceleration_takes_fewer_steps_without_falls():
    rules = em.Rules(max_iter=1000, tol=1e-8)
    slow = run(Toy(0.02), em.Rules(max_iter=1000, tol=1e-8, accelerate=False))
    fast = run(Toy(0.02), rules)
    assert fast.steps < slow.steps / 3
    assert (np.diff(fast.objectives) >= 0).all()


def test_run_reverts_overshooting_stride():
    class Cliff(Toy):
        def extrapolate(self, old, new, stride):
            ahead = super().extrapolate(old, new, stride)
            return ahead if stride < 2 else em.State(-1000.0, new.local)

    model = Cliff(0.01)
    fit = run(model, em.Rules(max_iter=40, tol=0.0))
    assert (np.diff(fit.objectives) >= 0).all()
    assert max(model.strides) > 2
    assert any(after < before for before, after in zip(model.strides, model.strides[1:], strict=False))


def test_run_reverts_slightly_falling_stride():
    toy, strides = Toy(), []
    messages = iter([0.0, 5.0, 4.0, 5.0, 5.0, 5.0])  # the third is of a point that was leapt to
    toy.e_step = lambda shared, block, local, inverse_temperature: (Stats(next(messages), shared + 1), local)
    toy.extrapolate = lambda old, new, stride: strides.append(stride) or em.State(new.shared + 100, new.local)
    fit = run(toy, em.Rules(max_iter=2, tol=0.0))
    assert strides
    assert 4.0 not in fit.objectives
    assert (np.diff(fit.objectives) >= 0).all()


def test_run_reverts_nan_from_extrapolation():
    class Fragile(Toy):
        def extrapolate(self, old, new, stride):
            return em.State(math.nan, new.local)

    fit = run(Fragile(0.2), em.Rules(max_iter=10, tol=0.0))
    assert np.isfinite(fit.objectives).all()
    assert (np.diff(fit.objectives) >= 0).all()


def test_step_adds_blocks_and_passes_rows():
    fit = em.run(Toy(0.0), [1.0, 3.0], em.State(2.0, (0, 100)), em.Rules(max_iter=2, tol=0, accelerate=False))
    assert fit.objectives[0] == -2.0
    assert fit.state.local == (2, 102)


def test_heldout_stop_returns_best_state():
    fit = run(
        Toy(0.3),
        em.Rules(max_iter=100, tol=0.0, patience=4, accelerate=False),
        heldout=lambda state: -abs(state.shared - 6.0),
    )
    assert fit.reason == "heldout"
    assert abs(fit.state.shared - 6.0) == min(-value for value in fit.heldout)
    assert len(fit.heldout) - 1 - int(np.argmax(fit.heldout)) == 4


def test_interrupted_run_returns_best_state():
    def watch(loop):
        if loop.steps == 5:
            raise KeyboardInterrupt

    fit = run(Toy(0.1), em.Rules(max_iter=100, tol=0.0), watch=watch)
    assert (fit.reason, fit.converged) == ("interrupted", False)
    assert len(fit.objectives) == 6
    assert -((fit.state.shared - 10) ** 2) >= fit.objectives[-1]


def test_interrupt_before_first_step_raises():
    class Never(Toy):
        def e_step(self, *arguments):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Never(), em.Rules())


def test_saved_loop_continues_identically():
    saved = []
    rules = em.Rules(max_iter=30, tol=0.0)
    complete = run(Toy(0.03), rules, watch=saved.append)
    middle = next(loop for loop in saved if loop.steps == 12)
    rest = em.run(Toy(0.03), [10.0], middle, rules)
    assert rest.objectives == complete.objectives
    assert rest.state == complete.state


def fits(*values, heldout=(), reasons=None):
    """A function that returns one finished fit after the other."""
    made = iter(
        em.Fit(start(), (value,), heldout[i : i + 1], 1, reasons[i] if reasons else "converged")
        for i, value in enumerate(values)
    )
    return lambda: next(made)


def test_run_starts_returns_best_fit():
    assert em.run_starts(fits(-5.0, -1.0, -3.0), 3).objectives == (-1.0,)
    assert em.run_starts(fits(-1.0, -9.0, heldout=(-3.0, -2.0)), 2).objectives == (-9.0,)


def test_run_starts_interrupted_returns_best_fit():
    stopped = em.run_starts(fits(-5.0, -1.0, -0.5, reasons=["converged", "interrupted", "converged"]), 3)
    assert (stopped.objectives, stopped.reason) == ((-1.0,), "interrupted")
    one, calls = fits(-5.0), []

    def second_start_is_interrupted():
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return one()

    saved = em.run_starts(second_start_is_interrupted, 3)
    assert (saved.objectives, saved.reason, len(calls)) == ((-5.0,), "interrupted", 2)


def cooling(heldout, reasons=None):
    asked = []

    def run_at(state, beta):
        asked.append(round(beta, 3))
        reason = (reasons or {}).get(round(beta, 3), "heldout")
        return em.Fit(start(beta), (0.0,), (heldout[round(beta, 3)],), 1, reason, beta)

    return run_at, asked


def test_cool_continues_while_heldout_improves():
    run_at, asked = cooling({1.0: -3.0, 0.9: -2.0, 0.81: -1.0, 0.729: -1.5})
    fit = em.cool(run_at, start())
    assert fit.inverse_temperature == pytest.approx(0.81)
    assert fit.heldout == (-1.0,)
    assert asked == [1.0, 0.9, 0.81, 0.729]


def test_cool_interrupted_reports_reason():
    run_at, asked = cooling({1.0: -3.0, 0.9: -4.0}, {0.9: "interrupted"})
    fit = em.cool(run_at, start())
    assert (fit.reason, fit.inverse_temperature, asked) == ("interrupted", 1.0, [1.0, 0.9])


def test_start_from_function_freed_after_step():
    made = []

    class Kept:
        pass

    def make():
        made.append(weakref.ref(saved := Kept()))
        return em.State(0.0, (saved,))

    class Fresh(Toy):
        def e_step(self, shared, block, local, inverse_temperature):
            stats, _ = super().e_step(shared, block, 0, inverse_temperature)
            return stats, Kept()

    alive = []
    em.run(Fresh(), [10.0], make, em.Rules(max_iter=3, tol=0), watch=lambda loop: alive.append(made[0]() is not None))
    assert alive == [True, False, False, False]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("at", [0, 3])
def test_run_rejects_nan_objective(wrong, at):
    """Whatever the parameters are by then, nobody is handed them as a fit."""

    class Broken(Toy):
        def e_step(self, shared, block, local, inverse_temperature):
            stats, local = super().e_step(shared, block, local, inverse_temperature)
            return (Stats(wrong, stats.pull) if local > at else stats), local

    with pytest.raises(InputError, match=r"the objective became -?(nan|inf) after \d+ steps"):
        em.run(Broken(), [1.0], em.State(0.0, (0,)), em.Rules(max_iter=20, accelerate=False))
