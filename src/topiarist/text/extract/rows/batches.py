"""Rows on their way from a worker to the reader: some hundreds at a time, as JSON.

A part holds a list of rows, each a place and its cells: a list of them where the part names its columns, else an
object. A part may hold a remark instead, or a fault, of the table or of one place in it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence

from topiarist.text.extract.limits import Facts, Part

_ROWS = 500
_CHARACTERS = 1 << 20

Cells = Sequence[object] | dict[str, object]


def batches(
    rows: Iterable[tuple[int, Cells]], longest: int, table: str = "", names: Sequence[str] = ()
) -> Iterator[Part]:
    """Rows as parts. A cell has at most ``longest`` characters, which is one more than the reader keeps."""
    facts: Facts = {"table": table}
    if names:
        facts["names"] = json.dumps(names)
    batch: list[tuple[int, Cells]] = []
    size = 0
    for place, cells in rows:
        values = cells.values() if isinstance(cells, dict) else cells
        weight = sum(len(cell) for cell in values if isinstance(cell, str))
        if weight > longest:
            cells = _cut(cells, longest)
        batch.append((place, cells))
        size += min(weight, longest)
        if len(batch) >= _ROWS or size > _CHARACTERS:
            yield Part(facts, _encoded(batch))
            batch, size = [], 0
    if batch:
        yield Part(facts, _encoded(batch))


def remark(reason: str, table: str = "", place: int = 0) -> Part:
    """Something that is to be said of a table."""
    return Part({"remark": reason, "table": table, "place": place})


def fault(reason: str, table: str = "", place: int = 0) -> Part:
    """Something of a table that could not be read."""
    return Part({"fault": reason, "table": table, "place": place})


def plain(value: object) -> object:
    """A value that JSON has no word for: dates as ISO, bytes as text, the rest as it prints itself."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time() and value.tzinfo is None:
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _encoded(batch: list[tuple[int, Cells]]) -> bytes:
    return json.dumps(batch, default=plain, ensure_ascii=False, check_circular=False).encode("utf-8", "surrogatepass")


def _cut(cells: Cells, longest: int) -> Cells:
    def short(cell: object) -> object:
        return cell[:longest] if isinstance(cell, str) else cell

    if isinstance(cells, dict):
        return {name: short(cell) for name, cell in cells.items()}
    return [short(cell) for cell in cells]
