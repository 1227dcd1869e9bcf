"""Learning given categories: who is held out, how little a few say, one label each, and what is told of it."""

from collections import Counter

import numpy as np
import pytest

from tests.estimators import zoo
from topiarist.collection.classify import learning
from topiarist.collection.classify.predictions import Categories, compute_accuracy_interval
from topiarist.collection.contents import read_categories, write_categories
from topiarist.counts.duplicates import Duplicates
from topiarist.errors import DamagedError, InputError


def labels_of(collection):
    ids = collection.documents.ids()
    every = collection.documents.labels_of(range(len(collection)))
    return {name: labels[:1] for name, labels in zip(ids, every, strict=True) if labels}


def frequent(collection, number):
    """The first label of documents, of those labels that most documents have."""
    known = labels_of(collection)
    sizes = Counter(labels[0] for labels in known.values())
    wanted = [name for name, _ in sizes.most_common(number)]
    return {name: labels for name, labels in known.items() if labels[0] in wanted}, wanted


def test_categories_of_another_model_are_damaged(tmp_path):
    write_categories(tmp_path, Categories(zoo.fitted("PMM"), is_multilabel=True))
    with pytest.raises(DamagedError, match="expected a CategoryLearner, got a PMM"):
        read_categories(tmp_path)


def test_no_category_loses_its_only_document_to_the_judges():
    given = [("a",)] * 5 + [("b",)] * 2 + [("c",)] + [("a", "c")]
    for seed in range(20):
        out, known = learning.split_heldout(given, 0.5, seed)
        assert len(out) == 4
        assert sorted([*out, *known]) == list(range(len(given)))
        assert {name for place in known for name in given[place]} == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("share", "number", "low", "high"), [(1.0, 2, 0.34, 1.0), (0.5, 90, 0.39, 0.61), (0.0, 3, 0, 0.57)]
)
def test_how_little_a_few_held_out_documents_say(share, number, low, high):
    assert compute_accuracy_interval(share, number) == pytest.approx((low, high), abs=0.01)


def test_one_label_for_each_category(collection):
    known, wanted = frequent(collection, 3)
    first = {}
    for name, labels in known.items():
        if labels[0] not in [one[0] for one in first.values()]:
            first[name] = labels
    quality = collection.learn(first)
    assert (quality.n_categories, quality.n_held_out, quality.accuracy, quality.left_out) == (3, 0, None, ())
    assert "nothing could be held out" in quality.reason
    assert set(collection.categories.names) == set(wanted)
    told = collection.categories.predict(collection.counts[:20])
    assert all(len(labels) == 1 for labels, _ in told)


def test_what_was_chosen_is_told_and_kept(collection):
    known, _ = frequent(collection, 3)
    quality = collection.learn(known)
    assert quality.reason == collection.categories.reason
    assert "held out in turn are right" in quality.reason
    low, high = quality.accuracy_between
    assert low <= quality.accuracy <= high


def test_documents_without_a_label_may_be_left_out(collection):
    known, _ = frequent(collection, 3)
    few = dict(list(known.items())[::4])
    learning.learn_categories(collection, few, unlabelled_weight=0.0)
    assert collection.categories.model.unlabelled_weight_ == 0
    learning.learn_categories(collection, few)
    assert collection.categories.model.unlabelled_weight_ in (0, 0.5)


def test_choices_for_most_documents_serve_all_of_them(collection, monkeypatch):
    known, _ = frequent(collection, 3)
    monkeypatch.setattr(learning, "MIN_DOCUMENTS_TO_REUSE_CHOICES", 20)
    fits, more = [], learning.CategoryLearner.refit

    def fitted(self, X, y, vectors=None):
        fits.append(X.shape)
        return more(self, X, y, vectors=vectors)

    monkeypatch.setattr(learning.CategoryLearner, "refit", fitted)
    collection.learn(known)
    assert fits == [collection.counts.shape]
    every = {name: (*labels, "other") for name, labels in known.items()}
    collection.learn(every, several=True)
    assert len(fits) == 2


def test_a_single_category_is_refused(collection):
    with pytest.raises(InputError, match="at least two categories"):
        collection.learn(dict.fromkeys(collection.documents.ids()[:4], ("same",)))


def test_certainties_of_several_labels_are_probabilities(collection):
    known, wanted = frequent(collection, 4)
    every = {name: (*labels, wanted[0]) for name, labels in known.items()}
    collection.learn(every, several=True)
    rows = collection.categories.shares(collection.counts)
    assert rows.min() >= 0
    assert rows.max() <= 1
    told = collection.categories.predict_labels(collection.counts)
    assert np.unique(told.place).size == len(collection)  # at least one label each


def test_copies_are_held_out_together(collection, monkeypatch):
    rows = np.array([1, 4, 6, 9])
    copies = Duplicates(np.array([4, 9]), np.array([0, 6]), np.ones(2))
    monkeypatch.setitem(collection.cache.values, "copies", copies)
    assert learning.group_linked_documents(collection, rows) == [[0], [1], [2, 3]]
    groups = learning._number_groups([[0], [1], [2, 3]], rows, 12)
    assert groups.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 6, 10, 11]
