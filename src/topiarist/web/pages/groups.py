"""Shares of topics by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.collection.trends.by_group import ByGroup, find_topics_by_group, list_groupings
from topiarist.collection.trends.topic_shares import TopicShare
from topiarist.display.locale.catalogues import CountedNoun, share_between, times_between, translate
from topiarist.errors import UsageError
from topiarist.web import addresses
from topiarist.web.values import Choice, TopicLine, build_topic_line, choices, link
from topiarist.web.view import View

GROUPS, TOPICS = 12, 6  # that are shown at first
AGAINST = 5  # other groups that each is offered to be compared with; on its own page, all of them


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    column: Annotated[str, Query(max_length=200, description="a column, or label, tag, type")] = ""
    group: Annotated[str, Query(max_length=1_000, description="only this group, and all of its topics")] = ""
    against: Annotated[str, Query(max_length=1_000, description="another group, to compare this one with")] = ""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Topic with different shares in a group and in the other groups."""

    topic: TopicLine
    share: float
    low: float
    high: float
    others: float
    said: str
    times: str
    number: int
    documents: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """Group of documents, with the topics of which it has more or less."""

    name: str
    documents: int
    address: str
    alone: str  # the page of this group
    more: tuple[Difference, ...]
    less: tuple[Difference, ...]
    more_left_out: int
    most: float  # the largest share that is drawn
    against: tuple[Choice, ...]  # other groups, each an address at which both are compared
    others: str  # with whom it is compared: the other of a pair, or nobody by name


@dataclass(frozen=True, kw_only=True)
class GroupsPage:
    """Shares of topics by group."""

    sentence: str
    notes: tuple[str, ...]
    columns: tuple[Choice, ...]
    column: str
    groups: tuple[Group, ...]
    left_out: int
    every: str  # the page of all groups, where only one is shown
    names: tuple[Choice, ...] = ()  # the groups, each an address of its own
    pair: bool = False


def load(view: View, ask: Ask) -> GroupsPage:
    """Return the page: groups of a column, one group, or a comparison of two."""
    columns = list_groupings(view)
    column = ask.column or next(iter(columns), "")
    ways = choices({name: name for name in columns}, column, lambda name: addresses.groups(column=name))
    empty = GroupsPage(
        sentence=translate(
            "Groups need labels, tags or columns. This collection has none."
        ),
        notes=(), columns=ways, column=column, groups=(), left_out=0, every="",
    )  # fmt: skip
    if not column:
        return empty
    tagged = tuple(view.collection.marks.tags().items()) if column == "tag" else ()
    pair = (ask.group, ask.against) if ask.group and ask.against else ()
    try:
        comparison = view.remember_labels(("groups", column, tagged), lambda: find_topics_by_group(view, column))
        result = comparison
        if pair:
            key = ("groups", column, tagged, pair)
            result = view.remember_labels(key, lambda: find_topics_by_group(view, column, compared_groups=pair))
    except UsageError as error:
        return GroupsPage(**{**vars(empty), "sentence": f"{error.message}."})
    places = [place for place, name in enumerate(result.names) if pair or not ask.group or name == ask.group]
    shown_places, is_single = places[:GROUPS], bool(ask.group)
    return GroupsPage(
        sentence=_write_sentence(result),
        notes=_list_notes(result),
        columns=ways,
        column=column,
        groups=tuple(
            _build_group(view, result, place, comparison.names, is_single=is_single) for place in shown_places
        ),
        left_out=0 if is_single else len(places) - len(shown_places) + result.left_out,
        every=addresses.groups(column=column) if ask.group else "",
        names=tuple(
            Choice(name, addresses.groups(column=column, group=name), name == ask.group and not pair)
            for name in comparison.names
        ),
        pair=result.pair,
    )


def _write_sentence(comparison: ByGroup) -> str:
    """Return the heading sentence for a pair or for all groups."""
    if comparison.pair:
        first, second = comparison.names
        return translate("Topics that differ between {first} and {second}.", first=first, second=second)
    return translate(
        "{groups} by {column}, with topics more or less frequent than elsewhere.",
        groups=CountedNoun(len(comparison.names) + comparison.left_out, "group"),
        column=comparison.column,
    )


def _list_notes(comparison: ByGroup) -> tuple[str, ...]:
    """Return notes on documents in several groups or in none."""
    notes = []
    if comparison.n_both:
        both_text = CountedNoun(comparison.n_both, "document of both groups counts", "documents of both groups count")
        notes.append(translate("{documents} in neither group.", documents=both_text))
    if comparison.n_without_value and not comparison.pair:
        notes.append(
            translate(
                "{documents} no value.",
                documents=CountedNoun(comparison.n_without_value, "document has", "documents have"),
            )
        )
    if comparison.n_several_values:
        several_text = CountedNoun(
            comparison.n_several_values,
            "document has several values and counts",
            "documents have several values and count",
        )
        notes.append(translate("{documents} under each.", documents=several_text))
    return tuple(notes)


def _build_group(view: View, comparison: ByGroup, place: int, names: Sequence[str], *, is_single: bool) -> Group:
    """Return a group with its more and less frequent topics, and links to compare it."""
    more_frequent, rarer = (
        comparison.find_overrepresented(place),
        [] if comparison.pair else comparison.find_underrepresented(place),
    )
    group_name, column = comparison.names[place], comparison.column
    others = [] if comparison.pair else [name for name in names if name != group_name]
    differences = (*more_frequent, *rarer, *(comparison.find_overrepresented(1 - place) if comparison.pair else ()))
    maximum = max((max(item.high, item.others) for item in differences), default=1.0)
    number = len(more_frequent) if is_single else TOPICS
    return Group(
        name=comparison.names[place],
        documents=comparison.documents[place],
        address=addresses.search(comparison.query(place), by="words"),
        alone=addresses.groups(column=comparison.column, group=comparison.names[place]),
        more=_list_differences(view, comparison, place, more_frequent[:number]),
        less=_list_differences(view, comparison, place, rarer[: len(rarer) if is_single else TOPICS]),
        more_left_out=max(0, len(more_frequent) - number),
        most=maximum,
        against=tuple(
            link(name, addresses.groups(column=column, group=group_name, against=name))
            for name in others[: len(others) if is_single else AGAINST]
        ),
        others=comparison.names[1 - place] if comparison.pair else "",
    )


def _list_differences(
    view: View, comparison: ByGroup, place: int, topics: Sequence[TopicShare]
) -> tuple[Difference, ...]:
    """Return topics of a group with shares, ratios and links to documents."""
    return tuple(
        Difference(
            topic=build_topic_line(view, view.shape.node(item.topic)),
            share=item.share,
            low=item.low,
            high=item.high,
            others=item.others,
            said=share_between(item.share, item.low, item.high),
            times=times_between(item.times, item.times_low, item.times_high),
            number=item.documents,
            documents=addresses.search(comparison.query(place), topic=item.topic, by="words"),
        )
        for item in topics
    )
