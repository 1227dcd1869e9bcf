"""PMM as people meet it: scikit-learn's laws, every form of labels, explanations, bad input."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer

from tests.oracles.labels import planted
from topiarist import PMM
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.execution import BlockStore, InProcess
from topiarist.metrics import example_f1

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "pmm.json").read_text())
BOTH = pytest.mark.parametrize("order", [1, 2])


@pytest.fixture(scope="module")
def data():
    counts, labels, _ = planted(np.random.default_rng(0), 400, 60, 5)
    return counts[:250], labels[:250], counts[250:], labels[250:]


def test_the_checks_that_fail_pass_once_every_document_has_a_label():
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson(2.0, (100, 2)) + 1.0, (rng.random((100, 5)) < 0.5).astype(int)
    labels[labels.sum(axis=1) == 0, 0] = 1
    predictions = [
        PMM().fit(counts[:75], form).predict(counts[75:])
        for form in (labels[:75], labels[:75].tolist(), list(labels[:75]))
    ]
    for predicted in predictions:
        assert isinstance(predicted, np.ndarray)
        assert predicted.dtype == labels.dtype
        assert predicted.shape == (25, 5)
        np.testing.assert_array_equal(predicted, predictions[0])
    assert PMM().fit(counts, labels).decision_function(counts).dtype == np.float64


def test_golden_optimum_and_predictions():
    counts, labels, test = (np.array(GOLDEN[name]) for name in ("counts", "labels", "test_counts"))
    model = PMM().fit(counts, labels)
    assert model.converged_
    # the golden optimum stopped 8e-8 short of the top (tests/models/test_pmm.py)
    np.testing.assert_allclose(model.word_given_label_, GOLDEN["pmm1_optimum"]["word_given_label"], atol=1e-7)
    np.testing.assert_array_equal(model.predict(test), GOLDEN["greedy_pmm1_at_optimum"])
    assert (model.label_bias_ == 0.5).all()


@BOTH
def test_what_is_learned_is_a_model_and_predicts(data, order):
    counts, labels, test, wanted = data
    model = PMM(order).fit(counts, labels)
    np.testing.assert_allclose(model.word_given_label_.sum(axis=1), 1)
    np.testing.assert_allclose(model.label_bias_ + model.label_bias_.T, 1)
    assert model.word_given_label_.shape == (5, 60)
    assert model.converged_
    assert model.n_iter_ == len(model.history_) - 1
    assert (np.diff(model.history_) >= -1e-12 * np.abs(model.history_[:-1])).all()
    assert model.score(test, wanted) > 0.9
    assert model.score(test, wanted) == example_f1(wanted, model.predict(test))
    np.testing.assert_array_equal(model.decision_function(test) > 0, model.predict(test) == 1)
    one_by_one = np.vstack([model.predict(row[None]) for row in test[:20]])
    np.testing.assert_array_equal(one_by_one, model.predict(test[:20]))


def test_every_form_of_labels_gives_the_same_model(data):
    counts, labels, test, _ = data
    plain = PMM().fit(counts, labels)
    frame = pd.DataFrame(labels, columns=list("abcde"))
    forms = {
        np.ndarray: [labels.astype(bool), labels.astype(float), labels.tolist(), frame],
        csr_matrix: [csr_matrix(labels), csc_matrix(labels)],
        csr_array: [csr_array(labels)],
    }
    for kind, given in forms.items():
        for form in given:
            model = PMM().fit(csr_array(counts), form)
            np.testing.assert_array_equal(model.word_given_label_, plain.word_given_label_)
            predicted = model.predict(test)
            assert type(predicted) is kind
            dense = predicted if kind is np.ndarray else predicted.toarray()
            np.testing.assert_array_equal(dense, plain.predict(test))
            assert dense.dtype.kind == "i"
    assert PMM().fit(counts, frame).classes_.tolist() == list("abcde")
    assert plain.classes_.tolist() == [0, 1, 2, 3, 4]


def test_one_label_each_is_naive_bayes():
    rng = np.random.default_rng(1)
    counts, names = rng.poisson(1.0, (60, 12)), rng.choice(["arts", "law", "sport"], 60)
    model = PMM().fit(counts, names)
    even = MultinomialNB(fit_prior=False).fit(counts, names)
    assert model.classes_.tolist() == ["arts", "law", "sport"]
    np.testing.assert_array_equal(model.predict(counts), even.predict(counts))
    np.testing.assert_allclose(np.log(model.word_given_label_), even.feature_log_prob_, rtol=1e-12)
    assert model.score(counts, names) == np.mean(model.predict(counts) == names)
    assert PMM().fit(counts, names == "law").decision_function(counts).shape == (60,)


def test_scores_of_columns_and_with_weights(data):
    rng = np.random.default_rng(1)
    counts, names, weights = rng.poisson(1.0, (60, 12)), rng.choice(["arts", "law", "sport"], 60), rng.random(60)
    model = PMM().fit(counts, names)
    right = model.predict(counts) == names
    assert 0.4 < right.mean() < 1
    assert model.score(counts, names[:, None]) == right.mean()
    assert model.score(counts, names, sample_weight=weights) == pytest.approx(np.average(right, weights=weights))
    counts, labels, test, wanted = data
    model, weights = PMM().fit(counts, labels), rng.random(len(test))
    each = [model.score(test[[row]], wanted[[row]]) for row in range(len(test))]
    assert model.score(test, wanted, sample_weight=weights) == pytest.approx(np.average(each, weights=weights))
    with pytest.raises(InputError, match="a number for each of 150 documents"):
        model.score(test, wanted, sample_weight=[1, 2])


def test_pipelines_grids_and_clones():
    texts = ["goal match team"] * 6 + ["song band stage"] * 6 + ["match song team band"] * 6
    labels = MultiLabelBinarizer().fit_transform([["sport"]] * 6 + [["music"]] * 6 + [["music", "sport"]] * 6)
    pipeline = make_pipeline(CountVectorizer(), PMM())
    assert (pipeline.fit(texts, labels).predict(["goal team match", "song match"]) == [[0, 1], [1, 1]]).all()
    grid = GridSearchCV(pipeline, {"pmm__word_prior": [1.1, 2.0], "pmm__order": [1, 2]}, cv=3).fit(texts, labels)
    assert grid.best_score_ > 0.9
    assert cross_val_score(pipeline, texts, labels, cv=3, scoring="f1_samples").mean() > 0.9
    model = PMM(2, word_prior=1.5, label_prior="calibrated")
    assert clone(model).get_params() == model.get_params()


def test_explanations_add_up_to_the_decision(data):
    counts, labels, test, _ = data
    model = PMM(2).fit(
        pd.DataFrame(counts, columns=[f"w{i}" for i in range(60)]), pd.DataFrame(labels, columns=[*"abcde"])
    )
    row = pd.DataFrame(test[:1], columns=[f"w{i}" for i in range(60)])
    decision = model.decision_function(row)[0]
    for label, told in zip("abcde", model.explain(row, list("abcde")), strict=True):
        number = "abcde".index(label)
        assert told.label == label
        assert told.predicted == (decision[number] > 0)
        assert told.total == pytest.approx(decision[number], abs=1e-9)
        assert told.parts.sum() == pytest.approx(told.total, abs=1e-9)
        assert (np.diff(told.parts) <= 0).all()
        assert set(told.words) == {f"w{i}" for i in np.flatnonzero(test[0])}
    short = model.explain(row, "b", n_words=3)
    assert len(short) == 1
    assert len(short[0].words) == 3
    assert {told.label for told in model.explain(row)} == {"abcde"[i] for i in np.flatnonzero(model.predict(row)[0])}
    assert "predicted" in str(short[0])
    plain = PMM().fit(counts, labels)
    for one in (test[0], test[0].tolist(), csr_array(test)[0]):
        assert list(map(str, plain.explain(one))) == list(map(str, plain.explain(test[:1])))


def test_explanations_agree_with_predictions(data):
    """Single labels are told against the best rival, and documents without known words have the prior's label."""
    counts, labels, test, _ = data
    counts, test = (np.column_stack([part, np.zeros(len(part), int)]) for part in (counts, test))
    blank = np.zeros((1, 61))
    blank[0, 60] = 4
    names = np.array(list("abcde"))[labels.argmax(axis=1)]
    for model in (PMM().fit(counts, labels), PMM(label_prior="calibrated").fit(counts, labels)):
        told = model.explain(blank)
        assert [(one.label, one.predicted, len(one.words)) for one in told] == [(labels.sum(axis=0).argmax(), True, 0)]
    model = PMM().fit(counts, names)
    assert [(one.label, one.total) for one in model.explain(blank)] == [(max("abcde", key=names.tolist().count), 0)]
    for row in range(10):
        decision = model.decision_function(test[[row]])[0]
        told = model.explain(test[[row]], list("abcde"))
        rivals = [np.delete(decision, number).max() for number in range(5)]
        np.testing.assert_allclose([one.total for one in told], decision - rivals, atol=1e-9)
        assert [one.label for one in told if one.predicted] == model.predict(test[[row]]).tolist()
        assert [one.label for one in model.explain(test[[row]])] == model.predict(test[[row]]).tolist()


