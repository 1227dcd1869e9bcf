"""JSON lines: one object on each line."""

from __future__ import annotations

import json

from topiarist.text.parsers import Limits
from topiarist.text.readers.items import File, ReadFailure
from topiarist.text.readers.lines import READ_ERRORS, explain_error, numbered_lines, open_file
from topiarist.text.readers.tables import Row, Rows, table_reader

_NAMES = {list: "a list", int: "a number", float: "a number", bool: "true or false", type(None): "null"}


def read_object_rows(file: File, limits: Limits) -> Rows:
    """Yield a row for each line that is a JSON object or a text."""
    with open_file(file) as stream:
        number = 0
        try:
            for line in numbered_lines(stream, limits):
                number = line.number
                if line.text is None:
                    yield ReadFailure("the line is too long", place=number)
                elif line.text.strip():
                    yield _parse_row(line.text, number)
        except READ_ERRORS as error:
            yield ReadFailure(f"{explain_error(error)}; earlier lines are kept", place=number + 1)


def _parse_row(text: str, number: int) -> Row | ReadFailure:
    """Parse a line as a JSON object or a text; return a failure with its reason for anything else."""
    try:
        value = json.loads(text)
    except RecursionError:
        return ReadFailure("JSON nested too deeply", place=number)
    except json.JSONDecodeError as error:
        return ReadFailure(f"not JSON: {error}", place=number)
    except ValueError:  # Python reads integers of at most 4,300 digits
        return ReadFailure("not JSON that can be read: a number is too long", place=number)
    if isinstance(value, dict):
        return Row(number, value)
    if isinstance(value, str) and len(value.strip()) != 1:  # a line can be a text; one letter is none
        return Row(number, {"text": value})
    found = _NAMES[type(value)] if type(value) in _NAMES else f"“{value.strip()}”"
    return ReadFailure(f"expected a JSON object, found {found}", place=number)


read_json_lines = table_reader(lambda file, setting: read_object_rows(file, setting.limits))
