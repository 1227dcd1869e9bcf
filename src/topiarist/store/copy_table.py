"""Which documents are copies of others, as a table. Collections of earlier versions have none: nobody has looked."""

from __future__ import annotations

from collections.abc import Iterable

from topiarist.errors import reading
from topiarist.store.database import Database

_TABLE = (
    "CREATE TABLE IF NOT EXISTS copies (row INTEGER PRIMARY KEY REFERENCES documents, "
    "original INTEGER NOT NULL REFERENCES documents, shared REAL NOT NULL)"
)


def is_known(database: Database) -> bool:
    """Whether anybody has looked for copies here."""
    return database.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'copies'") is not None


def copies(database: Database) -> list[tuple[int, int, float]]:
    """The row of each copy, that of the first document of its kind, and what both share; in order."""
    if not is_known(database):
        return []
    found = database.all("SELECT row, original, shared FROM copies ORDER BY row")
    with reading(f"the copies of {database.shown}"):
        return [(int(row), int(original), float(shared)) for row, original, shared in found]


def add_copies(database: Database, found: Iterable[tuple[int, int, float]]) -> None:
    """Note copies; from now on the collection is known to have these, or none."""
    with database.transaction():
        database.run(_TABLE)
        database.run_many("INSERT OR REPLACE INTO copies (row, original, shared) VALUES (?, ?, ?)", found)


def forget_copies(database: Database) -> None:
    """Forget the copies of a collection that nobody has seen yet."""
    if is_known(database):
        database.run("DELETE FROM copies")
