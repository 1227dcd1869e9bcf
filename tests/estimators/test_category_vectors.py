"""Learning categories with vectors beside words: what they bring, that they are not needed, that none do no harm."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CategoryLearner
from topiarist.errors import InputError
from topiarist.estimators.category import class_vectors, one_label
from topiarist.estimators.category.category_learner import _describe_choice
from topiarist.estimators.model_folder import load_model, save_model

N, CLASSES, WORDS, DIMS = 240, 4, 80, 24


def pile(seed=0, told=0.15, apart=1.0):
    """Documents whose words tell little of their class, and whose vectors tell more."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, CLASSES, N)
    words = rng.dirichlet(np.full(WORDS, 0.3), CLASSES + 1)
    mixture = (1 - told) * words[-1] + told * words[classes]
    counts = csr_array(np.stack([rng.multinomial(20, row) for row in mixture]).astype(np.float32))
    vectors = apart * rng.normal(size=(CLASSES, DIMS))[classes] + rng.normal(size=(N, DIMS)) + 2.0
    return counts, vectors, np.array([f"class {one}" for one in classes], object)


def some_labels(labels, number):
    """So many of each class."""
    y = np.full(len(labels), None, object)
    for name in np.unique(labels):
        y[np.flatnonzero(labels == name)[:number]] = name
    return y


@pytest.fixture(scope="module")
def data():
    return pile()


@pytest.fixture(scope="module")
def learner(data):
    counts, vectors, labels = data
    return CategoryLearner().fit(counts, some_labels(labels, 4), vectors=vectors)


def right(learner, data, *given):
    return float((learner.predict(data[0], *given) == data[2]).mean())


@pytest.mark.parametrize("number", [1, 4])
def test_vectors_tell_what_words_do_not(data, number):
    counts, vectors, labels = data
    y = some_labels(labels, number)
    alone = right(CategoryLearner().fit(counts, y), data)
    assert right(CategoryLearner().fit(counts, y, vectors=vectors), data, vectors) > alone + 0.2


def test_the_reason_tells_of_vectors(data, learner):
    assert "vectors of each category" in learner.reason_
    assert "the vectors alone" in learner.reason_
    assert learner.n_vector_features_ == DIMS
    assert "vectors" not in CategoryLearner().fit(data[0], some_labels(data[2], 4)).reason_


def test_the_reason_names_what_sees_the_vectors():
    trial = one_label.Trial(10, 9, 8, 7, None, 6)

    def told(**chosen):
        return _describe_choice(one_label.Setting(**chosen), trial, 0, True)

    assert told(vectorial=1.0).startswith("A linear classifier of words and vectors (50%) and the words of the cat")
    assert "vectors of each category" not in told(vectorial=1.0)
    assert told(class_vector_weight=0.5).startswith(
        "A linear classifier (50%) and the words of the categories (50%), with how near"
    )
    assert told(class_vector_weight=0.5, weight=0.0).startswith(
        "A linear classifier, with how near the vectors of each category are:"
    )
    assert told(vectorial=1.0, weight=1.0).startswith("The words of the categories alone:")
    assert "are not used" in told(weight=1.0)


def test_a_given_weight_of_documents_without_a_label_holds_for_their_vectors(data):
    counts, vectors, labels = data
    fitted = CategoryLearner(unlabelled_weight=0.3).fit(counts, some_labels(labels, 4), vectors=vectors)
    assert fitted._tuned.setting.unlabelled_vector_weight == 0.3


def test_what_is_right_without_unlabelled_documents_is_without_their_vectors(monkeypatch):
    counts, vectors, labels = pile(apart=0.1)
    real = one_label._score_class_vectors

    def lying(known, some, few, classes, parts, machines, lent):
        near, of_few = real(known, some, few, classes, parts, machines, lent)
        return (np.zeros_like(near) if lent else 1e4 * np.eye(known.n_classes)[classes]), of_few

    monkeypatch.setattr(one_label, "_score_class_vectors", lying)
    monkeypatch.setattr(one_label, "UNLABELLED_PREFERENCE", 1e6)
    trial = CategoryLearner().fit(counts, some_labels(labels, 4), vectors=vectors)._tuned.trial
    assert trial.right < trial.right_without == trial.n_unseen


