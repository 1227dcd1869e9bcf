"""Pictures: the tree with its words, the curve that chose the number of leaves, and the drift of a stream.

The tree grows from left to right, one row per leaf. Leaves carry their words at the right, inner nodes on the branch
that leads to them, so that words never meet: branches of one depth share a column, and rows are higher than a line of
text. The layout is worked out in points, with the real widths of the words; axes that are smaller get smaller letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.errors import InputError, ResourceError
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import printable
from topiarist.models.drift import Drift, find_drift, likelihoods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES = 2000  # more than that is wallpaper
FONT, TITLE_FONT = 8.5, 12.0
ROW, MARGIN, GAP, CORNER = 18.0, 12.0, 7.0, 5.0
THINNEST, THICKEST = 0.9, 6.0
ALL_BRANCHES, ROOT_TEXT, LEAF_TEXT = 720.0, 160.0, 310.0  # room for words
LEAST_BRANCH, MOST_BRANCH = 64.0, 140.0
SPACE, HINTING = 0.4 * FONT, 1.03  # between the first word and the others; letters on a screen are a little wider
TRUNK, INK, PALE_INK = "#8a8a8a", "#1a1a1a", "#4d4d4d"
# Paul Tol's "muted" scheme, for people with any colour vision; neighbours differ in lightness too.
COLOURS = ("#332288", "#44aa99", "#cc6677", "#117733", "#ddaa33", "#882255", "#66aadd", "#999933", "#aa4499")
WIDE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei", "PingFang SC")
CURVE, CHOSEN, BAND = "#0072b2", "#d55e00", 0.01
MISFITS = "#999933"


@dataclass(frozen=True)
class _Layout:
    """Where everything goes, in points from the upper left corner."""

    words: list[tuple[str, str]]  # the first word of each node, and the others as one text
    gaps: list[float]  # how far behind the first word the others begin
    left: list[float]  # where the branch to a node begins
    right: list[float]  # where it ends
    height: list[float]
    size: tuple[float, float]
    title: str


def draw(
    tree: Tree,
    words: Sequence[Sequence[str]],
    sizes: Sequence[float] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the tree with the words of each node (the first in bold), and return the axes.

    Branches are as thick as the square root of the node's size. Without ``ax`` a new figure is made, as large as the
    tree needs; a node without words is called by its name.
    """
    require_matplotlib()
    if len(words) != len(tree):
        raise InputError(f"expected words for each of {len(tree)} nodes, got {len(words)}")
    if len(tree) > MOST_NODES:
        raise InputError(
            f"expected at most {MOST_NODES:,} nodes to draw, got {len(tree):,}", hint="a part of the tree: cut or prune"
        )
    thickness = _thickness(tree, sizes)
    layout = _layout(tree, words, title or "")
    ax, scale = _canvas(ax, layout)
    colours = _colours(tree)
    for node in tree.depth_first():
        _draw_branch(ax, tree, layout, node, colours[node], thickness[node] * scale)
        _draw_words(ax, layout, node, tree.is_leaf(node), thickness[node], scale)
    if layout.title:
        ax.text(MARGIN, MARGIN + TITLE_FONT, layout.title, fontsize=TITLE_FONT * scale, color=INK, parse_math=False)
    return ax


def curve(
    ax: Axes | None,
    n_leaves: Sequence[int],
    criterion: Sequence[float],
    place: int,
    plain: Sequence[float] | None = None,
) -> Axes:
    """Draw held-out perplexity against the number of leaves, the chosen tree marked, and return the axes.

    ``criterion`` is what trees were compared by, ``place`` that of the chosen one, ``plain`` the perplexity without
    what fitted parameters cost. The band holds the trees within 1 % of the lowest.
    """
    require_matplotlib()
    leaves, values = np.asarray(n_leaves), np.asarray(criterion, dtype=np.float64)
    if leaves.ndim != 1 or leaves.shape != values.shape or leaves.size == 0:
        raise InputError(f"expected a perplexity for each number of leaves, got {leaves.shape} and {values.shape}")
    if not 0 <= place < leaves.size:
        raise InputError(f"expected the place of the chosen tree among {leaves.size}, got {place}")
    from matplotlib.ticker import MaxNLocator

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
    order, chosen = np.argsort(leaves, kind="stable"), int(leaves[place])
    lowest = float(np.nanmin(values))
    ax.axhspan(lowest, lowest * (1 + BAND), color=CURVE, alpha=0.12, linewidth=0, label="within 1 % of the lowest")
    if plain is not None and not np.allclose(plain, values, rtol=1e-3):
        without = np.asarray(plain)[order]
        label = "without the charge for levels"
        ax.plot(leaves[order], without, color=CURVE, linewidth=1, linestyle=":", label=label)
    ax.plot(leaves[order], values[order], color=CURVE, linewidth=1.6, marker="o", markersize=3.5)
    label = f"{chosen} lea{'f' if chosen == 1 else 'ves'}"
    ax.plot([chosen], [values[place]], marker="o", markersize=9, color=CHOSEN, linestyle="none", label=label)
    ax.set_xlabel("number of leaves")
    ax.set_ylabel("held-out perplexity")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#e5e5e5", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False)
    return ax


