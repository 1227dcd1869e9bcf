"""Who speaks of what, more than the others?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, choices, topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, share_between, times_between, worded
from topiarist.collection import ByGroup, GroupTopic, Judgements, groupings, topics_by_group
from topiarist.errors import UsageError

GROUPS, TOPICS = 12, 6  # that are shown at first


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    column: Annotated[str, Query(max_length=200, description="a column, or label, tag, type")] = ""
    group: Annotated[str, Query(max_length=1_000, description="only this group, and all of its topics")] = ""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A topic of which a group has more or less than the others, and its documents."""

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
    """A group: its documents, and what it has more and less of."""

    name: str
    documents: int
    address: str
    alone: str  # the page of this group
    more: tuple[Difference, ...]
    less: tuple[Difference, ...]
    more_left_out: int
    most: float  # the largest share that is drawn


@dataclass(frozen=True, kw_only=True)
class GroupsPage:
    """Topics by group."""

    sentence: str
    notes: tuple[str, ...]
    columns: tuple[Choice, ...]
    column: str
    groups: tuple[Group, ...]
    left_out: int
    every: str  # the page of all groups, where only one is shown


def load(view: View, ask: Ask) -> GroupsPage:
    """Fill the page."""
    known = groupings(view)
    chosen = ask.column or next(iter(known), "")
    ways = choices({name: name for name in known}, chosen, lambda name: addresses.groups(column=name))
    empty = GroupsPage(
        sentence=worded(
            "Documents of this collection have no labels, tags or columns: there is nothing to group them by."
        ),
        notes=(), columns=ways, column=chosen, groups=(), left_out=0, every="",
    )  # fmt: skip
    if not chosen:
        return empty
    judged = Judgements(view.collection.generation.database).last_number()
    tagged = tuple(view.collection.marks.tags().items()) if chosen == "tag" else ()
    try:
        found = view.remembered(("groups", chosen, judged, tagged), lambda: topics_by_group(view, chosen))
    except UsageError as error:
        return GroupsPage(**{**vars(empty), "sentence": f"{error.message}."})
    places = [place for place, name in enumerate(found.names) if not ask.group or name == ask.group]
    shown = places[:GROUPS]
    return GroupsPage(
        sentence=worded(
            "{groups} of documents by {column}: what each has more and less of than all others.",
            groups=Counted(len(found.names) + found.left_out, "group"),
            column=found.column,
        ),
        notes=_notes(found),
        columns=ways,
        column=chosen,
        groups=tuple(_group(view, found, place, alone=bool(ask.group)) for place in shown),
        left_out=len(places) - len(shown) + (0 if ask.group else found.left_out),
        every=addresses.groups(column=chosen) if ask.group else "",
    )


def _notes(found: ByGroup) -> tuple[str, ...]:
    notes = []
    if found.without:
        notes.append(
            worded("{documents} no value.", documents=Counted(found.without, "document has", "documents have"))
        )
    if found.several:
        several = Counted(
            found.several, "document has several values and counts", "documents have several values and count"
        )
        notes.append(worded("{documents} under each.", documents=several))
    return tuple(notes)


def _group(view: View, found: ByGroup, place: int, *, alone: bool) -> Group:
    more, less = found.more(place), found.less(place)
    most = max((one.high for one in (*more, *less)), default=1.0)
    number = len(more) if alone else TOPICS
    return Group(
        name=found.names[place],
        documents=found.documents[place],
        address=addresses.search(found.query(place), by="words"),
        alone=addresses.groups(column=found.column, group=found.names[place]),
        more=_differences(view, found, place, more[:number]),
        less=_differences(view, found, place, less[: len(less) if alone else TOPICS]),
        more_left_out=max(0, len(more) - number),
        most=most,
    )


def _differences(view: View, found: ByGroup, place: int, topics: Sequence[GroupTopic]) -> tuple[Difference, ...]:
    return tuple(
        Difference(
            topic=topic_line(view, view.shape.node(one.topic)),
            share=one.share,
            low=one.low,
            high=one.high,
            others=one.others,
            said=share_between(one.share, one.low, one.high),
            times=times_between(one.times, one.times_low, one.times_high),
            number=one.documents,
            documents=addresses.search(found.query(place), topic=one.topic, by="words"),
        )
        for one in topics
    )
