"""A fitted tree as one value, and its upper part."""

import numpy as np
import pytest

from topiarist import Tree
from topiarist.trees.tree_model import TreeModel, cut_model


@pytest.fixture(scope="module")
def model():
    tree = Tree.from_paths(["all/left/a", "all/left/b", "all/left/c", "all/right/d", "all/right/e", "all/f"])
    rng = np.random.default_rng(3)
    words = rng.dirichlet(np.ones(12), len(tree))
    mix = tree.path_mask(tree.leaves) * rng.random((len(tree.leaves), len(tree)))
    mix /= mix.sum(axis=1, keepdims=True)
    return TreeModel(tree, tree.leaves, words, mix, rng.dirichlet(np.ones(len(tree.leaves))))


def test_cut_model_mixes_classes_below(model):
    tree = model.tree
    upper = cut_model(model, [tree.find("left"), tree.find("right"), tree.find("f")])
    names = [upper.tree.names[node] for node in upper.class_nodes]
    assert sorted(names) == ["f", "left", "right"]
    assert upper.class_prior.sum() == pytest.approx(1)
    np.testing.assert_allclose(upper.node_given_class.sum(axis=1), 1)
    np.testing.assert_allclose(upper.word_given_node.sum(axis=1), 1)
    assert not upper.node_given_class[~upper.path_mask].any()
    spoken, prior = model.word_given_class(), model.class_prior
    for place, name in enumerate(names):
        own = [c for c, node in enumerate(model.class_nodes) if tree.find(name) in tree.path(node)]
        assert upper.class_prior[place] == pytest.approx(prior[own].sum())
        np.testing.assert_allclose(upper.word_given_class()[place], prior[own] @ spoken[own] / prior[own].sum())


def test_cut_model_keeps_classes_outside(model):
    tree = model.tree
    some = cut_model(model, [tree.find("left")])
    assert [some.tree.names[node] for node in some.class_nodes] == ["left", "d", "e", "f"]
    same = cut_model(model, tree.leaves)
    assert same.tree == tree
    np.testing.assert_allclose(same.word_given_class(), model.word_given_class())
