"""Where documents begin when a shaped tree is fitted again: where they were, as far as their topics still exist.

A topic that was split parts its documents among the new subtopics by geometry, as a growing tree does. A topic that
other topics were moved under keeps its own documents beside them. Documents of a topic that is gone go to the subtopics
of its heir: to those in which they had a share already, else to all alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr
from topiarist.collection.shape.shape import Shape
from topiarist.estimators.tree.preparation import document_vectors
from topiarist.hierarchy.growth.start import dealt
from topiarist.hierarchy.tree import Tree

LEAST_SHARE = 1e-3
SEED = 0
MOSTLY = 0.5  # of a document in a topic that was merged: then it is said to belong there


class Start(NamedTuple):
    """The classes of the shaped tree, by node, and what documents bring into them."""

    class_nodes: tuple[int, ...]
    shares: Csr  # documents × classes
    pins: Array  # the class of each pinned document, −1 for the others


def start(shape: Shape, was: Sequence[int], shares: Csr, counts: Csr, rows: Mapping[str, int]) -> Start:
    """The start of a fit of the shaped tree.

    ``was`` has the node of each class of the model in the model's own tree, ``shares`` those of documents in these
    classes, ``rows`` the place of each document by its id. Every leaf is a class, and so is an inner topic that has
    documents of its own, or pinned ones. What lies in a topic that people merged stays there.
    """
    tree = shape.tree
    fresh = _fresh(shape)
    own = {node for node, old in zip(shape.class_nodes, was, strict=True) if shape.node_topics[old] >= 0}
    own = {node for node in own if not fresh.intersection(tree.leaves_under(node))}
    inner = own | {shape.node(topic) for topic in shape.pins.values()}
    nodes = (*tree.leaves, *sorted(node for node in inner if not tree.is_leaf(node)))
    columns = {node: column for column, node in enumerate(nodes)}
    at_home = [shape.node_topics[old] >= 0 for old in was]
    moved = _Moved(shape, columns, csr_array(shares), counts).shares(at_home)
    pins = _held(moved, [columns[shape.node(topic)] for topic in shape.held if shape.node(topic) in columns])
    for document, topic in shape.pins.items():
        if document in rows:
            pins[rows[document]] = columns[shape.node(topic)]
    return Start(nodes, moved, pins)


def _held(shares: Csr, columns: Sequence[int]) -> Array:
    """The class of documents that lie mostly in one of these, −1 for the others."""
    rows = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    mostly = (shares.data > MOSTLY) & np.isin(shares.indices, columns)
    pins = np.full(shares.shape[0], -1, np.int64)
    pins[rows[mostly]] = shares.indices[mostly]
    return pins


def _fresh(shape: Shape) -> set[int]:
    """Leaves that the model has never had, and that wait for their share of a topic that was split."""
    known = set(shape.node_topics) | shape.grafted
    return {node for node in shape.tree.leaves if shape.topics[node] not in known}


class _Moved:
    """Shares on their way from the classes of the model to those of the shaped tree."""

    def __init__(self, shape: Shape, columns: Mapping[int, int], shares: Csr, counts: Csr) -> None:
        self.shape, self.columns, self.counts = shape, columns, counts
        self.by_class = shares.tocsc()
        self.n_docs = shares.shape[0]
        self.fresh = _fresh(shape)
        self.entries: list[tuple[Array, Array, Array]] = []  # documents, columns, shares

    def shares(self, at_home: Sequence[bool]) -> Csr:
        """All shares in their new places; classes that are not at home have lost their topic."""
        homeless = []
        for number, node in enumerate(self.shape.class_nodes):
            fresh = self.fresh.intersection(self.shape.tree.leaves_under(node))
            if self.shape.tree.is_leaf(node) or (at_home[number] and not fresh):
                documents, values = self._of_class(number)
                self._add(documents, node, values)
            else:
                homeless.append((number, node))
        settled = self._together()
        for number, node in homeless:
            below = self.shape.tree.leaves_under(node)
            if self.fresh.intersection(below) and at_home[number]:
                self._part(number, node)
            else:
                self._spread(number, below, settled)
        return self._together()

    def _of_class(self, number: int) -> tuple[Array, Array]:
        here = slice(*self.by_class.indptr[number : number + 2])
        return self.by_class.indices[here], self.by_class.data[here]

    def _add(self, documents: Array, leaf: int, values: Array) -> None:
        self.entries.append((documents, np.full(len(documents), self.columns[leaf]), values))

    def _together(self) -> Csr:
        shape = (self.n_docs, len(self.columns))
        if not self.entries:
            return csr_array(shape, dtype=np.float64)
        documents, columns, values = (np.concatenate(parts) for parts in zip(*self.entries, strict=True))
        whole = csr_array((values, (documents, columns)), shape=shape)
        whole.sum_duplicates()
        return whole

    def _part(self, number: int, node: int) -> None:
        """The documents of a topic that was split, dealt out to its new subtopics."""
        documents, values = self._of_class(number)
        documents, values = documents[values >= LEAST_SHARE], values[values >= LEAST_SHARE]
        subtree, nodes = _below(self.shape.tree, node, self.fresh)
        vectors = document_vectors(csr_array(self.counts[documents]), SEED)
        under = dealt(subtree, vectors, np.random.default_rng(SEED))
        for leaf in subtree.leaves:
            self._add(documents[under[leaf]], nodes[leaf], values[under[leaf]])

    def _spread(self, number: int, leaves: tuple[int, ...], settled: Csr) -> None:
        """The documents of a topic that is gone, to topics below its heir."""
        documents, values = self._of_class(number)
        places = [self.columns[leaf] for leaf in leaves]
        known = settled[documents][:, places].toarray() if len(documents) else np.zeros((0, len(places)))
        total = known.sum(axis=1, keepdims=True)
        weights = np.where(total > LEAST_SHARE, known / np.where(total > 0, total, 1), 1 / len(places))
        for leaf, weight in zip(leaves, weights.T, strict=True):
            self._add(documents, leaf, values * weight)


def _below(tree: Tree, node: int, leaves: set[int]) -> tuple[Tree, list[int]]:
    """The part of a tree from a node down to some leaves, and which node of the whole each of its nodes is."""
    kept = {step for leaf in tree.leaves_under(node) if leaf in leaves for step in tree.path(leaf)}
    nodes = [node, *(below for below in tree.descendants(node) if below in kept)]
    number = {old: new for new, old in enumerate(nodes)}
    return Tree((-1, *(number[tree.parents[below]] for below in nodes[1:]))), nodes