def test_rows_of_zeros_are_as_no_vectors_to_the_last_bit(data):
    counts, vectors, labels = data
    y = some_labels(labels, 4)
    alone = CategoryLearner().fit(counts, y).predict_proba(counts)
    none = CategoryLearner().fit(counts, y, vectors=np.zeros_like(vectors))
    np.testing.assert_array_equal(none.predict_proba(counts), alone)
    np.testing.assert_array_equal(none.predict_proba(counts, vectors), alone)


def test_documents_are_told_with_vectors_without_and_by_vectors_alone(data, learner):
    counts, vectors, _ = data
    with_both, by_words = learner.predict_proba(counts, vectors), learner.predict_proba(counts)
    np.testing.assert_allclose(with_both.sum(axis=1), 1.0)
    assert not np.allclose(with_both, by_words)
    some = np.where(np.arange(N)[:, None] % 2, vectors, 0.0)
    mixed = learner.predict_proba(counts, some)
    np.testing.assert_allclose(mixed[1::2], with_both[1::2])
    np.testing.assert_allclose(mixed[::2], by_words[::2])
    nothing = csr_array(counts.shape, dtype=counts.dtype)
    assert (learner.predict(nothing, vectors) == data[2]).mean() > 0.6
    np.testing.assert_allclose(learner.predict_proba(nothing), np.tile(learner.class_prior_, (N, 1)))


def test_who_has_no_vector_is_told_as_by_a_learner_of_words(data, learner):
    counts, vectors, labels = data
    words = CategoryLearner().fit(counts, some_labels(labels, 4))
    np.testing.assert_array_equal(learner.predict_proba(counts), words.predict_proba(counts))
    some = np.where(np.arange(N)[:, None] % 2, vectors, 0.0)
    np.testing.assert_array_equal(learner.predict_proba(counts, some)[::2], words.predict_proba(counts)[::2])
    assert learner.explain(counts[[0]]) == words.explain(counts[[0]])
    assert learner.explain(counts[[0]], vectors=vectors[:1]) != words.explain(counts[[0]])


def test_where_nothing_was_held_out_words_learned_with_vectors_tell(data):
    """… but as certain as words are: scores with vectors need a lower power, which makes words alone too modest."""
    counts, vectors, labels = data
    y = some_labels(labels, 1)
    both, words = CategoryLearner().fit(counts, y, vectors=vectors), CategoryLearner().fit(counts, y)
    assert right(both, data) > right(words, data)
    modest = both._model(counts)
    assert both.predict_proba(counts).max(axis=1).mean() > modest.max(axis=1).mean() + 0.05


def test_vectors_of_chance_do_no_harm(data):
    counts, _, labels = pile(told=0.6)
    chance = np.random.default_rng(1).normal(size=(N, DIMS))
    y = some_labels(labels, 20)
    alone = right(CategoryLearner().fit(counts, y), (counts, None, labels))
    assert right(CategoryLearner().fit(counts, y, vectors=chance), (counts, None, labels), chance) > alone - 0.05


def test_nothing_held_out_is_modest(data):
    counts, vectors, labels = data
    learner = CategoryLearner().fit(counts, some_labels(labels, 1), vectors=vectors)
    assert learner.predict_proba(counts, vectors).max() <= 0.8 + 1e-6


def test_several_labels_with_vectors(data):
    counts, vectors, labels = data
    Y = (labels[:, None] == np.unique(labels)).astype(int)
    Y[::7, 0] = 1
    learner = CategoryLearner().fit(counts[:160], Y[:160], vectors=vectors[:160])
    alone = CategoryLearner().fit(counts[:160], Y[:160])
    assert "vectors" in learner.reason_
    assert learner.score(counts[160:], Y[160:], vectors=vectors[160:]) > alone.score(counts[160:], Y[160:]) + 0.1
    assert learner.predict(counts[160:]).shape == (80, CLASSES)
    np.testing.assert_array_equal(learner.predict_proba(counts[160:]), alone.predict_proba(counts[160:]))
    np.testing.assert_array_equal(learner.predict(counts[160:]), alone.predict(counts[160:]))
    needs = learner.label_thresholds(2, np.stack([vectors[0], np.zeros(DIMS)]))
    np.testing.assert_array_equal(needs, [learner.label_threshold_, alone.label_threshold_])
    assert not np.array_equal(*needs)
    more = learner.refit(counts, Y, vectors=vectors)
    assert more.predict_proba(counts, vectors).shape == (N, CLASSES)
    np.testing.assert_array_equal(more.label_thresholds(1)[0], alone.label_threshold_)


