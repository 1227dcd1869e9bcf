"""Several fitted trees as one: side by side under one root, as branches of their own or with headings in common.

Whoever has documents in several languages grows a tree of each, for no word of one tells anything of the other, and
joins them. The levels P(node|class) stay as they were fitted; the words are learned once more, from all documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Csr
from topiarist.estimators.common import options
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.cam import CAM
from topiarist.hierarchy.growth.loop import Stage
from topiarist.hierarchy.growth.parts import Parts
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.models.engine.compilation import prepare_kernels

ABOVE = 0.3  # of the weight of a node that goes to a new one above it

Node = tuple[int, int]  # of which tree, and which node of that


@dataclass
class Layout:
    """The nodes of a joined tree: the parent of each, and the nodes of the old trees that became it."""

    trees: Sequence[Tree]
    moved: Mapping[Node, Node] = field(default_factory=dict)  # nodes that go to one of another tree, and that one
    parents: list[int] = field(default_factory=lambda: [-1])
    made_of: list[list[Node]] = field(default_factory=lambda: [[]])

    def add(self, parent: int, *nodes: Node) -> int:
        """A node below another; its number."""
        self.parents.append(parent)
        self.made_of.append(list(nodes))
        return len(self.parents) - 1

    def graft(self, parent: int, node: Node) -> None:
        """A node with everything below it, and with what goes there from other trees; without what goes elsewhere.

        An inner node that is left with one child is that child.
        """
        joining = [other for other, target in self.moved.items() if target == node]
        if joining:
            self._heading(parent, [node, *joining])
            return
        waiting: list[tuple[int, Node]] = [(parent, node)]
        while waiting:
            above, one = waiting.pop(0)
            below = self.below(one)
            passed = [one]
            while len(below) == 1 and below[0] not in self.moved.values():
                passed.append(below[0])
                below = self.below(below[0])
            here = self.add(above, *passed)
            for child in below:
                if child in self.moved.values():
                    self.graft(here, child)
                else:
                    waiting.append((here, child))

    def below(self, node: Node) -> list[Node]:
        """The children of a node that stay there, and have something that stays there."""
        of, number = node
        children = [(of, child) for child in self.trees[of].children(number)]
        return [one for one in children if one not in self.moved and (self._is_leaf(one) or self.below(one))]

    def _is_leaf(self, node: Node) -> bool:
        return not self.trees[node[0]].children(node[1])

    def _heading(self, parent: int, nodes: list[Node]) -> None:
        """Nodes of several trees as one: what is below any of them is below it; leaves stand there themselves."""
        heading = self.add(parent, *(one for one in nodes if not self._is_leaf(one)))
        for one in nodes:
            for child in [one] if self._is_leaf(one) else self.below(one):
                self.graft(heading, child) if child != one else self.add(heading, one)


def side_by_side(trees: Sequence[Tree]) -> Layout:
    """Each tree as a branch of its own: its root is a child of the new one."""
    layout = Layout(trees)
    for number, tree in enumerate(trees):
        layout.graft(0, (number, tree.root))
    return layout


def under_one_root(trees: Sequence[Tree], same: Mapping[Node, Node]) -> Layout:
    """The headings of all trees beside each other; nodes that are the ``same`` as one of the first tree go there.

    No node of ``same`` is below another one. A tree without headings is one itself.
    """
    layout = Layout(trees, same)
    layout.made_of[0] = [(number, tree.root) for number, tree in enumerate(trees) if len(tree) > 1]
    for number, tree in enumerate(trees):
        root = (number, tree.root)
        for node in layout.below(root) if len(tree) > 1 else [] if root in same else [root]:
            layout.graft(0, node)
    return layout


def joined_model(models: Sequence[TreeModel], weights: Sequence[float], layout: Layout) -> TreeModel:
    """The parameters of the joined tree: words of nodes that became one are mixed, levels are handed on."""
    tree = Tree(tuple(layout.parents))
    place = {old: node for node, olds in enumerate(layout.made_of) for old in olds}
    share = np.array(weights, np.float64) / sum(weights)
    weight = {
        (number, node): share[number] * amount
        for number, model in enumerate(models)
        for node, amount in enumerate(model.node_weight().tolist())
    }
    words = np.zeros((len(tree), models[0].word_given_node.shape[1]), models[0].word_given_node.dtype)
    for node, olds in enumerate(layout.made_of):
        for old in olds or ([(n, m.tree.root) for n, m in enumerate(models)] if node == 0 else _below(layout, node)):
            words[node] += (weight[old] + 1e-12) * models[old[0]].word_given_node[old[1]]
    words /= words.sum(axis=1, keepdims=True)
    mix, nodes, prior = list[Array](), list[int](), list[float]()
    for number, model in enumerate(models):
        for own, leaf, part in zip(model.node_given_class, model.class_nodes, model.class_prior, strict=True):
            row: Array = np.zeros(len(tree))
            nodes.append(place[number, leaf])
            path = tree.path(nodes[-1])
            for old_node in np.flatnonzero(own).tolist():
                there = place.get((number, old_node), -1)
                row[there if there in path else path[min(1, len(path) - 1)]] += own[old_node]
            mix.append(_handed_up(row, path))
            prior.append(share[number] * float(part))
    order = [nodes.index(leaf) for leaf in tree.leaves]
    dtype = models[0].node_given_class.dtype
    return TreeModel(
        tree, tree.leaves, words, np.array([mix[one] for one in order], dtype), np.array([prior[one] for one in order])
    )


def _below(layout: Layout, node: int) -> list[Node]:
    return [old for child, parent in enumerate(layout.parents) if parent == node for old in layout.made_of[child]]


def _handed_up(row: Array, path: Sequence[int]) -> Array:
    """Nodes of a path that nobody spoke from get a part of what the next one below has."""
    for above, below in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
        if not row[above]:
            row[above], row[below] = ABOVE * row[below], (1 - ABOVE) * row[below]
    levels: Array = row / row.sum()
    return levels


def join(model: CAM, parts: Sequence[CAM], rows: Sequence[Array], counts: Csr, layout: Layout) -> CAM:
    """Fit ``model`` as the joined tree of others, each of which was fitted to some rows of the counts."""
    models, weights = [one.tree_model_ for one in parts], [float(len(own)) for own in rows]
    start = joined_model(models, weights, layout)
    shares = np.tile(start.class_prior.astype(start.word_given_node.dtype), (counts.shape[0], 1))
    checked = model._counts(counts, reset=True)
    dtype = options.working_dtype(model.dtype, checked, preparation.TILE_COLUMNS)
    prepare_kernels(dtype, "paths", device=model.device)
    begun = Parts(start.tree, start.class_nodes, start.word_given_node.astype(dtype), start.node_given_class, shares)
    length, model.concentration_ = parts[0].effective_length_, 0.0
    with options.running(model) as engine, threadpool_limits(limits=1, user_api="blas"):
        model._keep(engine, checked, preparation.given(Stage(begun, float("nan"))), length, dtype, {}, None)
    return model
