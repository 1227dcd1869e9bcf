"""The mathematics of PLSA: against the blackboard, against golden cases, and by its laws."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from tests.oracles import textbook
from tests.strategies import counts, simplex_rows
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import em, online, plsa
from topiarist.models.engine.host import Engine

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "plsa_em.json").read_text())
CASES = {"plain": (1.0, 0.0, 0.0), "tempered_0.7": (0.7, 0.0, 0.0), "map_1.1_1.05": (1.0, 0.1, 0.05)}


def model_of(kernels="compiled", word_smoothing=0.0, component_smoothing=0.0, n_threads=1):
    return plsa.Plsa(Engine(load(kernels), Threads(n_threads)), word_smoothing, component_smoothing)


def state_of(component_given_doc, word_given_component):
    by_word = np.ascontiguousarray(np.asarray(word_given_component, dtype=float).T)
    return em.State(plsa.Params(by_word.T), (np.asarray(component_given_doc, dtype=float),))


def run(model, matrix, start, steps, beta=1.0, accelerate=False):
    rules = em.Rules(max_iter=steps, tol=0.0, accelerate=accelerate)
    return em.run(model, [Shard.from_matrix(matrix)], start, rules, inverse_temperature=beta)


def random_start(matrix, n_components, seed):
    rng = np.random.default_rng(seed)
    return state_of(simplex_rows(rng, matrix.shape[0], n_components), simplex_rows(rng, n_components, matrix.shape[1]))


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
@pytest.mark.parametrize("case", CASES)
def test_five_steps_match_golden_case(kernels, case):
    beta, word_smoothing, component_smoothing = CASES[case]
    start = state_of(GOLDEN["start"]["component_given_doc"], GOLDEN["start"]["word_given_component"])
    matrix = csr_matrix(np.array(GOLDEN["counts"]))
    model = model_of(kernels, word_smoothing, component_smoothing)
    fit = run(model, matrix, start, 5, beta)
    np.testing.assert_allclose(fit.state.local[0], GOLDEN[case]["component_given_doc"], atol=1e-12)
    np.testing.assert_allclose(fit.state.shared.word_given_component, GOLDEN[case]["word_given_component"], atol=1e-12)
    likelihood = model.log_likelihood(fit.state.shared, Shard.from_matrix(matrix).rows, fit.state.local[0])
    assert likelihood == pytest.approx(GOLDEN[case]["log_likelihood"][-1], rel=1e-12)


@given(
    counts(),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.sampled_from([(1, 0, 0), (0.6, 0, 0), (0.8, 0.2, 0.3)]),
)
@settings(max_examples=40, deadline=None)
def test_step_matches_textbook(matrix, n_components, seed, setting):
    beta, word_smoothing, component_smoothing = setting
    start = random_start(matrix, n_components, seed)
    fit = run(model_of("compiled", word_smoothing, component_smoothing), matrix, start, 1, beta)
    docs, words = textbook.em_step(
        matrix.toarray(),
        start.local[0],
        start.shared.word_given_component,
        beta,
        word_smoothing,
        component_smoothing,
    )
    np.testing.assert_allclose(fit.state.local[0], docs, atol=1e-12)
    np.testing.assert_allclose(fit.state.shared.word_given_component, words, atol=1e-12)
    arguments = (beta, word_smoothing, component_smoothing)
    before = textbook.objective(matrix.toarray(), start.local[0], start.shared.word_given_component, *arguments)
    after = textbook.objective(matrix.toarray(), docs, words, *arguments)
    assert fit.objectives == pytest.approx((before, after), rel=1e-11)


@given(counts(max_docs=12, max_words=15, min_filled=3), st.integers(1, 5), st.integers(0, 10**6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_objective_never_falls(matrix, n_components, seed, accelerate):
    rng = np.random.default_rng(seed)
    beta = rng.choice([0.5, 0.7, 0.9, 1.0])
    smoothing = rng.choice([0.0, 0.01, 0.5], 2)
    fit = run(
        model_of("compiled", *smoothing),
        matrix,
        random_start(matrix, n_components, seed),
        40,
        beta,
        accelerate,
    )
    objectives = np.array(fit.objectives)
    slack = 1e-9 * np.maximum(np.abs(objectives[:-1]), matrix.sum())  # an objective may be zero: one word, certain
    assert (np.diff(objectives) >= -slack).all()
    np.testing.assert_allclose(fit.state.shared.word_given_component.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(fit.state.local[0].sum(axis=1), 1, rtol=1e-12)


def test_single_precision_matches_double_precision():
    rng = np.random.default_rng(0)
    matrix = csr_matrix(textbook.planted(rng, 500, 120, 6)[0])
    model = model_of("compiled", 0.01, 0.05)
    ends = []
    for dtype in (np.float32, np.float64):
        shard = Shard.from_matrix(matrix, dtype)
        start = plsa.create_start([shard], 6, np.random.default_rng(1))
        fit = em.run(model, [shard], start, em.Rules(max_iter=60, tol=0.0))
        ends.append(fit.objectives)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-6)
    assert (np.diff(ends[0]) >= -1e-7 * np.abs(ends[0][0])).all()


def test_single_component_matches_unigram_model():
    matrix = csr_matrix(np.array([[1, 2, 0], [0, 3, 4]], float))
    fit = run(model_of(), matrix, random_start(matrix, 1, 0), 1)
    np.testing.assert_allclose(fit.state.shared.word_given_component[0], np.array([1, 5, 4]) / 10, rtol=1e-12)


def test_fit_recovers_planted_components():
    rng = np.random.default_rng(4)
    data, mixing, words = textbook.planted(rng, 500, 60, 5)
    shard = Shard.from_matrix(csr_matrix(data))
    start = plsa.create_start([shard], 5, np.random.default_rng(0))
    fit = em.run(model_of(), [shard], start, em.Rules(max_iter=300, tol=1e-6))
    result = fit.state.shared.word_given_component
    distance = np.abs(result[:, None] - words[None]).sum(axis=2) / 2
    rows, columns = linear_sum_assignment(distance)
    assert distance[rows, columns].max() < 0.06
    np.testing.assert_allclose(fit.state.local[0][:, rows], mixing[:, columns], atol=0.12)


def test_fold_in_reaches_optimum_of_document():
    rng = np.random.default_rng(6)
    matrix = csr_matrix(textbook.planted(rng, 80, 40, 4)[0])
    shard, model = Shard.from_matrix(matrix), model_of()
    fit = em.run(model, [shard], plsa.create_start([shard], 4, rng), em.Rules(max_iter=100))
    folded = model.fold_in(fit.state.shared, shard.rows)
    assert model.log_likelihood(fit.state.shared, shard.rows, folded) >= fit.objectives[-1]


def test_start_separates_equal_documents():
    matrix = csr_matrix(np.tile([1, 2, 3, 0], (5, 1)))
    words = plsa.create_start([Shard.from_matrix(matrix)], 3, np.random.default_rng(0)).shared.word_given_component
    assert np.abs(words[0] - words[1]).max() > 0.01
    np.testing.assert_allclose(words.sum(axis=1), 1.0)
    assert (words[:, 3] == 0).all()  # a word that never occurs has no reason to


def test_stream_learns_from_batches():
    rng = np.random.default_rng(7)
    data, _, words = textbook.planted(rng, 2000, 60, 5)
    model = model_of("compiled", 0.01, 0.05)
    params = plsa.create_start([Shard.from_matrix(csr_matrix(data[:100]))], 5, rng).shared
    stream = online.Stream(plsa.Stats(params.by_word / 5, 0.0), 0, 0.0)
    likelihoods = []
    for start in range(0, 2000, 100):
        stream, likelihood = online.absorb(
            model, stream, params, Shard.from_matrix(csr_matrix(data[start : start + 100]))
        )
        params = stream.params(model)
        likelihoods.append(likelihood)
    assert stream.stats.word_component_count.sum() == pytest.approx(1.0, rel=1e-9)
    assert (stream.batches, stream.tokens) == (20, 2000 * 200)
    assert np.mean(likelihoods[-5:]) > np.mean(likelihoods[:5]) + 0.1
    distance = np.abs(params.word_given_component[:, None] - words[None]).sum(axis=2) / 2
    rows, columns = linear_sum_assignment(distance)
    assert distance[rows, columns].max() < 0.1


def test_params_reject_array_of_wrong_order():
    with pytest.raises(ValueError, match="transpose of a C-contiguous"):
        plsa.Params(np.ones((3, 4)))
