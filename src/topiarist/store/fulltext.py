"""Documents by their words, best match first; the conditions of a query (dates, tags, labels) as SQL.

The index is FTS5's, over titles (which count four times) and texts, without case and accents.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.store.column_table import ColumnTable, span_test
from topiarist.store.column_table import condition as column_condition
from topiarist.store.database import Database, Row
from topiarist.store.document_table import letters_are_apart
from topiarist.text.fields import DATE
from topiarist.text.highlights import Pieces, cut, snippet, spots
from topiarist.text.query import NO_VALUE, Filter, Query, Term, folded, has_words, parse
from topiarist.text.spelling import corrections
from topiarist.text.tokens import has_unspaced

ENOUGH = 10_000  # matches to count; beyond that, "at least" will do
SNIPPET = 24  # words
LOOKED_AT = 10_000  # values that one may have been meant for
_VALUES = {
    "tag": "SELECT DISTINCT tag FROM tags LIMIT ?",
    "label": "SELECT DISTINCT label FROM labels LIMIT ?",
    "type": "SELECT DISTINCT source FROM documents LIMIT ?",
}

PROBED = 50  # documents that are looked for by a word of theirs
_PROBE = re.compile(r"(?<![^\s])[A-Za-z]{3,40}(?=\s)")  # words of which every tokeniser makes the same

Within = Collection[int] | Callable[[int], bool]


@dataclass(frozen=True)
class Hit:
    """A document that matches: where, and how well (no better than others, if no word was asked for)."""

    row: int
    score: float
    title: Pieces
    snippet: Pieces


@dataclass(frozen=True)
class Hits:
    """A page of an answer."""

    query: Query
    hits: tuple[Hit, ...]
    total: int
    exact: bool  # or there are at least as many


@dataclass(frozen=True)
class Ranked:
    """All documents that match, the best first."""

    rows: Any
    scores: Any

    def among(self, allowed: Any) -> Ranked:
        """Those that are allowed, which is said for each row."""
        there = allowed[self.rows]
        return Ranked(self.rows[there], self.scores[there])


class Index:
    """The full-text index of a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @cached_property
    def apart(self) -> bool:
        """Whether letters of scripts without spaces are kept one by one; collections of before have whole runs."""
        return letters_are_apart(self.database)

    def _as_indexed(self, query: Query) -> Query:
        return query.with_letters_apart if self.apart else query

    def search(
        self,
        query: Query | str,
        *,
        limit: int = 10,
        offset: int = 0,
        within: Within | None = None,
        enough: int = ENOUGH,
    ) -> Hits:
        """A page of matching documents. ``within`` restricts them: rows, or a function that says whether a row will do.

        Conditions on topics are the caller's, who knows what they are: as ``within``.
        """
        query = parse(query, ColumnTable(self.database).fields()) if isinstance(query, str) else query
        if not query or not limit > 0:
            return Hits(query, (), 0, True)
        source, parameters = _source(self._as_indexed(query), within is not None)
        score = "rank" if query.wanted else "0.0"
        order = f"{score}, row LIMIT ? OFFSET ?"
        with self.database.snapshot(), self._allowed(within):
            page = self._all(f"SELECT row, {score} {source} ORDER BY {order}", [*parameters, limit, offset])
            known = offset + len(page)
            last = len(page) < limit and (page or not offset)
            total = known if last else self._count(source, parameters, enough + 1)
            hits = self._hits(query, ((row, -rank) for row, rank in page))
        if total is None:
            return Hits(query, hits, known, False)
        return Hits(query, hits, *_told(total, known, enough))

    def ranked(self, query: Query) -> Ranked:
        """The rows of all documents that match and how well, the best first: one question for every page of them."""
        found: list[Row] = []
        if query:
            source, parameters = _source(self._as_indexed(query), False)
            found = self._all(f"SELECT row, {'rank' if query.wanted else '0.0'} {source}", parameters)
        rows = np.array([row for row, _ in found], np.int64)
        ranks = np.array([rank for _, rank in found], np.float64)
        order = np.lexsort((rows, ranks))
        return Ranked(rows[order], -ranks[order])

    def page(self, query: Query, ranked: Ranked, limit: int = 10, offset: int = 0) -> Hits:
        """A page of what ``ranked`` has found, or of some of it, as ``search`` gives it."""
        if not query or not limit > 0:
            return Hits(query, (), 0, True)
        here = slice(offset, offset + limit)
        with self.database.snapshot():
            hits = self._hits(query, zip(ranked.rows[here].tolist(), ranked.scores[here].tolist(), strict=True))
        return Hits(query, hits, *_told(len(ranked.rows), offset + len(hits), ENOUGH))

    def rows(self, query: Query | str, *, within: Within | None = None) -> list[int]:
        """The rows of all documents that match, in their order."""
        query = parse(query, ColumnTable(self.database).fields()) if isinstance(query, str) else query
        if not query:
            return []
        source, parameters = _source(self._as_indexed(query), within is not None)
        with self._allowed(within):
            return [row for (row,) in self._all(f"SELECT row {source} ORDER BY row", parameters)]

    def matching(self, query: Query, number: int) -> Any:
        """For each of so many documents whether it matches; one that was added meanwhile is none of them."""
        kept = self._as_indexed(query)
        if kept.wanted or kept.filters or not kept.unwanted:
            wanted, rows = True, self.rows(query)
        else:  # few have what nobody wants, and all others match
            unwanted = "SELECT rowid FROM search WHERE search MATCH ?"
            wanted, rows = False, [row for (row,) in self._all(unwanted, [kept.unwanted])]
        found = np.full(number, not wanted)
        found[[row for row in rows if row < number]] = wanted
        return found

    def check(self) -> None:
        """An error unless the index agrees with the texts; FTS5 only says so to whoever may write."""
        with self.database.transaction():
            # letters that are kept one by one are not what the texts hold: then only the index itself is looked at
            self.database.run("INSERT INTO search (search, rank) VALUES ('integrity-check', ?)", (int(not self.apart),))

    def lost(self) -> Iterator[str]:
        """What the index has lost, as whoever only reads can tell: as many documents as there are, found by a word."""
        count = self.database.all("SELECT (SELECT count(*) FROM search_docsize), (SELECT count(*) FROM documents)")
        if count and count[0][0] != count[0][1]:
            yield f"the full-text index has {count[0][0]:,} documents, the collection {count[0][1]:,}"
            return
        step = max(1, count[0][1] // PROBED) if count else 1
        some = "SELECT row, substr(text, 1, 1000) FROM texts WHERE row % ? = 0 LIMIT ?"
        for row, text in self.database.all(some, (step, PROBED)):
            word = max(_PROBE.findall(text), key=len, default="")
            found = "SELECT 1 FROM search WHERE search MATCH ? AND rowid = ?"
            if word and not self.database.all(found, (f'"{word}"', row)):
                yield f"the full-text index does not find document {row} by its word “{word}”"
                return

    def missing(self, query: Query) -> list[str]:
        """The words and phrases of a query that no document contains at all: candidates for ``suggest``."""
        wanted = zip(query.terms, self._as_indexed(query).terms, strict=True)
        found = "SELECT 1 FROM search WHERE search MATCH ? LIMIT 1"
        return [term.words for term, kept in wanted if not term.exclude and not self._all(found, [kept.match])]

    def suggest(self, word: str, limit: int = 3) -> list[str]:
        """Words of the collection that are spelt nearly so."""
        word = folded(word)
        if not has_words(word) or has_unspaced(word):
            return []
        return corrections(word, self._looked_up, limit)

    def _looked_up(self, letter: str, others: list[str]) -> list[tuple[str, int]]:
        ends = (letter, chr(ord(letter) + 1))
        found = self.database.all("SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ?", ends)
        some = ", ".join("?" * len(others))
        return found + self.database.all(f"SELECT term, doc FROM vocabulary WHERE term IN ({some})", others)  # noqa: S608

    def values(self, kind: str, column: str = "") -> list[str]:
        """What conditions of a kind may ask for, as documents have it; nothing for topics and dates."""
        if column:
            return ColumnTable(self.database).values(column)
        if kind not in _VALUES:
            return []
        values = [str(value) for (value,) in self.database.all(_VALUES[kind], (LOOKED_AT,))]
        if kind != "type":
            return values
        names = (value.lower().removesuffix(".gz").rpartition("/")[2] for value in values)
        return [name.rpartition(".")[2] for name in names if "." in name]

    def _hits(self, query: Query, page: Iterable[tuple[int, float]]) -> tuple[Hit, ...]:
        return tuple(self._hit(query, row, score) for row, score in page)

    def _hit(self, query: Query, row: int, score: float) -> Hit:
        if self.apart:
            return self._hit_by_spots(query, row, score)
        start, end = f"<{secrets.token_hex(8)}>", f"<{secrets.token_hex(8)}>"  # in no text, by all odds
        if query.wanted:
            sql = (
                f"SELECT highlight(search, 0, ?, ?), snippet(search, 1, ?, ?, '…', {SNIPPET}) "  # noqa: S608
                "FROM search WHERE search MATCH ? AND rowid = ?"
            )
            found = self._all(sql, [start, end, start, end, query.wanted, row])
        else:
            found = self.database.all("SELECT title, substr(text, 1, 200) FROM pages WHERE row = ?", (row,))
        title, snippet = found[0]
        return Hit(row, score, _pieces(title, start, end), _pieces(snippet, start, end))

    def _hit_by_spots(self, query: Query, row: int, score: float) -> Hit:
        """A hit with the words marked as they stand in the text, which is not what the index was given."""
        ((title, text),) = self.database.all("SELECT title, text FROM pages WHERE row = ?", (row,))
        return Hit(row, score, cut(title, 0, spots(title, query)), snippet(text, spots(text, query)))

    def _count(self, source: str, parameters: list[Any], most: int) -> int | None:
        """How many there are; None where whoever asked had no more time."""
        sql = f"SELECT count(*) FROM (SELECT 1 {source} LIMIT ?)"  # noqa: S608
        try:
            ((count,),) = self._all(sql, [*parameters, most]) or [(0,)]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            return None
        return int(count)

    def _all(self, sql: str, parameters: list[Any]) -> list[Row]:
        """Rows; none if FTS5 still finds something to object to."""
        try:
            return self.database.all(sql, parameters)
        except sqlite3.OperationalError as error:
            if str(error).startswith(("fts5:", "unterminated string", "unknown special query")):
                return []
            raise

    @contextmanager
    def _allowed(self, within: Within | None) -> Iterator[None]:
        """Let SQL ask whether a row will do."""
        if within is None:
            yield
            return
        allowed = within if callable(within) else frozenset(map(int, within)).__contains__
        faults: list[Exception] = []

        def asked(row: int) -> bool:
            try:
                return bool(allowed(row))
            except Exception as error:
                faults.append(error)
                raise

        connection = self.database.connection
        connection.create_function("allowed", 1, asked)
        try:
            yield
        except sqlite3.OperationalError:
            if faults:
                raise faults[0] from None  # SQLite only says that there was one
            raise
        finally:
            connection.create_function("allowed", 1, None)


def _told(total: int, shown: int, enough: int) -> tuple[int, bool]:
    """How many matches are said to be there, and whether that is all."""
    return (total, True) if total <= enough else (max(enough, shown), False)


def _source(query: Query, restricted: bool) -> tuple[str, list[Any]]:
    """FROM and WHERE of everything that matches, with the parameters; ``row`` is the row."""
    parameters: list[Any] = []
    conditions: list[str] = []
    if query.wanted:
        table = "(SELECT rowid AS row, rank FROM search WHERE search MATCH ?)"
        parameters.append(query.wanted)
    else:
        table = "documents"
        if query.unwanted:
            conditions.append("row NOT IN (SELECT rowid FROM search WHERE search MATCH ?)")
            parameters.append(query.unwanted)
    for item in query.filters:
        condition, values = _condition(item, "+found.row" if query.wanted else "found.row")
        conditions.append(f"NOT {condition}" if item.exclude else condition)
        parameters += values
    if restricted:
        conditions.append("allowed(row)")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"FROM {table} AS found{where}", parameters


def _condition(item: Filter, row: str) -> tuple[str, list[Any]]:
    """A condition in SQL. A plus before the row keeps SQLite from asking the index for one row after the other."""
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
            f"%.{_plain(suffix)}",
            f"%.{_plain(suffix)}.gz",
        ]
    if item.kind == "date" and item.value.casefold() == NO_VALUE:
        return fact.format("d.date = ''"), []
    if item.kind == "date":
        test, values = span_test("d.date", item.value, DATE)
        return fact.format(test), values
    if item.kind == "before":
        return fact.format("d.date <> '' AND d.date < ?"), [item.value]
    if item.kind == "after":
        return fact.format("d.date >= ?"), [item.value]
    return "1", []  # a topic, or a document to be like: the caller's


def _plain(text: str) -> str:
    """Text in which LIKE sees no pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _pieces(marked: str, start: str, end: str) -> Pieces:
    pieces = []
    for part in marked.split(start):
        inside, found, outside = part.partition(end)
        pieces += [(inside, True), (outside, False)] if found else [(part, False)]
    return tuple((text, match) for text, match in pieces if text)


def documents_with(database: Database, word: str) -> int:
    """How many documents have a word, as the index folds it."""
    if has_unspaced(word) and letters_are_apart(database):
        return len(Index(database).rows(Query((Term(word, phrase=True),))))
    return database.number("SELECT doc FROM vocabulary WHERE term = ?", (folded(word),)) or 0
