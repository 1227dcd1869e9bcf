"""What follows a collection without some of its documents: every table that speaks of rows speaks of the new ones."""

from topiarist.storage import facts
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.marks import Marks, PassageNotes
from topiarist.storage.review_table import JudgementTable, ReviewTable
from topiarist.storage.succession import carry_marks_back, copy_tables, reduce_generation
from topiarist.text.documents import Document


def test_copy_tables_renumbers_rows(folder):
    with folder.writing() as generation:
        facts.add_duplicates(generation.database, [(1, 0, 0.75), (3, 2, 1.0)])
        Marks(generation.database).tag([0, 3], "seen")
    with reduce_generation(folder) as one:
        copy_tables(one.old.database, one.new.database, [0])
        assert Documents(one.new.database).ids() == ["a/2", "b/1", "b/2"]
        assert facts.get_duplicates(one.new.database) == [(2, 1, 1.0)]  # the original of row 1 is gone
        assert Marks(one.new.database).coded_tags().pairs() == [(2, "seen")]


def made(path, ids):
    database = Database.create(path)
    Documents(database).load(Document(id, f"The text of {id}.") for id in ids)
    return database


def test_carry_marks_back_to_older_generation(tmp_path):
    then, now = made(tmp_path / "then.sqlite", "abc"), made(tmp_path / "now.sqlite", "bc")
    Marks(then).tag([0, 1], "before")
    carry_marks_back(now, then)  # nobody has judged, reviewed or noted anything yet
    assert Marks(then).rows_with("before") == [0]
    assert JudgementTable(then).newest() == PassageNotes(then).all() == ReviewTable(then).labels() == []
    Marks(now).tag([1], "since")
    Marks(now).mark_read([0])
    JudgementTable(now).append(1, "move", ("oil",), ("gas",))
    ReviewTable(now).begin("oil", 7)
    ReviewTable(now).append("oil", 0, "yes", "top", 2)
    PassageNotes(now).write(1, 4, "text", "a note")
    carry_marks_back(now, then)
    assert (Marks(then).rows_with("since"), Marks(then).read()) == ([2], [1])
    assert [(one.row, one.after) for one in JudgementTable(then).newest()] == [(2, ("gas",))]
    assert [(one.row, one.answer) for one in ReviewTable(then).entries("oil")] == [(1, "yes")]
    assert [(one.row, one.note) for one in PassageNotes(then).all()] == [(2, "a note")]
