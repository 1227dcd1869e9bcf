"""Too short to sort? Titles are, abstracts are not; and who has vectors is not told to bring some."""

import math
from itertools import islice

import numpy as np
import pytest

from topiarist import Collection, demo_documents
from topiarist.collection.describe.account import MIN_GAIN, ShortTexts, build_account, find_short_texts
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.documents import Document

N_DOCS = 300


def grown(folder, texts, **more):
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    return Collection.grow(documents, folder, Recipe(seed=0, vectors="none"), n_threads=1, **more)


@pytest.fixture(scope="module")
def documents():
    return list(islice(demo_documents(), N_DOCS))


def test_titles_are_too_short_and_it_is_said_everywhere(documents, tmp_path):
    with grown(tmp_path / "titles", [document.title for document in documents]) as collection:
        found = find_short_texts(collection)
        assert found is not None
        assert found.words == pytest.approx(float(collection.counts.sum()) / N_DOCS)
        curve = collection.tree.curve
        gain = found.words * math.log(curve.perplexity[0] / curve.perplexity[curve.place])
        assert found.gain == pytest.approx(max(gain, 0.0))
        assert found.gain < MIN_GAIN
        assert [one.said for one in build_account(collection) if one.what == "short"] == [found.sentence]


def test_abstracts_are_long_enough(documents, tmp_path):
    with grown(tmp_path / "abstracts", [document.text for document in documents]) as collection:
        assert find_short_texts(collection) is None
        assert "short" not in {one.what for one in build_account(collection)}


def test_titles_with_vectors_are_not_told_to_bring_some(documents, tmp_path):
    vectors = np.random.default_rng(0).normal(size=(N_DOCS, 8))
    with grown(tmp_path / "both", [document.title for document in documents], vectors=vectors) as collection:
        assert find_short_texts(collection) is None


def test_the_sentence_tells_words_and_times():
    said = ShortTexts(3.34, math.log(4)).sentence
    assert "3.3 counted words" in said
    assert "4.0 times as likely, and reliable topics need 20 times" in said
    assert "--encoder" in said
