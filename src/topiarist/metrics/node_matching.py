"""Matching of the nodes of two trees by common documents, so that names survive a new fit.

The agreement of two nodes is F = 2·|intersection| / (|a| + |b|) over the documents at or below each. With ``soft``
documents count by their shares: F = 2 Σ s·t / (Σ s² + Σ t²), which is the same if all shares are 0 or 1, and 1 for
equal shares.

The stability of a node is the mean over trees grown from other halves of the documents of |intersection| / |union|
with the most similar node (Jaccard's index, as in cluster-wise stability). Topics below one half depend on the
randomness of one growth as much as on the collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats, Ints
from topiarist.errors import InputError, UsageError
from topiarist.metrics.placed_documents import DocumentAssignments, make_ancestor_matrix, rank_by_name
from topiarist.trees.tree import Tree

MIN_F1 = 0.5  # a match below is doubtful
MAX_RIVAL_GAP = 0.1  # difference in F to a rival that makes a match doubtful
MEASURES = ("f1", "jaccard")
TIE = 1e-6  # weight of level and name in F; it only breaks ties
MIN_DENSITY = 0.1  # share of non-zeros from which a dense product is faster
BLOCK = 1 << 14  # documents
MIN_STABLE, MIN_MIXED = 0.75, 0.5  # minimum stability of the words "steady" and "mixed"
WORDS = ("steady", "mixed", "may be chance")


@dataclass(frozen=True)
class Match:
    """Counterpart of a node, their agreement, and whether a user should check it."""

    node_b: int
    overlap: float
    doubtful: bool


@dataclass(frozen=True)
class Overlap:
    """Documents that nodes of two trees share: one entry for each pair of nodes with common documents.

    The roots, which have all documents, are paired with each other only.
    """

    a: Tree
    b: Tree
    rows: Ints  # the node of a
    columns: Ints  # the node of b
    both: Floats
    size_a: Floats  # of each node
    size_b: Floats

    @property
    def f1(self) -> Floats:
        """F of each pair of nodes."""
        return 2 * self.both / (self.size_a[self.rows] + self.size_b[self.columns])

    @property
    def swap(self) -> Overlap:
        """Overlap with the two trees exchanged."""
        return Overlap(self.b, self.a, self.columns, self.rows, self.both, self.size_b, self.size_a)

    @property
    def ranked_f1(self) -> Floats:
        """F with ties broken by equal level and equal name, then by the order of names."""
        depth = np.array(self.a.depths)[self.rows] - np.array(self.b.depths)[self.columns]
        names_a, names_b = np.array(self.a.names, object)[self.rows], np.array(self.b.names, object)[self.columns]
        order_a, order_b = (rank_by_name(self.a) + 1) / len(self.a), (rank_by_name(self.b) + 1) / len(self.b)
        order = order_a[self.rows] * order_b[self.columns]
        value: Floats = self.f1 + TIE * (1 / (1 + np.abs(depth)) + 0.5 * (names_a == names_b) + 0.1 * order)
        return value


def align_documents(a: DocumentAssignments, b: DocumentAssignments) -> tuple[DocumentAssignments, DocumentAssignments]:
    """Return the documents that both trees have, in the same order. Raise InputError without any."""
    if list(a.ids) == list(b.ids) and a.n_docs:
        return a, b
    place = dict(zip(b.ids, range(b.n_docs), strict=True))
    rows_in_b = np.fromiter((place.get(name, -1) for name in a.ids), np.int64, a.n_docs)
    shared_rows = np.flatnonzero(rows_in_b >= 0)
    if not len(shared_rows):
        raise InputError(
            "the two trees have no document in common",
            hint="Compare trees of the same collection, or of collections whose documents have the same ids.",
        )
    return a if len(shared_rows) == a.n_docs else a.rows(shared_rows), b.rows(rows_in_b[shared_rows])


def compute_overlap(a: DocumentAssignments, b: DocumentAssignments, *, soft: bool = False) -> Overlap:
    """Return how many documents the nodes of two trees share; the rows must be aligned."""
    up_a, up_b = make_ancestor_matrix(a.tree), make_ancestor_matrix(b.tree)
    if soft:
        of_a, of_b = up_a[list(a.class_nodes)], up_b[list(b.class_nodes)]
        both = of_a.T @ _multiply_transposed(a.shares, b.shares) @ of_b
        size_a, size_b = _sum_squares(a.shares, of_a), _sum_squares(b.shares, of_b)
    else:
        pair, n = np.unique(a.assigned_nodes * len(b.tree) + b.assigned_nodes, return_counts=True)
        shape = (len(a.tree), len(b.tree))
        both = up_a.T @ csr_array((n.astype(np.float64), np.divmod(pair, len(b.tree))), shape=shape) @ up_b
        size_a, size_b = a.n_under.astype(np.float64), b.n_under.astype(np.float64)
    entries = both.tocoo()
    rows, columns = (numbers.astype(np.int64) for numbers in entries.coords)
    kept_entries = np.flatnonzero((entries.data > 0) & (rows != a.tree.root) & (columns != b.tree.root))
    size_a[a.tree.root] = size_b[b.tree.root] = a.n_docs  # also without omitted small shares
    return Overlap(
        a.tree,
        b.tree,
        np.append(rows[kept_entries], a.tree.root),
        np.append(columns[kept_entries], b.tree.root),
        np.append(entries.data[kept_entries], float(a.n_docs)),
        size_a,
        size_b,
    )


def match_nodes(
    a: DocumentAssignments, b: DocumentAssignments, min_f1: float = MIN_F1, *, soft: bool = False, measure: str = "f1"
) -> dict[int, Match]:
    """Return the counterpart in ``b`` of each node of ``a``, one to one, with the largest sum of F.

    Only documents of both trees count. A match below ``min_f1``, or one with a similar rival in another branch, is
    doubtful. Nodes without documents or without a partner have no match.
    """
    return match_overlap(compute_overlap(*align_documents(a, b), soft=soft), min_f1, measure)


def match_overlap(overlap: Overlap, min_f1: float = MIN_F1, measure: str = "f1") -> dict[int, Match]:
    """Match nodes as ``match_nodes`` does, from an overlap."""
    if measure not in MEASURES:
        raise UsageError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}", hint="Pass 'f1'.")
    rows, row_of = _sort_by_name(overlap.a, overlap.rows)
    columns, column_of = _sort_by_name(overlap.b, overlap.columns)
    value = np.zeros((len(rows), len(columns)))
    value[row_of, column_of] = overlap.ranked_f1
    f1 = np.zeros_like(value)
    f1[row_of, column_of] = overlap.f1
    matches = {}
    for i, j in np.transpose(linear_sum_assignment(value, maximize=True)).tolist():
        if not f1[i, j]:
            continue
        node_a, node_b = int(rows[i]), int(columns[j])
        rivals = _has_rival(f1[i], j, columns, overlap.b) or _has_rival(f1[:, j], i, rows, overlap.a)
        agreement = _convert_f1(float(f1[i, j]), measure)
        matches[node_a] = Match(node_b, agreement, bool(agreement < min_f1 or rivals))
    return dict(sorted(matches.items()))


def _sort_by_name(tree: Tree, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the distinct nodes sorted by name, and the index among them of each entry of ``nodes``."""
    ranks = rank_by_name(tree)
    unique_ranks, place = np.unique(ranks[nodes], return_inverse=True)
    return np.argsort(ranks)[unique_ranks], place


