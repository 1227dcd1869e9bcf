"""Pictures as SVG, drawn here and not in the browser: they need no script, print well, and are text to a test.

Lengths are shares of the width, so that a drawing fits any screen without its letters being stretched. There is no
style in them: the policy of the pages forbids it, and the style sheet has the colours of both themes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from topiarist.app.explorer.pages.overview import Block

ROW, GAP = 46, 2  # heights in an icicle
SIGN = 7.6  # width of a letter: of a wide one, for a label that is cut inside a letter says less than a short one
DESK, PHONE = 940.0, 350.0  # widths of a drawing
SHORTEST = 4  # letters of a label, or none


def bar(share: float, kind: str = "bar") -> Markup:
    """A bar of some share of its column. The number stands beside it in words."""
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    return Markup('<svg class="{}" aria-hidden="true"><rect width="{}" height="100%"/></svg>').format(kind, width)


def icicle(blocks: Sequence[Block], to: Callable[[str], str] = str) -> Markup:
    """Nested topics, as wide as they have documents. The list beside it says the same."""
    if not blocks:
        return Markup("")
    height = (max(block.level for block in blocks) + 1) * ROW
    parts = [_block(block, to) for block in blocks]
    label = (
        "The tree as a drawing: topics one below the other, each as wide as it has documents. The list says the same."
    )
    return Markup(
        '<svg class="icicle" height="{}" role="group" aria-label="{}"><g aria-hidden="true">{}</g></svg>'
    ).format(height, label, Markup("").join(parts))


def _block(block: Block, to: Callable[[str], str]) -> Markup:
    """A rectangle with its name and size; where that is too long, with the words of its name one below the other."""
    y, room = block.level * ROW, _room(block.width * DESK)
    lines = [block.name, f"{block.documents:,}"]
    if len(block.name) > room:
        lines = [*block.name.split(" · "), ""][:2] if " · " in block.name else lines
    text = Markup("")
    if room >= SHORTEST:
        fits = "" if max(map(len, lines)) <= _room(block.width * PHONE) else " desk"
        for number, line in enumerate(lines):
            shown = line if len(line) <= room else line[: room - 1].rstrip(" ·") + "…"
            kind = ("size" if number and line[:1].isdigit() else "name") + fits
            text += Markup('<text class="{}" x="7" y="{}">{}</text>').format(kind, 19 + 16 * number, shown)
    kind = "rest" if block.topic is None else f"l{min(block.level, 5)}"
    return Markup(
        '<a href="{}" tabindex="-1"><svg x="{}%" y="{}" width="{}%" height="{}" class="block {}"><title>{}</title>'
        '<rect width="100%" height="100%"/>{}</svg></a>'
    ).format(
        to(block.address), f"{100 * block.left:.3f}", y, f"{100 * block.width:.3f}", ROW - GAP, kind,
        f"{block.name}: {block.documents:,} documents", text,
    )  # fmt: skip


def _room(width: float) -> int:
    """Letters that fit into so many pixels."""
    return int((width - 8) / SIGN)


def stacked(parts: Sequence[tuple[str, float, str]]) -> Markup:
    """One bar of several parts: their kinds, shares and what they are."""
    left, drawn = 0.0, []
    for kind, share, title in parts:
        if share <= 0:
            continue
        drawn.append(
            Markup('<rect class="{}" x="{}%" width="{}%" height="100%"><title>{}</title></rect>').format(
                kind, f"{100 * left:.2f}", f"{100 * share:.2f}", title
            )
        )
        left += share
    return Markup('<svg class="stacked" aria-hidden="true">{}</svg>').format(Markup("").join(drawn))


def line(points: Sequence[tuple[float, float]], chosen: int, label: str) -> Markup:
    """A curve; one of its points is the one that was chosen. Its numbers stand in the table below it."""
    if len(points) < 2:
        return Markup("")
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)

    def place(point: tuple[float, float]) -> tuple[str, str]:
        x = 4 + 92 * (point[0] - left) / max(right - left, 1e-12)
        y = 8 + 84 * (high - point[1]) / max(high - low, 1e-12)
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
    return Markup('<svg class="curve" role="img" aria-label="{}">{}</svg>').format(label, Markup("").join(drawn))


def dendrogram(page: Any, to: Callable[[str], str] = str) -> Markup:
    """Merges, leaves at the left, the root at the right; the list of groups below it says the same."""
    row, tips = 24, 34.0  # height of a row, and the share of the width that names take
    drawn = []
    for one in page.strokes:
        ends = (f"{tips + one.x1 * (100 - tips):.2f}%", f"{tips + one.x2 * (100 - tips):.2f}%")
        drawn.append(
            Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
                "above" if one.cut else "", ends[0], f"{one.y1 * row:.1f}", ends[1], f"{one.y2 * row:.1f}"
            )
        )
    name = Markup('<a href="{}" tabindex="-1"><text x="0" y="{}">{}</text></a>')
    drawn += [
        name.format(to(tip.address), f"{tip.row * row + 5:.1f}", f"{tip.name} ({tip.documents:,})") for tip in page.tips
    ]
    height = len(page.tips) * row
    cut = f"{tips + page.cut * (100 - tips):.2f}%"
    drawn.append(Markup('<line class="cut" x1="{}" y1="0" x2="{}" y2="{}"/>').format(cut, cut, height))
    label = "Groups at the left join step by step to the right. The list below has the groups at the cut."
    return Markup(
        '<svg class="dendrogram" role="group" aria-label="{}" height="{}"><g aria-hidden="true">{}</g></svg>'
    ).format(label, height, Markup("").join(drawn))
