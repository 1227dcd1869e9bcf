"""Bursts: periods in which a topic or word is much more frequent than usual.

An item has two states, as in Kleinberg's automaton: its base rate, and twice that. The most likely sequence of states,
with a cost for each rise, gives the bursts. The base rate is that outside of them; both are estimated in turn. Rates
vary more than by chance, in proportion to the base rate. This variation is estimated for each item and for all
together, and taken into account. A burst is reported if few of the reported ones are expected by chance and it has at
least 1.75 times the base rate. Chances are tails of a binomial whose rate has this variation and estimation error, for
every period in which the burst could have begun, with Benjamini and Hochberg's procedure over items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from topiarist.arrays import TINY, Bools, Floats, Ints
from topiarist.errors import InputError
from topiarist.metrics.share_intervals import FALSE_DISCOVERY_RATE, select_discoveries

BURST_RATIO = 2.0  # rate of the high state, in base rates
MIN_RATIO = 1.75  # of a reported burst
ROUNDS = 5
MIN_PERIODS = 8  # for an item's own variation
PRIOR_PERIODS = 72  # own periods that weigh as much as the variation of all items
MAX_DEVIATION, MEAN_DEVIATION = (
    2.5,
    0.8093,
)  # cap of squared deviations, so that bursts do not count; their mean if normal
MAX_VARIATION, BISECTIONS = 2.0, 11  # in base rates; steps of the search
PLACES, WEIGHTS = np.polynomial.hermite_e.hermegauss(48)  # quadrature over a normal variable


@dataclass(frozen=True)
class Burst:
    """Sequence of periods, both ends included, in which an item has ``times`` its base share."""

    thing: int
    first: int
    last: int
    times: float
    share: float
    usual: float
    chance: float  # of such a count at the base rate in as many periods


def find_bursts(counts: Floats, totals: Floats, rate: float = FALSE_DISCOVERY_RATE) -> tuple[Burst, ...]:
    """Find bursts in ``counts`` (periods × items) among ``totals``; the least likely by chance come first.

    Counts can be fractions, such as expected counts.
    """
    counts = np.asarray(counts, np.float64)
    totals = np.broadcast_to(np.asarray(totals, np.float64), counts.shape)
    if counts.ndim != 2 or (counts < 0).any() or (counts > totals * (1 + 1e-6) + 1e-6).any():
        raise InputError("expected counts of periods × things that are no more than their totals, got others")
    n_periods, n_things = counts.shape
    if n_periods < 2 or not n_things:
        return ()
    high = np.zeros(counts.shape, bool)
    variation: Floats = np.zeros(n_things)  # unknown before the first bursts are excluded
    for _ in range(ROUNDS):
        base_rate = _compute_rate(counts, totals, ~high)
        weight = 1 / (1 + variation * totals * base_rate / (1 - base_rate))
        new = _find_states(counts * weight, totals * weight, base_rate)
        new &= ~new.all(axis=0)  # a permanent state is the base rate
        variation = _estimate_variation(
            counts, totals, _compute_rate(counts, totals, ~new), np.flatnonzero(new.any(axis=0))
        )
        if (new == high).all():
            break
        high = new
    candidates = [
        _describe_burst((thing, first, last), counts[:, thing], totals[:, thing], ~high[:, thing], variation[thing])
        for thing in np.flatnonzero(high.any(axis=0)).tolist()
        for first, last in _find_runs(high[:, thing])
    ]
    chances = np.ones(max(n_things, len(candidates)))  # one for items without a burst
    chances[: len(candidates)] = [min(1.0, burst.chance * n_periods) for burst in candidates]
    is_selected = select_discoveries(chances, rate)[: len(candidates)]
    selected = [
        burst
        for burst, is_reported in zip(candidates, is_selected, strict=True)
        if is_reported and burst.times >= MIN_RATIO
    ]
    return tuple(sorted(selected, key=lambda burst: (burst.chance, burst.thing, burst.first)))


def _compute_rate(counts: Floats, totals: Floats, mask: Bools) -> Floats:
    rate: Floats = ((counts * mask).sum(axis=0) + 0.5) / ((totals * mask).sum(axis=0) + 1.0)
    return rate


def _estimate_variation(counts: Floats, totals: Floats, base_rate: Floats, things: Ints) -> Floats:
    """Estimate the variance of rates beyond chance, in units of the squared base rate.

    It is estimated from all items. ``things`` also use their own variance, weighted by their number of periods.
    """
    expected = totals * base_rate
    chance = np.maximum(expected * (1 - base_rate), 1e-12)
    squares: list[Floats] = [(counts - expected) ** 2 / chance, expected**2 / chance]  # in units of the chance variance
    is_informative = expected >= 1
    all_things = [square[is_informative][:, None] for square in squares]
    variances: Floats = np.repeat(
        _compute_excess_variance(all_things, np.ones_like(all_things[0], bool)), len(base_rate)
    )
    periods = is_informative.sum(axis=0)
    measured_things = things[periods[things] >= MIN_PERIODS]
    own_variance = _compute_excess_variance(
        [square[:, measured_things] for square in squares], is_informative[:, measured_things]
    )
    variances[measured_things] = (
        PRIOR_PERIODS * variances[measured_things] + periods[measured_things] * own_variance
    ) / (PRIOR_PERIODS + periods[measured_things])
    return variances


def _compute_excess_variance(squares: Sequence[Floats], is_informative: Bools) -> Floats:
    """Return the variance of rates for each column at which its squared deviations are as expected."""
    squared_deviations, base_rate = squares
    number = np.maximum(is_informative.sum(axis=0), 1)
    low, high = np.zeros(squared_deviations.shape[1]), np.full(squared_deviations.shape[1], MAX_VARIATION)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        deviations = np.minimum(squared_deviations / (1 + middle**2 * base_rate), MAX_DEVIATION)
        larger = (deviations * is_informative).sum(axis=0) > MEAN_DEVIATION * number
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    variance: Floats = low**2
    return variance


def _find_states(counts: Floats, totals: Floats, base_rate: Floats) -> Bools:
    """Return the most likely sequence of states, for all items at once."""
    rest = np.maximum(totals - counts, 0.0)
    burst_rate = np.minimum(BURST_RATIO * base_rate, (1 + base_rate) / 2)
    gain = counts * np.log(burst_rate / base_rate) + rest * np.log((1 - burst_rate) / (1 - base_rate))
    n_periods, n_things = counts.shape
    rise = np.log(n_periods)
    low, high = np.zeros(n_things), np.full(n_things, -rise) + gain[0]
    from_high = np.zeros(
        (2, n_periods, n_things), bool
    )  # whether the best sequence to each state came from the high one
    for period in range(1, n_periods):
        from_high[0, period] = high > low
        from_high[1, period] = high > low - rise
        low, high = np.maximum(low, high), np.maximum(high, low - rise) + gain[period]
    state = high > low
    is_high = np.zeros(counts.shape, bool)
    for period in range(n_periods - 1, -1, -1):
        is_high[period] = state
        state = np.where(state, from_high[1, period], from_high[0, period])
    return is_high


def _find_runs(high: Bools) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], high, [False])).astype(np.int8)))
    return [(int(first), int(end) - 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]


def _describe_burst(
    place: tuple[int, int, int], counts: Floats, totals: Floats, is_outside: Bools, variation: float
) -> Burst:
    """Return a burst of one item with its chance.

    The count varies by chance, by the variation of rates, and by the error of the base rate from the other periods.
    """
    thing, first, last = place
    base_rate = float(_compute_rate(counts, totals, is_outside))
    count, total = (float(side[first : last + 1].sum()) for side in (counts, totals))
    expected = total * base_rate
    uncertainty = 1 / max(float(counts[is_outside].sum()), 1.0) + variation / max(int(is_outside.sum()), 1)
    variance = variation * float(((totals[first : last + 1] * base_rate) ** 2).sum()) + uncertainty * expected**2
    share = count / max(total, TINY)
    chance = _compute_tail(count, total, base_rate, float(np.log1p(variance / max(expected, TINY) ** 2)))
    return Burst(thing, first, last, share / base_rate, share, base_rate, chance)


def _compute_tail(count: float, total: float, base_rate: float, variation: float) -> float:
    """Return the chance of at least ``count`` of a total, at a rate with this variance of its logarithm."""
    rates = np.minimum(base_rate * np.exp(np.sqrt(variation) * PLACES - variation / 2), 1.0)
    positive_count = max(count, 1e-9)
    return float(
        WEIGHTS @ special.betainc(positive_count, max(total - positive_count, 0.0) + 1.0, rates) / WEIGHTS.sum()
    )
