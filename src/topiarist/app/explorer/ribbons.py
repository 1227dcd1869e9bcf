"""The picture of two trees as SVG: two columns of topics, as high as they have documents, and streams between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from markupsafe import Markup

from topiarist.app.explorer.drawings import short, with_documents
from topiarist.app.languages.catalogues import worded

if TYPE_CHECKING:
    from topiarist.app.explorer.pages.trees import Block, Picture

OUTER, INNER, BETWEEN = 132, 208, 250  # widths: of headings, of topics, of the streams
SIDE, WIDTH = OUTER + INNER, 2 * (OUTER + INNER) + BETWEEN
GAP, ROW = 4, 26  # between blocks; of a block, on average
LOW, HIGH = 300, 860  # heights
LINE = 14  # height that a name needs
SIGN = 6.4  # width of a letter
LABEL = (
    "Two trees side by side: the topics of each one below the other, as high as they have documents, and streams of "
    "documents between them. The list below says the same."
)


def ribbons(
    picture: Picture, titles: tuple[str, str], to: Callable[[str], str] = str, plain: Callable[[str], str] = str
) -> Markup:
    """The picture; the list below it says the same. ``plain`` takes signs out of names that no line can show."""
    picture = replace(picture, left=_named(picture.left, plain), right=_named(picture.right, plain))
    sides = (picture.left, picture.right)
    most, total = max(map(len, sides)), max(sum(block.documents for block in side) for side in sides)
    unit = (min(max(most * ROW, LOW), HIGH) - (most - 1) * GAP) / max(total, 1)
    tops = [_tops(side, unit) for side in sides]
    drawn = [_streams(picture, tops, unit, to)]
    for number, side in enumerate(sides):
        drawn.append(_headings(side, tops[number], unit, number == 1))
        drawn += [_block(block, top, unit, number == 1, to) for block, top in zip(side, tops[number], strict=True)]
        title = Markup('<text class="title" x="{}" y="-8">{}</text>')
        drawn.append(title.format(number * (SIDE + BETWEEN), _short(titles[number], SIDE + (1 - number) * BETWEEN)))
    height = max(side[-1] + _high(blocks[-1], unit) for side, blocks in zip(tops, sides, strict=True))
    return Markup(
        '<svg class="ribbons" role="group" aria-label="{}" viewBox="0 -24 {} {}"><g aria-hidden="true">{}</g></svg>'
    ).format(worded(LABEL), WIDTH, f"{height + 26:.0f}", Markup("").join(drawn))


def _named(side: Sequence[Block], plain: Callable[[str], str]) -> tuple[Block, ...]:
    return tuple(replace(block, name=plain(block.name), heading=plain(block.heading)) for block in side)


def _high(block: Block, unit: float) -> float:
    """The height of a block: a name fits in, however few its documents are."""
    return max(block.documents * unit, LINE)


def _tops(side: Sequence[Block], unit: float) -> list[float]:
    found, y = [], 0.0
    for block in side:
        found.append(y)
        y += _high(block, unit) + GAP
    return found


def _block(block: Block, y: float, unit: float, right: bool, to: Callable[[str], str]) -> Markup:
    """A topic: its name, and how many documents it has. It is as wide as its side where no heading stands beside it."""
    height, width = _high(block, unit), INNER if block.heading else SIDE
    x = SIDE + BETWEEN if right else SIDE - width
    kind, size = "rest" if block.topic is None else "l1", f"{block.documents:,}"
    middle = f"{y + height / 2 + 4:.1f}"
    text = Markup('<text x="{}" y="{}">{}</text><text class="size" x="{}" y="{}">{}</text>').format(
        x + 6, middle, _short(block.name, width - 14 - SIGN * (len(size) + 1)), x + width - 6, middle, size
    )
    body = Markup('<g class="block {}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}"/>{}</g>').format(
        kind, with_documents(block.name, block.documents), x, f"{y:.1f}", width, f"{height:.1f}", text
    )
    return _link(block.address, body, to)


def _headings(side: Sequence[Block], tops: Sequence[float], unit: float, right: bool) -> Markup:
    """The topics of the first level, beside those that lie under them."""
    drawn, place, x = Markup(""), 0, WIDTH - OUTER + 3 if right else 0
    for name, group in groupby(side, key=lambda block: block.heading):
        blocks = list(group)
        top, last = tops[place], place + len(blocks) - 1
        height = tops[last] + _high(side[last], unit) - top
        place = last + 1
        if not name:
            continue
        middle = f"{top + min(height / 2, 60) + 4:.1f}"
        text = Markup('<text x="{}" y="{}">{}</text>').format(x + 6, middle, _short(name, OUTER - 14))
        total = sum(block.documents for block in blocks)
        drawn += Markup(
            '<g class="block l0"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}"/>{}</g>'
        ).format(with_documents(name, total), x, f"{top:.1f}", OUTER - 3, f"{height:.1f}", text)
    return drawn


def _streams(picture: Picture, tops: Sequence[Sequence[float]], unit: float, to: Callable[[str], str]) -> Markup:
    """Streams from block to block; those of a block one below the other in the order of where they go."""
    begins: dict[int, dict[int, float]] = defaultdict(dict)
    ends: dict[int, dict[int, float]] = defaultdict(dict)
    filled_a, filled_b = list(tops[0]), list(tops[1])
    for one in sorted(picture.streams, key=lambda stream: (stream.left, stream.right)):
        begins[one.left][one.right] = filled_a[one.left]
        filled_a[one.left] += one.documents * unit
    for one in sorted(picture.streams, key=lambda stream: (stream.right, stream.left)):
        ends[one.left][one.right] = filled_b[one.right]
        filled_b[one.right] += one.documents * unit
    x1, x2 = SIDE + 1, SIDE + BETWEEN - 1
    middle, drawn = (x1 + x2) / 2, Markup("")
    for one in sorted(picture.streams, key=lambda stream: -stream.documents):
        y1, y2, high = begins[one.left][one.right], ends[one.left][one.right], max(one.documents * unit, 0.8)
        path = (
            f"M{x1} {y1:.1f}C{middle} {y1:.1f} {middle} {y2:.1f} {x2} {y2:.1f}V{y2 + high:.1f}"
            f"C{middle} {y2 + high:.1f} {middle} {y1 + high:.1f} {x1} {y1 + high:.1f}Z"
        )
        left, right = picture.left[one.left], picture.right[one.right]
        title = with_documents(f"{left.name} → {right.name}", one.documents)
        body = Markup('<path class="{}" d="{}"><title>{}</title></path>').format(
            "stays" if one.stays else "moves", path, title
        )
        drawn += _link(one.address, body, to)
    return drawn


def _link(address: str, body: Markup, to: Callable[[str], str]) -> Markup:
    return Markup('<a href="{}" tabindex="-1">{}</a>').format(to(address), body) if address else body


def _short(text: str, width: float) -> str:
    return short(text, max(int(width / SIGN), 2))
