"""PLSA(sparse=True) as a person uses it."""

import numpy as np
import pytest

from tests.models.test_sparse_plsa import collection
from topiarist import PLSA
from topiarist.errors import UsageError
from topiarist.scale import BlockStore

SETTINGS = {"n_components": 160, "word_smoothing": 0.01, "max_iter": 30, "tol": 0.0, "random_state": 0}


@pytest.fixture(scope="module")
def both():
    data = collection()
    return data, PLSA(**SETTINGS).fit(data), PLSA(sparse=True, **SETTINGS).fit(data)


def test_as_good_as_the_whole_fit(both):
    data, whole, sparse = both
    tokens = data.sum()
    assert (np.diff(sparse.history_) >= -1e-9 * abs(sparse.history_[0])).all()
    assert sparse.history_[-1] >= whole.history_[-1] - 0.01 * tokens
    assert sparse.score(data) >= whole.score(data) - 0.01
    assert not np.array_equal(sparse.components_, whole.components_)  # the option does something
    assert 0 < sparse.truncation_bound_ < np.inf
    assert not hasattr(whole, "truncation_bound_")


def test_transform_is_what_fit_learned(both):
    data, _, sparse = both
    np.testing.assert_array_equal(sparse.transform(data), sparse.component_given_doc_)
    np.testing.assert_allclose(sparse.component_given_doc_.sum(axis=1), 1)


def test_threads_change_no_bit(both):
    data, _, sparse = both
    again = PLSA(sparse=True, n_threads=3, **SETTINGS).fit(data)
    np.testing.assert_array_equal(again.components_, sparse.components_)
    np.testing.assert_array_equal(again.history_, sparse.history_)


def test_held_out_tokens_stop_it(both):
    data, _, _ = both
    model = PLSA(sparse=True, heldout_fraction=0.1, **SETTINGS | {"max_iter": 60}).fit(data)
    assert model.stopped_ in ("heldout", "max_iter")
    assert len(model.heldout_history_) == len(model.history_)


def test_few_components_give_the_same_answer(both):
    data = both[0]
    settings = SETTINGS | {"n_components": 6}
    np.testing.assert_array_equal(
        PLSA(sparse=True, **settings).fit(data).components_, PLSA(**settings).fit(data).components_
    )


def test_a_stream_goes_on_from_a_sparse_fit(both):
    data = both[0]
    model = PLSA(sparse=True, **SETTINGS | {"max_iter": 3}).fit(data)
    with pytest.raises(UsageError, match="sparse does not go with partial_fit"):
        model.partial_fit(data[:100])
    assert model.set_params(sparse=False).partial_fit(data[:100]).n_batches_ >= 1


def test_files_are_refused(both, tmp_path):
    store = BlockStore.write(tmp_path / "counts", both[0], block_size=300)
    with pytest.raises(UsageError, match="sparse=True does not go with counts that are files"):
        PLSA(4, sparse=True).fit(store)


def test_a_second_fit_forgets_what_only_the_first_one_had():
    counts = np.random.default_rng(0).poisson(1.0, (40, 30)) + np.eye(40, 30)
    model = PLSA(3, sparse=True, random_state=0, max_iter=3).fit(counts)
    assert model.truncation_bound_ >= 0
    assert not hasattr(model.set_params(sparse=False).fit(counts), "truncation_bound_")
