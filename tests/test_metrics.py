"""Perplexity, coherence and diversity: by hand, and against scikit-learn's models."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.decomposition import LatentDirichletAllocation

from tests.oracles import textbook
from topiarist import PLSA, metrics
from topiarist.counts import completion_split
from topiarist.errors import InputError, UsageError


class Fixed:
    """A model whose mixing proportions do not depend on the document."""

    def __init__(self, words, mixing):
        self.components_, self.mixing = np.asarray(words, float), np.asarray(mixing, float)

    def transform(self, X):
        return np.tile(self.mixing, (X.shape[0], 1))


def test_perplexity_of_a_uniform_model_is_the_number_of_words():
    counts = np.random.default_rng(0).poisson(3.0, (20, 7))
    assert metrics.perplexity(Fixed(np.ones((2, 7)), [0.3, 0.7]), counts) == pytest.approx(7.0, rel=1e-12)


def test_perplexity_is_the_formula():
    rng = np.random.default_rng(1)
    counts = rng.poisson(2.0, (15, 6))
    model = Fixed(rng.random((3, 6)), [0.2, 0.5, 0.3])
    _, hidden = completion_split(csr_matrix(counts.astype(float)), seed=4)
    word = model.mixing @ (model.components_ / model.components_.sum(axis=1, keepdims=True))
    dense = hidden.toarray()
    expected = np.exp(-(dense * np.log(word)).sum() / dense.sum())
    assert metrics.perplexity(model, counts, random_state=4) == pytest.approx(expected, rel=1e-12)


def test_perplexity_scores_what_was_not_folded_in():
    """A model that merely remembers what it saw cannot cheat: the other half is scored."""

    class Remembers(Fixed):
        def transform(self, X):
            self.seen = X.toarray()
            return super().transform(X)

    counts = np.full((5, 4), 10)
    model = Remembers(np.ones((1, 4)), [1.0])
    metrics.perplexity(model, counts)
    assert (model.seen.sum(axis=1) == 20).all()


def test_perplexity_takes_other_libraries_models():
    data = textbook.planted(np.random.default_rng(2), 200, 40, 4)[0]
    theirs = LatentDirichletAllocation(4, random_state=0, max_iter=20).fit(data)
    ours = PLSA(4, random_state=0).fit(data)
    assert ours.perplexity(data) == metrics.perplexity(ours, data)
    assert metrics.perplexity(ours, data) < metrics.perplexity(theirs, data) * 1.05


def test_impossible_words_are_left_out_and_improbable_ones_are_not():
    counts = np.array([[4, 4, 4], [4, 4, 4]])
    never = Fixed([[0.5, 0.5, 0.0]], [1.0])
    assert metrics.perplexity(never, counts) == pytest.approx(2.0)
    not_here = Fixed([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [1.0, 0.0])
    with pytest.warns(UserWarning, match="probability zero in their document"):
        assert metrics.perplexity(not_here, counts) == np.inf


def test_perplexity_refuses_what_it_cannot_score():
    model = Fixed(np.ones((1, 3)), [1.0])
    with pytest.raises(InputError, match="knows 3 words, X has 4 columns"):
        metrics.perplexity(model, np.ones((2, 4)))
    with pytest.raises(InputError, match="at least two tokens"):
        metrics.perplexity(model, np.eye(3))


def test_coherence_by_hand():
    counts = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 1], [1, 0, 0]])
    together, first, second = 2 / 4, 3 / 4, 2 / 4
    expected = np.log(together / (first * second)) / -np.log(together)
    assert metrics.npmi_coherence([[0, 1]], counts)[0] == pytest.approx(expected)
    assert metrics.npmi_coherence([[0, 2]], counts)[0] == -1.0
    three = metrics.npmi_coherence([[0, 1, 2]], counts)[0]
    assert three == pytest.approx((expected - 1 - 1) / 3)


def test_coherence_ranks_planted_topics_above_random_words():
    data, _, words = textbook.planted(np.random.default_rng(3), 400, 60, 4, length=30)
    rng = np.random.default_rng(0)
    mixed = [rng.permutation(60)[:10].tolist() for _ in range(4)]
    assert metrics.npmi_coherence(words, data).min() > metrics.npmi_coherence(mixed, data).max()


def test_topics_may_be_given_as_rows_or_as_columns():
    rng = np.random.default_rng(4)
    counts, topics = rng.poisson(1.0, (30, 12)), rng.random((3, 12))
    tops = [np.argsort(-row)[:5].tolist() for row in topics]
    by_row = metrics.npmi_coherence(topics, counts, top_n=5)
    np.testing.assert_allclose(metrics.npmi_coherence(tops, counts, top_n=5), by_row)
    np.testing.assert_allclose(metrics.npmi_coherence(list(topics), counts, top_n=5), by_row)


def test_a_word_in_every_document_is_no_error():
    counts = np.array([[1, 1], [1, 1]])
    assert metrics.npmi_coherence([[0, 1]], counts)[0] == 1.0


def test_diversity():
    assert metrics.topic_diversity([[0, 1], [2, 3]]) == 1.0
    assert metrics.topic_diversity([[0, 1], [0, 1]]) == 0.5
    assert metrics.topic_diversity(np.array([[9, 8, 0, 0], [0, 0, 8, 9]]), top_n=2) == 1.0


def test_wrong_topics_are_refused():
    with pytest.raises(InputError, match="topics × words array, got shape"):
        metrics.topic_diversity(np.ones(3))
    with pytest.raises(UsageError, match="top_n must be at least 2"):
        metrics.topic_diversity(np.eye(3), top_n=1)
    with pytest.raises(InputError, match="at least two words"):
        metrics.npmi_coherence([[0]], np.eye(3))
