"""Documents assigned to the nodes of a tree, as comparison, evaluation and export need them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Array, Bools, Csr, Floats, Integers, Ints, Matrix
from topiarist.counts.scratch import release_pages, split_entries
from topiarist.counts.validation import sum_columns
from topiarist.errors import InputError
from topiarist.trees.tree import Tree

ROW_TOLERANCE = 1e-3  # rounding error of the sum of float32 shares of many classes
MIN_CERTAINTY = 0.5  # a document is unassigned if its largest share is not larger


@dataclass(frozen=True, eq=False)
class DocumentAssignments:
    """Tree, and the share of each document in each of its classes.

    ``class_nodes`` are the nodes of the classes, usually the leaves. ``shares`` is documents × classes; rows sum to
    one, or less if small shares were omitted. ``ids`` name the documents, ``words`` describe the nodes, or are empty.
    """

    tree: Tree
    class_nodes: tuple[int, ...]
    shares: Csr
    ids: Sequence[str]
    words: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        nodes = tuple(self.tree.check_node(node) for node in self.class_nodes)
        object.__setattr__(self, "class_nodes", nodes)
        object.__setattr__(self, "shares", _check_shares(self.shares, len(nodes)))
        object.__setattr__(self, "words", tuple(map(tuple, self.words)))
        if len(set(nodes)) < len(nodes):
            repeated_node, times = Counter(nodes).most_common(1)[0]
            raise InputError(f"expected a different node for each class, got node {repeated_node} {times} times")
        if isinstance(self.ids, str) or len(self.ids) != self.n_docs:
            raise InputError(f"expected {self.n_docs} ids, one per row of the shares, got {len(self.ids)}")
        if len(set(self.ids)) < self.n_docs:
            repeated_id, times = Counter(self.ids).most_common(1)[0]
            raise InputError(f"expected a different id for each document, got {repeated_id!r} {times} times")
        if self.words and len(self.words) != len(self.tree):
            raise InputError(f"expected words for each of {len(self.tree)} nodes, or none, got {len(self.words)}")

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.shares.shape[0])

    @cached_property
    def largest(self) -> Floats:
        """Largest share of each document; 0 for a document without shares."""
        return find_largest_shares(self.shares)

    @cached_property
    def assigned_nodes(self) -> Ints:
        """Node of each document's largest share, ties by name; the root without shares."""
        nodes = np.full(self.n_docs, self.tree.root, np.int64)
        filled, starts = _find_filled_rows(self.shares)
        if len(filled):
            ranks, shares = rank_by_name(self.tree), self.shares
            best = np.repeat(self.largest, np.diff(shares.indptr)) == shares.data
            rank = np.where(best, ranks[list(self.class_nodes)][shares.indices], len(ranks))
            first = np.minimum.reduceat(rank, starts)
            has_share = self.largest[filled] > 0
            nodes[filled[has_share]] = np.argsort(ranks)[first[has_share]]
        return nodes

    @cached_property
    def expected(self) -> Floats:
        """Expected number of documents at or below each node; the root gets what a row lacks to one."""
        at_class = sum_columns(self.shares)
        at_node = np.zeros(len(self.tree))
        at_node[list(self.class_nodes)] = at_class
        at_node[self.tree.root] += max(0.0, self.n_docs - at_class.sum())
        result: Floats = sum_over_subtrees(self.tree, at_node)
        return result

    @cached_property
    def n_under(self) -> Ints:
        """Number of documents assigned to each node or below it."""
        result: Ints = sum_over_subtrees(self.tree, np.bincount(self.assigned_nodes, minlength=len(self.tree)))
        return result

    def rows(self, numbers: Integers) -> DocumentAssignments:
        """Return some of the documents, in the given order."""
        row_numbers = np.asarray(numbers, np.int64)
        return replace(self, shares=self.shares[row_numbers], ids=[self.ids[row] for row in row_numbers.tolist()])


def find_largest_shares(shares: Csr) -> Floats:
    """Return the largest share of each document; 0 for a document without shares."""
    result, ends = np.zeros(shares.shape[0], shares.dtype), shares.indptr
    for rows, entries in split_entries(ends):
        filled = np.flatnonzero(np.diff(ends[rows.start : rows.stop + 1]))
        if len(filled):
            result[rows.start + filled] = np.maximum.reduceat(shares.data[entries], ends[rows][filled] - entries.start)
        release_pages(shares.data)
    return result


def find_unassigned(shares: Csr, min_certainty: float = MIN_CERTAINTY) -> Bools:
    """Return the mask of unassigned documents, without a class share above ``min_certainty``."""
    return find_largest_shares(shares) <= min_certainty


def _find_filled_rows(shares: Csr) -> tuple[Ints, Ints]:
    filled = np.flatnonzero(np.diff(shares.indptr)).astype(np.int64)
    return filled, shares.indptr[filled].astype(np.int64)


def sum_over_subtrees(tree: Tree, values: Csr | Array) -> Any:
    """Return the values of nodes summed over their subtrees."""
    total = np.array(values)
    for node in reversed(tree.depth_first()[1:]):
        total[tree.parents[node]] += total[node]
    return total


def make_ancestor_matrix(tree: Tree) -> Csr:
    """Return nodes × nodes with a one for the node itself and each node above it."""
    paths = [tree.path(node) for node in range(len(tree))]
    columns = np.fromiter((step for path in paths for step in path), np.int64)
    starts = np.cumsum([0, *map(len, paths)])
    return csr_array((np.ones(len(columns)), columns, starts), shape=(len(tree), len(tree)))


def rank_by_name(tree: Tree) -> Ints:
    """Return the rank of each node when the tree is read from the root down, siblings by their names.

    Ranks do not depend on the numbers of nodes: ties between nodes must not depend on numbers that the next fit
    changes.
    """
    ranks = np.empty(len(tree), np.int64)
    ranks[list(tree.in_order(tree.names.__getitem__))] = np.arange(len(tree))
    return ranks


def _check_shares(shares: Matrix, n_classes: int) -> Csr:
    """Return shares as CSR without repeated entries; check numbers from 0 to 1 and rows of at most one."""
    try:
        array: Any = shares if issparse(shares) else np.asarray(shares)
        result: Csr = csr_array(array)
        if result.dtype.kind != "f":
            result = result.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected shares, documents × classes: {error}") from error
    if result.ndim != 2 or result.shape[1] != n_classes:
        raise InputError(
            f"expected shares of {n_classes} classes, got an array of shape {result.shape}",
            hint="Pass a column for each of class_nodes.",
        )
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    if not np.isfinite(result.data).all() or (result.data < 0).any():
        raise InputError(
            "expected shares that are 0 or more, got negative or missing ones", hint="Pass the result of transform."
        )
    total = np.asarray(result.sum(axis=1, dtype=np.float64)).ravel()
    if (total > 1 + ROW_TOLERANCE).any():
        row = int(total.argmax())
        raise InputError(
            f"expected the shares of a document to sum to one at most, got {total[row]:g} in row {row}",
            hint="Divide each row by its sum.",
        )
    return result
