"""What people say about documents: tags, that they have read them, and notes on passages of their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import UsageError
from topiarist.store.database import Coded, Database
from topiarist.store.document_table import Documents, marks, pieces
from topiarist.text.readers.making import storable

LONGEST_TAG = 100  # characters
LONGEST_NOTE, LONGEST_PASSAGE = 5_000, 5_000  # characters
NOTES = (
    "CREATE TABLE IF NOT EXISTS passage_notes (number INTEGER PRIMARY KEY, time TEXT NOT NULL, "
    "row INTEGER NOT NULL REFERENCES documents, passage INTEGER NOT NULL, start INTEGER NOT NULL, "
    "quote TEXT NOT NULL, note TEXT NOT NULL, undoes INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS passage_notes_by_row ON passage_notes (row, number)",
)


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

    def coded_tags(self) -> Coded:
        """Every tag of every document, as numbers."""
        return self.database.coded("SELECT row, tag FROM tags")

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


@dataclass(frozen=True)
class PassageNote:
    """What somebody noted on a passage: where in the text it begins, the passage itself, the note."""

    number: int  # of the newest entry, which tells whether it was changed since
    passage: int  # which lasts as long as the note does
    row: int
    time: str
    start: int
    quote: str
    note: str

    @property
    def end(self) -> int:
        """Where the passage ends."""
        return self.start + len(self.quote)

    def __str__(self) -> str:
        return f"“{' '.join(self.quote.split())}”: {self.note}"


class PassageNotes:
    """Notes on passages in a collection's database.

    Entries are never changed: what a note says now is its newest entry that was not undone, and an empty one takes it
    away. The table is made by the first note: a collection that nobody has noted anything in has none.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def of(self, rows: Iterable[int]) -> dict[int, tuple[PassageNote, ...]]:
        """The notes of some documents that have any, in the order of the text."""
        found: dict[int, tuple[PassageNote, ...]] = {}
        for piece in pieces(sorted({int(row) for row in rows})) if self._there else ():
            for one in self._held(f"WHERE row IN ({marks(piece)})", piece):
                found[one.row] = (*found.get(one.row, ()), one)
        return found

    def all(self) -> list[PassageNote]:
        """Every note, document by document."""
        return self._held("", ()) if self._there else []

    def count(self) -> int:
        """How many notes there are."""
        return self.database.kept("passage notes", lambda: len(self.all()))

    def last(self, row: int) -> int:
        """The newest entry of a document that could be undone; 0 where there is none."""
        sql = f"SELECT max(number) FROM passage_notes WHERE row = ? AND {_HOLDS}"  # noqa: S608 - words of our own
        return (self.database.number(sql, (row,)) or 0) if self._there else 0

    def write(self, row: int, start: int, quote: str, note: str) -> PassageNote:
        """A note on a passage that has none."""
        said = _note(note)
        if len(quote) > LONGEST_PASSAGE:
            expected = f"a note is on a passage of at most {LONGEST_PASSAGE:,} characters, got {len(quote):,}"
            raise UsageError(expected, hint="choose a part of it")
        with self.database.transaction():
            passage = self._next_passage()
            self._append(row, passage, start, quote, said)
        return self._get(row, passage)

    def change(self, row: int, passage: int, note: str, *, expected: int) -> None:
        """Another note on the same passage; an empty one takes it away. ``expected``: the entry that was seen."""
        said = _note(note) if note.strip() else ""
        with self.database.transaction():
            one = self._get(row, passage)
            if one.number != expected:
                changed = "somebody else has changed this note since"
                raise UsageError(changed, hint="reload the page, and look at it again")
            self._append(row, passage, one.start, one.quote, said)

    def undo(self, row: int, *, expected: int) -> None:
        """Take the last change of a document's notes back. ``expected``: the entry that was seen as the last."""
        sql = "SELECT passage, start, quote FROM passage_notes WHERE number = ?"
        with self.database.transaction():
            last = self.last(row)
            if not last or last != expected:
                other = "there is no such change of notes to undo"
                raise UsageError(other, hint="reload the page, and look at it again")
            ((passage, start, quote),) = self.database.all(sql, (last,))
            self._append(row, passage, start, quote, "", undoes=last)

    def carry_over(self, old: Database) -> tuple[int, int]:
        """The notes of documents with the same ids whose passages are still there; how many are, and had been."""
        held = PassageNotes(old).all()
        names = Documents(old).many([one.row for one in held], texts=False)
        rows = {id: row for row, id in enumerate(Documents(self.database).ids())} if held else {}
        found: list[tuple[int, int, str, PassageNote]] = []
        for one, document in zip(held, names, strict=True):
            row = rows.get(document.id)
            text = "" if row is None else Documents(self.database).get(row).text
            place = place_of(text, one.quote, near=one.start)
            if row is not None and place is not None:
                found.append((row, *place, one))
        with self.database.transaction():
            first = self._next_passage() if found else 0
            for passage, (row, start, quote, one) in enumerate(found, first):
                self._append(row, passage, start, quote, one.note, time=one.time)
        return len(found), len(held)

    def take_words_out(self, speaks: Callable[[str], bool]) -> int:
        """Take the words out of entries that speak of something, in a table that nobody has seen yet; of how many.

        A passage is the text of its own document, and stays with it; it goes where the text has it no more.
        """
        if not self._there:
            return 0
        blank, gone = list[tuple[int]](), list[tuple[int]]()
        for number, row, quote, note in self.database.all("SELECT number, row, quote, note FROM passage_notes"):
            if speaks(quote) and quote not in Documents(self.database).get(row).text:
                gone.append((number,))
            elif note and speaks(note):
                blank.append((number,))
        self.database.run_many("UPDATE passage_notes SET note = '' WHERE number = ?", blank)
        self.database.run_many("UPDATE passage_notes SET quote = '', note = '' WHERE number = ?", gone)
        return len(blank) + len(gone)

    def _next_passage(self) -> int:
        """The number of the next passage, in the table that the first note makes."""
        for statement in NOTES:
            self.database.run(statement)
        return (self.database.number("SELECT max(passage) FROM passage_notes") or 0) + 1

    def _append(
        self, row: int, passage: int, start: int, quote: str, note: str, *, undoes: int = 0, time: str = ""
    ) -> None:
        """One more entry, of now unless it was written at another time."""
        self.database.run(
            "INSERT INTO passage_notes (time, row, passage, start, quote, note, undoes) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (time or datetime.now(UTC).isoformat(timespec="seconds"), row, passage, start, quote, note, undoes),
        )

    def _get(self, row: int, passage: int) -> PassageNote:
        found = [one for one in self.of([row]).get(row, ()) if one.passage == passage]
        if not found:
            raise UsageError("there is no such note", hint="reload the page: somebody may have taken it away")
        return found[0]

    def _held(self, where: str, parameters: Sequence[object]) -> list[PassageNote]:
        """What each note says now, in the order of documents and texts; those that were taken away are left out."""
        also = f"{where} {'AND' if where else 'WHERE'} {_HOLDS}"
        sql = f"SELECT number, passage, row, time, start, quote, note FROM passage_notes {also} ORDER BY number"  # noqa: S608
        newest = {(one[2], one[1]): PassageNote(*one) for one in self.database.all(sql, parameters)}
        return sorted((one for one in newest.values() if one.note), key=lambda one: (one.row, one.start, one.passage))

    @property
    def _there(self) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'passage_notes'"
        return self.database.one(sql) is not None


_HOLDS = "undoes = 0 AND number NOT IN (SELECT undoes FROM passage_notes)"


def place_of(text: str, quote: str, *, before: str = "", near: int = 0) -> tuple[int, str] | None:
    """Where a passage begins in a text, and how it stands there; None where it does not.

    Spaces and line breaks need not agree. Of several places the one is meant that ``before`` stands in front of, else
    the one next to ``near``.
    """
    words = storable(quote).split()
    if not words:
        return None
    found = [(one.start(), one[0]) for one in re.finditer(r"\s+".join(map(re.escape, words)), text)]
    led = " ".join(storable(before).split())
    fitting = [one for one in found if led and " ".join(text[max(0, one[0] - 200) : one[0]].split()).endswith(led)]
    return min(fitting or found, key=lambda one: abs(one[0] - near), default=None)


def _note(note: str) -> str:
    """A note as it is kept: without spaces around it."""
    said = storable(note).strip()
    if not said or len(said) > LONGEST_NOTE:
        raise UsageError(f"a note has 1 to {LONGEST_NOTE:,} characters, got {len(said):,}", hint="a sentence or two")
    return said
