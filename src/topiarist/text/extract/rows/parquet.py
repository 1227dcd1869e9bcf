"""Rows of a Parquet file, a few hundred at a time, by pyarrow (an optional package)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.text.extract.limits import ExtractError, Limits, Part, Source, Told
from topiarist.text.extract.rows.batches import batches, fault

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

_BATCH_ROWS = 256


def parts(source: Source, limits: Limits, told: Told) -> Iterator[Part]:
    """The rows of all row groups."""
    import pyarrow
    from pyarrow import parquet

    asked = set(json.loads(str(told.get("columns", "[]"))))
    done = 0

    def rows(table: parquet.ParquetFile, names: list[str]) -> Iterator[tuple[int, list[object]]]:
        nonlocal done
        for batch in table.iter_batches(batch_size=_BATCH_ROWS, columns=names, use_threads=False):
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                done += 1
                yield done, list(cells)

    try:
        with parquet.ParquetFile(source, pre_buffer=False) as table:
            names = readable(table.schema_arrow, asked)
            yield from batches(rows(table, names), limits.characters + 1, names=names)
    except pyarrow.lib.ArrowMemoryError as error:
        raise MemoryError from error
    except (pyarrow.ArrowException, OSError) as error:
        reason = f"damaged Parquet: {str(error).splitlines()[0]}"
        if not done:
            raise ExtractError(reason) from error
        yield fault(reason, place=done + 1)


def readable(schema: pyarrow.Schema, asked: set[str]) -> list[str]:
    """Columns that can hold text or facts about it: pictures and other bytes only when they are asked for."""
    from pyarrow import types

    heavy = (
        types.is_binary,
        types.is_large_binary,
        types.is_fixed_size_binary,
        types.is_struct,
        types.is_map,
    )
    return [f.name for f in schema if f.name in asked or not any(is_a(f.type) for is_a in heavy)]
