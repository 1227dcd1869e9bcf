"""When a stream has changed."""

import numpy as np
import pytest

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
