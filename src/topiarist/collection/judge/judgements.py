"""What people said of the labels of documents: an entry for each time, the newest last.

Entries are never changed, so that of two people none overwrites the other's: whoever judges a document names the entry
that they saw last. Labels themselves lie with the documents, where learning, searching and comparing find them. The
table is made by the first judgement: a collection that nobody has judged has none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topiarist.collection.shape.changes import ChangedError
from topiarist.errors import UsageError
from topiarist.store.database import Database
from topiarist.store.document_table import Documents, marks, pieces
from topiarist.text.readers.making import storable
from topiarist.text.spelling import nearest

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

ACCEPT, MOVE, LEAVE, BACK = "accept", "move", "leave", "back"
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


class JudgedError(ChangedError):
    """Somebody else has judged the document since whoever judges it now has looked."""


class Judgements:
    """The judgements in a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def _there(self) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'judgements'"
        return self.database.one(sql) is not None

    def last_number(self) -> int:
        """The number of the newest entry; it tells whether any was made since."""
        found = self.database.one("SELECT max(number) FROM judgements") if self._there else None
        return int(found[0] or 0) if found else 0

    def get(self, number: int) -> Judgement | None:
        """An entry."""
        return next(iter(self._entries("WHERE number = ?", (number,))), None)

    def since(self, number: int) -> list[Judgement]:
        """The entries after one, the oldest first."""
        return self._entries("WHERE number > ? ORDER BY number", (number,))

    def holding(self) -> list[Judgement]:
        """The newest entry of every document, where it was not taken back."""
        newest = "WHERE number IN (SELECT max(number) FROM judgements GROUP BY row) AND kind <> ? ORDER BY row"
        return self._entries(newest, (BACK,))

    def of(self, rows: Sequence[int]) -> dict[int, Judgement]:
        """The newest entry of each of some documents that have one, also of those where it was taken back."""
        found: dict[int, Judgement] = {}
        for piece in pieces(sorted({int(row) for row in rows})):
            where = f"WHERE row IN ({marks(piece)}) ORDER BY number"
            found.update({one.row: one for one in self._entries(where, tuple(piece))})
        return found

    def judge(self, row: int, kind: str, labels: Sequence[str], *, expected: int) -> Judgement:
        """Write down what somebody said of a document, and give it these labels; of a document left alone, none change.

        ``expected``: the newest entry of the document that they saw, 0 for none.
        """
        with self.database.transaction():
            before = self._seen(row, expected)
            after = before if kind == LEAVE else _clean(labels)
            return self._write(row, kind, before, after)

    def take_back(self, row: int, *, expected: int) -> Judgement:
        """Give a document the labels that it had before it was judged last."""
        with self.database.transaction():
            before = self._seen(row, expected)
            last = self.of([row]).get(row)
            if last is None or last.kind == BACK:
                raise UsageError("there is nothing to take back: nobody has judged this document")
            return self._write(row, BACK, before, last.before)

    def counted(self, counts: Counter[str], number: int) -> Counter[str]:
        """Documents of each label, after what people took away and gave since an entry."""
        now = counts.copy()
        for one in self.since(number):
            now.subtract(set(one.before))
            now.update(set(one.after))
        return now

    def _seen(self, row: int, expected: int) -> tuple[str, ...]:
        """The labels of a document, if its newest entry is the one that somebody saw."""
        for statement in TABLE:
            self.database.run(statement)
        last = self.of([row]).get(row)
        if (0 if last is None else last.number) != expected:
            raise JudgedError("somebody has judged this document since you opened the page", hint="look at it again")
        return Documents(self.database).labels_of([row])[0]

    def _write(self, row: int, kind: str, before: tuple[str, ...], after: tuple[str, ...]) -> Judgement:
        if after != before:
            Documents(self.database).change_labels(row, after)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.database.run(
            "INSERT INTO judgements (time, row, kind, before, after) VALUES (?, ?, ?, ?, ?)",
            (now, row, kind, json.dumps(before), json.dumps(after)),
        )
        return Judgement(self.last_number(), now, row, kind, before, after)

    def _entries(self, where: str, parameters: Sequence[object]) -> list[Judgement]:
        if not self._there:
            return []
        return [
            Judgement(number, time, row, kind, tuple(json.loads(before)), tuple(json.loads(after)))
            for number, time, row, kind, before, after in self.database.all(f"{_ENTRY} {where}", parameters)
        ]


def labels_for(collection: Collection, row: int, labels: Sequence[str], other: str, *, move: bool) -> tuple[str, ...]:
    """The labels that a document shall have: those of somebody who has checked them, and another one.

    ``move``: where documents have one label, the other one instead. A label that nobody knows is an error.
    """
    several = collection.categories is not None and collection.categories.several
    told = [] if move and not several else list(labels)
    others = [other] if other and (move or several) else []
    if not told and not others:
        hint = "check one of its labels, or Leave" if several else "one of the list, then Move"
        raise UsageError("choose the category that the document belongs to", hint=hint)
    now = collection.documents.labels_of([row])[0]
    known = {*(collection.categories.names if collection.categories is not None else ()), *now}
    if not known.issuperset([*told, *others]):
        known |= set(collection.documents.label_counts())
    wanted = [label if label in known else label.strip() for label in [*told, *others]]
    strange = [label for label in wanted if label not in known]
    if strange:
        near = nearest(strange[0], [(label, 1) for label in sorted(known)], 3)
        raise UsageError(f"there is no category {strange[0][:60]!r}", hint=" or ".join(near) or "one of the list")
    # where one label was learned it is the first of a document; others that it has are not what is judged
    return tuple(wanted) if several else (wanted[0], *(label for label in now[1:] if label != wanted[0]))


def carry_over(old: Database, new: Database) -> tuple[int, int]:
    """Judge the documents of a collection as those with the same ids were judged in the one that it replaces.

    How many were, and how many there had been.
    """
    held = Judgements(old).holding()
    names = Documents(old).many([one.row for one in held], texts=False)
    rows = {id: row for row, id in enumerate(Documents(new).ids())} if held else {}
    kept = [(rows[document.id], one) for one, document in zip(held, names, strict=True) if document.id in rows]
    for row, one in kept:
        Judgements(new).judge(row, one.kind, one.after, expected=0)
    return len(kept), len(held)


def _clean(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels as they are kept: each once, none empty."""
    return tuple(dict.fromkeys(plain for label in labels if (plain := storable(label)).strip()))
