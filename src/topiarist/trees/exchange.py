r"""Exchange formats of trees: JSON, table rows and paths, and hierarchies that users write.

``words`` (some for each node) and ``sizes`` (documents at or below each node) are optional. No function is recursive,
so that long chains of nodes are supported.

Hierarchies of users are read in three formats. These examples are the same tree, whose root has no name::

    {"news": ["home", "abroad"], "sport": null}          JSON; null or [] for a name without children

    news:                                                YAML
      - home
      - abroad
    sport:

    news/home                                            paths; \\/ stands for a slash in a name
    news/abroad
    sport

If everything is below one name, this is the root. The outputs of ``to_json`` and ``Tree.to_dict`` can be read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.text.characters import remove_controls
from topiarist.trees.tree import Tree

__all__ = ["FORMATS", "detect_format", "format_path", "iter_rows", "read_tree", "to_json", "to_paths"]

LINE_BREAKS = re.compile(r"[\r\n]+")

Words = Sequence[Sequence[str]]
FORMATS = ("json", "yaml", "paths")
SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".txt": "paths", ".paths": "paths"}
MAX_NODES = 1_000_000  # a short YAML file with aliases may expand to any number
SEPARATOR = re.compile(r"(\\[\\/])|/")
Path = tuple[str, ...]


def iter_rows(tree: Tree, words: Words = (), sizes: Sequence[float] = ()) -> Iterator[dict[str, Any]]:
    """Yield one flat record per node, depth first: id, parent, path, name, level, size, share and words.

    ``size`` and ``share`` (of the root's size) are None without sizes. ``parent`` is None for the root.
    """
    _check_lengths(tree, words=words, sizes=sizes)
    for node in tree.depth_first():
        parent = tree.parents[node]
        yield {
            "id": node,
            "parent": parent if parent >= 0 else None,
            "path": format_path(tree, node),
            "name": remove_controls(tree.names[node]),
            "level": tree.depths[node],
            **_describe_node(tree, words, sizes, node),
        }


def format_path(tree: Tree, node: int) -> str:
    r"""Return the names from the root down to a node, with slashes between them.

    A slash in a name is written ``\\/``, a backslash twice and a line break as a space, as ``read_tree`` expects it.
    The path begins with a slash if the root has no name.
    """
    path = tree.path_names(node)
    if path == ("",):
        return "/"
    names = (LINE_BREAKS.sub(" ", remove_controls(name)) for name in path)
    return "/".join(name.replace("\\", "\\\\").replace("/", "\\/") for name in names)


def to_paths(tree: Tree) -> str:
    """Return one line for each leaf: its path."""
    return "".join(f"{format_path(tree, leaf)}\n" for leaf in tree.leaves)


def to_json(tree: Tree, words: Words = (), sizes: Sequence[float] = ()) -> str:
    """Return nested JSON, one line per node: id, name, size, share, words and children; the root is outermost."""
    _check_lengths(tree, words=words, sizes=sizes)
    lines, waiting = [], [(tree.root, "")]
    while waiting:
        node, tail = waiting.pop()
        if node < 0:
            lines.append(tail)
            continue
        record = {"id": node, "name": remove_controls(tree.names[node]), **_describe_node(tree, words, sizes, node)}
        lines.append(f'{json.dumps(record, ensure_ascii=False, allow_nan=False)[:-1]}, "children": [')
        children = tree.children(node)
        waiting.append((-1, f"]}}{tail}"))
        waiting.extend((child, "" if child == children[-1] else ",\n") for child in reversed(children))
        if children:
            lines.append("\n")
    return "".join(lines) + "\n"


def _describe_node(tree: Tree, words: Words, sizes: Sequence[float], node: int) -> dict[str, Any]:
    """Return the size, share of documents and words of a node, for the JSON export."""
    size = float(sizes[node]) if len(sizes) else None
    total = float(sizes[tree.root]) if len(sizes) else 0.0
    return {
        "size": size if size is None or not size.is_integer() else int(size),
        "share": None if size is None else size / total if total else 0.0,
        "words": list(words[node]) if len(words) else [],
    }


def _check_lengths(tree: Tree, **properties: Sequence[Any]) -> None:
    """Check that each property has a value for every node, or none at all."""
    for name, values in properties.items():
        if len(values) not in (0, len(tree)):
            raise InputError(
                f"expected {name} for each of {len(tree)} nodes, got {len(values)}", hint="Pass all or none."
            )


class _Pairs(list[tuple[Any, Any]]):
    """A mapping as a list of pairs, which keeps repeated names."""


def detect_format(name: str) -> str:
    """Return the format of a hierarchy file by its suffix. Raise UsageError for other suffixes."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"expected a hierarchy in a file that ends in {', '.join(SUFFIXES)}, or a thesaurus, got {name}",
            hint="Write a path such as news/sport on each line of a *.txt file.",
        )
    return SUFFIXES[suffix]


