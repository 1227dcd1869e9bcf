"""PLSA from batches: streams and online fits."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.oracles import textbook
from topiarist import PLSA
from topiarist.errors import UsageError


@pytest.fixture(scope="module")
def data():
    return textbook.planted(np.random.default_rng(0), 200, 50, 4, length=80)[0]


def test_partial_fit_learns_a_stream(data):
    big = textbook.planted(np.random.default_rng(3), 6000, 50, 4, length=80)[0]
    model = PLSA(4, random_state=0, word_smoothing=0.01, component_smoothing=0.05)
    for start in range(0, 6000, 250):
        model.partial_fit(big[start : start + 250])
    assert (model.n_batches_, model.n_tokens_seen_) == (24, 6000 * 80)
    batch = clone(model).fit(big)
    assert model.score(big) > batch.score(big) - 0.03
    assert len(model.history_) == 24
    assert abs(model.history_[1:].mean() - batch.score(big)) < 0.05  # each batch, before it was learned from
    model.partial_fit(big[:7])  # a later batch may be smaller than the number of components
    assert model.component_given_doc_.shape == (7, 4)


def test_a_stream_may_bring_words_that_the_first_batch_lacked(data):
    model = PLSA(4, random_state=0)
    model.partial_fit(np.hstack([data, np.zeros_like(data)]))
    for _ in range(5):
        model.partial_fit(np.hstack([np.zeros_like(data), data]))
    assert model.components_[:, 50:].sum() > 0.5


@pytest.mark.parametrize("word_smoothing", [0.0, 0.01, 0.2])
def test_more_words_do_not_smooth_the_others_again(word_smoothing):
    data = textbook.planted(np.random.default_rng(6), 1200, 50, 4, length=40)[0]
    narrow, growing = (PLSA(4, random_state=0, word_smoothing=word_smoothing) for _ in range(2))
    for number, start in enumerate(range(0, 1200, 60)):
        batch = np.hstack([data[start : start + 60], np.zeros((60, 100))])  # a hundred words that never come
        narrow.partial_fit(batch)
        if number:
            growing.extend_words(150 + number)
        growing.partial_fit(np.pad(batch, ((0, 0), (0, number))))
    unseen = [model.components_[:, 50:150].sum(axis=1) for model in (narrow, growing)]
    np.testing.assert_allclose(unseen[1], unseen[0], rtol=0.02)
    np.testing.assert_allclose(growing.components_[:, :50], narrow.components_[:, :50], rtol=0.05, atol=1e-4)


@pytest.mark.parametrize("option", [{"inverse_temperature": 0.5}, {"heldout_fraction": 0.1}, {"n_init": 2}])
def test_online_says_what_it_cannot_do(data, option):
    with pytest.raises(UsageError, match=f"{next(iter(option))} cannot be used with online=True"):
        PLSA(2, online=True, **option).fit(data)


def test_online_keeps_what_it_has_on_ctrl_c(data, monkeypatch):
    from topiarist.models import online

    whole, calls = online.absorb, []

    def absorb(*arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(online, "absorb", absorb)
    model = PLSA(4, random_state=0, online=True, batch_size=50).fit(data)
    assert (model.stopped_, model.n_batches_) == ("interrupted", 3)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_one_more_document_hardly_changes_what_a_thousand_taught():
    data = textbook.planted(np.random.default_rng(5), 1001, 50, 4, length=80)[0]
    model = PLSA(4, random_state=0).fit(data[:1000])
    before = model.components_.copy()
    model.partial_fit(data[1000:])
    assert np.abs(model.components_ - before).sum(axis=1).max() / 2 < 0.02


@pytest.mark.parametrize("option", [{"inverse_temperature": 0.5}, {"heldout_fraction": 0.1}, {"n_init": 2}], ids=str)
def test_partial_fit_says_what_it_cannot_do(data, option):
    with pytest.raises(UsageError, match=f"{next(iter(option))} cannot be used with partial_fit"):
        PLSA(2, **option).partial_fit(data)
    fitted = PLSA(2, random_state=0, **option).fit(data)
    with pytest.raises(UsageError, match=rf"Try: .*set_params\({next(iter(option))}="):
        fitted.partial_fit(data)
    plain = {name: getattr(PLSA(), name) for name in option}
    assert fitted.set_params(**plain).partial_fit(data).inverse_temperature_ == 1.0


def test_a_fitted_model_goes_on_with_a_stream(data):
    model = PLSA(4, random_state=0).fit(data)
    before = model.components_.copy()
    model.partial_fit(data[:50])
    assert (model.n_batches_, model.stopped_, len(model.history_)) == (2, "stream", 1)
    assert not np.array_equal(before, model.components_)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_online_comes_near_batch(data):
    big = textbook.planted(np.random.default_rng(4), 3000, 50, 4, length=80)[0]
    online = PLSA(4, random_state=0, online=True, batch_size=200, max_iter=10, word_smoothing=0.01).fit(big)
    batch = PLSA(4, random_state=0, word_smoothing=0.01).fit(big)
    assert online.score(big) > batch.score(big) - 0.02
    assert 1 <= online.n_iter_ <= 10


def test_online_passes_over_batches_of_empty_documents(data):
    empty = np.vstack([data, np.zeros((600, data.shape[1]))])
    model = PLSA(4, random_state=0, online=True, batch_size=5, max_iter=3).fit(empty)
    assert len(model.history_)
    assert np.isfinite(model.history_).all()
    assert model.n_iter_ == 3 or model.converged_
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)