def require_matplotlib() -> None:
    """An error that says what to install, where there is no matplotlib."""
    try:
        import matplotlib.pyplot  # noqa: F401
    except ImportError:
        raise ResourceError(
            "drawing needs matplotlib, which is not installed", hint="pip install 'topiarist[plot]'"
        ) from None


def _layout(tree: Tree, words: Sequence[Sequence[str]], title: str) -> _Layout:
    inner_depth = max((tree.depths[node] for node in range(len(tree)) if not tree.is_leaf(node)), default=0)
    branch_room = min(MOST_BRANCH, max(LEAST_BRANCH, ALL_BRANCHES / max(1, inner_depth)))
    column = [LEAST_BRANCH] + [LEAST_BRANCH / 2] * inner_depth  # as wide as its widest words
    leaf_column = 0.0
    fitted, gaps = [], []
    for node in range(len(tree)):
        depth, is_leaf = tree.depths[node], tree.is_leaf(node)
        room = LEAF_TEXT if is_leaf else ROOT_TEXT if depth == 0 else branch_room
        text, gap, width = _fitted(words[node] or [tree.names[node]], room)
        fitted.append(text)
        gaps.append(gap)
        if is_leaf:
            leaf_column = max(leaf_column, width)
        else:
            column[depth] = max(column[depth], width + 2 * GAP + CORNER)
    ends = (MARGIN + np.cumsum(column)).tolist()
    tips = ends[-1] + 2 * GAP
    begins = [MARGIN, *ends]
    top = MARGIN + ROW / 2 + (2 * TITLE_FONT if title else 0.0)
    heights = _heights(tree, top)
    return _Layout(
        words=fitted,
        gaps=gaps,
        left=[begins[tree.depths[node]] for node in range(len(tree))],
        right=[tips if tree.is_leaf(node) else ends[tree.depths[node]] for node in range(len(tree))],
        height=heights,
        size=(tips + GAP + leaf_column + MARGIN, top + ROW * (len(tree.leaves) - 0.5) + MARGIN),
        title=printable(title),
    )


def _heights(tree: Tree, top: float) -> list[float]:
    """Leaves row by row, each inner node half-way between its first and its last child."""
    heights = [0.0] * len(tree)
    for row, leaf in enumerate(tree.leaves):
        heights[leaf] = top + ROW * row
    for node in reversed(tree.depth_first()):
        if children := tree.children(node):
            heights[node] = (heights[children[0]] + heights[children[-1]]) / 2
    return heights


def _fitted(words: Sequence[str], room: float) -> tuple[tuple[str, str], float, float]:
    """As many words as there is room for (at least one), where the second begins, and the width of all."""
    first = " ".join(printable(words[0]).split()) if len(words) else ""
    while _measured(first, bold=True) > room and len(first) > 2:
        first = first[: max(1, min(len(first) - 2, int(len(first) * room / _measured(first, bold=True))))] + "…"
    gap, rest, width = _measured(first, bold=True) + SPACE, "", 0.0
    for word in words[1:]:
        longer = f"{rest} · {' '.join(printable(word).split())}".strip()
        if gap + _measured(longer) > room:
            break
        rest, width = longer, _measured(longer)
    return (first, rest), gap, gap + width


def _font(*, bold: bool = False, scale: float = 1.0) -> Any:
    from matplotlib import font_manager

    known = set(font_manager.get_font_names())
    families = ["sans-serif", *(family for family in WIDE_FONTS if family in known)]
    return font_manager.FontProperties(family=families, size=FONT * scale, weight="bold" if bold else "normal")


def _measured(text: str, *, bold: bool = False) -> float:
    """The width of a text in points."""
    from matplotlib.textpath import text_to_path

    return HINTING * float(text_to_path.get_text_width_height_descent(text, _font(bold=bold), ismath=False)[0])


