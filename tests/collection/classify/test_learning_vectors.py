"""Vectors in learning and in reviews of a collection: learned with, told with, and not needed of new documents."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.grown import documents
from topiarist.collection.classify.predictions import Categories
from topiarist.collection.collection import Collection
from topiarist.collection.file.arrivals import file_with_certainty
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.review.review import Review
from topiarist.estimators.category.category_learner import CategoryLearner

N, NEW, DIMS = 160, 20, 12
NAMES = ("red", "green", "blue")


@pytest.fixture(scope="module")
def coloured():
    """Texts that say nothing of their colour, and vectors that do."""
    rng = np.random.default_rng(0)
    colours = np.arange(N + NEW) % len(NAMES)
    return colours, (rng.normal(size=(len(NAMES), DIMS))[colours] + 0.3 * rng.normal(size=(N + NEW, DIMS)))


@pytest.fixture(scope="module")
def grown(tmp_path_factory, coloured):
    path = tmp_path_factory.mktemp("coloured") / "notes.topiary"
    collection = Collection.grow(documents()[:N], path, Recipe(topics=4, headings=False), vectors=coloured[1][:N])
    with collection:
        yield collection


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    counts = csr_array(rng.integers(0, 3, (60, 12)).astype(np.float32))
    return counts, labels, rng.normal(size=(3, DIMS))[labels] + 0.3 * rng.normal(size=(60, DIMS))


def test_learn_and_file_use_the_vectors_and_do_without(grown, coloured):
    colours, vectors = coloured
    labels = {documents()[row].id: (NAMES[colours[row]],) for row in range(60)}
    quality = grown.learn(labels)
    assert quality.accuracy > 0.8
    assert "vectors of each category" in quality.reason
    new = documents()[N : N + NEW]
    told = [row.labels[0] for row in grown.file(new, vectors=vectors[N:])]
    assert np.mean([one == NAMES[colour] for one, colour in zip(told, colours[N:], strict=True)]) > 0.8
    assert all(len(row.labels) == 1 for row in grown.file(new))  # by their words


def test_a_document_without_a_known_word_is_told_by_its_vector_only_where_vectors_have_a_say(data):
    counts, labels, vectors = data
    nothing = csr_array((2, counts.shape[1]), dtype=counts.dtype)
    for several in (False, True):
        y = (labels[:, None] == np.unique(labels)).astype(int) if several else labels
        told = Categories(CategoryLearner().fit(counts, y, vectors=vectors), several)
        assert told.uses_vectors
        assert all(row for row, _ in told.predict(nothing, vectors[:2]))
        aside = Categories(CategoryLearner().fit(counts, y, vectors=np.zeros_like(vectors)), several)
        assert not aside.uses_vectors
        assert aside.predict(nothing, vectors[:2]) == [((), ())] * 2


def test_several_labels_are_told_with_vectors(grown, coloured, monkeypatch):
    colours, _ = coloured
    labels = {documents()[row].id: (NAMES[colours[row]], "all") for row in range(60)}
    assert grown.learn(labels, several=True).f1 > 0.9
    heard = []
    monkeypatch.setattr(
        grown, "count_with_coverage", lambda batch: heard.append(batch) or Collection.count_with_coverage(grown, batch)
    )
    told = list(file_with_certainty(grown, documents()[N : N + 3]))
    assert all(set(certain) >= set(one.labels) and one.labels for one, certain in told)
    assert len(heard) == 1  # counted once


def test_a_review_ranks_by_vectors_too(grown, coloured):
    colours, _ = coloured
    review = Review(grown, "reddish")
    for row in np.flatnonzero(colours[:N] == 0)[:5].tolist():
        review.order.judge(row, relevant=True)
    for row in np.flatnonzero(colours[:N] != 0)[:5].tolist():
        review.order.judge(row, relevant=False)
    scores = review.order.model.scores(review.order.answers)
    best = np.argsort(-scores)[:40]
    assert (colours[best] == 0).mean() > 0.9
