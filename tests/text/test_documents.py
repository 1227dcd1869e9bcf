"""Tests of documents made from texts."""

import pytest

from topiarist import Corpus
from topiarist.errors import InputError
from topiarist.text.documents import Document, as_documents


def test_as_documents_numbers_texts():
    mine = Document("mine", "a boat")
    assert list(as_documents(["a sail", mine, "a mast"])) == [Document("1", "a sail"), mine, Document("3", "a mast")]
    assert [one.id for one in as_documents(iter(["a", "b"]), 9)] == ["9", "10"]


def test_as_documents_rejects_other_types():
    with pytest.raises(InputError, match="got int as number 2"):
        list(as_documents(["a", 3], 7))


def test_corpus_from_strings():
    corpus = Corpus.from_documents(["boat sail boat", "sail mast", "boat mast"] * 2)
    assert corpus.n_docs == 6
    assert corpus.ids[0] == "1"
