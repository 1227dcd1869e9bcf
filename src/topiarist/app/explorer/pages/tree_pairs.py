"""Two trees beside each other: which there are to compare, what became of each topic, the documents of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, DocumentLine, Paging, choices, document_lines, paging
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import language, worded
from topiarist.app.words import minute
from topiarist.collection import TreeSide, TwoTrees, collection_at, earlier_steps, step_in_words, two_trees
from topiarist.errors import UsageError
from topiarist.measures.comparison import NOTICEABLE
from topiarist.measures.side_by_side import (
    ALONE,
    CHANGED,
    JOINED,
    SAME,
    SPLIT,
    Pair,
    SideBySide,
    side_by_side,
)
from topiarist.store import edit_log
from topiarist.store.database import Database

STATES = 30  # earlier ones to choose from
PARTNERS = 5
WORDS = 10
MOVES = 8
BECAME = {SAME: "nearly the same", CHANGED: "changed", SPLIT: "split", JOINED: "joined", ALONE: "no counterpart"}
CAME = {**BECAME, SPLIT: "part of a topic", JOINED: "joined from several", ALONE: "new"}


@dataclass(frozen=True)
class Other:
    """A tree to compare with: how an address names it, and what it is."""

    key: str
    name: str


def others(view: View) -> tuple[Other, ...]:
    """What there is to compare with: collections named at the start, then earlier states, the latest first."""

    def states() -> tuple[Other, ...]:
        database = view.collection.generation.database
        return tuple(
            Other(
                f"state-{entry.before}",
                worded("before: {step} ({when})", step=_step(database, entry), when=minute(entry.time)),
            )
            for entry in earlier_steps(view.collection)[:STATES]
        )

    given = (Other(f"with-{place}", name or "collection") for place, (name, _) in enumerate(view.beside, 1))
    return (*given, *view.remembered(("earlier states", language()), states))


def _step(database: Database, entry: edit_log.Edit) -> str:
    said = step_in_words(database, entry)
    return said if len(said) <= 80 else f"{said[:79].rstrip()}…"


def chosen(view: View, key: str) -> Other | None:
    """The tree of an address; the first, if it names none; nothing where there is none at all."""
    known = others(view)
    if not key:
        return known[0] if known else None
    for other in known:
        if other.key == key:
            return other
    raise UsageError(
        worded("no page compares with this tree: its state is not kept"), hint=worded("another tree to compare with")
    )


def both_of(view: View, other: Other) -> TwoTrees:
    """The two trees, compared once for as long as neither changes."""
    kind, _, number = other.key.partition("-")
    if kind == "with":
        beside = view.beside[int(number) - 1][1]()
        key = (other.key, beside.mark)
        titles = (view.title, other.name)
        return view.remembered(("beside", *key), lambda: two_trees(view, view, beside, titles, key))

    def before() -> TwoTrees:
        with collection_at(view.collection, int(number)) as was:
            titles = (f"{other.name[:1].upper()}{other.name[1:]}", "Now")
            return two_trees(view, View(was), view, titles, (other.key, ""))

    return view.remembered(("beside", other.key), before)


def level_of(view: View, both: TwoTrees, level: int | None) -> SideBySide:
    """The two trees at a level."""
    key = ("level", both.key, level)
    return view.remembered(key, lambda: side_by_side(both.a.tree, both.b.tree, both.shared.table, level))


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    with_: Annotated[str, Query(alias="with", max_length=40, description="the other tree, as the page names it")] = ""
    level: Annotated[int | None, Query(ge=1, le=50, description="topics of this level; the last ones without it")] = (
        None
    )
    show: Annotated[Literal["all", "changed"], Query(description="all topics, or only what changed")] = "all"
    left: Annotated[int | None, Query(description="documents of this topic of the left tree")] = None
    right: Annotated[int | None, Query(description="and of this one of the right tree")] = None
    page: Annotated[int, Query(ge=1, le=100_000)] = 1


@dataclass(frozen=True, kw_only=True)
class TreeTopic:
    """A topic of one of the trees. ``address`` is empty for one that is not in the tree of this collection now."""

    id: int
    name: str
    named: bool
    heading: str  # the topic of the first level that it is under, if that is another
    documents: int  # of those that both trees have
    became: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Partner:
    """A topic of the other tree with documents of a topic."""

    topic: TreeTopic
    documents: int  # in both topics
    share: float  # of the documents of the left one
    share_right: float
    overlap: float  # F: 1 if both have the same documents
    related: bool
    both: tuple[str, ...]  # words
    left_only: tuple[str, ...]
    right_only: tuple[str, ...]
    address: str  # of the list of the documents


@dataclass(frozen=True)
class Row:
    """A topic of the left tree, and where its documents are in the right one."""

    topic: TreeTopic
    kind: str
    partners: tuple[Partner, ...]
    elsewhere: int  # documents in topics that are not among the partners
    every: str  # address of the topic with all its partners, where there are more
    renamed: bool


@dataclass(frozen=True)
class PairList:
    """The documents that two topics have in common."""

    left: TreeTopic
    partner: Partner
    documents: tuple[DocumentLine, ...]
    paging: Paging


@dataclass(frozen=True)
class Move:
    """Documents whose two topics do not correspond."""

    left: TreeTopic
    right: TreeTopic
    documents: int
    address: str


@dataclass(frozen=True)
class Beside:
    """Two trees at a level, for one answer."""

    view: View
    ask: Ask
    other: Other
    both: TwoTrees
    side: SideBySide

    def address(self, **values: Any) -> str:
        """This page with other values."""
        show = None if self.ask.show == "all" else self.ask.show
        return addresses.trees(self.other.key, **{"level": self.ask.level, "show": show} | values)

    def levels(self) -> tuple[Choice, ...]:
        """The levels at which there is more than the level above has."""
        deepest = min(max(self.both.a.tree.depth, self.both.b.tree.depth), 6)
        levels = {None: worded("last level")} | {
            level: worded("level {level}", level=level) for level in range(1, deepest)
        }
        return choices(levels, self.ask.level, lambda level: self.address(level=level))

    def shows(self) -> tuple[Choice, ...]:
        """All topics, or what changed."""
        names = {"all": worded("all topics"), "changed": worded("only what changed")}
        return choices(names, self.ask.show, lambda show: self.address(show=None if show == "all" else show))

    def rows(self) -> list[int]:
        """The topics of the left tree that the list has."""
        found = [node for node in self.both.a.order if node in self.side.sizes_a]
        if self.ask.show == "all":
            return found
        return [node for node in found if self.side.became[node] != SAME or self.row(node).renamed]

    def row(self, node: int, every: bool = False) -> Row:
        """A topic of the left tree, with those that have its documents: the most important ones, or every one."""
        kind, mine = self.side.became[node], self.pairs.get(node, [])
        size = self.side.sizes_a[node]
        near = [pair for pair in mine if pair.related or pair.documents >= NOTICEABLE * size]
        shown = sorted(near or mine[:1], key=lambda pair: (not pair.related, -pair.documents))[:PARTNERS]
        shown = mine if every else shown
        topic = self.topic(self.both.a, node, self.side.sizes_a, worded(BECAME[kind]))
        partners = tuple(self.partner(pair) for pair in shown)
        first = partners[0].topic if partners else topic
        renamed = kind == SAME and first.name != topic.name and (first.named or topic.named)
        elsewhere = size - sum(pair.documents for pair in shown)
        return Row(topic, kind, partners, elsewhere, self.address(left=topic.id) if elsewhere else "", renamed)

    def one(self, left: int) -> Row:
        """One topic of the left tree, with all that have its documents."""
        for node in self.side.sizes_a:
            if self.both.a.topics[node] == left:
                return self.row(node, every=True)
        raise UsageError(
            worded("no topic of the left tree has this number at this level"), hint=worded("the whole page")
        )

    def moves(self) -> tuple[Move, ...]:
        """The largest groups of documents whose last topics do not correspond."""
        if self.ask.level is not None:
            return ()
        return tuple(
            Move(
                self.topic(self.both.a, flow.node_a, self.side.sizes_a, worded(BECAME[self.side.became[flow.node_a]])),
                self.right(flow.node_b),
                flow.documents,
                self.address(left=self.both.a.topics[flow.node_a], right=self.both.b.topics[flow.node_b]),
            )
            for flow in self.both.found.flows[:MOVES]
        )

    @property
    def pairs(self) -> dict[int, list[Pair]]:
        """The pairs by their topic of the left tree, the largest first."""

        def made() -> dict[int, list[Pair]]:
            found: dict[int, list[Pair]] = {}
            for pair in self.side.pairs:
                found.setdefault(pair.node_a, []).append(pair)
            return found

        return self.view.remembered(("pairs", self.both.key, self.ask.level), made)

    def topic(self, side: TreeSide, node: int, sizes: Any, became: str) -> TreeTopic:
        """A topic of a tree."""
        path, topic = side.tree.path(node), side.topics[node]
        heading = side.names[path[1]] if len(path) > 2 else ""
        address = addresses.topic(topic) if side.here else ""
        return TreeTopic(
            id=topic,
            name=side.names[node],
            named=node in side.given,
            heading=heading,
            documents=sizes[node],
            became=became,
            address=address,
        )

    def right(self, node: int) -> TreeTopic:
        """A topic of the right tree."""
        return self.topic(self.both.b, node, self.side.sizes_b, worded(CAME[self.side.came[node]]))

    def partner(self, pair: Pair) -> Partner:
        """A topic of the right tree, beside one of the left."""
        a, b = self.both.a, self.both.b
        left, right = (side.words[node][:WORDS] for side, node in ((a, pair.node_a), (b, pair.node_b)))
        topic = self.right(pair.node_b)
        return Partner(
            topic=topic,
            documents=pair.documents,
            share=pair.documents / self.side.sizes_a[pair.node_a],
            share_right=pair.documents / topic.documents,
            overlap=pair.overlap,
            related=pair.related,
            both=tuple(word for word in left if word in right),
            left_only=tuple(word for word in left if word not in right),
            right_only=tuple(word for word in right if word not in left),
            address=self.address(left=a.topics[pair.node_a], right=topic.id),
        )

    def pair(self, left: int, right: int) -> PairList:
        """The documents of two topics."""
        a, b = self.both.a, self.both.b
        found = [pair for pair in self.side.pairs if (a.topics[pair.node_a], b.topics[pair.node_b]) == (left, right)]
        if not found:
            raise UsageError(
                worded("no topic of the left tree at this level has documents of this one of the right"),
                hint=worded("the whole page"),
            )
        one = found[0]
        rows = self.both.shared.of_pair(one, a.tree, b.tree, self.ask.level)
        at = paging(len(rows), self.ask.page, lambda page: self.address(left=left, right=right, page=page))
        return PairList(
            self.topic(a, one.node_a, self.side.sizes_a, worded(BECAME[self.side.became[one.node_a]])),
            self.partner(one),
            document_lines(self.view, rows[at.start : at.last], lambda id, place: addresses.document(id)),
            at,
        )
