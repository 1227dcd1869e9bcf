"""Trees from batches."""

import warnings

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import (
    check_estimators_partial_fit_n_features,
    check_n_features_in_after_fitting,
    parametrize_with_checks,
)

from tests.oracles import trees as oracle
from topiarist import CAM, HPLSA, PLSA, Tree
from topiarist.errors import UsageError
from topiarist.execution import BlockStore

TREE = Tree.balanced(2, 2)
ESTIMATORS = [
    HPLSA(random_state=0),
    HPLSA(topic_mix="heldout", effective_length=35.0, random_state=0),
    HPLSA(topic_mix="uniform", random_state=0),
    CAM(random_state=0),
    CAM(levels=False, effective_length=None, random_state=0),
]


@pytest.fixture(scope="module")
def data():
    return oracle.planted(np.random.default_rng(0), oracle.balanced(2), n_docs=3000, length=60)


def fresh(estimator, **options):
    return type(estimator)(**{**estimator.get_params(), **options})


def words_of(model):
    return model.tree_model_.word_given_node


def prior_of(model):
    return model.tree_model_.class_prior


@parametrize_with_checks([HPLSA(tree=Tree.star(2), max_iter=5, random_state=0)])
def test_scikit_learn_checks_with_partial_fit(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(estimator)


@pytest.mark.parametrize("check", [check_estimators_partial_fit_n_features, check_n_features_in_after_fitting])
def test_scikit_learn_checks_of_partial_fit(check):
    check("CAM", CAM(tree=Tree.star(2), max_iter=5, random_state=0))


@pytest.mark.parametrize("kind", [HPLSA, CAM])
def test_without_a_tree_there_is_nothing_to_learn_on(kind, data):
    with pytest.raises(UsageError, match=r"requires a tree.*\n.*fit\(sample\)"):
        kind().partial_fit(data[0])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("given", [True, False], ids=["given", "grown"])
def test_a_stream_finds_what_was_planted(estimator, given, data):
    counts, classes, _ = data
    grown = fresh(estimator, **{estimator._number: 4})
    model = fresh(estimator, tree=TREE) if given else grown.fit(counts[:150])
    for start in range(150 * (not given), 2400, 150):
        model.partial_fit(counts[start : start + 150])
        np.testing.assert_allclose(words_of(model).sum(axis=1), 1)
        np.testing.assert_allclose(model.tree_model_.node_given_class.sum(axis=1), 1)
        np.testing.assert_allclose(prior_of(model).sum(), 1)
    assert adjusted_rand_score(classes[2400:], model.predict(counts[2400:])) > 0.97
    assert model.stopped_ == "stream"
    assert len(model.stream_) == 15
    figures = [record.log_likelihood for record in model.stream_]
    assert np.mean(figures[-5:]) > np.mean(figures[:5]) - 0.02  # the likelihood of a stationary stream does not fall


@pytest.mark.parametrize("estimator", ESTIMATORS[:4], ids=str)
def test_the_number_of_threads_does_not_matter(estimator, data):
    counts = data[0]
    models = [fresh(estimator, tree=TREE, n_threads=threads) for threads in (1, 3)]
    for model in models:
        for start in (0, 300, 600):
            model.partial_fit(counts[start : start + 300])
    np.testing.assert_array_equal(words_of(models[0]), words_of(models[1]))
    assert models[0].stream_ == models[1].stream_


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_fitted_tree_goes_on_with_a_stream(estimator, data):
    counts = data[0]
    model = fresh(estimator, **{estimator._number: 4}).fit(counts[:1000])
    before, tokens = words_of(model).copy(), model.n_tokens_seen_
    model.partial_fit(counts[1000:1001])
    assert 0 < np.abs(words_of(model) - before).sum(axis=1).max() / 2 < 0.05  # one document changes little
    assert model.n_batches_ == 1
    assert model.n_tokens_seen_ > tokens
    assert len(model.history_) == len(model.stream_) == 1
    assert not hasattr(model, "labels_")  # there are no training documents in a stream
    model.fit(counts[:1000])
    assert model.stream_ == ()
    np.testing.assert_array_equal(words_of(model), before)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_stream_counts_tokens_as_a_fit_does(estimator, data):
    counts = data[0][:400]
    model = fresh(estimator, **{estimator._number: 4}).fit(counts)
    tokens = model.n_tokens_seen_
    documents = model._documents_per_token
    model.partial_fit(counts)
    assert model.n_tokens_seen_ == pytest.approx(2 * tokens, rel=1e-5)  # held-out ones too
    assert model._documents_per_token == pytest.approx(documents)
    heldout = getattr(model, "topic_mix", None) == "heldout" or getattr(model, "levels", False)
    stats = model._stream.stats
    mix = stats.class_topic_count if isinstance(model, HPLSA) else stats.cluster_node_count
    assert mix.sum() == pytest.approx(0.1 if heldout else 1.0, rel=0.03)
    assert model._word_totals(stats).sum() == pytest.approx(1.0, rel=0.1 if heldout else 1e-5)


def test_another_number_of_columns_is_refused(data):
    counts = data[0]
    model = HPLSA(tree=TREE, random_state=0).partial_fit(counts[:200])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(counts[:200, :-1])


@pytest.mark.parametrize("estimator", [PLSA(4, random_state=0, dtype="float32"), *ESTIMATORS[:4]], ids=str)
def test_blocks_on_disk_are_batches_like_any_other(estimator, data, tmp_path):
    counts = data[0]
    store = BlockStore.write(tmp_path / "counts", counts[:800].astype(np.float32), block_size=200)
    options = {"dtype": "float32"} | ({} if isinstance(estimator, PLSA) else {"tree": TREE})
    from_disk, from_memory = fresh(estimator, **options), fresh(estimator, **options)
    for block in store.blocks():
        from_disk.partial_fit(block)
        from_memory.partial_fit(block.counts())
    np.testing.assert_array_equal(from_disk.components_, from_memory.components_)
    assert from_disk.stream_ == from_memory.stream_


@pytest.mark.parametrize("estimator", [PLSA(4, random_state=0), *ESTIMATORS], ids=str)
def test_more_words(estimator, data):
    counts, classes, _ = data
    options = {} if isinstance(estimator, PLSA) else {"tree": TREE}
    model = fresh(estimator, **options)
    for start in range(0, 900, 300):
        model.partial_fit(counts[start : start + 300])
    before = model.components_.copy()
    assert model.extend_words(56) is model  # as many as there are
    np.testing.assert_array_equal(model.components_, before)
    model.extend_words(60)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)
    np.testing.assert_allclose(model.components_[:, :56], before, rtol=1e-4)
    assert 0 < model.components_[:, 56:].max() < 1e-3
    with pytest.raises(UsageError, match="n_words must be at least 60"):
        model.extend_words(59)
    extra = np.zeros((3000, 4), counts.dtype)
    extra[np.arange(3000), classes] = 6  # a new word for each class
    wide = np.hstack([counts, extra])
    model.partial_fit(wide[900:1200])
    assert model.stream_[-1].new_words == pytest.approx(6 / 66)
    for start in range(1200, 2400, 300):
        model.partial_fit(wide[start : start + 300])
    assert model.stream_[-1].new_words == 0
    own = model.components_[:, 56:]
    assert len(set(own.argmax(axis=1))) == 4  # each class has learned its own
    assert own.max(axis=1).min() > 0.03


