"""Rows of any table to documents: a sample settles the columns, then every row goes the same way."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from topiarist.text.fields import LONGEST_NAME, LONGEST_VALUE, MOST_VALUES, Cells, is_missing
from topiarist.text.readers.columns import Chosen, Columns, choose
from topiarist.text.readers.items import File, Item, Raw, Reader, Remark, Setting, Trouble
from topiarist.text.readers.lines import is_live

_SAMPLE_ROWS = 1000
_SAMPLE_CHARACTERS = 4_000_000
_MOST_CELLS, _DEEPEST = 1_000, 4  # that are kept of a row, and objects in objects


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: the line it starts on (or its number), and its cells by column.

    The first row of a table should name every column, even where its cell is empty; later ones need not.
    """

    place: int
    cells: dict[str, object]


Told = Row | Trouble | Remark
Rows = Iterator[Told]


def table_reader(rows_of: Callable[[File, Setting], Rows]) -> Reader:
    """A reader of documents from a function that reads rows."""

    def read(file: File, setting: Setting) -> Iterator[Item]:
        name = file.name if file.stream is None else "standard input"
        return items_of_table(rows_of(file, setting), setting, name, live=is_live(file.stream))

    return read


def items_of_table(rows: Rows, setting: Setting, name: str, *, live: bool = False) -> Iterator[Item]:
    """The documents of a table, whose columns its first rows settle."""
    sample = first_of(rows) if live else sample_of(rows)
    if not any(isinstance(row, Row) for row in sample):
        yield from (row for row in sample if not isinstance(row, Row))
        return
    columns = setting.columns
    chosen = settle(columns, sample, name)
    setting.chosen[chosen] += 1
    for row in itertools.chain(sample, rows):
        yield item_from(row, chosen, columns) if isinstance(row, Row) else row


def cell_text(value: object) -> str:
    """A cell as text; a list becomes lines. Raises ValueError where a cell holds an object of its own."""
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


def first_of(rows: Rows) -> list[Told]:
    """What comes up to the first row, where nobody wants to wait for more."""
    sample: list[Told] = []
    for row in rows:
        sample.append(row)
        if isinstance(row, Row):
            break
    return sample


def sample_of(rows: Rows) -> list[Told]:
    """The first rows, fewer when they are long, so that a sample never weighs much."""
    sample: list[Told] = []
    characters = 0
    for row in itertools.islice(rows, _SAMPLE_ROWS):
        sample.append(row)
        if isinstance(row, Row):
            characters += sum(len(cell) for cell in row.cells.values() if isinstance(cell, str))
        if characters > _SAMPLE_CHARACTERS:
            break
    return sample


def settle(columns: Columns, sample: Iterable[Told], source: str, names: Iterable[str] = ()) -> Chosen:
    """The columns of a table, by what was asked for and by the first rows (and by names that are known before)."""
    totals: dict[str, int] = dict.fromkeys(names, 0)
    filled: dict[str, int] = dict.fromkeys(totals, 0)
    for row in sample:
        if not isinstance(row, Row):
            continue
        for name, cell in row.cells.items():
            totals.setdefault(name, 0)
            filled.setdefault(name, 0)
            if isinstance(cell, str) and cell:
                totals[name] += len(cell)
                filled[name] += 1
    lengths = {name: total / filled[name] for name, total in totals.items() if filled[name]}
    return choose(columns, list(totals), lengths, source)


def item_from(row: Row, chosen: Chosen, columns: Columns) -> Raw | Trouble:
    """A row as a document, or why it is none."""
    cells = row.cells
    try:
        return Raw(
            text=cell_text(cells.get(chosen.text)),
            id=cell_text(cells.get(chosen.id)).strip(),
            title=cell_text(cells.get(chosen.title)),
            labels=_labels(cells.get(chosen.label), columns.label_separator),
            date=cell_text(cells.get(chosen.date)).strip(),
            place=row.place,
            columns=further(cells, chosen),
        )
    except ValueError as error:
        wanted = ", ".join(filter(None, (chosen.text, chosen.id, chosen.title, chosen.label, chosen.date)))
        return Trouble(f"expected text in {wanted}, found {error}", row.place)
    except RecursionError:
        return Trouble("lists nested too deeply", row.place)


def further(cells: dict[str, object], chosen: Chosen) -> Cells:
    """The cells beside text, id, title, labels and date: each value by the name of its column, missing ones left out.

    A list is several values; an object in an object is named by the path to it (*author.name*).
    """
    used = {chosen.text, chosen.id, chosen.title, chosen.label, chosen.date}
    found: list[tuple[str, str]] = []
    waiting = [(name, cell, 0) for name, cell in reversed(cells.items()) if name not in used]
    while waiting and len(found) < _MOST_CELLS:
        name, cell, depth = waiting.pop()
        if isinstance(cell, dict):
            if depth < _DEEPEST:
                inner = [(f"{name}.{key}", value, depth + 1) for key, value in cell.items()]
                waiting += reversed(inner[:_MOST_CELLS])
        elif isinstance(cell, list | tuple):
            if depth < _DEEPEST:
                waiting += [(name, value, depth + 1) for value in reversed(cell[: MOST_VALUES + 1])]
        else:
            value = " ".join(cell_text(cell)[: LONGEST_VALUE + 1].split())
            if not is_missing(value):
                found.append((" ".join(str(name)[:LONGEST_NAME].split()), value))
    return tuple(found)


def _labels(cell: object, separator: str) -> tuple[str, ...]:
    """Several labels from a list, from a list written as JSON, or from a divided string; each one once."""
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
