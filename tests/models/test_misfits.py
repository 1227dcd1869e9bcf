"""Documents that fit badly."""

import numpy as np
from scipy.sparse import csr_array

from tests.oracles import trees as oracle
from topiarist.kernels import load
from topiarist.models import misfits, plsa
from topiarist.models.engine.host import Engine
from topiarist.models.misfits import Misfits, RecentScores, Scores
from topiarist.scale.threads import Threads

MASK = oracle.balanced(2)


def planted(seed, n_docs=600, length=60):
    counts, _, words = oracle.planted(np.random.default_rng(seed), MASK, n_docs=n_docs, length=length)
    model = plsa.Plsa(Engine(load(), Threads(1)), 0.0, 0.1)
    return csr_array(counts.astype(float)), model, plsa.Params.of(MASK / 3 @ words)


def test_scores_are_those_of_completion():
    from topiarist.measures.topic_quality import completion_perplexity

    counts, model, shared = planted(0)
    scores = misfits.completion_scores(model, shared, counts, seed=3)
    perplexity = completion_perplexity(
        shared.word_given_component, lambda half: model.fold_in(shared, misfits.Side.of(half)), counts, 3
    )
    np.testing.assert_allclose(np.exp(-scores.mean), perplexity)
    assert (scores.tokens == 30).all()


def test_few_documents_of_the_model_fit_badly_and_nearly_all_others_do():
    counts, model, shared = planted(0, n_docs=3600)
    usual = RecentScores().joined(misfits.completion_scores(model, shared, counts[:600]))
    again = misfits.completion_scores(model, shared, counts[600:])
    assert 0.001 < usual.unusual(again).mean() < 0.015
    strange = csr_array(np.random.default_rng(0).multinomial(60, np.full(56, 1 / 56), size=200).astype(float))
    assert usual.unusual(misfits.completion_scores(model, shared, strange)).mean() > 0.9


def test_lengths_are_compared_with_their_like():
    rng = np.random.default_rng(0)
    short = Scores(-5 + rng.standard_normal(500), np.full(500, 6.0))
    long = Scores(-5 + 0.1 * rng.standard_normal(500), np.full(500, 600.0))
    usual = RecentScores().joined(short).joined(long)
    new = Scores(np.array([-6.0, -6.0, -6.0, np.nan]), np.array([6.0, 600.0, 3.0, 0.0]))
    np.testing.assert_array_equal(usual.unusual(new), [False, True, False, False])
    assert not RecentScores().unusual(new).any()


def test_how_many_are_strange_where_scores_are_normal_numbers():
    rng = np.random.default_rng(0)
    usual = RecentScores().joined(Scores(rng.standard_normal(2000), np.full(2000, 50.0)))
    share = usual.unusual(Scores(rng.standard_normal(100_000), np.full(100_000, 50.0))).mean()
    assert 0.0025 < share < 0.006


def test_a_tenth_of_strange_documents_does_not_change_what_is_usual():
    rng = np.random.default_rng(1)
    figures = np.where(np.arange(1000) % 10, -5 + 0.1 * rng.standard_normal(1000), -7.0)
    usual = RecentScores().joined(Scores(figures, np.full(1000, 50.0)))
    assert usual.unusual(Scores(np.array([-5.4]), np.array([50.0]))).all()


def test_the_memory_of_misfits_is_bounded_and_prefers_new_ones(monkeypatch):
    monkeypatch.setattr(misfits, "KEPT", 50)
    kept, again = Misfits(seed=1), Misfits(seed=1)
    for batch in range(100):
        documents = csr_array(np.full((5, 3), float(batch)))
        kept, again = kept.joined(documents, batch), again.joined(documents, batch)
    assert kept.counts.shape == (50, 3)
    np.testing.assert_array_equal(kept.counts.toarray(), again.counts.toarray())
    ages = 99 - kept.counts.toarray()[:, 0]
    assert np.median(ages) < 20
    assert ages.max() > 20
    assert kept.joined(csr_array((0, 3)), 100) is kept
    assert kept.wider(5).counts.shape == (50, 5)
