"""Bursts: those that were planted are found, and hardly any other."""

import numpy as np
import pytest

from topiarist.errors import InputError
from topiarist.metrics.bursts import find_bursts

TOPICS, PERIODS = 20, 24


def planted(rng, documents, waver):
    """Counts of topics in periods in which five topics have three times their share for one to four periods."""
    rates = np.tile(rng.dirichlet(np.full(TOPICS, 3.0)), (PERIODS, 1)) * np.exp(rng.normal(0, waver, (PERIODS, TOPICS)))
    where = []
    for topic in rng.choice(TOPICS, 5, replace=False).tolist():
        long = int(rng.integers(1, 5))
        first = int(rng.integers(0, PERIODS - long + 1))
        rates[first : first + long, topic] *= 3
        where.append((topic, first, first + long - 1))
    total = rng.multinomial(documents, np.full(PERIODS, 1 / PERIODS))
    counts = np.stack([rng.multinomial(n, row / row.sum()) for n, row in zip(total, rates, strict=True)])
    return counts, total[:, None], where


def meets(burst, one):
    topic, first, last = one
    return burst.thing == topic and burst.first <= last and burst.last >= first


@pytest.mark.parametrize(("waver", "documents"), [(0.0, 12_000), (0.1, 12_000), (0.2, 50_000)])
def test_find_bursts_finds_planted_bursts_only(waver, documents):
    rng, right, messages, found_again, every = np.random.default_rng(0), 0, 0, 0, 0
    for _ in range(60):
        counts, totals, where = planted(rng, documents, waver)
        result = find_bursts(counts, totals)
        right += sum(any(meets(burst, one) for one in where) for burst in result)
        found_again += sum(any(meets(burst, one) for burst in result) for one in where)
        messages, every = messages + len(result), every + len(where)
    assert right / messages >= 0.9
    assert found_again / every >= 0.9


def test_find_bursts_rarely_reports_chance():
    rng = np.random.default_rng(0)
    rates = rng.dirichlet(np.full(TOPICS, 3.0))
    result = [
        find_bursts(np.stack([rng.multinomial(200, rates) for _ in range(PERIODS)]), np.full((PERIODS, 1), 200))
        for _ in range(50)
    ]
    assert sum(map(bool, result)) <= 6


def test_find_bursts_accounts_for_common_variation():
    rng = np.random.default_rng(0)
    steady = np.full((PERIODS, TOPICS), 50.0)
    steady[10, 0] = 110
    totals = np.full((PERIODS, 1), 1_000.0)
    assert [burst.thing for burst in find_bursts(steady, totals)] == [0]
    restless = steady * np.exp(rng.normal(0, 0.3, steady.shape))
    restless[:, 0] = steady[:, 0]  # as steady as before, among things that go up and down
    assert find_bursts(restless, totals) == ()


def test_burst_has_ends_and_size():
    counts = np.full((12, 2), 50.0)
    counts[3:6, 0] = 150
    (result,) = find_bursts(counts, np.full((12, 1), 1_000.0))
    assert (result.thing, result.first, result.last) == (0, 3, 5)
    assert result.times == pytest.approx(3, rel=0.02)
    assert result.usual == pytest.approx(0.05, rel=0.02)


def test_find_bursts_ignores_permanent_state():
    assert find_bursts(np.full((12, 1), 500.0), np.full((12, 1), 1_000.0)) == ()
    assert find_bursts(np.array([[5.0]]), np.array([[10.0]])) == ()


def test_find_bursts_accepts_empty_periods():
    counts = np.full((12, 1), 50.0)
    counts[4:6] = 0
    totals = np.full((12, 1), 1_000.0)
    totals[4:6] = 0
    assert find_bursts(counts, totals) == ()


def test_find_bursts_rejects_counts_above_totals():
    with pytest.raises(InputError, match="no more than their totals"):
        find_bursts(np.array([[3.0], [1.0]]), np.array([[2.0], [2.0]]))
