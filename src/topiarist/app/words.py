"""The phrase book of terminal and pages: numbers, plurals, shares, sizes, times and sentences that both say.

numbers      ``counted(2_000, "leaf", "leaves")`` → 2,000 leaves · ``number(1234)`` → 1,234
             ``verb(n)`` → is / are, ``verb(n, "was", "were")`` · ``and_more(items, shown)`` → and 7 more
shares       ``percent(0.123)`` → 12 % (terminal) · ``fine_percent(0.0123)`` → 1.2% (pages; nearly all is >99%)
             ``whole_percent(0.5)`` → 50% · ``share_between(.12, .1, .15)`` → 12 % (10–15) · ``times(2.41)`` → 2.4 times
             ``times_between(2.4, 1.9, 3)`` → 2.4 times (1.9–3.0) · ``(900, 81.4, 9e3)`` → more than 81 times
bytes, time  ``size(2e6)`` → 2.0 MB · ``duration(151)`` → 2 min 31 s · ``time_left(70)`` → 2 min · ``clock(65)`` → 1:05
             ``when(iso)`` → 12 March, 14:02 · ``day(iso)`` → 12 March · ``minute(iso)`` → 2026-03-12 14:02
text         ``one_line(title)``: no line breaks, no control characters · ``path_of(names)`` → Law ▸ Courts
sentences    ``hard_to_place(n)`` → 3 documents are hard to place · ``PENDING`` · ``named_by(is_title)``
             ``in_topics("12 leaves")`` → 12 topics · ``MODEL_NAMES``: a fitted model in words
             ``word_use(use)``: what an edit does to a word
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sized
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topiarist.collection import WordUse

STEP = " ▸ "  # between the names of a path
DOT = " · "  # between the words of a name, and between facts
ROOT = "Everything"
MANY = 100.0  # times as much: beyond, the number says nothing
PENDING = "Edits wait for a fit; until then words and sizes are estimates"
MODEL_NAMES = {  # by what was fitted last: a tree that was grown by one model may be fitted again by another
    "CAM": "a cluster-abstraction model",
    "HPLSA": "a hierarchical probabilistic semantic model",
    "GaussianTree": "a mixture of Gaussians with its hierarchy",
    "HierarchicalMixture": "a hierarchical mixture",
    "HPLC": "a hierarchical probabilistic categoriser",
}


def number(value: float) -> str:
    """A number with commas between thousands."""
    return f"{value:,}"


def counted(number: int, thing: str, things: str = "") -> str:
    """A number and what is counted: 1 leaf, 2,000 leaves."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def verb(number: int, one: str = "is", many: str = "are") -> str:
    """The verb that goes with a number of things."""
    return one if number == 1 else many


def and_more(items: Sized, shown: int) -> str:
    """How many there are beyond those that are shown: ``and 7 more``, or nothing."""
    return f"and {len(items) - shown:,} more" if len(items) > shown else ""


def percent(share: float) -> str:
    """A share in percent, on the terminal: no more digits than can be believed."""
    return "<1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")


def fine_percent(share: float) -> str:
    """A share in percent, in a page: small ones with a digit more, and nearly all is not all."""
    if 0.995 <= share < 1 - 1e-6:
        return ">99%"
    return whole_percent(share) if share >= 0.1 or share == 0 else f"{share:.1%}"


def whole_percent(share: float) -> str:
    """A share in whole percents, without a space."""
    return f"{share:.0%}"


def share_between(share: float, low: float, high: float) -> str:
    """A share in percent with the ends of its interval: 12 % (10–15)."""
    digits = 0 if share >= 0.1 else 1
    return f"{100 * share:.{digits}f} % ({100 * low:.{digits}f}–{100 * high:.{digits}f})"


def times(number: float) -> str:
    """How many times as much: 2.4 times, 13 times, 0.25 times."""
    return f"{_times(number)} times"


def times_between(number: float, low: float, high: float) -> str:
    """How many times as much, with the ends of its interval: 2.4 times (1.9–3.0); or more than 81 times."""
    least = least_times(number, low)
    return f"more than {least} times" if least else f"{_times(number)} times ({_times(low)}–{_times(high)})"


