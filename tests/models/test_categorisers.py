"""The mathematics of the categorisers: against the blackboard, against golden cases, and by its laws."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.oracles import categorisers as oracle
from tests.oracles import trees
from tests.strategies import simplex_rows
from topiarist.execution.threads import Threads
from topiarist.kernels import Folding, load
from topiarist.kernels.shard import CountsView, Shard
from topiarist.models import categorisers, em
from topiarist.models.engine import host
from topiarist.models.path_models import make_uniform_mix

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "categorisers.json").read_text())
SEEDS = st.integers(0, 10**6)


def engine_of(kernels="compiled", n_threads=1):
    return host.Engine(load(kernels), Threads(n_threads))


def any_case(seed):
    """A tree, a table of words and classes, and parameters."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 8))
    mask = trees.random_tree(rng, n_nodes, int(rng.integers(2, n_nodes + 1)))
    n_words = int(rng.integers(3, 12))
    table = rng.poisson(1.0, (n_words, len(mask))).astype(float)
    table[0] += 1  # every class has a word
    mix = mask * (rng.random(mask.shape) + 0.1)
    return mask, table, mix / mix.sum(axis=1, keepdims=True), simplex_rows(rng, n_nodes, n_words), rng


def model_and_block(mask, table, mix, fixed=True, smoothing=0.0, unlabelled=None, kernels="compiled", weight=0.5):
    model = categorisers.Hplc(
        engine_of(kernels), mask, "fixed" if fixed else "ml", smoothing, weight, mix if fixed else None
    )
    shard = None if unlabelled is None else Shard.from_matrix(csr_array(unlabelled), np.float64)
    return model, categorisers.Block(CountsView.from_matrix(csr_array(table)), np.full(len(mask), 3.0), shard)


def params_of(words, mix):
    return categorisers.Params(np.ascontiguousarray(words), mix, np.full(len(mix), 1 / len(mix)))


@given(
    seed=SEEDS,
    fixed=st.booleans(),
    beta=st.sampled_from([1.0, 0.6]),
    kernels=st.sampled_from(["compiled", "reference"]),
)
@settings(max_examples=40, deadline=None)
def test_training_step_matches_textbook(seed, fixed, beta, kernels):
    mask, table, mix, words, _ = any_case(seed)
    table[1] = 1  # a topic off all paths would be uniform over all words here, over used ones on the blackboard
    table = table + (table.sum(axis=1, keepdims=True) == 0)
    model, block = model_and_block(mask, table, mix, fixed, 0.3, kernels=kernels)
    stats, _ = model.e_step(params_of(words, mix), block, None, beta)
    new = model.m_step(stats)
    expected, wanted_mix = oracle.training_step(table.T, mix, words, 0.3, not fixed, beta)
    np.testing.assert_allclose(new.word_given_topic, expected, atol=1e-12)
    np.testing.assert_allclose(new.topic_given_class, wanted_mix, atol=1e-12)


@given(seed=SEEDS, fixed=st.booleans(), beta=st.sampled_from([1.0, 0.6]), smoothing=st.sampled_from([0.0, 0.2]))
@settings(max_examples=40, deadline=None)
def test_objective_never_falls_with_unlabelled_documents(seed, fixed, beta, smoothing):
    mask, table, mix, words, rng = any_case(seed)
    unlabelled = rng.poisson(1.0, (6, len(table))).astype(float)
    for free in (None, unlabelled):
        model, block = model_and_block(mask, table, mix, fixed, smoothing, free)
        state = em.State(params_of(words, mix), (None,))
        rules = em.Rules(15, -np.inf, accelerate=False)
        history = np.array(em.run(model, [block], state, rules, inverse_temperature=beta).objectives)
        assert (np.diff(history) >= -1e-9 * np.abs(history[:-1]).clip(1)).all()


