"""Pictures as SVG, drawn here and not in the browser: they need no script, print well, and are text to a test.

Lengths are shares of the width, so that a drawing fits any screen without its letters being stretched. There is no
style in them: the policy of the pages forbids it, and the style sheet has the colours of both themes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from topiarist.app.explorer import addresses
from topiarist.app.explorer.tree_picture import hue
from topiarist.app.languages.catalogues import Counted, Share, worded

if TYPE_CHECKING:
    from topiarist.app.explorer.pages.overview import Block
    from topiarist.app.explorer.pages.spread.compare import ComparePage, LabelRow
    from topiarist.app.explorer.pages.spread.map import Circle

FIRST, ROW, LAST, THIN = 1.7, 3.4, 4.4, 0.7  # heights of rows of an icicle, in letters of the page
NARROWEST = 0.004  # of the width: less cannot be seen
SIZE, TOP, RIGHT = 22, 122, 86  # of a square; room for the names of columns, which lean over
LONGEST, SIGN = 26, 7  # letters of the name of a row, and the width of one
FAINTEST = 0.005  # of a label, to be drawn
SQUARES = (
    "Labels (rows) against topics (columns, in the order of the tree): the stronger the colour of a square, the more "
    "of the label is in the topic. The table has the numbers."
)
SHADES = "The shades of the squares: from 0% to 100% of the label"
CIRCLES = "The topics as circles, as large as they have documents"
NESTED = "The tree as a drawing: topics one below the other, each as wide as it has documents. A list says the same."
JOINED = "Groups at the left join step by step to the right. The list below has the groups at the cut."


def bar(share: float, kind: str = "bar") -> Markup:
    """A bar of some share of its column. The number stands beside it in words."""
    return _bar(f"{100 * min(max(share, 0.0), 1.0):.1f}%", kind)


@lru_cache(maxsize=4096)
def _bar(width: str, kind: str) -> Markup:
    return Markup('<svg class="{}" aria-hidden="true"><rect width="{}" height="100%"/></svg>').format(kind, width)


def interval(low: float, share: float, high: float, other: float, most: float) -> Markup:
    """A share as a dot in its interval, and another one as a line across. The numbers stand beside it."""
    at = [f"{100 * min(max(value / most, 0.0), 1.0):.1f}%" for value in (low, share, high, other)]
    return Markup(
        '<svg class="interval" aria-hidden="true"><line class="span" x1="{}" x2="{}" y1="50%" y2="50%"/>'
        '<circle cx="{}" cy="50%" r="4"/><line class="other" x1="{}" x2="{}" y1="12%" y2="88%"/></svg>'
    ).format(at[0], at[2], at[1], at[3], at[3])


def map_circles(circles: Sequence[Circle], to: Callable[[str], str], plain: Callable[[str], str]) -> Markup:
    """The circles of the map that are seen first, for those whose browser draws no points. The tree says the same."""
    shown = [one for one in circles if one.first]
    drawn = [
        Markup(
            '<a href="{}" tabindex="-1"><circle class="b{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle></a>'
        ).format(
            to(one.address),
            (one.branch - 1) % 9 + 1,
            one.x,
            one.y,
            one.radius,
            with_documents(plain(one.name), one.documents),
        )
        for one in shown
    ]
    text = Markup('<text x="{}" y="{}" font-size=".065" text-anchor="middle">{}</text>')
    names = [
        text.format(f"{one.x:.3f}", f"{max(one.y - one.radius - 0.02, -0.93):.3f}", short(plain(one.name), 24))
        for one in shown
        if one.level == 1  # names of more would lie over each other on a small screen
    ]
    return Markup(
        '<svg class="circles" role="group" aria-label="{}">'
        '<g aria-hidden="true"><svg width="100%" height="100%" viewBox="-1 -1 2 2">{}{}</svg></g></svg>'
    ).format(worded(CIRCLES), Markup("").join(drawn), Markup("").join(names))


def icicle(blocks: Sequence[Block], to: Callable[[str], str] = str) -> Markup:
    """Nested topics, as wide as they have documents. The list below it says the same."""
    return _rows(blocks, to, "icicle", worded(NESTED), (FIRST, ROW, LAST))


def whereabouts(blocks: Sequence[Block], to: Callable[[str], str] = str) -> Markup:
    """The whole tree in a strip, with the way to one topic; the path above it and the list of the tree say the same."""
    way = [block for block in blocks if block.place]
    if not way:
        return Markup("")
    shown = blocks[1:] if len(way) > 1 else blocks  # a row for the root only says that one is in the collection
    label = worded(
        "Where you are in the whole tree: {path}, level {level}, {documents} of {all} documents",
        path=" ▸ ".join(block.name for block in way), level=way[-1].level, documents=way[-1].documents,
        all=blocks[0].documents,
    )  # fmt: skip
    return _rows(shown, to, "icicle whereabouts", label, (THIN, THIN, THIN))


def _rows(
    blocks: Sequence[Block], to: Callable[[str], str], kind: str, label: str, heights: tuple[float, float, float]
) -> Markup:
    """Blocks in rows; ``heights`` are those of the first row, of rows between, and of the last one."""
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
    drawn = [
        _block(block, to, begins[block.level - top], end - begins[block.level - top])
        for block, end in zip(blocks, ends, strict=True)
    ]
    return Markup(
        '<svg class="{}" height="{}rem" role="group" aria-label="{}"><g aria-hidden="true">{}</g></svg>'
    ).format(kind, f"{sum(tall):.2f}", label, Markup("").join(drawn))


def _closed(blocks: Sequence[Block]) -> list[bool]:
    """Which blocks have nothing below them: they reach down to the end of a drawing, so that their names have room."""
    return [after.level <= block.level for block, after in pairwise(blocks)] + [True]


def _block(block: Block, to: Callable[[str], str], y: float, height: float) -> Markup:
    """A rectangle that is a link. How much of its label fits, the style sheet knows, for it knows the width."""
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
        " ".join(f"{kind} {block.place} {hue(block.branch)}".split()),
        worded("{topic}, level {level}", topic=with_documents(block.name, block.documents), level=block.level)
        + (worded(", {topics} below", topics=Counted(block.below, "topic")) if block.below else ""),
        label,
    )


def _label(block: Block) -> Markup:
    """The name, the size, and as many more words as there is room for."""
    parts = [block.name] if block.named or block.topic is None else block.name.split(" · ")
    name = Markup("<i> · </i>").join(Markup("<span>{}</span>").format(part) for part in parts)
    more = [word for word in block.words if word.casefold() not in {part.casefold() for part in parts}]
    size = f"{block.documents:,}" + (f" +{block.below:,}" if block.below else "")
    return Markup('<b>{}</b> <span class="size">{}</span> <span class="more">{}</span>').format(
        name, size, ", ".join(more)
    )


def stacked(parts: Sequence[tuple[str, float, str, str]]) -> Markup:
    """One bar of several parts: their kinds, shares, what they are, and where they lead to, if anywhere."""
    left, drawn = 0.0, []
    for kind, share, title, address in parts:
        if share <= 0:
            continue
        part = Markup('<rect class="{}" x="{}%" width="{}%" height="100%"><title>{}</title></rect>').format(
            kind, f"{100 * left:.2f}", f"{100 * share:.2f}", title
        )
        drawn.append(Markup('<a href="{}" tabindex="-1">{}</a>').format(address, part) if address else part)
        left += share
    return Markup('<svg class="stacked" aria-hidden="true">{}</svg>').format(Markup("").join(drawn))


def line(points: Sequence[tuple[float, float]], chosen: int, label: str) -> Markup:
    """A curve; one of its points is the one that was chosen. Its numbers stand in the table below it."""
    if len(points) < 2:
        return Markup("")
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)

    def place(point: tuple[float, float]) -> tuple[str, str]:
        x = 10 + 86 * (point[0] - left) / max(right - left, 1e-12)
        y = 8 + 76 * (high - point[1]) / max(high - low, 1e-12)
        return f"{x:.2f}%", f"{y:.2f}%"

    drawn = []
    for before, after in pairwise(points):
        (x1, y1), (x2, y2) = place(before), place(after)
        drawn.append(Markup('<line x1="{}" y1="{}" x2="{}" y2="{}"/>').format(x1, y1, x2, y2))
    for number, point in enumerate(points):
        x, y = place(point)
        kind = "chosen" if number == chosen else ""
        title = f"{point[0]:g}: {point[1]:,.0f}"
        drawn.append(
            Markup('<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>').format(
                kind, x, y, 6 if kind else 3, title
            )
        )
    drawn += [
        _end("9%", "11%", "end", high),
        _end("9%", "87%", "end", low),
        _end("10%", "98%", "middle", left),
        _end("96%", "98%", "middle", right),
    ]
    return Markup('<svg class="curve" role="img" aria-label="{}">{}</svg>').format(label, Markup("").join(drawn))


def _end(x: str, y: str, anchor: str, value: float) -> Markup:
    """The number at an end of an axis."""
    said = f"{value:,.4g}" if abs(value) < 100 else f"{value:,.0f}"
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, said)


def dendrogram(page: Any, to: Callable[[str], str] = str) -> Markup:
    """Merges, leaves at the left, the root at the right; the list of groups below it says the same."""
    row, tips = 1.5, 34.0  # height of a row in letters of the page, and the share of the width that names take
    drawn = []
    for one in page.strokes:
        ends = (f"{tips + one.x1 * (100 - tips):.2f}%", f"{tips + one.x2 * (100 - tips):.2f}%")
        drawn.append(
            Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
                "above" if one.cut else "", ends[0], f"{one.y1 * row:.3f}rem", ends[1], f"{one.y2 * row:.3f}rem"
            )
        )
    name = Markup('<a href="{}" tabindex="-1"><text x="0" y="{}">{}</text></a>')
    drawn += [
        name.format(to(tip.address), f"{tip.row * row + 0.3:.3f}rem", f"{tip.name} ({tip.documents:,})")
        for tip in page.tips
    ]
    height = f"{len(page.tips) * row:.1f}rem"
    cut = f"{tips + page.cut * (100 - tips):.2f}%"
    drawn.append(Markup('<line class="cut" x1="{}" y1="0" x2="{}" y2="{}"/>').format(cut, cut, height))
    return Markup(
        '<svg class="dendrogram" role="group" aria-label="{}" height="{}"><g aria-hidden="true">{}</g></svg>'
    ).format(worded(JOINED), height, Markup("").join(drawn))


def squares(page: ComparePage, plain: Callable[[str], str], to: Callable[[str], str] = str) -> Markup:
    """The stronger a square, the more of the label; each leads to its documents. Rows follow the topics."""
    rows = sorted(page.rows, key=lambda row: (row.shares.index(max(row.shares)), -row.documents, row.label))
    names = [plain(topic.name) for topic in page.topics]
    left = SIGN * min(max(len(plain(row.label)) for row in rows), LONGEST) + 12
    drawn = [_squares_row(row, (left, TOP + number * SIZE), page, names, plain, to) for number, row in enumerate(rows)]
    turned = Markup(
        '<a href="{}" tabindex="-1"><text transform="translate({} {}) rotate(-50)"><title>{}</title>{}</text></a>'
    )
    for x, (topic, name) in enumerate(zip(page.topics, names, strict=True)):
        at = left + x * SIZE + SIZE // 2
        drawn.append(turned.format(to(topic.address), at, TOP - 6, f"{name}: {topic.documents:,}", short(name, 20)))
    width, height = left + len(names) * SIZE + RIGHT, TOP + len(rows) * SIZE
    return Markup(
        '<svg class="squares" role="group" aria-label="{}" width="{}rem" height="{}rem" viewBox="0 0 {} {}">'
        '<g aria-hidden="true">{}</g></svg>'
    ).format(worded(SQUARES), width / 16, height / 16, width, height, Markup("").join(drawn))


def shades() -> Markup:
    """What a colour means, from nothing to all of a label."""
    steps = [0.0, 0.25, 0.5, 0.75, 1.0]
    band = Markup('<rect class="band" width="{}" height="{}" y="18"/>').format(len(steps) * 2 * SIZE, SIZE - 2)
    drawn = [
        Markup('<rect x="{}" y="18" width="{}" height="{}" fill-opacity="{}"/><text x="{}" y="12">{}</text>').format(
            at * 2 * SIZE, 2 * SIZE - 2, SIZE - 2, _opacity(share), at * 2 * SIZE, f"{share:.0%}"
        )
        for at, share in enumerate(steps)
    ]
    width, height = len(steps) * 2 * SIZE, SIZE + 18
    return Markup(
        '<svg class="squares shades" role="img" aria-label="{}" '
        'width="{}rem" height="{}rem" viewBox="0 0 {} {}">{}</svg>'
    ).format(worded(SHADES), width / 16, height / 16, width, height, band + Markup("").join(drawn))


def _opacity(share: float) -> str:
    return f"{0.12 + 0.88 * share:.2f}" if share >= FAINTEST else "0"


def _squares_row(
    row: LabelRow,
    place: tuple[int, int],
    page: ComparePage,
    names: list[str],
    plain: Callable[[str], str],
    to: Callable[[str], str],
) -> Markup:
    """A label with its squares on a band, so that the eye stays in the row."""
    label, (left, y) = plain(row.label), place
    drawn = Markup(
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
            title = worded(
                "{topic}, {share} of the label",
                topic=with_documents(f"{label}, {names[x]}", row.counts[x]), share=Share(share),
            )  # fmt: skip
            drawn += square.format(
                to(addresses.labelled(row.label, page.topics[x].id)),
                left + x * SIZE,
                y,
                SIZE - 2,
                SIZE - 2,
                _opacity(share),
                title,
            )
    return drawn


def with_documents(name: str, documents: int) -> str:
    """A topic or a label, and how many documents it has."""
    return worded("{name}: {documents}", name=name, documents=Counted(documents, "document"))


def short(text: str, most: int) -> str:
    """As much of a text as fits."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip(' ·')}…"
