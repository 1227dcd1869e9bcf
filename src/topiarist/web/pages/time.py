"""Shares of topics over time, with recent changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query

from topiarist.collection.trends.newer import RecentChanges, find_changes_since
from topiarist.collection.trends.over_time import OverTime, find_topics_over_time, find_words_over_time
from topiarist.collection.trends.topic_shares import TopicShare
from topiarist.display.locale.catalogues import (
    CountedNoun,
    current_language,
    share_between,
    times,
    times_between,
    translate,
    translate_table,
)
from topiarist.display.locale.locales import LOCALES
from topiarist.errors import UsageError
from topiarist.web import addresses
from topiarist.web.values import Choice, TopicLine, build_topic_line, choices
from topiarist.web.view import View

AUTO, ALL, SUBTREE_DETAIL = (
    "auto",
    "normal",
    "coarse",
)  # how many topics are shown: of the whole tree, and below a topic
UNIT_NAMES = {"day": "day", "week": "week", "month": "month", "year": "year"}
PLURAL_UNITS = {"day": "days", "week": "weeks", "month": "months", "year": "years"}
BURSTS, TOPICS, WORDS = 30, 12, 20  # that are listed
IN_A_ROW = 18  # months: of more, a row a year


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    by: Annotated[Literal["auto", "day", "week", "month", "year"], Query(description="how long a period is")] = "auto"
    topic: Annotated[int | None, Query(description="the topics below this one")] = None
    since: Annotated[
        str, Query(max_length=40, description="start date of new documents: 2014, 2014-03, 2014-03-15")
    ] = ""
    until: Annotated[str, Query(max_length=40, description="the end of what is new; without it, the end of all")] = ""


@dataclass(frozen=True, kw_only=True)
class Period:
    """Period with its documents."""

    name: str
    documents: int
    address: str
    new: str
    chosen: bool = False


@dataclass(frozen=True, kw_only=True)
class TopicSeries:
    """Share of a topic in each period with its interval; None for periods without documents."""

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
    """Burst of a topic with its documents."""

    topic: TopicLine
    when: str
    said: str
    documents: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """Topic whose share changed."""

    topic: TopicLine
    said: str
    times: str
    number: int
    documents: str


@dataclass(frozen=True, kw_only=True)
class ChangedWord:
    """Word whose frequency changed."""

    word: str
    said: str
    address: str


@dataclass(frozen=True, kw_only=True)
class New:
    """Changes of topics and words since a date."""

    sentence: str
    more: tuple[Change, ...]
    less: tuple[Change, ...]
    words: tuple[ChangedWord, ...]
    left_out: int
    compared: bool  # there is something before, and since


@dataclass(frozen=True, kw_only=True)
class TimePage:
    """Shares of topics over time."""

    sentence: str
    left_out: tuple[str, ...]
    unit: str
    units: tuple[Choice, ...]
    top: TopicLine | None
    above: str  # the page of the topics beside it
    periods: tuple[Period, ...]
    courses: tuple[TopicSeries, ...]
    bursts: tuple[BurstLine, ...]
    bursts_left_out: int
    words: tuple[ChangedWord, ...]
    since: str
    until: str
    new: New | None
    years: tuple[tuple[str, tuple[Period | None, ...]], ...] = ()  # many months, a row a year


def load(view: View, ask: Ask) -> TimePage:
    """Return topics over time, with the changes since a date if one is requested."""
    result = find_topics_over_time(view, ask.by, topic=ask.topic, detail=ALL if ask.topic is None else SUBTREE_DETAIL)
    spread = result.periods
    top = None if ask.topic is None or ask.topic == view.shape.root else view.shape.node(ask.topic)
    chosen = None if ask.by == AUTO else ask.by
    new = _describe_new(view, ask) if ask.since and len(spread) else None
    names, documents = spread.names, spread.documents.tolist()
    units = {None: translate("automatic")} | {unit: translate_table(UNIT_NAMES)[unit] for unit in spread.possible}
    periods = tuple(
        Period(
            name=name,
            documents=number,
            address=addresses.search(f"date:{spread.span(place)}"),
            new=addresses.time(by=chosen, topic=ask.topic, **_split_span(spread.span(place))) + "#new",
            chosen={"since": ask.since, "until": ask.until} == _split_span(spread.span(place)),
        )
        for place, (name, number) in enumerate(zip(names, documents, strict=True))
    )
    return TimePage(
        sentence=_write_sentence(result),
        left_out=spread.left_out,
        unit=translate_table(UNIT_NAMES)[spread.unit],
        units=choices(units, chosen, lambda unit: addresses.time(by=unit, topic=ask.topic)),
        top=None if top is None else build_topic_line(view, top),
        above=_create_parent_address(view, top, chosen),
        periods=periods,
        years=_group_by_year(periods) if spread.unit == "month" and len(periods) > IN_A_ROW else (),
        courses=tuple(
            _describe_course(view, result, place, chosen) for place in (result.first_view if len(spread) else ())
        ),
        bursts=tuple(
            BurstLine(
                topic=build_topic_line(view, view.shape.node(burst.topic)),
                when=burst.first
                if burst.first == burst.last
                else translate("{first} to {last}", first=burst.first, last=burst.last),
                said=translate(
                    "{times} the usual {share}%", times=times(burst.times), share=_format_percent(burst.usual_share)
                ),
                documents=addresses.search(f"date:{burst.dates}", topic=burst.topic),
            )
            for burst in result.bursts[:BURSTS]
        ),
        bursts_left_out=max(0, len(result.bursts) - BURSTS),
        words=() if top is None else _list_words(view, result, view.shape.topics[top]),
        since=ask.since,
        until=ask.until,
        new=new,
    )


def _group_by_year(periods: Sequence[Period]) -> tuple[tuple[str, tuple[Period | None, ...]], ...]:
    """Return the periods of each year by month; None for months without documents."""
    result: dict[str, list[Period | None]] = {}
    for period in periods:
        result.setdefault(period.name[:4], [None] * 12)[int(period.name[5:7]) - 1] = period
    return tuple((year, tuple(months)) for year, months in result.items())


def _write_sentence(series: OverTime) -> str:
    """Return the range of dates and the number of bursts in words, or why there are none."""
    spread = series.periods
    if not len(spread) and spread.file_dated:
        return translate("Documents have file dates only, which are not shown over time.")
    if not len(spread):
        return translate("No document has a date.")
    return translate(
        "{documents} from {first} to {last}, by {unit}: {periods}, {bursts}.",
        documents=CountedNoun(int(spread.documents.sum()), "document"),
        first=spread.names[0],
        last=spread.names[-1],
        unit=translate_table(UNIT_NAMES)[spread.unit],
        periods=CountedNoun(len(spread), spread.unit, PLURAL_UNITS[spread.unit]),
        bursts=CountedNoun(len(series.bursts), "burst") if series.bursts else translate("no bursts"),
    )


def _create_parent_address(view: View, top: int | None, by: str | None) -> str:
    """Return the page of the parent topic; empty for the root."""
    if top is None:
        return ""
    parent = view.tree.parents[top]
    return addresses.time(by=by, topic=None if parent == view.tree.root else view.shape.topics[parent])


def _describe_course(view: View, series: OverTime, place: int, by: str | None) -> TopicSeries:
    """Return a topic with its shares, intervals, bursts and links by period."""
    spread, table = series.periods, series.table
    numbers, topic = spread.documents, series.topics[place]
    has_documents = (numbers > 0).tolist()
    sides = [
        tuple(
            round(value, 6) if is_present else None
            for value, is_present in zip(side[:, place].tolist(), has_documents, strict=True)
        )
        for side in (table.share, table.low, table.high)
    ]
    share = float(numbers @ table.share[:, place] / max(int(numbers.sum()), 1))
    node = view.shape.node(topic)
    best = int(table.share[:, place].argmax())
    return TopicSeries(
        topic=build_topic_line(view, node),
        branch=view.branches[node],
        address=addresses.time(by=by, topic=topic),
        share=share,
        shares=sides[0],
        lows=sides[1],
        highs=sides[2],
        said=tuple(
            "" if item is None else share_between(item, low or 0.0, high or 0.0)
            for item, low, high in zip(*sides, strict=True)
        ),
        documents=tuple(addresses.search(f"date:{spread.span(item)}", topic=topic) for item in range(len(spread))),
        bursts=tuple(item.periods for item in series.bursts if item.topic == topic),
        sentence=translate(
            "{name}: {share}% of the documents, most in {period} ({most})",
            name=view.names[node],
            share=_format_percent(share),
            period=spread.names[best],
            most=share_between(*(float(side[best, place]) for side in (table.share, table.low, table.high))),
        ),
        peak=translate(
            "{share}% in {period}",
            share=_format_percent(float(table.share[best, place])),
            period=spread.names[best],
        ),
    )


def _list_words(view: View, series: OverTime, topic: int) -> tuple[ChangedWord, ...]:
    """Return words of a topic whose frequency changed."""
    changed_words = view.compute_once(
        ("word times", topic, series.periods.unit), lambda: find_words_over_time(view, topic, series.periods, WORDS)
    )
    return tuple(
        ChangedWord(
            word=item.word,
            said=translate(
                "{kind}: {when}, {times} the usual share",
                kind=item.kind,
                when=item.first
                if item.first == item.last
                else translate("{first} to {last}", first=item.first, last=item.last),
                times=times(item.times),
            ),
            address=addresses.search(_format_dated_query(item.word, item.dates), topic=topic, by="words"),
        )
        for item in changed_words
    )


def _format_dated_query(word: str, dates: str) -> str:
    return " ".join((f'"{word}"', f"date:{dates}"))


def _describe_new(view: View, ask: Ask) -> New:
    """Return the changes since a date; an invalid date gives its error as the sentence."""
    try:
        result = find_changes_since(view, ask.since, ask.until)
    except UsageError as error:
        return New(sentence=f"{error.message}.", more=(), less=(), words=(), left_out=0, compared=False)
    if result.first == result.last:
        lead = translate("In {first}", first=result.first)
    elif result.last:
        lead = translate("From {first} to {last}", first=result.first, last=result.last)
    else:
        lead = translate("From {first} on", first=result.first)
    left = result.undated + result.coarse
    return New(
        sentence=translate(
            "{lead}: {documents}, compared with {before} before.",
            lead=lead,
            documents=CountedNoun(result.since, "document"),
            before=result.before,
        ),
        more=tuple(_describe_change(view, item, result) for item in result.topics[:TOPICS]),
        less=tuple(_describe_change(view, item, result) for item in result.fewer[:TOPICS]),
        words=tuple(
            ChangedWord(
                word=item.word,
                said=translate("{since}, {before} before", since=item.since, before=item.before),
                address=addresses.search(_format_dated_query(item.word, result.dates), by="words"),
            )
            for item in result.words
        ),
        left_out=left,
        compared=bool(result.before and result.since),
    )


def _describe_change(view: View, change: TopicShare, changes: RecentChanges) -> Change:
    """Return a topic with its shares before and since a date."""
    ratio_text = times_between(change.times, change.times_low, change.times_high)
    return Change(
        topic=build_topic_line(view, view.shape.node(change.topic)),
        said=translate(
            "{before}% before, {since} since",
            before=_format_percent(change.others),
            since=share_between(change.share, change.low, change.high),
        ),
        times=translate("new") if changes.is_new(change) else ratio_text,
        number=change.documents,
        documents=addresses.search(f"date:{changes.dates}", topic=change.topic),
    )


def _format_percent(share: float) -> str:
    return LOCALES[current_language()].signs(f"{100 * share:.2g}")


def _split_span(span: str) -> dict[str, str]:
    """Return the first and last date of a span as parameters."""
    first, _, last = span.partition("..")
    return {"since": first, "until": last or first}
