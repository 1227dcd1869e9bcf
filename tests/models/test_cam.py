"""The mathematics of the cluster-abstraction model: against the blackboard, against golden cases, and by its laws."""

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from tests.oracles import clusters, trees
from tests.strategies import counts, simplex_rows
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import cam, em, hplsa
from topiarist.models.engine import host
from topiarist.models.path_models import make_uniform_mix

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "cam_em.json").read_text())
NODE_MIX = {"heldout": "heldout", "train": "ml", "fixed": "fixed"}
SEEDS = st.integers(0, 10**6)
MIXES = st.sampled_from(["heldout", "ml", "fixed"])
TEMPERATURES = st.sampled_from([1.0, 2.5])


def model_of(mask, kernels="compiled", n_threads=1, **options):
    return cam.Cam(host.Engine(load(kernels), Threads(n_threads)), mask, **options)


def params_of(word_given_node, node_given_cluster, cluster_prior):
    words = np.ascontiguousarray(word_given_node, dtype=float)
    return cam.Params(words, np.asarray(node_given_cluster, float), np.asarray(cluster_prior, float))


def random_params(mask, n_words, seed):
    rng = np.random.default_rng(seed)
    mix = mask * (rng.random(mask.shape) + 0.05)
    prior = simplex_rows(rng, 1, len(mask))[0]
    return params_of(simplex_rows(rng, mask.shape[1], n_words), mix / mix.sum(axis=1, keepdims=True), prior)


def any_mask(seed):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 9))
    return trees.random_tree(rng, n_nodes, int(rng.integers(1, n_nodes + 1)))


def drawn(matrix, seed):
    """Some tokens of each document, to be held out beside the others."""
    return csr_matrix(np.random.default_rng(seed).binomial(matrix.toarray().astype(int), 0.5).astype(float))


def pull(matrix, mask, seed):
    """A prior: the words of the collection, and pseudo-tokens that some nodes have."""
    frequency = matrix.toarray().sum(axis=0)
    tokens = np.random.default_rng(seed).choice([0.0, 0.5, 20.0], mask.shape[1])
    return {"collection": frequency / frequency.sum(), "prior_tokens": tokens}


def block_of(training, heldout=None, dtype=None):
    return cam.Block(Shard.from_matrix(training, dtype), None if heldout is None else Shard.from_matrix(heldout, dtype))


def run(model, block, start, steps, temperature=1.0):
    rules = em.Rules(max_iter=steps, tol=-np.inf, accelerate=False)
    return em.run(model, [block], em.State(start, (None,)), rules, inverse_temperature=1 / temperature)


def check_simplices(params, mask, rtol=1e-12):
    for rows in (params.word_given_node, params.node_given_cluster, params.cluster_prior):
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(rows.sum(axis=-1), 1.0, rtol=rtol)
    assert (params.node_given_cluster[~mask] == 0).all()


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
@pytest.mark.parametrize("case", GOLDEN["after5"], ids=lambda case: f"{case['fit_pac']}-{case['T']}")
def test_fit_matches_golden_cases(kernels, case):
    training, heldout = (csr_matrix(np.array(GOLDEN[part])) for part in ("train", "heldout"))
    mask, temperature = trees.path_mask(GOLDEN["parent"], GOLDEN["class_node"]), case["T"]
    start = params_of(GOLDEN["init"]["pwa"], GOLDEN["init"]["pac"], GOLDEN["init"]["pc"])
    node_mix = NODE_MIX[case["fit_pac"]]
    model = model_of(
        mask, kernels, node_mix=node_mix, fixed_mix=start.node_given_cluster if node_mix == "fixed" else None
    )
    block = block_of(training, heldout)
    fit = run(model, block, start, 5, temperature)
    result = fit.state.shared
    np.testing.assert_allclose(np.array(fit.objectives[:5]) / temperature, case["F_T"], rtol=1e-9)
    np.testing.assert_allclose(result.cluster_prior, case["pc"], atol=1e-9)
    np.testing.assert_allclose(result.node_given_cluster, case["pac"], atol=1e-9)
    np.testing.assert_allclose(result.word_given_node, case["pwa"], atol=1e-9)
    posterior = model.fold_in(result, block.training.rows, 1 / temperature)
    np.testing.assert_allclose(posterior, case["posterior"], atol=1e-9)
    predictive = posterior @ model.class_word_table(result).T
    np.testing.assert_allclose(predictive, case["predictive"], atol=1e-9)
    likelihood = (heldout.toarray() * np.log(case["predictive"])).sum()
    assert model.log_likelihood(result, block.heldout.rows, posterior) == pytest.approx(likelihood, rel=1e-9)
    nodes = clusters.node_given_doc(training.toarray(), posterior, result.node_given_cluster, result.word_given_node)
    np.testing.assert_allclose(nodes, case["node_posterior"], atol=1e-9)