def test_a_calibrated_prior_decides_by_shares(data):
    counts, labels, test, wanted = data
    model = PMM(label_prior="calibrated").fit(counts, labels)
    assert model.label_threshold_.shape == (5,)
    assert (model.predict(test).sum(axis=1) >= 1).all()
    assert model.score(test, wanted) > 0.85
    np.testing.assert_array_equal(model.decision_function(test) > 0, model.predict(test) == 1)
    for told in model.explain(test[:1]):
        assert told.predicted
        assert 0 < told.total < 1
    plain = PMM().fit(counts, labels)
    assert plain.label_threshold_ is None
    np.testing.assert_array_equal(model.word_given_label_, plain.word_given_label_)


def test_calibration_says_that_it_does_nothing_for_single_labels(data):
    counts, labels = data[0], data[1].argmax(axis=1)
    with pytest.warns(UserWarning, match="with one label each it does nothing"):
        model = PMM(label_prior="calibrated").fit(counts, labels)
    assert model.label_threshold_ is None
    np.testing.assert_array_equal(model.predict(counts), PMM().fit(counts, labels).predict(counts))


def test_a_frequent_label_that_says_little_is_what_calibration_is_for():
    """Nine of ten documents have a label whose words are those of the collection."""
    rng = np.random.default_rng(3)
    counts, labels, _ = planted(rng, 600, 80, 6, length=25)
    general = (rng.random(600) < 0.9).astype(int)
    counts = counts + rng.poisson(0.3, counts.shape)
    labels = np.column_stack([labels, general])
    scores = [PMM(label_prior=prior).fit(counts[:400], labels[:400]).score(counts[400:], labels[400:])
              for prior in (None, "calibrated")]  # fmt: skip
    assert scores[1] > scores[0] + 0.02


