"""Nodes and levels of words in documents that mix classes, or with levels of their own, against written-out sums."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.oracles import clusters, trees
from tests.strategies import simplex_rows
from topiarist import CAM, HPLC, HPLSA, Tree
from topiarist.estimators.tree import abstraction, document_levels
from topiarist.trees.tree_model import TreeModel, cut_model

TREE = Tree.from_paths(["x/a", "x/b", "y/c", "y/d"])
SMALL_TREE = Tree.from_paths(["x/a", "x/b", "y/c"])
TOKENS = 7.0


def make_case(seed, tree=TREE, n_docs=12, n_words=20):
    """Return documents with any shares of the classes, and a tree with any words; the small tree has (C6)."""
    rng = np.random.default_rng(seed)
    mask, n_leaves = tree.path_mask(tree.leaves), len(tree.leaves)
    mix = np.where(mask, rng.random(mask.shape) + 0.1, 0)
    mix /= mix.sum(axis=1, keepdims=True)
    kind = {"mixes_classes": True} if tree is TREE else {"level_tokens": TOKENS}
    prior = np.full(n_leaves, 1 / n_leaves)
    model = TreeModel(tree, tree.leaves, simplex_rows(rng, len(tree), n_words), mix, prior, **kind)
    counts = rng.poisson(0.6, (n_docs, n_words)).astype(float)
    if tree is SMALL_TREE:
        counts[0] = 0
    return model, counts, rng.dirichlet(np.full(n_leaves, 0.5), n_docs)


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


def written_out(model, counts, posterior, steps=document_levels.STEPS):
    """P(a|c,d) with zeros off the path, (documents, clusters, nodes)."""
    result = np.zeros((len(counts), *model.node_given_class.shape))
    for d, row in enumerate(counts):
        for c, mix in enumerate(model.node_given_class):
            result[d, c] = clusters.document_levels(row, mix, model.word_given_node, model.level_tokens, steps)
    return result


def test_document_levels_match_written_out_steps():
    model, counts, posterior = make_case(0, SMALL_TREE)
    levels, sparse = written_out(model, counts, posterior), csr_array(counts)
    np.testing.assert_allclose(
        document_levels.mix_nodes(sparse, model, posterior), np.einsum("dc,dca->da", posterior, levels), atol=1e-12
    )
    np.testing.assert_allclose(levels[0], model.node_given_class)  # without words those of the cluster
    joint = levels[:, :, :, None] * model.word_given_node
    shares = joint / joint.sum(axis=2, keepdims=True)  # P(a|w,c,d)
    readings = abstraction.word_levels(sparse, model, posterior, np.arange(len(SMALL_TREE)))
    nodes = abstraction.node_given_doc(sparse, model, posterior)
    predicted = document_levels.predict_words(sparse, sparse, model, posterior)
    for d in range(1, len(counts)):
        expected = np.einsum("c,caw->wa", posterior[d], shares[d])
        words, _, probabilities = readings.document(d)
        np.testing.assert_allclose(probabilities, expected[words], atol=1e-12)
        np.testing.assert_allclose(nodes[d], counts[d] @ expected / counts[d].sum(), atol=1e-12)
        entries = slice(sparse.indptr[d], sparse.indptr[d + 1])
        own = np.einsum("c,ca,aw->w", posterior[d], levels[d], model.word_given_node)
        np.testing.assert_allclose(predicted[entries], own[words], atol=1e-12)
        absent = np.where(counts[d] > 0, -1, own)
        flat = np.zeros(len(SMALL_TREE), np.int64)  # one level
        assert abstraction.ghost_words(sparse, model, posterior, 1, flat)[0][d, 0, 0] == absent.argmax()


def test_steps_never_lower_posterior_of_levels():
    model, counts, _ = make_case(1, SMALL_TREE)
    path = np.flatnonzero(model.node_given_class[0])
    mix, words = model.node_given_class[0, path], model.word_given_node[path]
    heights = []
    for steps in range(6):
        levels = document_levels.fit_levels(csr_array(counts), mix, words, TOKENS, steps)
        heights.append((counts * np.log(levels @ words)).sum(axis=1) + TOKENS * (mix * np.log(levels)).sum(axis=1))
    assert (np.diff(heights, axis=0) > -1e-12).all()


def test_many_prior_tokens_equal_levels_of_cluster():
    model, counts, posterior = make_case(2, SMALL_TREE)
    for function in (abstraction.node_given_doc, document_levels.mix_nodes):
        many = function(csr_array(counts), replace(model, level_tokens=1e9), posterior)
        shared = function(csr_array(counts), replace(model, level_tokens=None), posterior)
        np.testing.assert_allclose(many, shared, atol=1e-6)


def test_blocks_of_documents_do_not_change_levels(monkeypatch):
    model, counts, posterior = make_case(3, SMALL_TREE)
    before = abstraction.word_levels(csr_array(counts), model, posterior).probabilities
    monkeypatch.setattr(document_levels, "MAX_ENTRIES", 9)
    np.testing.assert_array_equal(abstraction.word_levels(csr_array(counts), model, posterior).probabilities, before)


def test_document_levels_predict_uneven_documents_better():
    rng = np.random.default_rng(0)
    words = np.full((len(SMALL_TREE), 70), 0.002) + np.kron(np.eye(7)[: len(SMALL_TREE)], np.full(10, 0.1))
    words /= words.sum(axis=1, keepdims=True)
    leaf = rng.integers(3, size=300)
    paths = [list(SMALL_TREE.path(SMALL_TREE.leaves[c])) for c in leaf]
    shares = rng.dirichlet(np.ones(3), 300)
    counts = np.array([rng.multinomial(60, own @ words[path]) for own, path in zip(shares, paths, strict=True)])
    shared = CAM(tree=SMALL_TREE, random_state=0).fit(counts[:200])
    own = CAM(tree=SMALL_TREE, random_state=0, levels="document").fit(counts[:200])
    np.testing.assert_array_equal(own.word_given_node_, shared.word_given_node_)  # only the reading differs
    assert own.perplexity(counts[200:]) < 0.98 * shared.perplexity(counts[200:])
    assert own.score(counts[200:]) > shared.score(counts[200:])
    many = replace(own.tree_model_, level_tokens=1e9)
    same = document_levels.compute_perplexity(csr_array(counts[200:]), many, shared.transform)
    assert same == pytest.approx(shared.perplexity(counts[200:]), rel=1e-6)
