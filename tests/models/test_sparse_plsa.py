"""Rows as lists: every step is an EM step, the objective never falls, and what is missed comes back."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import em, plsa, sparse_plsa
from topiarist.models.engine.host import Engine
from topiarist.models.sparse_plsa import Lists, SparsePlsa
from topiarist.scale.threads import Threads

K = 160


def collection(seed=0, n_docs=700, n_words=900, n_topics=80, length=70):
    """Documents of a few topics each, words by Zipf's law within a topic."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.02), n_topics)
    rows = np.zeros((n_docs, n_words))
    for row in rows:
        share = rng.dirichlet(np.ones(3))
        row += rng.multinomial(length, share @ words[rng.choice(n_topics, 3, replace=False)])
    return csr_matrix(rows)


def engine_of(n_threads=1, kernels="compiled"):
    return Engine(load(kernels), Threads(n_threads))


def fitted(model, shard, steps=40, tol=0.0):
    def start():
        return plsa.initial([shard], K, np.random.default_rng(1), model.word_smoothing)

    return em.run(model, [shard], start, em.Rules(steps, tol, float(shard.rows.data.sum())))


@pytest.fixture(scope="module")
def shard():
    return Shard.of(collection(), np.float64, K)


@pytest.fixture(scope="module")
def sparse_fit(shard):
    model = SparsePlsa(engine_of(), 0.01).of([shard], K)
    return model, fitted(model, shard)


def test_shares_of_the_shortest_and_of_the_longest_document_are_of_their_own_tokens():
    counts = csr_matrix([[3, 1, 0], [0, 0, 2], [0, 0, 0]])
    lengths = sparse_plsa.Lengths.of(Shard.of(counts, np.float64, 100), 100)
    assert lengths.words.tolist() == [2, 1, 0]
    np.testing.assert_allclose(lengths.least, np.minimum(sparse_plsa.LEAST / np.array([4, 2, 1]), 0.01))
    np.testing.assert_allclose(lengths.entry, sparse_plsa.ENTRY / np.array([4, 2, 1]))


def test_rows_become_lists_and_the_objective_never_falls(sparse_fit, shard):
    _, fit = sparse_fit
    assert isinstance(fit.state.local[0], Lists)
    assert sparse_plsa.mean_used(fit.state.local) < K / 8
    steps = np.diff(fit.objectives)
    assert (steps >= -1e-9 * abs(fit.objectives[0])).all()
    rows = sparse_plsa.spread(fit.state.local[0].active, K)
    np.testing.assert_allclose(rows.sum(axis=1), 1)


