"""Vectors of short texts by the bundled word vectors: adapted to a collection, and the same for new documents."""

import numpy as np
import pytest

from topiarist.counts.corpus import Corpus
from topiarist.counts.embeddings.word_encoder import WordEncoder
from topiarist.counts.settings import CountSettings
from topiarist.text.documents import Document

ASTRONOMY = ["bright star of the galaxy", "planet and star zyx", "galaxy with a planet", "the orbit zyx"]
MONEY = ["the bank raised its loan", "loan and tax", "tax on the market", "market and bank"]


def split(document):
    return document.text.split()


@pytest.fixture(scope="module")
def documents():
    return [Document(str(row), text) for row, text in enumerate((ASTRONOMY + MONEY) * 5)]


@pytest.fixture(scope="module")
def created(documents):
    vocabulary = Corpus.from_documents(documents, CountSettings()).vocabulary
    return WordEncoder.create(vocabulary, split, ["the", "and", "of", "its", "with", "on"])


@pytest.fixture(scope="module")
def fitted(created, documents):
    return created.fit(documents)


def encode(encoder, *texts):
    return encoder.load(0, [Document(str(row), text) for row, text in enumerate(texts)])


def test_rows_have_length_one_or_zero(fitted, documents):
    rows = np.vstack([fitted.load(0, documents), encode(fitted, "qqq the", "")])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1.0] * len(documents) + [0, 0], atol=1e-6)


def test_unknown_word_takes_vector_of_its_documents(created, fitted):
    assert not created.vectors[created.columns["zyx"]].any()
    word, star, loan = encode(fitted, "zyx", "star", "loan")
    assert word @ star > 0.5 > word @ loan


def test_adapted_words_part_subjects_further(created, fitted, documents):
    weighted = created.adapt(created._find_words(documents)[0])
    star, tax = encode(weighted, "star", "tax")
    adapted_star, adapted_tax = encode(fitted, "star", "tax")
    assert adapted_star @ adapted_tax < star @ tax - 0.2


def test_word_outside_vocabulary_has_bundled_vector(fitted):
    moon, star, loan = encode(fitted, "comet", "star", "loan")
    assert "comet" not in fitted.columns
    assert moon @ star > moon @ loan


def test_ignored_words_have_no_vector(fitted):
    np.testing.assert_array_equal(*encode(fitted, "planet", "the planet and its"))


def test_encoder_is_restored_from_directions(created, fitted, documents):
    directions = fitted.load(0, documents)
    restored = created.adapt(created._find_words(documents)[0], directions)
    np.testing.assert_allclose((restored.load(0, documents) * directions).sum(axis=1), 1.0, atol=0.01)
