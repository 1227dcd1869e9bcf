"""An encoder of one language: a collection in another grows from words, and documents in others get no vector."""

import random

import numpy as np
from typer.testing import CliRunner

from tests.grown import NoteCollector
from tests.grown import documents as abstracts
from topiarist.cli.commands import app
from topiarist.collection.collection import Collection
from topiarist.collection.describe.collection_facts import load_facts
from topiarist.collection.file.arrivals import with_language
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.counts.embeddings import encoder
from topiarist.counts.vectors import find_rows_with_vectors
from topiarist.text.documents import Document
from topiarist.text.language import detect_text_language

HEADLINES = "股市收盘上涨球队夺得冠军政府发布新规手机降价促销电影票房大卖城市地铁开通学生高考成绩公布"
ENGLISH = "The committee said that it would look into the matter of {} when there is more time for it and for {}."
GERMAN = "Der Ausschuss sagte, dass er sich mit {} befassen werde, wenn es dafür mehr Zeit gibt als für {} jetzt."
RECIPE = Recipe(topics=2, headings=False)


class English:
    """An encoder that knows English, and remembers what it has encoded."""

    name, languages = "a test", ("en",)

    def __init__(self):
        self.texts = []

    def load(self, first, documents):
        self.texts += [one.text for one in documents]
        rng = np.random.default_rng(len(documents))
        return rng.standard_normal((len(documents), 4)).astype(np.float32)

    def check(self, n_docs):
        pass

    def describe(self):
        return "encoded by a test"


def headlines(number=60):
    rng = random.Random(2)
    return ["".join(rng.choices(HEADLINES, k=9)) for _ in range(number)]


def letters(text, number):
    names = ["harbour", "bridge", "council", "railway", "garden", "museum", "market", "station"]
    return [text.format(names[row % 8], names[row // 8 % 8]) for row in range(number)]


def test_encoder_of_other_language_leaves_tree_to_words(tmp_path):
    source, collector = English(), NoteCollector()
    documents = [Document(str(row), text) for row, text in enumerate(headlines())]
    options = GrowOptions(vectors=source, reporter=collector)
    with (
        grow_collection(documents, tmp_path / "c.topiary", RECIPE, options) as collection,
        grow_collection(documents, tmp_path / "words.topiary", RECIPE) as alone,
    ):
        assert collection.vectors is None
        assert (collection.shares != alone.shares).nnz == 0
    note = "The encoder knows English only, the documents are in other languages (Chinese 100%): words alone decide"
    assert note in collector.notes
    assert not source.texts
    assert "Bringing vectors" not in collector.phases


def test_grow_command_reports_unknown_language_of_encoder(tmp_path, monkeypatch):
    monkeypatch.setattr(encoder, "is_installed", lambda: True)
    lines = tmp_path / "headlines.csv"
    lines.write_text("\n".join(["text", *headlines()]), "utf-8")
    done = CliRunner().invoke(app, ["grow", str(lines), "-o", str(tmp_path / "c.topiary"), "--encoder"])
    assert done.exit_code == 0
    assert "The encoder knows English only" in done.stderr
    assert "Bringing vectors" not in done.stderr


def test_documents_in_other_languages_get_no_vector(tmp_path):
    source, collector = English(), NoteCollector()
    texts = [*letters(ENGLISH, 64), *letters(GERMAN, 24), *headlines(6)]
    documents = [Document(str(row), text) for row, text in enumerate(texts)]
    options = GrowOptions(vectors=source, reporter=collector)
    with grow_collection(documents, tmp_path / "c.topiary", RECIPE, options) as collection:
        assert np.flatnonzero(find_rows_with_vectors(collection.vectors)).tolist() == list(range(64))
        assert collection.settings["vectors"]["other_languages"] == 30
    assert source.texts == texts[:64]
    assert any(
        "30 documents have none and are placed by their words (30 in languages" in note for note in collector.notes
    )


def test_vectors_of_users_are_not_restricted(tmp_path):
    documents, vectors = headlines(), np.random.default_rng(0).standard_normal((60, 4))
    with Collection.grow(documents, tmp_path / "c.topiary", RECIPE, vectors=vectors) as collection:
        assert find_rows_with_vectors(collection.vectors).all()


TITLES = ("In vivo calcium imaging", "Optimal transport on graphs", "Bail reform in Illinois", "Lasers")


def test_added_titles_keep_their_vectors_and_the_language_facts(tmp_path):
    """A detector calls some short English titles Latin; the collection has no documents in Latin."""
    source = English()
    with Collection.grow(abstracts()[:80], tmp_path / "c.topiary", RECIPE, vectors=source) as collection:
        before = load_facts(collection)
        assert ({one.name for one in before.languages}, before.undetected) == ({"English"}, 0)
        titles = [Document(f"title {row}", text) for row, text in enumerate(TITLES)]
        collection.add([*titles, Document("chinese", headlines(1)[0])], vectors=source, learn=False)
        assert find_rows_with_vectors(collection.vectors).tolist() == [True] * 84 + [False]
        facts = load_facts(collection)
        assert {one.name for one in facts.languages} == {"English", "Chinese"}
        assert facts.undetected == 2


def test_added_title_has_no_language_column_of_absent_language():
    assert detect_text_language(TITLES[0]) == "la"
    assert with_language(Document("a", TITLES[0]), ("en", "de")).columns == ()
    assert with_language(Document("b", letters(GERMAN, 1)[0]), ("en", "de")).columns == (("language", "German"),)
