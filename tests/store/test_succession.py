"""What follows a collection without some of its documents: every table that speaks of rows speaks of the new ones."""

from topiarist.store import copy_table
from topiarist.store.document_table import Documents
from topiarist.store.marks import Marks
from topiarist.store.succession import copy_tables, succession


def test_rows_in_every_column_that_refers_to_documents_close_the_gaps(folder):
    with folder.writing() as generation:
        copy_table.add_copies(generation.database, [(1, 0, 0.75), (3, 2, 1.0)])
        Marks(generation.database).tag([0, 3], "seen")
    with succession(folder) as one:
        copy_tables(one.old.database, one.new.database, [0])
        assert Documents(one.new.database).ids() == ["a/2", "b/1", "b/2"]
        assert copy_table.copies(one.new.database) == [(2, 1, 1.0)]  # of another nothing is copied: its first is gone
        assert set(Marks(one.new.database).all_tags()) == {(2, "seen")}
