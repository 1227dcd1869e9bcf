"""Tables for spreadsheets, in which no cell is ever run as a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what spreadsheets take for the beginning of a formula, or skip


def safe_cell(value: Any) -> Any:
    """The value, with an apostrophe before text that a spreadsheet would run; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def write_csv(file: TextIO, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a table to a file opened with ``newline=""``; how many rows there were below the header."""
    writer = csv.writer(file)
    writer.writerow([safe_cell(cell) for cell in header])
    number = 0
    for row in rows:
        writer.writerow([safe_cell(cell) for cell in row])
        number += 1
    return number
