"""Formats of numbers, plurals, shares, sizes and times, and sentences shared by terminal and pages.

numbers      ``count_noun(2_000, "leaf", "leaves")`` → 2,000 leaves · ``number(1234)`` → 1,234
             ``verb(n)`` → is / are, ``verb(n, "was", "were")`` · ``and_more(items, shown)`` → and 7 more
shares       ``percent(0.123)`` → 12% (terminal) · ``fine_percent(0.0123)`` → 1.2% (pages; nearly all is >99%)
             ``whole_percent(0.5)`` → 50% · ``share_between(.12, .1, .15)`` → 12% (10–15) · ``times(2.41)`` → 2.4 times
             ``times_between(2.4, 1.9, 3)`` → 2.4 times (1.9–3.0) · ``(900, 81.4, 9e3)`` → more than 81 times
bytes, time  ``size(2e6)`` → 2.0 MB · ``duration(151)`` → 2 min 31 s · ``time_left(70)`` → 2 min · ``clock(65)`` → 1:05
             ``format_time(iso)`` → 12 March, 14:02 · ``format_day(iso)`` → 12 March
             ``format_minute(iso)`` → 2026-03-12 14:02
text         ``one_line(title)``: no line breaks, no control characters · ``join_path(names)`` → Law ▸ Courts
sentences    ``describe_unassigned(n)`` · ``PENDING`` · ``describe_naming(is_title)``
             ``describe_word_use(use)``
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topiarist.plurals import count_noun as count_noun
from topiarist.plurals import verb as verb

if TYPE_CHECKING:
    from topiarist.collection.shape.words import WordUse

STEP = " ▸ "  # between the names of a path
DOT = " · "  # between the words of a name, and between facts
ROOT = "Everything"
MAX_RATIO = 100.0  # larger ratios are too uncertain to print
PENDING = "Edits wait for a fit; until then words and sizes are estimates"


def number(value: float) -> str:
    """Return a number with commas between thousands."""
    return f"{value:,}"


def count_copies(exact: int, near: int) -> str:
    """Return the number of copies and near-copies: 2 copies and 1 near-copy."""
    kinds = ((exact, "copy", "copies"), (near, "near-copy", "near-copies"))
    return " and ".join(count_noun(number, one, several) for number, one, several in kinds if number)


def and_more(items: Sized, n_listed: int) -> str:
    """Return the number of items that are not shown, such as ``and 7 more``, or an empty text."""
    return f"and {len(items) - n_listed:,} more" if len(items) > n_listed else ""


def list_some(texts: Sequence[str], number: int) -> str:
    """Return the first texts, each on one line, and the number of the others: a, b and 7 more."""
    return f"{', '.join(map(one_line, texts[:number]))} {and_more(texts, number)}".rstrip()


def percent(share: float) -> str:
    """Return a share in percent for terminals; a small share is ``<1%``, nearly all is ``>99%``."""
    if 0.995 <= share < 1 - 1e-6:
        return ">99%"
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def fine_percent(share: float) -> str:
    """Return a share in percent for pages; small shares have one digit more, nearly all is ``>99%``."""
    if 0.995 <= share < 1 - 1e-6:
        return ">99%"
    return whole_percent(share) if share >= 0.1 or share == 0 else f"{share:.1%}"


def whole_percent(share: float) -> str:
    """Return a share in whole percents without a space."""
    return f"{share:.0%}"


def share_between(share: float, low: float, high: float) -> str:
    """Return a share in percent with its interval: 12% (10–15)."""
    digits = 0 if share >= 0.1 else 1
    return f"{100 * share:.{digits}f}% ({100 * low:.{digits}f}–{100 * high:.{digits}f})"


def times(number: float) -> str:
    """Return a ratio: 2.4 times, 13 times, 0.25 times."""
    return f"{_times(number)} times"


def times_between(number: float, low: float, high: float) -> str:
    """Return a ratio with its interval: 2.4 times (1.9–3.0), or more than 81 times."""
    lowest = min_times(number, low)
    return f"more than {lowest} times" if lowest else f"{_times(number)} times ({_times(low)}–{_times(high)})"


def min_times(number: float, low: float) -> float | None:
    """Return the lower bound of a ratio above 100, never rounded up.

    Return None for smaller ratios, and if the lower bound is below 1.1: the interval is more informative then.
    """
    if not (number >= MAX_RATIO and low >= 1.1):
        return None
    lowest = min(low, MAX_RATIO)
    return math.floor(lowest) if lowest >= 10 else math.floor(lowest * 10) / 10


def _times(number: float) -> str:
    return f"{number:.2f}" if number < 0.95 else f"{number:.1f}" if number < 9.95 else f"{number:,.0f}"


def size(number: float) -> str:
    """Return a number of bytes with its unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:.1f} {unit}" if number < 10 * scale else f"{number / scale:.0f} {unit}"
    return f"{number:.0f} bytes"


