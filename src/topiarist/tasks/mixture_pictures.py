"""Pictures of Gaussian mixtures: dendrogram, points with ellipses, curves of λ, levels, clusters against labels.

matplotlib is loaded when a picture is drawn; it comes with ``pip install 'topiarist[plot]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.errors import InputError
from topiarist.hierarchy.picture import COLOURS, INK, PALE_INK, TRUNK, _require_matplotlib
from topiarist.models.ggm_shapes import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEVIATIONS = 2.0  # of an ellipse
MANY = 4000  # points of a scatter plot that are drawn at most


def _axes(ax: Axes | None, size: tuple[float, float], **options: Any) -> Axes:
    _require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    made: Axes = pyplot.figure(figsize=size, layout="constrained").add_subplot(**options)
    return made


def dendrogram(hierarchy: Any, ax: Axes | None = None, words: Sequence[Sequence[str]] | None = None) -> Axes:
    """Draw the merges level by level: one row for each component, words beside it and at every branch."""
    tree, n_leaves = hierarchy.tree_, len(hierarchy.components_)
    if words is not None and len(words) != len(tree):
        raise InputError(f"expected words for each of {len(tree)} nodes, got {len(words)}")
    ax = _axes(ax, (8.0, 1.0 + 0.45 * n_leaves))
    height = {leaf: float(row) for row, leaf in enumerate(tree.leaves)}
    level = dict.fromkeys(tree.leaves, 1)
    said = [" ".join(own[:5]) for own in words] if words is not None else [""] * len(tree)
    for step, (one, other) in enumerate(hierarchy.linkage_[:, :2].astype(int).tolist()):
        node = n_leaves + step
        height[node], level[node] = (height[one] + height[other]) / 2, step + 2
        ax.plot([level[node]] * 2, [height[one], height[other]], color=TRUNK, linewidth=1.4)
        for child in (one, other):
            ax.plot([level[child], level[node]], [height[child]] * 2, color=TRUNK, linewidth=1.4)
        ax.annotate(
            said[node], (level[node], height[node]), (3, 3), textcoords="offset points", fontsize=7.5, color=INK
        )
    for leaf, component, weight in zip(range(n_leaves), hierarchy.components_, hierarchy.weight_, strict=True):
        text = f"{component}  ({weight:.0%})" + (f"  {said[leaf]}" if said[leaf] else "")
        ax.annotate(
            text, (1, height[leaf]), (-5, 0), textcoords="offset points", ha="right", va="center", fontsize=8, color=INK
        )
    ax.set_xlim(1, max(2.0, n_leaves + 0.6))
    ax.set_ylim(n_leaves - 0.5, -0.5)
    ax.set_yticks([])
    ax.set_xlabel("level")
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def scatter(
    ggm: Any, X: Any, labels: Any = None, *, dimensions: Sequence[int] = (0, 1), ax: Axes | None = None
) -> Axes:
    """Draw examples in two or three of their dimensions, coloured by label or component, with the components' ellipses.

    An ellipse (in three dimensions three circles of an ellipsoid) is two deviations wide.
    """
    points = np.asarray(X, np.float64)
    chosen = list(dimensions)
    if len(chosen) not in (2, 3) or max(chosen) >= points.shape[1] or min(chosen) < 0:
        raise InputError(f"expected two or three of {points.shape[1]} dimensions, got {chosen}", hint="(0, 1)")
    groups = ggm.predict_component(X) if labels is None else np.asarray(labels)
    drawing: Any = _axes(ax, (6.0, 5.0), **({"projection": "3d"} if len(chosen) == 3 else {}))
    some = np.linspace(0, len(points) - 1, min(MANY, len(points))).astype(int)
    for number, group in enumerate(np.unique(groups)):
        mine = some[groups[some] == group]
        place = [points[mine, dimension] for dimension in chosen]
        drawing.scatter(*place, s=9, alpha=0.55, linewidth=0, color=COLOURS[number % len(COLOURS)], label=str(group))
    means = ggm.component_mean_[:, chosen]
    for component, covariance in enumerate(ggm.component_covariance_[:, chosen][:, :, chosen]):
        for curve in ellipses(means[component], covariance):
            drawing.plot(*curve.T, color=INK, linewidth=1.0)
        drawing.text(*means[component], str(component), fontsize=9, color=INK, weight="bold")
    drawing.legend(fontsize=8, frameon=False)
    shown: Axes = drawing
    return shown


def ellipses(mean: Floats, covariance: Floats) -> list[Floats]:
    """Closed curves at two deviations: one in two dimensions, one for each pair of main axes in three."""
    values, axes = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, 73)
    pairs = [(0, 1)] if len(mean) == 2 else [(0, 1), (0, 2), (1, 2)]
    curves = []
    for one, other in pairs:
        first, second = (np.sqrt(max(values[axis], 0.0)) * axes[:, axis] for axis in (one, other))
        curves.append(mean + DEVIATIONS * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second))
    return curves


def weight_curves(errors: Mapping[int, Mapping[float, float]], ax: Axes | None = None) -> Axes:
    """Draw error against the weight of unlabelled examples, for each number of labelled ones, its best marked."""
    ax = _axes(ax, (6.4, 4.0))
    for number, (labelled, curve) in enumerate(sorted(errors.items())):
        weights = sorted(curve)
        values = [curve[weight] for weight in weights]
        best = int(np.argmin(values))
        colour = COLOURS[number % len(COLOURS)]
        ax.plot(weights, values, color=colour, label=f"{labelled} labelled")
        ax.plot(weights[best], values[best], "o", color=colour)
    ax.set_xlabel("weight λ of unlabelled examples")
    ax.set_ylabel("error")
    ax.legend(fontsize=8, frameon=False)
    return ax


def level_histogram(assignment: Any, n_components: int, ax: Axes | None = None) -> Axes:
    """Draw how many examples are certain at which node, level by level."""
    nodes, counts = np.unique(np.asarray(assignment.cluster), return_counts=True)
    ax = _axes(ax, (6.4, 3.0))
    colours = [COLOURS[0] if node < n_components else COLOURS[4] for node in nodes]
    ax.bar([str(node) for node in nodes], counts / counts.sum(), color=colours)
    ax.set_xlabel(f"node (components are 0 to {n_components - 1})")
    ax.set_ylabel("share of examples")
    return ax


def confusion(clusters: Any, labels: Any, ax: Axes | None = None) -> Axes:
    """Draw for each label the share of its examples in every cluster."""
    table, names, kinds = confusion_table(clusters, labels)
    ax = _axes(ax, (6.4, 3.4))
    width = 0.8 / len(kinds)
    for number, kind in enumerate(kinds):
        place = np.arange(len(names)) + (number - (len(kinds) - 1) / 2) * width
        ax.bar(place, table[number], width, color=COLOURS[number % len(COLOURS)], label=str(kind))
    ax.set_xticks(np.arange(len(names)), [str(name) for name in names])
    ax.set_xlabel("cluster")
    ax.set_ylabel("share of the label")
    ax.legend(fontsize=8, frameon=False)
    ax.tick_params(colors=PALE_INK)
    return ax


def confusion_table(clusters: Any, labels: Any) -> tuple[Floats, Any, Any]:
    """The share of each label's examples (rows) in each cluster (columns), the clusters, and the labels."""
    kinds, rows = np.unique(np.asarray(labels), return_inverse=True)
    names, columns = np.unique(np.asarray(clusters), return_inverse=True)
    table = np.zeros((len(kinds), len(names)))
    np.add.at(table, (rows, columns), 1.0)
    return table / table.sum(axis=1, keepdims=True), names, kinds
