"""What people say about documents: tags, and that they have read them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import UsageError
from topiarist.store.database import Database
from topiarist.store.document_table import Documents, marks, pieces
from topiarist.text.readers.making import storable

LONGEST_TAG = 100  # characters


class Marks:
    """Tags and read marks in a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def tag(self, rows: Iterable[int], tag: str) -> None:
        """Give documents a tag; those that have it keep it."""
        name = tag_name(tag)
        with self.database.transaction():
            self.database.run_many(
                "INSERT OR IGNORE INTO tags (tag, row) VALUES (?, ?)", ((name, row) for row in self._known(rows))
            )

    def untag(self, rows: Iterable[int], tag: str) -> None:
        """Take a tag away from documents."""
        name = tag_name(tag)
        with self.database.transaction():
            self.database.run_many(
                "DELETE FROM tags WHERE tag = ? AND row = ?", ((name, row) for row in self._known(rows))
            )

    def tags(self) -> dict[str, int]:
        """How many documents have each tag, by name."""
        sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY tag"
        return self.database.kept("tags", lambda: dict(self.database.all(sql)))

    def all_tags(self) -> list[tuple[int, str]]:
        """Every tag of every document."""
        return self.database.all("SELECT row, tag FROM tags")

    def tags_of(self, rows: Iterable[int]) -> list[tuple[str, ...]]:
        """The tags of documents, in the order of the rows."""
        wanted = [int(row) for row in rows]
        known: dict[int, tuple[str, ...]] = {}
        for piece in pieces(sorted(set(wanted))):
            sql = f"SELECT row, tag FROM tags WHERE row IN ({marks(piece)}) ORDER BY tag"  # noqa: S608
            for row, tag in self.database.all(sql, piece):
                known[row] = (*known.get(row, ()), tag)
        return [known.get(row, ()) for row in wanted]

    def tagged(self, tag: str) -> list[int]:
        """The rows of the documents with a tag."""
        found = self.database.all("SELECT row FROM tags WHERE tag = ? ORDER BY row", (tag_name(tag),))
        return [row for (row,) in found]

    def mark_read(self, rows: Iterable[int], *, read: bool = True) -> None:
        """Mark documents as read, or as not read."""
        sql = "INSERT OR IGNORE INTO reads (row) VALUES (?)" if read else "DELETE FROM reads WHERE row = ?"
        with self.database.transaction():
            self.database.run_many(sql, ((row,) for row in self._known(rows)))

    def read(self) -> list[int]:
        """The rows of the documents that were read."""
        found: list[int] = self.read_rows().tolist()
        return found

    def read_rows(self) -> Array:
        """The same as an array, for many."""
        return self._rows("SELECT row FROM reads ORDER BY row")

    def tagged_rows(self) -> Array:
        """The rows of the documents with any tag, in their order."""
        return self._rows("SELECT DISTINCT row FROM tags ORDER BY row")

    def read_among(self, rows: Iterable[int]) -> set[int]:
        """Which of some documents were read."""
        found: set[int] = set()
        for piece in pieces(sorted({int(row) for row in rows})):
            sql = f"SELECT row FROM reads WHERE row IN ({marks(piece)})"  # noqa: S608
            found.update(row for (row,) in self.database.all(sql, piece))
        return found

    def rows_with(self, tag: str) -> list[int]:
        """The rows of the documents with a tag, spelt as it is."""
        return [row for (row,) in self.database.all("SELECT row FROM tags WHERE tag = ?", (tag,))]

    def carry_over(self, old: Database) -> dict[str, tuple[int, int]]:
        """Mark documents as those with the same ids were marked; how many of each kind were, and had been."""
        rows = {id: row for row, id in enumerate(Documents(self.database).ids())}
        tags = old.all("SELECT id, tag FROM tags JOIN documents USING (row)")
        reads = old.all("SELECT id FROM reads JOIN documents USING (row)")
        new_tags = [(rows[id], tag) for id, tag in tags if id in rows]
        new_reads = [(rows[id],) for (id,) in reads if id in rows]
        self.database.run_many("INSERT OR IGNORE INTO tags (row, tag) VALUES (?, ?)", new_tags)
        self.database.run_many("INSERT OR IGNORE INTO reads (row) VALUES (?)", new_reads)
        return {"tags": (len(new_tags), len(tags)), "read marks": (len(new_reads), len(reads))}

    def _rows(self, sql: str) -> Array:
        return self.database.kept(sql, lambda: np.array([row for (row,) in self.database.all(sql)], np.int64))

    def _known(self, rows: Iterable[int]) -> list[int]:
        """Rows of documents that are there."""
        known = [int(row) for row in rows]
        number = len(Documents(self.database))
        strange = [row for row in known if not 0 <= row < number]
        if strange:
            raise UsageError(f"there is no document in row {strange[0]}: there are {number:,}")
        return known


def tag_name(tag: str) -> str:
    """A tag as it is kept: one line, without spaces around it."""
    name = " ".join(storable(tag).split())
    if not name or len(name) > LONGEST_TAG:
        raise UsageError(f"a tag has 1 to {LONGEST_TAG} characters, got {len(name)}", hint="a word or two")
    return name
