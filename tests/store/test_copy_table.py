"""Copies: noted, and forgotten with the documents of a grow that begins anew."""

from topiarist.store import copy_table
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.text.documents import Document


def test_copies_of_documents_that_are_cleared_are_forgotten(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    documents = Documents(database)
    documents.clear()  # nobody has looked for copies yet
    assert not copy_table.is_known(database)
    documents.load([Document("a", "one text"), Document("b", "one text")])
    assert copy_table.copies(database) == []
    copy_table.add_copies(database, [(1, 0, 1.0)])
    assert copy_table.is_known(database)
    assert copy_table.copies(database) == [(1, 0, 1.0)]
    documents.clear()
    assert copy_table.is_known(database)
    assert copy_table.copies(database) == []
    documents.load([Document("c", "another text")])
    assert len(documents) == 1
