"""Which node of one tree is which of another? By the documents they share, so that names survive a new fit.

How well two nodes agree is F = 2·|both| / (|one| + |other|) over the documents at or below each. With ``soft`` these
count by their shares: F = 2 Σ s·t / (Σ s² + Σ t²), which is the same where all shares are 0 or 1, and 1 for equal ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats, Ints
from topiarist.errors import InputError, UsageError
from topiarist.hierarchy.tree import Tree
from topiarist.measures.placed_documents import Placed, name_ranks, upwards

LEAST = 0.5  # of F: below it a match is doubtful
CLOSE = 0.1  # of F: a rival nearer than this makes a match doubtful
MEASURES = ("f1", "jaccard")
TIE = 1e-6  # what level and name may add to an F: they settle ties, and nothing else
DENSE = 0.1  # with more of a matrix filled than this, a dense product is faster
BLOCK = 1 << 14  # documents


@dataclass(frozen=True)
class Match:
    """The counterpart of a node, how well the two agree, and whether a person should be asked."""

    node_b: int
    overlap: float
    doubtful: bool


@dataclass(frozen=True)
class Overlap:
    """Documents that nodes of two trees have in common: one entry for each pair of nodes that have any.

    The roots, which hold everything, are paired with each other only: no topic is ever the whole collection.
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
        """How well each pair agrees."""
        return 2 * self.both / (self.size_a[self.rows] + self.size_b[self.columns])

    @property
    def swapped(self) -> Overlap:
        """The same, seen from the other tree."""
        return Overlap(self.b, self.a, self.columns, self.rows, self.both, self.size_b, self.size_a)

    @property
    def settled(self) -> Floats:
        """``f1`` with ties settled: nodes of the same level and the same name first, then in the order of names."""
        depth = np.array(self.a.depths)[self.rows] - np.array(self.b.depths)[self.columns]
        names_a, names_b = np.array(self.a.names, object)[self.rows], np.array(self.b.names, object)[self.columns]
        order_a, order_b = (name_ranks(self.a) + 1) / len(self.a), (name_ranks(self.b) + 1) / len(self.b)
        order = order_a[self.rows] * order_b[self.columns]
        value: Floats = self.f1 + TIE * (1 / (1 + np.abs(depth)) + 0.5 * (names_a == names_b) + 0.1 * order)
        return value


def aligned(a: Placed, b: Placed) -> tuple[Placed, Placed]:
    """The documents that both have, in the same order."""
    if list(a.ids) == list(b.ids) and a.n_docs:
        return a, b
    place = dict(zip(b.ids, range(b.n_docs), strict=True))
    there = np.fromiter((place.get(name, -1) for name in a.ids), np.int64, a.n_docs)
    here = np.flatnonzero(there >= 0)
    if not len(here):
        raise InputError(
            "the two trees have no document in common: there is nothing to compare them by",
            hint="trees of the same collection, or of collections whose documents have the same ids",
        )
    return a if len(here) == a.n_docs else a.rows(here), b.rows(there[here])


def overlap_of(a: Placed, b: Placed, *, soft: bool = False) -> Overlap:
    """The documents that the nodes of two trees have in common; rows of both must be the same documents."""
    up_a, up_b = upwards(a.tree), upwards(b.tree)
    if soft:
        of_a, of_b = up_a[list(a.class_nodes)], up_b[list(b.class_nodes)]
        both = of_a.T @ _product(a.shares, b.shares) @ of_b
        size_a, size_b = _squares(a.shares, of_a), _squares(b.shares, of_b)
    else:
        pair, n = np.unique(a.homes * len(b.tree) + b.homes, return_counts=True)
        shape = (len(a.tree), len(b.tree))
        both = up_a.T @ csr_array((n.astype(np.float64), np.divmod(pair, len(b.tree))), shape=shape) @ up_b
        size_a, size_b = a.n_under.astype(np.float64), b.n_under.astype(np.float64)
    found = both.tocoo()
    rows, columns = (numbers.astype(np.int64) for numbers in found.coords)
    kept = np.flatnonzero((found.data > 0) & (rows != a.tree.root) & (columns != b.tree.root))
    size_a[a.tree.root] = size_b[b.tree.root] = a.n_docs  # whatever small shares were left out
    return Overlap(
        a.tree,
        b.tree,
        np.append(rows[kept], a.tree.root),
        np.append(columns[kept], b.tree.root),
        np.append(found.data[kept], float(a.n_docs)),
        size_a,
        size_b,
    )


