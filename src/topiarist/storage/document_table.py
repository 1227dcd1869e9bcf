"""Documents of a collection by row or by id, with their labels.

Row numbers are those of the counts: from 0 upward, without a gap. Texts are stored unchanged except for NUL characters,
which are deleted, and surrogates, which become U+FFFD, as in the readers.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from topiarist.errors import InputError, MissingError
from topiarist.storage import facts
from topiarist.storage.database import CodedTexts, Database, encode_list
from topiarist.text.characters import to_storable
from topiarist.text.dates import AUTO
from topiarist.text.documents import Document
from topiarist.text.fields import ALL
from topiarist.text.repeated import without
from topiarist.text.spelling import find_near_words
from topiarist.text.tokens import has_unspaced, separate_unspaced_letters

BATCH = 2_000
LEAD_LENGTH = 220  # characters of a text in a list of documents
MAX_NEAR_IDS = 3  # ids in a message
_WITH_TEXT = "documents JOIN texts USING (row)"
_DOCUMENTS = f"SELECT row, id, title, text, source, date FROM {_WITH_TEXT}"  # noqa: S608
_PAGES = "SELECT row, title, text FROM pages WHERE row >= ? AND row < ?"
_INDEX = "INSERT INTO search (rowid, title, text) VALUES (?, ?, ?)"
LETTERS_SETTING = "letters_apart"  # setting: the full-text index keeps letters of scripts without spaces one by one
_WITHOUT_TEXT = "SELECT row, id, title, '', source, date FROM documents"


class Documents:
    """Documents in the database of a collection."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __len__(self) -> int:
        return self.database.number("SELECT max(row) + 1 FROM documents") or 0  # count(*) would read every page

    def __contains__(self, id: str) -> bool:
        return self.database.fetch_one("SELECT 1 FROM documents WHERE id = ?", (to_storable(id),)) is not None

    def row_of(self, id: str) -> int:
        """Return the row of a document; the error for an unknown id suggests similar ids."""
        row = self.database.number("SELECT row FROM documents WHERE id = ?", (to_storable(id),))
        if row is None:
            near_ids = self.near_ids(id)
            hint = f"Use the id {' or '.join(near_ids)}." if near_ids else "Use an id that topiarist find shows."
            raise MissingError(f"there is no document {id!r}", hint=hint)
        return row

    def get(self, row: int) -> Document:
        return self.load_many([row])[0]

    def load_many(self, rows: Iterable[int], *, texts: bool = True) -> list[Document]:
        """Return documents in the order of the rows; without texts if only titles are needed."""
        row_list = [int(row) for row in rows]
        select, rows_encoded = _DOCUMENTS if texts else _WITHOUT_TEXT, encode_list(row_list)
        labels = self._labels("row IN (SELECT value FROM json_each(?))", (rows_encoded,))
        records = self.database.all(f"{select} WHERE row IN (SELECT value FROM json_each(?))", (rows_encoded,))  # noqa: S608
        documents = {row[0]: _to_document(row, labels.get(row[0], ())) for row in records}
        missing = [row for row in row_list if row not in documents]
        if missing:
            raise MissingError(f"there is no document in row {missing[0]}: there are {len(self):,}")
        return [documents[row] for row in row_list]

    def iterate(self, start: int = 0, stop: int | None = None) -> Iterator[Document]:
        """Yield documents in the order of their rows; a batch is in memory at a time."""
        stop = len(self) if stop is None else min(stop, len(self))
        for first in range(start, stop, BATCH):
            ends = (first, min(first + BATCH, stop))
            records = self.database.all(f"{_DOCUMENTS} WHERE row >= ? AND row < ? ORDER BY row", ends)
            labels = self._labels("row >= ? AND row < ?", ends)
            yield from (_to_document(row, labels.get(row[0], ())) for row in records)

    def append(self, documents: Iterable[Document], dates: str = AUTO) -> range:
        """Add documents and index their words: all of them, or none."""
        recipe = facts.settings(self.database).get("recipe") or {}
        return self._add(documents, index=True, dates=dates, columns=recipe.get("columns", ALL))

    def load(
        self, documents: Iterable[Document], *, index: bool = True, dates: str = AUTO, columns: str = ALL
    ) -> range:
        """Add the documents of a new collection, and index them all at once, which is faster, or later.

        ``dates``: the order of day and month. ``columns``: the columns to keep.
        """
        with self.database.transaction():
            rows = self._add(documents, index=False, dates=dates, columns=columns)
            if index:
                self.index()
        return rows

    def clear(self) -> None:
        """Delete all documents of an unpublished collection."""
        with self.database.transaction():
            facts.clear_duplicates(self.database)
            for table in ("cells", "fields", "given_dates", "file_dates", "languages", "labels", "texts", "documents"):
                self.database.run(f"DELETE FROM {table}")  # noqa: S608 - names of our own
            facts.clear(self.database)

    def retitle(self, documents: Mapping[int, Document]) -> None:
        """Replace titles of an unpublished collection before its words are indexed."""
        with self.database.transaction():
            new = [
                (document[1], document[-1], row)
                for row, document in ((row, _to_values(document)) for row, document in documents.items())
            ]
            self.database.run_many("UPDATE documents SET title = ?, checksum = ? WHERE row = ?", new)

    def index(self) -> None:
        """Create the full-text index from the documents.

        If any text is in a script without spaces, its letters are indexed one by one, and a setting notes that.
        """
        if not self._has_unspaced():
            self.database.run("INSERT INTO search (search) VALUES ('rebuild')")
            return
        with self.database.transaction():
            self.database.run("INSERT INTO search (search) VALUES ('delete-all')")
            for pages in self._pages():
                self.database.run_many(_INDEX, [(row, *map(separate_unspaced_letters, words)) for row, *words in pages])
            facts.change_settings(self.database, {LETTERS_SETTING: True})

    def _has_unspaced(self) -> bool:
        """Return whether a title or text has letters of a script without spaces between words."""
        return any(has_unspaced(title) or has_unspaced(text) for page in self._pages() for _, title, text in page)

    def _pages(self) -> Iterator[list[tuple[int, str, str]]]:
        """Yield batches of rows, titles and texts."""
        for first in range(0, len(self), BATCH):
            yield self.database.all(_PAGES, (first, first + BATCH))

    def ids(self) -> list[str]:
        return [id for (id,) in self.database.all("SELECT id FROM documents ORDER BY row")]

    def list_within(self, beginning: str) -> list[tuple[int, str]]:
        """Return rows and ids of the documents whose ids have a prefix, in the order of the rows."""
        sql = "SELECT row, id FROM documents WHERE id >= ? AND id < ? ORDER BY row"
        return self.database.all(sql, (to_storable(beginning), to_storable(beginning) + "\U0010ffff"))

    def titles(self) -> list[str]:
        rows = self.database.all("SELECT title FROM documents ORDER BY row")
        return [title for (title,) in rows]

    def near_ids(self, id: str) -> list[str]:
        """Return ids that contain a text or have a similar spelling."""
        containing = self.database.all(
            "SELECT id FROM documents WHERE instr(id, ?) LIMIT ?", (to_storable(id), MAX_NEAR_IDS)
        )
        if containing and id:
            return [other_id for (other_id,) in containing]
        return find_near_words(
            id, [(other_id, 1) for (other_id,) in self.database.all("SELECT id FROM documents")], MAX_NEAR_IDS
        )

    def sources(self) -> list[str]:
        """Return the files of the documents, each once; an empty string for documents without a file."""
        return [source for (source,) in self.database.all("SELECT DISTINCT source FROM documents")]

    def undated_rows(self) -> list[int]:
        return [row for (row,) in self.database.all("SELECT row FROM documents WHERE date = '' ORDER BY row")]

    def read_codes(self, column: str) -> CodedTexts:
        """Return the date or the source of every document, in the order of the rows."""
        if column not in ("date", "source"):
            raise ValueError(column)
        return self.database.read_codes(f"SELECT row, {column} FROM documents ORDER BY row")  # noqa: S608

    def label_counts(self) -> dict[str, int]:
        """Return the number of documents of each label, by name."""
        return dict(self.database.all("SELECT label, count(DISTINCT row) FROM labels GROUP BY label ORDER BY label"))

    def labels_of(self, rows: Iterable[int]) -> list[tuple[str, ...]]:
        """Return the labels of documents, in the order of the rows."""
        row_list = [int(row) for row in rows]
        labels = self._labels("row IN (SELECT value FROM json_each(?))", (encode_list(row_list),))
        return [labels.get(row, ()) for row in row_list]

    def change_labels(self, row: int, labels: Sequence[str]) -> None:
        """Replace the labels of a document; ``judgements`` keeps the previous ones."""
        with self.database.transaction():
            self.database.run("DELETE FROM labels WHERE row = ?", (row,))
            new = ((row, place, to_storable(label)) for place, label in enumerate(labels))
            self.database.run_many("INSERT INTO labels VALUES (?, ?, ?)", new)

    def ordered_rows(self, sort: str) -> Any:
        """Return the rows of all documents, by date (newest first) or by name."""
        order = {"newest": "date DESC, row", "name": "title COLLATE NOCASE, id, row"}[sort]
        return self.database.numbers(f"SELECT row FROM documents ORDER BY {order}")  # noqa: S608

    def leads(self, rows: Iterable[int], repeated: Collection[str] = ()) -> dict[int, str]:
        """Return the starts of texts in one line, cut between words, without repeated lines."""
        leads = {}
        sql = "SELECT row, substr(text, 1, ?) FROM texts WHERE row IN (SELECT value FROM json_each(?))"
        for row, text in self.database.all(sql, (4 * LEAD_LENGTH, encode_list(rows))):
            words = " ".join((without(text, repeated) if repeated else text).split())
            leads[row] = words if len(words) <= LEAD_LENGTH else words[:LEAD_LENGTH].rsplit(" ", 1)[0] + " …"
        return leads

    def has_labels(self, several: bool = False) -> bool:
        """Return whether any document has a label, or ``several``."""
        return self.database.fetch_one("SELECT 1 FROM labels WHERE place >= ? LIMIT 1", (int(several),)) is not None

    def labelled_rows(self, label: str | None = None) -> list[int]:
        """Return the rows of the documents with any label, or with one label, case-sensitive, in order."""
        if label is None:
            return [row for (row,) in self.database.all("SELECT DISTINCT row FROM labels ORDER BY row")]
        sql = "SELECT DISTINCT row FROM labels WHERE label = ? ORDER BY row"  # by the index of labels
        return [row for (row,) in self.database.all(sql, (to_storable(label),))]

    def coded_labels(self) -> CodedTexts:
        """Return every label of every document once."""
        return self.database.read_codes("SELECT DISTINCT row, label FROM labels")

    def first_labels(self, n_docs: int) -> list[tuple[int, str]]:
        """Return rows and first labels of the first documents that have labels."""
        return self.database.all("SELECT row, label FROM labels WHERE place = 0 AND row < ?", (n_docs,))

    def gaps(self) -> list[str]:
        """Return faults of the row numbers, which go from 0 upward without a gap, each with its text."""
        row_range = self.database.fetch_one(
            "SELECT count(*), coalesce(min(row), 0), coalesce(max(row), -1) FROM documents"
        )
        texts = self.database.fetch_one("SELECT count(*) FROM texts")
        count, first, last = row_range or (0, 0, -1)
        faults = []
        if (first, last) != (0, count - 1):
            faults.append(f"{count:,} documents have rows from {first:,} to {last:,}")
        if texts != (count,):
            faults.append(f"{count:,} documents have {texts and texts[0]:,} texts")
        return faults

    def find_changed_texts(self) -> Iterator[tuple[int, str]]:
        """Yield row and id of every document that does not match its checksum."""
        sql = (
            "SELECT d.row, d.id, d.title, t.text, d.source, d.date, d.checksum "
            "FROM documents AS d JOIN texts AS t ON t.row = d.row WHERE d.row >= ? AND d.row < ?"
        )
        for start in range(0, len(self), BATCH):
            for row, *values, checked in self.database.all(sql, (start, start + BATCH)):
                if not all(isinstance(value, str) for value in values) or checksum(*values) != checked:
                    yield row, str(values[0])

    def _labels(self, where: str, parameters: Sequence[Any]) -> dict[int, tuple[str, ...]]:
        records = self.database.all(f"SELECT row, label FROM labels WHERE {where} ORDER BY row, place", parameters)  # noqa: S608
        return {row: tuple(label for _, label in group) for row, group in groupby(records, key=itemgetter(0))}

    def _add(self, documents: Iterable[Document], *, index: bool, dates: str, columns: str) -> range:
        """Store documents with their columns, dates and words in one transaction; return their rows."""
        from topiarist.storage.column_table import ColumnTable
        from topiarist.storage.date_table import Dates

        stream, has_unspaced_texts = iter(documents), False
        columns_table, dates_table = ColumnTable(self.database), Dates(self.database)
        unparsed_rows: list[int] = []
        with self.database.transaction():
            start = end = len(self)
            while batch := list(islice(stream, BATCH)):
                rows = [(end + place, *_to_values(document)) for place, document in enumerate(batch)]
                self._refuse_known(rows)
                records = ((row, id, title, *rest) for row, id, title, _, *rest in rows)
                self.database.run_many("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", records)
                self.database.run_many("INSERT INTO texts VALUES (?, ?)", ((row[0], row[3]) for row in rows))
                self.database.run_many(
                    "INSERT INTO labels VALUES (?, ?, ?)",
                    (
                        (end + row, place, to_storable(label))
                        for row, document in enumerate(batch)
                        for place, label in enumerate(document.labels)
                    ),
                )
                numbered_batch = list(enumerate(batch, end))
                columns_table.add(numbered_batch, columns)
                unparsed_rows += dates_table.store_given_dates(numbered_batch)
                if index:
                    words = [
                        (row, separate_unspaced_letters(title), separate_unspaced_letters(text))
                        for row, _, title, text, *_ in rows
                    ]
                    has_unspaced_texts |= any(has_unspaced(title) or has_unspaced(text) for _, title, text in words)
                    self.database.run_many(_INDEX, words)
                end += len(batch)
            if has_unspaced_texts:  # other documents are indexed in the same way
                facts.change_settings(self.database, {LETTERS_SETTING: True})
            problems = [
                *dates_table.settle(unparsed_rows, dates),
                *columns_table.set_kinds(start, kind_option=columns, dates=dates),
            ]
            facts.add_problems(self.database, problems)
        return range(start, end)

    def _refuse_known(self, rows: list[tuple[int, str, str, str, str, str, int]]) -> None:
        """Raise an error if an id exists in the collection or twice in the batch."""
        sources: dict[str, str] = {}
        for _, id, _, _, source, *_ in rows:
            if id in sources:
                raise _create_duplicate_error(id, sources[id], source)
            sources[id] = source
        sql = "SELECT id, source FROM documents WHERE id IN (SELECT value FROM json_each(?))"
        existing = self.database.fetch_one(sql, (json.dumps(list(sources)),))
        if existing is not None:
            raise _create_duplicate_error(existing[0], existing[1], sources[existing[0]])


