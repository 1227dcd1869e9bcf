"""A tree of topics as lines of text: branches, words, and sizes in one column at the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import columns, printable, shortened

DOT, COMMA = " · ", ", "
GAP = 2  # columns between words and sizes


@dataclass(frozen=True)
class Format:
    """How wide, how many words, how many levels, and with which signs."""

    width: int | None = None
    n_words: int | None = None
    depth: int | None = None
    ascii: bool = False


class Line(NamedTuple):
    """One line in its parts; ``size`` is empty where subtopics are only counted."""

    branch: str
    first: str
    rest: str = ""
    space: str = ""
    size: str = ""

    def __str__(self) -> str:
        return "".join(self).rstrip()


def lines(tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[int], form: Format) -> list[Line]:
    """The lines from the root down. A node is called by its first word, or by its name if that is another."""
    numbers = [f"{size:,}" for size in sizes]
    longest = max(map(len, numbers))
    mark = "x"  # in place of every label, to see the branches alone
    drawn = tree.render(lambda _: mark, depth=form.depth, width=form.width, ascii=form.ascii).split("\n")
    found = []
    for node, line in zip(drawn_nodes(tree, form.depth), drawn, strict=True):
        if node is None:
            found.append((Line("", line), ""))
            continue
        branch = line.removesuffix(mark)
        room = None if form.width is None else max(1, form.width - columns(branch) - GAP - longest)
        label = _label(tree, words, node, form)
        found.append((_fitted(branch, label, room, "..." if form.ascii else "…"), numbers[node]))
    edge = max(columns(str(line)) for line, size in found if size) + GAP + longest
    return [
        line._replace(space=" " * (edge - columns(str(line)) - len(size)), size=size) if size else line
        for line, size in found
    ]


def levels_within(tree: Tree, n_lines: int) -> int:
    """How many levels below the root can be shown in so many lines; one at least."""
    at_level = [tree.depths.count(level) for level in range(tree.depth + 1)]
    return max((level for level in range(1, tree.depth + 1) if sum(at_level[: level + 1]) <= n_lines), default=1)


def drawn_nodes(tree: Tree, depth: int | None) -> Iterator[int | None]:
    """The node of each line that ``Tree.render`` draws; None for a line that counts what is not shown."""
    for node in tree.depth_first():
        level = tree.depths[node]
        if depth is None or level <= depth:
            yield node
        if level == depth and not tree.is_leaf(node):
            yield None


def _label(tree: Tree, words: Sequence[Sequence[str]], node: int, form: Format) -> Iterator[str]:
    """The first word, then the others with what divides them; a name of somebody's stands before the words."""
    name, own = tree.names[node], list(words[node][: form.n_words])
    dot = COMMA if form.ascii else DOT
    named = not own or not (name == own[0] or name.startswith(f"{own[0]}{DOT}"))
    for number, word in enumerate(map(printable, [name, *own] if named else own)):
        yield (": " if named and number == 1 else dot if number else "") + word


def _fitted(branch: str, label: Iterator[str], room: int | None, ellipsis: str) -> Line:
    """As many words as there is room for, the first in any case."""
    first, rest = shortened(next(label), room, ellipsis), ""
    for word in label:
        if room is not None and columns(first + rest + word) > room:
            break
        rest += word
    return Line(branch, first, rest)
