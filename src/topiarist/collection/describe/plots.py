"""Plots with matplotlib: a tree, topics over time, the curve of leaves, and a comparison of two trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.collection.collection import Collection
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.describe.topic_tree import TopicTree
from topiarist.collection.trends.over_time import OverTime
from topiarist.errors import InputError, UsageError
from topiarist.estimators.tree.curve import Curve
from topiarist.trees.picture import COLOURS, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_TOPICS = 8  # curves with distinct colours
MAX_LETTERS = 28  # of a name at an axis


def plot_tree(tree: Collection | TopicTree, ax: Axes | None = None, *, detail: str | int = "normal") -> Axes:
    """Draw a tree with the words of its topics, to the level of ``detail``."""
    topic_tree = tree.tree if isinstance(tree, Collection) else tree
    if not isinstance(topic_tree, TopicTree):
        raise InputError(
            f"expected a Collection or a TopicTree, got {type(tree).__name__}",
            hint="Pass the result of grow_tree(corpus).",
        )
    axes: Axes = topic_tree.draw(ax, detail)
    return axes


def plot_curve(source: Collection | TopicTree | Curve | object, ax: Axes | None = None) -> Axes:
    """Draw the curve that chose the number of leaves of a tree, a collection or a fitted estimator."""
    curve = (
        source.tree.curve
        if isinstance(source, Collection)
        else getattr(source, "curve", getattr(source, "curve_", source))
    )
    if not isinstance(curve, Curve):
        raise InputError(
            "expected a tree whose number of leaves was chosen by held-out words, got one without a curve",
            hint="Grow the tree without a number of topics.",
        )
    axes: Axes = curve.plot(ax)
    return axes


def plot_time(
    source: Collection | OverTime, ax: Axes | None = None, *, by: str = "auto", n_topics: int = MAX_TOPICS
) -> Axes:
    """Draw the shares of the largest topics over time, with their intervals; bursts are marked."""
    require_matplotlib()
    spread = source.over_time(by) if isinstance(source, Collection) else source
    if not len(spread.periods):
        raise UsageError("no document has a date", hint="Add documents with dates.")
    axes: Axes = _ensure_axes(ax, (8.0, 4.0))
    filled = np.flatnonzero(spread.periods.documents > 0)
    days = np.array(spread.periods.first, "datetime64[D]")[filled]
    mean = spread.periods.documents @ spread.table.share
    largest = sorted(spread.first_view, key=lambda place: -mean[place])[:n_topics]
    for number, place in enumerate(largest):
        colour = COLOURS[number % len(COLOURS)]
        share, low, high = (
            100 * side[filled, place] for side in (spread.table.share, spread.table.low, spread.table.high)
        )
        axes.plot(days, share, color=colour, label=_shorten(spread.names[place]), linewidth=1.6)
        axes.fill_between(days, low, high, color=colour, alpha=0.15, linewidth=0)
        for burst in spread.bursts:
            if burst.topic == spread.topics[place]:
                in_burst = (filled >= burst.periods[0]) & (filled <= burst.periods[1])
                axes.plot(days[in_burst], share[in_burst], color=colour, linestyle="none", marker="o", markersize=5)
    axes.set_ylabel(f"% of the documents of a {spread.periods.unit}")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def plot_compare(
    collection: Collection, other: Collection, ax: Axes | None = None, *, detail: str | int = "normal"
) -> Axes:
    """Draw how two trees divide the same documents; a darker cell is a larger share of the topic of its row."""
    require_matplotlib()
    ids = {id: row for row, id in enumerate(other.documents.ids()[: len(other)])}
    common_rows = [(row, ids[id]) for row, id in enumerate(collection.documents.ids()[: len(collection)]) if id in ids]
    if not common_rows:
        raise InputError(
            "expected two collections of the same documents, got two without one in common",
            hint="Use the same ids in both.",
        )
    sides = [
        _shares(side, [pair[place] for pair in common_rows], detail) for place, side in enumerate((collection, other))
    ]
    (left, left_names), (right, right_names) = sides
    table = left.T @ right
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-12)
    axes: Axes = _ensure_axes(ax, (2.5 + 0.32 * len(right_names), 2.0 + 0.28 * len(left_names)))
    axes.imshow(share, cmap="Greens", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(right_names)), right_names, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(left_names)), left_names, fontsize=8)
    axes.set_title(f"{len(common_rows):,} documents in both", fontsize=10)
    return axes


def _shares(collection: Collection, rows: list[int], detail: str | int) -> tuple[Any, list[str]]:
    figures = Figures(collection)
    nodes = [node for node in figures.ordered() if node in set(collection.tree.view(detail))]
    shares = np.asarray(collection.shares[rows] @ figures.mask[:, nodes].astype(np.float64))
    return shares, [_shorten(figures.names[node]) for node in nodes]


def _shorten(name: str) -> str:
    plain = name.replace("$", "\\$")
    return plain if len(plain) <= MAX_LETTERS else f"{plain[: MAX_LETTERS - 1]}…"


def _ensure_axes(ax: Axes | None, size: tuple[float, float]) -> Any:
    """Return ``ax``, or the axes of a new matplotlib figure without one."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]