def find_best_matches(overlap: Overlap, min_f1: float = MIN_F1) -> dict[int, Match]:
    """Return the best counterpart of each node with documents; several nodes can have the same one."""
    order = np.lexsort((-overlap.ranked_f1, overlap.rows))
    first = order[np.unique(overlap.rows[order], return_index=True)[1]]
    f1 = overlap.f1[first]
    matches = zip(overlap.rows[first].tolist(), overlap.columns[first].tolist(), f1.tolist(), strict=True)
    return {row: Match(column, agreement, agreement < min_f1) for row, column, agreement in matches}


def _has_rival(f1: Floats, place: int, nodes: Ints, tree: Tree) -> bool:
    """Return whether a node outside the path and subtree of the chosen one agrees nearly as well."""
    candidates = np.flatnonzero(f1 >= max(f1[place] - MAX_RIVAL_GAP, np.finfo(float).tiny))
    relatives = {*tree.path(int(nodes[place])), *tree.descendants(int(nodes[place]))}
    return any(int(node) not in relatives for node in nodes[candidates])


def _convert_f1(f1: float, measure: str) -> float:
    return f1 if measure == "f1" else f1 / (2 - f1)


def _sum_squares(shares: Csr, up: Csr) -> Floats:
    """Return the sum over documents of the squared share of each node."""
    return (up.T @ _multiply_transposed(shares, shares) @ up).diagonal()


def _multiply_transposed(a: Csr, b: Csr) -> Csr:
    """Return aᵀ b, in blocks of dense rows for dense matrices."""
    if max(side.nnz / (side.shape[0] * side.shape[1]) for side in (a, b)) < MIN_DENSITY:
        return csr_array(a.T.astype(np.float64) @ b)
    total = np.zeros((a.shape[1], b.shape[1]))
    for start in range(0, a.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        left, right = (side[rows].toarray().astype(np.float64) for side in (a, b))  # BLAS requires equal types
        total += left.T @ right
    return csr_array(total)


def compute_stability(tree: DocumentAssignments, others: Sequence[DocumentAssignments]) -> Floats:
    """Return the stability of each node; NaN for the root and for nodes without documents."""
    if not others:
        raise InputError(
            "expected other trees to compare this one with, got none", hint="Pass at least two trees, better five."
        )
    stability: Floats = np.mean([_compute_overlaps(*align_documents(tree, other)) for other in others], axis=0)
    return stability


def _compute_overlaps(tree: DocumentAssignments, other: DocumentAssignments) -> Floats:
    """Return |intersection| / |union| of each node with the most similar node of the other tree."""
    overlap = compute_overlap(tree, other)
    union = overlap.size_a[overlap.rows] + overlap.size_b[overlap.columns] - overlap.both
    overlaps = np.where(overlap.size_a > 0, 0.0, np.nan)
    np.maximum.at(overlaps, overlap.rows, overlap.both / union)
    overlaps[tree.tree.root] = np.nan
    return overlaps


def describe_stability(share: float) -> str:
    """Return the word for a stability."""
    return WORDS[0] if share >= MIN_STABLE else WORDS[1] if share >= MIN_MIXED else WORDS[2]
