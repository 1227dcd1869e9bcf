"""A tree for other programs: GraphML, Newick, nested JSON, rows of a table, lines of paths.

What is known of the nodes beside their names comes as ``words`` (a few for each node) and ``sizes`` (documents at or
below each); both may be left out. Nothing is recursive: a chain of many nodes is a tree like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_file import FORMATS, format_of, read_tree
from topiarist.hierarchy.tree_text import printable

__all__ = ["FORMATS", "format_of", "path_text", "read_tree", "rows", "to_graphml", "to_json", "to_newick", "to_paths"]

GRAPHML = "http://graphml.graphdrawing.org/xmlns"
PLAIN_LABEL = re.compile(r"[A-Za-z0-9.\-]+")  # an underscore would be read as a space
NOT_XML = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LINE_BREAKS = re.compile(r"[\r\n]+")
BETWEEN_WORDS = ", "

Words = Sequence[Sequence[str]]


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
