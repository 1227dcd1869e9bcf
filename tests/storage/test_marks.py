"""What people say about documents: tags, read marks, and notes that are changed by further entries."""

import pytest

from topiarist.errors import UsageError
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.marks import (
    MAX_NOTE_LENGTH,
    MAX_PASSAGE_LENGTH,
    MAX_TAG_LENGTH,
    Marks,
    PassageNotes,
    find_passage,
    normalise_tag,
)
from topiarist.text.documents import Document

TEXT = "The price of oil fell. The price of\nwheat rose, and the price of oil rose later."


def made(path, texts):
    database = Database.create(path)
    Documents(database).load(Document(id, text) for id, text in texts.items())
    return database


@pytest.fixture
def database(tmp_path):
    return made(tmp_path / "d.sqlite", {"a": TEXT, "b": "Nothing of the kind.", "c": "Short."})


def test_tags_and_read_marks_of_documents(database):
    marks = Marks(database)
    marks.tag([0, 2], "  to  do ")
    marks.tag([2], "oil")
    assert marks.tags() == {"oil": 1, "to do": 2}
    assert marks.tags_of([2, 1, 2]) == [("oil", "to do"), (), ("oil", "to do")]
    assert (marks.rows_with("to do"), marks.rows_with("oil"), marks.tagged_rows().tolist()) == ([0, 2], [2], [0, 2])
    marks.untag([0, 1], "to do")
    assert sorted(marks.coded_tags().pairs()) == [(2, "oil"), (2, "to do")]
    marks.mark_read([0, 1])
    marks.mark_read([0], read=False)
    assert (marks.read(), marks.read_among([0, 1, 2])) == ([1], {1})
    for row in (-1, 3):
        with pytest.raises(UsageError, match=f"there is no document in row {row}: there are 3"):
            marks.tag([0, row], "oil")
    assert marks.rows_with("oil") == [2]


def test_tag_length_limit():
    assert len(normalise_tag("x" * MAX_TAG_LENGTH)) == MAX_TAG_LENGTH
    for wrong in ("x" * (MAX_TAG_LENGTH + 1), " \n "):
        with pytest.raises(UsageError, match="a tag has 1 to 100 characters"):
            normalise_tag(wrong)


def test_marks_carry_over_by_id(database, tmp_path):
    Marks(database).tag([0, 2], "oil")
    Marks(database).mark_read([1, 2])
    new = made(tmp_path / "new.sqlite", {"x": "Other.", "c": "Short."})
    assert Marks(new).carry_over(database) == {"tags": (1, 2), "read marks": (1, 2)}
    assert (Marks(new).rows_with("oil"), Marks(new).read()) == ([1], [1])


def test_passage_notes_edit_and_undo(database):
    notes = PassageNotes(database)
    assert (notes.all(), notes.count(), notes.of([0]), notes.last(0)) == ([], 0, {}, 0)
    first = notes.write(0, 4, "price of oil", "which?")
    second = notes.write(0, 0, "The", "an article")
    other = notes.write(1, 0, "Nothing", "of what?")
    assert [one.passage for one in (first, second, other)] == [1, 2, 3]
    assert notes.of([0, 1, 2]) == {0: (second, first), 1: (other,)}
    assert notes.all() == [second, first, other]
    assert (first.end, str(first)) == (16, "“price of oil”: which?")
    assert notes.last(0) == second.number
    notes.change(0, first.passage, " Brent ", expected=first.number)
    changed = notes.of([0])[0][1]
    assert (changed.passage, changed.note, changed.start, changed.quote) == (1, "Brent", 4, "price of oil")
    with pytest.raises(UsageError, match="this note was changed"):
        notes.change(0, first.passage, "WTI", expected=first.number)
    notes.change(0, first.passage, "  ", expected=changed.number)
    assert notes.of([0]) == {0: (second,)}
    with pytest.raises(UsageError, match="this note does not exist"):
        notes.change(0, first.passage, "WTI", expected=changed.number)
    with pytest.raises(UsageError, match="no such change of notes to undo"):
        notes.undo(0, expected=changed.number)
    notes.undo(0, expected=notes.last(0))
    assert notes.of([0])[0][1] == changed
    notes.undo(0, expected=notes.last(0))
    assert notes.of([0])[0][1].note == "which?"
    for _ in range(2):
        notes.undo(0, expected=notes.last(0))
    assert (notes.of([0]), notes.last(0), notes.all()) == ({}, 0, [other])
    with pytest.raises(UsageError, match="no such change of notes to undo"):
        notes.undo(0, expected=0)


def test_note_and_passage_length_limits(database):
    notes = PassageNotes(database)
    notes.write(0, 0, "x" * MAX_PASSAGE_LENGTH, "y" * MAX_NOTE_LENGTH)
    with pytest.raises(UsageError, match="at most 5,000 characters, got 5,001"):
        notes.write(0, 0, "x" * (MAX_PASSAGE_LENGTH + 1), "y")
    for wrong in ("y" * (MAX_NOTE_LENGTH + 1), " "):
        with pytest.raises(UsageError):
            notes.write(0, 0, "x", wrong)
    assert notes.count() == 1


def test_notes_carry_over_with_passages(database, tmp_path):
    notes = PassageNotes(database)
    for start, quote in ((4, "price of oil"), (56, "price of oil"), (27, "price of\nwheat")):
        notes.write(0, start, quote, f"on {start}")
    notes.write(1, 0, "Nothing", "of a document that is gone")
    notes.write(2, 0, "Short", "of a text that has changed")
    new = made(tmp_path / "new.sqlite", {"c": "Longer.", "a": f"New. {TEXT}"})
    assert PassageNotes(new).carry_over(database) == (3, 5)
    carried = PassageNotes(new).all()
    assert [(one.row, one.start, one.note) for one in carried] == [(1, 9, "on 4"), (1, 32, "on 27"), (1, 61, "on 56")]
    assert len({one.passage for one in carried}) == 3
    assert [one.time for one in carried] == [one.time for one in notes.of([0])[0]]


def test_take_words_out_of_notes(database):
    notes = PassageNotes(database)
    assert notes.take_words_out(lambda text: True) == 0
    notes.write(0, 4, "price of oil", "as Smith says")
    notes.write(0, 0, "of Smith", "a passage that the text has no more")
    kept = notes.write(1, 0, "Nothing", "else")
    assert notes.take_words_out(lambda text: "Smith" in text) == 2
    assert notes.all() == [kept]
    assert database.all("SELECT count(*) FROM passage_notes WHERE quote LIKE '%Smith%' OR note LIKE '%Smith%'") == [
        (0,)
    ]


@pytest.mark.parametrize(
    ("quote", "options", "found"),
    [
        ("price of oil", {}, (4, "price of oil")),
        ("price of oil", {"position": 50}, (56, "price of oil")),
        ("price  of\n oil", {"before": "and the"}, (56, "price of oil")),
        ("price of wheat", {}, (27, "price of\nwheat")),
        ("price of gold", {}, None),
        ("  ", {}, None),
    ],
)
def test_find_passage_positions(quote, options, found):
    assert find_passage(TEXT, quote, **options) == found
