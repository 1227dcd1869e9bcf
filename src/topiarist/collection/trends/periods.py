"""Periods: the dates of documents as days, weeks, months or years.

A date that is only a year has no month. Documents are counted but belong to no period if they have no date, only the
date of their file, too coarse a date, or a date far from all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Array, Ints
from topiarist.errors import UsageError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

DAY, WEEK, MONTH, YEAR = UNITS = ("day", "week", "month", "year")
AUTO = "auto"
MAX_AUTO_PERIODS, MAX_PERIODS = 40, 400  # periods with an automatic unit, and with a requested one
MIN_MEAN_DOCUMENTS = 30  # documents of a period on average, for a finer unit to be chosen
MIN_PRECISE_SHARE = 0.9  # of the dates have a unit, for that unit to be chosen
OUTLIER_SHARE = 0.02  # of the dates at each end that do not count for the span
_LETTERS = {DAY: 10, WEEK: 10, MONTH: 7, YEAR: 4}  # of an ISO date that a unit needs


@dataclass(frozen=True, eq=False)
class Periods:
    """Consecutive periods, and the period of each document (-1: none)."""

    unit: str
    first: tuple[str, ...]  # day of each, ISO 8601
    last: tuple[str, ...]
    of: Ints
    n_undated: int = 0  # documents without a date, or with one that could not be read
    file_dated: int = 0  # documents with the date of their file only
    unread: int = 0  # undated documents with a date that could not be read
    coarse: int = 0  # documents whose date is of a year or a month only
    outside: int = 0  # documents whose date is far away from all others
    possible: tuple[str, ...] = ()  # units that can be requested

    def __len__(self) -> int:
        return len(self.first)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the periods: 2014, 2014-03, or the first day."""
        return tuple(day[: _LETTERS[self.unit]] for day in self.first)

    @cached_property
    def documents(self) -> Ints:
        return np.bincount(self.of[self.of >= 0], minlength=len(self)).astype(np.int64)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences on the excluded documents, one for each reason."""
        reason = f", including {self.unread:,} with an unreadable date" if self.unread else ""
        numbers = {
            f"no date{reason}.": self.n_undated,
            "only the date of the file, which can differ from the date of the text.": self.file_dated,
            f"a date without a {self.unit}.": self.coarse,
            "a date far away from all others.": self.outside,
        }
        documents = {1: "document has"}
        return tuple(
            f"{number:,} {documents.get(number, 'documents have')} {ending}"
            for ending, number in numbers.items()
            if number
        )

    def span(self, first: int, last: int | None = None) -> str:
        """Return the value of ``date:`` in a query that finds the documents of one or more periods."""
        last = first if last is None else last
        if self.unit in (MONTH, YEAR):
            names = self.names
            return names[first] if first == last else f"{names[first]}..{names[last]}"
        return self.first[first] if self.first[first] == self.last[last] else f"{self.first[first]}..{self.last[last]}"


def collection_periods(collection: Collection, by: str = AUTO) -> Periods:
    """Return the periods of a collection; ``by`` is a unit, or "auto" to choose it by the dates."""
    if by not in (AUTO, *UNITS):
        raise UsageError(f"expected one of {', '.join(UNITS)}, got {by!r}", hint=f"Use {MONTH}.")
    dates, codes = dates_of_texts(collection)
    file_dated, unread = int(np.count_nonzero(codes == len(dates) - 1)), collection.dates.count_undated()[1]
    n_undated = int(np.count_nonzero(np.array([not date for date in dates], bool)[codes])) - file_dated
    result = divide_dates(dates, by, codes=codes, n_undated=n_undated, n_unread=min(unread, n_undated))
    return replace(result, file_dated=file_dated)


def dates_of_texts(collection: Collection) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct dates and the place of each document's date among them; dates of files are empty."""
    dates = collection.documents.read_codes("date")
    codes = np.array(dates.codes[: len(collection)], np.int64)
    codes[[row for row in collection.dates.file_dated_rows() if row < len(codes)]] = len(dates.texts)
    return (*dates.texts, ""), codes


