"""Documents by row and by id, what people say about them, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.small import DOCUMENTS
from topiarist.collection.describe.tables import safe_cell, write_spreadsheet
from topiarist.errors import InputError, UsageError
from topiarist.storage import document_table as module
from topiarist.storage import facts
from topiarist.storage.database import Database
from topiarist.storage.date_table import Dates
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.storage.marks import Marks
from topiarist.text.documents import Document, Problem
from topiarist.text.spelling import compute_edit_distance, find_near_words


@pytest.fixture
def database(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    yield database
    database.close()


@pytest.fixture
def documents(database):
    documents = Documents(database)
    assert documents.load(DOCUMENTS) == range(4)
    return documents


def test_documents_round_trip(documents):
    assert len(documents) == 4
    named = list(DOCUMENTS)
    assert [documents.get(row) for row in range(4)] == named
    assert list(documents.iterate()) == named
    assert list(documents.iterate(1, 3)) == named[1:3]
    assert list(documents.iterate(3, 99)) == named[3:]
    assert documents.titles() == [document.title for document in named]
    assert [documents.row_of(document.id) for document in DOCUMENTS] == [0, 1, 2, 3]
    assert documents.ids() == [document.id for document in DOCUMENTS]


def test_many_keeps_order_of_rows(documents):
    rows = np.array([2, 0, 2, 3])
    named = list(DOCUMENTS)
    assert documents.load_many(rows) == [named[row] for row in rows]
    assert documents.load_many(rows, texts=False) == [replace(named[row], text="") for row in rows]
    assert documents.load_many([]) == []
    with pytest.raises(UsageError, match="no document in row 4"):
        documents.load_many([0, 4])


def test_batch_size_irrelevant(database, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 3)
    given = [Document(f"d{place}", f"word{place} common", labels=("x",) * (place % 2)) for place in range(10)]
    documents = Documents(database)
    assert documents.load(iter(given)) == range(10)
    assert documents.append(iter([Document("last", "common")])) == range(10, 11)
    assert list(documents.iterate(0, 10)) == given
    assert Index(database).rows("common") == list(range(11))


@pytest.mark.parametrize("batch", [1, 2, 5])
@pytest.mark.parametrize("place", range(3))
def test_unspaced_document_indexed_in_any_batch(tmp_path, monkeypatch, batch, place):
    monkeypatch.setattr("topiarist.storage.document_table.BATCH", batch)
    texts = ["A plain text.", "Another text.", "And one more."]
    texts[place] = "東京の天気は晴れ"
    database = Database.create(tmp_path / "d.sqlite")
    Documents(database).load(Document(str(row), text) for row, text in enumerate(texts))
    assert Index(database).rows("天気") == [place]
    assert Index(database).rows("text") == [row for row in range(2) if row != place]


def test_row_of_suggests_near_ids(documents):
    with pytest.raises(UsageError, match="there is no document 'a/3'") as refused:
        documents.row_of("a/3")
    assert refused.value.hint == "Use the id a/1 or a/2."
    documents.append([Document("wire/2004/0231.txt", "x")])
    assert documents.near_ids("0231.txt") == ["wire/2004/0231.txt"]
    assert documents.near_ids("wire/2004/0213.tx") == ["wire/2004/0231.txt"]
    with pytest.raises(UsageError) as refused:
        documents.row_of("nothing like it")
    assert refused.value.hint == "Use an id that topiarist find shows."


@pytest.mark.parametrize("place", [0, 2])
def test_duplicate_ids_rejected(documents, place):
    new = [Document("n1", "x", source="n.csv"), Document("n2", "x"), replace(DOCUMENTS[0], source="n.csv")]
    with pytest.raises(InputError, match=r"two documents have the id 'a/1': in a/1\.txt and in n\.csv"):
        documents.append(new)
    assert len(documents) == 4  # all or nothing
    with pytest.raises(InputError, match="two documents have the id 'n1'"):
        documents.append([new[0], new[1], new[place] if place == 0 else replace(new[0], text="y")])


def test_load_rolls_back_on_reader_error(documents):
    def failing():
        yield Document("new", "text")
        raise OSError("the network is gone")

    with pytest.raises(OSError, match="the network is gone"):
        documents.append(failing())
    assert len(documents) == 4
    assert Index(documents.database).rows("text") == []


def test_unstorable_characters_removed(database):
    documents = Documents(database)
    documents.append([Document("i\0d\ud800", "a\0b \udfff c", "t\0", ("l\0",), "s\udcff", "\0")])
    assert documents.get(0) == Document("id\ufffd", "ab \ufffd c", "t", ("l",), "s\ufffd", "")
    assert documents.row_of("i\0d\ud800") == 0


@given(st.lists(st.text(max_size=30), max_size=5))
def test_documents_store_any_text(tmp_path_factory, texts):
    database = Database.create(tmp_path_factory.mktemp("d") / "d.sqlite")
    documents = Documents(database)
    documents.load(Document(str(place), text, text, (text,), text, text) for place, text in enumerate(texts))
    clean = [text.replace("\0", "") for text in texts]  # hypothesis makes no halves of surrogates
    assert [document.text for document in documents.iterate()] == clean
    given = Dates(database).load_originals(range(len(texts)))
    assert [
        replace(one, date=given.get(row, one.date)) for row, one in enumerate(documents.load_many(range(len(texts))))
    ] == [Document(str(place), text, text, (text,), text, text) for place, text in enumerate(clean)]
    database.close()


def test_labels_of_documents(documents):
    assert documents.label_counts() == {"law": 2, "news": 1, "sport": 1}
    assert documents.labels_of([3, 0, 2, 0]) == [("sport",), ("law", "news"), (), ("law", "news")]
    assert documents.labelled_rows("law") == [0, 1]
    assert documents.labelled_rows("Law") == []


def test_date_span(documents, tmp_path):
    assert Dates(documents.database).span() == ("2004-03-02", "2006")
    assert Dates(Database.create(tmp_path / "e")).span() == ("", "")


def test_tags_and_read_marks_of_documents(documents):
    marks = Marks(documents.database)
    marks.tag([0, 2], " to  do ")
    marks.tag([2], "to do")
    marks.tag([2], "a")
    assert marks.tags() == {"a": 1, "to do": 2}
    assert marks.rows_with("to do") == [0, 2]
    assert marks.tags_of([2, 1, 0]) == [("a", "to do"), (), ("to do",)]
    marks.untag([0, 1], "to do")
    assert marks.rows_with("to do") == [2]
    for tag in ("", "  ", "x" * 101):
        with pytest.raises(UsageError, match="a tag has 1 to 100 characters"):
            marks.tag([0], tag)
    marks.mark_read([3, 1, 3])
    marks.mark_read([1, 0], read=False)
    assert marks.read() == [3]
    with pytest.raises(UsageError, match="no document in row 99"):
        marks.tag([0, 99], "x")
    assert marks.rows_with("x") == []


def test_settings_and_problems(database):
    facts.change_settings(database, {"seed": 0, "words": ["a", "ü"]})
    facts.change_settings(database, {"seed": 1})
    assert facts.settings(database) == {"seed": 1, "words": ["a", "ü"]}
    facts.add_problems(database, [Problem("b.pdf", "no text"), Problem("a\udcff.pdf", "locked\0")])
    assert facts.problems(database) == [Problem("b.pdf", "no text"), Problem("a\ufffd.pdf", "locked")]
    assert facts.problems(database, limit=1) == [Problem("b.pdf", "no text")]
    assert facts.n_problems(database) == 2


def test_export_escapes_formulas(tmp_path):
    bad = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\n=1"]
    assert [safe_cell(cell) for cell in bad] == [f"'{cell}".replace("\r", "\n") for cell in bad]
    assert [safe_cell(cell) for cell in ("a=b", "", -1, 2.5, None)] == ["a=b", "", -1, 2.5, None]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        assert write_spreadsheet(file, ["source", "-"], [["=x", -1], ["a,b", 'say "no"']]) == 2
    assert (tmp_path / "t.csv").read_bytes() == b'source,\'-\r\n\'=x,-1\r\n"a,b","say ""no"""\r\n'


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("kitten", "sitting", 3),
        ("hearign", "hearing", 1),
        ("ca", "abc", 3),
        ("abcd", "acbd", 1),
    ],
)
def test_edit_distance_values(one, other, edits):
    assert compute_edit_distance(one, other, 5) == compute_edit_distance(other, one, 5) == edits
    assert compute_edit_distance(one, other) == min(edits, 3)


def edited(word, others):
    """Every word of the letters that is one edit away."""
    halves = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {a + c + b for a, b in halves for c in others} | {a + b[1:] for a, b in halves}
    found |= {a + c + b[1:] for a, b in halves if b for c in others}
    return (found | {a + b[1] + b[0] + b[2:] for a, b in halves if len(b) > 1}) - {word}


@given(st.text("abc", min_size=4, max_size=9), st.data())
def test_nearest_finds_all_near_words(word, data):
    near = data.draw(st.sampled_from(sorted(edited(word, "abcx"))))
    farther = data.draw(st.sampled_from(sorted(edited(near, "abcx") - {word})))
    assert find_near_words(word, [(near, 1), ("zzzz", 9)]) == [near]
    if len(word) >= 5 and compute_edit_distance(word, farther) == 2:
        assert find_near_words(word, [(farther, 1), ("zzzz", 9)]) == [farther]
