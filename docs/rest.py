"""Every address of the explorer and the fields of its data, ``reference/rest-fields.md``: from the pages themselves."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import typing
from functools import cache
from typing import Any

from topiarist.web.http import placements
from topiarist.web.pages.registry import PAGES

VALUES = (*(page.value for page in PAGES), placements.Placements)
INTRODUCTION = """\
# Every address and field

*Written by `python docs/generate.py` from the values of the pages; edit their docstrings and comments instead.*

How to ask, with a token and examples: [the explorer's data](rest.md).
"""
FILES = """\
### GET /export.csv, /export.jsonl, /export.txt

Documents of a list as a file: of a `topic`, or those that `q` finds; `tag` and `label` as in a search.

### GET /original

A document as a file, by its `id`: the file it came from, where that lies on this machine and is asked for from it;
else, or with `text=true`, its text."""


def page() -> str:
    """The text of ``reference/rest-fields.md``."""
    parts = [INTRODUCTION, "## Every address"]
    parts += [_address(f"GET {one.data_path}", _summary(one.module), one.module.Ask, one.value) for one in PAGES]
    parts.append(
        _address(f"POST {placements.PLACEMENTS}", _summary(placements), placements.Texts, placements.Placements)
    )
    parts.append(FILES)
    parts += ["## Values in values", *(_value(kind) for kind in _within(VALUES))]
    return "\n\n".join(parts) + "\n"


def _address(address: str, question: str, ask: type, value: type) -> str:
    asked = [f"| `{name}` | {kind} | {said} |" for name, kind, said in _parameters(ask)]
    table = "\n".join(["| asked by | value | |", "|---|---|---|", *asked]) + "\n\n" if asked else ""
    return f"### {address}\n\n{question.splitlines()[0]}\n\n{table}Answers with `{value.__name__}`:\n\n{_fields(value)}"


def _parameters(ask: type) -> list[tuple[str, str, str]]:
    """Names, values and descriptions of what may be asked."""
    hints, found = typing.get_type_hints(ask, include_extras=True), []
    for field in dataclasses.fields(ask):
        kind, *more = (
            typing.get_args(hints[field.name]) if hasattr(hints[field.name], "__metadata__") else [hints[field.name]]
        )
        said = next((str(one.description) for one in more if getattr(one, "description", None)), "")
        alias = next((one.alias for one in more if getattr(one, "alias", None)), None)
        default = "needed" if field.default in (dataclasses.MISSING, None) else f"else `{field.default}`"
        default = "" if field.default is None or field.default == "" else default
        found.append((alias or field.name, _kind(kind), "; ".join(part for part in (said, default) if part)))
    return found


def _value(kind: type) -> str:
    return f"### {_name(kind)}\n\n{_summary(kind)}\n\n{_fields(kind)}"


def _fields(kind: type) -> str:
    """The fields of a value, with what its source says of them."""
    hints = typing.get_type_hints(kind)
    source = inspect.getsource(kind)
    said = dict(re.findall(r"^    (\w+): [^#\n]*  # (.+)$", source, re.MULTILINE))
    rows = [
        f"| `{one.name}` | {_kind(hints[one.name])} | {said.get(one.name, '').replace('``', '`')} |"
        for one in dataclasses.fields(kind)
    ]
    return "\n".join(["| field | value | |", "|---|---|---|", *rows])


def _kind(kind: Any) -> str:
    """A type in words of JSON."""
    origin, inside = typing.get_origin(kind), [one for one in typing.get_args(kind) if one is not Ellipsis]
    if origin is typing.Annotated:
        return _kind(inside[0])
    if origin is typing.Literal:
        return " or ".join(f"`{one}`" for one in inside)
    if origin is tuple and Ellipsis not in typing.get_args(kind):
        return f"[{', '.join(map(_kind, inside))}]"
    if origin in (tuple, list, frozenset) or (inspect.isclass(origin) and issubclass(origin, typing.Sequence)):
        return f"list of {_kind(inside[0])}"
    if inspect.isclass(origin) and issubclass(origin, typing.Mapping):
        return f"{_kind(inside[1])} by name"
    if inside:
        return " or ".join(_kind(one) for one in inside)
    names = {str: "text", int: "number", float: "number", bool: "true or false", type(None): "null", Any: "anything"}
    return names.get(kind) or f"[{_name(kind)}](#{_name(kind).lower()})"


def _name(kind: type) -> str:
    """What it is called here: several pages have values of one name, which the name of the page tells apart."""
    same = {one for one in _within(VALUES) if one.__name__ == kind.__name__}
    return kind.__name__ if len(same) < 2 else f"{kind.__name__}-{kind.__module__.rpartition('.')[2]}"


@cache
def _within(kinds: tuple[type, ...]) -> list[type]:
    """The values that others hold, each once, by their names."""
    seen: set[type] = set()
    open_kinds = [inner for kind in kinds for inner in _inner(kind)]
    while open_kinds:
        kind = open_kinds.pop()
        if kind not in seen and kind not in kinds:
            seen.add(kind)
            open_kinds += _inner(kind)
    return sorted(seen, key=lambda kind: (kind.__name__, kind.__module__))


def _inner(kind: Any) -> list[type]:
    if dataclasses.is_dataclass(kind):
        return [one for hint in typing.get_type_hints(kind).values() for one in _named(hint)]
    return []


def _named(hint: Any) -> list[type]:
    if dataclasses.is_dataclass(hint):
        return [typing.cast(type, hint)]
    return [one for inside in typing.get_args(hint) for one in _named(inside)]


def _summary(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").splitlines()[0].replace("``", "`")


if __name__ == "__main__":
    sys.stdout.write(page())
