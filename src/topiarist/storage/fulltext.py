"""Full-text index of documents with FTS5: which documents have words, phrases and prefixes; filters of a query as SQL.

The index covers titles and texts, without case and accents. It does not rank: documents are ranked by the word index.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Bools
from topiarist.storage.column_table import ColumnTable, create_span_test
from topiarist.storage.column_table import create_condition as column_condition
from topiarist.storage.database import Database, Row
from topiarist.storage.document_table import has_separate_letters
from topiarist.text.dates import get_next_date
from topiarist.text.fields import DATE
from topiarist.text.query import NO_VALUE, SIDES, Filter, Query, Term, fold_word, parse
from topiarist.text.tokens import has_unspaced

MAX_VALUES = 10_000  # values that are compared with a mistyped one
_VALUES = {
    "tag": "SELECT DISTINCT tag FROM tags LIMIT ?",
    "label": "SELECT DISTINCT label FROM labels LIMIT ?",
    "type": "SELECT DISTINCT source FROM documents LIMIT ?",
}

N_PROBES = 50  # documents that are searched by one of their words
_PROBE = re.compile(r"(?<![^\s])[A-Za-z]{3,40}(?=\s)")  # words that every tokeniser splits equally


class Index:
    """Full-text index of the database of a collection."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @cached_property
    def _has_separate_letters(self) -> bool:
        """Whether the index has single letters of scripts without spaces, and so differs from the texts."""
        return has_separate_letters(self.database)

    def rows(self, query: Query | str) -> list[int]:
        """Return the rising rows of all documents that match; the caller applies filters on topics."""
        query = parse(query, ColumnTable(self.database).fields()) if isinstance(query, str) else query
        if not query:
            return []
        source, parameters = _build_source(query.with_letters_apart)
        return [row for (row,) in self._find_all(f"SELECT row {source} ORDER BY row", parameters)]

    def has_match(self, query: Query) -> bool:
        """Return whether any document matches."""
        source, parameters = _build_source(query.with_letters_apart)
        return bool(query and self._find_all(f"SELECT row {source} LIMIT 1", parameters))

    def mask_matches(self, query: Query, number: int) -> Bools:
        """Return the mask of matching documents among the first ``number``."""
        separated = query.with_letters_apart
        if separated.fts_expression or separated.filters or not separated.fts_exclusions:
            is_match, rows = True, self.rows(query)
        else:  # few documents have an excluded term; all others match
            sql = "SELECT rowid FROM search WHERE search MATCH ?"
            is_match, rows = False, [row for (row,) in self._find_all(sql, [separated.fts_exclusions])]
        mask = np.full(number, not is_match)
        mask[[row for row in rows if row < number]] = is_match
        return mask

    def check(self) -> None:
        """Raise ``sqlite3.DatabaseError`` unless the index agrees with the texts; FTS5 requires a writer for this."""
        with self.database.transaction():
            # separate letters differ from the texts: then only the index itself is checked
            of_texts = int(not self._has_separate_letters)
            self.database.run("INSERT INTO search (search, rank) VALUES ('integrity-check', ?)", (of_texts,))

    def find_defects(self) -> Iterator[str]:
        """Yield defects that a reader can find: missing documents, and documents that a word does not find."""
        count = self.database.all("SELECT (SELECT count(*) FROM search_docsize), (SELECT count(*) FROM documents)")
        if count and count[0][0] != count[0][1]:
            yield f"the full-text index has {count[0][0]:,} documents, the collection {count[0][1]:,}"
            return
        step = max(1, count[0][1] // N_PROBES) if count else 1
        sample_sql = "SELECT row, substr(text, 1, 1000) FROM texts WHERE row % ? = 0 LIMIT ?"
        for row, text in self.database.all(sample_sql, (step, N_PROBES)):
            word = max(_PROBE.findall(text), key=len, default="")
            sql = "SELECT 1 FROM search WHERE search MATCH ? AND rowid = ?"
            if word and not self.database.all(sql, (f'"{word}"', row)):
                yield f"the full-text index does not find document {row} by its word “{word}”"
                return

    def find_missing(self, query: Query) -> list[str]:
        """Return the words and phrases of a query that no document contains."""
        pairs = zip(query.terms, query.with_letters_apart.terms, strict=True)
        sql = "SELECT 1 FROM search WHERE search MATCH ? LIMIT 1"
        return [
            term.words for term, separated in pairs if not term.exclude and not self._find_all(sql, [separated.match])
        ]

    def values(self, kind: str, column: str = "") -> list[str]:
        """Return the values of a filter that documents have; none for topics and dates."""
        if column:
            return ColumnTable(self.database).values(column)
        if kind not in _VALUES:
            return []
        values = [str(value) for (value,) in self.database.all(_VALUES[kind], (MAX_VALUES,))]
        if kind != "type":
            return values
        names = (value.lower().removesuffix(".gz").rpartition("/")[2] for value in values)
        return [name.rpartition(".")[2] for name in names if "." in name]

    def _find_all(self, sql: str, parameters: list[Any]) -> list[Row]:
        """Return rows; none if FTS5 rejects the query."""
        try:
            return self.database.all(sql, parameters)
        except sqlite3.OperationalError as error:
            if str(error).startswith(("fts5:", "unterminated string", "unknown special query")):
                return []
            raise


def _build_source(query: Query) -> tuple[str, list[Any]]:
    """Return FROM and WHERE of a query, with parameters."""
    parameters: list[Any] = []
    conditions: list[str] = []
    if query.fts_expression:
        table = "(SELECT rowid AS row FROM search WHERE search MATCH ?)"
        parameters.append(query.fts_expression)
    else:
        table = "documents"
        if query.fts_exclusions:
            conditions.append("row NOT IN (SELECT rowid FROM search WHERE search MATCH ?)")
            parameters.append(query.fts_exclusions)
    for item in query.filters:
        condition, values = _build_condition(item, "+found.row" if query.fts_expression else "found.row")
        conditions.append(f"NOT {condition}" if item.exclude else condition)
        parameters += values
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"FROM {table} AS found{where}", parameters


def _build_condition(item: Filter, row: str) -> tuple[str, list[Any]]:
    """Return a filter as SQL. A plus before the row keeps SQLite from asking the index for single rows."""
    fact = "EXISTS (SELECT 1 FROM documents AS d WHERE d.row = found.row AND {})"
    if item.column:
        return column_condition(item, row)
    if item.kind == "tag":
        return f"{row} IN (SELECT row FROM tags WHERE tag = ? COLLATE NOCASE)", [item.value]  # noqa: S608
    if item.kind == "label":
        return f"{row} IN (SELECT row FROM labels WHERE label = ? COLLATE NOCASE)", [item.value]  # noqa: S608
    if item.kind == "type":
        suffix = item.value.lstrip(".").lower()
        return fact.format("(lower(d.source) LIKE ? ESCAPE '\\' OR lower(d.source) LIKE ? ESCAPE '\\')"), [
            f"%.{_escape_like(suffix)}",
            f"%.{_escape_like(suffix)}.gz",
        ]
    if item.kind == "date" and item.value.casefold() == NO_VALUE:
        return fact.format("d.date = ''"), []
    if item.kind == "date":
        test, values = create_span_test("d.date", item.value, DATE)
        return fact.format(test), values
    if item.kind in SIDES:
        test, values = _build_side_test(item.kind, item.value)
        return fact.format(test), values
    return "1", []  # topics and examples are applied by the caller


def _build_side_test(kind: str, date: str) -> tuple[str, list[Any]]:
    """Return the test of a date on one side of a year, month or day, as SQL."""
    limit = get_next_date(date) if kind in ("after", "until") else date
    return "d.date <> '' AND d.date < ?" if kind in ("before", "until") else "d.date >= ?", [limit]


def _escape_like(text: str) -> str:
    """Return a text in which LIKE finds no pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def count_documents_with(database: Database, word: str) -> int:
    """Return the document frequency of a word, without case and accents."""
    if has_unspaced(word):
        return len(Index(database).rows(Query((Term(word, phrase=True),))))
    return database.number("SELECT doc FROM vocabulary WHERE term = ?", (fold_word(word),)) or 0


def list_prefix_forms(database: Database, prefix: str, limit: int) -> list[str]:
    """Return the most frequent words with a prefix, without case and accents."""
    first = fold_word(prefix)
    sql = "SELECT term FROM vocabulary WHERE term >= ? AND term < ? ORDER BY doc DESC, term LIMIT ?"
    return [str(term) for (term,) in database.all(sql, (first, f"{first}\U0010ffff", limit))]
