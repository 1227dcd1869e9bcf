"""Pictures of a tree with its words, and of the curve of held-out perplexity.

The tree grows from left to right, with one row per leaf. The words of leaves are at the right, those of inner nodes
on their branch. Branches of one depth share a column, so that words never overlap. The layout uses points and the
true widths of the words; smaller axes get smaller letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.errors import InputError, ResourceError
from topiarist.trees.tree import Tree
from topiarist.trees.tree_text import to_printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NODES = 2000  # larger pictures are unreadable
FONT, TITLE_FONT = 8.5, 12.0
ROW, MARGIN, GAP, CORNER = 18.0, 12.0, 7.0, 5.0
MIN_LINE, MAX_LINE = 0.9, 6.0
ALL_BRANCHES, ROOT_TEXT, LEAF_TEXT = 720.0, 160.0, 310.0  # points for words
MIN_BRANCH, MAX_BRANCH = 64.0, 140.0
SPACE, HINTING = 0.4 * FONT, 1.03  # space behind the first word; screen letters are a little wider
TRUNK, INK, PALE_INK = "#8a8a8a", "#1a1a1a", "#4d4d4d"
# Paul Tol's "muted" scheme, for people with any colour vision; neighbours differ in lightness too.
COLOURS = ("#332288", "#44aa99", "#cc6677", "#117733", "#ddaa33", "#882255", "#66aadd", "#999933", "#aa4499")
WIDE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei", "PingFang SC")
CURVE_COLOUR, SELECTED_COLOUR, BAND = "#0072b2", "#d55e00", 0.01


@dataclass(frozen=True)
class _Layout:
    """Positions of all words and branches, in points from the upper left corner."""

    words: list[tuple[str, str]]  # first word of each node, and the others as one text
    gaps: list[float]  # offset of the other words from the first one
    left: list[float]  # start of the branch to each node
    right: list[float]  # end of the branch
    height: list[float]
    size: tuple[float, float]
    title: str


def draw_tree(
    tree: Tree,
    words: Sequence[Sequence[str]],
    sizes: Sequence[float] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the tree with the words of each node (the first in bold), and return the axes.

    The width of a branch is proportional to the square root of the node's size. Without ``ax``, a new figure of the
    required size is created. A node without words is shown by its name.
    """
    require_matplotlib()
    if len(words) != len(tree):
        raise InputError(f"expected words for each of {len(tree)} nodes, got {len(words)}")
    if len(tree) > MAX_NODES:
        raise InputError(
            f"expected at most {MAX_NODES:,} nodes to draw, got {len(tree):,}", hint="Cut or prune the tree first."
        )
    thickness = _compute_thickness(tree, sizes)
    layout = _compute_layout(tree, words, title or "")
    ax, scale = _prepare_axes(ax, layout)
    colours = _assign_colours(tree)
    for node in tree.depth_first():
        _draw_branch(ax, tree, layout, node, colours[node], thickness[node] * scale)
        _draw_words(ax, layout, node, tree.is_leaf(node), thickness[node], scale)
    if layout.title:
        ax.text(MARGIN, MARGIN + TITLE_FONT, layout.title, fontsize=TITLE_FONT * scale, color=INK, parse_math=False)
    return ax


def draw_curve(
    ax: Axes | None,
    n_leaves: Sequence[int],
    criterion: Sequence[float],
    position: int,
    perplexity: Sequence[float] | None = None,
) -> Axes:
    """Draw held-out perplexity against the number of leaves, and return the axes.

    ``criterion`` is the perplexity by which trees are compared. ``position`` is the index of the selected tree.
    ``perplexity`` is the perplexity without the charge for fitted parameters. A band marks the trees within 1% of
    the lowest value.
    """
    require_matplotlib()
    leaves, values = np.asarray(n_leaves), np.asarray(criterion, dtype=np.float64)
    if leaves.ndim != 1 or leaves.shape != values.shape or leaves.size == 0:
        raise InputError(
            f"expected a perplexity for each number of leaves, got shapes shapes {leaves.shape} and {values.shape}"
        )
    if not 0 <= position < leaves.size:
        raise InputError(f"expected the index of the selected tree among {leaves.size}, got {position}")
    from matplotlib.ticker import MaxNLocator

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
    order, selected = np.argsort(leaves, kind="stable"), int(leaves[position])
    lowest = float(np.nanmin(values))
    ax.axhspan(
        lowest, lowest * (1 + BAND), color=CURVE_COLOUR, alpha=0.12, linewidth=0, label="within 1% of the lowest"
    )
    if perplexity is not None and not np.allclose(perplexity, values, rtol=1e-3):
        perplexities = np.asarray(perplexity)[order]
        label = "without the charge for levels"
        ax.plot(leaves[order], perplexities, color=CURVE_COLOUR, linewidth=1, linestyle=":", label=label)
    ax.plot(leaves[order], values[order], color=CURVE_COLOUR, linewidth=1.6, marker="o", markersize=3.5)
    label = f"{selected} lea{'f' if selected == 1 else 'ves'}"
    ax.plot(
        [selected], [values[position]], marker="o", markersize=9, color=SELECTED_COLOUR, linestyle="none", label=label
    )
    ax.set_xlabel("number of leaves")
    ax.set_ylabel("held-out perplexity")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#e5e5e5", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False)
    return ax


