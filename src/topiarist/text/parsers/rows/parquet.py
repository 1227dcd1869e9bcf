"""Rows of a Parquet file, a few hundred at a time, by pyarrow (an optional package)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from os.path import getsize
from typing import TYPE_CHECKING

from topiarist.text.parsers.limits import ExtractError, Limits, Options, Part, Source
from topiarist.text.parsers.rows.batches import batch_rows, create_fault

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

_BATCH_ROWS = 256
# Equal rows take no room in a Parquet file: 20 million fit into 73 kB. In other files a row takes at least one byte.
_MIN_ROWS_WITHOUT_TEXT = 100_000


def read_parquet_rows(source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield the rows of all row groups."""
    import pyarrow
    from pyarrow import parquet

    requested = set(json.loads(str(options.get("columns", "[]"))))
    n_rows, n_textless = 0, 0
    max_textless = max(
        _MIN_ROWS_WITHOUT_TEXT, len(source.getbuffer()) if isinstance(source, BytesIO) else getsize(source)
    )

    def rows(table: parquet.ParquetFile, names: list[str]) -> Iterator[tuple[int, list[object]]]:
        nonlocal n_rows, n_textless
        for batch in table.iter_batches(batch_size=_BATCH_ROWS, columns=names, use_threads=False):
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                n_rows += 1
                n_textless += not any(isinstance(cell, str) and cell.strip() for cell in cells)
                if n_textless > max_textless:
                    return
                yield n_rows, list(cells)

    try:
        with parquet.ParquetFile(source, pre_buffer=False) as table:
            names = list_readable_columns(table.schema_arrow, requested)
            yield from batch_rows(rows(table, names), limits.characters + 1, names=names)
        if n_textless > max_textless:
            yield create_fault(f"more than {max_textless:,} rows have no text; the rest of the file is not read")
    except pyarrow.lib.ArrowMemoryError as error:
        raise MemoryError from error
    except (pyarrow.ArrowException, OSError) as error:
        reason = f"damaged Parquet: {str(error).splitlines()[0]}"
        if not n_rows:
            raise ExtractError(reason) from error
        yield create_fault(reason, place=n_rows + 1)


def list_readable_columns(schema: pyarrow.Schema, requested: set[str]) -> list[str]:
    """Return the columns with text or facts; binary and nested columns only if they are requested."""
    from pyarrow import types

    is_heavy = (
        types.is_binary,
        types.is_large_binary,
        types.is_fixed_size_binary,
        types.is_struct,
        types.is_map,
    )
    return [f.name for f in schema if f.name in requested or not any(is_a(f.type) for is_a in is_heavy)]
