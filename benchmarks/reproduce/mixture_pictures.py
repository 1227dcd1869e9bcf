"""Pictures of the experiments on Gaussian mixtures: points with ellipses, curves of weights, levels and confusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import ArrayLike, Doubles, Matrix
from topiarist.errors import InputError
from topiarist.trees.picture import COLOURS, INK, PALE_INK, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topiarist.estimators.gaussian.ggm import GGM
    from topiarist.estimators.gaussian.mixture_hierarchy import Assignment

DEVIATIONS = 2.0  # of an ellipse
MANY = 4000  # points of a scatter plot that are drawn at most


def _axes(ax: Axes | None, size: tuple[float, float], **options: object) -> Axes:
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained").add_subplot(**options)


def scatter(
    ggm: GGM, X: Matrix, labels: ArrayLike | None = None, *, dimensions: Sequence[int] = (0, 1), ax: Axes | None = None
) -> Axes:
    """Draw examples in two or three of their dimensions, coloured by label or component, with the components' ellipses.

    An ellipse (in three dimensions three circles of an ellipsoid) is two deviations wide, and has the colour of its
    component, or of the label that most of its examples have. Dimensions are those of the
    mixture's own space, where it has one.
    """
    space = getattr(ggm, "space_", None)
    points = np.asarray(X, np.float64) if space is None else space(np.asarray(X, np.float64))
    chosen = list(dimensions)
    if len(chosen) not in (2, 3) or max(chosen) >= points.shape[1] or min(chosen) < 0:
        raise InputError(f"expected two or three of {points.shape[1]} dimensions, got {chosen}", hint="(0, 1)")
    components = ggm.predict_component(X)
    groups, names = _named(components if labels is None else labels)
    colours = dict(zip(names, (COLOURS[n % len(COLOURS)] for n in range(len(names))), strict=True))
    drawing: Any = _axes(ax, (6.0, 5.0), **({"projection": "3d"} if len(chosen) == 3 else {}))
    some = np.linspace(0, len(points) - 1, min(MANY, len(points))).astype(int)
    for group in names:
        mine = some[groups[some] == group]
        if len(mine):
            place = [points[mine, dimension] for dimension in chosen]
            colour = colours[group]
            drawing.scatter(*place, s=9, alpha=0.5, linewidth=0, color=colour, label=group)
    means = ggm.component_mean_[:, chosen]
    for component, covariance in enumerate(ggm.component_covariance_[:, chosen][:, :, chosen]):
        inside = groups[components == component]
        owner = max(names, key=[*inside].count) if len(inside) else ""
        colour = colours.get(owner, INK)
        for curve in ellipses(means[component], covariance):
            drawing.plot(*curve.T, color=colour, linewidth=1.3)
        drawing.text(*means[component], str(component), fontsize=9, color=INK, weight="bold")
    columns = getattr(ggm, "feature_names_in_", None) if space is None else None
    for axis, dimension in zip("xyz", chosen, strict=False):
        name = f"dimension {dimension}" if columns is None else str(columns[dimension])
        getattr(drawing, f"set_{axis}label")(name)
    drawing.legend(fontsize=8, frameon=False, title=None if labels is not None else "component", title_fontsize=8)
    shown: Axes = drawing
    return shown


def _named(labels: ArrayLike) -> tuple[Any, list[str]]:
    """Labels as texts, and the different ones in their order: numbers by their value."""
    values = np.asarray(labels).ravel()
    return values.astype(str), [str(label) for label in np.unique(values).tolist()]


def ellipses(mean: Doubles, covariance: Doubles) -> list[Doubles]:
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


def level_histogram(assignment: Assignment, n_components: int, ax: Axes | None = None) -> Axes:
    """Draw which share of the examples is certain at which level, the nodes of a level stacked."""
    nodes, level = np.asarray(assignment.cluster), np.asarray(assignment.level)
    ax = _axes(ax, (6.4, 3.4))
    bottom = np.zeros(n_components + 1)
    for number, node in enumerate(np.unique(nodes).tolist()):
        where, share = int(level[nodes == node][0]), float((nodes == node).mean())
        ax.bar(where, share, bottom=bottom[where], color=COLOURS[number % len(COLOURS)], edgecolor="white")
        if share > 0.03:
            ax.text(where, bottom[where] + share / 2, str(node), ha="center", va="center", fontsize=8, color="white")
        bottom[where] += share
    ax.set_xticks(range(1, n_components + 1))
    ax.set_xlim(0.4, n_components + 0.6)
    ax.set_xlabel("level (1: components); numbers are nodes")
    ax.set_ylabel("share of examples")
    return ax


def confusion(clusters: ArrayLike, labels: ArrayLike, ax: Axes | None = None) -> Axes:
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


def confusion_table(clusters: ArrayLike, labels: ArrayLike) -> tuple[Doubles, Any, Any]:
    """The share of each label's examples (rows) in each cluster (columns), the clusters, and the labels."""
    groups, kinds = _named(labels)
    names, columns = np.unique(np.asarray(clusters), return_inverse=True)
    table = np.zeros((len(kinds), len(names)))
    for row, kind in enumerate(kinds):
        table[row] = np.bincount(columns[groups == kind], minlength=len(names))
    return table / table.sum(axis=1, keepdims=True), names, kinds
