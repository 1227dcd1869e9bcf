"""Pictures as SVG, drawn by the server: they need no script, print well, and are text for tests.

Lengths are shares of the width, so that a drawing fits any screen and its letters keep their form. Colours are in the
style sheet, because the policy of the pages forbids inline styles.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from markupsafe import Markup

from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.trees.naming.name_test import split_items
from topiarist.web.pictures.svg import To, drawing, element, link, percent, short, titled
from topiarist.web.pictures.tree_picture import HUES, choose_hue
from topiarist.web.values import plain

if TYPE_CHECKING:
    from topiarist.web.pages.map import MapPage
    from topiarist.web.pages.overview import Block

FIRST, ROW, LAST, THIN = 1.7, 3.4, 4.4, 0.7  # heights of rows of an icicle, in letters of the page
NARROWEST = 0.004  # of the width: less cannot be seen
CIRCLES = "Topics as circles, sized by documents"
NESTED = "Drawing of the tree, sized by documents. The list has the same topics."


def draw_bar(share: float, kind: str = "bar") -> Markup:
    return _draw_rect(percent(share), kind)


@lru_cache(maxsize=4096)
def _draw_rect(width: str, kind: str) -> Markup:
    return element("svg", element("rect", width=width, height="100%"), kind=kind, aria_hidden="true")


def draw_interval(low: float, share: float, high: float, other: float, maximum: float) -> Markup:
    """Draw a share with its interval as a line, and another share as a mark."""
    start, middle, end, mark = (percent(value / maximum) for value in (low, share, high, other))
    return element(
        "svg",
        element("line", kind="span", x1=start, x2=end, y1="50%", y2="50%"),
        element("circle", cx=middle, cy="50%", r=4),
        element("line", kind="other", x1=mark, x2=mark, y1="12%", y2="88%"),
        kind="interval", aria_hidden="true",
    )  # fmt: skip


def draw_map_circles(page: MapPage, to: To = str) -> Markup:
    """Draw the circles that are visible first, for browsers that draw no points."""
    first_circles = [item for item in page.circles if item.first]
    shapes = [
        link(
            to(item.address),
            titled(
                "circle", with_documents(plain(item.name), item.documents),
                kind=f"b{(item.branch - 1) % HUES + 1}", cx=item.x, cy=item.y, r=item.radius,
            ),
        )
        for item in first_circles
    ]  # fmt: skip
    shapes += [
        element(
            "text", short(plain(item.name), 24), x=f"{item.x:.3f}",
            y=f"{max(item.y - item.radius - 0.02, -0.93):.3f}", font_size=".065", text_anchor="middle",
        )
        for item in first_circles
        if item.level == 1  # names of more would lie over each other on a small screen
    ]  # fmt: skip
    circles = element("svg", *shapes, Markup(""), width="100%", height="100%", viewBox="-1 -1 2 2")
    return drawing("circles", translate(CIRCLES), [circles])


def draw_icicle(blocks: Sequence[Block], to: To = str) -> Markup:
    return _draw_rows(blocks, to, "icicle", translate(NESTED), (FIRST, ROW, LAST))


def draw_nearby_topics(blocks: Sequence[Block], to: To = str) -> Markup:
    """Draw the icicle with the path to one topic; nothing without a marked topic."""
    way = [block for block in blocks if block.place]
    if not way:
        return Markup("")
    shown_blocks = blocks[1:] if len(way) > 1 else blocks  # a row for the root only says that one is in the collection
    label = translate(
        "Position in the tree: {path}, level {level}, {documents} of {all} documents",
        path=" ▸ ".join(block.name for block in way), level=way[-1].level, documents=way[-1].documents,
        all=blocks[0].documents,
    )  # fmt: skip
    return _draw_rows(shown_blocks, to, "icicle whereabouts", label, (THIN, THIN, THIN))


def _draw_rows(blocks: Sequence[Block], to: To, kind: str, label: str, heights: tuple[float, float, float]) -> Markup:
    """Draw blocks in horizontal bands; ``heights`` are of the first, the middle and the last band."""
    if not blocks:
        return Markup("")
    top = min(block.level for block in blocks)
    rows = max(block.level for block in blocks) - top + 1
    tall = [heights[0], *[heights[1]] * (rows - 2), heights[2]][:rows]
    total, shapes = sum(tall), []
    for block, next_block in zip(blocks, (*blocks[1:], None), strict=True):
        row = block.level - top
        begin = sum(tall[:row])
        is_closed = next_block is None or next_block.level <= block.level
        height = total - begin if is_closed and heights[1] > THIN else tall[row]  # to the bottom, with nothing below
        shapes.append(_draw_block(block, to, begin, height))
    return drawing(kind, label, shapes, height=f"{total:.2f}rem")


def _draw_block(block: Block, to: To, y: float, height: float) -> Markup:
    """Draw a block as a linked rectangle; low blocks have no text."""
    title = translate("{topic}, level {level}", topic=with_documents(block.name, block.documents), level=block.level)
    if block.below:
        title += translate(", {topics} below", topics=CountedNoun(block.below, "topic"))
    label = element("div", element("div", _draw_label(block), kind="label"), kind="room")
    kinds = ("block", "rest" if block.topic is None else f"l{min(block.level, 5)}", block.place)
    return link(
        to(block.address),
        element(
            "svg",
            element("title", title),
            element("rect", width="100%", height="100%"),
            Markup("") if height < FIRST else element("foreignObject", label, width="100%", height="100%"),
            x=f"{100 * block.left:.3f}%", y=f"{y:.2f}rem",
            width=f"{100 * max(block.width, NARROWEST):.3f}%", height=f"{height:.2f}rem",
            kind=" ".join(filter(None, (*kinds, choose_hue(block.branch)))),
        ),
    )  # fmt: skip


def _draw_label(block: Block) -> Markup:
    """Return the text of a block: name, size and words that the name lacks."""
    parts = [block.name] if block.named or block.topic is None else block.name.split(" · ")
    name = element("i", " · ").join(element("span", part) for part in parts)
    name_words = {item.casefold() for item in split_items(block.name)}
    new_words = [word for word in block.words if word.casefold() not in name_words]
    size = f"{block.documents:,}" + (f" +{block.below:,}" if block.below else "")
    labels = (
        element("b", name),
        element("span", size, kind="size"),
        element("span", ", ".join(new_words), kind="more"),
    )
    return Markup(" ").join(labels)


def draw_stacked_bar(parts: Sequence[tuple[str, float, str, str]]) -> Markup:
    """Draw one bar of several shares, given as class, share, title and address."""
    left, shapes = 0.0, [Markup("")]
    for kind, share, title, address in parts:
        if share > 0:
            part = titled("rect", title, kind=kind, x=percent(left, 2), width=percent(share, 2), height="100%")
            shapes.append(link(address, part) if address else part)
            left += share
    return element("svg", *shapes, kind="stacked", aria_hidden="true")


def draw_curve(points: Sequence[tuple[float, float]], selected_place: int, label: str) -> Markup:
    """Draw points joined by lines with the selected one marked; nothing for a single point."""
    if len(points) < 2:
        return Markup("")
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    places = [
        (
            f"{10 + 86 * (x - left) / max(right - left, 1e-12):.2f}%",
            f"{8 + 76 * (high - y) / max(high - low, 1e-12):.2f}%",
        )
        for x, y in points
    ]
    shapes = [element("line", x1=x1, y1=y1, x2=x2, y2=y2) for (x1, y1), (x2, y2) in pairwise(places)]
    for number, ((x, y), (x_value, y_value)) in enumerate(zip(places, points, strict=True)):
        kind, title = "chosen" if number == selected_place else "", f"{x_value:g}: {y_value:,.0f}"
        shapes.append(titled("circle", title, kind=kind, cx=x, cy=y, r=6 if kind else 3))
    ends = (
        ("9%", "11%", "end", high),
        ("9%", "87%", "end", low),
        ("10%", "98%", "middle", left),
        ("96%", "98%", "middle", right),
    )
    for x, y, anchor, value in ends:
        text = f"{value:,.4g}" if abs(value) < 100 else f"{value:,.0f}"
        shapes.append(element("text", text, x=x, y=y, text_anchor=anchor))
    return element("svg", *shapes, kind="curve", role="img", aria_label=label)


def with_documents(name: str, documents: int) -> str:
    return translate("{name}: {documents}", name=name, documents=CountedNoun(documents, "document"))