def read_tree(text: str, format: str) -> Tree:
    """Parse a tree from a text in one of ``FORMATS``: "json", "yaml" or "paths"."""
    if format not in FORMATS:
        raise UsageError(
            f"format must be one of {', '.join(FORMATS)}, got {format!r}", hint="Pass 'paths', for example."
        )
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError(
            "expected a hierarchy, got an empty text", hint="Write a path such as news/sport on each line."
        )
    if format == "paths":
        return _parse_lines(text)
    try:
        return _build_tree(_parse_json(text) if format == "json" else _parse_yaml(text))
    except RecursionError:
        raise InputError(
            "the hierarchy is nested too deeply for this format", hint="Write a path on each line."
        ) from None


def _parse_lines(text: str) -> Tree:
    paths = [_split_line(line) for line in text.split("\n") if line.strip()]
    named_paths = [path for path in paths if path != ("", "")]  # a slash alone is a root without a name
    return Tree.from_paths(named_paths) if named_paths else Tree.single()


def _split_line(line: str) -> Path:
    """Split a line into the names of a path; an escaped separator belongs to the name."""
    parts, last = [""], 0
    for step in SEPARATOR.finditer(line):
        parts[-1] += line[last : step.start()]
        last = step.end()
        if step.group(1):
            parts[-1] += step.group(1)[1]
        else:
            parts.append("")
    parts[-1] += line[last:]
    return tuple(remove_controls(part).strip() for part in parts)


def _parse_json(text: str) -> Any:
    """Parse JSON and keep repeated keys; raise InputError with the line of a fault."""
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise InputError(
            f"the hierarchy is not JSON: {error.msg} in line {error.lineno}, column {error.colno}",
            hint='Write it as {"news": ["home", "abroad"], "sport": null}.',
        ) from error


def _parse_yaml(text: str) -> Any:
    """Parse YAML with all names as texts: in a list of categories, ``no`` is Norway and 1984 is a book."""
    try:
        import yaml
    except ImportError as error:
        raise ResourceError(
            "reading YAML requires PyYAML, which is not installed", hint="Run pip install pyyaml, or use JSON."
        ) from error
    try:
        return _read_yaml_node(yaml.compose(text, yaml.SafeLoader), {})
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError(
            f"the hierarchy is not YAML: {reason}{where}", hint="Indent each level by two spaces."
        ) from error


def _read_yaml_node(node: Any, cache: dict[int, Any]) -> Any:
    """Return the value of a YAML node; ``cache`` keeps it for aliases."""
    if node is None:
        return None
    if id(node) not in cache:
        if node.id == "mapping":
            cache[id(node)] = _Pairs(
                (_read_yaml_node(key, cache), _read_yaml_node(value, cache)) for key, value in node.value
            )
        elif node.id == "sequence":
            cache[id(node)] = [_read_yaml_node(value, cache) for value in node.value]
        else:
            cache[id(node)] = None if node.tag == "tag:yaml.org,2002:null" else node.value
    return cache[id(node)]


