"""Judgements of labels, and reviews, as tables; entries are appended and never changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from topiarist.storage.database import Database, encode_list, get_time

_ENTRY = "SELECT number, time, row, kind, before, after FROM judgements WHERE"


@dataclass(frozen=True)
class Judgement:
    """Judgement of a user: accepted, changed or skipped labels of a document, or an undone judgement."""

    number: int
    time: str
    row: int
    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class JudgementTable:
    """Judgements in the database of a collection."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def append(self, row: int, kind: str, before: tuple[str, ...], after: tuple[str, ...]) -> Judgement:
        """Store a change of the labels of a document with the time; return it with its number."""
        now = get_time()
        self.database.run(
            "INSERT INTO judgements (time, row, kind, before, after) VALUES (?, ?, ?, ?, ?)",
            (now, row, kind, json.dumps(before), json.dumps(after)),
        )
        return Judgement(self.last_number(), now, row, kind, before, after)

    def last_number(self) -> int:
        return self.database.number("SELECT max(number) FROM judgements") or 0

    def get(self, number: int) -> Judgement | None:
        return next(iter(self._fetch_entries("number = ?", (number,))), None)

    def since(self, number: int) -> list[Judgement]:
        """Return the entries after a number, oldest first."""
        return self._fetch_entries("number > ? ORDER BY number", (number,))

    def newest(self) -> list[Judgement]:
        """Return the newest entry of every judged document, in the order of the rows."""
        return self._fetch_entries("number IN (SELECT max(number) FROM judgements GROUP BY row) ORDER BY row", ())

    def of(self, rows: Sequence[int]) -> dict[int, Judgement]:
        """Return the newest entry of documents by row, including undone ones."""
        where = "row IN (SELECT value FROM json_each(?)) ORDER BY number"
        return {judgement.row: judgement for judgement in self._fetch_entries(where, (encode_list(rows),))}

    def all_of(self, row: int) -> list[Judgement]:
        """Return all entries of a document, oldest first."""
        return self._fetch_entries("row = ? ORDER BY number", (row,))

    def _fetch_entries(self, where: str, parameters: Sequence[object]) -> list[Judgement]:
        return [
            Judgement(number, time, row, kind, tuple(json.loads(before)), tuple(json.loads(after)))
            for number, time, row, kind, before, after in self.database.all(f"{_ENTRY} {where}", parameters)
        ]


@dataclass(frozen=True)
class ReviewEntry:
    """Answer of a user about a document, how it was drawn, and from how many documents."""

    number: int
    row: int
    answer: str
    drawn: str
    documents: int


class ReviewTable:
    """Reviews in the database of a collection."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, label: str, lot: int) -> None:
        """Start a review with a random seed; an existing review stays."""
        now = get_time()
        self.database.run("INSERT OR IGNORE INTO reviews (label, lot, time) VALUES (?, ?, ?)", (label, lot, now))

    def lot(self, label: str) -> int | None:
        """Return the random seed of a review; None if it does not exist."""
        return self.database.number("SELECT lot FROM reviews WHERE label = ?", (label,))

    def labels(self) -> list[str]:
        return [label for (label,) in self.database.all("SELECT label FROM reviews")]

    def append(self, label: str, row: int, answer: str, drawn: str, documents: int) -> ReviewEntry:
        """Store an answer of a review with the time; return it with its number."""
        now = get_time()
        self.database.run(
            "INSERT INTO review_entries (time, label, row, answer, drawn, documents) VALUES (?, ?, ?, ?, ?, ?)",
            (now, label, row, answer, drawn, documents),
        )
        return ReviewEntry(self.last_number(label), row, answer, drawn, documents)

    def of_other_documents(self) -> None:
        """Mark all entries as drawn from documents of another generation."""
        self.database.run("UPDATE review_entries SET documents = 0")

    def entries(self, label: str) -> list[ReviewEntry]:
        """Return all entries of a review, oldest first."""
        sql = "SELECT number, row, answer, drawn, documents FROM review_entries WHERE label = ? ORDER BY number"
        return [ReviewEntry(*row) for row in self.database.all(sql, (label,))]

    def last_number(self, label: str) -> int:
        sql = "SELECT max(number) FROM review_entries WHERE label = ?"
        return self.database.number(sql, (label,)) or 0
