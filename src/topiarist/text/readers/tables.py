"""Documents from the rows of tables; a sample of rows determines the columns."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from topiarist.text.fields import MAX_NAME_LENGTH, MAX_VALUE_LENGTH, MAX_VALUES, Cells, is_missing
from topiarist.text.readers.columns import MIN_REPEATS, SUBJECT, Columns, TableColumns, choose_columns
from topiarist.text.readers.items import File, Item, Raw, Reader, ReadFailure, ReadNote, Setting
from topiarist.text.readers.lines import is_live

_SAMPLE_ROWS = 1000
_SAMPLE_CHARACTERS = 4_000_000
_MAX_CELLS, _MAX_DEPTH = 1_000, 4  # cells of a row, and depth of nested objects


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a table: the line it starts on (or its number), and its cells by column.

    The first row of a table should name every column, even if its cell is empty; later rows need not.
    """

    place: int
    cells: dict[str, object]


TableItem = Row | ReadFailure | ReadNote
Rows = Iterator[TableItem]


def table_reader(rows_of: Callable[[File, Setting], Rows]) -> Reader:
    """Return a reader of documents from a function that reads rows."""

    def read(file: File, setting: Setting) -> Iterator[Item]:
        name = file.name if file.stream is None else "standard input"
        return items_of_table(rows_of(file, setting), setting, name, live=is_live(file.stream))

    return read


def items_of_table(rows: Rows, setting: Setting, name: str, *, live: bool = False) -> Iterator[Item]:
    """Yield the documents of a table; its first rows choose the columns, which the setting keeps."""
    read_rows = read_first_row if live else read_sample
    while not _has_columns(sample := read_rows(rows)):
        if not sample:
            return
        for row in sample:
            yield Raw("", place=row.place, note="the row has no columns") if isinstance(row, Row) else row
    columns = setting.columns
    table_columns = settle_columns(columns, sample, name)
    setting.chosen[table_columns] += 1
    for row in itertools.chain(sample, rows):
        yield create_item(row, table_columns, columns) if isinstance(row, Row) else row


def _has_columns(sample: Iterable[TableItem]) -> bool:
    return any(isinstance(row, Row) and row.cells for row in sample)


def cell_text(value: object) -> str:
    """Return a cell as text; a list becomes lines. ValueError for a nested object."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, map(cell_text, value)))
    if isinstance(value, dict):
        raise ValueError("an object")
    return str(value)


def read_first_row(rows: Rows) -> list[TableItem]:
    """Return the items up to the first row, for a live stream."""
    sample: list[TableItem] = []
    for row in rows:
        sample.append(row)
        if isinstance(row, Row):
            break
    return sample


def read_sample(rows: Rows) -> list[TableItem]:
    """Return the first rows, fewer if they are long."""
    sample: list[TableItem] = []
    characters = 0
    for row in itertools.islice(rows, _SAMPLE_ROWS):
        sample.append(row)
        if isinstance(row, Row):
            characters += sum(len(cell) for cell in row.cells.values() if isinstance(cell, str))
        if characters > _SAMPLE_CHARACTERS:
            break
    return sample


def settle_columns(
    columns: Columns, sample: Iterable[TableItem], source: str, names: Iterable[str] = ()
) -> TableColumns:
    """Return the columns of a table by role, from the requested names and the first rows.

    ``names`` are columns that are known before the first row.
    """
    totals: dict[str, int] = dict.fromkeys(names, 0)
    n_filled: dict[str, int] = dict.fromkeys(totals, 0)
    subjects: dict[str, list[str]] = {}
    for row in sample:
        if not isinstance(row, Row):
            continue
        for name, cell in row.cells.items():
            totals.setdefault(name, 0)
            n_filled.setdefault(name, 0)
            if isinstance(cell, str) and cell:
                totals[name] += len(cell)
                n_filled[name] += 1
                if name.lower() == SUBJECT:
                    subjects.setdefault(name, []).append(cell)
    lengths = {name: total / n_filled[name] for name, total in totals.items() if n_filled[name]}
    repeated = {name for name, cells in subjects.items() if len(cells) >= MIN_REPEATS * len(set(cells))}
    return choose_columns(columns, list(totals), lengths, source, repeated)


def create_item(row: Row, table_columns: TableColumns, columns: Columns) -> Raw | ReadFailure:
    """Return a row as a document, or the reason why it is none."""
    cells = row.cells
    if isinstance(value := cells.get(table_columns.text), int | float) and value == value:  # NaN is an empty cell
        kind = "true or false" if isinstance(value, bool) else "a number"
        return Raw("", place=row.place, note=f"expected text in {table_columns.text}, found {kind}")
    try:
        return Raw(
            text=cell_text(cells.get(table_columns.text)),
            id=cell_text(cells.get(table_columns.id)).strip(),
            title=cell_text(cells.get(table_columns.title)),
            labels=_split_labels(cells.get(table_columns.label), columns.label_separator),
            date=cell_text(cells.get(table_columns.date)).strip(),
            place=row.place,
            columns=collect_columns(cells, table_columns),
        )
    except ValueError as error:
        names = ", ".join(
            filter(
                None,
                (table_columns.text, table_columns.id, table_columns.title, table_columns.label, table_columns.date),
            )
        )
        return ReadFailure(f"expected text in {names}, found {error}", place=row.place)
    except RecursionError:
        return ReadFailure("lists nested too deeply", place=row.place)


def collect_columns(cells: dict[str, object], table_columns: TableColumns) -> Cells:
    """Return the cells of other columns, as names and values without missing values.

    A list is several values; a value of a nested object is named by its path (*author.name*).
    """
    used = {table_columns.text, table_columns.id, table_columns.title, table_columns.label, table_columns.date}
    named_values: list[tuple[str, str]] = []
    pending = [(name, cell, 0) for name, cell in reversed(cells.items()) if name not in used]
    while pending and len(named_values) < _MAX_CELLS:
        name, cell, depth = pending.pop()
        if isinstance(cell, dict):
            if depth < _MAX_DEPTH:
                children = [(f"{name}.{key}", value, depth + 1) for key, value in cell.items()]
                pending += reversed(children[:_MAX_CELLS])
        elif isinstance(cell, list | tuple):
            if depth < _MAX_DEPTH:
                pending += [(name, value, depth + 1) for value in reversed(cell[: MAX_VALUES + 1])]
        else:
            value = " ".join(cell_text(cell)[: MAX_VALUE_LENGTH + 1].split())
            if not is_missing(value):
                named_values.append((" ".join(str(name)[:MAX_NAME_LENGTH].split()), value))
    return tuple(named_values)


def _split_labels(cell: object, separator: str) -> tuple[str, ...]:
    """Return unique labels from a list, a JSON list or a string with separators."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            cell = str(cell)
    if isinstance(cell, list | tuple):
        labels = [cell_text(label) for label in cell]
    else:
        text = cell_text(cell)
        labels = text.split(separator) if separator else [text]
    return tuple(dict.fromkeys(filter(None, (label.strip() for label in labels))))
