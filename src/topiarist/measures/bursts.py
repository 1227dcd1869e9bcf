"""Bursts: stretches of time in which something is spoken of much more often than usual.

A thing has two states, as Kleinberg's automaton has them: its usual rate, and twice that. The likeliest course through
them, where each rise has its price, gives the stretches; the usual rate is that outside of them, and both are found in
turn. Things go up and down more than chance would have them: how much more is measured outside of bursts, and counts
weigh as much less. A stretch is told where few of those told are expected to be chance (binomial tails for every
stretch that it might have been, Benjamini and Hochberg over things), and where it is at least 1.75 times what is usual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from topiarist.arrays import Bools, Floats
from topiarist.errors import InputError
from topiarist.measures.share_intervals import FALSE_ONES, false_discoveries

TIMES = 2.0  # the usual rate, in a burst
LEAST_TIMES = 1.75  # to be told
ROUNDS = 5
STRETCHES = 4  # lengths of a stretch that it might have had
ENOUGH = 8  # periods from which on it can be told how far things go up and down
MEDIAN = 0.4549  # of the square of a normal number


@dataclass(frozen=True)
class Burst:
    """A stretch of periods, both ends in it, in which a thing has ``times`` its usual share."""

    thing: int
    first: int
    last: int
    times: float
    share: float
    usual: float
    chance: float  # that a stretch of this length has so many at the usual rate


def find_bursts(counts: Floats, totals: Floats, rate: float = FALSE_ONES) -> tuple[Burst, ...]:
    """Bursts of things, of ``counts`` (periods × things) among ``totals`` of as many; the strongest first.

    Counts may be fractions, as expected numbers are.
    """
    counts = np.asarray(counts, np.float64)
    totals = np.broadcast_to(np.asarray(totals, np.float64), counts.shape)
    if counts.ndim != 2 or (counts < 0).any() or (counts > totals * (1 + 1e-6) + 1e-6).any():
        raise InputError("expected counts of periods × things that are no more than their totals, got others")
    n_periods, n_things = counts.shape
    if n_periods < 2 or not n_things:
        return ()
    high = np.zeros(counts.shape, bool)
    wavering: Floats = np.ones(n_things)  # nothing is known of it before the first bursts are set aside
    for _ in range(ROUNDS):
        usual = _rate(counts, totals, ~high)
        new = _states(counts / wavering, totals / wavering, usual)
        new &= ~new.all(axis=0)  # what always is so is usual
        wavering = _wavering(counts, totals, _rate(counts, totals, ~new))
        if (new == high).all():
            break
        high = new
    usual = _rate(counts, totals, ~high)
    found = [
        _judged((thing, first, last), counts, totals, usual[thing], wavering[thing])
        for thing in np.flatnonzero(high.any(axis=0)).tolist()
        for first, last in _runs(high[:, thing])
    ]
    stretches = n_periods * STRETCHES
    chances = np.ones(max(n_things, len(found)))  # of things without a stretch: none
    chances[: len(found)] = [min(1.0, burst.chance * stretches) for burst in found]
    told = false_discoveries(chances, rate)[: len(found)]
    kept = [burst for burst, is_told in zip(found, told, strict=True) if is_told and burst.times >= LEAST_TIMES]
    return tuple(sorted(kept, key=lambda burst: (burst.chance, burst.thing, burst.first)))


def _rate(counts: Floats, totals: Floats, where: Bools) -> Floats:
    rate: Floats = ((counts * where).sum(axis=0) + 0.5) / ((totals * where).sum(axis=0) + 1.0)
    return rate


def _wavering(counts: Floats, totals: Floats, usual: Floats) -> Floats:
    """How many times as far counts are from what is usual as chance would have them, at least once.

    By the median of all periods, in which bursts are few: without them the rest would seem steadier than it is.
    """
    expected = totals * usual
    away = (counts - expected) ** 2 / np.maximum(expected * (1 - usual), 1e-12)
    there = totals > 0
    away, number = np.sort(np.where(there, away, np.inf), axis=0), there.sum(axis=0)
    middle = away[(number // 2).clip(max=len(away) - 1), np.arange(counts.shape[1])]
    found: Floats = np.where(number >= ENOUGH, np.maximum(middle / MEDIAN, 1.0), 1.0)
    return found


def _states(counts: Floats, totals: Floats, usual: Floats) -> Bools:
    """The likeliest course through both states, for all things at once."""
    rest = np.maximum(totals - counts, 0.0)
    raised = np.minimum(TIMES * usual, (1 + usual) / 2)
    gain = counts * np.log(raised / usual) + rest * np.log((1 - raised) / (1 - usual))
    n_periods, n_things = counts.shape
    rise = np.log(n_periods)
    low, high = np.zeros(n_things), np.full(n_things, -rise) + gain[0]
    from_high = np.zeros((2, n_periods, n_things), bool)  # whether the best way to each state came from the high one
    for period in range(1, n_periods):
        from_high[0, period] = high > low
        from_high[1, period] = high > low - rise
        low, high = np.maximum(low, high), np.maximum(high, low - rise) + gain[period]
    state = high > low
    found = np.zeros(counts.shape, bool)
    for period in range(n_periods - 1, -1, -1):
        found[period] = state
        state = np.where(state, from_high[1, period], from_high[0, period])
    return found


def _runs(high: Bools) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], high, [False])).astype(np.int8)))
    return [(int(first), int(end) - 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]


def _judged(place: tuple[int, int, int], counts: Floats, totals: Floats, usual: float, wavering: float) -> Burst:
    thing, first, last = place
    count, total = (float(side[first : last + 1, thing].sum()) for side in (counts, totals))
    share = count / max(total, 1e-300)
    a, n = max(count / wavering, 1e-9), max(total / wavering, 1e-9)
    chance = float(special.betainc(a, max(n - a, 0.0) + 1.0, usual))  # that a binomial count is as large
    return Burst(thing, first, last, share / usual, share, float(usual), chance)
