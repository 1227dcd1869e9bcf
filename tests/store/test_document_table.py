"""Documents by row and by id, what people say about them, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.small import DOCUMENTS
from topiarist.collection.describe.tables import safe_cell, write_sheet
from topiarist.errors import InputError, UsageError
from topiarist.store import document_table as module
from topiarist.store import facts
from topiarist.store.database import Database
from topiarist.store.date_table import Dates
from topiarist.store.document_table import Documents
from topiarist.store.fulltext import Index
from topiarist.store.marks import Marks
from topiarist.text.documents import Document, Problem
from topiarist.text.spelling import distance, nearest
from topiarist.text.titles import titled


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


def test_documents_come_back_as_they_were_given(documents):
    assert len(documents) == 4
    named = list(map(titled, DOCUMENTS))
    assert [documents.get(row) for row in range(4)] == named
    assert list(documents.iterate()) == named
    assert list(documents.iterate(1, 3)) == named[1:3]
    assert list(documents.iterate(3, 99)) == named[3:]
    assert documents.titles() == [document.title for document in named]
    assert [documents.row_of(document.id) for document in DOCUMENTS] == [0, 1, 2, 3]
    assert documents.ids() == [document.id for document in DOCUMENTS]


def test_many_keep_the_order_that_was_asked_for(documents):
    rows = np.array([2, 0, 2, 3])
    named = list(map(titled, DOCUMENTS))  # also where only titles are asked for
    assert documents.many(rows) == [named[row] for row in rows]
    assert documents.many(rows, texts=False) == [replace(named[row], text="") for row in rows]
    assert documents.many([]) == []
    with pytest.raises(UsageError, match="there is no document in row 4: there are 4"):
        documents.many([0, 4])


def test_batches_do_not_show(database, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 3)
    given = [Document(f"d{place}", f"word{place} common", labels=("x",) * (place % 2)) for place in range(10)]
    documents = Documents(database)
    assert documents.load(iter(given)) == range(10)
    assert documents.append(iter([Document("last", "common")])) == range(10, 11)
    assert list(documents.iterate(0, 10)) == list(map(titled, given))
    assert Index(database).rows("common") == list(range(11))


def test_a_document_that_was_kept_without_a_title_is_called_by_its_first_line(documents):
    before = documents.get(0).text
    documents.database.run("UPDATE documents SET title = '' WHERE row = 0")
    called = documents.get(0).title
    assert called
    assert before.startswith(called.rstrip("…").strip()[:10])
    assert documents.many([0, 1], texts=False)[0].title == documents.titles()[0] == called


@pytest.mark.parametrize("batch", [1, 2, 5])
@pytest.mark.parametrize("place", range(3))
def test_one_document_without_spaces_is_found_wherever_it_stands(tmp_path, monkeypatch, batch, place):
    monkeypatch.setattr("topiarist.store.document_table.BATCH", batch)
    texts = ["A plain text.", "Another text.", "And one more."]
    texts[place] = "東京の天気は晴れ"
    database = Database.create(tmp_path / "d.sqlite")
    Documents(database).load(Document(str(row), text) for row, text in enumerate(texts))
    assert Index(database).rows("天気") == [place]
    assert Index(database).rows("text") == [row for row in range(2) if row != place]


def test_an_unknown_id_proposes_the_nearest(documents):
    with pytest.raises(UsageError, match="there is no document 'a/3'") as refused:
        documents.row_of("a/3")
    assert refused.value.hint == "a/1 or a/2"
    documents.append([Document("wire/2004/0231.txt", "x")])
    assert documents.near_ids("0231.txt") == ["wire/2004/0231.txt"]
    assert documents.near_ids("wire/2004/0213.tx") == ["wire/2004/0231.txt"]
    with pytest.raises(UsageError) as refused:
        documents.row_of("nothing like it")
    assert refused.value.hint == "the id as topiarist find shows it"


@pytest.mark.parametrize("place", [0, 2])
def test_an_id_may_be_there_once(documents, place):
    new = [Document("n1", "x", source="n.csv"), Document("n2", "x"), replace(DOCUMENTS[0], source="n.csv")]
    with pytest.raises(InputError, match=r"two documents have the id 'a/1': in a/1\.txt and in n\.csv"):
        documents.append(new)
    assert len(documents) == 4  # all or nothing
    with pytest.raises(InputError, match="two documents have the id 'n1'"):
        documents.append([new[0], new[1], new[place] if place == 0 else replace(new[0], text="y")])


def test_a_failing_reader_leaves_nothing_and_stays_what_it_is(documents):
    def failing():
        yield Document("new", "text")
        raise OSError("the network is gone")

    with pytest.raises(OSError, match="the network is gone"):
        documents.append(failing())
    assert len(documents) == 4
    assert Index(documents.database).rows("text") == []


def test_what_no_file_can_hold_is_cleaned(database):
    documents = Documents(database)
    documents.append([Document("i\0d\ud800", "a\0b \udfff c", "t\0", ("l\0",), "s\udcff", "\0")])
    assert documents.get(0) == Document("id\ufffd", "ab \ufffd c", "t", ("l",), "s\ufffd", "")
    assert documents.row_of("i\0d\ud800") == 0


@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_text_survives(tmp_path_factory, texts):
    database = Database.create(tmp_path_factory.mktemp("d") / "d.sqlite")
    documents = Documents(database)
    documents.load(Document(str(place), text, text, (text,), text, text) for place, text in enumerate(texts))
    clean = [text.replace("\0", "") for text in texts]  # hypothesis makes no halves of surrogates
    assert [document.text for document in documents.iterate()] == clean
    given = Dates(database).given(range(len(texts)))
    assert [
        replace(one, date=given.get(row, one.date)) for row, one in enumerate(documents.many(range(len(texts))))
    ] == [titled(Document(str(place), text, text, (text,), text, text)) for place, text in enumerate(clean)]
    database.close()


def test_labels(documents):
    assert documents.label_counts() == {"law": 2, "news": 1, "sport": 1}
    assert documents.labels_of([3, 0, 2, 0]) == [("sport",), ("law", "news"), (), ("law", "news")]
    assert documents.with_label("law") == [0, 1]
    assert documents.with_label("Law") == []


def test_the_first_and_last_date(documents, tmp_path):
    assert documents.span() == ("2004-03-02", "2006")
    assert Documents(Database.create(tmp_path / "e")).span() == ("", "")


def test_tags_and_read_marks(documents):
    marks = Marks(documents.database)
    marks.tag([0, 2], " to  do ")
    marks.tag([2], "to do")
    marks.tag([2], "a")
    assert marks.tags() == {"a": 1, "to do": 2}
    assert marks.tagged("to do") == [0, 2]
    assert marks.tags_of([2, 1, 0]) == [("a", "to do"), (), ("to do",)]
    marks.untag([0, 1], "to do")
    assert marks.tagged("to do") == [2]
    for tag in ("", "  ", "x" * 101):
        with pytest.raises(UsageError, match="a tag has 1 to 100 characters"):
            marks.tag([0], tag)
    marks.mark_read([3, 1, 3])
    marks.mark_read([1, 0], read=False)
    assert marks.read() == [3]
    with pytest.raises(UsageError, match="no document in row 99"):
        marks.tag([0, 99], "x")
    assert marks.tagged("x") == []


def test_settings_and_problems(database):
    facts.change_settings(database, {"seed": 0, "words": ["a", "ü"]})
    facts.change_settings(database, {"seed": 1})
    assert facts.settings(database) == {"seed": 1, "words": ["a", "ü"]}
    facts.add_problems(database, [Problem("b.pdf", "no text"), Problem("a\udcff.pdf", "locked\0")])
    assert facts.problems(database) == [Problem("b.pdf", "no text"), Problem("a\ufffd.pdf", "locked")]
    assert facts.problems(database, limit=1) == [Problem("b.pdf", "no text")]
    assert facts.n_problems(database) == 2


def test_no_cell_is_a_formula(tmp_path):
    bad = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\n=1"]
    assert [safe_cell(cell) for cell in bad] == [f"'{cell}" for cell in bad]
    assert [safe_cell(cell) for cell in ("a=b", "", -1, 2.5, None)] == ["a=b", "", -1, 2.5, None]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        assert write_sheet(file, ["source", "-"], [["=x", -1], ["a,b", 'say "no"']]) == 2
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
def test_distance(one, other, edits):
    assert distance(one, other, 5) == distance(other, one, 5) == edits
    assert distance(one, other) == min(edits, 3)


def edited(word, others):
    """Every word of the letters that is one edit away."""
    halves = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {a + c + b for a, b in halves for c in others} | {a + b[1:] for a, b in halves}
    found |= {a + c + b[1:] for a, b in halves if b for c in others}
    return (found | {a + b[1] + b[0] + b[2:] for a, b in halves if len(b) > 1}) - {word}


@given(st.text("abc", min_size=4, max_size=9), st.data())
def test_whatever_is_near_is_found(word, data):
    near = data.draw(st.sampled_from(sorted(edited(word, "abcx"))))
    farther = data.draw(st.sampled_from(sorted(edited(near, "abcx") - {word})))
    assert nearest(word, [(near, 1), ("zzzz", 9)]) == [near]
    if len(word) >= 5 and distance(word, farther) == 2:
        assert nearest(word, [(farther, 1), ("zzzz", 9)]) == [farther]
