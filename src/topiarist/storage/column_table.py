"""Columns of documents, with kinds that are set once for the collection, and their conditions in queries.

``fields`` has a row for each column, ``cells`` the values of the source by column and row. Queries compare ``value``: a
number, a date in ISO 8601, or a category without case and accents. Texts have no ``value``; queries search them for
substrings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from topiarist.storage.database import CodedTexts, Database, encode_list
from topiarist.storage.schema import CELL_INDEX
from topiarist.text.date_orders import DateOrders
from topiarist.text.dates import AUTO, read_date
from topiarist.text.documents import Document, Problem
from topiarist.text.fields import (
    ALL,
    CATEGORY,
    DATE,
    MAX_COLUMNS,
    MAX_NAME_LENGTH,
    MAX_VALUE_LENGTH,
    MAX_VALUES,
    NONE,
    NUMBER,
    TEXT,
    ColumnKind,
    Field,
    column_key,
    format_number,
    judge_column,
    parse_number,
    parse_span,
    select_columns,
)
from topiarist.text.fields import MAX_CATEGORY_LENGTH as LONGEST_JUDGED
from topiarist.text.query import NO_VALUE, Filter, fold_word

_FIELD = "SELECT name, kind, documents, different, unread, first, last, note FROM fields"
_CELLS = (  # CROSS JOIN: the primary key of cells begins with the column
    "SELECT row, name, {} FROM fields CROSS JOIN cells ON field = number "
    "WHERE kind <> '' AND row IN (SELECT value FROM json_each(?)) ORDER BY field, row, place"
)
EXAMPLE_MARK = "such as"  # precedes a value in a note
MAX_SHOWN_VALUES = 200  # values of a column for suggestions


class ColumnTable:
    """Columns in the database of a collection."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def fields(self) -> tuple[Field, ...]:
        """Return the columns in order; the kind of a column is known after all documents are added."""
        read = self.database.all(f"{_FIELD} WHERE kind <> '' ORDER BY number")
        return tuple(Field(*row) for row in read)

    def of(self, rows: Iterable[int]) -> dict[int, dict[str, list[str]]]:
        """Return the stored texts of documents, by row and column name."""
        return self._collect(_CELLS.format("text"), rows)

    def typed(self, rows: Iterable[int]) -> dict[int, dict[str, list[Any]]]:
        """Return values as ``of``, with numbers as numbers and dates in ISO 8601; None for unread values."""
        return self._collect(_CELLS.format(f"CASE WHEN kind IN ('{NUMBER}', '{DATE}') THEN value ELSE text END"), rows)

    def _collect(self, sql: str, rows: Iterable[int]) -> dict[int, dict[str, list[Any]]]:
        values: dict[int, dict[str, list[Any]]] = defaultdict(dict)
        for row, name, value in self.database.all(sql, (encode_list(rows),)):
            values[row].setdefault(name, []).append(value)
        return values

    def add(self, batch: Iterable[tuple[int, Document]], requested: str = ALL) -> None:
        """Store the cells of documents as in the source; ``set_kinds`` determines their kinds later."""
        if requested == NONE:
            return
        numbers: dict[str, int] = dict(self.database.all("SELECT name, number FROM fields"))
        is_fixed = requested != ALL and self.database.fetch_one("SELECT 1 FROM fields WHERE kind <> ''") is not None
        keys = {column_key(name): name for name in numbers}
        cells, n_cut, n_dropped = [], defaultdict[str, int](int), defaultdict[str, int](int)
        for row, document in batch:
            places: dict[str, int] = defaultdict(int)
            for name_given, text in document.columns:
                name = keys.setdefault(column_key(name_given), name_given[:MAX_NAME_LENGTH])
                if name not in numbers:
                    if is_fixed:  # the collection has a fixed set of columns
                        continue
                    numbers[name] = max(numbers.values(), default=0) + 1
                if places[name] >= MAX_VALUES or numbers[name] > MAX_COLUMNS:
                    n_dropped[name] += numbers[name] <= MAX_COLUMNS
                    continue
                n_cut[name] += len(text) > MAX_VALUE_LENGTH
                cells.append((numbers[name], row, places[name], text[:MAX_VALUE_LENGTH]))
                places[name] += 1
        columns = [(number, name) for name, number in numbers.items() if number <= MAX_COLUMNS + 1]
        self.database.run_many("INSERT OR IGNORE INTO fields (number, name, kind) VALUES (?, ?, '')", columns)
        self.database.run_many("INSERT INTO cells (field, row, place, text) VALUES (?, ?, ?, ?)", cells)
        removed_values = [
            (n_cut[name] + n_dropped[name], name) for name in {*n_cut, *n_dropped} if n_cut[name] or n_dropped[name]
        ]
        self.database.run_many("UPDATE fields SET cut = cut + ? WHERE name = ?", removed_values)

    def add_category(self, name: str, values: Iterable[tuple[int, str]]) -> bool:
        """Add a detected column; return False if the name exists or ``MAX_COLUMNS`` are stored."""
        columns = self.database.all("SELECT number, name FROM fields")
        number = max((number for number, _ in columns), default=0) + 1
        if number > MAX_COLUMNS or column_key(name) in {column_key(other) for _, other in columns}:
            return False
        self.database.run("INSERT INTO fields (number, name, kind) VALUES (?, ?, ?)", (number, name, CATEGORY))
        rows = ((number, row, text, fold_word(text)) for row, text in values)
        self.database.run_many("INSERT INTO cells (field, row, place, text, value) VALUES (?, ?, 0, ?, ?)", rows)
        self._update_summary(number, name, CATEGORY)
        self.database.run(CELL_INDEX)
        return True

    def set_kinds(self, start: int = 0, *, kind_option: str = ALL, dates: str = AUTO) -> list[Problem]:
        """Determine the kinds of new columns, and the values for queries of documents from a row on."""
        columns = self.database.all("SELECT number, name, kind FROM fields ORDER BY number")
        problems = []
        if len(columns) > MAX_COLUMNS:
            problems.append(
                Problem("columns", f"there are more than {MAX_COLUMNS} columns: the first {MAX_COLUMNS} are kept")
            )
            self.database.run("DELETE FROM fields WHERE number > ?", (MAX_COLUMNS,))
            columns = columns[:MAX_COLUMNS]
        selected = select_columns(kind_option, [name for _, name, _ in columns]) if not start else None
        for number, name, kind in columns:
            if selected is not None and name not in selected:
                self.database.run("DELETE FROM cells WHERE field = ?", (number,))
                self.database.run("DELETE FROM fields WHERE number = ?", (number,))
                continue
            kind = kind or self._set_kind(number, name, dates)
            note = self._fill_values(number, kind, start, dates)
            problems += [Problem(f"column {name}", note)] if note else []
            problems += self._update_summary(number, name, kind)
        self.database.run(CELL_INDEX)
        return problems

    def count_again(self) -> None:
        """Update the summary of each column and delete columns without values."""
        self.database.run("DELETE FROM fields WHERE number NOT IN (SELECT field FROM cells)")
        columns = self.database.all("SELECT number, name, kind, note FROM fields WHERE kind <> ''")
        for number, name, kind, note in columns:
            self._update_summary(number, name, kind)
            if EXAMPLE_MARK in note:  # the example can be from a removed document
                column_kind = self._judge_values(number, name, AUTO)
                new_note = column_kind.note if column_kind.kind == kind else ""
                self.database.run("UPDATE fields SET note = ? WHERE number = ?", (new_note, number))

    def list_multivalued(self) -> frozenset[str]:
        """Return the columns that can have several values per document."""
        sql = "SELECT name FROM fields WHERE EXISTS (SELECT 1 FROM cells WHERE field = number AND place > 0)"
        return frozenset(name for (name,) in self.database.all(sql))

    def read_codes(self, name: str) -> CodedTexts:
        """Return all values of a column with the rows of their documents."""
        sql = "SELECT row, text FROM cells JOIN fields ON number = field WHERE name = ? ORDER BY row, place"
        return self.database.read_codes(sql, (name,))

    def values(self, name: str) -> list[str]:
        """Return the different categories of a column, at most ``MAX_SHOWN_VALUES``."""
        sql = "SELECT DISTINCT text FROM cells JOIN fields ON number = field WHERE name = ? AND kind = ? LIMIT ?"
        return [text for (text,) in self.database.all(sql, (name, CATEGORY, MAX_SHOWN_VALUES))]

    def sizes(self, name: str) -> dict[str, int]:
        """Return the number of documents of each category of a column."""
        sql = "SELECT min(text), count(DISTINCT row) FROM cells JOIN fields ON number = field WHERE name = ?"
        return dict(self.database.all(f"{sql} GROUP BY value", (name,)))

    def counts_among(self, rows: Iterable[int]) -> dict[str, list[tuple[Any, int]]]:
        """Return the number of given documents with each value of each column that is no text.

        Categories are shown as in the source; dates are grouped by month. The documents are joined one by one: SQLite
        alone would scan all values of a column.
        """
        row_list = encode_list(rows)
        sql = (
            "SELECT {}, count(DISTINCT c.row) FROM json_each(?) AS one CROSS JOIN cells AS c "
            "ON c.field = ? AND c.row = one.value WHERE c.value IS NOT NULL GROUP BY {}"
        )
        selects = {
            CATEGORY: ("min(c.text)", "c.value"), NUMBER: ("c.value", "c.value"),
            DATE: ("substr(c.value, 1, 7)", "1"),
        }  # fmt: skip
        columns = self.database.all("SELECT number, name, kind FROM fields WHERE kind IN (?, ?, ?)", tuple(selects))
        return {
            name: self.database.all(sql.format(*selects[kind]), (row_list, number)) for number, name, kind in columns
        }

    def _set_kind(self, number: int, name: str, dates: str) -> str:
        """Store and return the kind of a new column, from all of its values."""
        column_kind = self._judge_values(number, name, dates)
        self.database.run(
            "UPDATE fields SET kind = ?, order_of_dates = ?, note = ? WHERE number = ?",
            (column_kind.kind, column_kind.order, column_kind.note, number),
        )
        return column_kind.kind

    def _judge_values(self, number: int, name: str, dates: str) -> ColumnKind:
        """Return the kind of a stored column by its values."""
        sql = "SELECT text, count(*) FROM cells WHERE field = ? AND length(text) <= ? GROUP BY text"
        longer = self.database.fetch_one(
            "SELECT count(*) FROM cells WHERE field = ? AND length(text) > ?", (number, LONGEST_JUDGED)
        )
        values = self.database.all(sql, (number, LONGEST_JUDGED))
        return judge_column(name, values, int(longer[0]) if longer else 0, lambda: self._read_orders(number, 0, dates))

    def _read_orders(self, number: int, start: int, requested: str) -> DateOrders:
        """Return the order of day and month of each source of documents from a row on, in one column.

        Earlier documents of these sources count as well.
        """
        orders = DateOrders(requested)
        sql = (
            "SELECT source, text, count(*) FROM cells JOIN documents USING (row) WHERE field = ? AND length(text) <= ? "
            "AND (row >= ? OR source <> '' AND source IN (SELECT source FROM documents WHERE row >= ?)) GROUP BY 1, 2"
        )
        for source, text, times in self.database.all(sql, (number, LONGEST_JUDGED, start, start)):
            orders.add(source, read_date(text), text, times)
        return orders

    def _fill_values(self, number: int, kind: str, start: int, dates: str) -> str:
        """Store the values for queries, once for each different text.

        Return a sentence on dates without a known order.
        """
        if kind == TEXT:
            return ""
        texts = self.database.all("SELECT DISTINCT text FROM cells WHERE field = ? AND row >= ?", (number, start))
        self.database.run("CREATE TEMP TABLE IF NOT EXISTS compared (text TEXT PRIMARY KEY, value)")
        self.database.run("DELETE FROM temp.compared")
        parsed = ((text, _parse_value(text, kind)) for (text,) in texts)
        self.database.run_many("INSERT INTO temp.compared VALUES (?, ?)", parsed)
        self.database.run(
            "UPDATE cells SET value = (SELECT c.value FROM temp.compared AS c WHERE c.text = cells.text) "
            "WHERE field = ? AND row >= ?",
            (number, start),
        )
        self.database.run("DROP TABLE temp.compared")
        if kind != DATE or not any(_needs_order(text) for (text,) in texts):
            return ""
        orders = self._read_orders(number, start, dates)
        self._fill_ambiguous_dates(number, start, orders)
        return orders.describe_unread()

    def _fill_ambiguous_dates(self, number: int, start: int, orders: DateOrders) -> None:
        """Store the dates of a column whose day and month depend on the order of their source."""
        sql = "SELECT row, place, source, text FROM cells JOIN documents USING (row) WHERE field = ? AND row >= ?"
        read = (
            (read_date(text).resolve(orders.get_order(source)) or None, number, row, place)
            for row, place, source, text in self.database.all(sql, (number, start))
            if _needs_order(text)
        )
        self.database.run_many("UPDATE cells SET value = ? WHERE field = ? AND row = ? AND place = ?", read)

    def _update_summary(self, number: int, name: str, kind: str) -> list[Problem]:
        """Update the summary of a column and return problems with its values."""
        sql = "SELECT count(DISTINCT row), count(DISTINCT text), sum(value IS NULL), min(value), max(value) FROM cells "
        documents, different, empty, first, last = self.database.all(f"{sql} WHERE field = ?", (number,))[0]
        unread = int(empty or 0) if kind in (NUMBER, DATE) else 0
        first, last = (_format_end(end, kind) for end in (first, last))
        self.database.run(
            "UPDATE fields SET documents = ?, different = ?, unread = ?, first = ?, last = ? WHERE number = ?",
            (documents, different, unread, first, last, number),
        )
        ((cut, note),) = self.database.all("SELECT cut, note FROM fields WHERE number = ?", (number,))
        problems = []
        if unread:
            problems.append(Problem(f"column {name}", f"{unread:,} value{' is' if unread == 1 else 's are'} no {kind}"))
        if cut:
            values = "1 value was" if cut == 1 else f"{cut:,} values were"
            reason = f"{values} cut: {MAX_VALUE_LENGTH:,} characters and {MAX_VALUES} values in a cell are kept"
            problems.append(Problem(f"column {name}", reason))
        if kind == TEXT and note:
            problems.append(Problem(f"column {name}", note))
        return problems


