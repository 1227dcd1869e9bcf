"""Text rendering of a tree: one line per node with branches, words and sizes; labels cannot move the cursor."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from topiarist.errors import InputError

if TYPE_CHECKING:
    from topiarist.trees.tree import Tree

MIN_WIDTH = 16
MAX_LEVELS = 32  # branches in front of a line: only the last ones of deep nodes, so that lines stay short
JOINERS = "\u200c\u200d"  # invisible, but they shape letters in Persian and in Indic scripts
GAP = "   "
DOT, COMMA = " · ", ", "
JOINT = COMMA  # between the names of two children, in the name of a heading
MARGIN = 2  # columns between words and sizes


class BranchSigns(NamedTuple):
    """Characters with which branches are drawn, three columns each."""

    inner: str
    last: str
    bar: str
    ellipsis: str


BOXES = BranchSigns("├─ ", "└─ ", "│  ", "…")
ASCII = BranchSigns("|- ", "`- ", "|  ", "...")


def render(
    tree: Tree,
    label: Callable[[int], str] | None = None,
    *,
    depth: int | None = None,
    width: int | None = None,
    ascii: bool = False,
) -> str:
    """Return the tree as lines of text.

    ``label(node)`` returns the text of a node, by default its name. Nodes more than ``depth`` edges from the root are
    counted instead of shown. No line is wider than ``width`` columns. ``ascii`` replaces all other characters, in
    labels too.
    """
    if width is not None and width < MIN_WIDTH:
        raise InputError(f"expected a width of at least {MIN_WIDTH} columns, got {width}")
    signs, lines = ASCII if ascii else BOXES, []
    for node, branch in iter_branches(tree, depth, width, ascii=ascii):
        text = "" if node is None else label(node) if label else tree.names[node] or "(root)"
        line = branch + (to_ascii(text) if ascii else to_printable(text))
        lines.append(shorten(line, width, signs.ellipsis).rstrip())
    return "\n".join(lines)


def iter_branches(
    tree: Tree, depth: int | None = None, width: int | None = None, *, ascii: bool = False
) -> Iterator[tuple[int | None, str]]:
    """Yield each drawn node with the branch before it, and None with each line that counts hidden nodes."""
    if depth is not None and depth < 0:
        raise InputError(f"expected a depth of at least 0, got {depth}", hint="Use 0 to show the root only.")
    signs = ASCII if ascii else BOXES
    levels = MAX_LEVELS if width is None else min(MAX_LEVELS, width // 6)
    bars = {tree.root: ""}  # prefix of the children of each node
    for node in tree.depth_first():
        level, parent = tree.depths[node], tree.parents[node]
        if depth is not None and level > depth:
            continue
        branch = ""
        if parent >= 0:
            is_last = node == tree.children(parent)[-1]
            branch = bars[parent] + (signs.last if is_last else signs.inner)
            bars[node] = (bars[parent] + (GAP if is_last else signs.bar))[-3 * (levels - 1) :]
        yield node, f"{signs.ellipsis} {branch}" if level > levels else branch
        if level == depth and not tree.is_leaf(node):
            lead = f"{signs.ellipsis} " if level >= levels else ""
            yield None, f"{lead}{bars[node]}{signs.last}{signs.ellipsis} {len(tree.descendants(node)):,} more"


def to_printable(text: str) -> str:
    """Replace line breaks by spaces and control characters by a replacement character."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in JOINERS else " " if c.isspace() else "\ufffd" for c in text)


def to_ascii(text: str) -> str:
    """Return the text in ASCII: letters without accents, and question marks for all other characters."""
    letters = unicodedata.normalize("NFKD", to_printable(text))
    return "".join(c if c.isascii() else "?" for c in letters if count_columns(c))


def count_columns(text: str) -> int:
    """Return the width of a text in terminal columns: wide East Asian letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_count_columns_of(character) for character in text)


def _count_columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, room: int | None, ellipsis: str = "…") -> str:
    """Return the text, or as much of its beginning as leaves room for an ellipsis."""
    if room is None or count_columns(text) <= room:
        return text
    left, end = room - len(ellipsis), 0
    for character in text:
        left -= _count_columns_of(character)
        if left < 0:
            break
        end += 1
    return text[:end].rstrip() + ellipsis


@dataclass(frozen=True)
class TextFormat:
    """Width, number of words, number of levels and character set of a rendered tree."""

    width: int | None = None
    n_words: int | None = None
    depth: int | None = None
    ascii: bool = False


class TextLine(NamedTuple):
    """The parts of one line; ``size`` is empty for a line that counts hidden topics."""

    branch: str
    first: str
    rest: str = ""
    space: str = ""
    size: str = ""

    def __str__(self) -> str:
        return "".join(self).rstrip()


def format_lines(
    tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[int], format: TextFormat, closed: Sequence[int] = ()
) -> list[TextLine]:
    """Return the lines from the root down: the name and the words of each node.

    ``closed`` has the number of hidden topics below each node, which is shown behind its size.
    """
    hidden_counts = [f"+{number:,}" if number else "" for number in closed] or [""] * len(tree)
    widest = max(map(len, hidden_counts))
    numbers = [
        f"{size:,}{' ' * MARGIN}{hidden:<{widest}}" if widest else f"{size:,}"
        for size, hidden in zip(sizes, hidden_counts, strict=True)
    ]
    longest = max(map(len, numbers))
    sized_lines = []
    ellipsis = (ASCII if format.ascii else BOXES).ellipsis
    for node, branch in iter_branches(tree, format.depth, format.width, ascii=format.ascii):
        if node is None:
            sized_lines.append(
                (TextLine("", shorten(branch, format.width, ASCII.ellipsis if format.ascii else BOXES.ellipsis)), "")
            )
            continue
        room = None if format.width is None else max(1, format.width - count_columns(branch) - MARGIN - longest)
        label = _iter_label(tree, words, node, format)
        sized_lines.append((_fit_line(branch, label, room, ellipsis), numbers[node]))
    edge = max(count_columns(str(line)) for line, size in sized_lines if size) + MARGIN + longest
    return [
        line._replace(space=" " * (edge - count_columns(str(line)) - len(size)), size=size.rstrip()) if size else line
        for line, size in sized_lines
    ]


def _iter_label(tree: Tree, words: Sequence[Sequence[str]], node: int, format: TextFormat) -> Iterator[str]:
    """Yield the name, then the words. Words that a name of several words contains are not repeated."""
    name, node_words = tree.names[node], list(words[node][: format.n_words])
    dot = COMMA if format.ascii else DOT
    starts_with_name = not node_words or not (name == node_words[0] or name.startswith(f"{node_words[0]}{DOT}"))
    parts = [name] if starts_with_name else name.split(DOT)
    rest = node_words if starts_with_name else [word for word in node_words if word not in parts]
    for number, word in enumerate(map(to_printable, [*parts, *rest])):
        yield (": " if starts_with_name and number == 1 else dot if number else "") + word


def _fit_line(branch: str, label: Iterator[str], room: int | None, ellipsis: str) -> TextLine:
    """Return a line with as many words as fit, at least the first."""
    first, rest = shorten(next(label), room, ellipsis), ""
    for word in label:
        if room is not None and count_columns(first + rest + word) > room:
            break
        rest += word
    return TextLine(branch, first, rest)