def least_times(number: float, low: float) -> float | None:
    """Beyond a hundred times as much the number says nothing: how many it is at the least, never rounded up.

    None where the number can be told, and where the least is hardly more than once: the interval says more then.
    """
    if not (number >= MANY and low >= 1.1):
        return None
    least = min(low, MANY)
    return math.floor(least) if least >= 10 else math.floor(least * 10) / 10


def _times(number: float) -> str:
    return f"{number:.2f}" if number < 0.95 else f"{number:.1f}" if number < 9.95 else f"{number:,.0f}"


def size(number: float) -> str:
    """Bytes as people say them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:.1f} {unit}" if number < 10 * scale else f"{number / scale:.0f} {unit}"
    return f"{number:.0f} bytes"


def duration(seconds: float) -> str:
    """How long something took or takes: 8.2 s, 31 s, 2 min 31 s, 1 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if seconds >= 10 else f"{seconds:.1f} s"
    hours, rest = divmod(whole, 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{whole // 60} min {whole % 60} s"


def time_left(seconds: float) -> str:
    """How long something still takes, in round numbers: 31 s, 3 min."""
    return f"{max(1, round(seconds))} s" if seconds < 60 else f"{math.ceil(seconds / 60)} min"


def clock(seconds: float) -> str:
    """Minutes and seconds, hours where there are any: 1:05, 2:00:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def when(time: str, now: datetime | None = None) -> str:
    """A moment as people write it, where they are: 12 March, 14:02; with the year if that is another one."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    year = "" if moment.year == (now or datetime.now(UTC).astimezone()).year else f" {moment.year}"
    return f"{moment.day} {moment:%B}{year}, {moment:%H:%M}"


def day(time: str, now: datetime | None = None) -> str:
    """The day of a moment."""
    return when(time, now).partition(",")[0]


def minute(time: str) -> str:
    """A moment as the log has it, to the minute and in UTC: 2026-03-12 14:02."""
    return time[:16].replace("T", " ")


def one_line(text: str) -> str:
    """A title without line breaks or control characters: what a file says must not move the cursor."""
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))


def path_of(names: Iterable[str]) -> str:
    """A path in the tree as people read it."""
    return STEP.join(map(one_line, names)) or ROOT


def hard_to_place(number: int) -> str:
    """How many documents have no topic with more than half of them."""
    return f"{counted(number, 'document')} {verb(number)} hard to place"


def named_by(is_title: bool) -> str:
    """Who named a topic: ``person``, or its ``words``."""
    return "person" if is_title else "words"


def in_topics(reason: str) -> str:
    """Why there are so many leaves, in the word that people see everywhere else."""
    return re.sub(r"\b([\d,]+) lea(f|ves)\b", lambda found: f"{found[1]} topic{'' if found[2] == 'f' else 's'}", reason)


def word_use(use: WordUse, after: WordUse | None = None) -> str:
    """What is known of a word that an edit speaks of, and what the edit does, or what is so ``after`` it."""
    there = f"“{use.word}” is in {counted(use.documents, 'document')}, {counted(use.occurrences, 'time')} in all"
    if use.what == "ignore":
        share = fine_percent(use.share) if use.share >= 0.0005 else "less than 0.1%"
        return f"{there}; that is left out of what the tree sees ({share} of it)."
    if use.what == "unite":
        return f"{there}; it {f'counts as “{use.counts_for}”' if use.counts_for else 'stands for all of them'}."
    if use.what == "forget":
        return f"{there}; what was said of it is taken back."
    if not use.topic:
        return f"{there}."
    if after is not None:
        shares = f"{whole_percent(use.topic_share)} before, {whole_percent(after.topic_share)} now"
        return f"{there}; explained by {use.topic} and below: {shares}."
    home = f"; most, {whole_percent(use.home_share)}, by {use.home}" if use.home and use.home != use.topic else ""
    return f"{there}; {whole_percent(use.topic_share)} of that is explained by {use.topic} and below now{home}."
