"""Texts are documents too: their ids are their numbers; anything else is refused with what was expected."""

import pytest

from topiarist import Corpus
from topiarist.errors import InputError
from topiarist.text.documents import Document, as_documents


def test_texts_get_their_numbers_as_ids_and_documents_stay():
    mine = Document("mine", "a boat")
    assert list(as_documents(["a sail", mine, "a mast"])) == [Document("1", "a sail"), mine, Document("3", "a mast")]
    assert [one.id for one in as_documents(iter(["a", "b"]), 9)] == ["9", "10"]


def test_anything_else_is_refused_in_words():
    with pytest.raises(InputError, match="expected texts or documents, got int as number 2"):
        list(as_documents(["a", 3], 7))


def test_a_corpus_of_strings():
    corpus = Corpus.from_documents(["boat sail boat", "sail mast", "boat mast"] * 2)
    assert corpus.n_docs == 6
    assert corpus.ids[0] == "1"