@pytest.mark.parametrize("estimator", [PLSA(4, random_state=0), *ESTIMATORS], ids=str)
def test_more_words_leave_what_was_counted(estimator, data):
    counts = data[0]
    model = fresh(estimator, **({} if isinstance(estimator, PLSA) else {"tree": TREE}))
    for start in range(0, 900, 300):
        model.partial_fit(counts[start : start + 300])
    before = model._stream.stats
    totals = model._word_totals(before).copy()
    model.extend_words(58).extend_words(60)
    after = model._stream.stats
    np.testing.assert_array_equal(model._word_totals(after), np.append(totals, np.zeros(4)))
    for name in vars(before):
        if "word" not in name:
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name))


def test_a_tempered_fit_stays_tempered_when_there_is_more_room(data):
    counts = data[0][:300]
    model = PLSA(4, inverse_temperature=0.7, random_state=0).fit(counts).set_params(inverse_temperature=1.0)
    assert model.extend_words(60).inverse_temperature_ == 0.7
    assert model.partial_fit(np.pad(counts, ((0, 0), (0, 4)))).inverse_temperature_ == 1.0
    assert model.stream_[0].new_words == 0


def test_hashed_words_need_no_vocabulary():
    texts = ["the ball and the goal of the match " * 3, "the vote and the law of the house " * 3] * 60
    hashing = HashingVectorizer(n_features=2**10, alternate_sign=False, norm=None)
    model = HPLSA(tree=Tree.star(2), random_state=0)
    for start in range(0, 120, 30):
        model.partial_fit(hashing.transform(texts[start : start + 30]))
    model.partial_fit(hashing.transform(["a parliament and its unheard words"]))
    assert adjusted_rand_score([0, 1] * 60, model.predict(hashing.transform(texts))) == 1


