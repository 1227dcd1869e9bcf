"""Comparison of two trees over the same documents: agreement, matching nodes, and moved documents.

``topiarist compare A B`` prints ``Comparison.lines``. All figures are computed over the documents of both trees, each
at its most probable class. Time grows with the number of shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import mutual_info_score

from topiarist.arrays import Ints
from topiarist.metrics.node_matching import (
    MIN_F1,
    Match,
    Overlap,
    align_documents,
    compute_overlap,
    find_best_matches,
    match_nodes,
    match_overlap,
)
from topiarist.metrics.placed_documents import DocumentAssignments, rank_by_name
from topiarist.trees.tree import Tree
from topiarist.trees.tree_text import DOT, to_printable

__all__ = ["Agreement", "Comparison", "DocumentAssignments", "Flow", "Match", "Regrouped", "compare", "match_nodes"]

MAX_LEVELS = 12  # below them, agreement is about that of the leaves
MIN_MAJORITY = 0.5  # more than this share of a node's documents
MIN_PART_SHARE = 0.1  # share of a node's documents in one of its parts
MAX_FLOWS = 20


@dataclass(frozen=True)
class Agreement:
    """Agreement of two divisions of the same documents: normalised mutual information and adjusted Rand index."""

    nmi: float
    rand: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Agreement and differences of two trees. Nodes are numbers of their own tree; sizes count shared documents only.

    ``matches`` pairs nodes one to one, ``best`` has the most similar node of B for each node of A. ``levels`` has the
    agreement for divisions down to level 1, 2, … ``moved`` documents are neither below the counterpart of their old
    node nor from below that of their new node; ``flows`` are the largest groups of them. ``split`` has nodes of A whose
    documents form several nodes of B, ``merged`` the reverse. ``gone`` and ``new`` have no counterpart.
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
        """Return the comparison as JSON data; nodes have number, name, path, words and size."""

        def describe_a(node: int) -> dict[str, Any]:
            return _describe_node(self.tree_a, self.words_a, self.sizes_a, node)

        def describe_b(node: int) -> dict[str, Any]:
            return _describe_node(self.tree_b, self.words_b, self.sizes_b, node)

        def pair(matches: dict[int, Match]) -> list[dict[str, Any]]:
            """Return the matches as dictionaries, in the order of their nodes."""
            return [
                {"a": describe_a(node), "b": describe_b(match.node_b)}
                | {"overlap": match.overlap, "doubtful": match.doubtful}
                for node, match in sorted(matches.items())
            ]

        def regroup(entries: Iterable[Regrouped], names: str, describe: Any, describe_part: Any) -> list[Any]:
            """Return split or merged nodes as dictionaries with their parts."""
            return [
                dict(sorted({names[0]: describe(entry.whole), names[1]: list(map(describe_part, entry.parts))}.items()))
                | {"documents": list(entry.documents)}
                for entry in entries
            ]

        flows = [
            {"a": describe_a(flow.node_a), "b": describe_b(flow.node_b), "documents": flow.documents}
            for flow in self.flows
        ]
        return {
            "documents": {"shared": self.n_shared, "only_a": self.n_only_a, "only_b": self.n_only_b},
            "agreement": {"leaves": asdict(self.leaves), "levels": [asdict(level) for level in self.levels]},
            "matches": pair(self.matches),
            "best": pair(self.best),
            "moved": {"documents": self.moved, "flows": flows},
            "split": regroup(self.split, "ab", describe_a, describe_b),
            "merged": regroup(self.merged, "ba", describe_b, describe_a),
            "gone": list(map(describe_a, self.gone)),
            "new": list(map(describe_b, self.new)),
        }

    def lines(self, n: int = 5) -> list[str]:
        """Return the comparison as text for a terminal, with the ``n`` largest changes of each kind."""
        return list(_iter_lines(self, n))

    def name_a(self, node: int) -> str:
        """Return the path of a node of A, and some words."""
        return _name_node(self.tree_a, self.words_a, node)

    def name_b(self, node: int) -> str:
        """Return the path of a node of B, and some words."""
        return _name_node(self.tree_b, self.words_b, node)


class AssignmentCounts(NamedTuple):
    """Number of documents for each pair of assigned nodes in the two trees."""

    rows: Ints
    columns: Ints
    n: Ints

    @classmethod
    def from_trees(cls, a: DocumentAssignments, b: DocumentAssignments) -> AssignmentCounts:
        pair, n = np.unique(a.assigned_nodes * len(b.tree) + b.assigned_nodes, return_counts=True)
        return cls(*np.divmod(pair, len(b.tree)), n)


def compare(
    a: DocumentAssignments,
    b: DocumentAssignments,
    *,
    min_f1: float = MIN_F1,
    soft: bool = False,
    n_flows: int = MAX_FLOWS,
) -> Comparison:
    """Compare two trees. Nodes with an F of at least ``min_f1`` are counterparts; ``soft`` counts shares."""
    shared_a, shared_b = align_documents(a, b)
    overlap = compute_overlap(shared_a, shared_b)
    match_basis = compute_overlap(shared_a, shared_b, soft=True) if soft else overlap
    matches = match_overlap(match_basis, min_f1)
    split, merged = find_split_nodes(overlap), find_split_nodes(overlap.swap)
    related_nodes = list_related_nodes(matches, min_f1, split, merged)
    table = AssignmentCounts.from_trees(shared_a, shared_b)
    moved, flows = _find_flows(a.tree, b.tree, table, related_nodes, n_flows)
    return Comparison(
        tree_a=a.tree,
        tree_b=b.tree,
        words_a=a.words,
        words_b=b.words,
        sizes_a=tuple(shared_a.n_under.tolist()),
        sizes_b=tuple(shared_b.n_under.tolist()),
        n_shared=shared_a.n_docs,
        n_only_a=a.n_docs - shared_a.n_docs,
        n_only_b=b.n_docs - shared_a.n_docs,
        leaves=_compute_agreement(table),
        levels=_compute_level_agreements(shared_a, shared_b, table),
        best=find_best_matches(match_basis, min_f1),
        matches=matches,
        moved=moved,
        flows=flows,
        split=split,
        merged=merged,
        gone=_list_unmatched(shared_a, {x for x, _ in related_nodes}),
        new=_list_unmatched(shared_b, {y for _, y in related_nodes}),
    )


def _compute_agreement(table: AssignmentCounts) -> Agreement:
    """Return the two figures as scikit-learn defines them, from the much shorter table of assignments."""
    sums = [np.bincount(column, table.n) for column in (table.rows, table.columns)]
    entropies = [float(-(p[p > 0] * np.log(p[p > 0])).sum()) for p in (side / side.sum() for side in sums)]
    mean = sum(entropies) / 2
    contingency = csr_array((table.n.astype(np.float64), (table.rows, table.columns)))
    shared = float(mutual_info_score(None, None, contingency=contingency)) if mean else 0.0
    pairs, pairs_a, pairs_b = (float((side * (side - 1.0)).sum()) / 2 for side in (contingency.data, *sums))
    total = table.n.sum() * (table.n.sum() - 1.0) / 2
    chance = pairs_a * pairs_b / max(total, 1.0)
    max_excess = (pairs_a + pairs_b) / 2 - chance
    return Agreement(min(1.0, shared / mean) if mean else 1.0, (pairs - chance) / max_excess if max_excess else 1.0)


def _compute_level_agreements(
    a: DocumentAssignments, b: DocumentAssignments, table: AssignmentCounts
) -> tuple[Agreement, ...]:
    """Return the agreement of the ancestors at level 1, 2, …; a document can be assigned above a level."""
    depth = min(MAX_LEVELS, max(a.tree.depth, b.tree.depth))
    return tuple(
        _compute_agreement(
            AssignmentCounts(
                find_ancestors_at_level(a.tree, level)[table.rows],
                find_ancestors_at_level(b.tree, level)[table.columns],
                table.n,
            )
        )
        for level in range(1, depth + 1)
    )


def find_ancestors_at_level(tree: Tree, level: int) -> Ints:
    """Return each node, or its ancestor at this level."""
    ancestors = np.arange(len(tree))
    for node in tree.depth_first():
        if tree.depths[node] > level:
            ancestors[node] = ancestors[tree.parents[node]]
    return ancestors


def find_split_nodes(overlap: Overlap) -> tuple[Regrouped, ...]:
    """Return nodes of the first tree whose documents form several nodes of the second.

    A part is a node with mostly documents of the split node, and a noticeable share of them. A part below another
    part does not count. A split has two or more parts that hold most of the node.
    """
    size, size_of_node = overlap.size_b[overlap.columns], overlap.size_a[overlap.rows]
    is_part = (overlap.both > MIN_MAJORITY * size) & (overlap.both >= MIN_PART_SHARE * size_of_node)
    parts: dict[int, dict[int, float]] = {}
    for place in np.flatnonzero(is_part).tolist():
        part_counts = parts.setdefault(int(overlap.rows[place]), {})
        part_counts[int(overlap.columns[place])] = float(overlap.both[place])
    splits = []
    for split_node, part_counts in parts.items():
        top = [node for node in part_counts if not any(above in part_counts for above in overlap.b.ancestors(node))]
        n_held = sum(part_counts[node] for node in top)
        if len(top) > 1 and n_held > MIN_MAJORITY * overlap.size_a[split_node]:
            top.sort(key=lambda node: (-part_counts[node], overlap.b.path_names(node)))
            splits.append(Regrouped(split_node, tuple(top), tuple(round(part_counts[node]) for node in top)))
    return tuple(sorted(splits, key=lambda entry: (-sum(entry.documents), overlap.a.path_names(entry.whole))))


def list_related_nodes(
    matches: dict[int, Match], min_f1: float, split: Iterable[Regrouped], merged: Iterable[Regrouped]
) -> set[tuple[int, int]]:
    """Return pairs of nodes that are counterparts, or a split node and its part."""
    pairs = {(node, match.node_b) for node, match in matches.items() if match.overlap >= min_f1}
    pairs |= {(entry.whole, part) for entry in split for part in entry.parts}
    return pairs | {(part, entry.whole) for entry in merged for part in entry.parts}


def _find_flows(
    a: Tree, b: Tree, table: AssignmentCounts, related_nodes: set[tuple[int, int]], n_flows: int
) -> tuple[int, tuple[Flow, ...]]:
    """Return the number of moved documents, and their largest groups by old and new node."""
    rows, columns, n = table
    stays = _find_unmoved(rows, columns, related_nodes, b) | _find_unmoved(
        columns, rows, {(y, x) for x, y in related_nodes}, a
    )
    order = np.lexsort((rank_by_name(b)[columns], rank_by_name(a)[rows], -n))
    order = order[~stays[order]]
    largest = (side[order[:n_flows]].tolist() for side in table)
    return int(n[order].sum()), tuple(Flow(*flow) for flow in zip(*largest, strict=True))


def _find_unmoved(nodes: Ints, others: Ints, related_nodes: set[tuple[int, int]], tree: Tree) -> Any:
    """Return which pairs of nodes are explained: the other node is at or below a counterpart of the node."""
    first = np.empty(len(tree), np.int64)
    first[list(tree.depth_first())] = np.arange(len(tree))
    stays = np.zeros(len(nodes), bool)
    order = np.argsort(nodes, kind="stable")
    for node, counterpart in related_nodes:
        begin, end = np.searchsorted(nodes, (node, node + 1), sorter=order)
        if begin < end:
            places, start = order[begin:end], first[counterpart]
            counterpart_places = first[others[places]]
            stays[places] |= (counterpart_places >= start) & (
                counterpart_places <= start + len(tree.descendants(counterpart))
            )
    return stays


def _list_unmatched(assignments: DocumentAssignments, paired: set[int]) -> tuple[int, ...]:
    """Return nodes with documents and without a counterpart, the largest first."""
    nodes = [node for node in range(len(assignments.tree)) if assignments.n_under[node] and node not in paired]
    return tuple(sorted(nodes, key=lambda node: (-assignments.n_under[node], assignments.tree.path_names(node))))


STEP = " ▸ "  # between the names of a path
LABEL_WORDS = 3  # words


@dataclass(frozen=True)
class Flow:
    """Documents that moved from a node of A to a node of B that is not its counterpart."""

    node_a: int
    node_b: int
    documents: int


@dataclass(frozen=True)
class Regrouped:
    """Node of one tree whose documents form several nodes of the other, with the number of documents of each."""

    whole: int
    parts: tuple[int, ...]
    documents: tuple[int, ...]


def _describe_node(tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[int], node: int) -> dict[str, Any]:
    node_words = list(words[node]) if words else []
    path = list(tree.path_names(node))
    return {"id": node, "name": tree.names[node], "path": path, "words": node_words, "size": sizes[node]}


def _iter_lines(comparison: Comparison, n: int) -> Iterator[str]:
    """Yield the lines of the printed comparison, with at most ``n`` entries per list."""
    exclusive = [
        f"{number:,} only in {side}"
        for number, side in ((comparison.n_only_a, "A"), (comparison.n_only_b, "B"))
        if number
    ]
    yield DOT.join([f"{_format_documents(comparison.n_shared)} in both", *exclusive])
    yield f"topics: A {len(comparison.tree_a.leaves):,}, B {len(comparison.tree_b.leaves):,}"
    yield ""
    yield "agreement      NMI   adjusted Rand"
    if len(comparison.levels) > 1:
        for level, agreement in enumerate(comparison.levels, 1):
            yield f"  level {level:<4}  {agreement.nmi:5.3f}   {agreement.rand:5.3f}"
    yield f"  topics      {comparison.leaves.nmi:5.3f}   {comparison.leaves.rand:5.3f}"
    yield ""
    yield from _format_matches(comparison)
    share = comparison.moved / comparison.n_shared
    yield f"moved: {_format_documents(comparison.moved)} ({share:.1%})" if comparison.moved else "moved: nothing"
    for flow in comparison.flows[:n]:
        yield f"  {flow.documents:>9,}  {comparison.name_a(flow.node_a)}  →  {comparison.name_b(flow.node_b)}"
    split = [(comparison.name_a(entry.whole), map(comparison.name_b, entry.parts)) for entry in comparison.split]
    yield from _format_changes("split", [f"  {whole}  →  {' + '.join(parts)}" for whole, parts in split], n)
    merged = [(map(comparison.name_a, entry.parts), comparison.name_b(entry.whole)) for entry in comparison.merged]
    yield from _format_changes("merged", [f"  {' + '.join(parts)}  →  {whole}" for parts, whole in merged], n)
    gone = [f"  {comparison.sizes_a[node]:>9,}  {comparison.name_a(node)}" for node in comparison.gone]
    yield from _format_changes("gone", gone, n)
    new = [f"  {comparison.sizes_b[node]:>9,}  {comparison.name_b(node)}" for node in comparison.new]
    yield from _format_changes("new", new, n)


def _format_matches(comparison: Comparison) -> Iterator[str]:
    """Yield one line: how many nodes of A have a counterpart in B."""
    doubtful = [node for node, match in comparison.matches.items() if match.doubtful]
    n_certain = len(comparison.matches) - len(doubtful)
    n_filled = sum(size > 0 for size in comparison.sizes_a)
    yield f"nodes of A with a counterpart in B: {n_certain:,} of {n_filled:,}" + (
        f", {len(doubtful):,} more in doubt" if doubtful else ""
    )


def _format_changes(title: str, lines: Sequence[str], n: int) -> Iterator[str]:
    """Yield the number of changes and the first ``n`` of them; nothing without changes."""
    if lines:
        yield f"{title}: {len(lines):,}"
        yield from lines[:n]
    if len(lines) > n:
        yield f"  … and {len(lines) - n:,} more"


def _format_documents(number: int) -> str:
    return f"{number:,} document{'' if number == 1 else 's'}"


def _name_node(tree: Tree, words: Sequence[Sequence[str]], node: int) -> str:
    """Return the path below the root, and some words that are not part of the name."""
    path = [tree.names[step] for step in tree.path(node)[1:]] or [tree.names[node] or "(root)"]
    extra_words = [word for word in (words[node] if words else ()) if word not in path[-1]][:LABEL_WORDS]
    return to_printable(STEP.join(path) + (f" ({', '.join(extra_words)})" if extra_words else ""))