def divide_dates(
    dates: Sequence[str], by: str = AUTO, *, codes: Ints | None = None, n_undated: int = 0, n_unread: int = 0
) -> Periods:
    """Divide ISO 8601 dates (possibly without day or month, or empty) into periods; ``codes`` index ``dates``."""
    letters = np.array([len(date[:10]) for date in dates], np.int64)
    days = np.array([date[:10] or "1970" for date in dates], "datetime64[D]")
    if codes is not None:
        letters, days = letters[codes], days[codes]
    is_dated = letters >= _LETTERS[YEAR]
    is_near = is_dated & _is_near_others(days, is_dated)
    if not is_near.any():
        return Periods(by if by in UNITS else YEAR, (), (), np.full(len(days), -1), n_undated, n_unread)
    unit = _choose_unit(days[is_near], letters[is_near]) if by == AUTO else by
    is_fine = is_near & (letters >= _LETTERS[unit])
    if not is_fine.any():
        raise UsageError(f"no document has a date with a {unit}", hint=f"Use {YEAR}.")
    numbers = _number_periods(days, unit)
    low, high = int(numbers[is_fine].min()), int(numbers[is_fine].max())
    if high - low >= MAX_PERIODS:
        if by != AUTO:
            coarser = UNITS[min(UNITS.index(unit) + 1, len(UNITS) - 1)]
            raise UsageError(
                f"from {days[is_fine].min()} to {days[is_fine].max()} there are {high - low + 1:,} {unit}s, "
                f"more than the maximum of {MAX_PERIODS}",
                hint=f"Use {coarser}." if coarser != unit else "Use a part of the documents.",
            )
        low = high - MAX_PERIODS + 1
    is_within = is_fine & (numbers >= low)
    first = _first_days(np.arange(low, high + 2), unit)
    return Periods(
        unit,
        first=tuple(first[:-1].astype(str).tolist()),
        last=tuple((first[1:] - np.timedelta64(1, "D")).astype(str).tolist()),
        of=np.where(is_within, numbers - low, -1),
        n_undated=n_undated,
        unread=n_unread,
        coarse=int((is_near & ~is_fine).sum()),
        outside=int((is_dated & ~is_near).sum() + (is_fine & ~is_within).sum()),
        possible=tuple(item for item in UNITS if _is_possible(days[is_near & (letters >= _LETTERS[item])], item)),
    )


def _is_possible(days: Array, unit: str) -> bool:
    """Return whether dates can be divided into periods of a unit."""
    numbers = _number_periods(days, unit)
    return bool(len(numbers)) and int(numbers.max() - numbers.min()) < MAX_PERIODS


def _is_near_others(days: Array, is_dated: Array) -> Array:
    """Return which dates are within one span, at least ten years, of the middle 96% of the dates."""
    if not is_dated.any():
        return is_dated
    numbers = days.astype(np.int64)
    low, high = np.quantile(numbers[is_dated], [OUTLIER_SHARE, 1 - OUTLIER_SHARE], method="nearest")
    margin = max(high - low, 10 * 366)
    is_near: Array = (numbers >= low - margin) & (numbers <= high + margin)
    return is_near


def _choose_unit(days: Array, letters: Array) -> str:
    """Return the finest unit with at most 40 periods and enough documents in each."""
    for unit in UNITS[:-1]:
        numbers = _number_periods(days, unit)
        n_periods = int(numbers.max() - numbers.min()) + 1
        if (
            n_periods <= MAX_AUTO_PERIODS
            and len(days) >= MIN_MEAN_DOCUMENTS * n_periods
            and (letters >= _LETTERS[unit]).mean() >= MIN_PRECISE_SHARE
        ):
            return unit
    return YEAR


def _number_periods(days: Array, unit: str) -> Ints:
    """Return the number of the period of each day, counted from 1970."""
    if unit == WEEK:  # the first of January 1970 was a Thursday
        weeks: Ints = (days.astype(np.int64) + 3) // 7
        return weeks
    return days.astype(f"datetime64[{unit[0].upper()}]").astype(np.int64)


def _first_days(numbers: Ints, unit: str) -> Array:
    if unit == WEEK:
        return (7 * numbers - 3).astype("datetime64[D]")
    return numbers.astype(f"datetime64[{unit[0].upper()}]").astype("datetime64[D]")
