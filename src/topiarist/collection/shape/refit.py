"""The fit of an edited tree: start values of the documents, blocks of counts, pinned documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Ints
from topiarist.collection.grow.block_growth import BlockGrowth
from topiarist.collection.shape.tree_state import TreeState
from topiarist.estimators.tree.preparation import compute_document_vectors
from topiarist.execution import BlockStore
from topiarist.trees.growth.start import distribute_documents
from topiarist.trees.tree import Tree

MIN_SHARE = 1e-3  # of a document in a class
SEED = 0
MIN_MERGED_SHARE = 0.5  # share of a document that pins it to a merged topic


class Start(NamedTuple):
    """Classes of the edited tree by node, with the initial shares of documents."""

    class_nodes: tuple[int, ...]
    shares: Csr  # documents × classes
    pins: Array  # class of each pinned document, −1 without a pin


def compute_start(
    shape: TreeState, model_nodes: Sequence[int], shares: Csr, counts: Csr, rows: Mapping[str, int]
) -> Start:
    """Return the start of a fit of the edited tree.

    ``model_nodes`` has the node of each class in the tree of the model, ``shares`` the shares of documents in these
    classes, ``rows`` the row of each document by id. Each leaf is a class. An inner topic is a class if it has its own
    or pinned documents. Documents of a topic that users merged are pinned to it.
    """
    tree = shape.tree
    new_leaves = _find_new_leaves(shape)
    class_nodes = {
        node for node, old in zip(shape.class_nodes, model_nodes, strict=True) if shape.node_topics[old] >= 0
    }
    class_nodes = {node for node in class_nodes if not new_leaves.intersection(tree.leaves_under(node))}
    inner = class_nodes | {shape.node(topic) for topic in shape.pins.values()}
    nodes = (*tree.leaves, *sorted(node for node in inner if not tree.is_leaf(node)))
    columns = {node: column for column, node in enumerate(nodes)}
    has_topic = [shape.node_topics[old] >= 0 for old in model_nodes]
    new_shares = _ShareTransfer(shape, columns, csr_array(shares), counts).shares(has_topic)
    pins = _pin_merged(
        new_shares, [columns[shape.node(topic)] for topic in shape.merged_topics if shape.node(topic) in columns]
    )
    for document, topic in shape.pins.items():
        if document in rows:
            pins[rows[document]] = columns[shape.node(topic)]
    return Start(nodes, new_shares, pins)


def _pin_merged(shares: Csr, columns: Sequence[int]) -> Array:
    """Return the class of documents with most of their share in one of the columns, −1 for the rest."""
    rows = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    is_merged = (shares.data > MIN_MERGED_SHARE) & np.isin(shares.indices, columns)
    pins = np.full(shares.shape[0], -1, np.int64)
    pins[rows[is_merged]] = shares.indices[is_merged]
    return pins


def _find_new_leaves(shape: TreeState) -> set[int]:
    """Return leaves without a node in the model that wait for their share of a split topic."""
    known_topics = set(shape.node_topics) | shape.added_topics
    return {node for node in shape.tree.leaves if shape.topics[node] not in known_topics}


class _ShareTransfer:
    """Transfer of shares from the classes of the model to the classes of the edited tree."""

    def __init__(self, shape: TreeState, columns: Mapping[int, int], shares: Csr, counts: Csr) -> None:
        self.shape, self.columns, self.counts = shape, columns, counts
        self.by_class = shares.tocsc()
        self.n_docs = shares.shape[0]
        self.fresh = _find_new_leaves(shape)
        self.entries: list[tuple[Array, Array, Array]] = []  # documents, columns, shares

    def shares(self, has_topic: Sequence[bool]) -> Csr:
        """Return all shares in the new classes; ``has_topic`` is false for a class whose topic was removed."""
        without_topic = []
        for number, node in enumerate(self.shape.class_nodes):
            new_leaves = self.fresh.intersection(self.shape.tree.leaves_under(node))
            if self.shape.tree.is_leaf(node) or (has_topic[number] and not new_leaves):
                documents, values = self._read_class(number)
                self._add(documents, node, values)
            else:
                without_topic.append((number, node))
        leaf_shares = self._sum_entries()
        for number, node in without_topic:
            leaves = self.shape.tree.leaves_under(node)
            if self.fresh.intersection(leaves) and has_topic[number]:
                self._divide_split_topic(number, node)
            else:
                self._spread_removed_topic(number, leaves, leaf_shares)
        return self._sum_entries()

    def _read_class(self, number: int) -> tuple[Array, Array]:
        entries = slice(*self.by_class.indptr[number : number + 2])
        return self.by_class.indices[entries], self.by_class.data[entries]

    def _add(self, documents: Array, leaf: int, values: Array) -> None:
        self.entries.append((documents, np.full(len(documents), self.columns[leaf]), values))

    def _sum_entries(self) -> Csr:
        """Return the collected shares as a matrix; repeated entries are added."""
        shape = (self.n_docs, len(self.columns))
        if not self.entries:
            return csr_array(shape, dtype=np.float64)
        documents, columns, values = (np.concatenate(parts) for parts in zip(*self.entries, strict=True))
        shares = csr_array((values, (documents, columns)), shape=shape)
        shares.sum_duplicates()
        return shares

    def _divide_split_topic(self, number: int, node: int) -> None:
        """Cluster the documents of a split topic and add their shares to its new subtopics."""
        documents, values = self._read_class(number)
        documents, values = documents[values >= MIN_SHARE], values[values >= MIN_SHARE]
        subtree, nodes = _cut_subtree(self.shape.tree, node, self.fresh)
        vectors = compute_document_vectors(csr_array(self.counts[documents]), SEED)
        under = distribute_documents(subtree, vectors, np.random.default_rng(SEED))
        for leaf in subtree.leaves:
            self._add(documents[under[leaf]], nodes[leaf], values[under[leaf]])

    def _spread_removed_topic(self, number: int, leaves: tuple[int, ...], shares: Csr) -> None:
        """Add the shares of a removed topic to ``leaves``, in proportion to the other shares of each document."""
        documents, values = self._read_class(number)
        places = [self.columns[leaf] for leaf in leaves]
        leaf_shares = shares[documents][:, places].toarray() if len(documents) else np.zeros((0, len(places)))
        total = leaf_shares.sum(axis=1, keepdims=True)
        weights = np.where(total > MIN_SHARE, leaf_shares / np.where(total > 0, total, 1), 1 / len(places))
        for leaf, weight in zip(leaves, weights.T, strict=True):
            self._add(documents, leaf, values * weight)


def _cut_subtree(tree: Tree, node: int, leaves: set[int]) -> tuple[Tree, list[int]]:
    """Return the subtree from a node to some leaves, and the original node of each of its nodes."""
    nodes_kept = {step for leaf in tree.leaves_under(node) if leaf in leaves for step in tree.path(leaf)}
    nodes = [node, *(lower_node for lower_node in tree.descendants(node) if lower_node in nodes_kept)]
    number = {old: new for new, old in enumerate(nodes)}
    return Tree((-1, *(number[tree.parents[lower_node]] for lower_node in nodes[1:]))), nodes


MAX_IN_MEMORY = 1 << 18  # documents


@contextmanager
def refit_counts(counts: Csr, rows: Ints | None, folder: Path) -> Iterator[Csr | BlockStore]:
    """Yield the counts of these rows (None: all rows), in temporary files in ``folder`` above ``MAX_IN_MEMORY``."""
    if (counts.shape[0] if rows is None else len(rows)) <= MAX_IN_MEMORY:
        yield counts if rows is None else counts[rows]
        return
    with BlockGrowth(folder=folder).blocks(counts, rows) as blocks:
        yield blocks
