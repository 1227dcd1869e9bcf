"""Parquet, a few hundred rows at a time, by pyarrow (an optional package)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from topiarist.errors import ResourceError
from topiarist.text.readers.columns import Columns
from topiarist.text.readers.items import File, Setting, Trouble
from topiarist.text.readers.tables import Row, Rows, table_reader

_BATCH_ROWS = 256


def arrow() -> Any:
    """The package pyarrow."""
    try:
        import pyarrow
    except ImportError as error:
        raise ResourceError(
            "reading Parquet needs pyarrow, which is not installed.", hint="pip install 'topiarist[parquet]'"
        ) from error
    return pyarrow


def rows_in(table: Any, columns: list[str], groups: Sequence[int] | None = None, before: int = 0) -> Iterator[Row]:
    """The rows of some row groups (or all) of an open file; ``before`` of its rows come earlier."""
    number = before
    for batch in table.iter_batches(batch_size=_BATCH_ROWS, row_groups=groups, columns=columns, use_threads=False):
        for cells in batch.to_pylist():
            number += 1
            yield Row(number, cells)


def readable(schema: Any, columns: Columns) -> list[str]:
    """Columns that can hold text or facts about it: pictures and other bytes only when they are asked for."""
    from pyarrow import types

    asked = {columns.id, columns.title, columns.text, columns.label, columns.date}
    heavy = (
        types.is_binary,
        types.is_large_binary,
        types.is_fixed_size_binary,
        types.is_struct,
        types.is_map,
    )
    return [f.name for f in schema if f.name in asked or not any(is_a(f.type) for is_a in heavy)]


def _rows(file: File, setting: Setting) -> Rows:
    pyarrow = arrow()
    from pyarrow import parquet

    number = 0
    try:
        with parquet.ParquetFile(file.name) as table:
            for row in rows_in(table, readable(table.schema_arrow, setting.columns)):
                number = row.place
                yield row
    except pyarrow.ArrowException as error:
        yield Trouble(f"damaged Parquet: {str(error).splitlines()[0]}", number + 1 if number else 0)


read_parquet = table_reader(_rows)