def test_a_learner_with_vectors_comes_back_from_a_folder(data, learner, tmp_path):
    counts, vectors, _ = data
    save_model(learner, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(counts, vectors), learner.predict_proba(counts, vectors))
    np.testing.assert_array_equal(again.predict_proba(counts), learner.predict_proba(counts))


def names_within(learner):
    """The attributes of a learner, and of those within it."""
    return set(vars(learner)) | (names_within(learner._by_words) if learner._by_words else set())


def test_a_second_fit_with_a_label_a_class_is_as_that_of_a_new_learner(data):
    counts, vectors, labels = data
    other = np.roll(labels, 1)
    twice = CategoryLearner().fit(counts, some_labels(labels, 1), vectors=vectors)
    first = twice.predict_proba(counts)
    twice.fit(counts, some_labels(other, 1), vectors=vectors)
    new = CategoryLearner().fit(counts, some_labels(other, 1), vectors=vectors)
    assert new.uses_vectors_
    assert new.n_unseen_ == 0
    np.testing.assert_array_equal(twice.predict_proba(counts, vectors), new.predict_proba(counts, vectors))
    np.testing.assert_array_equal(twice.predict_proba(counts), new.predict_proba(counts))
    assert not np.allclose(twice.predict_proba(counts), first)


def test_a_learner_keeps_nothing_of_those_whose_choices_it_took_over(data, tmp_path):
    counts, vectors, labels = data
    y = some_labels(labels, 1)
    first = CategoryLearner().fit(counts, y, vectors=vectors)
    third = first.refit(counts, y, vectors=vectors).refit(counts, y, vectors=vectors)
    assert third._by_words is not None
    save_model(third, tmp_path / "model")
    for one in (third, load_model(tmp_path / "model")):
        assert [name for name in names_within(one) if name.startswith("_previous")] == []
        np.testing.assert_array_equal(one.predict_proba(counts), third.predict_proba(counts))


def test_what_does_not_fit_is_refused_in_words(data, learner):
    counts, vectors, labels = data
    with pytest.raises(InputError, match="240 documents and 10 vectors"):
        learner.predict(counts, vectors[:10])
    with pytest.raises(InputError, match="the 24 dimensions of training, got 8"):
        learner.predict(counts, vectors[:, :8])
    alone = CategoryLearner().fit(counts, some_labels(labels, 4))
    with pytest.raises(InputError, match="fitted without vectors"):
        alone.predict(counts, vectors)


def test_gaussians_of_classes_are_linear_discriminants():
    """Without lenders the score is the log-density with one covariance, up to what all classes share."""
    rng = np.random.default_rng(2)
    classes = np.arange(60) % 3
    points = rng.normal(size=(60, 5)) + 2 * np.eye(5)[classes]
    told = class_vectors.fit_class_vectors(points, classes, 3, points[:0], np.zeros((0, 3)), 0.5)(points)
    sums, size = np.eye(3)[classes].T @ points, np.bincount(classes)
    mean = (sums + points.mean(axis=0)) / (size + 1)[:, None]
    away = points - mean[classes]
    covariance = away.T @ away / 60
    covariance = 0.7 * covariance + 0.3 * np.trace(covariance) / 5 * np.eye(5)
    naive = np.array([[-0.5 * (x - m) @ np.linalg.inv(covariance) @ (x - m) for m in mean] for x in points])
    np.testing.assert_allclose(told - told[:, :1], naive - naive[:, :1], atol=1e-8)