@BOTH
def test_threads_blocks_and_executors_change_nothing(data, order, tmp_path):
    counts, labels, test, _ = data
    alone = PMM(order, n_threads=1).fit(counts, labels)
    store = BlockStore.write(tmp_path / "store", csr_matrix(counts), block_size=64)
    others = [
        PMM(order, n_threads=3).fit(counts, labels),
        PMM(order, executor=InProcess()).fit(counts, labels),
    ]
    for other in others:
        np.testing.assert_array_equal(other.word_given_label_, alone.word_given_label_)
        np.testing.assert_array_equal(other.decision_function(test), alone.decision_function(test))
    stored = PMM(order).fit(store, labels)
    np.testing.assert_allclose(stored.word_given_label_, alone.word_given_label_, atol=1e-9)
    np.testing.assert_array_equal(stored.predict(store), alone.predict(counts))


def test_a_cluster_gives_the_same_bits(data, tmp_path):
    distributed = pytest.importorskip("distributed")
    from topiarist.execution import DaskExecutor

    counts, labels, _, _ = data
    quiet = {"threads_per_worker": 1, "silence_logs": 50, "dashboard_address": None, "worker_dashboard_address": None}
    with (
        distributed.LocalCluster(processes=False, n_workers=1, **quiet) as cluster,
        distributed.Client(cluster) as client,
    ):
        far = PMM(2, max_iter=4, executor=DaskExecutor(client, scratch=tmp_path)).fit(counts, labels)
    near = PMM(2, max_iter=4).fit(counts, labels)
    np.testing.assert_array_equal(far.word_given_label_, near.word_given_label_)
    assert far.stopped_ == "max_iter"


def test_documents_without_a_known_word_get_the_most_frequent_label_and_a_warning(data):
    counts, labels, test, _ = data
    counts = np.column_stack([counts, np.zeros(len(counts))])  # a word that no training document has
    blank = np.zeros((3, 61))
    blank[1, 60] = 5
    blank[2, :60] = test[0]
    for model in (PMM(), PMM(2), PMM(label_prior="calibrated")):
        model.fit(counts, labels)
        with pytest.warns(UserWarning, match="2 documents have no word"):
            predicted = model.predict(blank)
        most = int(labels.sum(axis=0).argmax())
        assert predicted[:2].tolist() == [np.eye(5, dtype=int)[most].tolist()] * 2
        np.testing.assert_array_equal(model.decision_function(blank) > 0, predicted == 1)


