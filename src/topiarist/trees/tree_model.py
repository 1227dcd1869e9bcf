"""A fitted tree as one value: the nodes of its classes, the words of its nodes, the weights of its paths.

Models, estimators, streams, explanations and storage share this value. ``a_given_b`` has a row for each *b*; rows sum
to one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from topiarist.arrays import Array
from topiarist.trees.tree import Tree


@dataclass(frozen=True)
class TreeTopics:
    """Topics along the paths of a tree: class *c* is at ``class_nodes[c]`` and mixes the words of its path.

    With ``mixes_classes`` each token of a document has a class (HPLSA, HPLC), else each document has one (CAM). With
    ``level_tokens`` a document has levels of its own, P(node|class,document), with a prior of so many tokens.
    """

    tree: Tree
    class_nodes: tuple[int, ...]
    word_given_node: Array  # (n_nodes, n_words)
    node_given_class: Array  # (n_classes, n_nodes), zero off the path
    mixes_classes: bool = field(default=False, kw_only=True)
    level_tokens: float | None = field(default=None, kw_only=True)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_nodes)

    @property
    def path_mask(self) -> Array:
        """Nodes on the path of each class, (n_classes, n_nodes)."""
        mask: Array = self.tree.path_mask(self.class_nodes)
        return mask

    def word_given_class(self) -> Array:
        """Return P(word|class), (n_classes, n_words): the mixture of the nodes on its path."""
        words: Array = self.node_given_class.astype(self.word_given_node.dtype) @ self.word_given_node
        return words

    def class_word_table(self) -> Array:
        """Return P(word|class) with a row for each word, (n_words, n_classes), as the EM kernels read it."""
        return np.ascontiguousarray(self.word_given_class().T)


@dataclass(frozen=True)
class TreeModel(TreeTopics):
    """The parameters of a fitted tree, without documents."""

    class_prior: Array  # (n_classes,)

    def node_weight(self) -> Array:
        """Return P(node): the share of the collection's tokens that each node explains."""
        weight: Array = (self.class_prior / self.class_prior.sum()) @ self.node_given_class
        return weight


def cut_model(model: TreeModel, nodes: Iterable[int]) -> TreeModel:
    """Cut the tree at some nodes: the classes under each of them become one, with their common word distribution.

    A class that is under none of the nodes stays unchanged.
    """
    tree, cut_nodes = model.tree, set(nodes)
    ends = [
        next((node for node in tree.path(class_node) if node in cut_nodes), class_node)
        for class_node in model.class_nodes
    ]
    new_class_nodes = sorted(set(ends))
    kept_nodes = sorted({node for end in new_class_nodes for node in tree.path(end)})
    number_of = {node: number for number, node in enumerate(kept_nodes)}
    groups = np.searchsorted(new_class_nodes, ends)
    prior = np.bincount(groups, np.asarray(model.class_prior, np.float64), len(new_class_nodes))
    weights = np.zeros((len(new_class_nodes), model.n_classes))
    weights[groups, np.arange(model.n_classes)] = np.maximum(model.class_prior, np.finfo(float).tiny)
    mix = (weights / weights.sum(axis=1, keepdims=True)) @ model.node_given_class
    words = model.word_given_node[kept_nodes]
    for group, end in enumerate(new_class_nodes):
        branch = [end, *tree.descendants(end)]
        node_weights = mix[group, branch]
        if len(branch) > 1 and node_weights.sum() > 0:
            words[number_of[end]] = (node_weights / node_weights.sum()) @ model.word_given_node[branch]
        mix[group, end] = node_weights.sum()
    parents = tuple(number_of.get(tree.parents[node], -1) for node in kept_nodes)
    smaller = Tree(parents, tuple(tree.names[node] for node in kept_nodes))
    class_nodes = tuple(number_of[end] for end in new_class_nodes)
    return replace(
        model, tree=smaller, class_nodes=class_nodes, word_given_node=words, node_given_class=mix[:, kept_nodes],
        class_prior=prior,
    )  # fmt: skip
