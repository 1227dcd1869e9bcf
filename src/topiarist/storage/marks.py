"""Tags, read marks and notes on passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import MissingError, UsageError
from topiarist.storage.database import CodedTexts, Database, encode_list, get_time
from topiarist.storage.document_table import Documents
from topiarist.text.characters import clean_name, to_storable

MAX_TAG_LENGTH = 100  # characters
MAX_NOTE_LENGTH, MAX_PASSAGE_LENGTH = 5_000, 5_000  # characters


class Marks:
    """Tags and read marks in the database of a collection."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def tag(self, rows: Iterable[int], tag: str) -> None:
        self._change("INSERT OR IGNORE INTO tags (tag, row) VALUES (?, ?)", rows, normalise_tag(tag))

    def untag(self, rows: Iterable[int], tag: str) -> None:
        """Remove a tag from documents."""
        self._change("DELETE FROM tags WHERE tag = ? AND row = ?", rows, normalise_tag(tag))

    def tags(self) -> dict[str, int]:
        """Return the number of documents of each tag, by name."""
        sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY tag"
        return self.database.get_cached("tags", lambda: dict(self.database.all(sql)))

    def coded_tags(self) -> CodedTexts:
        """Return every tag of every document."""
        return self.database.read_codes("SELECT row, tag FROM tags")

    def tags_of(self, rows: Iterable[int]) -> list[tuple[str, ...]]:
        """Return the tags of documents, in the order of the rows."""
        row_list = [int(row) for row in rows]
        tags: dict[int, tuple[str, ...]] = {}
        sql = "SELECT row, tag FROM tags WHERE row IN (SELECT value FROM json_each(?)) ORDER BY tag"
        for row, tag in self.database.all(sql, (encode_list(row_list),)):
            tags[row] = (*tags.get(row, ()), tag)
        return [tags.get(row, ()) for row in row_list]

    def mark_read(self, rows: Iterable[int], *, read: bool = True) -> None:
        """Mark documents as read, or as not read."""
        self._change(
            "INSERT OR IGNORE INTO reads (row) VALUES (?)" if read else "DELETE FROM reads WHERE row = ?", rows
        )

    def read(self) -> list[int]:
        rows: list[int] = self.read_rows().tolist()
        return rows

    def read_rows(self) -> Array:
        """Return the rows of the documents marked as read as an array."""
        return self._rows("SELECT row FROM reads ORDER BY row")

    def tagged_rows(self) -> Array:
        """Return the rows of the documents with any tag, in order."""
        return self._rows("SELECT DISTINCT row FROM tags ORDER BY row")

    def read_among(self, rows: Iterable[int]) -> set[int]:
        """Return which of the documents are marked as read."""
        sql = "SELECT row FROM reads WHERE row IN (SELECT value FROM json_each(?))"
        return {row for (row,) in self.database.all(sql, (encode_list(rows),))}

    def rows_with(self, tag: str) -> list[int]:
        """Return the rows of the documents with a tag, case-sensitive."""
        return [row for (row,) in self.database.all("SELECT row FROM tags WHERE tag = ? ORDER BY row", (tag,))]

    def carry_over(self, old: Database) -> dict[str, tuple[int, int]]:
        """Copy tags and read marks to documents with the same ids; return how many were copied, and existed."""
        rows = {id: row for row, id in enumerate(Documents(self.database).ids())}
        tags = old.all("SELECT id, tag FROM tags JOIN documents USING (row)")
        reads = old.all("SELECT id FROM reads JOIN documents USING (row)")
        new_tags = [(rows[id], tag) for id, tag in tags if id in rows]
        new_reads = [(rows[id],) for (id,) in reads if id in rows]
        self.database.run_many("INSERT OR IGNORE INTO tags (row, tag) VALUES (?, ?)", new_tags)
        self.database.run_many("INSERT OR IGNORE INTO reads (row) VALUES (?)", new_reads)
        return {"tags": (len(new_tags), len(tags)), "read marks": (len(new_reads), len(reads))}

    def _rows(self, sql: str) -> Array:
        return self.database.get_cached(sql, lambda: np.array([row for (row,) in self.database.all(sql)], np.int64))

    def _change(self, sql: str, rows: Iterable[int], *values: str) -> None:
        """Run a statement for each row; raise an error for a row without a document."""
        row_list = [int(row) for row in rows]
        number = len(Documents(self.database))
        unknown_rows = [row for row in row_list if not 0 <= row < number]
        if unknown_rows:
            raise MissingError(f"there is no document in row {unknown_rows[0]}: there are {number:,}")
        with self.database.transaction():
            self.database.run_many(sql, ((*values, row) for row in row_list))