def require_matplotlib() -> None:
    """Raise ``ResourceError`` if matplotlib is not installed."""
    try:
        import matplotlib.pyplot  # noqa: F401
    except ImportError:
        raise ResourceError(
            "drawing requires matplotlib, which is not installed", hint="Run pip install 'topiarist[plot]'."
        ) from None


def _compute_layout(tree: Tree, words: Sequence[Sequence[str]], title: str) -> _Layout:
    """Compute where the words and branches of each node are drawn, and the size of the picture."""
    inner_depth = max((tree.depths[node] for node in range(len(tree)) if not tree.is_leaf(node)), default=0)
    branch_room = min(MAX_BRANCH, max(MIN_BRANCH, ALL_BRANCHES / max(1, inner_depth)))
    column = [MIN_BRANCH] + [MIN_BRANCH / 2] * inner_depth  # as wide as its widest words
    leaf_column = 0.0
    fitted, gaps = [], []
    for node in range(len(tree)):
        depth, is_leaf = tree.depths[node], tree.is_leaf(node)
        room = LEAF_TEXT if is_leaf else ROOT_TEXT if depth == 0 else branch_room
        text, gap, width = _fit_words(words[node] or [tree.names[node]], room)
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
    heights = _compute_heights(tree, top)
    return _Layout(
        words=fitted,
        gaps=gaps,
        left=[begins[tree.depths[node]] for node in range(len(tree))],
        right=[tips if tree.is_leaf(node) else ends[tree.depths[node]] for node in range(len(tree))],
        height=heights,
        size=(tips + GAP + leaf_column + MARGIN, top + ROW * (len(tree.leaves) - 0.5) + MARGIN),
        title=to_printable(title),
    )


def _compute_heights(tree: Tree, top: float) -> list[float]:
    """Return the height of each node: leaves row by row, inner nodes between their first and last child."""
    heights = [0.0] * len(tree)
    for row, leaf in enumerate(tree.leaves):
        heights[leaf] = top + ROW * row
    for node in reversed(tree.depth_first()):
        if children := tree.children(node):
            heights[node] = (heights[children[0]] + heights[children[-1]]) / 2
    return heights


def _fit_words(words: Sequence[str], room: float) -> tuple[tuple[str, str], float, float]:
    """Return as many words as fit (at least one), the start of the second one, and the total width."""
    first = " ".join(to_printable(words[0]).split()) if len(words) else ""
    while _measure_text(first, bold=True) > room and len(first) > 2:
        first = first[: max(1, min(len(first) - 2, int(len(first) * room / _measure_text(first, bold=True))))] + "…"
    gap, rest, width = _measure_text(first, bold=True) + SPACE, "", 0.0
    for word in words[1:]:
        longer = f"{rest} · {' '.join(to_printable(word).split())}".strip()
        if gap + _measure_text(longer) > room:
            break
        rest, width = longer, _measure_text(longer)
    return (first, rest), gap, gap + width


def _make_font(*, bold: bool = False, scale: float = 1.0) -> Any:
    """Return a sans-serif font, with installed fonts for other scripts."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    families = ["sans-serif", *(family for family in WIDE_FONTS if family in installed)]
    return font_manager.FontProperties(family=families, size=FONT * scale, weight="bold" if bold else "normal")


def _measure_text(text: str, *, bold: bool = False) -> float:
    from matplotlib.textpath import text_to_path

    return HINTING * float(text_to_path.get_text_width_height_descent(text, _make_font(bold=bold), ismath=False)[0])


def _prepare_axes(ax: Axes | None, layout: _Layout) -> tuple[Axes, float]:
    """Return axes in points of the layout, and the scale at which they are shown."""
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


def _compute_thickness(tree: Tree, sizes: Sequence[float] | None) -> list[float]:
    """Return the line width of each branch, by the square root of its share of documents."""
    if sizes is None:
        return [1.4] * len(tree)
    values = np.asarray(sizes, dtype=np.float64)
    if values.shape != (len(tree),) or not (values >= 0).all() or not np.isfinite(values).all():
        raise InputError(f"expected {len(tree)} sizes of at least 0, one per node, got {values!r:.80}")
    shares = np.sqrt(values / (values.max() or 1.0))
    return [MIN_LINE + (MAX_LINE - MIN_LINE) * float(share) for share in shares]


def _assign_colours(tree: Tree) -> list[str]:
    """Return the colour of each node; the nodes below one child of the root share a colour."""
    colours = [TRUNK] * len(tree)
    for number, branch in enumerate(tree.children(tree.root)):
        for node in (branch, *tree.descendants(branch)):
            colours[node] = COLOURS[number % len(COLOURS)]
    return colours


def _draw_branch(ax: Axes, tree: Tree, layout: _Layout, node: int, colour: str, width: float) -> None:
    """Draw a branch from the parent's height, round a corner, and to the right."""
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
    """Draw the words of a node, the first one bold: after a leaf, or above a branch."""
    if is_leaf:
        x, y = layout.right[node] + GAP, layout.height[node] + 0.35 * FONT
    else:
        x, y = layout.left[node] + GAP, layout.height[node] - thickness / 2 - 0.36 * FONT
    first, rest = layout.words[node]
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
    common: dict[str, Any] = {"parse_math": False, "bbox": None if is_leaf else paper}
    ax.text(x, y, first, fontproperties=_make_font(bold=True, scale=scale), color=INK, zorder=4, **common)
    if rest:
        ax.text(
            x + layout.gaps[node], y, rest, fontproperties=_make_font(scale=scale), color=PALE_INK, zorder=3, **common
        )
