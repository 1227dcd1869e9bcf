"""The parameters of a growing tree, in the form that all models share, and what splitting and joining does to them.

Whatever the model, a tree of topics has words at its nodes, weights of the nodes on the path of each class, and a share
of each document in each class. Splitting a class hands its share on to two; joining takes it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy import edits
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeTopics
from topiarist.hierarchy.words import node_words

CERTAIN = 0.9  # how sure a document is of its half when a class is split


@dataclass(frozen=True)
class Parts(TreeTopics):
    """A tree with the documents that it grows from, which say how frequent its classes are; these are leaves."""

    class_given_doc: Array  # (n_docs, n_classes)
    each: float = 1.0  # documents that each row stands for: more than itself where rows are a sample

    def sizes(self) -> Array:
        """The expected number of documents of each class."""
        total: Array = self.class_given_doc.sum(axis=0, dtype=np.float64) * self.each
        return total

    @property
    def class_prior(self) -> Array:
        """P(class) by the documents."""
        sizes = self.sizes()
        prior: Array = sizes / sizes.sum()
        return prior


@dataclass(frozen=True)
class Split:
    """A class and the two halves it may part into: documents of each, or None where chance decides."""

    index: int
    halves: tuple[Array, Array] | None = None


def seedling(words: Array, n_docs: int, each: float = 1.0) -> Parts:
    """One node that is root, leaf and class at once."""
    one = np.ones((1, 1))
    return Parts(Tree.single(), (0,), np.ascontiguousarray(words[None]), one, np.ones((n_docs, 1), words.dtype), each)


def divide(parts: Parts, splits: Sequence[Split], child_words: Array, child_shares: Array) -> Parts:
    """Each split class becomes an inner node with two leaves: the first keeps the class's place, the second is last.

    ``child_words`` (2 × splits, n_words) and ``child_shares`` (n_docs, 2 × splits) belong to the halves in turn. Half
    of the weight that the class gave to its own node goes on to the new leaf.
    """
    tree, nodes = parts.tree, list(parts.class_nodes)
    mix = np.pad(parts.node_given_class, ((0, len(splits)), (0, 2 * len(splits))))
    shares = np.pad(parts.class_given_doc, ((0, 0), (0, len(splits))))
    for number, split in enumerate(splits):
        parent, leaf, last = nodes[split.index], len(tree), parts.n_classes + number
        tree = edits.split(tree, parent).tree
        mix[split.index, parent] /= 2
        mix[last] = mix[split.index]
        mix[split.index, leaf] = mix[last, leaf + 1] = mix[split.index, parent]
        shares[:, split.index] = child_shares[:, 2 * number]
        shares[:, last] = child_shares[:, 2 * number + 1]
        nodes[split.index] = leaf
        nodes.append(leaf + 1)
    words = np.concatenate([parts.word_given_node, child_words.astype(parts.word_given_node.dtype)])
    return Parts(tree, tuple(nodes), words, mix, shares, parts.each)


def halved_shares(parts: Parts, split: Split) -> Array:
    """The share of each document in the two halves: nearly all in its own, and in equal parts for other documents."""
    share = parts.class_given_doc[:, split.index]
    first = np.full(len(share), 0.5, share.dtype)
    if split.halves is not None:
        first[split.halves[0]], first[split.halves[1]] = CERTAIN, 1 - CERTAIN
    return np.stack([share * first, share * (1 - first)], axis=1)


def join(parts: Parts, pairs: Sequence[tuple[int, int]]) -> Parts:
    """Undo splits: two classes that are the only children of a node become that node again."""
    if not pairs:
        return parts
    words, mix, shares = parts.word_given_node.copy(), parts.node_given_class.copy(), parts.class_given_doc.copy()
    nodes, gone, sizes = list(parts.class_nodes), set(), parts.sizes()
    for first, second in pairs:
        parent = parts.tree.parents[nodes[first]]
        both = [parent, nodes[first], nodes[second]]
        weight = sizes[[first, second]] + 1e-12
        row = (weight / weight.sum()) @ mix[[first, second]]
        words[parent] = (row[both] / max(row[both].sum(), 1e-300)) @ words[both]
        row[parent] = row[both].sum()
        row[both[1:]] = 0
        mix[first] = row
        shares[:, first] += shares[:, second]
        nodes[first] = parent
        gone.add(second)
    kept = [index for index in range(parts.n_classes) if index not in gone]
    edit = edits.cut(parts.tree, [nodes[first] for first, _ in pairs])
    places = {old: new for new, old in enumerate(edit.origin)}
    origin = list(edit.origin)
    return Parts(
        edit.tree, tuple(places[nodes[index]] for index in kept), np.ascontiguousarray(words[origin]),
        mix[np.ix_(kept, origin)], np.ascontiguousarray(shares[:, kept]), parts.each,
    )  # fmt: skip


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
        telling = node_words(tree, parts.word_given_node, n_words)
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
    shares = parts.class_given_doc[:, kept]
    total = shares.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, shares / np.where(total > 0, total, 1), 1 / len(kept)).astype(shares.dtype)
    fewer = replace(
        parts,
        class_nodes=tuple(parts.class_nodes[c] for c in kept),
        node_given_class=parts.node_given_class[kept],
        class_given_doc=np.ascontiguousarray(shares),
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
        class_given_doc=np.ascontiguousarray(parts.class_given_doc[:, classes]),
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
    words = np.ascontiguousarray(parts.word_given_node[origin])
    return Parts(edit.tree, tree_nodes, words, mix, parts.class_given_doc, parts.each)