def normalise_tag(tag: str) -> str:
    """Return a tag in one line, without spaces around it. Raise UsageError if it is empty or too long."""
    name = clean_name(to_storable(tag))
    if not name or len(name) > MAX_TAG_LENGTH:
        raise UsageError(f"a tag has 1 to {MAX_TAG_LENGTH} characters, got {len(name)}", hint="Use one or two words.")
    return name


@dataclass(frozen=True)
class PassageNote:
    """Note on a passage: start of the passage in the text, the passage itself, and the note."""

    number: int  # of the newest entry, to detect changes
    passage: int  # number of the note, the same in all its entries
    row: int
    time: str
    start: int
    quote: str
    note: str

    @property
    def end(self) -> int:
        """Position of the end of the passage in the text."""
        return self.start + len(self.quote)

    def __str__(self) -> str:
        return f"“{' '.join(self.quote.split())}”: {self.note}"


class PassageNotes:
    """Notes on passages in the database of a collection.

    Entries never change: the text of a note is its newest entry that was not undone, and an empty text deletes it.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def of(self, rows: Iterable[int]) -> dict[int, tuple[PassageNote, ...]]:
        """Return the notes of documents by row, in the order of the text."""
        notes: dict[int, tuple[PassageNote, ...]] = {}
        for note in self._read_notes("row IN (SELECT value FROM json_each(?))", (encode_list(rows),)):
            notes[note.row] = (*notes.get(note.row, ()), note)
        return notes

    def all(self) -> list[PassageNote]:
        """Return all notes in the order of the documents."""
        return self._read_notes("true", ())

    def count(self) -> int:
        return self.database.get_cached("passage notes", lambda: len(self.all()))

    def last(self, row: int) -> int:
        """Return the newest entry of a document that can be undone; 0 if there is none."""
        sql = f"SELECT max(number) FROM passage_notes WHERE row = ? AND {_NOT_UNDONE}"  # noqa: S608 - words of our own
        return self.database.number(sql, (row,)) or 0

    def write(self, row: int, start: int, quote: str, note: str) -> PassageNote:
        """Add a note on a passage without one."""
        text = _normalise_note(note)
        if len(quote) > MAX_PASSAGE_LENGTH:
            expected = f"a note is on a passage of at most {MAX_PASSAGE_LENGTH:,} characters, got {len(quote):,}"
            raise UsageError(expected, hint="Select a shorter passage.")
        with self.database.transaction():
            passage = self._next_passage()
            self._append(row, passage, start, quote, text)
        return self._get(row, passage)

    def change(self, row: int, passage: int, note: str, *, expected: int) -> None:
        """Change a note; an empty text deletes it. ``expected``: the entry that the user saw."""
        text = _normalise_note(note) if note.strip() else ""
        with self.database.transaction():
            current = self._get(row, passage)
            if current.number != expected:
                conflict = "this note was changed after you opened the page"
                raise UsageError(conflict, hint="Reload the page and look at it again.")
            self._append(row, passage, current.start, current.quote, text)

    def undo(self, row: int, *, expected: int) -> None:
        """Undo the last change of the notes of a document. ``expected``: the last entry that the user saw."""
        sql = "SELECT passage, start, quote FROM passage_notes WHERE number = ?"
        with self.database.transaction():
            last = self.last(row)
            if not last or last != expected:
                conflict = "there is no such change of notes to undo"
                raise UsageError(conflict, hint="Reload the page and look at it again.")
            ((passage, start, quote),) = self.database.all(sql, (last,))
            self._append(row, passage, start, quote, "", undoes=last)

    def carry_over(self, old: Database) -> tuple[int, int]:
        """Copy notes to documents with the same ids and passages; return how many were copied, and existed."""
        old_notes = PassageNotes(old).all()
        names = Documents(old).load_many([note.row for note in old_notes], texts=False)
        rows = {id: row for row, id in enumerate(Documents(self.database).ids())} if old_notes else {}
        new_notes: list[tuple[int, int, str, PassageNote]] = []
        for note, document in zip(old_notes, names, strict=True):
            row = rows.get(document.id)
            text = "" if row is None else Documents(self.database).get(row).text
            place = find_passage(text, note.quote, position=note.start)
            if row is not None and place is not None:
                new_notes.append((row, *place, note))
        with self.database.transaction():
            first = self._next_passage() if new_notes else 0
            for passage, (row, start, quote, note) in enumerate(new_notes, first):
                self._append(row, passage, start, quote, note.note, time=note.time)
        return len(new_notes), len(old_notes)

    def take_words_out(self, matches: Callable[[str], bool]) -> int:
        """Erase the words of matching entries of an unpublished table; return the number of entries.

        A passage is part of the text of its document. It is erased if the text no longer contains it.
        """
        blank_notes, removed = list[tuple[int]](), list[tuple[int]]()
        for number, row, quote, note in self.database.all("SELECT number, row, quote, note FROM passage_notes"):
            if matches(quote) and quote not in Documents(self.database).get(row).text:
                removed.append((number,))
            elif note and matches(note):
                blank_notes.append((number,))
        self.database.run_many("UPDATE passage_notes SET note = '' WHERE number = ?", blank_notes)
        self.database.run_many("UPDATE passage_notes SET quote = '', note = '' WHERE number = ?", removed)
        return len(blank_notes) + len(removed)

    def _next_passage(self) -> int:
        return (self.database.number("SELECT max(passage) FROM passage_notes") or 0) + 1

    def _append(
        self, row: int, passage: int, start: int, quote: str, note: str, *, undoes: int = 0, time: str = ""
    ) -> None:
        """Add an entry, of the current time unless ``time`` is set."""
        self.database.run(
            "INSERT INTO passage_notes (time, row, passage, start, quote, note, undoes) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (time or get_time(), row, passage, start, quote, note, undoes),
        )

    def _get(self, row: int, passage: int) -> PassageNote:
        notes = [note_found for note_found in self.of([row]).get(row, ()) if note_found.passage == passage]
        if not notes:
            raise UsageError("this note does not exist", hint="Reload the page: the note was deleted.")
        return notes[0]

    def _read_notes(self, where: str, parameters: Sequence[object]) -> list[PassageNote]:
        """Return the current text of each note, in the order of documents and texts, without deleted notes."""
        columns = "number, passage, row, time, start, quote, note"
        sql = f"SELECT {columns} FROM passage_notes WHERE {where} AND {_NOT_UNDONE} ORDER BY number"  # noqa: S608
        newest = {(entry[2], entry[1]): PassageNote(*entry) for entry in self.database.all(sql, parameters)}
        return sorted(
            (entry for entry in newest.values() if entry.note),
            key=lambda entry: (entry.row, entry.start, entry.passage),
        )


_NOT_UNDONE = "undoes = 0 AND number NOT IN (SELECT undoes FROM passage_notes)"


def find_passage(text: str, quote: str, *, before: str = "", position: int = 0) -> tuple[int, str] | None:
    """Return the start of a passage in a text and its exact text; None if it does not occur.

    White space can differ. Of several places, return the one that follows ``before``, else the nearest to ``near``.
    """
    words = to_storable(quote).split()
    if not words:
        return None
    candidates = [
        (candidate.start(), candidate[0]) for candidate in re.finditer(r"\s+".join(map(re.escape, words)), text)
    ]
    lead = " ".join(to_storable(before).split())
    matches = [
        candidate
        for candidate in candidates
        if lead and " ".join(text[max(0, candidate[0] - 200) : candidate[0]].split()).endswith(lead)
    ]
    return min(matches or candidates, key=lambda candidate: abs(candidate[0] - position), default=None)


def _normalise_note(note: str) -> str:
    """Return a note without outer white space; raise UsageError if it is empty or too long."""
    text = to_storable(note).strip()
    if not text or len(text) > MAX_NOTE_LENGTH:
        raise UsageError(
            f"a note has 1 to {MAX_NOTE_LENGTH:,} characters, got {len(text):,}", hint="Use one or two sentences."
        )
    return text
