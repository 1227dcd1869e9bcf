"""Columns: what is known of documents beside their texts, typed once for the collection and searched by value.

``fields`` has a line for each column, ``cells`` the values as they were given, by column and row. ``value`` is what a
query compares: a number, a date in ISO 8601, a category without case and accents; texts have none, and are searched
for what they contain. A collection of an earlier version has no such tables.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from topiarist.store.database import Coded, Database
from topiarist.store.document_table import marks, pieces
from topiarist.text.date_orders import DateOrders
from topiarist.text.dates import AUTO, read_date
from topiarist.text.documents import Document, Problem
from topiarist.text.fields import (
    ALL,
    CATEGORY,
    DATE,
    LONGEST_NAME,
    LONGEST_VALUE,
    MOST,
    MOST_VALUES,
    NONE,
    NUMBER,
    TEXT,
    Field,
    Judged,
    judged,
    key_of,
    number_of,
    number_text,
    span_of,
    wanted,
)
from topiarist.text.fields import LONGEST_CATEGORY as LONGEST_JUDGED
from topiarist.text.query import NO_VALUE, Filter, folded

TABLES = (
    "CREATE TABLE IF NOT EXISTS fields (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, "
    "order_of_dates TEXT NOT NULL DEFAULT '', documents INTEGER NOT NULL DEFAULT 0, "
    "different INTEGER NOT NULL DEFAULT 0, unread INTEGER NOT NULL DEFAULT 0, cut INTEGER NOT NULL DEFAULT 0, "
    "first TEXT NOT NULL DEFAULT '', last TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '')",
    "CREATE TABLE IF NOT EXISTS cells (field INTEGER NOT NULL REFERENCES fields, row INTEGER NOT NULL "
    "REFERENCES documents, place INTEGER NOT NULL, text TEXT NOT NULL, value, PRIMARY KEY (field, row, place)) "
    "WITHOUT ROWID",
)
INDEX = "CREATE INDEX IF NOT EXISTS cells_by_value ON cells (field, value, row) WHERE value IS NOT NULL"
_FIELD = "SELECT name, kind, documents, different, unread, first, last, note FROM fields"
EXAMPLE = "such as"  # a note says so before a value
SHOWN = 200  # values of a column that one may have been meant for


class ColumnTable:
    """The columns in a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def create(self) -> None:
        """Make the tables where there are none yet."""
        for statement in TABLES:
            self.database.run(statement)

    def fields(self) -> tuple[Field, ...]:
        """The columns in the order in which they were met; a kind is known when all documents are in."""
        if not self._there:
            return ()
        read = self.database.all(f"{_FIELD} WHERE kind <> '' ORDER BY number")
        return tuple(Field(*row) for row in read)

    def of(self, rows: Iterable[int]) -> dict[int, dict[str, list[str]]]:
        """The values of some documents by column, as they were given; columns in their order."""
        found: dict[int, dict[str, list[str]]] = defaultdict(dict)
        if not self._there:
            return found
        known = self.database.all("SELECT number, name FROM fields WHERE kind <> '' ORDER BY number")
        names: dict[int, str] = dict(known)
        for piece in pieces(sorted({int(row) for row in rows})):
            sql = (
                f"SELECT field, row, text FROM cells WHERE field IN ({marks([*names])}) "  # noqa: S608
                f"AND row IN ({marks(piece)}) ORDER BY field, row, place"
            )
            for number, row, text in self.database.all(sql, [*names, *piece]):
                found[row].setdefault(names[number], []).append(text)
        return found

    def typed(self, rows: Iterable[int]) -> dict[int, dict[str, list[Any]]]:
        """As ``of``, but numbers as numbers and dates in ISO 8601; what could not be read is None."""
        found: dict[int, dict[str, list[Any]]] = defaultdict(dict)
        if not self._there:
            return found
        known = self.database.all("SELECT number, name, kind FROM fields WHERE kind <> '' ORDER BY number")
        kinds = {number: (name, kind in (NUMBER, DATE)) for number, name, kind in known}
        for piece in pieces(sorted({int(row) for row in rows})):
            sql = (
                f"SELECT field, row, text, value FROM cells WHERE field IN ({marks([*kinds])}) "  # noqa: S608
                f"AND row IN ({marks(piece)}) ORDER BY field, row, place"
            )
            for number, row, text, value in self.database.all(sql, [*kinds, *piece]):
                name, compared = kinds[number]
                found[row].setdefault(name, []).append(value if compared else text)
        return found

    def add(self, batch: Iterable[tuple[int, Document]], asked: str = ALL) -> None:
        """Keep the cells of documents as they are given; their kinds are settled when all are there."""
        if asked == NONE:
            return
        numbers: dict[str, int] = dict(self.database.all("SELECT name, number FROM fields"))
        closed = asked != ALL and self.database.one("SELECT 1 FROM fields WHERE kind <> ''") is not None
        keys = {key_of(name): name for name in numbers}
        cells, cut, many = [], defaultdict[str, int](int), defaultdict[str, int](int)
        for row, document in batch:
            places: dict[str, int] = defaultdict(int)
            for given, text in document.columns:
                name = keys.setdefault(key_of(given), given[:LONGEST_NAME])
                if name not in numbers:
                    if closed:  # somebody chose the columns when the collection was grown
                        continue
                    numbers[name] = max(numbers.values(), default=0) + 1
                if places[name] >= MOST_VALUES or numbers[name] > MOST:
                    many[name] += numbers[name] <= MOST
                    continue
                cut[name] += len(text) > LONGEST_VALUE
                cells.append((numbers[name], row, places[name], text[:LONGEST_VALUE]))
                places[name] += 1
        known = [(number, name) for name, number in numbers.items() if number <= MOST + 1]
        self.database.run_many("INSERT OR IGNORE INTO fields (number, name, kind) VALUES (?, ?, '')", known)
        self.database.run_many("INSERT INTO cells (field, row, place, text) VALUES (?, ?, ?, ?)", cells)
        lost = [(cut[name] + many[name], name) for name in {*cut, *many} if cut[name] or many[name]]
        self.database.run_many("UPDATE fields SET cut = cut + ? WHERE name = ?", lost)

    def add_category(self, name: str, values: Iterable[tuple[int, str]]) -> bool:
        """A further column that was found out, by row; whether it was added: one that the documents bring stays."""
        self.create()
        known = self.database.all("SELECT number, name FROM fields")
        number = max((number for number, _ in known), default=0) + 1
        if number > MOST or key_of(name) in {key_of(other) for _, other in known}:
            return False
        self.database.run("INSERT INTO fields (number, name, kind) VALUES (?, ?, ?)", (number, name, CATEGORY))
        rows = ((number, row, text, folded(text)) for row, text in values)
        self.database.run_many("INSERT INTO cells (field, row, place, text, value) VALUES (?, ?, 0, ?, ?)", rows)
        self._count(number, name, CATEGORY)
        self.database.run(INDEX)
        return True

    def settle(self, start: int = 0, *, asked: str = ALL, dates: str = AUTO) -> list[Problem]:
        """Settle the kinds of new columns, and what queries compare of the documents from a row on."""
        known = self.database.all("SELECT number, name, kind FROM fields ORDER BY number")
        problems = []
        if len(known) > MOST:
            problems.append(Problem("columns", f"there are more than {MOST} columns: the first {MOST} are kept"))
            self.database.run("DELETE FROM fields WHERE number > ?", (MOST,))
            known = known[:MOST]
        kept = wanted(asked, [name for _, name, _ in known]) if not start else None
        for number, name, kind in known:
            if kept is not None and name not in kept:
                self.database.run("DELETE FROM cells WHERE field = ?", (number,))
                self.database.run("DELETE FROM fields WHERE number = ?", (number,))
                continue
            kind = kind or self._judge(number, name, dates)
            undecided = self._compare(number, kind, start, dates)
            problems += [Problem(f"column {name}", undecided)] if undecided else []
            problems += self._count(number, name, kind)
        self.database.run(INDEX)
        return problems

    def count_again(self) -> None:
        """Tell of each column what its documents have now; columns that none has any more are gone."""
        if not self._there:
            return
        self.database.run("DELETE FROM fields WHERE number NOT IN (SELECT field FROM cells)")
        known = self.database.all("SELECT number, name, kind, note FROM fields WHERE kind <> ''")
        for number, name, kind, note in known:
            self._count(number, name, kind)
            if EXAMPLE in note:  # which may be of a document that is gone
                found = self._judged(number, name, AUTO)
                said = found.note if found.kind == kind else ""
                self.database.run("UPDATE fields SET note = ? WHERE number = ?", (said, number))

    def clear(self) -> None:
        """Forget all cells."""
        if self._there:
            self.database.run("DELETE FROM cells")
            self.database.run("DELETE FROM fields")

    def several(self) -> frozenset[str]:
        """The columns of which a document may have several values."""
        if not self._there:
            return frozenset()
        sql = "SELECT name FROM fields WHERE EXISTS (SELECT 1 FROM cells WHERE field = number AND place > 0)"
        return frozenset(name for (name,) in self.database.all(sql))

    def coded(self, name: str) -> Coded:
        """Every value of a column with the row of its document, as it was given, as numbers."""
        sql = "SELECT row, text FROM cells JOIN fields ON number = field WHERE name = ? ORDER BY row, place"
        return self.database.coded(sql, (name,))

    def values(self, name: str) -> list[str]:
        """Categories of a column, as documents have them."""
        sql = "SELECT DISTINCT text FROM cells JOIN fields ON number = field WHERE name = ? AND kind = ? LIMIT ?"
        return [text for (text,) in self.database.all(sql, (name, CATEGORY, SHOWN))]

    def sizes(self, name: str) -> dict[str, int]:
        """How many documents have each category of a column."""
        sql = "SELECT min(text), count(DISTINCT row) FROM cells JOIN fields ON number = field WHERE name = ?"
        return dict(self.database.all(f"{sql} GROUP BY value", (name,))) if self._there else {}

    def counts_among(self, rows: Iterable[int]) -> dict[str, list[tuple[Any, int]]]:
        """How many of some documents have each value of each column that is no text: by what queries compare.

        Categories come as they are written; a month stands for the dates in it. The documents are looked up one by one:
        left to itself, SQLite would go through all values of a column.
        """
        if not self._there:
            return {}
        among = json.dumps([int(row) for row in rows])
        sql = (
            "SELECT {}, count(DISTINCT c.row) FROM json_each(?) AS one CROSS JOIN cells AS c "
            "ON c.field = ? AND c.row = one.value WHERE c.value IS NOT NULL GROUP BY {}"
        )
        shown = {
            CATEGORY: ("min(c.text)", "c.value"), NUMBER: ("c.value", "c.value"),
            DATE: ("substr(c.value, 1, 7)", "1"),
        }  # fmt: skip
        known = self.database.all("SELECT number, name, kind FROM fields WHERE kind IN (?, ?, ?)", tuple(shown))
        return {name: self.database.all(sql.format(*shown[kind]), (among, number)) for number, name, kind in known}

    @property
    def _there(self) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cells'"
        return self.database.one(sql) is not None

    def _judge(self, number: int, name: str, dates: str) -> str:
        """The kind of a new column, by all of its values."""
        found = self._judged(number, name, dates)
        self.database.run(
            "UPDATE fields SET kind = ?, order_of_dates = ?, note = ? WHERE number = ?",
            (found.kind, found.order, found.note, number),
        )
        return found.kind

    def _judged(self, number: int, name: str, dates: str) -> Judged:
        sql = "SELECT text, count(*) FROM cells WHERE field = ? AND length(text) <= ? GROUP BY text"
        longer = self.database.one(
            "SELECT count(*) FROM cells WHERE field = ? AND length(text) > ?", (number, LONGEST_JUDGED)
        )
        values = self.database.all(sql, (number, LONGEST_JUDGED))
        return judged(name, values, int(longer[0]) if longer else 0, lambda: self._orders(number, 0, dates))

    def _orders(self, number: int, start: int, asked: str) -> DateOrders:
        """What the dates of each source that brings documents from a row on say of day and month, in a column.

        Of a source that has brought some before, those count as well; documents without a source have nothing before.
        """
        orders = DateOrders(asked)
        sql = (
            "SELECT source, text, count(*) FROM cells JOIN documents USING (row) WHERE field = ? AND length(text) <= ? "
            "AND (row >= ? OR source <> '' AND source IN (SELECT source FROM documents WHERE row >= ?)) GROUP BY 1, 2"
        )
        for source, text, times in self.database.all(sql, (number, LONGEST_JUDGED, start, start)):
            orders.see(source, read_date(text), text, times)
        return orders

    def _compare(self, number: int, kind: str, start: int, dates: str) -> str:
        """What queries compare, for each different value once; dates in figures as their source has them.

        Says which dates are not read, for nothing tells what comes first in them.
        """
        if kind == TEXT:
            return ""
        texts = self.database.all("SELECT DISTINCT text FROM cells WHERE field = ? AND row >= ?", (number, start))
        self.database.run("CREATE TEMP TABLE IF NOT EXISTS compared (text TEXT PRIMARY KEY, value)")
        self.database.run("DELETE FROM temp.compared")
        known = ((text, _value(text, kind)) for (text,) in texts)
        self.database.run_many("INSERT INTO temp.compared VALUES (?, ?)", known)
        self.database.run(
            "UPDATE cells SET value = (SELECT c.value FROM temp.compared AS c WHERE c.text = cells.text) "
            "WHERE field = ? AND row >= ?",
            (number, start),
        )
        self.database.run("DROP TABLE temp.compared")
        if kind != DATE or not any(_in_figures(text) for (text,) in texts):
            return ""
        orders = self._orders(number, start, dates)
        self._compare_figures(number, start, orders)
        return orders.undecided_said

    def _compare_figures(self, number: int, start: int, orders: DateOrders) -> None:
        """Dates that need an order of day and month, by that of their source."""
        sql = "SELECT row, place, source, text FROM cells JOIN documents USING (row) WHERE field = ? AND row >= ?"
        read = (
            (read_date(text).by(orders.of(source)) or None, number, row, place)
            for row, place, source, text in self.database.all(sql, (number, start))
            if _in_figures(text)
        )
        self.database.run_many("UPDATE cells SET value = ? WHERE field = ? AND row = ? AND place = ?", read)

    def _count(self, number: int, name: str, kind: str) -> list[Problem]:
        """How the values of a column are spread, for people; and what is lost of it."""
        sql = "SELECT count(DISTINCT row), count(DISTINCT text), sum(value IS NULL), min(value), max(value) FROM cells "
        documents, different, empty, first, last = self.database.all(f"{sql} WHERE field = ?", (number,))[0]
        unread = int(empty or 0) if kind in (NUMBER, DATE) else 0
        first, last = (_shown(end, kind) for end in (first, last))
        self.database.run(
            "UPDATE fields SET documents = ?, different = ?, unread = ?, first = ?, last = ? WHERE number = ?",
            (documents, different, unread, first, last, number),
        )
        ((cut, note),) = self.database.all("SELECT cut, note FROM fields WHERE number = ?", (number,))
        problems = []
        if unread:
            problems.append(Problem(f"column {name}", f"{unread:,} value{' is' if unread == 1 else 's are'} no {kind}"))
        if cut:
            many = "1 value was" if cut == 1 else f"{cut:,} values were"
            said = f"{many} cut: {LONGEST_VALUE:,} characters and {MOST_VALUES} values in a cell are kept"
            problems.append(Problem(f"column {name}", said))
        if kind == TEXT and note:
            problems.append(Problem(f"column {name}", note))
        return problems


