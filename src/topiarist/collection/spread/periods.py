"""Periods: the dates of documents as days, weeks, months or years, by the span of the dates; what has no place is told.

A date that is only a year has no month. Documents without a date, with one that is too coarse, or far outside of all
others belong to no period, and are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Array, Ints
from topiarist.errors import UsageError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

DAY, WEEK, MONTH, YEAR = UNITS = ("day", "week", "month", "year")
AUTO = "auto"
FEW, MOST = 40, 400  # periods that are chosen by themselves, and that may be asked for
ENOUGH = 30  # documents of a period, on average, for a finer unit to be chosen
PRECISE = 0.9  # of the dates, for a finer unit to be chosen
OUTER = 0.02  # of the dates at each end may be far away from the others
_LETTERS = {DAY: 10, WEEK: 10, MONTH: 7, YEAR: 4}  # of an ISO date that a unit needs


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods in their order, without a gap, and which of them each document is of (-1: none)."""

    unit: str
    first: tuple[str, ...]  # day of each, ISO 8601
    last: tuple[str, ...]
    of: Ints
    undated: int = 0  # documents without a date, or with one that could not be read
    unread: int = 0  # of these: with one that could not be read
    coarse: int = 0  # documents whose date is of a year or a month only
    outside: int = 0  # documents whose date is far away from all others
    possible: tuple[str, ...] = ()  # units that may be asked for

    def __len__(self) -> int:
        return len(self.first)

    @property
    def names(self) -> tuple[str, ...]:
        """What the periods are called: 2014, 2014-03, or the first day."""
        return tuple(day[: _LETTERS[self.unit]] for day in self.first)

    @cached_property
    def documents(self) -> Ints:
        """How many documents each period has."""
        return np.bincount(self.of[self.of >= 0], minlength=len(self)).astype(np.int64)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Which documents have no place, a sentence each."""
        said = []
        if self.undated:
            why = f", {self.unread:,} of them one that could not be read" if self.unread else ""
            said.append(f"{_documents(self.undated)} no date{why}.")
        if self.coarse:
            said.append(f"{_documents(self.coarse)} a date that tells no {self.unit}.")
        if self.outside:
            said.append(f"{_documents(self.outside)} a date far away from all others.")
        return tuple(said)

    def span(self, first: int, last: int | None = None) -> str:
        """A period, or several, as a query has them behind ``date:``."""
        last = first if last is None else last
        if self.unit in (MONTH, YEAR):
            names = self.names
            return names[first] if first == last else f"{names[first]}..{names[last]}"
        return self.first[first] if self.first[first] == self.last[last] else f"{self.first[first]}..{self.last[last]}"


def periods(collection: Collection, by: str = AUTO) -> Periods:
    """The periods of a collection; ``by`` is one of the units, or chosen by span, number and precision of the dates."""
    if by not in (AUTO, *UNITS):
        raise UsageError(f"expected one of {', '.join(UNITS)}, got {by!r}", hint=f"by {MONTH}")
    found = collection.documents.coded("date")
    codes, unread = found.codes[: len(collection)], collection.dates.undated()[1]
    undated = int(np.count_nonzero(np.array([not date for date in found.texts], bool)[codes]))
    return divided(found.texts, by, codes=codes, undated=undated, unread=min(unread, undated))


def divided(
    dates: Sequence[str], by: str = AUTO, *, codes: Ints | None = None, undated: int = 0, unread: int = 0
) -> Periods:
    """Dates in ISO 8601, perhaps without day and month, or empty, in periods; ``codes``: the date of each document."""
    letters = np.array([len(date[:10]) for date in dates], np.int64)
    days = np.array([date[:10] or "1970" for date in dates], "datetime64[D]")
    if codes is not None:
        letters, days = letters[codes], days[codes]
    known = letters >= _LETTERS[YEAR]
    near = known & _near(days, known)
    if not near.any():
        return Periods(by if by in UNITS else YEAR, (), (), np.full(len(days), -1), undated, unread)
    unit = _chosen(days[near], letters[near]) if by == AUTO else by
    fine = near & (letters >= _LETTERS[unit])
    if not fine.any():
        raise UsageError(f"no document has a date that tells the {unit}", hint=f"by {YEAR}")
    numbers = _numbers(days, unit)
    low, high = int(numbers[fine].min()), int(numbers[fine].max())
    if high - low >= MOST:
        if by != AUTO:
            coarser = UNITS[min(UNITS.index(unit) + 1, len(UNITS) - 1)]
            raise UsageError(
                f"from {days[fine].min()} to {days[fine].max()} there are {high - low + 1:,} {unit}s, "
                f"more than {MOST} cannot be told apart",
                hint=f"by {coarser}" if coarser != unit else "a part of the documents",
            )
        low = high - MOST + 1
    within = fine & (numbers >= low)
    of = np.where(within, numbers - low, -1)
    first = _first_days(np.arange(low, high + 2), unit)
    ends = (first[1:] - np.timedelta64(1, "D")).astype(str).tolist()
    outside, coarse = int((known & ~near).sum() + (fine & ~within).sum()), int((near & ~fine).sum())
    possible = tuple(one for one in UNITS if _is_possible(days[near], letters[near], one))
    return Periods(
        unit, tuple(first[:-1].astype(str).tolist()), tuple(ends), of, undated, unread, coarse, outside, possible
    )


def _is_possible(days: Array, letters: Array, unit: str) -> bool:
    """Whether some dates tell the unit, and there are not too many of it."""
    own = _numbers(days[letters >= _LETTERS[unit]], unit)
    return len(own) > 0 and int(own.max() - own.min()) < MOST


def _near(days: Array, known: Array) -> Array:
    """Which dates are no further from the middle ones than these are spread; at least some years."""
    if not known.any():
        return known
    numbers = days.astype(np.int64)
    low, high = np.quantile(numbers[known], [OUTER, 1 - OUTER], method="nearest")
    room = max(high - low, 10 * 366)
    found: Array = (numbers >= low - room) & (numbers <= high + room)
    return found


def _chosen(days: Array, letters: Array) -> str:
    """The finest unit that has not too many periods and not too few documents in them."""
    for unit in UNITS[:-1]:
        numbers = _numbers(days, unit)
        many = int(numbers.max() - numbers.min()) + 1
        if many <= FEW and len(days) >= ENOUGH * many and (letters >= _LETTERS[unit]).mean() >= PRECISE:
            return unit
    return YEAR


def _numbers(days: Array, unit: str) -> Ints:
    """The number of the period of each day, counted from 1970."""
    if unit == WEEK:  # the first of January 1970 was a Thursday
        found: Ints = (days.astype(np.int64) + 3) // 7
        return found
    return days.astype(f"datetime64[{unit[0].upper()}]").astype(np.int64)


def _first_days(numbers: Ints, unit: str) -> Array:
    """The first day of each period."""
    if unit == WEEK:
        return (7 * numbers - 3).astype("datetime64[D]")
    return numbers.astype(f"datetime64[{unit[0].upper()}]").astype("datetime64[D]")


def _documents(number: int) -> str:
    return f"{number:,} document{' has' if number == 1 else 's have'}"
