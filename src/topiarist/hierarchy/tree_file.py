"""Reading a tree that somebody wrote: categories in JSON or YAML, or a line for each path.

All of these are the same tree, whose root has no name::

    {"news": ["home", "abroad"], "sport": null}          JSON; null or [] where nothing is below

    news:                                                YAML
      - home
      - abroad
    sport:

    news/home                                            paths; \\/ stands for a slash in a name
    news/abroad
    sport

Where everything is below one name, that is the root. What ``exchange.to_json`` and ``Tree.to_dict`` write is read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.hierarchy.tree import Tree

FORMATS = ("json", "yaml", "paths")
SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".txt": "paths", ".paths": "paths"}
MOST_NODES = 1_000_000  # a short YAML file may stand for any number
STEP = re.compile(r"(\\[\\/])|/")

Path = tuple[str, ...]


class _Pairs(list[tuple[Any, Any]]):
    """A mapping as it was written: nothing is lost if a name comes twice."""


def format_of(name: str) -> str:
    """The format of a file, by the end of its name."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"expected a hierarchy in a file that ends in {', '.join(SUFFIXES)}, got {name}",
            hint="a text file with a path such as news/sport on each line, called *.txt",
        )
    return SUFFIXES[suffix]


def read_tree(text: str, format: str) -> Tree:
    """The tree of a text in one of ``FORMATS``: "json", "yaml" or "paths". See the head of this module."""
    if format not in FORMATS:
        raise UsageError(f"format must be one of {', '.join(FORMATS)}, got {format!r}", hint="'paths'")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError("expected a hierarchy, got an empty text", hint="a path such as news/sport on each line")
    if format == "paths":
        return _of_lines(text)
    try:
        return _of_data(_json(text) if format == "json" else _yaml(text))
    except RecursionError:
        raise InputError(
            "the hierarchy is nested too deeply to be read in this format", hint="a path on each line"
        ) from None


def _of_lines(text: str) -> Tree:
    paths = [_names(line) for line in text.split("\n") if line.strip()]
    deeper = [path for path in paths if path != ("", "")]  # a slash alone is a root without a name
    return Tree.from_paths(deeper) if deeper else Tree.single()


def _names(line: str) -> Path:
    """The names along a path, without the spaces around them."""
    parts, last = [""], 0
    for step in STEP.finditer(line):
        parts[-1] += line[last : step.start()]
        last = step.end()
        if step.group(1):
            parts[-1] += step.group(1)[1]
        else:
            parts.append("")
    parts[-1] += line[last:]
    return tuple(part.strip() for part in parts)


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise InputError(
            f"the hierarchy is not JSON: {error.msg} in line {error.lineno}, column {error.colno}",
            hint='{"news": ["home", "abroad"], "sport": null}',
        ) from error


def _yaml(text: str) -> Any:
    """Names as they are written: in a list of categories, ``no`` is Norway and 1984 a book."""
    try:
        import yaml
    except ImportError as error:
        raise ResourceError(
            "reading YAML needs PyYAML, which is not installed.", hint="pip install pyyaml, or write JSON"
        ) from error
    try:
        return _yaml_value(yaml.compose(text, yaml.SafeLoader), {})
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError(f"the hierarchy is not YAML: {reason}{where}", hint="two spaces for each level") from error


def _yaml_value(node: Any, known: dict[int, Any]) -> Any:
    """The value of a node; one that is used again and again is read once."""
    if node is None:
        return None
    if id(node) not in known:
        if node.id == "mapping":
            known[id(node)] = _Pairs((_yaml_value(key, known), _yaml_value(value, known)) for key, value in node.value)
        elif node.id == "sequence":
            known[id(node)] = [_yaml_value(value, known) for value in node.value]
        else:
            known[id(node)] = None if node.tag == "tag:yaml.org,2002:null" else node.value
    return known[id(node)]


def _of_data(data: Any) -> Tree:
    """The tree of what came: ours, flat or nested; else categories."""
    if isinstance(data, _Pairs):
        fields = dict(data)
        if isinstance(fields.get("parents"), list):
            names = fields.get("names")
            return Tree([_number(parent) for parent in fields["parents"]], names if names is not None else ())  # type: ignore[arg-type]
        if "name" in fields and isinstance(fields.get("children"), list):
            return _of_records(fields)
    paths = list(_paths(data))
    if not paths:
        raise InputError("expected a hierarchy, got one without any names", hint='{"news": ["home", "abroad"]}')
    return Tree.from_paths(paths)


def _paths(data: Any) -> Iterator[Path]:
    """The path of every category, each before those below it."""
    waiting: list[tuple[Path, Any]] = [((), data)]
    n_nodes, seen = 0, set[Path]()
    while waiting:
        above, value = waiting.pop()
        if above:
            if above in seen:
                raise InputError(f"expected every category once, got {'/'.join(above)!r} twice", hint="leave one out")
            seen.add(above)
            n_nodes += 1
            if n_nodes > MOST_NODES:
                raise InputError(f"expected at most {MOST_NODES:,} categories, got more", hint="a smaller hierarchy")
            yield above
        waiting.extend(((*above, name), below) for name, below in reversed(list(_below(above, value))))


def _below(above: Path, value: Any) -> Iterator[tuple[str, Any]]:
    """The names right below a category, each with what is below it."""
    if value is None or value == "":
        return
    if isinstance(value, _Pairs):
        yield from ((_name(name, above), below) for name, below in value)
    elif isinstance(value, list):
        for item in value:
            yield from _below(above, item if isinstance(item, _Pairs) else _Pairs([(item, None)]))
    else:
        yield _name(value, above), None


def _name(value: Any, above: Path) -> str:
    where = f"below {'/'.join(above)!r}" if above else "at the top"
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"expected names of categories, got {value!r} {where}", hint="names in quotes")


def _of_records(root: dict[str, Any]) -> Tree:
    """The tree of nested records with name and children; with their numbers if each has one, else depth first."""
    parents, names, ids = list[int](), list[str](), list[Any]()
    waiting: list[tuple[int, Any]] = [(-1, root)]
    while waiting:
        parent, record = waiting.pop()
        fields = dict(record) if isinstance(record, _Pairs | dict) else {}
        below = fields.get("children") or []
        if not isinstance(fields.get("name"), str) or not isinstance(below, list):
            raise InputError("expected a name and children for every node", hint='{"name": "news", "children": []}')
        node = len(parents)
        parents.append(parent)
        names.append(fields["name"])
        ids.append(_number(fields.get("id")))
        if len(parents) > MOST_NODES:
            raise InputError(f"expected at most {MOST_NODES:,} nodes, got more", hint="a smaller hierarchy")
        waiting.extend((node, child) for child in reversed(below))
    if sorted(number for number in ids if isinstance(number, int)) != list(range(len(ids))):
        return Tree(tuple(parents), tuple(names))
    place = {number: node for node, number in enumerate(ids)}
    order = [place[number] for number in range(len(ids))]
    return Tree(
        tuple(ids[parents[node]] if parents[node] >= 0 else -1 for node in order), tuple(names[node] for node in order)
    )


def _number(value: Any) -> Any:
    """A whole number as such, though YAML's names are texts; anything else as it came."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value) else value
