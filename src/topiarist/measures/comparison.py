"""Two trees over the same documents: how far they agree, which node is which, and what moved.

``topiarist compare A B`` prints ``Comparison.lines``. Everything is counted over the documents that both trees have,
each at its most probable class; time grows with the shares that there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import mutual_info_score

from topiarist.arrays import Ints
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import DOT, printable
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
from topiarist.measures.placed_documents import Placed, name_ranks

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


STEP = " ▸ "  # between the names of a path
IN_A_LABEL = 3  # words


@dataclass(frozen=True)
class Flow:
    """Documents that were at a node of A and are at a node of B that is not its counterpart."""

    node_a: int
    node_b: int
    documents: int


@dataclass(frozen=True)
class Regrouped:
    """A node of one tree whose documents make up several of the other, with how many of its documents each has."""

    whole: int
    parts: tuple[int, ...]
    documents: tuple[int, ...]


def plain(found: Comparison) -> dict[str, Any]:
    """All of a comparison as plain JSON data; nodes with their number, name, path, words and size."""

    def of_a(node: int) -> dict[str, Any]:
        return _node(found.tree_a, found.words_a, found.sizes_a, node)

    def of_b(node: int) -> dict[str, Any]:
        return _node(found.tree_b, found.words_b, found.sizes_b, node)

    def pairs(matches: dict[int, Match]) -> list[dict[str, Any]]:
        return [
            {"a": of_a(node), "b": of_b(match.node_b), "overlap": match.overlap, "doubtful": match.doubtful}
            for node, match in sorted(matches.items())
        ]

    return {
        "documents": {"shared": found.n_shared, "only_a": found.n_only_a, "only_b": found.n_only_b},
        "agreement": {"leaves": asdict(found.leaves), "levels": [asdict(level) for level in found.levels]},
        "matches": pairs(found.matches),
        "best": pairs(found.best),
        "moved": {
            "documents": found.moved,
            "flows": [
                {"a": of_a(flow.node_a), "b": of_b(flow.node_b), "documents": flow.documents} for flow in found.flows
            ],
        },
        "split": [
            {"a": of_a(one.whole), "b": list(map(of_b, one.parts)), "documents": list(one.documents)}
            for one in found.split
        ],
        "merged": [
            {"a": list(map(of_a, one.parts)), "b": of_b(one.whole), "documents": list(one.documents)}
            for one in found.merged
        ],
        "gone": list(map(of_a, found.gone)),
        "new": list(map(of_b, found.new)),
    }


def _node(tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[int], node: int) -> dict[str, Any]:
    own = list(words[node]) if words else []
    path = list(tree.path_names(node))
    return {"id": node, "name": tree.names[node], "path": path, "words": own, "size": sizes[node]}


def lines(found: Comparison, n: int) -> list[str]:
    """The comparison as text: a sentence, how far both agree, then what changed, the largest first."""
    return list(_lines(found, n))


def _lines(found: Comparison, n: int) -> Iterator[str]:
    only = [f"{number:,} only in {side}" for number, side in ((found.n_only_a, "A"), (found.n_only_b, "B")) if number]
    yield DOT.join([f"{_documents(found.n_shared)} in both", *only])
    yield f"leaves: A {len(found.tree_a.leaves):,}, B {len(found.tree_b.leaves):,}"
    yield ""
    yield "agreement      NMI   adjusted Rand"
    if len(found.levels) > 1:
        for level, agreement in enumerate(found.levels, 1):
            yield f"  level {level:<4}  {agreement.nmi:5.3f}   {agreement.rand:5.3f}"
    yield f"  leaves      {found.leaves.nmi:5.3f}   {found.leaves.rand:5.3f}"
    yield ""
    yield from _matches(found)
    share = found.moved / found.n_shared
    yield f"moved: {_documents(found.moved)} ({share:.1%})" if found.moved else "moved: nothing"
    for flow in found.flows[:n]:
        yield f"  {flow.documents:>9,}  {_label_a(found, flow.node_a)}  →  {_label_b(found, flow.node_b)}"
    yield from _regrouped(found, n)
    yield from _left("gone", [(found.sizes_a[node], _label_a(found, node)) for node in found.gone], n)
    yield from _left("new", [(found.sizes_b[node], _label_b(found, node)) for node in found.new], n)


def _matches(found: Comparison) -> Iterator[str]:
    doubtful = [node for node, match in found.matches.items() if match.doubtful]
    sure = len(found.matches) - len(doubtful)
    filled = sum(size > 0 for size in found.sizes_a)
    yield f"nodes of A with a counterpart in B: {sure:,} of {filled:,}" + (
        f", {len(doubtful):,} more in doubt" if doubtful else ""
    )


def _regrouped(found: Comparison, n: int) -> Iterator[str]:
    if found.split:
        yield f"split: {len(found.split):,}"
        for one in found.split[:n]:
            yield f"  {_label_a(found, one.whole)}  →  {' + '.join(_label_b(found, part) for part in one.parts)}"
        yield from _more(len(found.split) - n)
    if found.merged:
        yield f"merged: {len(found.merged):,}"
        for one in found.merged[:n]:
            yield f"  {' + '.join(_label_a(found, part) for part in one.parts)}  →  {_label_b(found, one.whole)}"
        yield from _more(len(found.merged) - n)


def _left(title: str, nodes: Sequence[tuple[int, str]], n: int) -> Iterator[str]:
    if nodes:
        yield f"{title}: {len(nodes):,}"
        yield from (f"  {size:>9,}  {label}" for size, label in nodes[:n])
        yield from _more(len(nodes) - n)


def _more(number: int) -> Iterator[str]:
    if number > 0:
        yield f"  … and {number:,} more"


def _documents(number: int) -> str:
    return f"{number:,} document{'' if number == 1 else 's'}"


def _label_a(found: Comparison, node: int) -> str:
    return _label(found.tree_a, found.words_a, node)


def _label_b(found: Comparison, node: int) -> str:
    return _label(found.tree_b, found.words_b, node)


def _label(tree: Tree, words: Sequence[Sequence[str]], node: int) -> str:
    """The path below the root, and words that a reader would not guess from the name."""
    path = [tree.names[step] for step in tree.path(node)[1:]] or [tree.names[node] or "(root)"]
    own = [word for word in (words[node] if words else ()) if word not in path[-1]][:IN_A_LABEL]
    return printable(STEP.join(path) + (f" ({', '.join(own)})" if own else ""))
