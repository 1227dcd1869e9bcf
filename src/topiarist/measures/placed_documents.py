"""Documents in a tree: what comparing, judging and exporting need to know of a collection, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Array, Bools, Csr, Floats, Integers, Ints, Matrix
from topiarist.counts.room import entry_runs, let_go
from topiarist.counts.validation import column_totals
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree

ROW_TOLERANCE = 1e-3  # float32 shares of many classes add up no better
CERTAIN = 0.5  # a document whose largest share is no larger is hard to place


@dataclass(frozen=True, eq=False)
class Placed:
    """A tree, and how much of each document belongs to each of its classes.

    ``class_nodes`` are the nodes of the classes, mostly the leaves. ``shares`` is documents × classes; rows sum to one,
    or to less where small shares were left out. ``ids`` name the documents, ``words`` describe the nodes, or are empty.
    """

    tree: Tree
    class_nodes: tuple[int, ...]
    shares: Csr
    ids: Sequence[str]
    words: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        nodes = tuple(self.tree.checked(node) for node in self.class_nodes)
        object.__setattr__(self, "class_nodes", nodes)
        object.__setattr__(self, "shares", _checked_shares(self.shares, len(nodes)))
        object.__setattr__(self, "words", tuple(map(tuple, self.words)))
        if len(set(nodes)) < len(nodes):
            twice, times = Counter(nodes).most_common(1)[0]
            raise InputError(f"expected a different node for each class, got node {twice} {times} times")
        if isinstance(self.ids, str) or len(self.ids) != self.n_docs:
            raise InputError(f"expected {self.n_docs} ids, one per row of the shares, got {len(self.ids)}")
        if len(set(self.ids)) < self.n_docs:
            again, times = Counter(self.ids).most_common(1)[0]
            raise InputError(f"expected a different id for each document, got {again!r} {times} times")
        if self.words and len(self.words) != len(self.tree):
            raise InputError(f"expected words for each of {len(self.tree)} nodes, or none, got {len(self.words)}")

    @property
    def n_docs(self) -> int:
        """How many documents there are."""
        return int(self.shares.shape[0])

    @cached_property
    def largest(self) -> Floats:
        """The largest share of each document; 0 where it has none."""
        return largest_shares(self.shares)

    @cached_property
    def homes(self) -> Ints:
        """The node of each document: that of its largest share, of equal ones the first by name; the root if none."""
        homes = np.full(self.n_docs, self.tree.root, np.int64)
        filled, starts = _filled(self.shares)
        if len(filled):
            ranks, shares = name_ranks(self.tree), self.shares
            best = np.repeat(self.largest, np.diff(shares.indptr)) == shares.data
            rank = np.where(best, ranks[list(self.class_nodes)][shares.indices], len(ranks))
            first = np.minimum.reduceat(rank, starts)
            sure = self.largest[filled] > 0
            homes[filled[sure]] = np.argsort(ranks)[first[sure]]
        return homes

    @cached_property
    def expected(self) -> Floats:
        """The expected number of documents at or below each node; what a row lacks to one is the root's."""
        at_class = column_totals(self.shares)
        at_node = np.zeros(len(self.tree))
        at_node[list(self.class_nodes)] = at_class
        at_node[self.tree.root] += max(0.0, self.n_docs - at_class.sum())
        found: Floats = summed_up(self.tree, at_node)
        return found

    @cached_property
    def n_under(self) -> Ints:
        """How many documents have their home at or below each node."""
        found: Ints = summed_up(self.tree, np.bincount(self.homes, minlength=len(self.tree)))
        return found

    def rows(self, numbers: Integers) -> Placed:
        """Some of the documents, in the wanted order."""
        chosen = np.asarray(numbers, np.int64)
        return replace(self, shares=self.shares[chosen], ids=[self.ids[row] for row in chosen.tolist()])


def largest_shares(shares: Csr) -> Floats:
    """The largest share of each document; 0 where it has none."""
    found, ends = np.zeros(shares.shape[0], shares.dtype), shares.indptr
    for rows, own in entry_runs(ends):
        filled = np.flatnonzero(np.diff(ends[rows.start : rows.stop + 1]))
        if len(filled):
            found[rows.start + filled] = np.maximum.reduceat(shares.data[own], ends[rows][filled] - own.start)
        let_go(shares.data)
    return found


def hard_to_place(shares: Csr, certain: float = CERTAIN) -> Bools:
    """Which documents are hard to place: of which no class has more than half, or so much of it."""
    return largest_shares(shares) <= certain


def _filled(shares: Csr) -> tuple[Ints, Ints]:
    """The rows that have entries, and where those begin."""
    filled = np.flatnonzero(np.diff(shares.indptr)).astype(np.int64)
    return filled, shares.indptr[filled].astype(np.int64)


def summed_up(tree: Tree, values: Csr | Array) -> Any:
    """Values of nodes, with those of all nodes below added."""
    total = np.array(values)
    for node in reversed(tree.depth_first()[1:]):
        total[tree.parents[node]] += total[node]
    return total


def upwards(tree: Tree) -> Csr:
    """Nodes × nodes: one for the node itself and each above it."""
    paths = [tree.path(node) for node in range(len(tree))]
    columns = np.fromiter((step for path in paths for step in path), np.int64)
    starts = np.cumsum([0, *map(len, paths)])
    return csr_array((np.ones(len(columns)), columns, starts), shape=(len(tree), len(tree)))


def name_ranks(tree: Tree) -> Ints:
    """The place of each node when the tree is read from the root down, siblings by their names.

    However the nodes are numbered, a tree of the same names has the same places: what settles ties between nodes must
    not depend on numbers that the next fit gives anew.
    """
    ranks = np.empty(len(tree), np.int64)
    ranks[list(tree.in_order(tree.names.__getitem__))] = np.arange(len(tree))
    return ranks


def _checked_shares(shares: Matrix, n_classes: int) -> Csr:
    """Shares as CSR without repeated entries: numbers from 0 to 1, no row above one."""
    try:
        given: Any = shares if issparse(shares) else np.asarray(shares)
        found: Csr = csr_array(given)
        if found.dtype.kind != "f":
            found = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected shares, documents × classes, got something else: {error}") from error
    if found.ndim != 2 or found.shape[1] != n_classes:
        raise InputError(
            f"expected shares of {n_classes} classes, got an array of shape {found.shape}",
            hint="a column for each of class_nodes",
        )
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    if not np.isfinite(found.data).all() or (found.data < 0).any():
        raise InputError(
            "expected shares that are 0 or more, got negative or missing ones", hint="transform gives them"
        )
    total = np.asarray(found.sum(axis=1, dtype=np.float64)).ravel()
    if (total > 1 + ROW_TOLERANCE).any():
        row = int(total.argmax())
        raise InputError(
            f"expected the shares of a document to sum to one at most, got {total[row]:g} in row {row}",
            hint="divide each row by its sum",
        )
    return found
