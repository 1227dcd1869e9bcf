"""Trees for other programs (GraphML, Newick, JSON, rows, paths), and hierarchies that people write.

What is known of the nodes beside their names comes as ``words`` (a few for each node) and ``sizes`` (documents at or
below each); both may be left out. Nothing is recursive: a chain of many nodes is a tree like any other.

What people write is read in three formats. All of these are the same tree, whose root has no name::

    {"news": ["home", "abroad"], "sport": null}          JSON; null or [] where nothing is below

    news:                                                YAML
      - home
      - abroad
    sport:

    news/home                                            paths; \\/ stands for a slash in a name
    news/abroad
    sport

Where everything is below one name, that is the root. What ``to_json`` and ``Tree.to_dict`` write is read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any
from xml.etree import ElementTree as ET

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import printable

__all__ = ["FORMATS", "format_of", "path_text", "read_tree", "rows", "to_graphml", "to_json", "to_newick", "to_paths"]

GRAPHML = "http://graphml.graphdrawing.org/xmlns"
PLAIN_LABEL = re.compile(r"[A-Za-z0-9.\-]+")  # an underscore would be read as a space
NOT_XML = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LINE_BREAKS = re.compile(r"[\r\n]+")
BETWEEN_WORDS = ", "

Words = Sequence[Sequence[str]]
FORMATS = ("json", "yaml", "paths")
SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".txt": "paths", ".paths": "paths"}
MOST_NODES = 1_000_000  # a short YAML file may stand for any number
STEP = re.compile(r"(\\[\\/])|/")
Path = tuple[str, ...]


def rows(tree: Tree, words: Words = (), sizes: Sequence[float] = ()) -> Iterator[dict[str, Any]]:
    """One flat record per node, depth first: id, parent, path, name, level, size, share, words.

    ``size`` and ``share`` (of the root's size) are None where sizes are not known, ``parent`` is None for the root.
    """
    _check(tree, words=words, sizes=sizes)
    for node in tree.depth_first():
        parent = tree.parents[node]
        yield {
            "id": node,
            "parent": parent if parent >= 0 else None,
            "path": path_text(tree, node),
            "name": tree.names[node],
            "level": tree.depths[node],
            **_known(tree, words, sizes, node),
        }


def path_text(tree: Tree, node: int) -> str:
    """The names from the root down with a slash between them; a root without a name leaves a slash at the beginning.

    A slash in a name is written ``\\/``, a backslash twice and a line break as a space, as ``read_tree`` expects it.
    """
    path = tree.path_names(node)
    if path == ("",):
        return "/"
    return "/".join(LINE_BREAKS.sub(" ", name).replace("\\", "\\\\").replace("/", "\\/") for name in path)


def to_paths(tree: Tree) -> str:
    """A line for each leaf: its path."""
    return "".join(f"{path_text(tree, leaf)}\n" for leaf in tree.leaves)


def to_json(tree: Tree, words: Words = (), sizes: Sequence[float] = ()) -> str:
    """Nested JSON: id, name, size, share, words and children of each node, the root outside. A line for each node."""
    _check(tree, words=words, sizes=sizes)
    pieces, waiting = [], [(tree.root, "")]
    while waiting:
        node, tail = waiting.pop()
        if node < 0:
            pieces.append(tail)
            continue
        known = {"id": node, "name": tree.names[node], **_known(tree, words, sizes, node)}
        pieces.append(f'{json.dumps(known, ensure_ascii=False, allow_nan=False)[:-1]}, "children": [')
        children = tree.children(node)
        waiting.append((-1, f"]}}{tail}"))
        waiting.extend((child, "" if child == children[-1] else ",\n") for child in reversed(children))
        if children:
            pieces.append("\n")
    return "".join(pieces) + "\n"


def to_newick(tree: Tree, heights: Sequence[float] | None = None) -> str:
    """The tree in Newick's format, names of inner nodes too.

    Every branch has length 1; or, with the ``heights`` at which nodes lie (a linkage's, say), the height of the parent
    less that of the node. Labels that hold anything but letters, figures, dots and dashes are quoted.
    """
    lengths = _lengths(tree, heights)
    pieces, waiting = [], [(tree.root, False)]
    while waiting:
        node, done = waiting.pop()
        children = tree.children(node)
        if children and not done:
            pieces.append("(")
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(children))
            continue
        parent = tree.parents[node]
        closing = ")" if done else ""
        length = f":{lengths[node]:.12g}" if parent >= 0 else ";\n"
        following = "," if parent >= 0 and node != tree.children(parent)[-1] else ""
        pieces.append(f"{closing}{_newick_label(tree.names[node])}{length}{following}")
    return "".join(pieces)


def to_graphml(tree: Tree, words: Words = (), sizes: Sequence[float] = ()) -> str:
    """GraphML: a directed graph with an edge from each node to its children.

    Name, level, size, share and words are data of the nodes. Characters that XML cannot hold become U+FFFD.
    """
    _check(tree, words=words, sizes=sizes)
    kinds = {"name": "string", "level": "int"}
    kinds |= {"size": "double", "share": "double"} if len(sizes) else {}
    kinds |= {"words": "string"} if len(words) else {}
    top = ET.Element("graphml", xmlns=GRAPHML)
    for name, kind in kinds.items():
        ET.SubElement(top, "key", {"id": name, "for": "node", "attr.name": name, "attr.type": kind})
    graph = ET.SubElement(top, "graph", id="tree", edgedefault="directed")
    for row in rows(tree, words, sizes):
        node = ET.SubElement(graph, "node", id=f"n{row['id']}")
        for name in kinds:
            value = BETWEEN_WORDS.join(row[name]) if name == "words" else str(row[name])
            ET.SubElement(node, "data", key=name).text = NOT_XML.sub("\ufffd", value)
    for child in tree.depth_first()[1:]:
        ET.SubElement(graph, "edge", source=f"n{tree.parents[child]}", target=f"n{child}")
    ET.indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(top, encoding="unicode")}\n'


def _known(tree: Tree, words: Words, sizes: Sequence[float], node: int) -> dict[str, Any]:
    """What is known of a node beside its name, as plain values."""
    size = float(sizes[node]) if len(sizes) else None
    whole = float(sizes[tree.root]) if len(sizes) else 0.0
    return {
        "size": size if size is None or not size.is_integer() else int(size),
        "share": None if size is None else size / whole if whole else 0.0,
        "words": list(words[node]) if len(words) else [],
    }


def _lengths(tree: Tree, heights: Sequence[float] | None) -> list[float]:
    """The length of the branch above each node."""
    if heights is None:
        return [1.0] * len(tree)
    _check(tree, heights=heights)
    lengths = [float(heights[parent]) - float(heights[node]) for node, parent in enumerate(tree.parents)]
    lengths[tree.root] = 0.0
    wrong = next((node for node, length in enumerate(lengths) if not length >= 0), None)
    if wrong is not None:
        raise InputError(
            f"expected no node above its parent, got node {wrong} at {heights[wrong]:g}, "
            f"its parent at {heights[tree.parents[wrong]]:g}",
            hint="heights that grow towards the root; without them every branch has length 1",
        )
    return lengths


def _newick_label(name: str) -> str:
    if not name or PLAIN_LABEL.fullmatch(name):
        return name
    doubled = printable(name).replace("'", "''")
    return f"'{doubled}'"


def _check(tree: Tree, **known: Sequence[Any]) -> None:
    """What is known is known of every node, or of none."""
    for name, values in known.items():
        if len(values) not in (0, len(tree)) or (name == "heights" and not len(values)):
            raise InputError(f"expected {name} for each of {len(tree)} nodes, got {len(values)}", hint="or none at all")


class _Pairs(list[tuple[Any, Any]]):
    """A mapping as it was written: nothing is lost if a name comes twice."""


def format_of(name: str) -> str:
    """The format of a file, by the end of its name."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"expected a hierarchy in a file that ends in {', '.join(SUFFIXES)}, or a thesaurus, got {name}",
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
