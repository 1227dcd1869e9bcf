"""Where new documents go, which words decided, and which fit nowhere."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM, HPLSA, HierarchicalMixture
from topiarist.collection.file.placer import Placer, compute_limits, draw_sample, log_likelihood
from topiarist.estimators.tree.fitted_tree import compute_posterior, compute_shares, get_tree_model
from topiarist.models.misfits import LengthLimits

SUBJECTS, EACH, WORDS = 4, 150, 30


def drawn(rng, subjects, length=25):
    """Documents that speak of one subject each, with some common words."""
    rows = np.zeros((len(subjects), SUBJECTS * WORDS + 10), int)
    for row, subject in enumerate(subjects):
        own = subject * WORDS + rng.integers(WORDS, size=length)
        np.add.at(rows[row], np.concatenate([own, SUBJECTS * WORDS + rng.integers(10, size=length // 2)]), 1)
    return csr_array(rows)


@pytest.fixture(scope="module")
def counts():
    return drawn(np.random.default_rng(0), np.repeat(np.arange(SUBJECTS), EACH))


@pytest.fixture(scope="module", params=["CAM", "HPLSA", "HierarchicalMixture"])
def model(request, counts):
    if request.param == "HierarchicalMixture":
        tree = CAM(SUBJECTS, random_state=0).fit(counts).tree_
        names = [tree.names[leaf] for leaf in tree.leaves]
        return HierarchicalMixture(tree).fit(counts, np.repeat(names, EACH))
    return {"CAM": CAM, "HPLSA": HPLSA}[request.param](SUBJECTS, random_state=0).fit(counts)


@pytest.fixture(scope="module")
def placer(model):
    fitted = get_tree_model(model)
    return Placer(model, fitted.tree, fitted.class_nodes)


def usual_in(model, counts):
    sample = draw_sample(counts.shape[0])
    return compute_limits(get_tree_model(model), counts, sample, compute_posterior(model, counts[sample]))


def test_places_agree_with_the_model(model, placer, counts):
    places = placer.place(counts[::50], 0.6)
    np.testing.assert_allclose(places.posterior, compute_posterior(model, counts[::50]), rtol=1e-6)
    np.testing.assert_array_equal(places.nodes, model.predict_path(counts[::50], 0.6))
    np.testing.assert_allclose(placer.place(counts[[50]], 0.6).posterior[0], places.posterior[1], rtol=1e-5, atol=1e-9)


def test_words_that_decide_are_those_of_the_subject(placer, counts):
    for row in (0, EACH, 2 * EACH, 3 * EACH):
        (words,) = placer.place(counts[[row]], 0.5, n_words=4).words
        assert 0 < len(words) <= 4
        assert {word // WORDS for word in words} == {row // EACH}
        assert set(words) <= set(counts[[row]].indices.tolist())


def test_the_likelihood_is_that_of_the_mixture(model, counts):
    words = get_tree_model(model).class_word_table()
    np.testing.assert_allclose(words.sum(axis=0), 1.0, rtol=1e-4)
    rows = np.ascontiguousarray(compute_posterior(model, counts[:3]), words.dtype)
    dense = counts[:3].toarray()
    mixture = np.maximum(rows @ words.T, 1e-300)
    np.testing.assert_allclose(
        log_likelihood(counts[:3], rows, words), (dense * np.log(mixture)).sum(axis=1) / dense.sum(axis=1), rtol=1e-5
    )


def test_few_of_the_same_kind_are_unusual_and_all_of_another(model, placer, counts):
    usual = usual_in(model, counts)
    rng = np.random.default_rng(1)
    same = drawn(rng, rng.integers(SUBJECTS, size=400))
    mixed = csr_array(rng.multinomial(37, np.full(SUBJECTS * WORDS + 10, 1 / (SUBJECTS * WORDS + 10)), size=200))
    assert placer.place(same, 0.9, usual).unusual.mean() < 0.08
    assert placer.place(mixed, 0.9, usual).unusual.mean() > 0.9


def test_a_document_without_known_words_is_unusual_and_at_the_root_or_the_prior(placer, model, counts):
    empty = csr_array((1, counts.shape[1]), dtype=int)
    places = placer.place(empty, 0.9, usual_in(model, counts))
    assert places.unusual[0]
    assert np.isnan(places.likelihood[0])
    assert places.words == ((),)


def test_lengths_of_few_documents_are_judged_by_all():
    usual = LengthLimits.from_scores(np.array([-1.0] * 99 + [-9.0]), np.full(100, 10.0))
    assert usual.is_outlier(np.array([-10.0, -1.0]), np.array([1000.0, 10.0])).tolist() == [True, False]
    assert len(LengthLimits.from_scores(np.array([np.nan]), np.array([0.0])).limits) == len(usual.limits)


def test_shares_come_in_blocks_and_sum_to_one(model, counts, monkeypatch):
    whole = compute_shares(model, counts)
    monkeypatch.setattr("topiarist.estimators.tree.fitted_tree.BLOCK_DOCUMENTS", 7)
    parts = compute_shares(model, counts)
    np.testing.assert_allclose(parts.toarray(), whole.toarray(), atol=1e-6)
    np.testing.assert_allclose(whole.sum(axis=1), 1.0, rtol=1e-5)
    assert compute_shares(model, counts[:0]).shape == (0, whole.shape[1])
