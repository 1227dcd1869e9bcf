"""A tree as text: one line per node, branches drawn, words and sizes; nothing in a label moves the cursor."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from topiarist.errors import InputError

if TYPE_CHECKING:
    from topiarist.hierarchy.tree import Tree

NARROWEST = 16
MOST_LEVELS = 32  # drawn before a line; of deeper ones only the last, so that lines do not grow with the depth
JOINERS = "\u200c\u200d"  # invisible, but they shape letters in Persian and the scripts of India
GAP = "   "
DOT, COMMA = " · ", ", "
MARGIN = 2  # columns between words and sizes


class Signs(NamedTuple):
    """What branches are drawn with, three columns each."""

    inner: str
    last: str
    bar: str
    ellipsis: str


BOXES = Signs("├─ ", "└─ ", "│  ", "…")
ASCII = Signs("|- ", "`- ", "|  ", "...")


def render(
    tree: Tree,
    label: Callable[[int], str] | None = None,
    *,
    depth: int | None = None,
    width: int | None = None,
    ascii: bool = False,
) -> str:
    """Return the tree as lines of text.

    ``label(node)`` says what stands for a node, by default its name. Nodes more than ``depth`` edges from the root are
    counted instead of shown. No line is wider than ``width`` columns. ``ascii`` keeps to the letters that every
    terminal has, in labels too.
    """
    if depth is not None and depth < 0:
        raise InputError(f"expected a depth of at least 0, got {depth}", hint="0 shows the root only")
    if width is not None and width < NARROWEST:
        raise InputError(f"expected a width of at least {NARROWEST} columns, got {width}")
    signs = ASCII if ascii else BOXES
    levels = MOST_LEVELS if width is None else min(MOST_LEVELS, width // 6)
    bars = {tree.root: ""}  # what stands before the children of a node
    lines = []

    def line(branch: str, level: int, text: str) -> None:
        lead = f"{signs.ellipsis} {branch}" if level > levels else branch
        room = None if width is None else width - columns(lead)
        lines.append((lead + shortened(plain(text) if ascii else printable(text), room, signs.ellipsis)).rstrip())

    for node in tree.depth_first():
        level, parent = tree.depths[node], tree.parents[node]
        if depth is not None and level > depth:
            continue
        branch = ""
        if parent >= 0:
            is_last = node == tree.children(parent)[-1]
            branch = bars[parent] + (signs.last if is_last else signs.inner)
            bars[node] = (bars[parent] + (GAP if is_last else signs.bar))[-3 * (levels - 1) :]
        line(branch, level, label(node) if label else tree.names[node] or "(root)")
        if level == depth and not tree.is_leaf(node):
            line(bars[node] + signs.last, level + 1, f"{signs.ellipsis} {len(tree.descendants(node)):,} more")
    return "\n".join(lines)


def printable(text: str) -> str:
    """The text without line breaks, and with a sign in place of each control character."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in JOINERS else " " if c.isspace() else "\ufffd" for c in text)


def plain(text: str) -> str:
    """The text in ASCII: letters without their accents, and a question mark for everything else."""
    letters = unicodedata.normalize("NFKD", printable(text))
    return "".join(c if c.isascii() else "?" for c in letters if columns(c))


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: wide letters of East Asia two, marks on a letter none."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shortened(text: str, room: int | None, ellipsis: str = "…") -> str:
    """The text, or as much of its beginning as leaves room for an ellipsis."""
    if room is None or columns(text) <= room:
        return text
    left, end = room - len(ellipsis), 0
    for character in text:
        left -= _width(character)
        if left < 0:
            break
        end += 1
    return text[:end].rstrip() + ellipsis


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


def lines(
    tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[int], form: Format, closed: Sequence[int] = ()
) -> list[Line]:
    """The lines from the root down: what a node is called, and its words.

    ``closed``: how many topics there are below a leaf that is not opened, which stands behind its size.
    """
    more = [f"+{number:,}" if number else "" for number in closed] or [""] * len(tree)
    widest = max(map(len, more))
    numbers = [
        f"{size:,}{' ' * MARGIN}{hidden:<{widest}}" if widest else f"{size:,}"
        for size, hidden in zip(sizes, more, strict=True)
    ]
    longest = max(map(len, numbers))
    mark = "x"  # in place of every label, to see the branches alone
    drawn = tree.render(lambda _: mark, depth=form.depth, width=form.width, ascii=form.ascii).split("\n")
    found = []
    for node, line in zip(drawn_nodes(tree, form.depth), drawn, strict=True):
        if node is None:
            found.append((Line("", line), ""))
            continue
        branch = line.removesuffix(mark)
        room = None if form.width is None else max(1, form.width - columns(branch) - MARGIN - longest)
        label = _label(tree, words, node, form)
        found.append((_fitted(branch, label, room, "..." if form.ascii else "…"), numbers[node]))
    edge = max(columns(str(line)) for line, size in found if size) + MARGIN + longest
    return [
        line._replace(space=" " * (edge - columns(str(line)) - len(size)), size=size.rstrip()) if size else line
        for line, size in found
    ]


def drawn_nodes(tree: Tree, depth: int | None) -> Iterator[int | None]:
    """The node of each line that ``Tree.render`` draws; None for a line that counts what is not shown."""
    for node in tree.depth_first():
        level = tree.depths[node]
        if depth is None or level <= depth:
            yield node
        if level == depth and not tree.is_leaf(node):
            yield None


def _label(tree: Tree, words: Sequence[Sequence[str]], node: int, form: Format) -> Iterator[str]:
    """The name, then the words; one that begins with the first word stands before the words that it has not."""
    name, own = tree.names[node], list(words[node][: form.n_words])
    dot = COMMA if form.ascii else DOT
    named = not own or not (name == own[0] or name.startswith(f"{own[0]}{DOT}"))
    parts = [name] if named else name.split(DOT)
    rest = own if named else [word for word in own if word not in parts]
    for number, word in enumerate(map(printable, [*parts, *rest])):
        yield (": " if named and number == 1 else dot if number else "") + word


def _fitted(branch: str, label: Iterator[str], room: int | None, ellipsis: str) -> Line:
    """As many words as there is room for, the first in any case."""
    first, rest = shortened(next(label), room, ellipsis), ""
    for word in label:
        if room is not None and columns(first + rest + word) > room:
            break
        rest += word
    return Line(branch, first, rest)
