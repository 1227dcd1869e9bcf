"""How do two trees differ?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.tree_pairs import (
    Ask,
    Beside,
    Move,
    Other,
    PairList,
    Row,
    TreeTopic,
    both_of,
    chosen,
    level_of,
    others,
)
from topiarist.app.explorer.removed_topics import sentence
from topiarist.app.explorer.values import Choice, Paging, paging
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, Share, worded
from topiarist.collection import TreeSide, TwoTrees
from topiarist.errors import InputError
from topiarist.measures.comparison import NOTICEABLE
from topiarist.measures.side_by_side import ALONE, CHANGED, JOINED, SAME, SPLIT, SideBySide

__all__ = ["Ask", "TreesPage", "load"]

ROWS = 30  # topics on a page of the list
SHOWN = 30  # topics on each side of the picture; the smaller ones are one block


@dataclass(frozen=True)
class Block:
    """A topic in the picture; ``topic`` is none for those that are too small to be shown one by one.

    ``heading``: the topic of the first level that it is under, if it is not one itself.
    """

    topic: int | None
    name: str
    heading: str
    documents: int
    address: str


@dataclass(frozen=True)
class Stream:
    """From a block at the left to one at the right, by their places. ``stays``: the topics belong together."""

    left: int
    right: int
    documents: int
    stays: bool
    address: str


@dataclass(frozen=True)
class Picture:
    """Both columns from top to bottom, and the streams that are large enough to be seen."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]
    streams: tuple[Stream, ...]


@dataclass(frozen=True, kw_only=True)
class TreesPage:
    """Two trees side by side."""

    sentence: str
    detail: str
    others: tuple[Other, ...]
    other: str  # key of the chosen one
    level: int | None
    show: str
    left: str
    right: str
    levels: tuple[Choice, ...] = ()
    shows: tuple[Choice, ...] = ()
    rows: tuple[Row, ...] = ()
    new: tuple[TreeTopic, ...] = ()
    paging: Paging | None = None
    picture: Picture | None = None
    moves: tuple[Move, ...] = ()
    pair: PairList | None = None
    back: str = ""  # to both trees, from one topic or a pair


def load(view: View, ask: Ask) -> TreesPage:
    """Fill the page."""
    other = chosen(view, ask.with_)
    if other is None:
        said = worded("There is nothing to compare this tree with: it was not changed since it was grown.")
        return TreesPage(sentence=said, detail="", others=(), other="", level=None, show="all", left="", right="")
    filled = partial(TreesPage, others=others(view), other=other.key, level=ask.level, show=ask.show)
    try:
        both = both_of(view, other)
    except InputError as error:  # no document in common
        return filled(sentence=sentence(error.message), detail="", left="", right="")
    filled = partial(filled, left=both.a.title, right=both.b.title)
    side = level_of(view, both, ask.level)
    page = Beside(view, ask, other, both, side)
    if ask.left is not None and ask.right is not None:
        pair = page.pair(ask.left, ask.right)
        documents, topic = pair.partner.documents, pair.partner.topic
        said = worded(
            "{documents} under {left} at the left and under {right} at the right.",
            documents=Counted(documents, "document lies", "documents lie"),
            left=pair.left.name,
            right=topic.name,
        )
        return filled(sentence=said, detail="", pair=pair, back=page.address())
    if ask.left is not None:
        row = page.one(ask.left)
        said = worded(
            "The {documents} of {name} at the left lie under {topics} at the right.",
            documents=Counted(row.topic.documents, "document"),
            name=row.topic.name,
            topics=Counted(len(row.partners), "topic"),
        )
        return filled(sentence=said, detail="", rows=(row,), back=page.address())
    rows = page.rows()
    at = paging(len(rows), ask.page, lambda number: page.address(page=number), ROWS)
    alone = [node for node in both.b.order if side.came.get(node) == ALONE]
    return filled(
        sentence=_sentence(both, side),
        detail=_detail(both, ask.level),
        levels=page.levels(),
        shows=page.shows(),
        rows=tuple(map(page.row, rows[at.start : at.last])),
        new=tuple(page.right(node) for node in alone[:ROWS]),
        paging=at,
        picture=picture(both, side, ask.level, page.address, ask.show == "changed"),
        moves=page.moves(),
    )


