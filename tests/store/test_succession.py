"""What follows a collection without some of its documents: every table that speaks of rows speaks of the new ones."""

from topiarist.store import copy_table
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.store.judgement_table import JudgementTable
from topiarist.store.marks import Marks, PassageNotes
from topiarist.store.review_table import ReviewTable
from topiarist.store.succession import carry_marks_back, copy_tables, succession
from topiarist.text.documents import Document


def test_rows_in_every_column_that_refers_to_documents_close_the_gaps(folder):
    with folder.writing() as generation:
        copy_table.add_copies(generation.database, [(1, 0, 0.75), (3, 2, 1.0)])
        Marks(generation.database).tag([0, 3], "seen")
    with succession(folder) as one:
        copy_tables(one.old.database, one.new.database, [0])
        assert Documents(one.new.database).ids() == ["a/2", "b/1", "b/2"]
        assert copy_table.copies(one.new.database) == [(2, 1, 1.0)]  # of another nothing is copied: its first is gone
        assert Marks(one.new.database).coded_tags().pairs() == [(2, "seen")]


def made(path, ids):
    database = Database.create(path)
    Documents(database).load(Document(id, f"The text of {id}.") for id in ids)
    return database


def test_what_people_said_since_is_carried_back_to_the_documents_of_before(tmp_path):
    then, now = made(tmp_path / "then.sqlite", "abc"), made(tmp_path / "now.sqlite", "bc")
    Marks(then).tag([0, 1], "before")
    carry_marks_back(now, then)  # nobody has judged, reviewed or noted anything yet
    assert Marks(then).tagged("before") == [0]
    assert JudgementTable(then).newest() == PassageNotes(then).all() == ReviewTable(then).labels() == []
    Marks(now).tag([1], "since")
    Marks(now).mark_read([0])
    JudgementTable(now).create()
    JudgementTable(now).append(1, "move", ("oil",), ("gas",))
    ReviewTable(now).begin("oil", 7)
    ReviewTable(now).append("oil", 0, "yes", "top", 2)
    PassageNotes(now).write(1, 4, "text", "a note")
    carry_marks_back(now, then)
    assert (Marks(then).tagged("since"), Marks(then).read()) == ([2], [1])
    assert [(one.row, one.after) for one in JudgementTable(then).newest()] == [(2, ("gas",))]
    assert [(one.row, one.answer) for one in ReviewTable(then).entries("oil")] == [(1, "yes")]
    assert [(one.row, one.note) for one in PassageNotes(then).all()] == [(2, "a note")]
