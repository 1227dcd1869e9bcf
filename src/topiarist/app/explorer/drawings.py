"""Pictures as SVG, drawn here and not in the browser: they need no script, print well, and are text to a test.

Lengths are shares of the width, so that a drawing fits any screen without its letters being stretched. There is no
style in them: the policy of the pages forbids it, and the style sheet has the colours of both themes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from topiarist.app.explorer.pages.overview import Block

ROW, GAP = 46, 2  # heights in an icicle
SIGN = 7.2  # width of a letter, about
NOMINAL = 940.0  # width of a drawing on a desk
SHORTEST = 6  # letters of a label, or none


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
        '<svg class="icicle" height="{}" role="img" aria-label="{}"><g aria-hidden="true">{}</g></svg>'
    ).format(height, label, Markup("").join(parts))


def _block(block: Block, to: Callable[[str], str]) -> Markup:
    y, width = block.level * ROW, block.width * NOMINAL
    room = int((width - 16) / SIGN)
    label = ""
    if room >= SHORTEST:
        label = block.name if len(block.name) <= room else block.name[: room - 1].rstrip(" ·") + "…"
    fits = "wide" if room >= 24 else "narrow"
    text = Markup("")
    if label:
        text = Markup('<text class="{}" x="8" y="19">{}</text>').format(fits, label)
        text += Markup('<text class="{} size" x="8" y="35">{}</text>').format(fits, f"{block.documents:,}")
    kind = "rest" if block.topic is None else f"l{min(block.level, 5)}"
    return Markup(
        '<a href="{}" tabindex="-1"><svg x="{}%" y="{}" width="{}%" height="{}" class="block {}"><title>{}</title>'
        '<rect width="100%" height="100%"/>{}</svg></a>'
    ).format(
        to(block.address), f"{100 * block.left:.3f}", y, f"{100 * block.width:.3f}", ROW - GAP, kind,
        f"{block.name}: {block.documents:,} documents", text,
    )  # fmt: skip


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


def squares(values: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str], label: str) -> Markup:
    """A table of shares as squares, the darker the larger; the table below it has the numbers."""
    size, drawn = 22, []
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if value < 0.005:
                continue
            title = f"{rows[y]}, {columns[x]}: {value:.0%}"
            drawn.append(
                Markup('<rect x="{}" y="{}" width="{}" height="{}" fill-opacity="{}"><title>{}</title></rect>').format(
                    x * size, y * size, size - 2, size - 2, f"{0.08 + 0.92 * value:.2f}", title
                )
            )
    width, height = len(columns) * size, len(rows) * size
    return Markup(
        '<svg class="squares" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">{}</svg>'
    ).format(escape(label), width, height, width, height, Markup("").join(drawn))
