"""Parquet, a few hundred rows at a time, by pyarrow (an optional package)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from topiarist.errors import ResourceError
from topiarist.text.readers.columns import Columns
from topiarist.text.readers.items import File, Setting
from topiarist.text.readers.parsed_rows import rows_of
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


def asked(columns: Columns) -> set[str]:
    """The columns that somebody named."""
    named = (columns.id, columns.title, columns.text, columns.label, columns.date)
    return {name for name in named if name}


def _rows(file: File, setting: Setting) -> Rows:
    arrow()
    return rows_of(file, setting, "parquet", {"columns": json.dumps(sorted(asked(setting.columns)))})


read_parquet = table_reader(_rows)