def duration(seconds: float) -> str:
    """Return a duration: 8.2 s, 31 s, 2 min 31 s, 1 h 5 min."""
    n_seconds = round(seconds)
    if n_seconds < 60:
        return f"{n_seconds} s" if seconds >= 10 else f"{seconds:.1f} s"
    hours, rest = divmod(n_seconds, 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{n_seconds // 60} min {n_seconds % 60} s"


def time_left(seconds: float) -> str:
    """Return a remaining time in round numbers: 31 s, 3 min."""
    return f"{max(1, round(seconds))} s" if seconds < 60 else f"{math.ceil(seconds / 60)} min"


def clock(seconds: float) -> str:
    """Return minutes and seconds, with hours from one hour on: 1:05, 2:00:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_time(time: str, now: datetime | None = None) -> str:
    """Return a moment in local time, with the year unless it is the current one; a non-ISO text unchanged."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    year = "" if moment.year == (now or datetime.now(UTC).astimezone()).year else f" {moment.year}"
    return f"{moment.day} {moment:%B}{year}, {moment:%H:%M}"


def format_day(time: str, now: datetime | None = None) -> str:
    """The day of a moment."""
    return format_time(time, now).partition(",")[0]


def format_minute(time: str) -> str:
    """Return a moment to the minute in UTC: 2026-03-12 14:02."""
    return time[:16].replace("T", " ")


def one_line(text: str) -> str:
    """Return a title without line breaks and control characters, which could move the cursor."""
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))


def join_path(names: Iterable[str]) -> str:
    """Return the names of a path with arrows between them."""
    return STEP.join(map(one_line, names)) or ROOT


def describe_unassigned(number: int) -> str:
    """Return the number of unassigned documents as a sentence."""
    return f"{count_noun(number, 'document')} {verb(number)} unsorted"


def describe_naming(is_title: bool) -> str:
    """Return the origin of a topic name: ``person`` or ``words``."""
    return "person" if is_title else "words"


def describe_word_use(use: WordUse, use_after: WordUse | None = None) -> str:
    """Return a sentence on the use of a word, with the effect of an edit if ``use_after`` is given."""
    count_text = (
        f"“{use.word}” is in {count_noun(use.documents, 'document')}, {count_noun(use.occurrences, 'time')} in all"
    )
    if use.what == "ignore":
        share = fine_percent(use.share) if use.share >= 0.0005 else "less than 0.1%"
        return f"{count_text}; that is left out of what the tree sees ({share} of it)."
    if use.what == "unite":
        return f"{count_text}; it {f'counts as “{use.counts_for}”' if use.counts_for else 'stands for all of them'}."
    if use.what == "forget":
        return f"{count_text}; its edits are undone."
    if not use.topic:
        return f"{count_text}."
    if use_after is not None:
        shares = f"{whole_percent(use.topic_share)} before, {whole_percent(use_after.topic_share)} now"
        return f"{count_text}; explained by {use.topic} and below: {shares}."
    topic_text = f"; most, {whole_percent(use.home_share)}, by {use.home}" if use.home and use.home != use.topic else ""
    return (
        f"{count_text}; {whole_percent(use.topic_share)} of that is explained by {use.topic} and below now{topic_text}."
    )
