"""Reviews as tables: of each label a lot that was drawn when its review began, and an entry for each judgement.

Entries are never changed: a judgement that was taken back is followed by an entry that says so. The tables are made by
the first judgement: a collection that nobody has reviewed has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from topiarist.store.database import Database

TABLES = (
    "CREATE TABLE IF NOT EXISTS reviews (label TEXT PRIMARY KEY, lot INTEGER NOT NULL, time TEXT NOT NULL) "
    "WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS review_entries (number INTEGER PRIMARY KEY, time TEXT NOT NULL, label TEXT NOT NULL, "
    "row INTEGER NOT NULL REFERENCES documents, answer TEXT NOT NULL, drawn TEXT NOT NULL, documents INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS review_entries_by_label ON review_entries (label, number)",
)


@dataclass(frozen=True)
class ReviewEntry:
    """What somebody answered about a document, how it had been drawn, and of how many documents."""

    number: int
    row: int
    answer: str
    drawn: str
    documents: int


class ReviewTable:
    """The reviews in a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, label: str, lot: int) -> None:
        """A new review; one that has begun stays as it is."""
        for statement in TABLES:
            self.database.run(statement)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.database.run("INSERT OR IGNORE INTO reviews (label, lot, time) VALUES (?, ?, ?)", (label, lot, now))

    def lot(self, label: str) -> int | None:
        """The lot of a review; None where it has not begun."""
        return self.database.number("SELECT lot FROM reviews WHERE label = ?", (label,)) if self._there else None

    def labels(self) -> list[str]:
        """The labels that are, or were, reviewed."""
        return [label for (label,) in self.database.all("SELECT label FROM reviews")] if self._there else []

    def append(self, label: str, row: int, answer: str, drawn: str, documents: int) -> ReviewEntry:
        """One entry more."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.database.run(
            "INSERT INTO review_entries (time, label, row, answer, drawn, documents) VALUES (?, ?, ?, ?, ?, ?)",
            (now, label, row, answer, drawn, documents),
        )
        return ReviewEntry(self.last_number(label), row, answer, drawn, documents)

    def of_other_documents(self) -> None:
        """The documents are not those that earlier entries were drawn from, however many there are."""
        if self._there:
            self.database.run("UPDATE review_entries SET documents = 0")

    def entries(self, label: str) -> list[ReviewEntry]:
        """All entries of a review, the oldest first."""
        sql = "SELECT number, row, answer, drawn, documents FROM review_entries WHERE label = ? ORDER BY number"
        return [ReviewEntry(*row) for row in self.database.all(sql, (label,))] if self._there else []

    def last_number(self, label: str) -> int:
        """The number of the newest entry of a review: it tells whether any was made since."""
        sql = "SELECT max(number) FROM review_entries WHERE label = ?"
        return (self.database.number(sql, (label,)) or 0) if self._there else 0

    @property
    def _there(self) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'review_entries'"
        return self.database.one(sql) is not None
