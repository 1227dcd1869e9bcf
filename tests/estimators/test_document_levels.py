"""P(a|c,d), levels of single documents: against sums that are written out, by laws, and in predictions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.oracles import clusters
from tests.strategies import simplex_rows
from topiarist import CAM, Tree
from topiarist.estimators.tree import abstraction, document_levels
from topiarist.trees.tree_model import TreeModel

TREE = Tree.from_paths(["x/a", "x/b", "y/c"])
TOKENS = 7.0


def make_case(seed=0, n_docs=9, n_words=15):
    rng = np.random.default_rng(seed)
    mask = TREE.path_mask(TREE.leaves)
    mix = np.where(mask, rng.random(mask.shape) + 0.1, 0)
    mix /= mix.sum(axis=1, keepdims=True)
    words = simplex_rows(rng, len(TREE), n_words)
    model = TreeModel(TREE, TREE.leaves, words, mix, np.full(3, 1 / 3), level_tokens=TOKENS)
    counts = rng.poisson(0.7, (n_docs, n_words)).astype(float)
    counts[0] = 0
    return model, counts, rng.dirichlet(np.ones(3), n_docs)


def written_out(model, counts, posterior, steps=document_levels.STEPS):
    """P(a|c,d) with zeros off the path, (documents, clusters, nodes)."""
    result = np.zeros((len(counts), *model.node_given_class.shape))
    for d, row in enumerate(counts):
        for c, mix in enumerate(model.node_given_class):
            result[d, c] = clusters.document_levels(row, mix, model.word_given_node, model.level_tokens, steps)
    return result


def test_document_levels_match_written_out_steps():
    model, counts, posterior = make_case()
    levels, sparse = written_out(model, counts, posterior), csr_array(counts)
    np.testing.assert_allclose(
        document_levels.mix_nodes(sparse, model, posterior), np.einsum("dc,dca->da", posterior, levels), atol=1e-12
    )
    np.testing.assert_allclose(levels[0], model.node_given_class)  # without words those of the cluster
    joint = levels[:, :, :, None] * model.word_given_node
    shares = joint / joint.sum(axis=2, keepdims=True)  # P(a|w,c,d)
    readings = abstraction.word_levels(sparse, model, posterior, np.arange(len(TREE)))
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
        flat = np.zeros(len(TREE), np.int64)  # one level
        assert abstraction.ghost_words(sparse, model, posterior, 1, flat)[0][d, 0, 0] == absent.argmax()


def test_steps_never_lower_posterior_of_levels():
    model, counts, _ = make_case(1)
    path = np.flatnonzero(model.node_given_class[0])
    mix, words = model.node_given_class[0, path], model.word_given_node[path]
    heights = []
    for steps in range(6):
        levels = document_levels.fit_levels(csr_array(counts), mix, words, TOKENS, steps)
        heights.append((counts * np.log(levels @ words)).sum(axis=1) + TOKENS * (mix * np.log(levels)).sum(axis=1))
    assert (np.diff(heights, axis=0) > -1e-12).all()


def test_many_prior_tokens_equal_levels_of_cluster():
    model, counts, posterior = make_case(2)
    for function in (abstraction.node_given_doc, document_levels.mix_nodes):
        many = function(csr_array(counts), replace(model, level_tokens=1e9), posterior)
        shared = function(csr_array(counts), replace(model, level_tokens=None), posterior)
        np.testing.assert_allclose(many, shared, atol=1e-6)


def test_blocks_of_documents_do_not_change_levels(monkeypatch):
    model, counts, posterior = make_case(3)
    before = abstraction.word_levels(csr_array(counts), model, posterior).probabilities
    monkeypatch.setattr(document_levels, "MAX_ENTRIES", 9)
    np.testing.assert_array_equal(abstraction.word_levels(csr_array(counts), model, posterior).probabilities, before)


def test_document_levels_predict_uneven_documents_better():
    rng = np.random.default_rng(0)
    words = np.full((len(TREE), 70), 0.002) + np.kron(np.eye(7)[: len(TREE)], np.full(10, 0.1))
    words /= words.sum(axis=1, keepdims=True)
    leaf = rng.integers(3, size=300)
    paths = [list(TREE.path(TREE.leaves[c])) for c in leaf]
    shares = rng.dirichlet(np.ones(3), 300)
    counts = np.array([rng.multinomial(60, own @ words[path]) for own, path in zip(shares, paths, strict=True)])
    shared = CAM(tree=TREE, random_state=0).fit(counts[:200])
    own = CAM(tree=TREE, random_state=0, levels="document").fit(counts[:200])
    np.testing.assert_array_equal(own.word_given_node_, shared.word_given_node_)  # only the reading differs
    assert own.perplexity(counts[200:]) < 0.98 * shared.perplexity(counts[200:])
    assert own.score(counts[200:]) > shared.score(counts[200:])
    many = replace(own.tree_model_, level_tokens=1e9)
    same = document_levels.compute_perplexity(csr_array(counts[200:]), many, shared.transform)
    assert same == pytest.approx(shared.perplexity(counts[200:]), rel=1e-6)