def _canvas(ax: Axes | None, layout: _Layout) -> tuple[Axes, float]:
    """Axes in points of the layout, and the scale at which they are shown."""
    width, height = layout.size
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(width / 72, height / 72)).add_axes((0.0, 0.0, 1.0, 1.0))
    box = ax.get_window_extent()
    points = 72.0 / ax.figure.dpi
    ax.set_xlim(0.0, width)
    ax.set_ylim(height, 0.0)
    ax.set_aspect("equal", adjustable="box", anchor="NW")
    ax.set_axis_off()
    return ax, min(box.width * points / width, box.height * points / height)


def _thickness(tree: Tree, sizes: Sequence[float] | None) -> list[float]:
    if sizes is None:
        return [1.4] * len(tree)
    values = np.asarray(sizes, dtype=np.float64)
    if values.shape != (len(tree),) or not (values >= 0).all() or not np.isfinite(values).all():
        raise InputError(f"expected {len(tree)} sizes of at least 0, one per node, got {values!r:.80}")
    shares = np.sqrt(values / (values.max() or 1.0))
    return [THINNEST + (THICKEST - THINNEST) * float(share) for share in shares]


def _colours(tree: Tree) -> list[str]:
    """A colour for each branch of the root, which all of it has; grey for the root."""
    colours = [TRUNK] * len(tree)
    for number, branch in enumerate(tree.children(tree.root)):
        for node in (branch, *tree.descendants(branch)):
            colours[node] = COLOURS[number % len(COLOURS)]
    return colours


def _draw_branch(ax: Axes, tree: Tree, layout: _Layout, node: int, colour: str, width: float) -> None:
    """From the end of the parent's branch up or down, round a corner, and to the right."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    left, right, height = layout.left[node], layout.right[node], layout.height[node]
    parent = tree.parents[node]
    start = layout.height[parent] if parent >= 0 else height
    bend = float(np.clip(height - start, -CORNER, CORNER))
    steps = [
        (Path.MOVETO, (left, start)),
        (Path.LINETO, (left, height - bend)),
        (Path.CURVE3, (left, height)),
        (Path.CURVE3, (left + abs(bend), height)),
        (Path.LINETO, (right, height)),
    ]
    path = Path([point for _, point in steps], [code for code, _ in steps])
    ax.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=width, capstyle="round", joinstyle="round"))


def _draw_words(ax: Axes, layout: _Layout, node: int, is_leaf: bool, thickness: float, scale: float) -> None:
    if is_leaf:
        x, y = layout.right[node] + GAP, layout.height[node] + 0.35 * FONT
    else:
        x, y = layout.left[node] + GAP, layout.height[node] - thickness / 2 - 0.36 * FONT
    first, rest = layout.words[node]
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
    common: dict[str, Any] = {"parse_math": False, "bbox": None if is_leaf else paper}
    ax.text(x, y, first, fontproperties=_font(bold=True, scale=scale), color=INK, zorder=4, **common)
    if rest:
        ax.text(x + layout.gaps[node], y, rest, fontproperties=_font(scale=scale), color=PALE_INK, zorder=3, **common)


def draw_drift(ax: Axes | None, records: Sequence[Any], drift: Drift | None = None) -> Axes:
    """Draw the log-likelihood per token of a stream's batches and the share of misfits, and return the axes.

    ``records`` are those of ``stream_``; alarms are vertical lines, those of ``drift`` or of ``find_drift``.
    """
    require_matplotlib()
    if not len(records):
        raise InputError("expected the records of at least one batch, got none", hint="stream_ after partial_fit")
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
    values = likelihoods(records)
    drift = drift or find_drift(values)
    batches = np.arange(1, len(values) + 1)
    below = ax.twinx()
    misfits = [record.misfits for record in records]
    below.fill_between(batches, misfits, step="mid", color=MISFITS, alpha=0.35, linewidth=0)
    below.set_ylim(0.0, max(0.2, 2.5 * max(misfits)))  # they keep to the lower part
    below.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    below.set_ylabel("documents that fit badly", color=MISFITS)
    below.spines[["top", "left"]].set_visible(False)
    ax.set_zorder(below.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.plot(batches, values, color=CURVE, linewidth=1.6, marker="o", markersize=2.5)
    for number, place in enumerate(drift.alarms):
        ax.axvline(place + 1, color=CHOSEN, linewidth=1.4, linestyle="--", label=None if number else "drift")
    ax.set_xlabel("batch")
    ax.set_ylabel("log-likelihood, nats a token")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#e5e5e5", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if drift.alarms:
        ax.legend(frameon=False)
    return ax
