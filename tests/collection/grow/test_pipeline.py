"""Work of a grow for each text: tokenisations and readings."""

from collections import Counter

import pytest

from tests.grown import piled_documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow import document_counts, fit_description
from topiarist.collection.grow.recipe import Recipe
from topiarist.storage.document_table import Documents
from topiarist.text import repeated
from topiarist.text.tokens import Tokenizer
from topiarist.trees.naming import text_features

SAMPLE = 12  # texts of each sample, in place of thousands


class Work:
    """Tokenisations for the tree and for the search, and readings, of the texts of a grow."""

    def __init__(self, monkeypatch):
        self.tree, self.search, self.readings = Counter(), Counter(), Counter()
        split, iterate, many = Tokenizer.split_candidates, Documents.iterate, Documents.load_many

        def count_split(tokenizer, text):
            (self.search if tokenizer.numbers else self.tree)[text] += 1
            return split(tokenizer, text)

        def count_iterated(documents, *arguments):
            for row, document in enumerate(iterate(documents, *arguments)):
                self.readings[row] += 1
                yield document

        def count_many(documents, rows, *, texts=True):
            rows = list(rows)
            self.readings.update(rows if texts else ())
            return many(documents, rows, texts=texts)

        monkeypatch.setattr(Tokenizer, "split_candidates", count_split)
        monkeypatch.setattr(Documents, "iterate", count_iterated)
        monkeypatch.setattr(Documents, "load_many", count_many)


@pytest.fixture
def work(monkeypatch):
    monkeypatch.setattr(document_counts, "SAMPLE", 1_000)  # the first documents tell the language
    monkeypatch.setattr(fit_description, "SAMPLE", SAMPLE)
    monkeypatch.setattr(repeated, "BACKGROUND", SAMPLE)
    monkeypatch.setattr(text_features, "SAMPLE_LIMITS", (1, SAMPLE))
    monkeypatch.setattr(text_features, "MIN_READ_DOCUMENTS", SAMPLE)
    return Work(monkeypatch)


@pytest.mark.parametrize(
    "settings", [{}, {"stop_words": "en"}, {"stop_words": "auto", "stem": "auto", "phrases": True}, {"passages": True}]
)
def test_grow_tokenises_and_reads_texts_twice(tmp_path, work, settings):
    """Once for the tree and once for the search; samples of bounded size and duplicates come on top."""
    pile = piled_documents()
    recipe = Recipe(topics=2, headings=False, vectors="none", **settings)
    with Collection.grow(pile, tmp_path / "c.topiary", recipe, n_threads=1) as grown:
        assert len(grown.counting.repeated.lines) == 5
        duplicates = {*grown.copies.rows.tolist(), *grown.copies.originals.tolist()}
    tree, search = (
        sum(number for text, number in counter.items() if len(text.split()) > 10)
        for counter in (work.tree, work.search)
    )
    assert len(pile) <= tree <= len(pile) + SAMPLE + len(duplicates)
    assert search == len(pile)
    samples = 9 * SAMPLE  # of repeated and other lines, of known words, and of names, which read two topics twice
    assert 2 * len(pile) <= work.readings.total() <= 2 * len(pile) + samples + len(duplicates)


def test_word_vectors_read_short_texts_twice_more(tmp_path, work):
    """Once to adapt the vectors of words, without duplicates, and once for the vectors of documents."""
    readings = []
    for vectors in ("none", "auto"):
        work.readings.clear()
        recipe = Recipe(topics=2, headings=False, vectors=vectors)
        with Collection.grow(piled_documents(), tmp_path / f"{vectors}.topiary", recipe, n_threads=1) as grown:
            number, n_copies = len(grown), len(grown.copies.rows)
        readings.append(work.readings.total())
    names = 4 * SAMPLE  # which depend on the topics
    assert readings[1] - readings[0] == pytest.approx(2 * number - n_copies, abs=names)
