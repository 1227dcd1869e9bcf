"""Trees of short English texts grow with the bundled word vectors; others do not."""

import json
from itertools import islice

import numpy as np
import pytest

from tests.grown import NoteCollector
from topiarist import demo_documents
from topiarist.collection.check import find_disagreements
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import build_account
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.counts.vectors import find_rows_with_vectors
from topiarist.errors import InputError, UsageError
from topiarist.text.documents import Document

N, NEW = 240, 20
USED = "The texts are short and English: bundled word vectors decide with the words (without: --vectors none)"
GERMAN = ("Ausschuss", "Haushalt", "Feuerwehr", "Bürger", "Hafen", "Brücke", "Kirche", "Schule", "Verkehr", "Wahlkreis")


def titles():
    return [Document(one.id, one.title, date=one.date) for one in islice(demo_documents(), N + NEW)]


def grow(folder, documents, recipe=None):
    collector = NoteCollector()
    options = GrowOptions(reporter=collector, n_threads=1)
    return grow_collection(documents, folder, recipe or Recipe(), options), collector.notes


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    collection, notes = grow(tmp_path_factory.mktemp("short") / "titles.topiary", titles()[:N])
    yield collection, notes
    collection.close()


@pytest.fixture
def opened(grown, tmp_path):
    import shutil

    shutil.copytree(grown[0].folder.path, tmp_path / "copy.topiary")
    with Collection.open(tmp_path / "copy.topiary") as collection:
        yield collection


def test_short_english_texts_use_bundled_vectors(grown, tmp_path):
    collection, notes = grown
    assert [note for note in notes if "vectors" in note] == [USED]
    about = collection.settings["vectors"]
    assert (about["kind"], about["encoder"]) == ("WordEncoder", "bundled word vectors")
    assert collection.model.directions_.shape[1] == collection.vectors.shape[1] == about["dimensions"]
    assert [one.said for one in build_account(collection) if one.what == "vectors"] == [
        f"{about['documents']} documents have a vector from the bundled word vectors"
    ]
    assert not list(find_disagreements(collection))
    json.dumps(about)
    alone, notes = grow(tmp_path / "words.topiary", titles()[:N], Recipe(vectors="none"))
    with alone:
        assert alone.vectors is None
        assert not any("vectors" in note for note in notes)
        assert len(alone.outline.tree.leaves) < len(collection.outline.tree.leaves)


def test_filed_titles_get_vectors_like_grown_ones(grown):
    collection, _ = grown
    again = collection.word_encoder.load(0, titles()[:N])
    assert ((again * collection.vectors.astype(np.float64)).sum(axis=1) > 0.97).mean() > 0.95
    topics = collection.shares.toarray().argmax(axis=1)
    filed = [row.topic for row in collection.file(titles()[:N], rho=0.0)]
    homes = np.array(collection.outline.class_topics)[topics]
    assert np.mean(np.array(filed) == homes) > 0.9
    assert collection.description.facts["certainty"]
    with pytest.raises(InputError, match="grown without vectors"):
        list(collection.file(titles()[N:], vectors=np.ones((NEW, 3))))


def test_certainties_agree_with_topics(grown):
    collection, _ = grown
    rows = np.flatnonzero(np.diff(collection.shares.indptr))
    topics = collection.shares[rows].toarray().argmax(axis=1)
    np.testing.assert_array_equal(collection.certainties(rows.tolist()).argmax(axis=1), topics)


def test_added_and_removed_titles_keep_vectors(opened):
    opened.add(titles()[N:])
    assert find_rows_with_vectors(opened.vectors[N:]).all()
    opened.remove(opened.documents.ids()[:3], forget=True)
    assert len(opened.vectors) == N + NEW - 3
    assert opened.word_encoder.load(0, titles()[:1]).any()


def test_search_and_learning_do_not_use_bundled_vectors(grown):
    collection, _ = grown
    assert collection.encoder_vectors is None
    hits = collection.search(titles()[0].text, 5, why=True).hits
    assert hits
    assert all(hit.why.vectors == 0 for hit in hits)
    assert all(hit.why.vectors == 0 for hit in collection.similar(titles()[0].id, 3, why=True).hits)


def test_ignored_words_have_no_vector(opened):
    word = "dark" if "dark" in opened.counting.vocabulary else opened.counting.vocabulary.words[0]
    opened.shape([f"ignore {word}"])
    assert not opened.word_encoder.load(0, [Document("a", word)]).any()


def test_long_texts_grow_from_words(tmp_path):
    long_documents = [Document(one.id, one.text) for one in islice(demo_documents(), 70)]
    collection, notes = grow(tmp_path / "long.topiary", long_documents, Recipe(topics=2))
    with collection:
        assert collection.vectors is None
    assert not any("vectors" in note for note in notes)


def test_short_texts_in_other_languages_grow_from_words(tmp_path):
    documents = [Document(f"{one} {other}", f"{one} für {other}") for one in GERMAN for other in GERMAN]
    collection, notes = grow(tmp_path / "german.topiary", documents, Recipe(topics=2))
    with collection:
        assert collection.vectors is None
    assert any(note.endswith("words alone decide, without word vectors") for note in notes)


def test_frequent_words_alone_give_no_vectors(tmp_path):
    texts = [f"{'red house' if row % 2 else 'green garden'} qq{row // 3}" for row in range(180)]
    documents = [Document(str(row), text) for row, text in enumerate(texts)]
    collection, _ = grow(tmp_path / "few.topiary", documents, Recipe(topics=2))
    with collection:
        assert collection.vectors is None


def test_recipe_rejects_unknown_vectors():
    with pytest.raises(UsageError, match="expected vectors auto or none"):
        Recipe(vectors="maybe")
