"""The parameters of a growing tree, in the form that all models share, and what splitting and joining does to them.

Whatever the model, a tree of topics has words at its nodes, weights of the nodes on the path of each class, and a share
of each document in each class. Splitting a class hands its share on to two; joining takes it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Array, Move
from topiarist.hierarchy import edits
from topiarist.hierarchy.growth.stored_rows import Change, StoredRows
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeTopics
from topiarist.hierarchy.words import node_words
from topiarist.models.engine import tables

CERTAIN = 0.9  # how sure a document is of its half when a class is split


@dataclass(frozen=True)
class Parts(TreeTopics):
    """A tree with the documents that it grows from, which say how frequent its classes are; these are leaves."""

    class_given_doc: Any  # (n_docs, n_classes); it and ``word_given_node`` may be tables of a device
    each: float = 1.0  # documents that each row stands for: more than itself where rows are a sample
    stored: StoredRows | None = None  # the rows of all documents, where they are files and rows are kept

    def sizes(self) -> Array:
        """The expected number of documents of each class."""
        return tables.column_totals(self.class_given_doc) * self.each

    @property
    def class_prior(self) -> Array:
        """P(class) by the documents."""
        sizes = self.sizes()
        prior: Array = sizes / sizes.sum()
        return prior

    def handed_on(self, change: Change) -> StoredRows | None:
        """The rows of all documents after a change of classes, where they are files."""
        return None if self.stored is None else self.stored.changed(change)

    def moved(self, move: Move) -> Parts:
        """The same with its large tables moved: to a device, or home."""
        return replace(self, word_given_node=move(self.word_given_node), class_given_doc=move(self.class_given_doc))


@dataclass(frozen=True)
class Split:
    """A class and the two halves it may part into: documents of each, or None where chance decides."""

    index: int
    halves: tuple[Array, Array] | None = None


def seedling(words: Array, n_docs: int, each: float = 1.0) -> Parts:
    """One node that is root, leaf and class at once."""
    one = np.ones((1, 1))
    return Parts(Tree.single(), (0,), np.ascontiguousarray(words[None]), one, np.ones((n_docs, 1), words.dtype), each)


def divide(parts: Parts, splits: Sequence[Split], child_words: Any) -> Parts:
    """Each split class becomes an inner node with two leaves: the first keeps the class's place, the second is last.

    ``child_words`` (2 × splits, n_words) belong to the halves in turn. Half of the weight that the class gave to its
    own node goes on to the new leaf; documents are nearly sure of their half, and of neither where they have none.
    """
    nodes = list(parts.class_nodes)
    tree = edits.split_each(parts.tree, [nodes[split.index] for split in splits]).tree
    mix = np.pad(parts.node_given_class, ((0, len(splits)), (0, 2 * len(splits))))
    for number, split in enumerate(splits):
        parent, leaf, last = nodes[split.index], len(parts.tree) + 2 * number, parts.n_classes + number
        mix[split.index, parent] /= 2
        mix[last] = mix[split.index]
        mix[split.index, leaf] = mix[last, leaf + 1] = mix[split.index, parent]
        nodes[split.index] = leaf
        nodes.append(leaf + 1)
    shares = tables.halved(parts.class_given_doc, [(split.index, split.halves) for split in splits], CERTAIN)
    # documents in files of which no half is known: as much in one as in the other, and EM decides
    stored = parts.handed_on(lambda known: tables.halved(known, [(split.index, None) for split in splits], CERTAIN))
    words = tables.stacked(parts.word_given_node, child_words)
    return Parts(tree, tuple(nodes), words, mix, shares, parts.each, stored)


def join(parts: Parts, pairs: Sequence[tuple[int, int]]) -> Parts:
    """Undo splits: two classes that are the only children of a node become that node again."""
    if not pairs:
        return parts
    mix, spoken = parts.node_given_class.copy(), dict[int, Array]()
    nodes, gone, sizes = list(parts.class_nodes), dict[int, int](), parts.sizes()
    for first, second in pairs:
        parent = parts.tree.parents[nodes[first]]
        both = [parent, nodes[first], nodes[second]]
        weight = sizes[[first, second]] + 1e-12
        row = (weight / weight.sum()) @ mix[[first, second]]
        own = tables.at_home(tables.rows(parts.word_given_node, both))
        spoken[parent] = (row[both] / max(row[both].sum(), 1e-300)) @ own
        row[parent] = row[both].sum()
        row[both[1:]] = 0
        mix[first] = row
        nodes[first] = parent
        gone[second] = first
    kept = [index for index in range(parts.n_classes) if index not in gone]
    others = {first: second for second, first in gone.items()}
    groups = [[c, others[c]] if c in others else [c] for c in kept]
    shares = tables.joined(parts.class_given_doc, groups)
    edit = edits.cut(parts.tree, [nodes[first] for first, _ in pairs])
    places = {old: new for new, old in enumerate(edit.origin)}
    origin, last = list(edit.origin), len(parts.tree)
    own_row = {parent: last + number for number, parent in enumerate(spoken)}
    words = tables.stacked(parts.word_given_node, np.stack(list(spoken.values())))
    words = tables.rows(words, [own_row.get(node, node) for node in origin])
    class_nodes, mix = tuple(places[nodes[index]] for index in kept), mix[np.ix_(kept, origin)]
    stored = parts.handed_on(lambda known: tables.joined(known, groups))
    return Parts(edit.tree, class_nodes, words, mix, shares, parts.each, stored)


def collapse_negligible(parts: Parts, least: float) -> Parts:
    """Remove inner nodes that explain less than ``least`` of the words of the classes below them.

    Their weight goes to the other nodes on the path in proportion. So branching follows the data: three kinds of
    documents that part one after the other come to hang from one node.
    """
    below = parts.path_mask * parts.sizes()[:, None]
    share = (below * parts.node_given_class).sum(axis=0) / np.maximum(below.sum(axis=0), 1e-300)
    inner = [v for v in range(len(parts.tree)) if v != parts.tree.root and not parts.tree.is_leaf(v)]
    edit = edits.collapse(parts.tree, [node for node in inner if share[node] < least])
    return _renumbered(parts, edit)


def collapse_upside_down(parts: Parts, collection: Array, n_words: int = 20) -> Parts:
    """Remove inner nodes whose telling words are rarer in the collection than those of a child: no abstractions."""
    while True:
        tree = parts.tree
        telling = node_words(tree, tables.at_home(parts.word_given_node), n_words)
        common = [float(collection[words].mean()) if len(words) else 0.0 for words in telling]
        inner = [v for v in range(len(tree)) if v != tree.root and not tree.is_leaf(v)]
        wrong = [v for v in inner if max(common[child] for child in tree.children(v)) > common[v]]
        if not wrong:
            return parts
        parts = _renumbered(parts, edits.collapse(tree, wrong))


def without_empty(parts: Parts, least: float) -> Parts:
    """Leaves of fewer expected documents are removed, and inner nodes that are then left with one child."""
    sizes = parts.sizes()
    kept = [c for c in range(parts.n_classes) if sizes[c] >= least] or [int(sizes.argmax())]
    if len(kept) == parts.n_classes:
        return parts
    edit = edits.prune(parts.tree, [parts.class_nodes[c] for c in kept], single_children=False)
    fewer = replace(
        parts,
        class_nodes=tuple(parts.class_nodes[c] for c in kept),
        node_given_class=parts.node_given_class[kept],
        class_given_doc=tables.joined(parts.class_given_doc, [[c] for c in kept], normalised=True),
        stored=parts.handed_on(lambda known: known[:, kept]),
    )
    return _renumbered(fewer, edit)


def in_tree_order(parts: Parts) -> Parts:
    """Nodes from the root down, the largest of siblings first; classes in the order of leaves, and plain names."""
    sizes = parts.sizes() @ parts.path_mask
    order, waiting = [], [parts.tree.root]
    while waiting:
        order.append(waiting.pop())
        waiting += sorted(parts.tree.children(order[-1]), key=lambda node: (sizes[node], -node))
    places = {old: new for new, old in enumerate(order)}
    tree = Tree(tuple(places.get(parts.tree.parents[old], -1) for old in order))
    edit = edits.Edit(tree, tuple(order))
    parts = _renumbered(parts, edit)
    classes = [parts.class_nodes.index(leaf) for leaf in tree.leaves]
    return replace(
        parts,
        class_nodes=tree.leaves,
        node_given_class=parts.node_given_class[classes],
        class_given_doc=tables.joined(parts.class_given_doc, [[c] for c in classes]),
        stored=parts.handed_on(lambda known: known[:, classes]),
    )


def _renumbered(parts: Parts, edit: edits.Edit) -> Parts:
    """Parameters that follow the nodes that are kept; weights on a path sum to one again."""
    origin = list(edit.origin)
    places = {old: new for new, old in enumerate(origin)}
    mix = parts.node_given_class[:, origin]
    total = mix.sum(axis=1, keepdims=True)
    tree_nodes = tuple(places[node] for node in parts.class_nodes)
    even = edit.tree.path_mask(tree_nodes)
    mix = np.where(total > 0, mix / np.where(total > 0, total, 1), even / even.sum(axis=1, keepdims=True))
    words = tables.rows(parts.word_given_node, origin)
    return Parts(edit.tree, tree_nodes, words, mix, parts.class_given_doc, parts.each, parts.stored)