def _sentence(both: TwoTrees, side: SideBySide) -> str:
    """What became of the topics, and how many documents moved."""
    found, total = Counter(side.became.values()), len(side.became)
    moved, shared = both.found.moved, both.found.n_shared
    topics, same = Counted(total, "topic"), found[SAME]
    if same == total == len(side.came) and not moved:
        return worded("All {topics} have the same documents, or nearly, in both trees.", topics=topics)
    said = [worded("{same} of {topics} are nearly the same", same=same, topics=topics)]
    if not same:
        said = [worded("None of {topics} is nearly the same", topics=topics)]
    elif same == total:
        said = [worded("The one topic is nearly the same")]
        said = said if total == 1 else [worded("All {topics} are nearly the same", topics=topics)]
    elif same == 1:
        said = [worded("1 of {topics} is nearly the same", topics=topics)]
    if found[SPLIT]:
        said.append(worded("{topics} split", topics=Counted(found[SPLIT], "was", "were")))
    if found[JOINED]:
        joined = Counted(len(side.joined), "topic")
        said.append(
            worded("{topics} joined into {joined}", topics=Counted(found[JOINED], "was", "were"), joined=joined)
        )
    if found[CHANGED]:
        said.append(worded("{number} changed", number=found[CHANGED]))
    if found[ALONE]:
        said.append(worded("{topics} no counterpart", topics=Counted(found[ALONE], "has", "have")))
    if new := sum(kind == ALONE for kind in side.came.values()):
        said.append(worded("{topics} new", topics=Counted(new, "is", "are")))
    went = worded("No document moved.")
    if moved:
        went = worded(
            "{moved} of {shared} documents ({share}) moved: their last topics do not correspond.",
            moved=moved, shared=shared, share=Share(moved / shared, 1),
        )  # fmt: skip
    return f"{', '.join(said)}. {went}"


def _detail(both: TwoTrees, level: int | None) -> str:
    """How far both agree, and over what that is counted: the numbers of ``topiarist compare``."""
    found = both.found
    deep = level is not None and level <= len(found.levels)
    figures = found.levels[level - 1] if deep and level is not None else found.leaves
    counts = [worded("{documents} in both", documents=Counted(found.n_shared, "document"))]
    if found.n_only_a:
        counts.append(worded("{documents} only at the left", documents=Counted(found.n_only_a, "document")))
    if found.n_only_b:
        counts.append(worded("{documents} only at the right", documents=Counted(found.n_only_b, "document")))
    return worded(
        "Agreement {where}: {nmi} of 1 (normalised mutual information), adjusted Rand index {rand}. {counts}. Each "
        "counts once, where most of it is.",
        where=worded("at this level" if deep else "of the last topics"), nmi=f"{figures.nmi:.3f}",
        rand=f"{figures.rand:.3f}", counts="; ".join(counts),
    )  # fmt: skip


def picture(
    both: TwoTrees, side: SideBySide, level: int | None, address: Callable[..., str], only_changed: bool = False
) -> Picture:
    """The picture of two trees at a level."""
    left, place_a = _column(both.a, side.sizes_a, level)
    right, place_b = _column(both.b, side.sizes_b, level)
    together: Counter[tuple[int, int]] = Counter()
    stays: set[tuple[int, int]] = set()
    links: dict[tuple[int, int], str] = {}
    for pair in side.pairs:
        ends = (place_a[pair.node_a], place_b[pair.node_b])
        if only_changed and pair.related and side.became[pair.node_a] == SAME:
            continue
        together[ends] += pair.documents
        stays |= {ends} if pair.related else set()
        whole = left[ends[0]].topic is not None and right[ends[1]].topic is not None
        links[ends] = address(left=both.a.topics[pair.node_a], right=both.b.topics[pair.node_b]) if whole else ""
    streams = [
        Stream(*ends, n, ends in stays, links[ends])
        for ends, n in sorted(together.items())
        if ends in stays or n >= NOTICEABLE * min(left[ends[0]].documents, right[ends[1]].documents)
    ]
    return Picture(left, right, tuple(streams))


def _column(side: TreeSide, sizes: Mapping[int, int], level: int | None) -> tuple[tuple[Block, ...], dict[int, int]]:
    """The blocks of a tree, and the place of each node's block."""
    nodes = [node for node in side.order if sizes.get(node)]
    largest = set(sorted(nodes, key=lambda node: (-sizes[node], node))[: SHOWN if len(nodes) <= SHOWN else SHOWN - 1])
    shown, small = [node for node in nodes if node in largest], [node for node in nodes if node not in largest]
    place = {node: number for number, node in enumerate(shown)} | dict.fromkeys(small, len(shown))
    blocks = [
        Block(
            side.topics[node],
            side.names[node],
            _heading(side, node, level),
            sizes[node],
            addresses.topic(side.topics[node]) if side.here else "",
        )
        for node in shown
    ]
    if small:
        blocks.append(
            Block(None, worded("… {number} more", number=len(small)), "", sum(sizes[node] for node in small), "")
        )
    return tuple(blocks), place


def _heading(side: TreeSide, node: int, level: int | None) -> str:
    path = side.tree.path(node)
    return side.names[path[1]] if level != 1 and len(path) > 2 else ""