@given(counts(max_docs=6, max_words=7), SEEDS, MIXES, TEMPERATURES, st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_step_matches_textbook(matrix, seed, node_mix, temperature, smooth, lists):
    mask, heldout = any_mask(seed), drawn(matrix, seed)
    params = random_params(mask, matrix.shape[1], seed)
    words, mix, prior = params.word_given_node, params.node_given_cluster, params.cluster_prior
    prior_of_words = pull(matrix, mask, seed) if smooth else {}
    model = model_of(mask, node_mix=node_mix, fixed_mix=mix, **prior_of_words)
    block = block_of(matrix, heldout)
    with patch.object(
        host, "MAX_DENSE_CLASSES", 0 if lists else host.MAX_DENSE_CLASSES
    ):  # as in a tree of many classes
        stats, posterior = model.e_step(params, block, None, 1 / temperature)
    mix_counts = heldout if node_mix == "heldout" else matrix
    naive = clusters.sums(matrix.toarray(), mix_counts.toarray(), prior, mix, words, temperature)
    np.testing.assert_allclose(posterior, naive.posterior, rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(posterior, model.fold_in(params, block.training.rows, 1 / temperature))
    np.testing.assert_allclose(stats.node_word_count, naive.node_word, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(stats.cluster_node_count, naive.cluster_node, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(stats.cluster_count, naive.posterior.sum(axis=0), rtol=1e-10)
    assert stats.objective == pytest.approx(temperature * naive.free_energy, rel=1e-11, abs=1e-12)
    new = model.m_step(stats)
    check_simplices(new, mask)
    node_word = naive.node_word
    if smooth:
        node_word = node_word + np.outer(prior_of_words["prior_tokens"], prior_of_words["collection"])
    filled = node_word.sum(axis=1) > 0
    expected = node_word[filled] / node_word[filled].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(new.word_given_node[filled], expected, rtol=1e-10, atol=1e-12)
    filled = naive.cluster_node.sum(axis=1) > 0
    expected = naive.cluster_node[filled] / naive.cluster_node[filled].sum(axis=1, keepdims=True)
    expected = mix[filled] if node_mix == "fixed" else expected
    np.testing.assert_allclose(new.node_given_cluster[filled], expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(new.cluster_prior, naive.posterior.mean(axis=0), rtol=1e-10)


def test_prior_equals_pseudo_tokens():
    words = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0], [0.0, 0.0, 1.0]])
    params = params_of(words, [[0.5, 0.5, 0], [0.5, 0, 0.5]], [0.5, 0.5])
    mask = params.node_given_cluster > 0
    collection, tokens = np.array([0.7, 0.3, 0.0]), np.array([5.0, 2.0, 0.0])
    model = model_of(mask, node_mix="ml", collection=collection, prior_tokens=tokens)
    expected = 5 * (0.7 * np.log(0.2) + 0.3 * np.log(0.3)) + 2 * (0.7 * np.log(0.6) + 0.3 * np.log(0.4))
    assert model.log_prior(params) == pytest.approx(expected, rel=1e-12)
    assert replace(model, prior_tokens=None).log_prior(params) == 0.0


@given(
    counts(max_docs=12, max_words=15, min_filled=3),
    SEEDS,
    st.sampled_from(["ml", "fixed"]),
    TEMPERATURES,
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_objective_never_falls(matrix, seed, node_mix, temperature, smooth):
    mask = any_mask(seed)
    start = random_params(mask, matrix.shape[1], seed)
    prior_of_words = pull(matrix, mask, seed) if smooth else {}
    model = model_of(mask, node_mix=node_mix, fixed_mix=start.node_given_cluster, **prior_of_words)
    assert model.is_monotone
    fit = run(model, block_of(matrix), start, 30, temperature)
    objectives = np.array(fit.objectives)
    slack = 1e-9 * np.maximum(np.abs(objectives[:-1]), matrix.sum())  # an objective may be zero: one word, certain
    assert (np.diff(objectives) >= -slack).all()
    check_simplices(fit.state.shared, mask)
    np.testing.assert_allclose(fit.state.local[0].sum(axis=1), 1, rtol=1e-12)
    if node_mix == "fixed":
        np.testing.assert_array_equal(fit.state.shared.node_given_cluster, start.node_given_cluster)


@given(counts(max_docs=9, min_filled=2), SEEDS, MIXES)
@settings(max_examples=25, deadline=None)
def test_step_follows_permutations(matrix, seed, node_mix):
    rng, mask, heldout = np.random.default_rng(seed), any_mask(seed), drawn(matrix, seed)
    start = random_params(mask, matrix.shape[1], seed)
    docs, words = rng.permutation(matrix.shape[0]), rng.permutation(matrix.shape[1])
    groups, nodes = rng.permutation(mask.shape[0]), rng.permutation(mask.shape[1])

    def moved(params):
        return params_of(
            params.word_given_node[nodes][:, words],
            params.node_given_cluster[groups][:, nodes],
            params.cluster_prior[groups],
        )

    there_start = moved(start)
    here_model = model_of(mask, node_mix=node_mix, fixed_mix=start.node_given_cluster)
    there_model = model_of(mask[groups][:, nodes], node_mix=node_mix, fixed_mix=there_start.node_given_cluster)
    here = run(here_model, block_of(matrix, heldout), start, 4).state
    there_block = block_of(*(csr_matrix(part[docs][:, words]) for part in (matrix, heldout)))
    there = run(there_model, there_block, there_start, 4).state
    expected = moved(here.shared)
    np.testing.assert_allclose(there.local[0], here.local[0][docs][:, groups], atol=1e-11)
    np.testing.assert_allclose(there.shared.word_given_node, expected.word_given_node, atol=1e-11)
    np.testing.assert_allclose(there.shared.node_given_cluster, expected.node_given_cluster, atol=1e-11)
    np.testing.assert_allclose(there.shared.cluster_prior, expected.cluster_prior, atol=1e-11)


def test_counts_match_hplsa_for_certain_documents():
    """HACM of the HPLSA paper is this model: its expected counts are those of HPLSA at P(α|i) = P(c|d)."""
    mask, rng = trees.balanced(2), np.random.default_rng(0)
    n_nodes, per_node = mask.shape[1], 4
    words = 0.02 / (n_nodes * per_node) + 0.98 * np.kron(np.eye(n_nodes), np.full(per_node, 1 / per_node))
    mix = mask * (rng.random(mask.shape) + 0.5)
    params = params_of(words, mix / mix.sum(axis=1, keepdims=True), simplex_rows(rng, 1, 4)[0])
    said = params.node_given_cluster @ params.word_given_node
    cluster = np.arange(20) % 4
    tokens = np.stack([rng.multinomial(2000, said[c]) for c in cluster]).astype(float)
    block = block_of(csr_matrix(tokens), csr_matrix(rng.binomial(tokens.astype(int), 0.3).astype(float)))
    for node_mix in ("ml", "heldout"):
        stats, posterior = model_of(mask, node_mix=node_mix).e_step(params, block)
        np.testing.assert_allclose(posterior, np.eye(4)[cluster], atol=1e-15)
        other = hplsa.Hplsa(host.Engine(load("compiled"), Threads(1)), mask, topic_mix=node_mix)
        expected, rows = other.e_step(
            hplsa.Params(params.word_given_node, params.node_given_cluster), hplsa.Block(*block[:2]), posterior
        )
        np.testing.assert_allclose(stats.node_word_count, expected.topic_word_count, rtol=0, atol=1e-9)
        np.testing.assert_allclose(stats.cluster_node_count, expected.class_topic_count, rtol=0, atol=1e-9)
        np.testing.assert_allclose(rows, posterior, atol=1e-12)  # and documents stay where they are


@given(counts(max_docs=9, max_words=12, min_filled=3), SEEDS)
@settings(max_examples=25, deadline=None)
def test_single_node_paths_match_distributional_clustering(matrix, seed):
    mask = np.eye(3, dtype=bool)
    start = random_params(mask, matrix.shape[1], seed)
    fit = run(model_of(mask, node_mix="ml"), block_of(matrix), start, 1)
    posterior, prior, words = clusters.multinomial_mixture_step(
        matrix.toarray(), start.cluster_prior, start.word_given_node
    )
    np.testing.assert_allclose(fit.state.local[0], posterior, atol=1e-12)
    np.testing.assert_allclose(fit.state.shared.cluster_prior, prior, rtol=1e-10)
    np.testing.assert_allclose(fit.state.shared.word_given_node, words, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(fit.state.shared.node_given_cluster, mask)


@pytest.mark.parametrize("node_mix", ["heldout", "ml", "fixed"])
def test_fit_recovers_planted_clusters(node_mix):
    mask = trees.balanced(2)
    data, truth, words = trees.planted(np.random.default_rng(4), mask)
    heldout = drawn(csr_matrix(data.astype(float)), 3)
    block = block_of(csr_matrix(data - heldout.toarray()), heldout)
    even, rng = make_uniform_mix(mask), np.random.default_rng(0)
    collection = data.sum(axis=0) / data.sum()
    model = model_of(
        mask, node_mix=node_mix, fixed_mix=even, collection=collection, prior_tokens=np.full(mask.shape[1], 0.5)
    )

    def one_start():
        first = hplsa.create_start([block.training], mask, rng, 0.01).shared
        start = params_of(first.word_given_topic, even, np.full(len(mask), 0.25))
        warm = run(model, block, start, 20, 20.0).state.shared  # documents choose slowly, so that they choose well
        return run(model, block, warm, 20)

    fit = em.run_starts(one_start, 6)
    result = fit.state.local[0].argmax(axis=1)
    joint = np.zeros((4, 4))
    np.add.at(joint, (result, truth), 1)
    rows, columns = linear_sum_assignment(-joint)
    assert joint[rows, columns].sum() > 0.95 * len(truth)
    distance = np.abs(model.class_word_table(fit.state.shared).T[rows] - (even @ words)[columns]).sum(axis=1) / 2
    assert distance.max() < 0.1


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("node_mix", ["heldout", "ml", "fixed"])
def test_step_without_counts_stays_finite(node_mix, dtype, kernels):
    mask = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 1, 0]], bool)  # the last node is on no path
    matrix = csr_matrix(np.array([[0, 0, 0], [2, 0, 0], [0, 0, 3], [0, 0, 0]], float))  # the second word never occurs
    words = np.array([[1, 0, 0]] * 5, dtype)  # nobody can say the last word
    mix = np.array([[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0.5, 0, 0, 0.5, 0]])
    start = cam.Params(words, mix, np.array([0.5, 0.5, 0.0]))  # no document is in the last cluster
    model = model_of(mask, kernels, node_mix=node_mix, fixed_mix=mix)
    block = block_of(matrix, 0 * matrix, dtype)
    fit = run(model, block, start, 3, 1.5)
    assert np.isfinite(fit.objectives).all()
    check_simplices(fit.state.shared, mask, rtol=1e-6)
    np.testing.assert_allclose(fit.state.local[0].sum(axis=1), 1, rtol=1e-6)
    assert fit.state.shared.cluster_prior[2] < 1e-100
    assert np.isfinite(model.log_likelihood(fit.state.shared, block.training.rows, fit.state.local[0]))


def test_empty_document_has_cluster_prior():
    mask = trees.balanced(1, 3)
    params = random_params(mask, 2, 0)
    posterior = model_of(mask).fold_in(params, Shard.from_matrix(csr_matrix((1, 2))).rows, 0.4)
    np.testing.assert_allclose(posterior[0], params.cluster_prior, rtol=1e-12)


def test_step_requires_heldout_tokens():
    mask = trees.balanced(1)
    params, matrix = random_params(mask, 3, 0), csr_matrix(np.eye(3))
    model = model_of(mask)
    assert not model.is_monotone
    with pytest.raises(ValueError, match="Block\\(training, heldout\\)"):
        model.e_step(params, block_of(matrix))
    state = em.State(params, (None,))
    assert model.extrapolate(state, state, 2.0) is state


def test_parameters_reject_wrong_shapes():
    with pytest.raises(ValueError, match="C-contiguous"):
        cam.Params(np.ones((3, 4)).T, np.ones((1, 4)), np.ones(1))
    with pytest.raises(ValueError, match="of 2 clusters and 2 nodes"):
        cam.Params(np.ones((3, 4)), np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="of 2 clusters and 3 nodes"):
        cam.Params(np.ones((3, 4)), np.ones((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match="a node on every path"):
        model_of(np.array([[True, False], [False, False]]))
    with pytest.raises(ValueError, match=r"fixed_mix, P\(a\|c\) of shape \(2, 3\)"):
        model_of(trees.balanced(1), node_mix="fixed")