def match_nodes(
    a: Placed, b: Placed, least: float = LEAST, *, soft: bool = False, measure: str = "f1"
) -> dict[int, Match]:
    """The counterpart in ``b`` of each node of ``a``, no node of ``b`` twice: the pairs whose F sums to the most.

    Only documents that both have count. A match below ``least``, or one that has a rival nearly as good in another
    branch, is doubtful. Nodes without documents, or left over, have no match.
    """
    return matched(overlap_of(*aligned(a, b), soft=soft), least, measure)


def matched(overlap: Overlap, least: float = LEAST, measure: str = "f1") -> dict[int, Match]:
    """``match_nodes`` of what two trees have in common."""
    if measure not in MEASURES:
        raise UsageError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}", hint="'f1'")
    rows, row_of = _by_name(overlap.a, overlap.rows)
    columns, column_of = _by_name(overlap.b, overlap.columns)
    value = np.zeros((len(rows), len(columns)))
    value[row_of, column_of] = overlap.settled
    f1 = np.zeros_like(value)
    f1[row_of, column_of] = overlap.f1
    found = {}
    for i, j in np.transpose(linear_sum_assignment(value, maximize=True)).tolist():
        if not f1[i, j]:
            continue
        one, other = int(rows[i]), int(columns[j])
        rivals = _has_rival(f1[i], j, columns, overlap.b) or _has_rival(f1[:, j], i, rows, overlap.a)
        agreement = _measured(float(f1[i, j]), measure)
        found[one] = Match(other, agreement, bool(agreement < least or rivals))
    return dict(sorted(found.items()))


def _by_name(tree: Tree, nodes: Ints) -> tuple[Ints, Ints]:
    """The different ones of some nodes in the order of names, and each one's place: of equal sums of pairs the same is
    found however nodes are numbered."""
    ranks = name_ranks(tree)
    own, place = np.unique(ranks[nodes], return_inverse=True)
    return np.argsort(ranks)[own], place


def best_matches(overlap: Overlap, least: float = LEAST) -> dict[int, Match]:
    """The best counterpart of each node that has documents, whether or not another node has the same."""
    order = np.lexsort((-overlap.settled, overlap.rows))
    first = order[np.unique(overlap.rows[order], return_index=True)[1]]
    f1 = overlap.f1[first]
    found = zip(overlap.rows[first].tolist(), overlap.columns[first].tolist(), f1.tolist(), strict=True)
    return {row: Match(column, agreement, agreement < least) for row, column, agreement in found}


def _has_rival(f1: Floats, chosen: int, nodes: Ints, tree: Tree) -> bool:
    """Whether a node that is neither above nor below the chosen one agrees nearly as well."""
    near = np.flatnonzero(f1 >= max(f1[chosen] - CLOSE, np.finfo(float).tiny))
    kin = {*tree.path(int(nodes[chosen])), *tree.descendants(int(nodes[chosen]))}
    return any(int(node) not in kin for node in nodes[near])


def _measured(f1: float, measure: str) -> float:
    return f1 if measure == "f1" else f1 / (2 - f1)


def _squares(shares: Csr, up: Csr) -> Floats:
    """Σ over documents of the squared share of each node."""
    return (up.T @ _product(shares, shares) @ up).diagonal()


def _product(a: Csr, b: Csr) -> Csr:
    """aᵀ b, in blocks of dense rows where there is little to skip."""
    if max(side.nnz / (side.shape[0] * side.shape[1]) for side in (a, b)) < DENSE:
        return csr_array(a.T.astype(np.float64) @ b)
    total = np.zeros((a.shape[1], b.shape[1]))
    for start in range(0, a.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        one, other = (side[rows].toarray().astype(np.float64) for side in (a, b))  # of one type: BLAS takes no others
        total += one.T @ other
    return csr_array(total)
