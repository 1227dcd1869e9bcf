"""Nodes and levels of words in documents that mix classes, against sums that are written out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.oracles import trees
from tests.strategies import simplex_rows
from topiarist import HPLC, HPLSA, Tree
from topiarist.estimators.tree import abstraction
from topiarist.trees.tree_model import TreeModel, cut_model

TREE = Tree.from_paths(["x/a", "x/b", "y/c", "y/d"])


def make_case(seed, n_docs=12, n_words=20):
    """Documents with any shares of four classes, and a tree with any words."""
    rng = np.random.default_rng(seed)
    mask = TREE.path_mask(TREE.leaves)
    mix = np.where(mask, rng.random(mask.shape) + 0.1, 0)
    mix /= mix.sum(axis=1, keepdims=True)
    words = simplex_rows(rng, len(TREE), n_words)
    model = TreeModel(TREE, TREE.leaves, words, mix, np.full(4, 0.25), mixes_classes=True)
    return model, rng.poisson(0.6, (n_docs, n_words)).astype(float), rng.dirichlet(np.full(4, 0.5), n_docs)


@pytest.mark.parametrize("seed", range(3))
def test_word_nodes_match_written_out_sums(seed):
    model, counts, posterior = make_case(seed)
    expected = trees.word_nodes(counts, posterior, model.node_given_class, model.word_given_node)
    readings = abstraction.word_levels(csr_array(counts), model, posterior, np.arange(len(TREE)))
    for d, row in enumerate(counts):
        words, _, probabilities = readings.document(d)
        np.testing.assert_allclose(probabilities, expected[d, words], atol=1e-12)
        share = row @ expected[d] / row.sum()
        np.testing.assert_allclose(
            abstraction.node_given_doc(csr_array(counts), model, posterior)[d], share, atol=1e-12
        )
    sparse = abstraction.sparse_node_given_doc(csr_array(counts), model, csr_array(posterior)).toarray()
    np.testing.assert_allclose(sparse, abstraction.node_given_doc(csr_array(counts), model, posterior), atol=1e-12)
    sums = trees.sums(counts, posterior, model.node_given_class, model.word_given_node)  # (H4) of the E-step
    np.testing.assert_allclose(np.einsum("dw,dwv->vw", counts, expected), sums.topic_word, atol=1e-9)


def test_nodes_off_the_paths_of_a_document_do_not_count():
    model, counts, _ = make_case(0)
    posterior = csr_array(np.tile([0.5, 0.5, 0.0, 0.0], (len(counts), 1)))
    expected = abstraction.sparse_node_given_doc(csr_array(counts), model, posterior).toarray()
    unused = sorted(set(range(len(TREE))) - {node for leaf in TREE.leaves[:2] for node in TREE.path(leaf)})
    words = np.array(model.word_given_node)
    words[unused] = np.nan
    found = abstraction.sparse_node_given_doc(csr_array(counts), replace(model, word_given_node=words), posterior)
    np.testing.assert_array_equal(found.toarray(), expected)


def test_words_of_mixed_document_have_own_leaves():
    words = np.full((len(TREE), len(TREE)), 0.01) + np.eye(len(TREE))
    mask = TREE.path_mask(TREE.leaves)
    model = TreeModel(
        TREE, TREE.leaves, words / words.sum(axis=1, keepdims=True), mask / mask.sum(axis=1, keepdims=True),
        np.full(4, 0.25), mixes_classes=True,
    )  # fmt: skip
    first, last = TREE.leaves[0], TREE.leaves[-1]
    counts, posterior = csr_array(np.eye(len(TREE))[[first]] + np.eye(len(TREE))[[last]]), np.array([[0.5, 0, 0, 0.5]])
    nodes = np.arange(len(TREE))
    columns, best, _ = abstraction.word_levels(counts, model, posterior, nodes).document(0)
    assert best.tolist() == columns.tolist()
    one_class = replace(model, mixes_classes=False)  # CAM: half of the document knows nothing of the word
    assert abstraction.word_levels(counts, one_class, posterior, nodes).probabilities.max() < 0.55


def test_unknown_words_and_empty_documents_have_shares():
    model, counts, posterior = make_case(0)
    words = model.word_given_node.copy()
    words[:, 0] = 0.0
    counts[0], counts[1] = 0.0, np.eye(counts.shape[1])[0]
    model = replace(model, word_given_node=words)
    shares = abstraction.node_given_doc(csr_array(counts), model, posterior)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares[0], posterior[0] @ model.node_given_class)
    np.testing.assert_allclose(
        abstraction.word_levels(csr_array(counts), model, posterior).probabilities.sum(axis=1), 1
    )


def test_estimators_name_their_kind_of_documents():
    counts, labels = np.eye(8) + 1, list("abcdabcd")
    assert HPLC(TREE).fit(counts, labels).tree_model_.mixes_classes
    model = HPLSA(tree=TREE, max_iter=3, random_state=0).fit(counts)
    assert model.tree_model_.mixes_classes
    assert cut_model(model.tree_model_, [1]).mixes_classes
    posterior = model.transform(counts)
    expected = trees.word_nodes(counts, posterior, model.topic_given_class_, model.word_given_topic_)
    depths = np.array(model.tree_.depths)
    by_level = np.array([expected[:, :, depths == level].sum(axis=2) for level in range(depths.max() + 1)])
    np.testing.assert_allclose(model.word_levels(counts).probabilities, by_level.transpose(1, 2, 0).reshape(64, -1))
    np.testing.assert_allclose(
        model.node_given_doc(counts), (counts[:, :, None] * expected).sum(axis=1) / 9, atol=1e-12
    )
    assert model.prototypes(counts, 2).shape == (len(TREE), 2)
    assert model.ghost_words(csr_array(np.eye(8)), 3).shape == (8, 3, 3)
