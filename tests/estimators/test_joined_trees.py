"""Trees that are joined keep their topics; those that are the same stand under one heading."""

import numpy as np
import pytest

from topiarist.estimators.tree.joined_trees import join_tree_models, lay_out_side_by_side, lay_out_under_one_root
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel

DEEP = Tree((-1, 0, 0, 1, 1, 2, 2))  # two headings of two leaves each
FLAT = Tree((-1, 0, 0, 0))
ONE = Tree.single()


def model(tree, seed):
    rng = np.random.default_rng(seed)
    mask = tree.path_mask(tree.leaves)
    mix = mask * rng.uniform(0.1, 1, mask.shape)
    words = rng.dirichlet(np.ones(6), len(tree))
    return TreeModel(tree, tree.leaves, words, mix / mix.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(len(mask))))


def shape(layout):
    """The tree as nested tuples of what its leaves were."""

    def of(node):
        below = [child for child, parent in enumerate(layout.parents) if parent == node]
        return tuple(map(of, below)) if below else layout.old_nodes[node][-1]

    return of(0)


def test_side_by_side_every_tree_is_a_branch():
    assert shape(lay_out_side_by_side([DEEP, FLAT, ONE])) == (
        (((0, 3), (0, 4)), ((0, 5), (0, 6))), ((1, 1), (1, 2), (1, 3)), (2, 0),
    )  # fmt: skip


def test_under_one_root_headings_are_neighbours_and_the_same_are_one():
    trees = [DEEP, FLAT, ONE]
    assert shape(lay_out_under_one_root(trees, {})) == (
        ((0, 3), (0, 4)), ((0, 5), (0, 6)), (1, 1), (1, 2), (1, 3), (2, 0),
    )  # fmt: skip
    same = {(1, 2): (0, 1), (2, 0): (0, 6)}  # a leaf goes to a heading, and a tree without headings to a leaf
    assert shape(lay_out_under_one_root(trees, same)) == (
        ((0, 3), (0, 4), (1, 2)), (((0, 6), (2, 0)), (0, 5)), (1, 1), (1, 3),
    )  # fmt: skip
    twice = {(1, 1): (0, 1), (1, 2): (0, 2)}
    both = lay_out_under_one_root([DEEP, DEEP], twice)
    assert shape(both) == (((0, 3), (0, 4), (1, 3), (1, 4)), ((0, 5), (0, 6), (1, 5), (1, 6)))
    assert [set(olds) for olds in both.old_nodes if len(olds) > 1] == [
        {(0, 0), (1, 0)}, {(0, 1), (1, 1)}, {(0, 2), (1, 2)},
    ]  # fmt: skip


def test_a_heading_that_is_left_with_one_topic_is_that_topic():
    layout = lay_out_under_one_root([FLAT, DEEP], {(1, 3): (0, 1)})
    assert shape(layout) == (((0, 1), (1, 3)), (0, 2), (0, 3), (1, 4), ((1, 5), (1, 6)))
    empty = lay_out_under_one_root([FLAT, DEEP], {(1, 3): (0, 1), (1, 4): (0, 2)})
    assert shape(empty) == (((0, 1), (1, 3)), ((0, 2), (1, 4)), (0, 3), ((1, 5), (1, 6)))


@pytest.mark.parametrize("same", [{}, {(1, 2): (0, 1), (2, 0): (0, 6)}, {(1, 1): (0, 3), (1, 2): (0, 5)}])
def test_a_joined_model_is_a_model(same):
    models = [model(tree, seed) for seed, tree in enumerate((DEEP, FLAT, ONE))]
    for layout in (
        lay_out_side_by_side([one.tree for one in models]),
        lay_out_under_one_root([one.tree for one in models], same),
    ):
        found = join_tree_models(models, (60, 30, 10), layout)
        assert found.class_nodes == found.tree.leaves
        assert found.n_classes == 8
        np.testing.assert_allclose(found.class_prior.sum(), 1)
        np.testing.assert_allclose(found.word_given_node.sum(axis=1), 1)
        np.testing.assert_allclose(found.node_given_class.sum(axis=1), 1)
        assert ((found.node_given_class > 0) == found.path_mask).all()  # every node of a path, and no other
        by_tree = {one: sum(p for p, n in zip(found.class_prior, found.class_nodes, strict=True)
                            if layout.old_nodes[n][-1][0] == one) for one in range(3)}  # fmt: skip
        assert by_tree == pytest.approx({0: 0.6, 1: 0.3, 2: 0.1})