def test_single_labels_of_documents_without_a_known_word():
    rng = np.random.default_rng(2)
    counts = np.column_stack([rng.poisson(1.0, (60, 8)) + 1, np.zeros(60, int)])
    blank = np.zeros((2, 9), int)
    blank[1, 8] = 5
    for names in (np.array(["c"] * 10 + ["b"] * 40 + ["a"] * 10), np.array(["a"] * 10 + ["b"] * 50)):
        model = PMM().fit(counts, names)
        with pytest.warns(UserWarning, match="2 documents have no word .* most frequent label, b"):
            assert model.predict(blank).tolist() == ["b", "b"]
        decision = model.decision_function(blank)
        assert (decision > 0).all() if decision.ndim == 1 else (decision.argmax(axis=1) == 1).all()


def test_a_label_without_documents_is_said_and_never_predicted(data):
    counts, labels, test, _ = data
    more = np.column_stack([labels, np.zeros(len(labels), int)])
    with pytest.warns(UserWarning, match="never be predicted: 5"):
        model = PMM().fit(counts, more)
    np.testing.assert_allclose(model.word_given_label_[5], 1 / 60)
    assert model.predict(test)[:, 5].sum() == 0
    assert np.isfinite(model.decision_function(test)).all()


def test_one_label_only():
    counts = np.random.default_rng(0).poisson(1.0, (10, 4)) + 1
    model = PMM().fit(counts, np.ones((10, 1), int))
    assert model.predict(counts).tolist() == [[1]] * 10
    assert (PMM().fit(counts, ["only"] * 10).predict(counts) == "only").all()
    assert model.explain(counts[:1])[0].total == 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([["a"], ["a", "b"], ["b"], ["a"]], "got a list of label lists"),
        ([[0], [1, 2], [2], [1]], "got a list of label lists"),
        ([("a", "b"), ("a", "b"), ("b", "c"), ("a", "c")], "got other values, the first 'a'"),
        ([{"a"}, {"b"}, {"a", "b"}, {"a"}], "got a list of label lists"),
        ([[0, 2], [1, 0], [0, 1], [1, 1]], "got other values, the first 2"),
        (np.array([[0, 1], [1, 0], [np.nan, 1], [1, 1]]), "Input y contains NaN"),
        (csr_array(np.array([[0, 3], [1, 0], [0, 1], [1, 1]])), "got other values, the first 3"),
        ([[0, 1], [1, 0], [0, 0], [1, 1]], "got none for 1 of 4, the first in row 2"),
        (csr_array(np.eye(4, 2, dtype=int)), "got none for 2 of 4, the first in row 2"),
        (np.eye(3, dtype=int), "4 documents in X, 3 in y"),
        (np.ones((4, 2, 2)), "got an array of 3 axes"),
        (np.ones((4, 0)), "without columns"),
        ([0.5, 1.5, 2.5, 3.5], "Unknown label type"),
        (None, "y is None"),
    ],
)
def test_what_is_not_labels_is_refused(labels, message):
    with pytest.raises(InputError) as caught:
        PMM().fit(np.eye(4) + 1, labels)
    assert message in caught.value.message
    assert caught.value.hint
    if "label lists" in message or "other values" in message:
        assert "MultiLabelBinarizer" in caught.value.hint


def test_other_refusals(data, monkeypatch):
    counts, labels, test, _ = data
    with monkeypatch.context() as patch:
        patch.setattr("numba.cuda.is_available", lambda: False)
        with pytest.raises(ResourceError, match="device='cuda' needs an NVIDIA GPU"):
            PMM(device="cuda").fit(counts, labels)
    model = PMM().fit(counts, labels)
    with pytest.raises(InputError, match="explain takes one document, got 2"):
        model.explain(test[:2])
    with pytest.raises(UsageError, match="there is no label 'z'"):
        model.explain(test[:1], "z")
    with pytest.raises(ValueError, match="60 features"):
        model.predict(test[:, :10])


def test_maximum_likelihood_has_words_that_a_label_cannot_say(data):
    counts, labels, test, wanted = data
    model = PMM(word_prior=1.0).fit(counts, labels)
    np.testing.assert_allclose(model.word_given_label_.sum(axis=1), 1)
    assert model.score(test, wanted) > 0.8
    assert np.isfinite(model.history_).all()
