"""Two trees as a picture: the topics of each one below the other, and streams of documents between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.other_trees import Both, Side
from topiarist.measures.comparison import NOTICEABLE
from topiarist.measures.side_by_side import SAME, SideBySide

SHOWN = 30  # topics on each side; the smaller ones are one block


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


def picture(
    both: Both, side: SideBySide, level: int | None, address: Callable[..., str], only_changed: bool = False
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


def _column(side: Side, sizes: Mapping[int, int], level: int | None) -> tuple[tuple[Block, ...], dict[int, int]]:
    """The blocks of a tree, and the place of each node's block."""
    nodes = [node for node in side.order if sizes.get(node)]
    largest = set(sorted(nodes, key=lambda node: (-sizes[node], node))[: SHOWN if len(nodes) <= SHOWN else SHOWN - 1])
    shown, small = [node for node in nodes if node in largest], [node for node in nodes if node not in largest]
    place = {node: number for number, node in enumerate(shown)} | dict.fromkeys(small, len(shown))
    blocks = [
        Block(side.topics[node], side.names[node], _heading(side, node, level), sizes[node],
              addresses.topic(side.topics[node]) if side.here else "")
        for node in shown
    ]  # fmt: skip
    if small:
        blocks.append(Block(None, f"… {len(small):,} more", "", sum(sizes[node] for node in small), ""))
    return tuple(blocks), place


def _heading(side: Side, node: int, level: int | None) -> str:
    path = side.tree.path(node)
    return side.names[path[1]] if level != 1 and len(path) > 2 else ""
