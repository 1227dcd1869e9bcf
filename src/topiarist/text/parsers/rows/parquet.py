"""Rows of a Parquet file, a few hundred at a time, by pyarrow (an optional package)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

from topiarist.text.parsers.limits import ExtractError, Limits, Options, Part, Source
from topiarist.text.parsers.rows.batches import batch_rows, create_fault

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

_BATCH_ROWS = 32  # a dictionary can hold one long value for all of them
_BUFFER_BYTES = 1 << 20  # of a column that is read; without it, a row group is in memory
_MAX_ADDED_BYTES = 512 << 20  # of address space, for the rows of one batch
# Equal rows take no room in a Parquet file: 20 million fit into 73 kB. In other files a row takes at least one byte.
_MIN_ROWS_WITHOUT_TEXT = 100_000
_MIN_CHARACTERS = 64 << 20  # of the rows of a file of any size, as for archives


def read_parquet_rows(source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield the rows of all row groups."""
    import pyarrow
    from pyarrow import parquet

    requested = set(json.loads(str(options.get("columns", "[]"))))
    n_rows, n_textless, n_characters = 0, 0, 0
    n_bytes = len(source.getbuffer()) if isinstance(source, BytesIO) else os.path.getsize(source)
    max_textless = max(_MIN_ROWS_WITHOUT_TEXT, n_bytes)
    max_characters = max(_MIN_CHARACTERS, limits.archive_ratio * n_bytes)

    def rows(table: parquet.ParquetFile, names: list[str]) -> Iterator[tuple[int, list[object]]]:
        """Yield numbered rows, and stop after too many rows without text or too many characters."""
        nonlocal n_rows, n_textless, n_characters
        for batch in table.iter_batches(batch_size=_BATCH_ROWS, columns=names, use_threads=False):
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                n_rows += 1
                texts = [cell for cell in cells if isinstance(cell, str)]
                n_characters += sum(map(len, texts))
                n_textless += not any(map(str.strip, texts))
                if n_textless > max_textless or n_characters > max_characters:
                    return
                yield n_rows, list(cells)

    try:
        with _limit_memory(), parquet.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER_BYTES) as table:
            names = list_readable_columns(table.schema_arrow, requested)
            yield from batch_rows(rows(table, names), limits.characters + 1, names=names)
        if n_textless > max_textless:
            yield create_fault(f"more than {max_textless:,} rows have no text; the rest of the file is not read")
        if n_characters > max_characters:
            yield create_fault("unpacks to more than the limit for its size and can be a bomb; the rest is skipped")
    except MemoryError as error:  # also that of pyarrow
        reason = f"its rows need more than {_MAX_ADDED_BYTES >> 20} MB of memory"
        if not n_rows:
            raise ExtractError(reason) from error
        yield create_fault(f"{reason} from here on", place=n_rows + 1)
    except (pyarrow.ArrowException, OSError) as error:
        reason = f"damaged Parquet: {str(error).splitlines()[0]}"
        if not n_rows:
            raise ExtractError(reason) from error
        yield create_fault(reason, place=n_rows + 1)


@contextmanager
def _limit_memory() -> Iterator[None]:
    """Limit the memory that this process can add; do nothing on systems without such a limit."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (soft, used + _MAX_ADDED_BYTES) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


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
