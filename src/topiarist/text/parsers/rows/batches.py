"""Batches of rows from a worker to the reader, as JSON.

A part holds a list of rows, each a place and its cells: a list if the part names its columns, else an object. A part
can also hold a remark or a fault, on the table or on one place in it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence

from topiarist.text.parsers.limits import Facts, Part

_ROWS = 500
_CHARACTERS = 1 << 20

Cells = Sequence[object] | dict[str, object]


def batch_rows(
    rows: Iterable[tuple[int, Cells]], max_length: int, table: str = "", names: Sequence[str] = ()
) -> Iterator[Part]:
    """Yield rows as parts. Cells are cut to ``max_length`` characters, one more than the reader keeps."""
    facts: Facts = {"table": table}
    if names:
        facts["names"] = json.dumps(names)
    batch: list[tuple[int, Cells]] = []
    size = 0
    for place, cells in rows:
        values = cells.values() if isinstance(cells, dict) else cells
        weight = sum(len(cell) for cell in values if isinstance(cell, str))
        if weight > max_length:
            cells = _cut_cells(cells, max_length)
        batch.append((place, cells))
        size += min(weight, max_length)
        if len(batch) >= _ROWS or size > _CHARACTERS:
            yield Part(facts, _encode(batch))
            batch, size = [], 0
    if batch:
        yield Part(facts, _encode(batch))


def create_remark(reason: str, table: str = "", place: int = 0) -> Part:
    return Part({"remark": reason, "table": table, "place": place})


def create_fault(reason: str, table: str = "", place: int = 0) -> Part:
    return Part({"fault": reason, "table": table, "place": place})


def to_json_value(value: object) -> object:
    """Return a value without a JSON type as text: dates in ISO 8601, bytes decoded, others by ``str``."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time() and value.tzinfo is None:
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _encode(batch: list[tuple[int, Cells]]) -> bytes:
    return json.dumps(batch, default=to_json_value, ensure_ascii=False, check_circular=False).encode(
        "utf-8", "surrogatepass"
    )


def _cut_cells(cells: Cells, max_length: int) -> Cells:
    """Return the cells of a row with each text cut to ``max_length`` characters."""

    def cut_cell(cell: object) -> object:
        return cell[:max_length] if isinstance(cell, str) else cell

    if isinstance(cells, dict):
        return {name: cut_cell(cell) for name, cell in cells.items()}
    return [cut_cell(cell) for cell in cells]