def _build_tree(data: Any) -> Tree:
    """Build a tree from parsed JSON: lists of parents, records with children, or nested names."""
    if isinstance(data, _Pairs):
        fields = dict(data)
        if isinstance(fields.get("parents"), list):
            names = fields.get("names")
            return Tree([_read_number(parent) for parent in fields["parents"]], names if names is not None else ())  # type: ignore[arg-type]
        if "name" in fields and isinstance(fields.get("children"), list):
            return _build_from_records(fields)
    paths = list(_iter_paths(data))
    if not paths:
        raise InputError(
            "expected a hierarchy, got one without names", hint='Write it as {"news": ["home", "abroad"]}.'
        )
    return Tree.from_paths(paths)


def _iter_paths(data: Any) -> Iterator[Path]:
    """Yield the path of every category, parents first."""
    waiting: list[tuple[Path, Any]] = [((), data)]
    n_nodes, visited_paths = 0, set[Path]()
    while waiting:
        path, value = waiting.pop()
        if path:
            if path in visited_paths:
                raise InputError(
                    f"expected every category once, got {'/'.join(path)!r} twice", hint="Remove one entry."
                )
            visited_paths.add(path)
            n_nodes += 1
            if n_nodes > MAX_NODES:
                raise InputError(
                    f"expected at most {MAX_NODES:,} categories, got more", hint="Use a smaller hierarchy."
                )
            yield path
        waiting.extend(((*path, name), content) for name, content in reversed(list(_iter_children(path, value))))


def _iter_children(path: Path, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names directly below a category, each with its content."""
    if value is None or value == "":
        return
    if isinstance(value, _Pairs):
        yield from ((_read_name(name, path), content) for name, content in value)
    elif isinstance(value, list):
        for item in value:
            yield from _iter_children(path, item if isinstance(item, _Pairs) else _Pairs([(item, None)]))
    else:
        yield _read_name(value, path), None


def _read_name(value: Any, path: Path) -> str:
    """Return the name of a node without control characters; raise InputError if it is no name."""
    where = f"below {'/'.join(path)!r}" if path else "at the top"
    if isinstance(value, str) and (name := remove_controls(value).strip()):
        return name
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"expected names of categories, got {value!r} {where}", hint="Put names in quotes.")


def _build_from_records(root: dict[str, Any]) -> Tree:
    """Build the tree of nested records, with their ids if these are complete, otherwise depth first."""
    parents, names, ids = list[int](), list[str](), list[Any]()
    waiting: list[tuple[int, Any]] = [(-1, root)]
    while waiting:
        parent, record = waiting.pop()
        fields = dict(record) if isinstance(record, _Pairs | dict) else {}
        children = fields.get("children") or []
        if not isinstance(fields.get("name"), str) or not isinstance(children, list):
            raise InputError(
                "expected a name and children for every node", hint='Write nodes as {"name": "news", "children": []}.'
            )
        node = len(parents)
        parents.append(parent)
        names.append(remove_controls(fields["name"]))
        ids.append(_read_number(fields.get("id")))
        if len(parents) > MAX_NODES:
            raise InputError(f"expected at most {MAX_NODES:,} nodes, got more", hint="Use a smaller hierarchy.")
        waiting.extend((node, child) for child in reversed(children))
    if sorted(number for number in ids if isinstance(number, int)) != list(range(len(ids))):
        return Tree(tuple(parents), tuple(names))
    node_of = {number: node for node, number in enumerate(ids)}
    order = [node_of[number] for number in range(len(ids))]
    return Tree(
        tuple(ids[parents[node]] if parents[node] >= 0 else -1 for node in order), tuple(names[node] for node in order)
    )


def _read_number(value: Any) -> Any:
    """Return a number in a text as an integer, because YAML names are texts; other values unchanged."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value) else value
