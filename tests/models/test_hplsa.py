"""The mathematics of HPLSA: against the blackboard, against golden cases, and by its laws."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from tests.oracles import trees
from tests.strategies import counts, simplex_rows
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import em, hplsa, plsa
from topiarist.models.engine.host import Engine
from topiarist.models.path_models import make_uniform_mix

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "hplsa_em.json").read_text())
SEEDS = st.integers(0, 10**6)


def model_of(mask, kernels="compiled", n_threads=1, **options):
    return hplsa.Hplsa(Engine(load(kernels), Threads(n_threads)), mask, **options)


def state_of(rows, topic_given_class, word_given_topic):
    words = np.ascontiguousarray(word_given_topic, dtype=float)
    return em.State(hplsa.Params(words, np.asarray(topic_given_class, float)), (np.asarray(rows, float),))


def random_start(matrix, mask, seed):
    rng = np.random.default_rng(seed)
    mix = mask * (rng.random(mask.shape) + 0.05)
    rows = simplex_rows(rng, matrix.shape[0], len(mask))
    return state_of(rows, mix / mix.sum(axis=1, keepdims=True), simplex_rows(rng, mask.shape[1], matrix.shape[1]))


def any_mask(seed):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 9))
    return trees.random_tree(rng, n_nodes, int(rng.integers(1, n_nodes + 1)))


def run(model, matrix, start, steps, beta=1.0, accelerate=False):
    rules = em.Rules(max_iter=steps, tol=0.0, accelerate=accelerate)
    return em.run(model, [Shard.from_matrix(matrix)], start, rules, inverse_temperature=beta)


def never_falls(objectives, matrix):
    objectives = np.array(objectives)
    slack = 1e-9 * np.maximum(np.abs(objectives[:-1]), matrix.sum())  # an objective may be zero: one word, certain
    return (np.diff(objectives) >= -slack).all()


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['tree']}-{case['beta']}")
def test_fit_matches_golden_cases(kernels, case):
    matrix = csr_matrix(np.array(GOLDEN["counts"]))
    lengths = np.asarray(matrix.sum(axis=1)).ravel()
    mask = trees.path_mask(case["parent"], case["class_node"])
    joint = np.array(case["init"]["pia"]) * np.array(case["init"]["pa"])
    start = state_of(joint / joint.sum(axis=1, keepdims=True), case["init"]["pva"], case["init"]["pjv"])
    model = model_of(mask, kernels)
    for steps, expected in case["after"].items():
        fit = run(model, matrix, start, int(steps), case["beta"])
        rows = fit.state.local[0]
        np.testing.assert_allclose(fit.state.shared.word_given_topic, expected["pjv"], atol=1e-9)
        np.testing.assert_allclose(fit.state.shared.topic_given_class, expected["pva"], atol=1e-9)
        np.testing.assert_allclose(hplsa.class_prior(rows, lengths), expected["pa"], atol=1e-9)
        np.testing.assert_allclose(hplsa.doc_given_class(rows, lengths).T, expected["pia"], atol=1e-9)
    np.testing.assert_allclose(rows, case["class_posterior_10"], atol=1e-9)
    # (H2) counts P(i) as well: as started, and after the first step n(i)/L
    first = lengths @ np.log(joint.sum(axis=1))
    later = lengths @ np.log(lengths / lengths.sum())
    tempered = np.array(fit.objectives) + np.array([first] + 10 * [later])
    np.testing.assert_allclose(tempered[: len(case["tempered_objective"])], case["tempered_objective"], rtol=1e-9)
    likelihood = model.log_likelihood(fit.state.shared, Shard.from_matrix(matrix).rows, rows) + later
    assert likelihood == pytest.approx(case["loglik_10"], rel=1e-9)


@given(counts(max_docs=6, max_words=7), SEEDS, st.sampled_from([0.3, 0.7, 1.0]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_step_matches_textbook(matrix, seed, beta, smooth):
    mask = any_mask(seed)
    word_smoothing, class_smoothing = (0.2, 0.3) if smooth else (0.0, 0.0)
    start = random_start(matrix, mask, seed)
    words, mix, rows = start.shared.word_given_topic, start.shared.topic_given_class, start.local[0]
    model = model_of(mask, word_smoothing=word_smoothing, class_smoothing=class_smoothing)
    stats, following = model.e_step(start.shared, Shard.from_matrix(matrix), rows, beta)
    naive = trees.sums(matrix.toarray(), rows, mix, words, beta)
    np.testing.assert_allclose(stats.topic_word_count, naive.topic_word, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(stats.class_topic_count, naive.class_topic, rtol=1e-10, atol=1e-12)
    prior = class_smoothing * np.log(rows).sum()
    assert stats.objective == pytest.approx(naive.objective + prior, rel=1e-11)
    doc_class = naive.doc_class + class_smoothing
    total = doc_class.sum(axis=1, keepdims=True)
    expected = np.where(total > 0, doc_class / np.where(total > 0, total, 1), 1 / len(mask))
    np.testing.assert_allclose(following, expected, atol=1e-12)
    new = model.m_step(stats)
    np.testing.assert_allclose(new.word_given_topic.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(new.topic_given_class.sum(axis=1), 1.0, rtol=1e-12)
    assert (new.topic_given_class[~mask] == 0).all()
    filled = naive.topic_word.sum(axis=1) > 0
    smoothed = (naive.topic_word + word_smoothing)[filled]
    np.testing.assert_allclose(
        new.word_given_topic[filled], smoothed / smoothed.sum(axis=1, keepdims=True), rtol=1e-10, atol=1e-12
    )
    assert model.log_prior(new) == pytest.approx(
        word_smoothing * np.log(new.word_given_topic).sum() if smooth else 0.0, rel=1e-11
    )


@given(
    counts(max_docs=12, max_words=15, min_filled=3),
    SEEDS,
    st.sampled_from(["em", "cem"]),
    st.sampled_from(["ml", "uniform"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_objective_never_falls(matrix, seed, variant, topic_mix, accelerate):
    rng = np.random.default_rng(seed)
    word_smoothing, class_smoothing = rng.choice([0.0, 0.01, 0.5], 2)
    mask = any_mask(seed)
    model = model_of(
        mask,
        word_smoothing=word_smoothing,
        class_smoothing=class_smoothing,
        variant=variant,
        topic_mix=topic_mix,
    )
    assert model.is_monotone
    fit = run(model, matrix, random_start(matrix, mask, seed), 30, rng.choice([0.3, 0.7, 1.0]), accelerate)
    assert never_falls(fit.objectives, matrix)
    params = fit.state.shared
    np.testing.assert_allclose(params.word_given_topic.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(params.topic_given_class.sum(axis=1), 1, rtol=1e-12)
    assert (params.topic_given_class[~mask] == 0).all()
    np.testing.assert_allclose(fit.state.local[0].sum(axis=1), 1, rtol=1e-12)
    if topic_mix == "uniform":
        np.testing.assert_array_equal(params.topic_given_class, make_uniform_mix(mask))


@given(counts(max_docs=9, min_filled=2), SEEDS)
@settings(max_examples=25, deadline=None)
def test_step_follows_permutations(matrix, seed):
    rng, mask = np.random.default_rng(seed), any_mask(seed)
    start = random_start(matrix, mask, seed)
    docs, words = rng.permutation(matrix.shape[0]), rng.permutation(matrix.shape[1])
    classes, nodes = rng.permutation(mask.shape[0]), rng.permutation(mask.shape[1])
    moved = state_of(
        start.local[0][docs][:, classes],
        start.shared.topic_given_class[classes][:, nodes],
        start.shared.word_given_topic[nodes][:, words],
    )
    here = run(model_of(mask), matrix, start, 4).state
    there = run(model_of(mask[classes][:, nodes]), csr_matrix(matrix[docs][:, words]), moved, 4).state
    np.testing.assert_allclose(there.local[0], here.local[0][docs][:, classes], atol=1e-12)
    np.testing.assert_allclose(there.shared.word_given_topic, here.shared.word_given_topic[nodes][:, words], atol=1e-12)
    np.testing.assert_allclose(
        there.shared.topic_given_class, here.shared.topic_given_class[classes][:, nodes], atol=1e-12
    )


@given(counts(max_docs=9, max_words=12, min_filled=2), SEEDS, st.sampled_from([0.5, 1.0]))
@settings(max_examples=25, deadline=None)
def test_classes_without_ancestors_match_plsa(matrix, seed, beta):
    mask = np.eye(4, dtype=bool)
    start = random_start(matrix, mask, seed)
    tree = run(model_of(mask, word_smoothing=0.1, class_smoothing=0.2), matrix, start, 5, beta)
    flat = run(
        plsa.Plsa(Engine(load(), Threads(1)), 0.1, 0.2),
        matrix,
        em.State(plsa.Params.of(start.shared.word_given_topic), start.local),
        5,
        beta,
    )
    assert tree.objectives == pytest.approx(flat.objectives, rel=1e-12)
    np.testing.assert_allclose(tree.state.local[0], flat.state.local[0], atol=1e-12)
    np.testing.assert_allclose(tree.state.shared.word_given_topic, flat.state.shared.word_given_component, atol=1e-12)


@pytest.mark.parametrize("inner", [False, True], ids=["flat", "hierarchy"])
def test_certain_classes_give_direct_estimates(inner):
    rng = np.random.default_rng(12)
    matrix, classes = csr_matrix(rng.poisson(1.0, (30, 12)).astype(float)), np.repeat(np.arange(3), 10)
    mask = trees.path_mask([-1, 0, 0, 1, 1], [2, 3, 4]) if inner else np.eye(3, dtype=bool)
    known = np.eye(3)[classes]
    start = random_start(matrix, mask, 12)
    fit = run(model_of(mask), matrix, em.State(start.shared, (known,)), 3 if inner else 1)
    lengths, counted = np.asarray(matrix.sum(axis=1)).ravel(), known.T @ matrix.toarray()
    rows, tokens = fit.state.local[0], counted.sum(axis=1)
    np.testing.assert_array_equal(rows, known)
    np.testing.assert_allclose(hplsa.class_prior(rows, lengths), tokens / lengths.sum(), rtol=1e-12)
    np.testing.assert_allclose(
        hplsa.doc_given_class(rows, lengths), known.T * lengths / tokens[:, None], rtol=1e-12, atol=1e-15
    )
    if not inner:
        np.testing.assert_allclose(fit.state.shared.word_given_topic, counted / tokens[:, None], rtol=1e-12)
        return
    words, mix = start.shared.word_given_topic, start.shared.topic_given_class
    for _ in range(3):  # the only thing left to find out is the topic of each token: a mixture on each path
        joint = mix[:, :, None] * words
        given = counted[:, None] * joint / joint.sum(axis=1, keepdims=True)
        words = given.sum(axis=0) / given.sum(axis=(0, 2))[:, None]
        mix = given.sum(axis=2) / tokens[:, None]
    np.testing.assert_allclose(fit.state.shared.word_given_topic, words, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(fit.state.shared.topic_given_class, mix, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("variant", ["em", "cem", "sem"])
@pytest.mark.parametrize("n_threads", [2, 3])
def test_bits_independent_of_threads(n_threads, variant, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.shard.MIN_SLICE_NONZEROS", 50)  # many pieces, also of little work
    monkeypatch.setattr("topiarist.kernels.shard.MIN_TILE_DOCUMENTS", 64)
    monkeypatch.setattr("topiarist.kernels.shard.TILE_BYTES", 64)
    monkeypatch.setattr("topiarist.models.engine.host.SLICE_NUMBERS", 100)
    monkeypatch.setattr("topiarist.models.hplsa.MAX_NUMBERS", 100)
    matrix, mask = csr_matrix(np.random.default_rng(5).poisson(0.3, (200, 150))), trees.balanced(2)
    ends = []
    for threads in (1, n_threads):
        shard = Shard.from_matrix(matrix, np.float32)
        start = hplsa.create_start([shard], mask, np.random.default_rng(1), 0.01)
        model = model_of(mask, n_threads=threads, word_smoothing=0.01, class_smoothing=0.05, variant=variant, seed=3)
        rules = em.Rules(max_iter=6, tol=-np.inf, accelerate=model.is_monotone)
        fit = em.run(model, [shard], start, rules)
        assert fit.steps == 6
        ends.append((fit.objectives, fit.state))
    assert ends[0][0] == ends[1][0]
    assert np.array_equal(ends[0][1].local[0], ends[1][1].local[0])
    assert np.array_equal(ends[0][1].shared.word_given_topic, ends[1][1].shared.word_given_topic)
    assert np.array_equal(ends[0][1].shared.topic_given_class, ends[1][1].shared.topic_given_class)


def test_document_slices_have_even_work(monkeypatch):
    monkeypatch.setattr(hplsa, "MAX_NUMBERS", 6)
    rows = Shard.from_matrix(csr_matrix(np.ones((5, 3))), np.float64).rows
    assert hplsa._slice_documents(rows, 2) == [slice(row, row + 1) for row in range(5)]
    assert hplsa._slice_documents(rows, 1) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    short = Shard.from_matrix(csr_matrix(np.eye(4)), np.float64).rows
    assert len(hplsa._slice_documents(short, 7)) == 4  # with more classes than numbers: one by one


@pytest.mark.parametrize("variant", ["em", "cem", "sem"])
def test_fit_recovers_planted_classes(variant):
    mask = trees.balanced(2)
    data, truth, words = trees.planted(np.random.default_rng(4), mask)
    shard = Shard.from_matrix(csr_matrix(data))
    model = model_of(mask, variant=variant, word_smoothing=0.01, class_smoothing=0.05)
    rng = np.random.default_rng(0)
    rules = em.Rules(max_iter=60, tol=1e-6, weight=data.sum(), accelerate=model.is_monotone)
    first = replace(model, variant="em")  # hard assignments cannot leave a bad start: they need a few soft steps

    def one_start():
        start = hplsa.create_start([shard], mask, rng, 0.01)
        if variant == "cem":
            start = em.run(first, [shard], start, replace(rules, max_iter=20)).state
        return em.run(model, [shard], start, rules)

    fit = em.run_starts(one_start, 4)
    result = fit.state.local[0].argmax(axis=1)
    joint = np.zeros((4, 4))
    np.add.at(joint, (result, truth), 1)
    rows, columns = linear_sum_assignment(-joint)
    assert joint[rows, columns].sum() > 0.95 * len(truth)
    classes = model.class_word_table(fit.state.shared).T[rows]  # which node of a path has a word is not determined
    distance = np.abs(classes - (make_uniform_mix(mask) @ words)[columns]).sum(axis=1) / 2
    assert distance.max() < 0.1


def test_topic_mix_uses_heldout_tokens():
    rng = np.random.default_rng(8)
    mask = trees.path_mask([-1, 0, 0, 1], [1, 2, 3])
    training, heldout = (csr_matrix(rng.poisson(1.0, (6, 7)).astype(float)) for _ in range(2))
    start = random_start(training, mask, 1)
    words, mix, rows = start.shared.word_given_topic, start.shared.topic_given_class, start.local[0]
    model = model_of(mask, topic_mix="heldout")
    assert not model.is_monotone
    assert model.extrapolate(start, start, 2.0) is start
    block = hplsa.Block(Shard.from_matrix(training), Shard.from_matrix(heldout))
    stats, _ = model.e_step(start.shared, block, rows, 0.7)
    here, there = (trees.sums(part.toarray(), rows, mix, words, 0.7) for part in (training, heldout))
    np.testing.assert_allclose(stats.class_topic_count, there.class_topic, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(stats.topic_word_count, here.topic_word, rtol=1e-10, atol=1e-12)
    assert stats.objective == pytest.approx(here.objective, rel=1e-12)
    with pytest.raises(ValueError, match="Block\\(training, heldout\\)"):
        model.e_step(start.shared, Shard.from_matrix(training), rows)


def test_cem_assigns_tokens_to_best_pair():
    rng = np.random.default_rng(9)
    mask = trees.path_mask([-1, 0, 0, 1], [1, 2, 3])
    matrix = csr_matrix(rng.poisson(1.0, (6, 7)).astype(float))
    start = random_start(matrix, mask, 2)
    words, mix, rows = start.shared.word_given_topic, start.shared.topic_given_class, start.local[0]
    stats, following = model_of(mask, variant="cem").e_step(start.shared, Shard.from_matrix(matrix), rows)
    topic_word, doc_class, objective = np.zeros_like(words), np.zeros_like(rows), 0.0
    for i, j in zip(*matrix.nonzero(), strict=True):
        joint = rows[i][:, None] * mix * words[:, j]
        kind, node = np.unravel_index(joint.argmax(), joint.shape)
        topic_word[node, j] += matrix[i, j]
        doc_class[i, kind] += matrix[i, j]
        objective += matrix[i, j] * np.log(joint.max())
    np.testing.assert_allclose(stats.topic_word_count, topic_word)
    np.testing.assert_allclose(following, doc_class / doc_class.sum(axis=1, keepdims=True))
    assert stats.objective == pytest.approx(objective, rel=1e-12)


def test_sem_draws_whole_tokens_in_proportion():
    mask = trees.path_mask([-1, 0, 0, 1], [1, 2, 3])
    matrix = csr_matrix(np.random.default_rng(10).poisson(3.0, (5, 6)) * 2000.0)
    start = random_start(matrix, mask, 3)
    shared, rows = start.shared, start.local[0]
    naive = trees.sums(matrix.toarray(), rows, shared.topic_given_class, shared.word_given_topic)
    stats, following = model_of(mask, variant="sem", seed=1).e_step(shared, Shard.from_matrix(matrix), rows)
    assert (stats.topic_word_count == np.round(stats.topic_word_count)).all()
    np.testing.assert_allclose(stats.topic_word_count.sum(axis=0), matrix.toarray().sum(axis=0))
    assert stats.objective == pytest.approx(naive.objective, rel=1e-12)
    spread = np.sqrt(naive.topic_word + 1)
    assert (np.abs(stats.topic_word_count - naive.topic_word) < 5 * spread).all()
    assert (np.abs(stats.class_topic_count - naive.class_topic) < 5 * np.sqrt(naive.class_topic + 1)).all()
    np.testing.assert_allclose(following, naive.doc_class / naive.doc_class.sum(axis=1, keepdims=True), atol=0.02)
    other, _ = model_of(mask, variant="sem", seed=2).e_step(shared, Shard.from_matrix(matrix), rows)
    assert not np.array_equal(stats.topic_word_count, other.topic_word_count)
    broken, _ = model_of(mask, variant="sem").e_step(shared, Shard.from_matrix(matrix * 0.00025), rows)
    np.testing.assert_allclose(broken.topic_word_count.sum(), matrix.sum() * 0.00025)


@pytest.mark.parametrize("variant", ["em", "cem", "sem"])
def test_step_without_counts_stays_finite(variant):
    mask = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], bool)  # the last node is on no path
    matrix = csr_matrix(np.array([[0, 0, 0], [2, 0, 0], [0, 0, 3], [0, 0, 0]], float))
    words = np.array([[1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]], float)  # nobody can say the last word
    start = state_of([[0, 1], [1, 0], [1, 0], [0.5, 0.5]], [[1, 0, 0, 0], [0, 0, 1, 0]], words)
    fit = run(model_of(mask, variant=variant), matrix, start, 3)
    assert np.isfinite(fit.objectives).all()
    params = fit.state.shared
    np.testing.assert_allclose(params.word_given_topic.sum(axis=1), 1)
    np.testing.assert_allclose(params.topic_given_class.sum(axis=1), 1)
    np.testing.assert_allclose(fit.state.local[0].sum(axis=1), 1)
    lengths = np.asarray(matrix.sum(axis=1)).ravel()
    np.testing.assert_allclose(hplsa.doc_given_class(fit.state.local[0], lengths).sum(axis=1), 1)
    np.testing.assert_allclose(hplsa.doc_given_class(fit.state.local[0], 0 * lengths).sum(axis=1), 1)
    np.testing.assert_allclose(hplsa.class_prior(fit.state.local[0], 0 * lengths), 0.5)


def test_fold_in_reaches_optimum_of_document():
    mask = trees.balanced(2)
    matrix = csr_matrix(trees.planted(np.random.default_rng(6), mask, 80)[0])
    shard, model = Shard.from_matrix(matrix), model_of(mask)
    start = hplsa.create_start([shard], mask, np.random.default_rng(0))
    fit = em.run(model, [shard], start, em.Rules(max_iter=100))
    folded = model.fold_in(fit.state.shared, shard.rows)
    assert model.log_likelihood(fit.state.shared, shard.rows, folded) >= fit.objectives[-1] - 1e-6 * matrix.sum()


def test_start_distinguishes_leaves_and_shared_topics():
    mask = trees.balanced(1, 3)
    matrix = csr_matrix(np.kron(np.eye(6), np.ones((1, 5))) * 10)
    state = hplsa.create_start([hplsa.Block(Shard.from_matrix(matrix))], mask, np.random.default_rng(0))
    words = state.shared.word_given_topic
    np.testing.assert_allclose(words.sum(axis=1), 1.0)
    assert words[0].max() < 0.07  # 1/30 and a disturbance
    assert (words[1:].max(axis=1) > 0.07).all()
    np.testing.assert_array_equal(state.shared.topic_given_class, make_uniform_mix(mask))
    np.testing.assert_array_equal(state.local[0], np.full((6, 3), 1 / 3))


def test_parameters_reject_wrong_shapes():
    with pytest.raises(ValueError, match="C-contiguous"):
        hplsa.Params(np.ones((3, 4)).T, np.ones((1, 4)))
    with pytest.raises(ValueError, match=r"\(classes, 3 topics\), not \(2, 2\)"):
        hplsa.Params(np.ones((3, 4)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="a node on every path"):
        model_of(np.array([[True, False], [False, False]]))