@pytest.mark.parametrize(
    "options", [{"variant": "cem"}, {"variant": "sem"}, {"class_nodes": "all", "class_smoothing": 0.1}], ids=str
)
def test_every_kind_of_tree_learns(options, data):
    counts = data[0]
    model = HPLSA(tree=TREE, random_state=0, **options)
    for start in range(0, 1200, 300):
        model.partial_fit(counts[start : start + 300])
    np.testing.assert_allclose(words_of(model).sum(axis=1), 1)
    figures = [record.log_likelihood for record in model.stream_]
    assert figures[-1] > figures[0] - 0.05


def test_a_tree_that_was_fitted_to_files_goes_on_with_their_blocks(data, tmp_path):
    store = BlockStore.write(tmp_path / "counts", data[0][:900], block_size=300)
    model = HPLSA(tree=TREE, random_state=0).fit(store)
    assert model.n_tokens_seen_ == store.n_tokens
    model.partial_fit(store.blocks()[0])
    assert model.stream_[0].new_words == 0
    with pytest.raises(UsageError, match="BlockStore"):
        model.partial_fit(store)


@pytest.mark.parametrize("estimator", [PLSA(4, random_state=0), *ESTIMATORS], ids=str)
def test_empty_documents_and_empty_batches_do_no_harm(estimator, data):
    counts = data[0]
    model = fresh(estimator, **({} if isinstance(estimator, PLSA) else {"tree": TREE})).partial_fit(counts[:300])
    before, n_before = model.components_.copy(), model.n_batches_
    for _ in range(2):
        model.partial_fit(np.zeros((5, counts.shape[1])))
    np.testing.assert_array_equal(model.components_, before)
    assert model.n_batches_ - n_before == len(model.stream_) == 2
    assert np.isnan(model.history_[-2:]).all()  # not 0, which would be the best of all figures
    assert np.isnan(model.stream_[-1].log_likelihood)
    model.partial_fit(np.vstack([np.zeros_like(counts[:3]), counts[300:400]]))
    assert np.isfinite(model.stream_[-1].log_likelihood)
    assert np.isfinite(model.history_[-1])


@pytest.mark.parametrize("kind", [HPLSA, CAM])
def test_an_executor_does_not_go_with_a_stream(kind, data):
    from topiarist.execution import InProcess

    with pytest.raises(UsageError, match="executor cannot be used with partial_fit"):
        kind(tree=TREE, executor=InProcess()).partial_fit(data[0])


@pytest.mark.parametrize("estimator", [HPLSA(tree=TREE, random_state=0), CAM(tree=TREE, random_state=0)])
def test_more_documents_of_a_collection_weigh_what_they_are(data, estimator):
    counts = data[0]
    fitted, own, streamed = (fresh(estimator, max_iter=20).fit(counts) for _ in range(3))
    own.continue_fit(counts[:1])
    streamed.partial_fit(counts[:1])
    moved, followed = (np.abs(one.components_ - fitted.components_).sum(axis=1).max() for one in (own, streamed))
    share = counts[:1].sum() / counts.sum()
    assert moved < 40 * share  # a node explains a fortieth of all tokens or more
    assert moved < 0.2 * followed
    assert own.n_tokens_seen_ == pytest.approx(fitted.n_tokens_seen_ * (1 + share))
