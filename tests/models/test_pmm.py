"""The mathematics of PMM: against the blackboard, against golden cases, and by its laws."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.oracles import labels as blackboard
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models import em
from topiarist.models.engine.host import Engine
from topiarist.models.labels import choice, pmm
from topiarist.models.labels.label_sets import Pattern, group_by_label_set

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "pmm.json").read_text())
COUNTS, LABELS, TEST = (np.array(GOLDEN[name]) for name in ("counts", "labels", "test_counts"))
SEEDS = st.integers(0, 10**6)
BOTH = pytest.mark.parametrize("order", [1, 2])


def engine_of(kernels="compiled", n_threads=1):
    return Engine(load(kernels), Threads(n_threads))


def setup(counts, labels, order, kernels="compiled", n_threads=1, xi=2.0, zeta=2.0):
    data = group_by_label_set([(csr_array(np.asarray(counts, float)), csr_array(labels))], np.shape(counts)[1])
    return pmm.Pmm(engine_of(kernels, n_threads), data.pattern, data.single_label_counts, order, xi - 1, zeta - 1), data


def state_of(data, theta, alpha=None):
    return pmm.make_state(pmm.Params.of(theta, data.pattern, alpha), data)


def run(model, data, start, steps, tol=-1.0, accelerate=False):
    turns_back = model.turns_back if accelerate == "momentum" else None
    rules = em.Rules(steps, tol, accelerate=bool(accelerate), movement=model.movement, turns_back=turns_back)
    return em.run(model, data.blocks, start, rules)


def dense(fit, data):
    return fit.state.shared.by_word(data.pattern).T


def random_bias(rng, n_labels):
    upper = np.triu(rng.uniform(0.2, 0.8, (n_labels, n_labels)), 1)
    return upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(n_labels)


def random_problem(seed, n_docs=9, n_words=12, n_labels=4):
    rng = np.random.default_rng(seed)
    labels = np.zeros((n_docs, n_labels), int)
    for row in labels:
        row[rng.choice(n_labels, rng.integers(1, n_labels + 1), replace=False)] = 1
    counts = rng.poisson(0.8, (n_docs, n_words)).astype(float)  # some documents may be empty, some words never occur
    counts[:, 0] += 1
    return rng, counts, labels


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
@BOTH
def test_steps_match_golden_case(kernels, order):
    model, data = setup(COUNTS, LABELS, order, kernels)
    start = GOLDEN["start"]
    fit = run(model, data, state_of(data, start["word_given_label"], start["label_bias"] if order == 2 else None), 5)
    expected = GOLDEN[f"pmm{order}_5_steps"]
    np.testing.assert_allclose(dense(fit, data), expected["word_given_label"], atol=1e-14)
    assert fit.objectives == pytest.approx(expected["objective"], rel=1e-13)
    if order == 2:
        np.testing.assert_allclose(fit.state.shared.bias, expected["label_bias"], atol=1e-14)


def test_fit_exceeds_golden_optimum():
    """The golden optimum was stopped when a step gained 1e-11; the true one is 8e-8 away."""
    model, data = setup(COUNTS, LABELS, 1)
    golden = np.array(GOLDEN["pmm1_optimum"]["word_given_label"])
    np.testing.assert_allclose(dense(run(model, data, pmm.create_start(model, data), 31), data), golden, atol=1e-14)
    fit = run(model, data, pmm.create_start(model, data), 500, tol=1e-12, accelerate=True)
    assert fit.reason == "converged"
    np.testing.assert_allclose(dense(fit, data), golden, atol=1e-7)
    assert fit.objectives[-1] >= GOLDEN["pmm1_optimum"]["objective"]


def test_predictions_match_golden_case():
    model = setup(COUNTS, LABELS, 2)[0]
    counts, allowed = csr_array(TEST), np.ones(5, bool)
    theta = np.array(GOLDEN["pmm1_optimum"]["word_given_label"])
    first = choice.Mixture(np.ascontiguousarray(theta.T), np.empty((0, 0)), allowed)
    result = choice.choose_labels(model.engine, first, counts).toarray() > 0
    np.testing.assert_array_equal(result, GOLDEN["greedy_pmm1_at_optimum"])
    assert np.mean((result == GOLDEN["exhaustive_pmm1_at_optimum"]).all(axis=1)) >= 0.95
    after = GOLDEN["pmm2_5_steps"]
    second = choice.Mixture(np.ascontiguousarray(np.array(after["word_given_label"]).T), np.array(after["label_bias"]),
                            allowed)  # fmt: skip
    result = choice.choose_labels(model.engine, second, counts).toarray() > 0
    np.testing.assert_array_equal(result, GOLDEN["greedy_pmm2_after_5"])


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
@given(seed=SEEDS, order=st.sampled_from([1, 2]))
@settings(max_examples=15, deadline=None)
def test_two_steps_match_textbook(kernels, seed, order):
    rng, counts, labels = random_problem(seed)
    xi, zeta = rng.choice([1.5, 2.0, 3.0], 2)
    model, data = setup(counts, labels, order, kernels, xi=xi, zeta=zeta)
    alpha = random_bias(rng, labels.shape[1]) if order == 2 else np.full((4, 4), 0.5)
    seen = np.zeros((labels.shape[1], counts.shape[1]), bool)
    seen[data.pattern.owners, data.pattern.words] = True
    theta = np.where(seen, rng.uniform(0.5, 2.0, seen.shape), 1.0)  # alike where a label was not seen with a word
    theta /= theta.sum(axis=1, keepdims=True)
    fit = run(model, data, state_of(data, theta, alpha if order == 2 else None), 2)
    messages = zeta if order == 2 else None
    expected = [blackboard.objective(counts, labels, theta, alpha, xi, messages)]
    for _ in range(2):
        theta, alpha = blackboard.step(counts, labels, theta, alpha, xi, messages)
        expected.append(blackboard.objective(counts, labels, theta, alpha, xi, messages))
    np.testing.assert_allclose(dense(fit, data), theta, atol=1e-12)
    if order == 2:
        np.testing.assert_allclose(fit.state.shared.bias, alpha, atol=1e-12)
    assert fit.objectives == pytest.approx(expected, rel=1e-11)


@given(seed=SEEDS, order=st.sampled_from([1, 2]), accelerate=st.sampled_from([False, True, "momentum"]))
@settings(max_examples=25, deadline=None)
def test_objective_never_falls(seed, order, accelerate):
    _, counts, labels = random_problem(seed, 20, 15, 5)
    model, data = setup(counts, labels, order)
    fit = run(model, data, pmm.create_start(model, data), 60, accelerate=accelerate)
    objectives = np.array(fit.objectives)
    assert (np.diff(objectives) >= -1e-12 * np.abs(objectives[:-1])).all()
    np.testing.assert_allclose(dense(fit, data).sum(axis=1), 1, rtol=1e-12)
    if order == 2:
        np.testing.assert_allclose(fit.state.shared.bias + fit.state.shared.bias.T, 1, rtol=1e-12)
        np.testing.assert_allclose(np.diag(fit.state.shared.bias), 0.5)


def test_first_order_has_unique_optimum():
    rng = np.random.default_rng(1)
    counts, labels, _ = blackboard.planted(rng, 120, 40, 5)
    model, data = setup(counts, labels, 1)
    ends = []
    for _ in range(6):
        start = pmm.Params(rng.uniform(0.01, 1, len(data.pattern.words)), rng.uniform(0.01, 1, 5), np.empty((0, 0)))
        start = model.normalise(start.stored, start.default, start.bias)
        fit = run(model, data, pmm.make_state(start, data), 3000, tol=1e-12, accelerate="momentum")
        assert fit.converged
        ends.append(dense(fit, data))
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-8)


@pytest.mark.parametrize(("xi", "is_strict"), [(1.0, False), (1.5, True)])
def test_optimum_of_inseparable_labels_needs_prior(xi, is_strict):
    counts, labels = np.array([[4.0, 2, 1], [1, 3, 2], [0, 1, 5]]), np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    model, data = setup(counts, labels, 1, xi=xi)
    thetas = [np.array([[6.0, 3, 1], [1, 2, 7], [1, 1, 8]]) / 10, np.array([[2.0, 6, 2], [5, 2, 3], [4, 4, 2]]) / 10]
    fits = [run(model, data, state_of(data, theta), 5000, tol=1e-13) for theta in thetas]
    assert fits[0].objectives[-1] == pytest.approx(fits[1].objectives[-1], rel=1e-7)  # one height
    assert np.allclose(*(dense(fit, data)[:2].mean(axis=0) for fit in fits), atol=1e-4)  # the mixture is one
    assert np.allclose(*(dense(fit, data) for fit in fits), atol=1e-3) == is_strict


@BOTH
def test_momentum_reaches_optimum_in_fewer_steps(order):
    counts, labels, _ = blackboard.planted(np.random.default_rng(12), 150, 40, 5, several=0.9)
    model, data = setup(counts, labels, order)
    plain, strides, momentum = (
        run(model, data, pmm.create_start(model, data), 20_000, tol=1e-12, accelerate=how)
        for how in (False, True, "momentum")
    )
    assert plain.converged
    assert momentum.converged
    assert momentum.steps < strides.steps < plain.steps
    np.testing.assert_allclose(dense(momentum, data), dense(plain, data), atol=1e-9)
    saved = []
    rules = em.Rules(30, -1.0, movement=model.movement, turns_back=model.turns_back)
    complete = em.run(model, data.blocks, pmm.create_start(model, data), rules, watch=saved.append)
    repeated = em.run(model, data.blocks, saved[12], rules)  # a kept loop goes on to the same end
    assert repeated.objectives == complete.objectives


@BOTH
def test_optimum_has_zero_gradient(order):
    """Stationarity: ∂J/∂θ(l,i) is the same for all words of a label, ∂J/∂α_lm = ∂J/∂α_ml for each pair."""
    rng = np.random.default_rng(2)
    counts, labels, _ = blackboard.planted(rng, 100, 25, 4)
    model, data = setup(counts, labels, order)
    fit = run(model, data, pmm.create_start(model, data), 5000, tol=1e-13, accelerate="momentum")
    theta, alpha = dense(fit, data), fit.state.shared.bias if order == 2 else np.full((4, 4), 0.5)
    shares = labels / labels.sum(axis=1, keepdims=True)
    weights = 2 * shares * (shares @ alpha.T)
    ratio = counts / (weights @ theta)
    by_word = weights.T @ ratio + 1.0 / theta
    assert np.abs(by_word / (theta * by_word).sum(axis=1, keepdims=True) - 1).max() < 1e-9
    if order == 2:
        inner = ratio @ theta.T
        by_pair = 2 * np.einsum("nl,nm,nl->lm", shares, shares, inner) + 1.0 / alpha
        free = by_pair - by_pair.T  # because α_ml = 1 − α_lm
        np.fill_diagonal(free, 0)
        joint = (labels.T @ labels) > 0
        assert np.abs(free[joint] / by_pair[joint]).max() < 1e-9


def test_absent_pairs_have_even_bias():
    pair_count = np.array([[0.0, 3.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    bias = pmm.compute_bias(pair_count, 0.0)
    assert bias.tolist() == [[0.5, 0.75, 0.5], [0.25, 0.5, 0.5], [0.5, 0.5, 0.5]]
    np.testing.assert_allclose(pmm.compute_bias(pair_count, 2.0), (pair_count + 1) / (pair_count + pair_count.T + 2))


def test_even_biases_equal_first_order():
    """(M2) with α = ½ is (M1): the same step of θ, the same labels."""
    _, counts, labels = random_problem(3, 30, 20, 4)
    first, data = setup(counts, labels, 1)
    second, _ = setup(counts, labels, 2)
    one, two = (run(model, data, pmm.create_start(model, data), 1) for model in (first, second))
    np.testing.assert_allclose(dense(one, data), dense(two, data), rtol=1e-13)
    half = np.full((4, 4), 0.5)
    by_word = np.ascontiguousarray(dense(one, data).T)
    mixtures = [choice.Mixture(by_word, bias, np.ones(4, bool)) for bias in (np.empty((0, 0)), half)]
    results = (choice.compute_label_gains(first.engine, mixture, csr_array(counts)) for mixture in mixtures)
    selected, gains = zip(*results,
                        strict=True)  # fmt: skip
    np.testing.assert_array_equal(*selected)
    np.testing.assert_allclose(*gains, atol=1e-9)


def test_single_labels_match_naive_bayes():
    rng = np.random.default_rng(4)
    counts, classes = rng.poisson(1.0, (20, 8)).astype(float), rng.integers(0, 3, 20)
    data = setup(counts, np.eye(3, dtype=int)[classes], 1)[1]
    assert data.blocks == []
    sums = np.array([counts[classes == c].sum(axis=0) for c in range(3)]) + 1
    model = setup(counts, np.eye(3, dtype=int)[classes], 1)[0]
    start = pmm.create_start(model, data).shared.by_word(data.pattern).T
    np.testing.assert_allclose(start, sums / sums.sum(axis=1, keepdims=True), rtol=1e-12)


@BOTH
def test_grouped_statistics_match_single_documents(order, monkeypatch):
    rng, counts, labels = random_problem(5, 60, 15, 4)
    model, data = setup(counts, labels, order)
    monkeypatch.setattr("topiarist.models.labels.label_sets.BLOCK", 50)
    cut = setup(counts, labels, order)[1]
    assert len(cut.blocks) > 3
    complete = run(model, data, pmm.create_start(model, data), 8)
    parts = run(model, cut, pmm.create_start(model, cut), 8)
    np.testing.assert_allclose(dense(parts, cut), dense(complete, data), rtol=1e-11)
    halves = [(csr_array(counts[a:b]), csr_array(labels[a:b])) for a, b in ((0, 25), (25, 26), (26, 60))]
    streamed = group_by_label_set(halves, 15)
    repeated = run(model, streamed, pmm.create_start(model, streamed), 8)
    np.testing.assert_allclose(dense(repeated, streamed), dense(complete, data), rtol=1e-11)
    order_of = rng.permutation(60)
    moved = setup(counts[order_of], labels[order_of], order)[1]
    fit = run(model, moved, pmm.create_start(model, moved), 8)
    np.testing.assert_allclose(dense(fit, moved), dense(complete, data),
                               rtol=1e-11)  # fmt: skip


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
@given(seed=SEEDS, order=st.sampled_from([1, 2]))
@settings(max_examples=15, deadline=None)
def test_greedy_choice_matches_textbook(kernels, seed, order):
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(15, 0.5), 5) + 1e-4
    theta /= theta.sum(axis=1, keepdims=True)
    alpha = random_bias(rng, 5) if order == 2 else np.full((5, 5), 0.5)
    counts = rng.poisson(1.0, (8, 15)) * rng.choice([1, 1, 2.5, 7], (8, 15))
    counts[:, 0] += 1
    mixture = choice.Mixture(np.ascontiguousarray(theta.T), alpha if order == 2 else np.empty((0, 0)), np.ones(5, bool))
    engine = engine_of(kernels)
    ranks, gains = choice.compute_label_gains(engine, mixture, csr_array(counts))
    np.testing.assert_array_equal(ranks > 0, [blackboard.greedy(x, theta, alpha) for x in counts])
    np.testing.assert_array_equal(choice.choose_labels(engine, mixture, csr_array(counts)).toarray(), ranks)
    np.testing.assert_array_equal(gains > 0, ranks > 0)
    for x, rank, gain in zip(counts, ranks, gains, strict=True):
        final = blackboard.log_likelihood(x, theta, alpha, (rank > 0).astype(float))
        for label in np.flatnonzero(rank == 0):
            more = blackboard.log_likelihood(x, theta, alpha, ((rank > 0) | (np.arange(5) == label)).astype(float))
            assert gain[label] == pytest.approx(more - final, abs=1e-9)
        words = np.flatnonzero(x)
        for label in range(5):
            parts = choice.contributions(mixture, words, x[words], rank, gain, label)
            assert parts.sum() == pytest.approx(gain[label], abs=1e-9)


@BOTH
def test_greedy_choice_finds_best_set_mostly(order):
    rng = np.random.default_rng(7)
    counts, labels, _ = blackboard.planted(rng, 400, 60, 5)
    model, data = setup(counts[:200], labels[:200], order)
    fit = run(model, data, pmm.create_start(model, data), 500, tol=1e-8, accelerate=True)
    shared = fit.state.shared
    mixture = choice.Mixture(shared.by_word(data.pattern), shared.bias, np.ones(5, bool))
    result = choice.choose_labels(model.engine, mixture, csr_array(counts[200:])).toarray() > 0
    sets = [np.flatnonzero([number >> label & 1 for label in range(5)]) for number in range(1, 32)]
    values = counts[200:] @ np.stack([mixture.logs(np.arange(60), labels) for labels in sets], axis=1)
    best = np.array([blackboard.indicator(labels, 5) for labels in sets])[values.argmax(axis=1)]
    assert np.mean((result == best).all(axis=1)) >= 0.95
    alpha = shared.bias if order == 2 else np.full((5, 5), 0.5)
    for row in range(2):
        np.testing.assert_array_equal(best[row], blackboard.exhaustive(counts[200 + row], dense(fit, data), alpha))


def test_fit_recovers_planted_words():
    counts, labels, theta = blackboard.planted(np.random.default_rng(8), 2000, 40, 4, length=200)
    model, data = setup(counts, labels, 1)
    result = dense(run(model, data, pmm.create_start(model, data), 500, tol=1e-9, accelerate=True), data)
    assert np.abs(result - theta).sum(axis=1).max() / 2 < 0.03


def test_memory_grows_with_occurring_pairs_only():
    rng = np.random.default_rng(9)
    n_docs, n_words, n_labels = 3000, 100_000, 3000
    counts = csr_array((np.ones(30 * n_docs), rng.integers(0, n_words, 30 * n_docs), np.arange(n_docs + 1) * 30),
                       shape=(n_docs, n_words))  # fmt: skip
    counts.sum_duplicates()
    picks = np.stack([rng.permutation(n_labels), rng.permutation(n_labels)], axis=1).ravel()
    labels = csr_array((np.ones(2 * n_docs, int), picks, np.arange(n_docs + 1) * 2), shape=(n_docs, n_labels))
    labels.sum_duplicates()
    data = group_by_label_set([(counts, labels)], n_words)
    model = pmm.Pmm(engine_of(), data.pattern, data.single_label_counts, 1)
    fit = em.run(model, data.blocks, pmm.create_start(model, data), em.Rules(5, 0.0, movement=model.movement))
    assert fit.state.shared.stored.nbytes < 2 * 60 * n_docs * 8  # and not labels × words, which were 2.4 GB
    assert (np.diff(fit.objectives) > 0).all()


def test_thresholds_beat_common_threshold(monkeypatch):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        given = rng.random((60, 4)) < 0.35
        given[~given.any(axis=1), rng.integers(4)] = True
        share = 0.7 * rng.dirichlet(np.ones(4), 60) + 0.3 * given / given.sum(axis=1, keepdims=True)
        means = []
        for sweeps in range(5):
            monkeypatch.setattr(choice, "SWEEPS", sweeps)
            thresholds = choice.find_thresholds(share, csr_array(given.astype(int)))
            means.append(choice._mean_f(choice.margins(share, thresholds), given))
        assert means == sorted(means)


def test_thresholds_separate_planted_labels():
    rng = np.random.default_rng(10)
    given = rng.random((400, 3)) < (0.9, 0.3, 0.05)
    given[~given.any(axis=1), 0] = True
    share = np.where(given, rng.uniform(0.3, 1.0, given.shape), rng.uniform(0.0, 0.25, given.shape)) * (0.2, 1.0, 0.6)
    thresholds = choice.find_thresholds(share, csr_array(given.astype(int)))
    assert np.mean(((share > thresholds) == given).all(axis=1)) > 0.97
    margins = choice.margins(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]), thresholds)
    assert ((margins > 0).sum(axis=1) == [1, 3]).all()


def test_pmm_parameters_reject_wrong_shapes():
    pattern = Pattern(np.array([0, 1]), np.array([0]), 2)
    assert pattern.n_unseen.tolist() == [1]
    with pytest.raises(ValueError, match="square α"):
        pmm.Params(np.ones(3), np.ones(2), np.ones((3, 3)))


def test_label_shares_match_hand_computed_values():
    """(M7): with words of one label each, shares are (tokens + 0.2) / (all tokens + 0.2 labels), of 20 at most."""
    counts = csr_array([[3.0, 1.0, 0.0], [30.0, 10.0, 0.0], [0.0, 0.0, 0.0]])
    shares = choice.fold_in_shares(engine_of(), np.eye(3), counts)
    expected = [[3.2 / 4.6, 1.2 / 4.6, 0.2 / 4.6], [15.2 / 20.6, 5.2 / 20.6, 0.2 / 20.6], [1 / 3, 1 / 3, 1 / 3]]
    np.testing.assert_allclose(shares, expected, atol=1e-6)
    parts = [choice.word_shares(np.eye(3), np.arange(2), np.array([30.0, 10.0]), shares[1], k) for k in range(2)]
    np.testing.assert_allclose(parts, [[15 / 20.6, 0], [0, 5 / 20.6]], atol=1e-6)
