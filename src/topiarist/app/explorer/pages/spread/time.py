"""When was what spoken of, and what is new?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, choices, topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import (
    Counted,
    all_worded,
    language,
    share_between,
    times,
    times_between,
    worded,
)
from topiarist.app.languages.locales import LOCALES
from topiarist.collection import (
    Newer,
    NewerTopic,
    OverTime,
    newer_since,
    topics_over_time,
    words_over_time,
)
from topiarist.errors import UsageError

AUTO, ALL, BELOW = "auto", "normal", "coarse"  # how many topics are shown: of the whole tree, and below a topic
UNIT_NAMES = {"day": "day", "week": "week", "month": "month", "year": "year"}
MANY = {"day": "days", "week": "weeks", "month": "months", "year": "years"}
BURSTS, TOPICS, WORDS = 30, 12, 20  # that are listed
IN_A_ROW = 18  # months: of more, a row a year


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    by: Annotated[Literal["auto", "day", "week", "month", "year"], Query(description="how long a period is")] = "auto"
    topic: Annotated[int | None, Query(description="the topics below this one")] = None
    since: Annotated[str, Query(max_length=40, description="what is new since a date: 2014, 2014-03, 2014-03-15")] = ""
    until: Annotated[str, Query(max_length=40, description="the end of what is new; without it, the end of all")] = ""


@dataclass(frozen=True, kw_only=True)
class Period:
    """A period, its documents, and a way to what was new in it."""

    name: str
    documents: int
    address: str
    new: str
    chosen: bool = False


@dataclass(frozen=True, kw_only=True)
class Course:
    """A topic over time: its share in each period with the ends of its interval; None where there are no documents."""

    topic: TopicLine
    branch: int
    address: str  # the page of the topics below it
    share: float  # of all documents with a date
    shares: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    said: tuple[str, ...]
    documents: tuple[str, ...]  # addresses
    bursts: tuple[tuple[int, int], ...]  # first and last period of each
    sentence: str
    peak: str  # when it had most, and how much


@dataclass(frozen=True, kw_only=True)
class BurstLine:
    """A burst: when, how many times the usual share, and a way to its documents."""

    topic: TopicLine
    when: str
    said: str
    documents: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """A topic of which there is more, or less, than before."""

    topic: TopicLine
    said: str
    times: str
    number: int
    documents: str


@dataclass(frozen=True, kw_only=True)
class ChangedWord:
    """A word of which there is more than before, or that came or went."""

    word: str
    said: str
    address: str


@dataclass(frozen=True, kw_only=True)
class New:
    """What is new since a date."""

    sentence: str
    more: tuple[Change, ...]
    less: tuple[Change, ...]
    words: tuple[ChangedWord, ...]
    left_out: int
    compared: bool  # there is something before, and since


@dataclass(frozen=True, kw_only=True)
class TimePage:
    """Topics over time."""

    sentence: str
    left_out: tuple[str, ...]
    unit: str
    units: tuple[Choice, ...]
    top: TopicLine | None
    above: str  # the page of the topics beside it
    periods: tuple[Period, ...]
    courses: tuple[Course, ...]
    bursts: tuple[BurstLine, ...]
    bursts_left_out: int
    words: tuple[ChangedWord, ...]
    since: str
    until: str
    new: New | None
    years: tuple[tuple[str, tuple[Period | None, ...]], ...] = ()  # many months, a row a year


def load(view: View, ask: Ask) -> TimePage:
    """Fill the page."""
    found = topics_over_time(view, ask.by, topic=ask.topic, detail=ALL if ask.topic is None else BELOW)
    spread = found.periods
    top = None if ask.topic is None or ask.topic == view.shape.root else view.shape.node(ask.topic)
    chosen = None if ask.by == AUTO else ask.by
    new = _new(view, ask) if ask.since and len(spread) else None
    names, documents = spread.names, spread.documents.tolist()
    units = {None: worded("automatic")} | {unit: all_worded(UNIT_NAMES)[unit] for unit in spread.possible}
    periods = tuple(
        Period(
            name=name,
            documents=number,
            address=addresses.search(f"date:{spread.span(place)}"),
            new=addresses.time(by=chosen, topic=ask.topic, **_ends(spread.span(place))) + "#new",
            chosen={"since": ask.since, "until": ask.until} == _ends(spread.span(place)),
        )
        for place, (name, number) in enumerate(zip(names, documents, strict=True))
    )
    return TimePage(
        sentence=_sentence(found),
        left_out=spread.left_out,
        unit=all_worded(UNIT_NAMES)[spread.unit],
        units=choices(units, chosen, lambda unit: addresses.time(by=unit, topic=ask.topic)),
        top=None if top is None else topic_line(view, top),
        above=_above(view, top, chosen),
        periods=periods,
        years=_years(periods) if spread.unit == "month" and len(periods) > IN_A_ROW else (),
        courses=tuple(_course(view, found, place, chosen) for place in (found.shown if len(spread) else ())),
        bursts=tuple(
            BurstLine(
                topic=topic_line(view, view.shape.node(burst.topic)),
                when=burst.first
                if burst.first == burst.last
                else worded("{first} to {last}", first=burst.first, last=burst.last),
                said=worded("{times} its usual {share} %", times=times(burst.times), share=_percent(burst.usual)),
                documents=addresses.search(f"date:{burst.dates}", topic=burst.topic),
            )
            for burst in found.bursts[:BURSTS]
        ),
        bursts_left_out=max(0, len(found.bursts) - BURSTS),
        words=() if top is None else _words(view, found, view.shape.topics[top]),
        since=ask.since,
        until=ask.until,
        new=new,
    )


def _years(periods: Sequence[Period]) -> tuple[tuple[str, tuple[Period | None, ...]], ...]:
    """Months by year, each in its column."""
    found: dict[str, list[Period | None]] = {}
    for period in periods:
        found.setdefault(period.name[:4], [None] * 12)[int(period.name[5:7]) - 1] = period
    return tuple((year, tuple(months)) for year, months in found.items())


def _sentence(found: OverTime) -> str:
    spread = found.periods
    if not len(spread):
        return worded("No document of this collection has a date: there is nothing to show over time.")
    return worded(
        "{documents} from {first} to {last}, by {unit}: {periods}, {bursts}.",
        documents=Counted(int(spread.documents.sum()), "document"),
        first=spread.names[0],
        last=spread.names[-1],
        unit=all_worded(UNIT_NAMES)[spread.unit],
        periods=Counted(len(spread), spread.unit, MANY[spread.unit]),
        bursts=Counted(len(found.bursts), "burst") if found.bursts else worded("no bursts"),
    )


def _above(view: View, top: int | None, by: str | None) -> str:
    if top is None:
        return ""
    parent = view.tree.parents[top]
    return addresses.time(by=by, topic=None if parent == view.tree.root else view.shape.topics[parent])


def _course(view: View, found: OverTime, place: int, by: str | None) -> Course:
    spread, table = found.periods, found.table
    numbers, topic = spread.documents, found.topics[place]
    there = (numbers > 0).tolist()
    sides = [
        tuple(round(value, 6) if some else None for value, some in zip(side[:, place].tolist(), there, strict=True))
        for side in (table.share, table.low, table.high)
    ]
    share = float(numbers @ table.share[:, place] / max(int(numbers.sum()), 1))
    node = view.shape.node(topic)
    best = int(table.share[:, place].argmax())
    return Course(
        topic=topic_line(view, node),
        branch=view.branches[node],
        address=addresses.time(by=by, topic=topic),
        share=share,
        shares=sides[0],
        lows=sides[1],
        highs=sides[2],
        said=tuple(
            "" if one is None else share_between(one, low or 0.0, high or 0.0)
            for one, low, high in zip(*sides, strict=True)
        ),
        documents=tuple(addresses.search(f"date:{spread.span(one)}", topic=topic) for one in range(len(spread))),
        bursts=tuple(one.periods for one in found.bursts if one.topic == topic),
        sentence=worded(
            "{name}: {share} % of the documents, most in {period} ({most})",
            name=view.names[node],
            share=_percent(share),
            period=spread.names[best],
            most=share_between(*(float(side[best, place]) for side in (table.share, table.low, table.high))),
        ),
        peak=worded(
            "{share} % in {period}",
            share=_percent(float(table.share[best, place])),
            period=spread.names[best],
        ),
    )


def _words(view: View, found: OverTime, topic: int) -> tuple[ChangedWord, ...]:
    known = view.kept(
        ("word times", topic, found.periods.unit), lambda: words_over_time(view, topic, found.periods, WORDS)
    )
    return tuple(
        ChangedWord(
            word=one.word,
            said=worded(
                "{kind}: {when}, {times} its usual",
                kind=one.kind,
                when=one.first
                if one.first == one.last
                else worded("{first} to {last}", first=one.first, last=one.last),
                times=times(one.times),
            ),
            address=addresses.search(_dated(one.word, one.dates), topic=topic, by="words"),
        )
        for one in known
    )


def _dated(word: str, dates: str) -> str:
    """What is searched for: a word as it is, in a time."""
    return " ".join((f'"{word}"', f"date:{dates}"))


def _new(view: View, ask: Ask) -> New:
    try:
        found = newer_since(view, ask.since, ask.until)
    except UsageError as error:
        return New(sentence=f"{error.message}.", more=(), less=(), words=(), left_out=0, compared=False)
    if found.first == found.last:
        lead = worded("In {first}", first=found.first)
    elif found.last:
        lead = worded("From {first} to {last}", first=found.first, last=found.last)
    else:
        lead = worded("From {first} on", first=found.first)
    left = found.undated + found.coarse
    return New(
        sentence=worded(
            "{lead} there are {documents}, against {before} before.",
            lead=lead,
            documents=Counted(found.since, "document"),
            before=found.before,
        ),
        more=tuple(_change(view, one, found) for one in found.topics[:TOPICS]),
        less=tuple(_change(view, one, found) for one in found.fewer[:TOPICS]),
        words=tuple(
            ChangedWord(
                word=one.word,
                said=worded("{since}, {before} before", since=one.since, before=one.before),
                address=addresses.search(_dated(one.word, found.dates), by="words"),
            )
            for one in found.words
        ),
        left_out=left,
        compared=bool(found.before and found.since),
    )


def _change(view: View, one: NewerTopic, found: Newer) -> Change:
    many = times_between(one.times, one.times_low, one.times_high)
    return Change(
        topic=topic_line(view, view.shape.node(one.topic)),
        said=worded(
            "{before} % before, {since} then",
            before=_percent(one.before),
            since=share_between(one.since, one.since_low, one.since_high),
        ),
        times=worded("new") if one.new else many,
        number=one.documents,
        documents=addresses.search(f"date:{found.dates}", topic=one.topic),
    )


def _percent(share: float) -> str:
    """A share in percents, with two digits that tell."""
    return LOCALES[language()].signs(f"{100 * share:.2g}")


def _ends(span: str) -> dict[str, str]:
    first, _, last = span.partition("..")
    return {"since": first, "until": last or first}
