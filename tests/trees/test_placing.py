"""A start for a given tree: every document at one leaf, and enough for each leaf."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import trees
from topiarist.trees import Tree
from topiarist.trees.growth.parts import HALF_CERTAINTY
from topiarist.trees.growth.start import distribute_documents, place_documents

DATA = st.sampled_from(["spread", "alike", "lopsided"])


def vectors_of(kind, n_docs, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "alike":
        return np.ones((n_docs, 3))
    vectors = rng.standard_normal((n_docs, 3))
    return vectors if kind == "spread" else vectors * 1e-3 + 100 * (np.arange(n_docs) == 0)[:, None]


@given(trees(), DATA, st.integers(0, 30), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_distribute_documents_fills_every_leaf(tree, kind, more, seed):
    n_docs = len(tree.leaves) + more
    under = distribute_documents(tree, vectors_of(kind, n_docs, seed), np.random.default_rng(seed))
    at_leaves = np.concatenate([under[leaf] for leaf in tree.leaves])
    assert sorted(at_leaves.tolist()) == list(range(n_docs))
    assert min(len(under[leaf]) for leaf in tree.leaves) >= 1
    for node in range(len(tree)):
        if tree.children(node):
            below = np.concatenate([under[child] for child in tree.children(node)])
            assert sorted(below.tolist()) == sorted(under[node].tolist())


def test_distribute_documents_gives_branches_enough_documents():
    vectors = np.random.default_rng(0).standard_normal((9, 3)) * 1e-3
    vectors[4] += 100  # a group of its own, but its branch has three leaves
    under = distribute_documents(Tree((-1, 0, 0, 1, 1, 1, 2, 2, 2)), vectors, np.random.default_rng(0))
    assert sorted(len(under[node]) for node in (1, 2)) == [3, 6]
    assert min(len(under[leaf]) for leaf in range(3, 9)) == 1


def test_distribute_documents_with_few_documents():
    under = distribute_documents(Tree.star(5), vectors_of("spread", 3), np.random.default_rng(0))
    assert sorted(np.concatenate([under[leaf] for leaf in range(1, 6)]).tolist()) == [0, 1, 2]


def test_distribute_documents_keeps_groups_together():
    groups = np.repeat([0, 1, 2], [6, 20, 10])
    vectors = 50 * np.eye(3)[groups] + np.random.default_rng(0).standard_normal((36, 3))
    tree = Tree((-1, 0, 0, 0, 2, 2, 2))
    under = distribute_documents(tree, vectors, np.random.default_rng(0))
    assert sorted(under[2].tolist()) == np.flatnonzero(groups == 1).tolist()
    assert {len(set(groups[under[node]].tolist())) for node in (1, 2, 3)} == {1}


@pytest.mark.parametrize("classes", ["leaves", "all"])
def test_place_documents_returns_valid_model(classes):
    tree = Tree((-1, 0, 0, 1, 1))
    counts = np.random.default_rng(0).poisson(1.0, (30, 7)) + 0.1
    nodes = tree.leaves if classes == "leaves" else tuple(range(5))
    seen = []

    def words_of(documents):
        seen.append(documents)
        return counts[documents].sum(axis=0) / counts[documents].sum()

    parts = place_documents(tree, nodes, counts, words_of, np.random.default_rng(0))
    assert parts.class_nodes == tuple(nodes)
    for rows in (parts.word_given_node, parts.node_given_class, parts.class_given_doc):
        np.testing.assert_allclose(rows.sum(axis=1), 1)
    np.testing.assert_array_equal(parts.node_given_class > 0, tree.path_mask(nodes))
    best = parts.class_given_doc.argmax(axis=1)
    np.testing.assert_allclose(parts.class_given_doc[np.arange(30), best], HALF_CERTAINTY)
    for place, node in enumerate(nodes):
        own = np.flatnonzero(best == place)
        assert len(own) == (len(seen[node]) if tree.is_leaf(node) else 0)
        if tree.is_leaf(node):
            assert sorted(seen[node].tolist()) == own.tolist()
            np.testing.assert_allclose(parts.word_given_node[node], words_of(own))


def test_distribute_documents_to_one_leaf():
    parts = place_documents(Tree.single(), (0,), np.ones((4, 2)), lambda _: np.full(3, 1 / 3), np.random.default_rng(0))
    np.testing.assert_allclose(parts.class_given_doc, 1)
