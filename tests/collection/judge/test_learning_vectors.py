"""Vectors in learning and in reviews of a collection: learned with, told with, and not needed of new documents."""

import numpy as np
import pytest

from tests.grown import documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.judge.filing import labels_with_certainty
from topiarist.collection.judge.review import Review

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


def test_learn_and_file_use_the_vectors_and_do_without(grown, coloured):
    colours, vectors = coloured
    labels = {documents()[row].id: (NAMES[colours[row]],) for row in range(60)}
    quality = grown.learn(labels)
    assert quality.accuracy > 0.8
    assert "vectors beside them" in quality.reason
    new = documents()[N : N + NEW]
    told = [row.labels[0] for row in grown.file(new, vectors=vectors[N:])]
    assert np.mean([one == NAMES[colour] for one, colour in zip(told, colours[N:], strict=True)]) > 0.8
    assert all(len(row.labels) == 1 for row in grown.file(new))  # by their words


def test_several_labels_are_told_with_vectors(grown, coloured):
    colours, _ = coloured
    labels = {documents()[row].id: (NAMES[colours[row]], "all") for row in range(60)}
    assert grown.learn(labels, several=True).f1 > 0.9
    assert len(labels_with_certainty(grown, documents()[N : N + 3])) == 3


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
