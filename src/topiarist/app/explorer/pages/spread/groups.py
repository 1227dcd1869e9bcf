"""Who speaks of what, more than the others?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, choices, link, topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, share_between, times_between, worded
from topiarist.collection import ByGroup, GroupTopic, Judgements, groupings, topics_by_group
from topiarist.errors import UsageError

GROUPS, TOPICS = 12, 6  # that are shown at first
AGAINST = 5  # other groups that each is offered to be compared with; on its own page, all of them


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    column: Annotated[str, Query(max_length=200, description="a column, or label, tag, type")] = ""
    group: Annotated[str, Query(max_length=1_000, description="only this group, and all of its topics")] = ""
    against: Annotated[str, Query(max_length=1_000, description="another group, to compare this one with")] = ""


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
    against: tuple[Choice, ...]  # other groups, each an address at which both are compared
    others: str  # with whom it is compared: the other of a pair, or nobody by name


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
    names: tuple[Choice, ...] = ()  # the groups, each an address of its own
    pair: bool = False


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
    pair = (ask.group, ask.against) if ask.group and ask.against else ()
    try:
        every = view.remembered(("groups", chosen, judged, tagged), lambda: topics_by_group(view, chosen))
        found = every
        if pair:
            key = ("groups", chosen, judged, tagged, pair)
            found = view.remembered(key, lambda: topics_by_group(view, chosen, between=pair))
    except UsageError as error:
        return GroupsPage(**{**vars(empty), "sentence": f"{error.message}."})
    places = [place for place, name in enumerate(found.names) if pair or not ask.group or name == ask.group]
    shown, alone = places[:GROUPS], bool(ask.group)
    return GroupsPage(
        sentence=_sentence(found),
        notes=_notes(found),
        columns=ways,
        column=chosen,
        groups=tuple(_group(view, found, place, every.names, alone=alone) for place in shown),
        left_out=0 if alone else len(places) - len(shown) + found.left_out,
        every=addresses.groups(column=chosen) if ask.group else "",
        names=tuple(
            Choice(name, addresses.groups(column=chosen, group=name), name == ask.group and not pair)
            for name in every.names
        ),
        pair=found.pair,
    )


def _sentence(found: ByGroup) -> str:
    if found.pair:
        first, second = found.names
        return worded("{first} and {second}: what each has more of than the other.", first=first, second=second)
    return worded(
        "{groups} of documents by {column}: what each has more and less of than all others.",
        groups=Counted(len(found.names) + found.left_out, "group"),
        column=found.column,
    )


def _notes(found: ByGroup) -> tuple[str, ...]:
    notes = []
    if found.both:
        both = Counted(found.both, "document is of both and counts", "documents are of both and count")
        notes.append(worded("{documents} on neither side.", documents=both))
    if found.without and not found.pair:
        notes.append(
            worded("{documents} no value.", documents=Counted(found.without, "document has", "documents have"))
        )
    if found.several:
        several = Counted(
            found.several, "document has several values and counts", "documents have several values and count"
        )
        notes.append(worded("{documents} under each.", documents=several))
    return tuple(notes)


def _group(view: View, found: ByGroup, place: int, names: Sequence[str], *, alone: bool) -> Group:
    more, less = found.more(place), [] if found.pair else found.less(place)
    own, column = found.names[place], found.column
    others = [] if found.pair else [name for name in names if name != own]
    drawn = (*more, *less, *(found.more(1 - place) if found.pair else ()))
    most = max((max(one.high, one.others) for one in drawn), default=1.0)
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
        against=tuple(
            link(name, addresses.groups(column=column, group=own, against=name))
            for name in others[: len(others) if alone else AGAINST]
        ),
        others=found.names[1 - place] if found.pair else "",
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
