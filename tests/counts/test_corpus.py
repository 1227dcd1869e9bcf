"""A corpus from documents: what it keeps, what it refuses, and new texts in its words."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from topiarist.counts import Corpus, CountSettings, PhraseSettings, Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.text.documents import Document

DOCUMENTS = (
    Document("a", "The tree and the leaf", title="Trees", labels=("plant", "tall"), date="2014-01-01"),
    Document("b", "A leaf, a tree", labels=("plant",)),
    Document("c", "1 2 3"),
    Document("d", "Leaf green leaf. The end", title="Leaf", source="d.txt"),
)
ALL_WORDS = CountSettings(min_documents=1)


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_documents(DOCUMENTS, ALL_WORDS)


def test_everything_known_is_kept(corpus: Corpus) -> None:
    assert corpus.ids == ("a", "b", "c", "d")
    assert corpus.titles == ("Trees", "", "", "Leaf")
    assert corpus.labels == (("plant", "tall"), ("plant",), (), ())
    assert corpus.sources == ("", "", "", "d.txt")
    assert corpus.dates[0] == "2014-01-01"
    assert corpus.texts is not None
    assert corpus.texts[1] == "A leaf, a tree"
    assert (corpus.n_docs, corpus.n_words, corpus.n_tokens, corpus.n_empty) == (4, 7, 13, 1)
    assert corpus.lengths().tolist() == [6, 2, 0, 5]
    assert corpus.summary() == "4 documents, 7 different words, 13 tokens; 1 documents hold none of the words"
    assert corpus.counts.dtype == np.float32


def test_titles_are_counted_once_and_only_if_wanted(corpus: Corpus) -> None:
    leaf = corpus.vocabulary.columns["leaf"]
    assert corpus.counts[[3], [leaf]].tolist() == [2]
    assert "trees" in corpus.vocabulary
    assert "trees" not in Corpus.from_documents(DOCUMENTS, replace(ALL_WORDS, titles=False)).vocabulary


def test_texts_can_be_let_go() -> None:
    alive: list[str] = []

    def stream() -> Iterator[Document]:
        for document in DOCUMENTS:
            alive.append(document.id)
            yield document

    corpus = Corpus.from_documents(stream(), ALL_WORDS, keep_texts=False)
    assert corpus.texts is None
    assert alive == ["a", "b", "c", "d"]


@pytest.mark.parametrize("settings", [ALL_WORDS, CountSettings(min_documents=2, stem="en", phrases=PhraseSettings())])
def test_vectorising_the_documents_gives_their_counts(settings: CountSettings) -> None:
    corpus = Corpus.from_documents(DOCUMENTS, settings)
    assert (corpus.vectorise(DOCUMENTS) != corpus.counts).nnz == 0
    assert corpus.vectorise([]).shape == (0, corpus.n_words)
    assert corpus.vectorise(["unknown words"]).nnz == 0


def test_subsets_take_everything_along(corpus: Corpus) -> None:
    some = corpus.subset([3, 0])
    assert some.ids == ("d", "a")
    assert some.titles == ("Leaf", "Trees")
    assert some.texts == [DOCUMENTS[3].text, DOCUMENTS[0].text]
    assert (some.counts != corpus.counts[[3, 0]]).nnz == 0
    assert some.vocabulary == corpus.vocabulary
    assert corpus.subset(np.array([True, False, False, True])).ids == ("a", "d")
    assert corpus.subset([2, 1]).subset([1]).ids == ("b",)
    with pytest.raises(InputError, match="row numbers below 4"):
        corpus.subset([4])
    with pytest.raises(InputError, match="mask of 4 documents"):
        corpus.subset([True])
    with pytest.raises(InputError, match="at least one document"):
        corpus.subset([])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": ("a", "b")}, "expected 4 ids, one per row of the counts, got 2"),
        ({"ids": ("a", "b", "a", "d")}, "a different id for each document, got 'a' 2 times"),
        ({"titles": ("x",)}, "expected 4 titles, one per document, or none; got 1"),
        ({"texts": []}, "expected 4 texts"),
        ({"labels": (("x",),)}, "expected 4 labels"),
        ({"labels": "abcd"}, "expected labels, one per document, got a single string"),
        ({"ids": "abcd"}, "expected ids, one per document, got a single string"),
        ({"vocabulary": Vocabulary.of(("tree",))}, r"expected counts with 1 columns \(words\), got 7"),
        ({"counts": -np.ones((4, 7))}, "Negative values in data passed to counts"),
    ],
)
def test_faulty_corpora(corpus: Corpus, changes: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(corpus, **changes)


def test_a_scikit_learn_vectorizer_can_stand_in() -> None:
    fitted = CountVectorizer(stop_words="english").fit([document.text for document in DOCUMENTS])
    corpus = Corpus.from_documents(DOCUMENTS, vectorizer=fitted)
    assert corpus.vocabulary.words == tuple(fitted.get_feature_names_out())
    assert (corpus.vectorise(DOCUMENTS) != corpus.counts).nnz == 0
    weighted = Corpus.from_documents(DOCUMENTS, vectorizer=TfidfVectorizer())
    assert "leaf" in weighted.vocabulary
    with pytest.raises(UsageError, match="text vectorizer, got str"):
        Corpus.from_documents(DOCUMENTS, vectorizer="words")


def test_a_single_text_is_not_a_collection(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="got a single one"):
        corpus.vectorise("tree")


def test_a_string_is_one_label(corpus: Corpus) -> None:
    labelled = replace(corpus, labels=("sport", "news", "", ("a", "b")))
    assert labelled.labels == (("sport",), ("news",), (), ("a", "b"))
    document = Document("a", "tree", labels="sport")  # type: ignore[arg-type]
    assert Corpus.from_documents([document], ALL_WORDS).labels == (("sport",),)
