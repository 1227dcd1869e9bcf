"""Tables for spreadsheets, in which no cell is ever run as a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from topiarist.collection.describe.tables import guarded


def safe_cell(value: Any) -> Any:
    """The value, with an apostrophe before text that a spreadsheet would run; numbers stay numbers."""
    return guarded(value) if isinstance(value, str) else value


def write_csv(file: TextIO, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a table to a file opened with ``newline=""``; how many rows there were below the header."""
    writer = csv.writer(file)
    writer.writerow([safe_cell(cell) for cell in header])
    number = 0
    for row in rows:
        writer.writerow([safe_cell(cell) for cell in row])
        number += 1
    return number
