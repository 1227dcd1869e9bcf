"""The documents of a collection, by row or by id, with their labels.

Row numbers are those of the counts: from 0 upward, without a gap. Text is kept as it was given, except for what no file
can hold: NUL characters are left out, and halves of surrogate pairs become U+FFFD, as the readers do it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, TypeVar

from topiarist.errors import InputError, UsageError
from topiarist.store import facts
from topiarist.store.copy_table import forget_copies
from topiarist.store.database import Coded, Database
from topiarist.text.dates import AUTO
from topiarist.text.documents import Document
from topiarist.text.fields import ALL
from topiarist.text.readers.making import storable
from topiarist.text.repeated import without
from topiarist.text.spelling import nearest
from topiarist.text.titles import LOOKED_AT, title_of
from topiarist.text.tokens import has_unspaced, letters_apart

T = TypeVar("T")

BATCH = 2_000
LEAD = 220  # characters of a text in a list
_WITH_TEXT = "documents JOIN texts USING (row)"
_DOCUMENTS = f"SELECT row, id, title, text, source, date FROM {_WITH_TEXT}"  # noqa: S608
_PAGES = "SELECT row, title, text FROM pages WHERE row >= ? AND row < ?"
_INDEX = "INSERT INTO search (rowid, title, text) VALUES (?, ?, ?)"
LETTERS = "letters_apart"  # a setting: the full-text index keeps letters of scripts without spaces one by one
_WITHOUT_TEXT = "SELECT row, id, title, '', source, date FROM documents"


class Documents:
    """The documents in a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __len__(self) -> int:
        return self.database.number("SELECT max(row) + 1 FROM documents") or 0  # a count would read every page

    def __contains__(self, id: str) -> bool:
        return self.database.one("SELECT 1 FROM documents WHERE id = ?", (storable(id),)) is not None

    def row_of(self, id: str) -> int:
        """The row of a document; an unknown id is an error that proposes the nearest."""
        found = self.database.number("SELECT row FROM documents WHERE id = ?", (storable(id),))
        if found is None:
            near = self.near_ids(id)
            hint = " or ".join(near) if near else "the id as topiarist find shows it"
            raise UsageError(f"there is no document {id!r}", hint=hint)
        return found

    def has(self, id: str) -> bool:
        """Whether there is a document of this id."""
        return self.database.one("SELECT 1 FROM documents WHERE id = ?", (id,)) is not None

    def get(self, row: int) -> Document:
        """One document."""
        return self.many([row])[0]

    def many(self, rows: Iterable[int], *, texts: bool = True) -> list[Document]:
        """Several documents, in the order of the rows; without their texts if a list of titles will do."""
        wanted = [int(row) for row in rows]
        known = {}
        select = _DOCUMENTS if texts else _WITHOUT_TEXT
        for piece in pieces(sorted(set(wanted))):
            found = self.database.all(f"{select} WHERE row IN ({marks(piece)})", piece)
            labels = self._labels(f"row IN ({marks(piece)})", piece)
            beginnings = {} if texts else self._beginnings([row[0] for row in found if not row[2]])
            known.update({row[0]: _document(row, labels.get(row[0], ()), beginnings.get(row[0])) for row in found})
        missing = [row for row in wanted if row not in known]
        if missing:
            raise UsageError(f"there is no document in row {missing[0]}: there are {len(self):,}")
        return [known[row] for row in wanted]

    def iterate(self, start: int = 0, stop: int | None = None) -> Iterator[Document]:
        """Documents in the order of their rows; a few at a time are in memory."""
        stop = len(self) if stop is None else min(stop, len(self))
        for first in range(start, stop, BATCH):
            ends = (first, min(first + BATCH, stop))
            found = self.database.all(f"{_DOCUMENTS} WHERE row >= ? AND row < ? ORDER BY row", ends)
            labels = self._labels("row >= ? AND row < ?", ends)
            yield from (_document(row, labels.get(row[0], ())) for row in found)

    def append(self, documents: Iterable[Document], dates: str = AUTO) -> range:
        """Add documents and index their words: all of them, or none."""
        recipe = facts.settings(self.database).get("recipe") or {}
        return self._add(documents, index=True, dates=dates, columns=recipe.get("columns", ALL))

    def load(
        self, documents: Iterable[Document], *, index: bool = True, dates: str = AUTO, columns: str = ALL
    ) -> range:
        """Add the documents of a new collection: as ``append``, but indexed all at once, which is faster, or later.

        ``dates``: the order of day and month. ``columns``: which to keep.
        """
        with self.database.transaction():
            rows = self._add(documents, index=False, dates=dates, columns=columns)
            if index:
                self.index()
        return rows

    def clear(self) -> None:
        """Forget all documents of a collection that nobody has seen yet."""
        with self.database.transaction():
            forget_copies(self.database)
            known = {name for (name,) in self.database.all("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table in ("cells", "fields", "given_dates", "languages", "labels", "texts", "documents"):
                if table in known:
                    self.database.run(f"DELETE FROM {table}")  # noqa: S608 - names of our own
            facts.clear(self.database)

    def retitle(self, titles: Mapping[int, str]) -> None:
        """Give documents of a new collection other titles, before their words are indexed."""
        with self.database.transaction():
            for rows in pieces(sorted(titles)):
                known = self.many(rows)
                changed = [replace(one, title=titles[row]) for row, one in zip(rows, known, strict=True)]
                new = [(one[1], one[-1], row) for row, one in zip(rows, map(_values, changed), strict=True)]
                self.database.run_many("UPDATE documents SET title = ?, checksum = ? WHERE row = ?", new)

    def index(self) -> None:
        """Make the full-text index anew from the documents.

        Where some are in a script without spaces, their letters are indexed one by one, and that is noted.
        """
        if not self._unspaced():
            self.database.run("INSERT INTO search (search) VALUES ('rebuild')")
            return
        with self.database.transaction():
            self.database.run("INSERT INTO search (search) VALUES ('delete-all')")
            for found in self._pages():
                self.database.run_many(_INDEX, [(row, *map(letters_apart, words)) for row, *words in found])
            facts.change_settings(self.database, {LETTERS: True})

    def _unspaced(self) -> bool:
        """Whether a title or text holds letters of a script without spaces between words."""
        return any(has_unspaced(title) or has_unspaced(text) for found in self._pages() for _, title, text in found)

    def _pages(self) -> Iterator[list[tuple[int, str, str]]]:
        """Rows, titles and texts, some at a time."""
        for first in range(0, len(self), BATCH):
            yield self.database.all(_PAGES, (first, first + BATCH))

    def ids(self) -> list[str]:
        """All ids, in the order of the rows."""
        return [id for (id,) in self.database.all("SELECT id FROM documents ORDER BY row")]

    def within(self, beginning: str) -> list[tuple[int, str]]:
        """Rows and ids of the documents whose ids begin so, in the order of the rows."""
        sql = "SELECT row, id FROM documents WHERE id >= ? AND id < ? ORDER BY row"
        return self.database.all(sql, (storable(beginning), storable(beginning) + "\U0010ffff"))

    def titles(self) -> list[str]:
        """All titles, in the order of the rows."""
        found = self.database.all("SELECT row, id, title FROM documents ORDER BY row")
        beginnings = self._beginnings([row for row, _, title in found if not title])
        return [title or title_of("", beginnings[row], id) for row, id, title in found]

    def _beginnings(self, rows: Sequence[int]) -> dict[int, str]:
        """The first lines of texts that an earlier version has kept without a title."""
        found: dict[int, str] = {}
        for piece in pieces(rows):
            sql = f"SELECT row, substr(text, 1, {LOOKED_AT}) FROM texts WHERE row IN ({marks(piece)})"  # noqa: S608
            found.update(dict(self.database.all(sql, piece)))
        return found

    def near_ids(self, id: str, limit: int = 3) -> list[str]:
        """Ids that somebody who typed this one may have meant: those that contain it, or are spelt nearly so."""
        inside = self.database.all("SELECT id FROM documents WHERE instr(id, ?) LIMIT ?", (storable(id), limit))
        if inside and id:
            return [found for (found,) in inside]
        return nearest(id, [(found, 1) for (found,) in self.database.all("SELECT id FROM documents")], limit)

    def sources(self) -> list[str]:
        """The files that documents came from, each once; empty for those that came from none."""
        return [source for (source,) in self.database.all("SELECT DISTINCT source FROM documents")]

    def undated_rows(self) -> list[int]:
        """The rows of the documents without a date."""
        return [row for (row,) in self.database.all("SELECT row FROM documents WHERE date = '' ORDER BY row")]

    def coded(self, column: str) -> Coded:
        """The date or the source of every document, in the order of the rows, as numbers."""
        if column not in ("date", "source"):
            raise ValueError(column)
        return self.database.coded(f"SELECT row, {column} FROM documents ORDER BY row")  # noqa: S608

    def span(self) -> tuple[str, str]:
        """The first and the last date; empty if no document has one."""
        found = self.database.one("SELECT min(date), max(date) FROM documents WHERE date <> ''")
        return ("", "") if found is None or found[0] is None else (found[0], found[1])

    def label_counts(self) -> dict[str, int]:
        """How many documents have each label, by name."""
        return dict(self.database.all("SELECT label, count(DISTINCT row) FROM labels GROUP BY label ORDER BY label"))

    def labels_of(self, rows: Iterable[int]) -> list[tuple[str, ...]]:
        """The labels of documents, in the order of the rows."""
        wanted = [int(row) for row in rows]
        known: dict[int, tuple[str, ...]] = {}
        for piece in pieces(sorted(set(wanted))):
            known.update(self._labels(f"row IN ({marks(piece)})", piece))
        return [known.get(row, ()) for row in wanted]

    def with_label(self, label: str) -> list[int]:
        """The rows of the documents with a label."""
        found = self.database.all("SELECT DISTINCT row FROM labels WHERE label = ? ORDER BY row", (storable(label),))
        return [row for (row,) in found]

    def change_labels(self, row: int, labels: Sequence[str]) -> None:
        """Give a document other labels than it came with; ``judgements`` keeps those that it had."""
        with self.database.transaction():
            self.database.run("DELETE FROM labels WHERE row = ?", (row,))
            new = ((row, place, storable(label)) for place, label in enumerate(labels))
            self.database.run_many("INSERT INTO labels VALUES (?, ?, ?)", new)

    def ordered_rows(self, sort: str) -> Any:
        """The rows of all documents, the newest first, or by name."""
        order = {"newest": "date DESC, row", "name": "title COLLATE NOCASE, id, row"}[sort]
        return self.database.numbers(f"SELECT row FROM documents ORDER BY {order}")  # noqa: S608

    def leads(self, rows: Iterable[int], letters: int = LEAD, repeated: Collection[str] = ()) -> dict[int, str]:
        """The beginnings of some texts, in one line each, cut between words; without lines that many share."""
        found = {}
        for piece in pieces(sorted({int(row) for row in rows})):
            sql = f"SELECT row, substr(text, 1, {4 * letters}) FROM texts WHERE row IN ({marks(piece)})"  # noqa: S608
            for row, text in self.database.all(sql, piece):
                words = " ".join((without(text, repeated) if repeated else text).split())
                found[row] = words if len(words) <= letters else words[:letters].rsplit(" ", 1)[0] + " …"
        return found

    def has_labels(self, several: bool = False) -> bool:
        """Whether any document has a label; or ``several``."""
        return self.database.one("SELECT 1 FROM labels WHERE place >= ? LIMIT 1", (int(several),)) is not None

    def labelled_rows(self, label: str | None = None) -> list[int]:
        """The rows of the documents with any label; or with one, spelt as it is."""
        every, one = "SELECT DISTINCT row FROM labels", "SELECT DISTINCT row FROM labels WHERE label = ?"
        found = self.database.all(every) if label is None else self.database.all(one, (label,))
        return [row for (row,) in found]

    def coded_labels(self) -> Coded:
        """Every label of every document once, as numbers."""
        return self.database.coded("SELECT DISTINCT row, label FROM labels")

    def first_labels(self, n_docs: int) -> list[tuple[int, str]]:
        """The first label of each of the first documents that has one."""
        return self.database.all("SELECT row, label FROM labels WHERE place = 0 AND row < ?", (n_docs,))

    def gaps(self) -> list[str]:
        """What is wrong with the numbers of rows: they go from 0 upward without a gap, each with its text."""
        numbers = self.database.one("SELECT count(*), coalesce(min(row), 0), coalesce(max(row), -1) FROM documents")
        texts = self.database.one("SELECT count(*) FROM texts")
        count, first, last = numbers or (0, 0, -1)
        faults = []
        if (first, last) != (0, count - 1):
            faults.append(f"{count:,} documents have rows from {first:,} to {last:,}")
        if texts != (count,):
            faults.append(f"{count:,} documents have {texts and texts[0]:,} texts")
        return faults

    def changed(self, batch: int = 5_000) -> Iterator[tuple[int, str]]:
        """Row and id of every document that is not as it was written."""
        sql = (
            "SELECT d.row, d.id, d.title, t.text, d.source, d.date, d.checksum "
            "FROM main.documents AS d JOIN texts AS t ON t.row = d.row WHERE d.row >= ? AND d.row < ?"
        )
        for start in range(0, len(self), batch):
            for row, *values, checked in self.database.all(sql, (start, start + batch)):
                if not all(isinstance(value, str) for value in values) or checksum(*values) != checked:
                    yield row, str(values[0])

    def _labels(self, where: str, parameters: Sequence[int]) -> dict[int, tuple[str, ...]]:
        found = self.database.all(f"SELECT row, label FROM labels WHERE {where} ORDER BY row, place", parameters)  # noqa: S608
        return {row: tuple(label for _, label in group) for row, group in groupby(found, key=itemgetter(0))}

    def _add(self, documents: Iterable[Document], *, index: bool, dates: str, columns: str) -> range:
        from topiarist.store.column_table import ColumnTable
        from topiarist.store.date_table import Dates

        stream, again = iter(documents), False
        cells, moments = ColumnTable(self.database), Dates(self.database)
        undecided: list[int] = []
        with self.database.transaction():
            start = end = len(self)
            cells.create()
            moments.bring_up_to_date()
            while batch := list(islice(stream, BATCH)):
                rows = [(end + place, *_values(document)) for place, document in enumerate(batch)]
                self._refuse_known(rows)
                known = ((row, id, title, *rest) for row, id, title, _, *rest in rows)
                self.database.run_many("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", known)
                self.database.run_many("INSERT INTO texts VALUES (?, ?)", ((row[0], row[3]) for row in rows))
                self.database.run_many(
                    "INSERT INTO labels VALUES (?, ?, ?)",
                    (
                        (end + row, place, storable(label))
                        for row, document in enumerate(batch)
                        for place, label in enumerate(document.labels)
                    ),
                )
                numbered = list(enumerate(batch, end))
                cells.add(numbered, columns)
                undecided += moments.keep_given(numbered)
                if index:
                    words = [(row, letters_apart(title), letters_apart(text)) for row, _, title, text, *_ in rows]
                    again |= any(has_unspaced(title) or has_unspaced(text) for _, title, text in words)
                    self.database.run_many(_INDEX, words)
                end += len(batch)
            if again and not letters_are_apart(self.database):  # those that are there were indexed otherwise
                self.index()
            problems = [*moments.settle(undecided, dates), *cells.settle(start, asked=columns, dates=dates)]
            facts.add_problems(self.database, problems)
        return range(start, end)

    def _refuse_known(self, rows: list[tuple[int, str, str, str, str, str, int]]) -> None:
        """An error when an id is there already, in the collection or in the batch."""
        sources: dict[str, str] = {}
        for _, id, _, _, source, *_ in rows:
            if id in sources:
                raise _twice(id, sources[id], source)
            sources[id] = source
        for piece in pieces(list(sources)):
            found = self.database.one(f"SELECT id, source FROM documents WHERE id IN ({marks(piece)})", piece)  # noqa: S608
            if found is not None:
                raise _twice(found[0], found[1], sources[found[0]])


def letters_are_apart(database: Database) -> bool:
    """Whether the full-text index keeps letters of scripts without spaces one by one."""
    return database.one("SELECT 1 FROM settings WHERE name = ?", (LETTERS,)) is not None


_COUNTS = {
    "date": "SELECT substr(date, 1, 7), count(*) FROM documents WHERE date <> '' AND {} GROUP BY 1",
    "source": "SELECT source, count(*) FROM documents WHERE source <> '' AND {} GROUP BY 1",
    "tag": "SELECT min(tag), count(DISTINCT row) FROM tags WHERE {} GROUP BY tag COLLATE NOCASE",
    "label": "SELECT min(label), count(DISTINCT row) FROM labels WHERE {} GROUP BY label COLLATE NOCASE",
    "exact tag": "SELECT tag, count(DISTINCT row) FROM tags WHERE {} GROUP BY tag",
    "exact label": "SELECT label, count(DISTINCT row) FROM labels WHERE {} GROUP BY label",
}


def counts_among(database: Database, rows: Iterable[int]) -> dict[str, dict[str, int]]:
    """How many of some documents have each month, source, tag and label; tags and labels also letter by letter."""
    among = json.dumps([int(row) for row in rows])
    where = "row IN (SELECT value FROM json_each(?))"
    return {kind: dict(database.all(sql.format(where), (among,))) for kind, sql in _COUNTS.items()}


def checksum(id: str, title: str, text: str, source: str, date: str) -> int:
    """Of everything that a row holds: SQLite itself cannot tell that a bit of it has turned."""
    return zlib.crc32("\0".join((id, title, text, source, date)).encode())


def pieces(items: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """Lists that are short enough for one statement."""
    return (items[start : start + size] for start in range(0, len(items), size))


def marks(items: Sequence[object]) -> str:
    """As many question marks as there are items."""
    return ",".join("?" * len(items))


def _values(document: Document) -> tuple[str, str, str, str, str, int]:
    given = (document.id, document.title, document.text, document.source, document.date)
    id, title, text, source, date = map(storable, given)
    return id, title, text, source, date, checksum(id, title, text, source, date)


def _document(
    row: tuple[int, str, str, str, str, str], labels: tuple[str, ...], beginning: str | None = None
) -> Document:
    _, id, title, text, source, date = row
    title = title or title_of("", text if beginning is None else beginning, id)
    return Document(id, text, title, labels, source, date)


def _twice(id: str, first: str, second: str) -> InputError:
    where = f": in {first} and in {second}" if first and second and first != second else ""
    return InputError(f"two documents have the id {id!r}{where}", hint="ids that are unique, or none")