def create_condition(item: Filter, row: str) -> tuple[str, list[Any]]:
    """Return a condition on a column as SQL, with its parameters."""
    cells = "SELECT row FROM cells WHERE field = (SELECT number FROM fields WHERE name = ?) AND {}"
    if item.value.casefold() == NO_VALUE:
        return _create_missing_condition(item, row)
    test, values = _create_test(item)
    return f"{row} IN ({cells.format(test)})", [item.column, *values]


def _create_missing_condition(item: Filter, row: str) -> tuple[str, list[Any]]:
    """Return the condition for documents without a value, or with the word itself if any document has it."""
    rows_with_value = "SELECT row FROM cells WHERE field = (SELECT number FROM fields WHERE name = ?)"
    if item.of not in (CATEGORY, TEXT):
        return f"{row} NOT IN ({rows_with_value})", [item.column]
    word = f"{rows_with_value} AND folded(text) = ?"
    test = f"CASE WHEN EXISTS ({word}) THEN {row} IN ({word}) ELSE {row} NOT IN ({rows_with_value}) END"
    return test, [item.column, NO_VALUE, item.column, NO_VALUE, item.column]


def create_span_test(column: str, value: str, kind: str) -> tuple[str, list[Any]]:
    """Return the range that a user typed as a condition in SQL on a column of a table."""
    span = parse_span(value, kind)
    if span is None:
        return "0", []
    tests, values = [f"{column} <> ''" if kind == DATE else f"{column} IS NOT NULL"], list[Any]()
    for end, sign in ((span.low, ">" if span.excludes_low else ">="), (span.high, "<" if span.excludes_high else "<=")):
        if end is not None:
            tests.append(f"{column} {sign} ?")
            values.append(end)
    return f"({' AND '.join(tests)})", values


