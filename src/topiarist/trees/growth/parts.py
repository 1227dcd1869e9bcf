"""Parameters of a growing tree, in the form that all models share, and their changes by splits and joins.

Every model has words at nodes, weights of the nodes on the path of each class, and a share of each document in each
class. Splitting a class divides its shares; joining adds them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import TINY, Array, Move
from topiarist.models.engine import tables
from topiarist.trees import edits
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeTopics
from topiarist.trees.words import select_node_words

HALF_CERTAINTY = 0.9  # share of a document in its half when a class is split
Change = Callable[[Array], Array]  # maps shares (rows, old classes) to (rows, new classes)


@dataclass(frozen=True)
class StoredRows:
    """P(class | document) of all documents in files as EM left them, with the class changes since then.

    A model whose rows are parameters of their own (HPLSA) carries them from one tree to the next. Splits, joins and
    sorting change the rows of the sampled documents in memory. All other rows follow block by block, in one pass
    before they are needed again: every change only redistributes a document's shares among classes.
    """

    files: tuple[Any, ...]  # of each block: a handle, or an array from a checkpoint
    class_changes: Array  # (old classes, new classes): fraction of each share that moves

    @classmethod
    def without_changes(cls, files: tuple[Any, ...], n_classes: int) -> StoredRows:
        """Return stored rows without pending class changes."""
        return cls(files, np.eye(n_classes))


@dataclass(frozen=True)
class GrowthState(TreeTopics):
    """A tree whose classes are leaves, with the shares of the documents that it grows from."""

    class_given_doc: Any  # (n_docs, n_classes); this and ``word_given_node`` may be on a device
    documents_per_row: float = 1.0  # above 1 if rows are a sample
    stored: StoredRows | None = None  # rows of all documents, if they are in files

    def sizes(self) -> Array:
        """Return the expected number of documents of each class."""
        return tables.column_totals(self.class_given_doc) * self.documents_per_row

    @property
    def class_prior(self) -> Array:
        """P(class), estimated from the documents."""
        sizes = self.sizes()
        prior: Array = sizes / sizes.sum()
        return prior

    def reassign_classes(self, change: Change) -> StoredRows | None:
        """Return the stored rows of all documents after a change of classes; None if documents are in memory."""
        if self.stored is None:
            return None
        return replace(self.stored, class_changes=change(self.stored.class_changes))

    def move_arrays(self, move: Move) -> GrowthState:
        """Return the state with its large tables moved to a device or to the host."""
        return replace(self, word_given_node=move(self.word_given_node), class_given_doc=move(self.class_given_doc))


@dataclass(frozen=True)
class Split:
    """A class and the documents of the two halves it may split into; None for random halves."""

    index: int
    halves: tuple[Array, Array] | None = None


def create_single_node(words: Array, n_docs: int, documents_per_row: float = 1.0) -> GrowthState:
    """Return one node that is root, leaf and class."""
    weight = np.ones((1, 1))
    return GrowthState(
        Tree.single(),
        (0,),
        np.ascontiguousarray(words[None]),
        weight,
        np.ones((n_docs, 1), words.dtype),
        documents_per_row,
    )


def divide(parts: GrowthState, splits: Sequence[Split], child_words: Any) -> GrowthState:
    """Make each split class an inner node with two leaves: the first keeps the index of the class, the second comes
    last.

    ``child_words`` (2 × splits, n_words) are the words of the halves in turn. Half of the weight that the class gave
    to its own node goes to the new leaf. Documents get a share of 0.9 in their half, and equal shares if they are in
    neither.
    """
    nodes = list(parts.class_nodes)
    tree = edits.split_leaves(parts.tree, [nodes[split.index] for split in splits]).tree
    mix = np.pad(parts.node_given_class, ((0, len(splits)), (0, 2 * len(splits))))
    for number, split in enumerate(splits):
        parent, leaf, last = nodes[split.index], len(parts.tree) + 2 * number, parts.n_classes + number
        mix[split.index, parent] /= 2
        mix[last] = mix[split.index]
        mix[split.index, leaf] = mix[last, leaf + 1] = mix[split.index, parent]
        nodes[split.index] = leaf
        nodes.append(leaf + 1)
    shares = tables.split_columns(
        parts.class_given_doc, [(split.index, split.halves) for split in splits], HALF_CERTAINTY
    )
    # documents in files have no known half: they get equal shares, and EM decides
    stored = parts.reassign_classes(
        lambda known: tables.split_columns(known, [(split.index, None) for split in splits], HALF_CERTAINTY)
    )
    words = tables.append_rows(parts.word_given_node, child_words)
    return GrowthState(tree, tuple(nodes), words, mix, shares, parts.documents_per_row, stored)


def join(parts: GrowthState, pairs: Sequence[tuple[int, int]]) -> GrowthState:
    """Undo splits: two classes that are the only children of a node become that node again."""
    if not pairs:
        return parts
    mix, joined_words = parts.node_given_class.copy(), dict[int, Array]()
    nodes, partner_of, sizes = list(parts.class_nodes), dict[int, int](), parts.sizes()
    for first, second in pairs:
        parent = parts.tree.parents[nodes[first]]
        nodes_of_split = [parent, nodes[first], nodes[second]]
        weight = sizes[[first, second]] + 1e-12
        row = (weight / weight.sum()) @ mix[[first, second]]
        node_words = tables.to_numpy(tables.take_rows(parts.word_given_node, nodes_of_split))
        joined_words[parent] = (row[nodes_of_split] / max(row[nodes_of_split].sum(), TINY)) @ node_words
        row[parent] = row[nodes_of_split].sum()
        row[nodes_of_split[1:]] = 0
        mix[first] = row
        nodes[first] = parent
        partner_of[second] = first
    kept_classes = [index for index in range(parts.n_classes) if index not in partner_of]
    others = {first: second for second, first in partner_of.items()}
    groups = [[c, others[c]] if c in others else [c] for c in kept_classes]
    shares = tables.sum_columns(parts.class_given_doc, groups)
    edit = edits.cut(parts.tree, [nodes[first] for first, _ in pairs])
    places = {old: new for new, old in enumerate(edit.origin)}
    origin, last = list(edit.origin), len(parts.tree)
    own_row = {parent: last + number for number, parent in enumerate(joined_words)}
    words = tables.append_rows(parts.word_given_node, np.stack(list(joined_words.values())))
    words = tables.take_rows(words, [own_row.get(node, node) for node in origin])
    class_nodes, mix = tuple(places[nodes[index]] for index in kept_classes), mix[np.ix_(kept_classes, origin)]
    stored = parts.reassign_classes(lambda rows: tables.sum_columns(rows, groups))
    return GrowthState(edit.tree, class_nodes, words, mix, shares, parts.documents_per_row, stored)


def collapse_negligible(parts: GrowthState, min_share: float) -> GrowthState:
    """Remove inner nodes that explain less than ``min_share`` of the words of the classes below them.

    Their weight goes to the other nodes on the path in proportion. So branching follows the data: three groups of
    documents that separate one after the other become children of one node.
    """
    path_documents = parts.path_mask * parts.sizes()[:, None]
    share = (path_documents * parts.node_given_class).sum(axis=0) / np.maximum(path_documents.sum(axis=0), TINY)
    inner = [v for v in range(len(parts.tree)) if v != parts.tree.root and not parts.tree.is_leaf(v)]
    edit = edits.collapse(parts.tree, [node for node in inner if share[node] < min_share])
    return _renumber(parts, edit)


def collapse_upside_down(parts: GrowthState, collection: Array, n_words: int = 20) -> GrowthState:
    """Remove inner nodes whose characteristic words are rarer in the collection than the words of a child."""
    while True:
        tree = parts.tree
        node_words = select_node_words(tree, tables.to_numpy(parts.word_given_node), n_words)
        common = [float(collection[words].mean()) if len(words) else 0.0 for words in node_words]
        inner = [v for v in range(len(tree)) if v != tree.root and not tree.is_leaf(v)]
        wrong = [v for v in inner if max(common[child] for child in tree.children(v)) > common[v]]
        if not wrong:
            return parts
        parts = _renumber(parts, edits.collapse(tree, wrong))


def remove_empty_leaves(parts: GrowthState, min_documents: float) -> GrowthState:
    """Remove leaves of fewer expected documents, and inner nodes with one remaining child."""
    sizes = parts.sizes()
    kept_classes = [c for c in range(parts.n_classes) if sizes[c] >= min_documents] or [int(sizes.argmax())]
    if len(kept_classes) == parts.n_classes:
        return parts
    edit = edits.prune(parts.tree, [parts.class_nodes[c] for c in kept_classes], single_children=False)
    reduced = replace(
        parts,
        class_nodes=tuple(parts.class_nodes[c] for c in kept_classes),
        node_given_class=parts.node_given_class[kept_classes],
        class_given_doc=tables.sum_columns(parts.class_given_doc, [[c] for c in kept_classes], normalise=True),
        stored=parts.reassign_classes(lambda rows: rows[:, kept_classes]),
    )
    return _renumber(reduced, edit)


def sort_by_tree(parts: GrowthState) -> GrowthState:
    """Sort nodes from the root down, the largest sibling first; sort classes as leaves, with default names."""
    sizes = parts.sizes() @ parts.path_mask
    order = parts.tree.in_order(lambda node: (-sizes[node], node))
    places = {old: new for new, old in enumerate(order)}
    tree = Tree(tuple(places.get(parts.tree.parents[old], -1) for old in order))
    parts = _renumber(parts, edits.Edit(tree, order))
    classes = [parts.class_nodes.index(leaf) for leaf in tree.leaves]
    return replace(
        parts,
        class_nodes=tree.leaves,
        node_given_class=parts.node_given_class[classes],
        class_given_doc=tables.sum_columns(parts.class_given_doc, [[c] for c in classes]),
        stored=parts.reassign_classes(lambda rows: rows[:, classes]),
    )


def _renumber(parts: GrowthState, edit: edits.Edit) -> GrowthState:
    """Return the parameters of the remaining nodes; the weights on each path sum to one again."""
    origin = list(edit.origin)
    places = {old: new for new, old in enumerate(origin)}
    mix = parts.node_given_class[:, origin]
    total = mix.sum(axis=1, keepdims=True)
    tree_nodes = tuple(places[node] for node in parts.class_nodes)
    even = edit.tree.path_mask(tree_nodes)
    mix = np.where(total > 0, mix / np.where(total > 0, total, 1), even / even.sum(axis=1, keepdims=True))
    words = tables.take_rows(parts.word_given_node, origin)
    return GrowthState(edit.tree, tree_nodes, words, mix, parts.class_given_doc, parts.documents_per_row, parts.stored)
