"""JSON lines: one object on each line."""

from __future__ import annotations

import json

from topiarist.text.readers.items import File, Setting, Trouble
from topiarist.text.readers.lines import READ_ERRORS, numbered_lines, opened, reason_of
from topiarist.text.readers.tables import Row, Rows, table_reader

_NAMES = {list: "a list", int: "a number", float: "a number", bool: "true or false", type(None): "null"}


def _rows(file: File, setting: Setting) -> Rows:
    with opened(file) as stream:
        number = 0
        try:
            for line in numbered_lines(stream, setting.limits):
                number = line.number
                if line.text is None:
                    yield Trouble("the line is too long", number)
                elif line.text.strip():
                    yield _row(line.text, number)
        except READ_ERRORS as error:
            yield Trouble(f"{reason_of(error)}; what came before is kept", number + 1)


def _row(text: str, number: int) -> Row | Trouble:
    try:
        value = json.loads(text)
    except RecursionError:
        return Trouble("JSON nested too deeply", number)
    except ValueError as error:
        return Trouble(f"not JSON: {error}", number)
    if isinstance(value, dict):
        return Row(number, value)
    if isinstance(value, str):  # a line may be nothing but its text
        return Row(number, {"text": value})
    return Trouble(f"expected a JSON object, found {_NAMES[type(value)]}", number)


read_json_lines = table_reader(_rows)
