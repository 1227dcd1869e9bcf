"""Tables that a worker parses: spreadsheets by sheet, JSON, XML and Parquet by row."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.text.parsers import Part, Task
from topiarist.text.parsers.limits import Options
from topiarist.text.readers.columns import ROLES
from topiarist.text.readers.items import File, Item, ReadFailure, ReadNote, Setting
from topiarist.text.readers.tables import Row, Rows, items_of_table, table_reader


def read_spreadsheet(file: File, setting: Setting) -> Iterator[Item]:
    """Yield the rows of each sheet, which is a table with its own columns.

    A sheet without text is reported. If no sheet has text, the error of the first is the error of the file.
    """
    parts = _request_parts(file, setting, "spreadsheet", {"suffix": os.path.splitext(file.name.lower())[1]})
    errors: list[tuple[str, UsageError | InputError]] = []
    read = 0
    for sheet, sheet_parts in itertools.groupby(parts, key=lambda part: str(part.facts.get("table", ""))):
        try:
            for item in items_of_table(_decode_rows(sheet_parts), setting, f"{file.name}, sheet {sheet}"):
                read += 1
                yield replace(item, sheet=sheet)
        except (UsageError, InputError) as error:
            errors.append((sheet, error))
    if errors and not read:
        raise errors[0][1]
    for sheet, refusal in errors:
        yield ReadFailure(f"the sheet is skipped: {refusal.message.splitlines()[0]}", sheet=sheet)


def _request_parts(file: File, setting: Setting, parser: str, options: Options) -> Iterator[Part]:
    return setting.pool.parts(Task(parser, path=os.path.abspath(file.path), options=options))


def _decode_rows(parts: Iterable[Part]) -> Rows:
    """Yield rows, notes and failures of parts."""
    for part in parts:
        place = int(part.facts.get("place", 0))
        if "fault" in part.facts:
            yield ReadFailure(str(part.facts["fault"]), place=place)
        elif "remark" in part.facts:
            yield ReadNote(str(part.facts["remark"]), place=place)
        else:
            names = json.loads(str(part.facts.get("names", "null")))
            for at, cells in json.loads(part.data):
                yield Row(int(at), dict(zip(names, cells, strict=False)) if names else cells)


def _require_pyarrow() -> None:
    """Raise ResourceError if pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ResourceError(
            "reading Parquet requires pyarrow, which is not installed.", hint="Run pip install 'topiarist[parquet]'."
        ) from error


def _read_json_rows(file: File, setting: Setting) -> Rows:
    return _decode_rows(_request_parts(file, setting, "json", {"packing": file.packing}))


def _read_xml_rows(file: File, setting: Setting) -> Rows:
    return _decode_rows(
        _request_parts(file, setting, "xml", {"packing": file.packing, "path_to_text": setting.xml_path})
    )


def _read_parquet_rows(file: File, setting: Setting) -> Rows:
    _require_pyarrow()
    named_columns = sorted({name for role in ROLES if (name := getattr(setting.columns, role))})
    return _decode_rows(_request_parts(file, setting, "parquet", {"columns": json.dumps(named_columns)}))


read_json, read_xml, read_parquet = map(table_reader, (_read_json_rows, _read_xml_rows, _read_parquet_rows))