def condition(item: Filter, row: str) -> tuple[str, list[Any]]:
    """A condition on a column in SQL, and its parameters."""
    cells = "SELECT row FROM cells WHERE field = (SELECT number FROM fields WHERE name = ?) AND {}"
    if item.value.casefold() == NO_VALUE:
        return _without(item, row)
    test, values = _test(item)
    return f"{row} IN ({cells.format(test)})", [item.column, *values]


def _without(item: Filter, row: str) -> tuple[str, list[Any]]:
    """Documents that have nothing in a column; those that have the word itself there, where any has."""
    own = "SELECT row FROM cells WHERE field = (SELECT number FROM fields WHERE name = ?)"
    if item.of not in (CATEGORY, TEXT):
        return f"{row} NOT IN ({own})", [item.column]
    word = f"{own} AND folded(text) = ?"
    test = f"CASE WHEN EXISTS ({word}) THEN {row} IN ({word}) ELSE {row} NOT IN ({own}) END"
    return test, [item.column, NO_VALUE, item.column, NO_VALUE, item.column]


def span_test(column: str, value: str, kind: str) -> tuple[str, list[Any]]:
    """What somebody typed for a number or a date, as a condition in SQL on a column of a table."""
    span = span_of(value, kind)
    if span is None:
        return "0", []
    tests, values = [f"{column} <> ''" if kind == DATE else f"{column} IS NOT NULL"], list[Any]()
    for end, sign in ((span.low, ">" if span.above else ">="), (span.high, "<" if span.below else "<=")):
        if end is not None:
            tests.append(f"{column} {sign} ?")
            values.append(end)
    return f"({' AND '.join(tests)})", values


def _test(item: Filter) -> tuple[str, list[Any]]:
    if item.of in (NUMBER, DATE):
        return span_test("value", item.value, item.of)
    asked = folded(item.value)
    if item.of == CATEGORY:
        if asked.endswith("*") and len(asked) > 1:
            return "value >= ? AND value < ?", [asked[:-1], asked[:-1] + "\U0010ffff"]
        whole = "SELECT 1 FROM cells AS c WHERE c.field = cells.field AND c.value = ?"
        return f"(value = ? OR instr(value, ?) AND NOT EXISTS ({whole}))", [asked, asked, asked]
    return "instr(folded(text), ?)", [asked.rstrip("*")]


def _value(text: str, kind: str) -> float | str | None:
    if kind == NUMBER:
        return number_of(text)
    return (read_date(text).iso or None) if kind == DATE else folded(text)


def _in_figures(text: str) -> bool:
    """Whether a date needs to be told what comes first, the day or the month."""
    read = read_date(text)
    return bool(read) and not read.iso


def _shown(end: Any, kind: str) -> str:
    if end is None or kind not in (NUMBER, DATE):
        return ""
    return number_text(end) if kind == NUMBER else str(end)
