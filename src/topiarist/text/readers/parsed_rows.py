"""Tables that a worker parses: spreadsheets sheet by sheet, JSON, XML and Parquet row by row."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from topiarist.errors import UsageError
from topiarist.text.extract import Part, Task
from topiarist.text.extract.limits import Told
from topiarist.text.readers.items import File, Item, Raw, Remark, Setting, Trouble
from topiarist.text.readers.tables import Row, Rows, items_of_table, table_reader


def rows_of(file: File, setting: Setting, parser: str, told: Told) -> Rows:
    """The rows of a table that is alone in its file."""
    return _rows(_parts(file, setting, parser, told))


def read_spreadsheet(file: File, setting: Setting) -> Iterator[Item]:
    """The rows of each sheet, which is a table with columns of its own.

    A sheet that has no text is told, unless no sheet has any: then that of the first is the fault of the file.
    """
    parts = _parts(file, setting, "spreadsheet", {"suffix": os.path.splitext(file.name.lower())[1]})
    refusals: list[tuple[str, UsageError]] = []
    read = 0
    for sheet, found in itertools.groupby(parts, key=lambda part: str(part.facts.get("table", ""))):
        try:
            for item in items_of_table(_rows(found), setting, f"{file.name}, sheet {sheet}"):
                read += 1
                yield _on(sheet, item)
        except UsageError as error:
            refusals.append((sheet, error))
    if refusals and not read:
        raise refusals[0][1]
    for sheet, refusal in refusals:
        yield Trouble(f"the sheet is left out: {refusal.message.splitlines()[0]}", sheet=sheet)


def _json_rows(file: File, setting: Setting) -> Rows:
    return rows_of(file, setting, "json", {"packing": file.packing})


def _xml_rows(file: File, setting: Setting) -> Rows:
    return rows_of(file, setting, "xml", {"packing": file.packing, "path_to_text": setting.xml_path})


read_json = table_reader(_json_rows)
read_xml = table_reader(_xml_rows)


def _parts(file: File, setting: Setting, parser: str, told: Told) -> Iterator[Part]:
    return setting.pool.parts(Task(parser, path=os.path.abspath(file.path), told=told))


def _rows(parts: Iterable[Part]) -> Rows:
    """The rows that parts hold, and what they say besides."""
    for part in parts:
        place = int(part.facts.get("place", 0))
        if "fault" in part.facts:
            yield Trouble(str(part.facts["fault"]), place)
        elif "remark" in part.facts:
            yield Remark(str(part.facts["remark"]), place)
        else:
            names = json.loads(str(part.facts.get("names", "null")))
            for at, cells in json.loads(part.data):
                yield Row(int(at), dict(zip(names, cells, strict=False)) if names else cells)


def _on(sheet: str, item: Item) -> Item:
    """What stands on a sheet, with its name."""
    return replace(item, sheet=sheet) if isinstance(item, Raw | Trouble | Remark) else item