@given(seed=SEEDS, kernels=st.sampled_from(["compiled", "reference"]))
@settings(max_examples=40, deadline=None)
def test_categorise_reaches_unique_optimum(seed, kernels):
    """(K2) from any start: the same answer, which no step of the blackboard moves and no neighbour beats."""
    _, _, _, words, rng = any_case(seed)
    counts = rng.poisson(1.5, words.shape[1]).astype(float)
    counts[0] += 1
    tokens = rng.integers(20, 60, len(words)).astype(float)
    run, folding = engine_of(kernels), Folding(max_steps=20_000, tolerance=1e-13)
    rows = CountsView.from_matrix(csr_array(counts[None]))
    posterior = categorisers.compute_share_posterior(run, rows, np.ascontiguousarray(words.T), tokens, folding)[0]
    other = rng.random((1, len(words))) * tokens
    run.kernels.categorise(rows.indptr, rows.indices, rows.data, other, np.ascontiguousarray(words.T), tokens, folding)
    np.testing.assert_allclose(posterior, other[0] / other.sum(), atol=1e-5)
    best = oracle.share_objective(counts, other[0] / tokens, tokens, words)
    after = oracle.share_step(counts, other[0] / tokens, tokens, words)
    np.testing.assert_allclose(after, other[0] / tokens, atol=1e-6)
    for _ in range(20):
        near = np.clip(other[0] / tokens * np.exp(0.05 * rng.standard_normal(len(words))), 1e-12, 0.99)
        assert oracle.share_objective(counts, near, tokens, words) <= best + 1e-9


@pytest.mark.parametrize("kernels", ["compiled", "reference"])
@pytest.mark.parametrize("steps", [1, 2])
def test_categorise_limits_steps(kernels, steps):
    rows, data = np.array([[0.5, 0.2], [0.3, 0.3]]), np.array([2.0, 1.0])
    sizes, own = np.array([3.0, 1.0]), np.array([[0.6, 0.9]])
    expected = own[0]
    for _ in range(steps):
        count = expected * (data / (rows @ expected) @ rows)
        expected = count * sizes / (sizes + count)
    folding = Folding(max_steps=steps, tolerance=0.0)
    load(kernels).categorise(np.array([0, 2]), np.array([0, 1], np.int32), data, own, rows, sizes, folding)
    np.testing.assert_allclose(own[0], expected, rtol=1e-12)


