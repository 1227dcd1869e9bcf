"""Parquet, a few hundred rows at a time, by pyarrow (an optional package)."""

from __future__ import annotations

from typing import Any

from topiarist.errors import ResourceError
from topiarist.text.readers.items import File, Setting, Trouble
from topiarist.text.readers.tables import Row, Rows, table_reader

_BATCH_ROWS = 256


def _rows(file: File, setting: Setting) -> Rows:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ResourceError(
            "reading Parquet needs pyarrow, which is not installed.", hint="pip install 'topiarist[parquet]'"
        ) from error

    number = 0
    try:
        with parquet.ParquetFile(file.name) as table:
            wanted = _readable(table.schema_arrow, setting)
            for batch in table.iter_batches(batch_size=_BATCH_ROWS, columns=wanted, use_threads=False):
                for cells in batch.to_pylist():
                    number += 1
                    yield Row(number, cells)
    except pyarrow.ArrowException as error:
        yield Trouble(f"damaged Parquet: {str(error).splitlines()[0]}", number + 1 if number else 0)


def _readable(schema: Any, setting: Setting) -> list[str]:
    """Columns that can hold text or facts about it: pictures and other bytes only when they are asked for."""
    from pyarrow import types

    columns = setting.columns
    asked = {columns.id, columns.title, columns.text, columns.label, columns.date}
    heavy = (
        types.is_binary,
        types.is_large_binary,
        types.is_fixed_size_binary,
        types.is_struct,
        types.is_map,
    )
    return [f.name for f in schema if f.name in asked or not any(is_a(f.type) for is_a in heavy)]


read_parquet = table_reader(_rows)
