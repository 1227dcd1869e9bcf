"""A database that somebody sent: what its schema would do is not done, and whoever asks it is told in words."""

import sqlite3
from contextlib import closing

import pytest

from topiarist.collection.check import check_folder
from topiarist.errors import DamagedError
from topiarist.storage import database as module
from topiarist.storage.collection_folder import Folder
from topiarist.storage.database import Database
from topiarist.storage.fulltext import Index

ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS row, '' AS title, '' AS text FROM n"
)
FORGED = {
    "a view without an end": ("DROP VIEW pages", f"CREATE VIEW pages AS {ENDLESS}"),
    "a view in the place of a table": ("DROP TABLE reads", f"CREATE VIEW reads AS {ENDLESS}"),
    "another view": ("CREATE VIEW more AS SELECT 1",),
    "a trigger": ("CREATE TRIGGER t AFTER INSERT ON tags BEGIN DELETE FROM documents; END",),
    "a virtual table": ("CREATE VIRTUAL TABLE more USING fts5 (a)",),
    "a column that is worked out": ("CREATE TABLE more (a, b AS (a + 1))",),
    "a check": ("CREATE TABLE more (a CHECK (length(a) > 1))",),
    "a default that is worked out": ("CREATE TABLE more (a DEFAULT (zeroblob(1000000000)))",),
    "an index that is worked out": ("CREATE INDEX more ON tags (hex(tag))",),
    "no table": ("DROP TABLE reads",),
    "a plain table": ("CREATE TABLE more (a)",),
    "no table of copies": ("DROP TABLE copies",),
}


def forged(folder, *statements):
    """The same collection after somebody has changed its database by hand."""
    folder.close()
    path = folder.generation.folder / "documents.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.parametrize("what", FORGED)
def test_schema_rejects_changes(folder, what):
    path = forged(folder, *FORGED[what])
    for write in (False, True):
        with pytest.raises(DamagedError, match=r"only tables|no such table"):
            Database(path, write=write).all("SELECT * FROM documents")
    (finding, *_) = check_folder(folder.path)
    assert finding.severity == "error"
    with pytest.raises(DamagedError):
        Index(Folder.open(folder.path).generation.database).rows("oil")


def test_schema_rejects_renamed_trigger(folder):
    """The list of tables itself may be forged."""
    trigger = "CREATE TRIGGER t AFTER INSERT ON tags BEGIN DELETE FROM documents; END"
    forged(
        folder,
        "PRAGMA writable_schema = ON",
        f"INSERT INTO sqlite_schema VALUES ('table', 't', 'tags', 0, '{trigger}')",
    )
    with pytest.raises(DamagedError):
        Folder.open(folder.path).generation.database.all("SELECT * FROM documents")


def test_unknown_fts5_version_raises_damaged_error(folder):
    forged(folder, "UPDATE search_config SET v = 99 WHERE k = 'version'")
    with pytest.raises(DamagedError, match="fts5"):
        Index(Folder.open(folder.path).generation.database).rows("oil")
    assert "error" in {finding.severity for finding in check_folder(folder.path)}


def test_endless_query_stopped(folder, monkeypatch):
    monkeypatch.setattr(module, "STEPS", 2_000_000)
    with pytest.raises(DamagedError, match="more steps"):
        folder.generation.database.all(f"{ENDLESS} WHERE i < 0")
    assert (
        folder.generation.database.fetch_one("SELECT count(*) FROM documents") is not None
    )  # the next one is answered


def test_cyclic_pages_raises_damaged_error(folder, monkeypatch):
    """Every way down leads up again: SQLite goes twenty levels deep, 100 pages wide."""
    monkeypatch.setattr(module, "STEPS", 2_000_000)
    folder.close()
    path = folder.generation.folder / "documents.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'texts'").fetchone()
    content = bytearray(path.read_bytes())
    cells, first = 100, size - 100 * 5
    page = bytearray(size)
    page[:12] = (
        bytes([5, 0, 0]) + cells.to_bytes(2, "big") + first.to_bytes(2, "big") + bytes([0]) + root.to_bytes(4, "big")
    )
    for cell in range(cells):
        at = first + 5 * cell
        page[12 + 2 * cell : 14 + 2 * cell] = at.to_bytes(2, "big")
        page[at : at + 5] = root.to_bytes(4, "big") + bytes([cell])
    content[(root - 1) * size : root * size] = page
    path.write_bytes(content)
    with pytest.raises(DamagedError):
        Folder.open(folder.path).generation.database.all("SELECT count(*) FROM texts")
    assert "error" in {finding.severity for finding in check_folder(folder.path)}