@pytest.mark.parametrize("steps", [3, 4, 5])
@pytest.mark.parametrize("apart", [0.0, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_categorise_backends_agree_step_by_step(seed, apart, steps):
    """The optimum is the same however one gets there: the way is compared, step by step, where it is long and short."""
    _, _, _, words, rng = any_case(seed)
    words = apart * np.eye(*words.shape) + (1 - apart) * words
    counts = csr_array(rng.poisson(1.5, (6, words.shape[1])) + np.eye(6, words.shape[1]))
    sizes, start = rng.integers(20, 60, len(words)).astype(float), rng.random((6, len(words))) * 20
    result = []
    for kernels in ("compiled", "reference"):
        own, rows = start.copy(), CountsView.from_matrix(counts)
        folding = Folding(max_steps=steps, tolerance=0.0)
        load(kernels).categorise(
            rows.indptr, rows.indices, rows.data, own, np.ascontiguousarray(words.T), sizes, folding
        )
        result.append(own)
    np.testing.assert_allclose(*result, rtol=1e-7)


@pytest.mark.parametrize("kernels", ["compiled", "reference"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_underflowing_counts_give_prior(kernels, dtype):
    counts = csr_array(np.array([[1e-40, 0.0, 0.0], [1e-320, 0.0, 0.0], [1.0, 2.0, 0.0]]).astype(dtype))
    words, tokens = np.array([[0.5, 0.2], [0.3, 0.3], [0.2, 0.5]], dtype), np.array([3.0, 1.0], dtype)
    shares = categorisers.compute_share_posterior(engine_of(kernels), CountsView.from_matrix(counts), words, tokens)
    np.testing.assert_allclose(shares[:2], [[0.75, 0.25]] * 2, rtol=1e-6)
    assert shares[2, 0] > 0.76
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)


def test_small_models_reach_exact_optimum():
    largest = categorisers.MAX_EXACT_PARAMETERS
    exact, larger = (categorisers.choose_folding(number, np.dtype(np.float64)) for number in (largest, largest + 1))
    assert exact.tolerance < larger.tolerance < categorisers.choose_folding(1, np.dtype(np.float32)).tolerance
    assert exact.max_steps > larger.max_steps


def test_share_objective_concave():
    """Along any line between two points the middle is no lower than the mean of the ends."""
    rng = np.random.default_rng(0)
    words, tokens, counts = (
        simplex_rows(rng, 4, 9),
        rng.integers(5, 50, 4).astype(float),
        rng.poisson(2.0, 9).astype(float),
    )
    for _ in range(200):
        one, two = rng.random(4), rng.random(4)
        ends = [oracle.share_objective(counts, point, tokens, words) for point in (one, two)]
        assert oracle.share_objective(counts, (one + two) / 2, tokens, words) >= np.mean(ends) - 1e-9


def test_step_matches_golden_case():
    """(K2), equation (13) of the paper, from the same P(d|α) everywhere."""
    table = np.array([np.array(GOLDEN["train"])[np.array(GOLDEN["labels"]) == a].sum(axis=0) for a in range(3)])
    tokens = table.sum(axis=1)
    words = table / tokens[:, None]
    for counts, expected in zip(GOLDEN["test"], GOLDEN["eq13_one_step"], strict=True):
        start = np.full(3, GOLDEN["eq13_start"])
        np.testing.assert_allclose(oracle.share_step(counts, start, tokens, words), expected, atol=1e-12)
        row = (start * tokens)[None]
        side = CountsView.from_matrix(csr_array(np.array([counts])))
        load().categorise(
            side.indptr, side.indices, side.data, row, np.ascontiguousarray(words.T), tokens, Folding(max_steps=1)
        )
        np.testing.assert_allclose(row[0] / tokens, expected, atol=1e-12)


@given(seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_class_posterior_matches_textbook(seed):
    _, _, _, words, rng = any_case(seed)
    counts = rng.poisson(1.0, (4, words.shape[1])).astype(float)
    prior = simplex_rows(rng, 1, len(words))[0]
    side = CountsView.from_matrix(csr_array(counts))
    rows, _ = categorisers.compute_class_posterior(engine_of(), side, np.ascontiguousarray(words.T), prior)
    for row, document in zip(rows, counts, strict=True):
        np.testing.assert_allclose(row, oracle.one_class(document, prior, words), atol=1e-10)


def test_interpolation_finds_level_of_words():
    """Classes that share most of their words need their own topics less: deleted interpolation says so."""
    rng = np.random.default_rng(0)
    mask = np.array([[True, True, False], [True, False, True]])
    common, own = simplex_rows(rng, 1, 60)[0], simplex_rows(rng, 2, 60) ** 3
    own /= own.sum(axis=1, keepdims=True)
    for share in (0.2, 0.8):
        words = (1 - share) * common + share * own
        parts = [np.stack([rng.multinomial(400, row) for row in words], axis=1).astype(float) for _ in range(5)]
        complete = sum(parts)
        folds, local = [], []
        for part in parts:
            table = csr_array(np.ones_like(complete))
            data = np.stack([(complete - part).ravel(), part.ravel()], axis=1)
            folds.append(CountsView(table.indptr, table.indices, data, np.array([0, len(complete)])))
            local.append(categorisers.pool_words(engine_of(), csr_array(complete - part), mask, 0.01, np.float64))
        model = categorisers.Interpolation(engine_of(), mask, 0.01)
        start = em.State(make_uniform_mix(mask), tuple(local))
        mix = em.run(model, folds, start, em.Rules(200, 1e-7, complete.sum(), accelerate=False)).state.shared
        np.testing.assert_allclose(mix.sum(axis=1), 1)
        if share < 0.5:
            assert (mix[:, 0] > 0.5).all()
        else:
            assert (mix[:, 0] < 0.5).all()