def _create_test(item: Filter) -> tuple[str, list[Any]]:
    """Return the SQL condition of a filter on a column, and its parameters."""
    if item.of in (NUMBER, DATE):
        return create_span_test("value", item.value, item.of)
    folded_value = fold_word(item.value)
    if item.of == CATEGORY:
        if folded_value.endswith("*") and len(folded_value) > 1:
            return "value >= ? AND value < ?", [folded_value[:-1], folded_value[:-1] + "\U0010ffff"]
        exact = "SELECT 1 FROM cells AS c WHERE c.field = cells.field AND c.value = ?"
        return f"(value = ? OR instr(value, ?) AND NOT EXISTS ({exact}))", [folded_value, folded_value, folded_value]
    return "instr(folded(text), ?)", [folded_value.rstrip("*")]


def _parse_value(text: str, kind: str) -> float | str | None:
    if kind == NUMBER:
        return parse_number(text)
    return (read_date(text).iso or None) if kind == DATE else fold_word(text)


def _needs_order(text: str) -> bool:
    """Return whether day and month of a date are ambiguous."""
    read = read_date(text)
    return bool(read) and (not read.iso or read.has_short_year)


def _format_end(end: Any, kind: str) -> str:
    if end is None or kind not in (NUMBER, DATE):
        return ""
    return format_number(end) if kind == NUMBER else str(end)
