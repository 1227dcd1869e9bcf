"""Judgements of documents' labels as a table: an entry for each time that somebody judged, the newest last.

Entries are never changed. The table is made by the first judgement: a collection that nobody has judged has none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from topiarist.store.database import Database
from topiarist.store.document_table import marks, pieces

TABLE = (
    "CREATE TABLE IF NOT EXISTS judgements (number INTEGER PRIMARY KEY, time TEXT NOT NULL, "
    "row INTEGER NOT NULL REFERENCES documents, kind TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS judgements_by_row ON judgements (row, number)",
)
_ENTRY = "SELECT number, time, row, kind, before, after FROM judgements"


@dataclass(frozen=True)
class Judgement:
    """That somebody accepted the labels of a document, gave it others, left it as it is, or took that back."""

    number: int
    time: str
    row: int
    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class JudgementTable:
    """The judgements in a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def create(self) -> None:
        """Make the table where there is none yet."""
        for statement in TABLE:
            self.database.run(statement)

    def append(self, row: int, kind: str, before: tuple[str, ...], after: tuple[str, ...]) -> Judgement:
        """One entry more."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.database.run(
            "INSERT INTO judgements (time, row, kind, before, after) VALUES (?, ?, ?, ?, ?)",
            (now, row, kind, json.dumps(before), json.dumps(after)),
        )
        return Judgement(self.last_number(), now, row, kind, before, after)

    @property
    def _there(self) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'judgements'"
        return self.database.one(sql) is not None

    def last_number(self) -> int:
        """The number of the newest entry; it tells whether any was made since."""
        return (self.database.number("SELECT max(number) FROM judgements") or 0) if self._there else 0

    def get(self, number: int) -> Judgement | None:
        """An entry."""
        return next(iter(self._entries("WHERE number = ?", (number,))), None)

    def since(self, number: int) -> list[Judgement]:
        """The entries after one, the oldest first."""
        return self._entries("WHERE number > ? ORDER BY number", (number,))

    def newest(self) -> list[Judgement]:
        """The newest entry of every document that has one, in the order of the rows."""
        return self._entries("WHERE number IN (SELECT max(number) FROM judgements GROUP BY row) ORDER BY row", ())

    def of(self, rows: Sequence[int]) -> dict[int, Judgement]:
        """The newest entry of each of some documents that have one, also of those where it was taken back."""
        found: dict[int, Judgement] = {}
        for piece in pieces(sorted({int(row) for row in rows})):
            where = f"WHERE row IN ({marks(piece)}) ORDER BY number"
            found.update({one.row: one for one in self._entries(where, tuple(piece))})
        return found

    def all_of(self, row: int) -> list[Judgement]:
        """All entries of a document, the oldest first."""
        return self._entries("WHERE row = ? ORDER BY number", (row,))

    def _entries(self, where: str, parameters: Sequence[object]) -> list[Judgement]:
        if not self._there:
            return []
        return [
            Judgement(number, time, row, kind, tuple(json.loads(before)), tuple(json.loads(after)))
            for number, time, row, kind, before, after in self.database.all(f"{_ENTRY} {where}", parameters)
        ]
