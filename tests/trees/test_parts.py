"""Inner nodes must be more general than what is below them."""

import numpy as np

from topiarist.trees.growth.parts import GrowthState, collapse_upside_down
from topiarist.trees.tree import Tree


def parts_with(inner, children):
    """A root, an inner node with these words, its two leaves with theirs, and one more leaf."""
    tree = Tree((-1, 0, 1, 1, 0))
    words = np.array([[0.5, 0.3, 0.1, 0.05, 0.05], inner, *children, [0.1, 0.1, 0.1, 0.1, 0.6]])
    mix = tree.path_mask(tree.leaves) / tree.path_mask(tree.leaves).sum(axis=1, keepdims=True)
    return GrowthState(tree, tree.leaves, words, mix, np.full((6, 3), 1 / 3))


COLLECTION = np.array([0.4, 0.3, 0.15, 0.1, 0.05])


def test_collapse_upside_down_removes_rarer_inner_nodes():
    rare, common = [0.1, 0.1, 0.1, 0.1, 0.6], [0.05, 0.05, 0.8, 0.05, 0.05]
    upside_down = parts_with(rare, [common, [0.05, 0.05, 0.05, 0.8, 0.05]])
    found = collapse_upside_down(upside_down, COLLECTION, n_words=1)
    assert found.tree.parents == (-1, 0, 0, 0)
    np.testing.assert_allclose(found.node_given_class.sum(axis=1), 1)


def test_collapse_upside_down_keeps_commoner_inner_nodes():
    right = parts_with([0.05, 0.8, 0.05, 0.05, 0.05], [[0.05, 0.05, 0.8, 0.05, 0.05], [0.05, 0.05, 0.05, 0.8, 0.05]])
    assert collapse_upside_down(right, COLLECTION, n_words=1) is right
