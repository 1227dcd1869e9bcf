"""Bursts: stretches of time in which something is spoken of much more often than usual.

A thing has two states, as Kleinberg's automaton has them: its usual rate, and twice that. The likeliest course through
them, where each rise has its price, gives the stretches; the usual rate is that outside of them, and both are found in
turn. Things waver more than chance would have them, by a part of what is usual: how far is measured, for each thing and
for all together, and charged. A stretch is told where few of those told are expected to be chance (tails of a binomial
whose rate wavers so far and is known from so many, for every period in which the stretch might have begun; Benjamini
and Hochberg over things), and where it is at least 1.75 times what is usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from topiarist.arrays import Bools, Floats, Ints
from topiarist.errors import InputError
from topiarist.measures.share_intervals import FALSE_ONES, false_discoveries

TIMES = 2.0  # the usual rate, in a burst
LEAST_TIMES = 1.75  # to be told
ROUNDS = 5
ENOUGH = 8  # periods from which on it can be told how far a thing wavers
TOGETHER = 72  # periods of its own that weigh as much as the wavering of all things together
FARTHEST, MEAN = 2.5, 0.8093  # squared deviations count for no more: bursts are no wavering; their mean if normal
MOST_WAVERING, HALVINGS = 2.0, 11  # of what is usual; steps in which it is looked for
PLACES, WEIGHTS = np.polynomial.hermite_e.hermegauss(48)  # of a normal number, for a mean over it


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
    wavering: Floats = np.zeros(n_things)  # nothing is known of it before the first bursts are set aside
    for _ in range(ROUNDS):
        usual = _rate(counts, totals, ~high)
        weight = 1 / (1 + wavering * totals * usual / (1 - usual))
        new = _states(counts * weight, totals * weight, usual)
        new &= ~new.all(axis=0)  # what always is so is usual
        wavering = _wavering(counts, totals, _rate(counts, totals, ~new), np.flatnonzero(new.any(axis=0)))
        if (new == high).all():
            break
        high = new
    found = [
        _judged((thing, first, last), counts[:, thing], totals[:, thing], ~high[:, thing], wavering[thing])
        for thing in np.flatnonzero(high.any(axis=0)).tolist()
        for first, last in _runs(high[:, thing])
    ]
    chances = np.ones(max(n_things, len(found)))  # of things without a stretch: none
    chances[: len(found)] = [min(1.0, burst.chance * n_periods) for burst in found]
    told = false_discoveries(chances, rate)[: len(found)]
    kept = [burst for burst, is_told in zip(found, told, strict=True) if is_told and burst.times >= LEAST_TIMES]
    return tuple(sorted(kept, key=lambda burst: (burst.chance, burst.thing, burst.first)))


def _rate(counts: Floats, totals: Floats, where: Bools) -> Floats:
    rate: Floats = ((counts * where).sum(axis=0) + 0.5) / ((totals * where).sum(axis=0) + 1.0)
    return rate


def _wavering(counts: Floats, totals: Floats, usual: Floats, some: Ints) -> Floats:
    """How far things waver beyond chance: the variance of their rates in squares of what is usual.

    That of all things together, and for ``some`` of them also their own, by how many periods tell it.
    """
    expected = totals * usual
    chance = np.maximum(expected * (1 - usual), 1e-12)
    squares: list[Floats] = [(counts - expected) ** 2 / chance, expected**2 / chance]  # in variances of chance
    telling = expected >= 1
    together = [each[telling][:, None] for each in squares]
    found: Floats = np.repeat(_excess(together, np.ones_like(together[0], bool)), len(usual))
    periods = telling.sum(axis=0)
    known = some[periods[some] >= ENOUGH]
    own = _excess([each[:, known] for each in squares], telling[:, known])
    found[known] = (TOGETHER * found[known] + periods[known] * own) / (TOGETHER + periods[known])
    return found


def _excess(squares: Sequence[Floats], telling: Bools) -> Floats:
    """The variance of rates for each column with which its squared deviations are as large as they should be."""
    away, usual = squares
    number = np.maximum(telling.sum(axis=0), 1)
    low, high = np.zeros(away.shape[1]), np.full(away.shape[1], MOST_WAVERING)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        deviations = np.minimum(away / (1 + middle**2 * usual), FARTHEST)
        larger = (deviations * telling).sum(axis=0) > MEAN * number
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    found: Floats = low**2
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


def _judged(place: tuple[int, int, int], counts: Floats, totals: Floats, outside: Bools, wavering: float) -> Burst:
    """A stretch of one thing, with the chance of it: a count that varies by chance, by wavering, and by how well what
    is usual is known from the periods ``outside``."""
    thing, first, last = place
    usual = float(_rate(counts, totals, outside))
    count, total = (float(side[first : last + 1].sum()) for side in (counts, totals))
    expected = total * usual
    known = 1 / max(float(counts[outside].sum()), 1.0) + wavering / max(int(outside.sum()), 1)
    wavers = wavering * float(((totals[first : last + 1] * usual) ** 2).sum()) + known * expected**2
    share = count / max(total, 1e-300)
    chance = _tail(count, total, usual, float(np.log1p(wavers / max(expected, 1e-300) ** 2)))
    return Burst(thing, first, last, share / usual, share, usual, chance)


def _tail(count: float, total: float, usual: float, wavering: float) -> float:
    """The chance of at least so many of a total, at a rate whose logarithm is normal with this variance."""
    rates = np.minimum(usual * np.exp(np.sqrt(wavering) * PLACES - wavering / 2), 1.0)
    own = max(count, 1e-9)
    return float(WEIGHTS @ special.betainc(own, max(total - own, 0.0) + 1.0, rates) / WEIGHTS.sum())
