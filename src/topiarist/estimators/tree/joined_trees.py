"""Joined trees: several fitted trees under one root, as separate branches or with common headings.

Documents in several languages get one tree for each language, because the languages share few words. Joining keeps the
levels P(node|class) and learns the words again from all documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from topiarist.arrays import Array, Csr
from topiarist.estimators.tree import growth_data, preparation
from topiarist.estimators.tree.cam import CAM
from topiarist.trees.growth.loop import Stage
from topiarist.trees.growth.parts import GrowthState
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel

UPPER_SHARE = 0.3  # of the weight of a node that goes to a new one above it

Node = tuple[int, int]  # of which tree, and which node of that


@dataclass
class Layout:
    """Nodes of a joined tree: the parent of each, and the old nodes that became it."""

    trees: Sequence[Tree]
    targets: Mapping[Node, Node] = field(default_factory=dict)  # nodes that go to one of another tree, and that one
    parents: list[int] = field(default_factory=lambda: [-1])
    old_nodes: list[list[Node]] = field(default_factory=lambda: [[]])

    def add(self, parent: int, *nodes: Node) -> int:
        self.parents.append(parent)
        self.old_nodes.append(list(nodes))
        return len(self.parents) - 1

    def graft(self, parent: int, node: Node) -> None:
        """Add a node with its subtree, including nodes moved to it and without nodes moved elsewhere.

        An inner node with a single child is replaced by the child.
        """
        joining = [other for other, target in self.targets.items() if target == node]
        if joining:
            self._add_heading(parent, [node, *joining])
            return
        waiting: list[tuple[int, Node]] = [(parent, node)]
        while waiting:
            parent_number, current = waiting.pop(0)
            children = self.list_children(current)
            chain = [current]
            while len(children) == 1 and children[0] not in self.targets.values():
                chain.append(children[0])
                children = self.list_children(children[0])
            number = self.add(parent_number, *chain)
            for child in children:
                if child in self.targets.values():
                    self.graft(number, child)
                else:
                    waiting.append((number, child))

    def list_children(self, node: Node) -> list[Node]:
        """Return the children of a node that stay below it and have leaves that stay."""
        of, number = node
        children = [(of, child) for child in self.trees[of].children(number)]
        return [
            old_child
            for old_child in children
            if old_child not in self.targets and (self._is_leaf(old_child) or self.list_children(old_child))
        ]

    def _is_leaf(self, node: Node) -> bool:
        return not self.trees[node[0]].children(node[1])

    def _add_heading(self, parent: int, nodes: list[Node]) -> None:
        """Add nodes of several trees as one heading with all their children; leaves become children themselves."""
        heading = self.add(parent, *(member for member in nodes if not self._is_leaf(member)))
        for member in nodes:
            for child in [member] if self._is_leaf(member) else self.list_children(member):
                self.graft(heading, child) if child != member else self.add(heading, member)


def lay_out_side_by_side(trees: Sequence[Tree]) -> Layout:
    """Return a layout with each tree as a branch of the new root."""
    layout = Layout(trees)
    for number, tree in enumerate(trees):
        layout.graft(0, (number, tree.root))
    return layout


def lay_out_under_one_root(trees: Sequence[Tree], targets: Mapping[Node, Node]) -> Layout:
    """Return a layout with the headings of all trees below one root; ``targets`` maps nodes to nodes of the first tree.

    No node of ``targets`` is below another one. A tree without headings counts as a heading.
    """
    layout = Layout(trees, targets)
    layout.old_nodes[0] = [(number, tree.root) for number, tree in enumerate(trees) if len(tree) > 1]
    for number, tree in enumerate(trees):
        root = (number, tree.root)
        for node in layout.list_children(root) if len(tree) > 1 else [] if root in targets else [root]:
            layout.graft(0, node)
    return layout


def join_tree_models(models: Sequence[TreeModel], weights: Sequence[float], layout: Layout) -> TreeModel:
    """Return the parameters of the joined tree: mixed words for merged nodes, and unchanged levels."""
    tree = Tree(tuple(layout.parents))
    place = {old: node for node, olds in enumerate(layout.old_nodes) for old in olds}
    share = np.array(weights, np.float64) / sum(weights)
    weight = {
        (number, node): share[number] * amount
        for number, model in enumerate(models)
        for node, amount in enumerate(model.node_weight().tolist())
    }
    words = np.zeros((len(tree), models[0].word_given_node.shape[1]), models[0].word_given_node.dtype)
    for node, olds in enumerate(layout.old_nodes):
        for old in olds or (
            [(n, m.tree.root) for n, m in enumerate(models)] if node == 0 else _list_old_children(layout, node)
        ):
            words[node] += (weight[old] + 1e-12) * models[old[0]].word_given_node[old[1]]
    words /= words.sum(axis=1, keepdims=True)
    mix, nodes, prior = list[Array](), list[int](), list[float]()
    for number, model in enumerate(models):
        for mix_row, leaf, part in zip(model.node_given_class, model.class_nodes, model.class_prior, strict=True):
            row: Array = np.zeros(len(tree))
            nodes.append(place[number, leaf])
            path = tree.path(nodes[-1])
            for old_node in np.flatnonzero(mix_row).tolist():
                target = place.get((number, old_node), -1)
                row[target if target in path else path[min(1, len(path) - 1)]] += mix_row[old_node]
            mix.append(_fill_levels(row, path))
            prior.append(share[number] * float(part))
    order = [nodes.index(leaf) for leaf in tree.leaves]
    dtype = models[0].node_given_class.dtype
    return TreeModel(
        tree,
        tree.leaves,
        words,
        np.array([mix[place_of_leaf] for place_of_leaf in order], dtype),
        np.array([prior[place_of_leaf] for place_of_leaf in order]),
        mixes_classes=models[0].mixes_classes,
    )


def _list_old_children(layout: Layout, node: int) -> list[Node]:
    return [old for child, parent in enumerate(layout.parents) if parent == node for old in layout.old_nodes[child]]


def _fill_levels(row: Array, path: Sequence[int]) -> Array:
    """Give unused levels of ``row`` a part of the next lower level; return the levels scaled to one."""
    for upper, lower in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
        if not row[upper]:
            row[upper], row[lower] = UPPER_SHARE * row[lower], (1 - UPPER_SHARE) * row[lower]
    levels: Array = row / row.sum()
    return levels


def fit_joined_tree(model: CAM, parts: Sequence[CAM], rows: Sequence[Array], counts: Csr, layout: Layout) -> CAM:
    """Fit ``model`` as the joined tree of other models, each fitted to some rows of the counts."""
    models, weights = [part.tree_model_ for part in parts], [float(len(part_rows)) for part_rows in rows]
    start = join_tree_models(models, weights, layout)
    shares = np.tile(start.class_prior.astype(start.word_given_node.dtype), (counts.shape[0], 1))
    length, model.concentration_ = parts[0].effective_length_, 0.0
    with growth_data.open_fit_data(model, counts) as data:
        words = start.word_given_node.astype(data.dtype)
        parts_at_start = GrowthState(start.tree, start.class_nodes, words, start.node_given_class, shares)
        model._fit_words(data, preparation.make_given_growth(Stage(parts_at_start, float("nan"))), length, {})
    return model
