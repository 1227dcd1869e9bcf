"""A fitted tree as one value: where its classes sit, the words of its nodes, the nodes of its paths.

Growing, estimators, streams, placing, explaining, describing and storing all speak of this value, whatever the model
calls its parameters. ``a_given_b`` has a row for each *b*; rows sum to one.
"""

from __future__ import annotations

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
