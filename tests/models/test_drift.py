"""When a stream has changed."""

import numpy as np
import pytest

from tests.work import assert_linear
from topiarist.errors import UsageError
from topiarist.models import drift as drifting
from topiarist.models.drift import find_drift


def stream(seed, n=200, fall=0.0, noise=0.02, learning=0.0):
    figures = -7 + noise * np.random.default_rng(seed).standard_normal(n)
    figures -= learning * np.exp(-np.arange(n) / 10)
    figures[n // 2 :] -= fall
    return figures


@pytest.mark.parametrize("learning", [0.0, 0.5])
def test_a_stationary_stream_gives_no_alarm(learning):
    assert not [seed for seed in range(200) if find_drift(stream(seed, learning=learning)).drifted]


@pytest.mark.parametrize(("fall", "delay"), [(0.1, 6), (0.4, 2)])
def test_a_fall_is_found_within_a_few_batches(fall, delay):
    for seed in range(50):
        alarms = find_drift(stream(seed, fall=fall)).alarms
        assert len(alarms) == 1
        assert 0 <= alarms[0] - 100 < delay


def test_a_slow_decline_is_found_too():
    for seed in range(20):
        assert find_drift(stream(seed) - 0.002 * np.arange(200)).drifted


def test_a_rise_is_no_drift():
    assert not find_drift(stream(0, fall=-0.5)).drifted


def test_batches_that_could_not_be_scored_are_passed_over():
    figures = stream(1, fall=0.4)
    figures[::7] = np.nan
    drift = find_drift(figures)
    assert len(drift.statistic) == 200
    assert 100 <= drift.alarms[0] < 104
    assert find_drift([]).alarms == ()


def test_the_test_is_that_of_page_and_hinkley():
    """Against the definition, with means of lists."""
    figures = stream(2, fall=0.1)
    usual, total, course = [], 0.0, []
    for value in figures:
        shortfall = 0.0
        if len(usual) >= drifting.WARM_UP:
            steps = np.abs(np.diff(usual))
            noise = (1 + drifting.FEW / len(steps)) * steps.mean() * np.sqrt(np.pi) / 2
            shortfall = (np.mean(usual) - value) / noise
            total = max(0.0, total + min(shortfall, drifting.FARTHEST) - drifting.ALLOWANCE)
        if shortfall < drifting.STRANGE:
            usual.append(value)
        course.append(total / drifting.ALARM)
        if course[-1] > 1:
            usual, total = [], 0.0
    np.testing.assert_allclose(find_drift(figures).statistic, course, rtol=1e-9, atol=1e-12)


def test_a_long_stream_costs_no_more_for_each_batch():
    assert_linear(find_drift, (3_000, (stream(0, n=3_000),)), (60_000, (stream(0, n=60_000),)))


@pytest.mark.parametrize(
    "wrong",
    [{"warm_up": 0}, {"warm_up": 1}, {"warm_up": 2.5}, {"warm_up": True}, {"alarm": 0}, {"alarm": "high"},
     {"allowance": -1}, {"allowance": np.nan}],
    ids=str,
)  # fmt: skip
def test_settings_that_make_no_test_are_refused(wrong):
    with pytest.raises(UsageError, match=f"{next(iter(wrong))} must be a .*number.*\n.*Try: "):
        find_drift(stream(0), **wrong)


def test_two_batches_can_show_what_is_usual():
    assert find_drift([-1.0, -1.1, -9.0, -9.0], warm_up=2, alarm=5).alarms == (2,)
