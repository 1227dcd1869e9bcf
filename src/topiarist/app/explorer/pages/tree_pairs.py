"""Topics of two trees beside each other: what became of each, its partners, and the documents of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.other_trees import Both, Other, Side
from topiarist.app.explorer.values import Choice, DocumentLine, Paging, document_lines, paging
from topiarist.app.explorer.view import View
from topiarist.errors import UsageError
from topiarist.measures.comparison import NOTICEABLE, at_level
from topiarist.measures.side_by_side import ALONE, CHANGED, JOINED, SAME, SPLIT, Pair, SideBySide

PARTNERS = 5
WORDS = 10
MOVES = 8
BECAME = {SAME: "nearly the same", CHANGED: "changed", SPLIT: "split", JOINED: "joined", ALONE: "no counterpart"}
CAME = BECAME | {SPLIT: "part of a topic", JOINED: "joined from several", ALONE: "new"}


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


@dataclass(frozen=True)
class TreeTopic:
    """A topic of one of the trees. ``address`` is empty for one that is not in the tree of this collection now."""

    id: int
    name: str
    named: bool
    heading: str  # the topic of the first level that it is under, if that is another
    documents: int  # of those that both trees have
    became: str
    address: str


@dataclass(frozen=True)
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
    both: Both
    side: SideBySide

    def address(self, **values: Any) -> str:
        """This page with other values."""
        show = None if self.ask.show == "all" else self.ask.show
        return addresses.trees(self.other.key, **{"level": self.ask.level, "show": show} | values)

    def levels(self) -> tuple[Choice, ...]:
        """The levels at which there is more than the level above has."""
        deepest = min(max(self.both.a.tree.depth, self.both.b.tree.depth), 6)
        return tuple(
            Choice(f"level {level}" if level else "last level", self.address(level=level), level == self.ask.level)
            for level in (None, *range(1, deepest))
        )

    def shows(self) -> tuple[Choice, ...]:
        """All topics, or what changed."""
        every = ((None, "all", "all topics"), ("changed", "changed", "only what changed"))
        return tuple(Choice(name, self.address(show=show), key == self.ask.show) for show, key, name in every)

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
        topic = self.topic(self.both.a, node, self.side.sizes_a, BECAME[kind])
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
        raise UsageError("no topic of the left tree has this number at this level", hint="the whole page")

    def moves(self) -> tuple[Move, ...]:
        """The largest groups of documents whose last topics do not correspond."""
        if self.ask.level is not None:
            return ()
        return tuple(
            Move(self.topic(self.both.a, flow.node_a, self.side.sizes_a, BECAME[self.side.became[flow.node_a]]),
                 self.right(flow.node_b),
                 flow.documents,
                 self.address(left=self.both.a.topics[flow.node_a], right=self.both.b.topics[flow.node_b]))
            for flow in self.both.found.flows[:MOVES]
        )  # fmt: skip

    @property
    def pairs(self) -> dict[int, list[Pair]]:
        """The pairs by their topic of the left tree, the largest first."""

        def made() -> dict[int, list[Pair]]:
            found: dict[int, list[Pair]] = {}
            for pair in self.side.pairs:
                found.setdefault(pair.node_a, []).append(pair)
            return found

        return self.view.remembered(("pairs", self.both.key, self.ask.level), made)

    def topic(self, side: Side, node: int, sizes: Any, became: str) -> TreeTopic:
        """A topic of a tree."""
        path, topic = side.tree.path(node), side.topics[node]
        heading = side.names[path[1]] if len(path) > 2 else ""
        address = addresses.topic(topic) if side.here else ""
        return TreeTopic(topic, side.names[node], node in side.given, heading, sizes[node], became, address)

    def right(self, node: int) -> TreeTopic:
        """A topic of the right tree."""
        return self.topic(self.both.b, node, self.side.sizes_b, CAME[self.side.came[node]])

    def partner(self, pair: Pair) -> Partner:
        """A topic of the right tree, beside one of the left."""
        a, b = self.both.a, self.both.b
        left, right = (side.words[node][:WORDS] for side, node in ((a, pair.node_a), (b, pair.node_b)))
        topic = self.right(pair.node_b)
        return Partner(
            topic, pair.documents, pair.documents / self.side.sizes_a[pair.node_a], pair.documents / topic.documents,
            pair.overlap, pair.related, tuple(word for word in left if word in right),
            tuple(word for word in left if word not in right), tuple(word for word in right if word not in left),
            self.address(left=a.topics[pair.node_a], right=topic.id),
        )  # fmt: skip

    def pair(self, left: int, right: int) -> PairList:
        """The documents of two topics."""
        a, b = self.both.a, self.both.b
        found = [pair for pair in self.side.pairs if (a.topics[pair.node_a], b.topics[pair.node_b]) == (left, right)]
        if not found:
            raise UsageError(
                "no topic of the left tree at this level has documents of this one of the right", hint="the whole page"
            )
        one, level = found[0], self.ask.level or max(a.tree.depth, b.tree.depth)
        here = (at_level(a.tree, level)[self.both.homes_a] == one.node_a) & (
            at_level(b.tree, level)[self.both.homes_b] == one.node_b
        )
        rows = np.sort(self.both.rows[here])
        at = paging(len(rows), self.ask.page, lambda page: self.address(left=left, right=right, page=page))
        return PairList(
            self.topic(a, one.node_a, self.side.sizes_a, BECAME[self.side.became[one.node_a]]), self.partner(one),
            document_lines(self.view, rows[at.start : at.last].tolist(), lambda id, place: addresses.document(id)),
            at,
        )  # fmt: skip
