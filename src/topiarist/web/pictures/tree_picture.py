"""Picture of the tree as SVG: branches from left to right, as thick as their number of documents.

The names are a list of the page, one row a topic that is not open; this draws what lies under them. Both go by the same
few widths: rows are all of one height, and columns are shares of the width of the picture, so that letters may have any
size. An open topic stands half-way between the first and the last row below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from topiarist.web.pictures.svg import To, element, link, titled

if TYPE_CHECKING:
    from topiarist.web.frame import Row
    from topiarist.web.values import TopicLine

ROOT = 9.0  # of a hundred: the width of the column of the root
COLUMNS = (24.0, 24.0, 20.0, 17.0, 13.5, 11.0, 9.2, 8.0, 7.0, 6.2, 5.6)  # of open topics, by how many levels of them
DEEPEST = len(COLUMNS) - 1  # levels that are open at most; deeper ones are a click away
BEND, MOST_BEND, GAP = 0.28, 5.0, 0.5  # of a column, of all, before a name
THINNEST, THINNER, THICKEST = 0.035, 1.3, 3.2  # in rows: of a branch; of the trunk, in a small picture and a large one
OPEN_ROWS = 3  # that an open branch has at least; the style sheet has the same height
HUES, SHAPES = 9, 7  # colours of headings, and signs beside them: together they come back after 63


@dataclass(frozen=True)
class Branch:
    """Position of a topic in the picture, in rows from the top."""

    row: Row
    depth: int
    begin: float
    middle: float
    thick: float


def choose_hue(branch: int) -> str:
    """Return the CSS classes of a heading and its branch; empty for the root."""
    return f"b{(branch - 1) % HUES + 1} s{(branch - 1) % SHAPES + 1}" if branch else ""


def count_rows(row: Row) -> int:
    """Return the rows of a branch; an open one has room for its name above its own line."""
    return max(_count_rows_below(row), OPEN_ROWS) if row.below else 1


def _count_rows_below(row: Row) -> int:
    return sum(map(count_rows, row.below)) + (row.more > 0)


def count_open_levels(row: Row) -> int:
    return max((1 + count_open_levels(item) for item in row.below if item.below), default=0)


def count_columns(row: Row) -> int:
    return min(count_open_levels(row), DEEPEST)


def compute_document_height(row: Row) -> float:
    """Return the height of one document in rows: the thickness of the trunk divided by the number of documents."""
    return min(max(count_rows(row) / 16, THINNER), THICKEST) / max(row.topic.documents, 1)


def compute_thickness(unit: float, topic: TopicLine) -> int:
    """Return the thickness of a branch in quarters of a row."""
    return min(round(4 * unit * topic.documents), round(4 * THICKEST))


def draw_tree(row: Row, to: To = str) -> Markup:
    """Draw the branches below the names of the list."""
    shapes = [_draw_branch(item, count_columns(row), to) for item in _iterate_branches(row)]
    view_box = f"0 0 100 {count_rows(row)}"
    return element("svg", *shapes, kind="boughs", viewBox=view_box, preserveAspectRatio="none", aria_hidden="true")


def _iterate_branches(root: Row) -> Iterator[Branch]:
    """Yield the positions of all topics, parents first."""
    high, unit = count_rows(root), compute_document_height(root)

    def thick(row: Row) -> float:
        return max(row.topic.documents * unit, THINNEST)

    def draw_children(row: Row, depth: int, begin: float, top: float) -> Iterator[Branch]:
        middle = top + count_rows(row) / 2
        yield Branch(row, depth, begin, middle, thick(row))
        place = middle - sum(map(thick, row.below)) / 2
        top = middle - _count_rows_below(row) / 2
        for child in row.below:
            yield from draw_children(child, depth + 1, place + thick(child) / 2, top)
            top, place = top + count_rows(child), place + thick(child)

    return draw_children(root, 0, high / 2, 0.0)


def _draw_branch(branch: Branch, level: int, to: To) -> Markup:
    """Draw one branch as a linked path with a title."""
    wide, depth, half = COLUMNS[level], branch.depth, branch.thick / 2
    bend = min(BEND * wide, MOST_BEND)
    left = ROOT + wide * (depth - 1) if depth else 0.0
    right = ROOT + wide * depth if branch.row.below else ROOT + wide * level + bend - GAP
    bent = min(left + bend, right) if depth else 0.0
    turn, low, up = (left + bent) / 2, branch.begin + half, branch.begin - half
    path = (
        f"M{left:.2f} {up:.3f}C{turn:.2f} {up:.3f} {turn:.2f} {branch.middle - half:.3f} {bent:.2f} "
        f"{branch.middle - half:.3f}H{right:.2f}V{branch.middle + half:.3f}H{bent:.2f}"
        f"C{turn:.2f} {branch.middle + half:.3f} {turn:.2f} {low:.3f} {left:.2f} {low:.3f}Z"
    )
    topic = branch.row.topic
    kind = f"{choose_hue(topic.branch)} o{min(depth, 4)}".strip()
    return link(to(topic.address), titled("path", f"{topic.name}: {topic.documents:,}", kind=kind, d=path))