def has_separate_letters(database: Database) -> bool:
    """Return whether the full-text index keeps letters of scripts without spaces one by one."""
    return database.fetch_one("SELECT 1 FROM settings WHERE name = ?", (LETTERS_SETTING,)) is not None


_COUNTS = {
    "date": "SELECT substr(date, 1, 7), count(*) FROM documents WHERE date <> '' AND {} GROUP BY 1",
    "source": "SELECT source, count(*) FROM documents WHERE source <> '' AND {} GROUP BY 1",
    "tag": "SELECT min(tag), count(DISTINCT row) FROM tags WHERE {} GROUP BY tag COLLATE NOCASE",
    "label": "SELECT min(label), count(DISTINCT row) FROM labels WHERE {} GROUP BY label COLLATE NOCASE",
    "exact tag": "SELECT tag, count(DISTINCT row) FROM tags WHERE {} GROUP BY tag",
    "exact label": "SELECT label, count(DISTINCT row) FROM labels WHERE {} GROUP BY label",
}


def counts_among(database: Database, rows: Iterable[int]) -> dict[str, dict[str, int]]:
    """Return the number of given documents by month, source, tag and label; tags and labels also case-sensitive."""
    where, row_list = "row IN (SELECT value FROM json_each(?))", encode_list(rows)
    return {kind: dict(database.all(sql.format(where), (row_list,))) for kind, sql in _COUNTS.items()}


def checksum(id: str, title: str, text: str, source: str, date: str) -> int:
    """Return the checksum of all values of a document; SQLite does not detect flipped bits."""
    return zlib.crc32("\0".join((id, title, text, source, date)).encode())


def _to_values(document: Document) -> tuple[str, str, str, str, str, int]:
    fields = (document.id, document.title, document.text, document.source, document.date)
    id, title, text, source, date = map(to_storable, fields)
    return id, title, text, source, date, checksum(id, title, text, source, date)


def _to_document(row: tuple[int, str, str, str, str, str], labels: tuple[str, ...]) -> Document:
    _, id, title, text, source, date = row
    return Document(id, text, title, labels, source, date)


def _create_duplicate_error(id: str, first: str, second: str) -> InputError:
    where = f": in {first} and in {second}" if first and second and first != second else ""
    return InputError(f"two documents have the id {id!r}{where}", hint="Use unique ids, or omit the ids.")
