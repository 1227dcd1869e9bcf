"""Two trees at one level, to be seen side by side: which topic became which, and what became of each.

Counted as ``comparing`` counts: documents that both trees have, each at its most probable class, which stands for the
topic above it at the level. Time and memory grow with the pairs of topics that share documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Ints
from topiarist.hierarchy.tree import Tree
from topiarist.measures.comparison import Homes, Regrouped, at_level, related_of, taken_apart
from topiarist.measures.node_matching import LEAST, Match, Overlap, aligned, matched
from topiarist.measures.placed_documents import Placed, summed_up

NEARLY = 0.9  # of F: what is above it is nearly the same topic
SAME, CHANGED, SPLIT, JOINED, ALONE = "same", "changed", "split", "joined", "alone"


@dataclass(frozen=True)
class Pair:
    """A topic of each tree: the documents that both have, how well the two agree (F), and whether they belong together.

    They do if they are counterparts, or one is a part of the other.
    """

    node_a: int
    node_b: int
    documents: int
    overlap: float
    related: bool


@dataclass(frozen=True)
class SideBySide:
    """The topics of two trees at a level: sizes by node, pairs with documents in common, and what became of each.

    ``became`` tells it of the nodes of A, ``came`` where the nodes of B come from: "same" (nearly), "changed" (it has a
    counterpart with at least half in common), "split", "joined", or "alone" without any counterpart.
    """

    sizes_a: Mapping[int, int]
    sizes_b: Mapping[int, int]
    pairs: tuple[Pair, ...]
    became: Mapping[int, str]
    came: Mapping[int, str]
    split: tuple[Regrouped, ...]
    joined: tuple[Regrouped, ...]


def side_by_side(a: Tree, b: Tree, homes: Homes, level: int | None = None) -> SideBySide:
    """Two trees at a level, or at the last topics of each. ``homes``: as many documents have these homes in both."""
    overlap = _overlap(a, b, homes, max(a.depth, b.depth) if level is None else level)
    matches, split, joined = matched(overlap), taken_apart(overlap), taken_apart(overlap.swapped)
    related = related_of(matches, LEAST, split, joined)
    backwards = {match.node_b: Match(node, match.overlap, match.doubtful) for node, match in matches.items()}
    found = zip(
        overlap.rows.tolist(), overlap.columns.tolist(), overlap.both.tolist(), overlap.f1.tolist(), strict=True
    )
    pairs = [Pair(x, y, round(both), f1, (x, y) in related) for x, y, both, f1 in found]
    sizes_a, sizes_b = ({int(node): round(size[node]) for node in np.flatnonzero(size).tolist()}
                        for size in (overlap.size_a, overlap.size_b))  # fmt: skip
    return SideBySide(
        sizes_a, sizes_b, tuple(sorted(pairs, key=lambda pair: (-pair.documents, pair.node_a, pair.node_b))),
        {node: _told(node, matches, split, joined, SPLIT, JOINED) for node in sizes_a},
        {node: _told(node, backwards, joined, split, JOINED, SPLIT) for node in sizes_b}, split, joined,
    )  # fmt: skip


def _overlap(a: Tree, b: Tree, homes: Homes, level: int) -> Overlap:
    """What topics of the level have in common, and no others."""
    above_a, above_b = at_level(a, level)[homes.rows], at_level(b, level)[homes.columns]
    place, back = np.unique(above_a * len(b) + above_b, return_inverse=True)
    both = np.bincount(back.ravel(), homes.n).astype(np.float64)
    rows, columns = np.divmod(place, len(b))
    sizes = [np.bincount(above, homes.n, len(tree)).astype(np.float64) for above, tree in ((above_a, a), (above_b, b))]
    return Overlap(a, b, rows, columns, both, *sizes)


def _told(
    node: int,
    matches: Mapping[int, Match],
    wholes: tuple[Regrouped, ...],
    others: tuple[Regrouped, ...],
    whole: str,
    part: str,
) -> str:
    """What became of a node: the closest that can be said of it."""
    match = matches.get(node)
    if match is not None and match.overlap >= NEARLY:
        return SAME
    if any(one.whole == node for one in wholes):
        return whole
    if any(node in one.parts for one in others):
        return part
    return CHANGED if match is not None and match.overlap >= LEAST else ALONE


@dataclass(frozen=True, eq=False)
class SharedDocuments:
    """The documents that two trees have in common: their homes in each, how many have which, and their rows in one."""

    table: Homes
    homes_a: Ints
    homes_b: Ints
    rows: Ints

    def of_pair(self, pair: Pair, a: Tree, b: Tree, level: int | None) -> list[int]:
        """The rows of the documents of a pair of topics of a level, or of the last topics."""
        deep = level or max(a.depth, b.depth)
        left, right = at_level(a, deep)[self.homes_a], at_level(b, deep)[self.homes_b]
        return sorted(self.rows[(left == pair.node_a) & (right == pair.node_b)].tolist())

    def order(self, tree: Tree, order: Sequence[int]) -> tuple[int, ...]:
        """The nodes of B so that as few streams as possible cross, where those of A are in an order."""
        place = np.empty(len(order))
        place[list(order)] = np.arange(len(order))
        table = self.table
        sums = summed_up(tree, np.bincount(table.columns, table.n * place[table.rows], len(tree)))
        sizes = summed_up(tree, np.bincount(table.columns, table.n, len(tree)))
        middle = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.inf).tolist()  # of its documents in A; or last
        return tree.in_order(lambda child: (middle[child], child))


def shared_documents(a: Placed, b: Placed, *, rows_of_a: bool) -> SharedDocuments:
    """The documents that are in both; ``rows_of_a``: rows are those of A, else those of B."""
    shared_a, shared_b = aligned(a, b)
    row = {name: place for place, name in enumerate((a if rows_of_a else b).ids)}
    rows = np.fromiter((row[name] for name in shared_a.ids), np.int64, shared_a.n_docs)
    return SharedDocuments(Homes.of(shared_a, shared_b), shared_a.homes, shared_b.homes, rows)