def test_a_step_over_lists_is_the_step_at_rows_with_zeros(sparse_fit, shard):
    model, fit = sparse_fit
    lists = fit.state.local[0]
    rows = sparse_plsa.spread(lists.active, K)
    stats, following = model.e_step(fit.state.shared, shard, lists)
    whole_stats, whole_following = plsa.Plsa(model.engine, 0.01).e_step(fit.state.shared, shard, rows)
    np.testing.assert_allclose(stats.objective, whole_stats.objective, rtol=1e-12)
    np.testing.assert_allclose(stats.word_component_count, whole_stats.word_component_count, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(sparse_plsa.spread(following.active, K), whole_following, rtol=1e-10, atol=1e-15)
    reference = SparsePlsa(engine_of(kernels="reference"), 0.01).e_step(fit.state.shared, shard, lists)
    np.testing.assert_allclose(reference[0].word_component_count, stats.word_component_count, rtol=1e-10, atol=1e-12)


def test_single_precision_follows_double(sparse_fit):
    _, fit = sparse_fit
    shard = Shard.of(collection(), np.float32, K)
    single = fitted(SparsePlsa(engine_of(), 0.01).of([shard], K), shard, steps=25)
    assert isinstance(single.state.local[0], Lists)
    steps = np.diff(single.objectives)
    assert (steps >= -1e-7 * abs(single.objectives[0])).all()
    np.testing.assert_allclose(single.objectives[:10], fit.objectives[:10], rtol=1e-5)


def test_any_number_of_threads_gives_the_same_bits(sparse_fit, shard, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.shard.SMALLEST_PIECE", 1000)
    monkeypatch.setattr(sparse_plsa, "DOCUMENTS", 100)
    matrix = collection()
    results = []
    for n_threads in (1, 2, 5):
        pieces = Shard.of(matrix, np.float32, K)
        tiled = type(pieces)(pieces.rows, type(pieces.words).of(pieces.rows, matrix.shape[1], 150))
        fit = fitted(SparsePlsa(engine_of(n_threads), 0.01).of([tiled], K), tiled, steps=25)
        assert isinstance(fit.state.local[0], Lists)
        results.append((fit.objectives, fit.state.shared.by_word, fit.state.local[0].active.values))
    for other in results[1:]:
        assert other[0] == results[0][0]
        np.testing.assert_array_equal(other[1], results[0][1])
        np.testing.assert_array_equal(other[2], results[0][2])


def test_the_bound_holds(sparse_fit, shard):
    """No rows of any kind are better than the rows found by more than the bound; after a long folding in by little."""
    model, fit = sparse_fit
    words, rows = fit.state.shared, sparse_plsa.spread(fit.state.local[0].active, K)
    here = model.log_likelihood(words, shard.rows, rows)
    folded = plsa.Plsa(model.engine).fold_in(words, shard.rows)
    best = model.log_likelihood(words, shard.rows, folded)
    bound = model.bound(fit.state, [shard])
    assert best - here <= bound
    everywhere = sparse_plsa.listed(
        model.engine, folded, folded, np.zeros(len(folded)), folded, np.count_nonzero(folded, axis=1)
    )
    settled = model.bound(em.State(words, (Lists(everywhere),)), [shard])
    assert 0 <= settled < 1e-3 * shard.rows.data.sum()
    assert model.bound(em.State(words, (rows,)), [shard]) == 0.0  # nothing was dropped from rows that are arrays


def test_what_dropping_a_shrinking_set_costs():
    """(S2): at most c² / 2(1 - c) nats, c the expected tokens of the set."""
    rng = np.random.default_rng(0)
    tried = 0
    for _ in range(3000):
        counts, row = rng.integers(1, 4, 12), rng.dirichlet(np.full(10, 0.3))
        words = rng.dirichlet(np.full(12, 0.3), 10)
        few = row < 0.02
        posterior = row[:, None] * words / (row @ words)
        tokens = (counts * posterior[few]).sum()
        if not few.any() or tokens > counts.sum() * row[few].sum() or tokens >= 1:
            continue
        kept = np.where(few, 0, row) / row[~few].sum()
        loss = counts @ np.log(row @ words) - counts @ np.log(kept @ words)
        assert loss <= tokens**2 / (2 * (1 - tokens)) + 1e-12
        tried += 1
    assert tried > 50


def test_ends_no_lower_than_the_whole_fit(sparse_fit, shard):
    _, fit = sparse_fit
    whole = fitted(plsa.Plsa(engine_of(), 0.01), shard)
    tokens = shard.rows.data.sum()
    assert fit.objectives[-1] >= whole.objectives[-1] - 0.01 * tokens


def test_dropping_for_good_costs_more_than_coming_back(sparse_fit, shard, monkeypatch):
    """An option that nothing depends on would be none."""
    _, fit = sparse_fit
    monkeypatch.setattr(sparse_plsa, "GAIN", np.inf)
    for_good = fitted(SparsePlsa(engine_of(), 0.01).of([shard], K), shard)
    assert for_good.objectives[-1] < fit.objectives[-1]


def test_few_components_stay_whole(shard):
    """Where lists would not pay nothing changes, to the last bit."""
    small = Shard.of(collection(), np.float64, 8)
    ends = []
    for model in (plsa.Plsa(engine_of(), 0.01), SparsePlsa(engine_of(), 0.01).of([small], 8)):
        start = plsa.initial([small], 8, np.random.default_rng(0), 0.01)
        ends.append(em.run(model, [small], start, em.Rules(15, 0.0)))
    assert ends[0].objectives == ends[1].objectives
    np.testing.assert_array_equal(ends[0].state.shared.by_word, ends[1].state.shared.by_word)


def test_tempered_lists_are_refused(sparse_fit, shard):
    model, fit = sparse_fit
    with pytest.raises(ValueError, match="tempered proportions never become zero"):
        model.e_step(fit.state.shared, shard, fit.state.local[0], 0.7)
