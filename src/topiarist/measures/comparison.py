"""Two trees over the same documents: how far they agree, which node is which, and what moved.

``topiarist compare A B`` prints ``Comparison.lines``. Everything is counted over the documents that both trees have,
each at its most probable class; time grows with the shares that there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import mutual_info_score

from topiarist.hierarchy.tree import Tree
from topiarist.measures.comparison_words import Flow, Regrouped, lines, plain
from topiarist.measures.node_matching import (
    LEAST,
    Match,
    Overlap,
    aligned,
    best_matches,
    match_nodes,
    matched,
    overlap_of,
)
from topiarist.measures.placed_documents import Ints, Placed, name_ranks

__all__ = ["Agreement", "Comparison", "Flow", "Match", "Placed", "Regrouped", "compare", "match_nodes"]

LEVELS = 12  # at most: below them, agreement is that of the leaves for all a reader can tell
MOSTLY = 0.5  # of a node's documents, and more than that
NOTICEABLE = 0.1  # of a node's documents, to be one of its parts
FLOWS = 20


@dataclass(frozen=True)
class Agreement:
    """Two ways to divide the same documents: normalised mutual information, and the adjusted Rand index."""

    nmi: float
    rand: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What two trees have in common. Nodes are numbers of their own tree; sizes count shared documents only.

    ``matches`` pairs nodes one to one, ``best`` tells the nearest node of B for each of A. ``levels`` has the agreement
    when documents are told apart down to level 1, 2, … ``moved`` documents are neither under the counterpart of their
    old node nor from under that of their new one; ``flows`` are the largest groups of them. ``split``: a node of A
    whose documents make up several of B; ``merged`` the other way round; ``gone`` and ``new``: no counterpart at all.
    """

    tree_a: Tree
    tree_b: Tree
    words_a: tuple[tuple[str, ...], ...]
    words_b: tuple[tuple[str, ...], ...]
    sizes_a: tuple[int, ...]
    sizes_b: tuple[int, ...]
    n_shared: int
    n_only_a: int
    n_only_b: int
    leaves: Agreement
    levels: tuple[Agreement, ...]
    best: dict[int, Match]
    matches: dict[int, Match]
    moved: int
    flows: tuple[Flow, ...]
    split: tuple[Regrouped, ...]
    merged: tuple[Regrouped, ...]
    gone: tuple[int, ...]
    new: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        return plain(self)

    def lines(self, n: int = 5) -> list[str]:
        """The comparison as text for a terminal; of each kind of change the ``n`` largest."""
        return lines(self, n)


class Homes(NamedTuple):
    """How many documents have these homes in the two trees."""

    rows: Ints
    columns: Ints
    n: Ints

    @classmethod
    def of(cls, a: Placed, b: Placed) -> Homes:
        pair, n = np.unique(a.homes * len(b.tree) + b.homes, return_counts=True)
        return cls(*np.divmod(pair, len(b.tree)), n)


def compare(a: Placed, b: Placed, *, least: float = LEAST, soft: bool = False, n_flows: int = FLOWS) -> Comparison:
    """Compare two trees. Nodes are counterparts if their F is ``least`` or more; see ``matching`` for ``soft``."""
    one, other = aligned(a, b)
    overlap = overlap_of(one, other)
    used = overlap_of(one, other, soft=True) if soft else overlap
    matches = matched(used, least)
    split, merged = taken_apart(overlap), taken_apart(overlap.swapped)
    related = related_of(matches, least, split, merged)
    table = Homes.of(one, other)
    moved, flows = _flows(a.tree, b.tree, table, related, n_flows)
    return Comparison(
        tree_a=a.tree,
        tree_b=b.tree,
        words_a=a.words,
        words_b=b.words,
        sizes_a=tuple(one.n_under.tolist()),
        sizes_b=tuple(other.n_under.tolist()),
        n_shared=one.n_docs,
        n_only_a=a.n_docs - one.n_docs,
        n_only_b=b.n_docs - one.n_docs,
        leaves=_agreement(table),
        levels=_levels(one, other, table),
        best=best_matches(used, least),
        matches=matches,
        moved=moved,
        flows=flows,
        split=split,
        merged=merged,
        gone=_alone(one, {x for x, _ in related}),
        new=_alone(other, {y for _, y in related}),
    )


