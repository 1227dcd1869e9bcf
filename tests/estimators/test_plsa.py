"""PLSA as people use it: scikit-learn's contract, and the promises beyond it."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from tests.oracles import textbook
from topiarist import PLSA
from topiarist.counts.text_counter import TextCounter
from topiarist.errors import InputError
from topiarist.execution.executors import InProcess


@pytest.fixture(scope="module")
def data():
    return textbook.planted(np.random.default_rng(0), 200, 50, 4, length=80)[0]


def test_what_is_learned(data):
    model = PLSA(4, random_state=0).fit(data)
    assert model.components_.shape == (4, 50)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)
    np.testing.assert_allclose(model.component_given_doc_.sum(axis=1), 1)
    np.testing.assert_allclose(model.component_prior_.sum(), 1)
    assert model.converged_
    assert model.stopped_ == "converged"
    assert len(model.history_) == model.n_iter_ + 1
    assert (np.diff(model.history_) >= -1e-9 * np.abs(model.history_[0])).all()


def test_transform_of_the_training_documents_is_what_fit_learned(data):
    model = PLSA(4, random_state=0, word_smoothing=0.01, component_smoothing=0.05)
    learned = model.fit_transform(data)
    assert np.array_equal(model.transform(data), learned)
    one_by_one = np.vstack([model.transform(data[i : i + 1]) for i in range(20)])
    assert np.array_equal(one_by_one, learned[:20])
    order = np.random.default_rng(1).permutation(len(data))
    assert np.array_equal(model.transform(csr_matrix(data[order])), learned[order])


def test_single_component_matches_unigram_model(data):
    model = PLSA(1).fit(data)
    np.testing.assert_allclose(model.components_[0], data.sum(axis=0) / data.sum(), rtol=1e-12)
    assert (model.transform(data) == 1).all()


def test_smoothing_is_not_ignored(data):
    plain = PLSA(3, random_state=0).fit(data)
    words = PLSA(3, random_state=0, word_smoothing=5.0).fit(data)
    documents = PLSA(3, random_state=0, component_smoothing=5.0).fit(data)
    assert words.components_.min() > 100 * plain.components_.min()
    assert documents.component_given_doc_.min() > 0.02 > plain.component_given_doc_.min()


def test_accelerated_and_textbook_steps_reach_the_same_height(data):
    fast = PLSA(4, random_state=0, tol=1e-7, max_iter=2000).fit(data)
    slow = PLSA(4, random_state=0, tol=1e-7, max_iter=2000, accelerate=False).fit(data)
    assert fast.history_[-1] == pytest.approx(slow.history_[-1], rel=1e-5)
    assert fast.n_iter_ < slow.n_iter_


def test_restarts_keep_the_best(data):
    single = PLSA(4, random_state=5, max_iter=8, tol=0).fit(data)
    several = PLSA(4, random_state=5, max_iter=8, tol=0, n_init=5).fit(data)
    assert several.history_[-1] >= single.history_[-1]
    assert not np.array_equal(several.components_, single.components_)


def test_heldout_tokens_stop_the_fit_early():
    rng = np.random.default_rng(1)
    noise = rng.poisson(0.4, (150, 120))  # nothing to learn but the word frequencies
    model = PLSA(10, random_state=0, heldout_fraction=0.2, max_iter=500, tol=0).fit(noise)
    assert model.stopped_ == "heldout"
    assert model.n_iter_ < 200
    assert len(model.heldout_history_) == len(model.history_)
    assert model.heldout_history_.max() > model.heldout_history_[-1]


def test_tempering_is_chosen_by_heldout_tokens_and_predicts_better():
    data = textbook.planted(np.random.default_rng(2), 120, 200, 8, length=40)[0]
    plain = PLSA(12, random_state=0).fit(data)
    tempered = PLSA(12, random_state=0, inverse_temperature="heldout").fit(data)
    assert plain.inverse_temperature_ == 1.0
    assert tempered.inverse_temperature_ < 1.0
    test = textbook.planted(np.random.default_rng(2), 240, 200, 8, length=40)[0][120:]
    assert tempered.perplexity(test) < plain.perplexity(test)


def test_a_word_that_never_occurs_does_not_spoil_the_objective(data):
    wider = np.hstack([data, np.zeros((len(data), 3))])
    model = PLSA(3, random_state=0, word_smoothing=0.1).fit(wider)
    assert np.isfinite(model.history_).all()
    assert (model.components_[:, -3:] > 0).all()


def singletons():
    """Counts as text has them: many words in one document only."""
    rng = np.random.default_rng(6)
    common = textbook.planted(rng, 150, 80, 4, length=60)[0]
    return np.hstack([common, np.eye(150, dtype=int)])


def test_held_out_words_that_the_rest_lacks_do_not_stop_the_fit():
    stopped = PLSA(4, random_state=0, heldout_fraction=0.2, tol=0, max_iter=400).fit(singletons())
    assert np.isfinite(stopped.heldout_history_).all()
    assert int(np.argmax(stopped.heldout_history_)) > 3
    tempered = PLSA(12, random_state=0, inverse_temperature="heldout").fit(singletons())
    assert tempered.inverse_temperature_ < 1.0


def test_options_changed_after_the_fit_do_not_change_its_answers(data):
    model = PLSA(4, random_state=0, component_smoothing=0.05).fit(data)
    model.set_params(component_smoothing=50.0)
    assert np.array_equal(model.transform(data), model.component_given_doc_)


def test_components_may_be_reordered(data):
    model = PLSA(4, random_state=0).fit(data)
    order = [2, 0, 3, 1]
    model.components_ = model.components_[order]
    np.testing.assert_allclose(model.transform(data), model.component_given_doc_[:, order], atol=1e-5)


def test_data_frames_in_and_out(data):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(data, columns=[f"word{n}" for n in range(50)])
    model = PLSA(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == ["plsa0", "plsa1", "plsa2"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.perplexity(frame)
        model.score(frame)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
def test_any_sparse_matrix_and_any_number_type(data, kind):
    wanted = PLSA(3, random_state=0, max_iter=5).fit(data).components_
    for dtype in (np.int64, np.uint8, np.float32, np.float64):
        found = PLSA(3, random_state=0, max_iter=5).fit(csr_matrix(data, dtype=dtype).asformat(kind)).components_
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_second_ctrl_c_leaves_no_half_fitted_model(data, monkeypatch):
    from topiarist.models import plsa

    def fold_in(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(plsa.Plsa, "fold_in", fold_in)
    model = PLSA(2, max_iter=3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data)
    assert not hasattr(model, "components_")


def test_another_executor_is_asked(data):
    class Counts(InProcess):
        calls = 0

        def total(self, function, blocks, local):
            self.calls += 1
            return super().total(function, blocks, local)

    executor = Counts()
    model = PLSA(2, executor=executor, max_iter=4, tol=0, accelerate=False).fit(data)
    assert executor.calls == model.n_iter_ + 1 == 5


def test_score_and_perplexity_prefer_the_right_number_of_components(data):
    test = textbook.planted(np.random.default_rng(0), 300, 50, 4, length=80)[0][200:]
    scores = {k: PLSA(k, random_state=0, n_init=2).fit(data).perplexity(test) for k in (1, 4)}
    assert scores[4] < 0.8 * scores[1]
    assert scores[1] < 50


def test_words_never_seen_are_left_out_of_the_score(data):
    wider = np.hstack([data, np.zeros((len(data), 1))])
    model = PLSA(3, random_state=0).fit(wider)
    strange = wider.copy()
    strange[:, -1] = 7
    assert model.score(strange) == pytest.approx(model.score(wider), rel=1e-12)
    assert model.perplexity(strange) < 60
    np.testing.assert_allclose(model.transform(strange), model.transform(wider))


def test_empty_documents_are_undecided(data):
    model = PLSA(4, random_state=0).fit(np.vstack([data, np.zeros((1, 50))]))
    np.testing.assert_allclose(model.component_given_doc_[-1], 0.25)


def test_in_a_pipeline_and_a_grid_search():
    texts = [f"{a} {a} {b} word{i % 3}" for i, (a, b) in enumerate([("cat", "dog"), ("star", "moon")] * 20)]
    pipeline = make_pipeline(TextCounter(min_df=1), PLSA(random_state=0))
    search = GridSearchCV(pipeline, {"plsa__n_components": [1, 2], "plsa__word_smoothing": [0.1]}, cv=3).fit(texts)
    assert search.best_params_["plsa__n_components"] == 2
    assert list(search.best_estimator_[-1].get_feature_names_out()) == ["plsa0", "plsa1"]


def test_interrupted_fit_keeps_the_best_so_far(data, monkeypatch):
    from topiarist.models import em

    whole, calls = em.step, []

    def step(*arguments):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(em, "step", step)
    model = PLSA(4, random_state=0, n_init=3, tol=0).fit(data)
    assert len(calls) == 6
    assert (model.stopped_, model.converged_) == ("interrupted", False)
    assert len(model.history_) == 5
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_verbose_draws_on_standard_error(data, capfd):
    PLSA(3, random_state=0, max_iter=3, verbose=1).fit(data)
    out, err = capfd.readouterr()
    assert out == ""
    assert "PLSA, 3 components" in err
    assert "step 3 of at most 3, gained" in err


def test_holding_out_too_much_is_refused():
    with pytest.raises(InputError, match="without the held-out tokens"):
        PLSA(3, heldout_fraction=0.9, random_state=0).fit(np.eye(3))
    with pytest.raises(InputError, match="no held-out token"):
        PLSA(1, heldout_fraction=0.1, random_state=0).fit(np.eye(30))
    with pytest.raises(InputError, match=r"n_components=4 needs .* documents with words, got 0 \(n_samples=9\)"):
        PLSA(4).fit(np.zeros((9, 3)))


def test_counts_too_large_for_the_precision(data):
    with pytest.raises(InputError, match="in single precision"):
        PLSA(2, dtype="float32").fit(data * 1e9)
    large = PLSA(4, random_state=0).fit(data * 1e9)
    np.testing.assert_allclose(large.components_.sum(axis=1), 1)
    with pytest.raises(InputError, match="too large to be a count"):
        PLSA(2).fit(data * 1e30)
