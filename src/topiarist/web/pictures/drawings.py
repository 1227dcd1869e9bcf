"""Pictures as SVG, drawn here and not in the browser: they need no script, print well, and are text to a test.

Lengths are shares of the width, so that a drawing fits any screen without its letters being stretched. There is no
style in them: the policy of the pages forbids it, and the style sheet has the colours of both themes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from markupsafe import Markup

from topiarist.display.locale.catalogues import CountedNoun, Share, translate
from topiarist.trees.naming.name_test import split_items
from topiarist.web import addresses
from topiarist.web.pictures.tree_picture import choose_hue
from topiarist.web.values import plain

if TYPE_CHECKING:
    from topiarist.web.pages.compare import ComparePage, LabelRow
    from topiarist.web.pages.map import MapPage
    from topiarist.web.pages.overview import Block

FIRST, ROW, LAST, THIN = 1.7, 3.4, 4.4, 0.7  # heights of rows of an icicle, in letters of the page
NARROWEST = 0.004  # of the width: less cannot be seen
SIZE, TOP, RIGHT = 22, 122, 86  # of a square; room for the names of columns, which lean over
LONGEST, SIGN = 26, 7  # letters of the name of a row, and the width of one
FAINTEST = 0.005  # of a label, to be drawn
SQUARES = "Labels (rows) against topics (columns). Darker squares hold more documents. The table has the numbers."
SHADES = "Colours of the squares, from 0% to 100% of the label"
CIRCLES = "Topics as circles, sized by documents"
NESTED = "Drawing of the tree, sized by documents. The list has the same topics."


def draw_bar(share: float, kind: str = "bar") -> Markup:
    return _bar(f"{100 * min(max(share, 0.0), 1.0):.1f}%", kind)


@lru_cache(maxsize=4096)
def _bar(width: str, kind: str) -> Markup:
    return Markup('<svg class="{}" aria-hidden="true"><rect width="{}" height="100%"/></svg>').format(kind, width)


def draw_interval(low: float, share: float, high: float, other: float, maximum: float) -> Markup:
    at = [f"{100 * min(max(value / maximum, 0.0), 1.0):.1f}%" for value in (low, share, high, other)]
    return Markup(
        '<svg class="interval" aria-hidden="true"><line class="span" x1="{}" x2="{}" y1="50%" y2="50%"/>'
        '<circle cx="{}" cy="50%" r="4"/><line class="other" x1="{}" x2="{}" y1="12%" y2="88%"/></svg>'
    ).format(at[0], at[2], at[1], at[3], at[3])


def draw_map_circles(page: MapPage, to: Callable[[str], str] = str) -> Markup:
    """Draw the circles that are visible first, for browsers that draw no points."""
    first_circles = [item for item in page.circles if item.first]
    shapes = [
        Markup(
            '<a href="{}" tabindex="-1"><circle class="b{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle></a>'
        ).format(
            to(item.address),
            (item.branch - 1) % 9 + 1,
            item.x,
            item.y,
            item.radius,
            with_documents(plain(item.name), item.documents),
        )
        for item in first_circles
    ]
    text = Markup('<text x="{}" y="{}" font-size=".065" text-anchor="middle">{}</text>')
    names = [
        text.format(f"{item.x:.3f}", f"{max(item.y - item.radius - 0.02, -0.93):.3f}", short(plain(item.name), 24))
        for item in first_circles
        if item.level == 1  # names of more would lie over each other on a small screen
    ]
    return Markup(
        '<svg class="circles" role="group" aria-label="{}">'
        '<g aria-hidden="true"><svg width="100%" height="100%" viewBox="-1 -1 2 2">{}{}</svg></g></svg>'
    ).format(translate(CIRCLES), Markup("").join(shapes), Markup("").join(names))


def draw_icicle(blocks: Sequence[Block], to: Callable[[str], str] = str) -> Markup:
    return _rows(blocks, to, "icicle", translate(NESTED), (FIRST, ROW, LAST))


def draw_nearby_topics(blocks: Sequence[Block], to: Callable[[str], str] = str) -> Markup:
    """Draw the tree as a strip with the path to one topic."""
    way = [block for block in blocks if block.place]
    if not way:
        return Markup("")
    shown_blocks = blocks[1:] if len(way) > 1 else blocks  # a row for the root only says that one is in the collection
    label = translate(
        "Position in the tree: {path}, level {level}, {documents} of {all} documents",
        path=" ▸ ".join(block.name for block in way), level=way[-1].level, documents=way[-1].documents,
        all=blocks[0].documents,
    )  # fmt: skip
    return _rows(shown_blocks, to, "icicle whereabouts", label, (THIN, THIN, THIN))


def _rows(
    blocks: Sequence[Block], to: Callable[[str], str], kind: str, label: str, heights: tuple[float, float, float]
) -> Markup:
    """Draw blocks in rows; ``heights`` are the heights of the first row, the rows between and the last row."""
    if not blocks:
        return Markup("")
    top = min(block.level for block in blocks)
    rows = max(block.level for block in blocks) - top + 1
    tall = [heights[0], *[heights[1]] * (rows - 2), heights[2]][:rows]
    begins = [sum(tall[:row]) for row in range(rows)]
    ends = [
        sum(tall) if heights[1] > THIN and closed else begins[block.level - top] + tall[block.level - top]
        for block, closed in zip(blocks, _closed(blocks), strict=True)
    ]
    shapes = [
        _block(block, to, begins[block.level - top], end - begins[block.level - top])
        for block, end in zip(blocks, ends, strict=True)
    ]
    return Markup(
        '<svg class="{}" height="{}rem" role="group" aria-label="{}"><g aria-hidden="true">{}</g></svg>'
    ).format(kind, f"{sum(tall):.2f}", label, Markup("").join(shapes))


def _closed(blocks: Sequence[Block]) -> list[bool]:
    """Return for each block whether it has no block below it, so that it reaches to the bottom."""
    return [next_block.level <= block.level for block, next_block in pairwise(blocks)] + [True]


def _block(block: Block, to: Callable[[str], str], y: float, height: float) -> Markup:
    kind = "rest" if block.topic is None else f"l{min(block.level, 5)}"
    room = Markup(
        '<foreignObject width="100%" height="100%"><div class="room"><div class="label">{}</div></div></foreignObject>'
    )
    label = Markup("") if height < FIRST else room.format(_label(block))
    return Markup(
        '<a href="{}" tabindex="-1"><svg x="{}%" y="{}rem" width="{}%" height="{}rem" class="block {}">'
        '<title>{}</title><rect width="100%" height="100%"/>{}</svg></a>'
    ).format(
        to(block.address),
        f"{100 * block.left:.3f}",
        f"{y:.2f}",
        f"{100 * max(block.width, NARROWEST):.3f}",
        f"{height:.2f}",
        " ".join(f"{kind} {block.place} {choose_hue(block.branch)}".split()),
        translate("{topic}, level {level}", topic=with_documents(block.name, block.documents), level=block.level)
        + (translate(", {topics} below", topics=CountedNoun(block.below, "topic")) if block.below else ""),
        label,
    )


def _label(block: Block) -> Markup:
    parts = [block.name] if block.named or block.topic is None else block.name.split(" · ")
    name = Markup("<i> · </i>").join(Markup("<span>{}</span>").format(part) for part in parts)
    name_words = {item.casefold() for item in split_items(block.name)}
    new_words = [word for word in block.words if word.casefold() not in name_words]
    size = f"{block.documents:,}" + (f" +{block.below:,}" if block.below else "")
    return Markup('<b>{}</b> <span class="size">{}</span> <span class="more">{}</span>').format(
        name, size, ", ".join(new_words)
    )


def draw_stacked_bar(parts: Sequence[tuple[str, float, str, str]]) -> Markup:
    """Draw one bar of several parts: classes, shares, titles and addresses."""
    left, shapes = 0.0, []
    for kind, share, title, address in parts:
        if share <= 0:
            continue
        part = Markup('<rect class="{}" x="{}%" width="{}%" height="100%"><title>{}</title></rect>').format(
            kind, f"{100 * left:.2f}", f"{100 * share:.2f}", title
        )
        shapes.append(Markup('<a href="{}" tabindex="-1">{}</a>').format(address, part) if address else part)
        left += share
    return Markup('<svg class="stacked" aria-hidden="true">{}</svg>').format(Markup("").join(shapes))


def draw_curve(points: Sequence[tuple[float, float]], selected_place: int, label: str) -> Markup:
    if len(points) < 2:
        return Markup("")
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)

    def place(point: tuple[float, float]) -> tuple[str, str]:
        x = 10 + 86 * (point[0] - left) / max(right - left, 1e-12)
        y = 8 + 76 * (high - point[1]) / max(high - low, 1e-12)
        return f"{x:.2f}%", f"{y:.2f}%"

    shapes = []
    for start, end in pairwise(points):
        (x1, y1), (x2, y2) = place(start), place(end)
        shapes.append(Markup('<line x1="{}" y1="{}" x2="{}" y2="{}"/>').format(x1, y1, x2, y2))
    for number, point in enumerate(points):
        x, y = place(point)
        kind = "chosen" if number == selected_place else ""
        title = f"{point[0]:g}: {point[1]:,.0f}"
        shapes.append(
            Markup('<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>').format(
                kind, x, y, 6 if kind else 3, title
            )
        )
    shapes += [
        _end("9%", "11%", "end", high),
        _end("9%", "87%", "end", low),
        _end("10%", "98%", "middle", left),
        _end("96%", "98%", "middle", right),
    ]
    return Markup('<svg class="curve" role="img" aria-label="{}">{}</svg>').format(label, Markup("").join(shapes))


def _end(x: str, y: str, anchor: str, value: float) -> Markup:
    text = f"{value:,.4g}" if abs(value) < 100 else f"{value:,.0f}"
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def draw_squares(page: ComparePage, to: Callable[[str], str] = str) -> Markup:
    """Draw labels against topics as squares; stronger colours are larger shares of a label.

    ``to`` turns an address into the link of a square.
    """
    rows = sorted(page.rows, key=lambda row: (row.shares.index(max(row.shares)), -row.documents, row.label))
    names = [plain(topic.name) for topic in page.topics]
    left = SIGN * min(max(len(plain(row.label)) for row in rows), LONGEST) + 12
    shapes = [_squares_row(row, (left, TOP + number * SIZE), page, names, to) for number, row in enumerate(rows)]
    column_labels = Markup(
        '<a href="{}" tabindex="-1"><text transform="translate({} {}) rotate(-50)"><title>{}</title>{}</text></a>'
    )
    for x, (topic, name) in enumerate(zip(page.topics, names, strict=True)):
        at = left + x * SIZE + SIZE // 2
        shapes.append(
            column_labels.format(to(topic.address), at, TOP - 6, f"{name}: {topic.documents:,}", short(name, 20))
        )
    width, height = left + len(names) * SIZE + RIGHT, TOP + len(rows) * SIZE
    return Markup(
        '<svg class="squares" role="group" aria-label="{}" width="{}rem" height="{}rem" viewBox="0 0 {} {}">'
        '<g aria-hidden="true">{}</g></svg>'
    ).format(translate(SQUARES), width / 16, height / 16, width, height, Markup("").join(shapes))


def draw_legend() -> Markup:
    """Draw the legend of the colours of squares."""
    steps = [0.0, 0.25, 0.5, 0.75, 1.0]
    band = Markup('<rect class="band" width="{}" height="{}" y="18"/>').format(len(steps) * 2 * SIZE, SIZE - 2)
    shapes = [
        Markup('<rect x="{}" y="18" width="{}" height="{}" fill-opacity="{}"/><text x="{}" y="12">{}</text>').format(
            at * 2 * SIZE, 2 * SIZE - 2, SIZE - 2, _opacity(share), at * 2 * SIZE, f"{share:.0%}"
        )
        for at, share in enumerate(steps)
    ]
    width, height = len(steps) * 2 * SIZE, SIZE + 18
    return Markup(
        '<svg class="squares shades" role="img" aria-label="{}" '
        'width="{}rem" height="{}rem" viewBox="0 0 {} {}">{}</svg>'
    ).format(translate(SHADES), width / 16, height / 16, width, height, band + Markup("").join(shapes))


def _opacity(share: float) -> str:
    return f"{0.12 + 0.88 * share:.2f}" if share >= FAINTEST else "0"


def _squares_row(
    row: LabelRow,
    place: tuple[int, int],
    page: ComparePage,
    names: list[str],
    to: Callable[[str], str],
) -> Markup:
    label, (left, y) = plain(row.label), place
    shapes = Markup(
        '<a href="{}" tabindex="-1"><text x="{}" y="{}" text-anchor="end"><title>{}</title>{}</text></a>'
        '<rect class="band" x="{}" y="{}" width="{}" height="{}"/>'
    ).format(
        to(row.address),
        left - 8,
        y + 15,
        with_documents(label, row.documents),
        short(label, LONGEST),
        left,
        y,
        len(names) * SIZE - 2,
        SIZE - 2,
    )
    square = Markup(
        '<a href="{}" tabindex="-1"><rect x="{}" y="{}" width="{}" height="{}" fill-opacity="{}"><title>{}</title>'
        "</rect></a>"
    )
    for x, share in enumerate(row.shares):
        if share >= FAINTEST:
            title = translate(
                "{topic}, {share} of the label",
                topic=with_documents(f"{label}, {names[x]}", row.counts[x]), share=Share(share),
            )  # fmt: skip
            shapes += square.format(
                to(addresses.labelled_documents(row.label, page.topics[x].id)),
                left + x * SIZE,
                y,
                SIZE - 2,
                SIZE - 2,
                _opacity(share),
                title,
            )
    return shapes


def with_documents(name: str, documents: int) -> str:
    return translate("{name}: {documents}", name=name, documents=CountedNoun(documents, "document"))


def short(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[: max_length - 1].rstrip(' ·')}…"