def _agreement(table: Homes) -> Agreement:
    """scikit-learn's two figures, from the table of homes: it is far shorter than the list of documents."""
    sums = [np.bincount(column, table.n) for column in (table.rows, table.columns)]
    entropies = [float(-(p[p > 0] * np.log(p[p > 0])).sum()) for p in (side / side.sum() for side in sums)]
    mean = sum(entropies) / 2
    contingency = csr_array((table.n.astype(np.float64), (table.rows, table.columns)))
    shared = float(mutual_info_score(None, None, contingency=contingency)) if mean else 0.0
    pairs, pairs_a, pairs_b = (float((side * (side - 1.0)).sum()) / 2 for side in (contingency.data, *sums))
    total = table.n.sum() * (table.n.sum() - 1.0) / 2
    chance = pairs_a * pairs_b / max(total, 1.0)
    room = (pairs_a + pairs_b) / 2 - chance
    return Agreement(min(1.0, shared / mean) if mean else 1.0, (pairs - chance) / room if room else 1.0)


def _levels(a: Placed, b: Placed, table: Homes) -> tuple[Agreement, ...]:
    """The agreement of the nodes above the documents at level 1, 2, …; a document may end above a level."""
    depth = min(LEVELS, max(a.tree.depth, b.tree.depth))
    return tuple(
        _agreement(Homes(at_level(a.tree, level)[table.rows], at_level(b.tree, level)[table.columns], table.n))
        for level in range(1, depth + 1)
    )


def at_level(tree: Tree, level: int) -> Ints:
    """Each node, or the one above it at this level."""
    above = np.arange(len(tree))
    for node in tree.depth_first():
        if tree.depths[node] > level:
            above[node] = above[tree.parents[node]]
    return above


def taken_apart(overlap: Overlap) -> tuple[Regrouped, ...]:
    """Nodes of the first tree whose documents make up several nodes of the second.

    A part is a node with mostly documents of the whole and a noticeable share of them; if a node above it is a part,
    that one counts. Two parts or more that hold most of the whole are a split.
    """
    size, own = overlap.size_b[overlap.columns], overlap.size_a[overlap.rows]
    is_part = (overlap.both > MOSTLY * size) & (overlap.both >= NOTICEABLE * own)
    parts: dict[int, dict[int, float]] = {}
    for place in np.flatnonzero(is_part).tolist():
        found = parts.setdefault(int(overlap.rows[place]), {})
        found[int(overlap.columns[place])] = float(overlap.both[place])
    regrouped = []
    for whole, found in parts.items():
        top = [node for node in found if not any(above in found for above in overlap.b.ancestors(node))]
        held = sum(found[node] for node in top)
        if len(top) > 1 and held > MOSTLY * overlap.size_a[whole]:
            top.sort(key=lambda node: (-found[node], overlap.b.path_names(node)))
            regrouped.append(Regrouped(whole, tuple(top), tuple(round(found[node]) for node in top)))
    return tuple(sorted(regrouped, key=lambda one: (-sum(one.documents), overlap.a.path_names(one.whole))))


def related_of(
    matches: dict[int, Match], least: float, split: Iterable[Regrouped], merged: Iterable[Regrouped]
) -> set[tuple[int, int]]:
    """Pairs of nodes that are each other's counterpart, or whole and part."""
    pairs = {(node, match.node_b) for node, match in matches.items() if match.overlap >= least}
    pairs |= {(one.whole, part) for one in split for part in one.parts}
    return pairs | {(part, one.whole) for one in merged for part in one.parts}


def _flows(a: Tree, b: Tree, table: Homes, related: set[tuple[int, int]], n_flows: int) -> tuple[int, tuple[Flow, ...]]:
    """How many documents moved; and by where from and where to, the largest groups first."""
    rows, columns, n = table
    stays = _stay(rows, columns, related, b) | _stay(columns, rows, {(y, x) for x, y in related}, a)
    order = np.lexsort((name_ranks(b)[columns], name_ranks(a)[rows], -n))
    order = order[~stays[order]]
    largest = (side[order[:n_flows]].tolist() for side in table)
    return int(n[order].sum()), tuple(Flow(*flow) for flow in zip(*largest, strict=True))


def _stay(homes: Ints, others: Ints, related: set[tuple[int, int]], tree: Tree) -> Any:
    """Which pairs of homes are explained: the other home is at or below a counterpart of this one."""
    first = np.empty(len(tree), np.int64)
    first[list(tree.depth_first())] = np.arange(len(tree))
    stays = np.zeros(len(homes), bool)
    order = np.argsort(homes, kind="stable")
    for home, counterpart in related:
        begin, end = np.searchsorted(homes, (home, home + 1), sorter=order)
        if begin < end:
            places, start = order[begin:end], first[counterpart]
            there = first[others[places]]
            stays[places] |= (there >= start) & (there <= start + len(tree.descendants(counterpart)))
    return stays


def _alone(placed: Placed, paired: set[int]) -> tuple[int, ...]:
    """Nodes with documents and without a counterpart, the largest first."""
    left = [node for node in range(len(placed.tree)) if placed.n_under[node] and node not in paired]
    return tuple(sorted(left, key=lambda node: (-placed.n_under[node], placed.tree.path_names(node))))
