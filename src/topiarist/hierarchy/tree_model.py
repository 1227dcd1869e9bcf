"""A fitted tree as one value: where its classes sit, the words of its nodes, the nodes of its paths.

Growing, estimators, streams, placing, explaining, describing and storing all speak of this value, whatever the model
calls its parameters. ``a_given_b`` has a row for each *b*; rows sum to one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.tree import Tree


@dataclass(frozen=True)
class TreeTopics:
    """Topics along the paths of a tree: class *c* sits at node ``class_nodes[c]`` and speaks with the nodes above."""

    tree: Tree
    class_nodes: tuple[int, ...]
    word_given_node: Array  # (n_nodes, n_words)
    node_given_class: Array  # (n_classes, n_nodes), zero off the path

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_nodes)

    @property
    def path_mask(self) -> Array:
        """Which nodes are on the path of which class, (n_classes, n_nodes)."""
        mask: Array = self.tree.path_mask(self.class_nodes)
        return mask

    def word_given_class(self) -> Array:
        """P(word|class), (n_classes, n_words): what the nodes of its path say together."""
        words: Array = self.node_given_class.astype(self.word_given_node.dtype) @ self.word_given_node
        return words

    def class_word_table(self) -> Array:
        """The same with a row for each word, (n_words, n_classes), as sweeps over counts read it."""
        return np.ascontiguousarray(self.word_given_class().T)


@dataclass(frozen=True)
class TreeModel(TreeTopics):
    """A fitted tree with its parameters, and without documents."""

    class_prior: Array  # (n_classes,)

    def node_weight(self) -> Array:
        """P(node): how much of the collection each node explains."""
        weight: Array = (self.class_prior / self.class_prior.sum()) @ self.node_given_class
        return weight


def cut_at(model: TreeModel, nodes: Iterable[int]) -> TreeModel:
    """The tree down to some nodes: the classes under each of them are one, which speaks as they do together.

    A class that is under none of the nodes stays as it is.
    """
    tree, cut = model.tree, set(nodes)
    ends = [next((node for node in tree.path(own) if node in cut), own) for own in model.class_nodes]
    found = sorted(set(ends))
    kept = sorted({node for end in found for node in tree.path(end)})
    places = {node: number for number, node in enumerate(kept)}
    groups = np.searchsorted(found, ends)
    prior = np.bincount(groups, np.asarray(model.class_prior, np.float64), len(found))
    weights = np.zeros((len(found), model.n_classes))
    weights[groups, np.arange(model.n_classes)] = np.maximum(model.class_prior, np.finfo(float).tiny)
    mix = (weights / weights.sum(axis=1, keepdims=True)) @ model.node_given_class
    words = model.word_given_node[kept]
    for group, end in enumerate(found):
        below = [end, *tree.descendants(end)]
        spoken = mix[group, below]
        if len(below) > 1 and spoken.sum() > 0:
            words[places[end]] = (spoken / spoken.sum()) @ model.word_given_node[below]
        mix[group, end] = spoken.sum()
    parents = tuple(places.get(tree.parents[node], -1) for node in kept)
    smaller = Tree(parents, tuple(tree.names[node] for node in kept))
    return TreeModel(smaller, tuple(places[end] for end in found), words, mix[:, kept], prior)
