"""Pictures of Gaussian mixtures: dendrogram, points with ellipses, curves of choices, levels, clusters and labels.

matplotlib is loaded when a picture is drawn; it comes with ``pip install 'topiarist[plot]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import ArrayLike, Doubles, Matrix
from topiarist.errors import InputError
from topiarist.estimators.gaussian import ggm
from topiarist.hierarchy.picture import COLOURS, INK, PALE_INK, TRUNK, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topiarist.estimators.gaussian.ggm import GGM
    from topiarist.estimators.gaussian.mixture_hierarchy import Assignment, MixtureHierarchy

DEVIATIONS = 2.0  # of an ellipse
NO_LABEL = ""
MANY = 4000  # points of a scatter plot that are drawn at most


def _axes(ax: Axes | None, size: tuple[float, float], **options: object) -> Axes:
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained").add_subplot(**options)


def dendrogram(
    hierarchy: MixtureHierarchy, ax: Axes | None = None, words: Sequence[Sequence[str]] | None = None
) -> Axes:
    """Draw the merges level by level: one row for each component, words beside it and at every branch.

    The words of a branch lie on a pale ground, so that no line goes through them, and stay within the picture.
    """
    tree, n_leaves = hierarchy.tree_, len(hierarchy.components_)
    if words is not None and len(words) != len(tree):
        raise InputError(f"expected words for each of {len(tree)} nodes, got {len(words)}")
    made = ax is None
    ax = _axes(ax, (3.5 + max(5.0, 0.8 * n_leaves) * (words is not None) + 2.0, 1.0 + 0.5 * n_leaves))
    height = {leaf: float(row) for row, leaf in enumerate(tree.leaves)}
    level = dict.fromkeys(tree.leaves, 1)
    said = [" ".join(own[:4]) for own in words] if words is not None else [""] * len(tree)
    for step, (one, other) in enumerate(hierarchy.linkage_[:, :2].astype(int).tolist()):
        node = n_leaves + step
        height[node], level[node] = (height[one] + height[other]) / 2, step + 2
        ax.plot([level[node]] * 2, [height[one], height[other]], color=TRUNK, linewidth=1.4)
        for child in (one, other):
            ax.plot([level[child], level[node]], [height[child]] * 2, color=TRUNK, linewidth=1.4)
        if said[node]:
            ax.annotate(
                said[node].replace(" ", "\n"), (level[node], height[node]), fontsize=7, color=INK, ha="center",
                va="center", linespacing=1.1, zorder=5, annotation_clip=True,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.9},
            )  # fmt: skip
    places = [height[leaf] for leaf in range(n_leaves)]
    told = zip(hierarchy.components_, hierarchy.weight_, said[:n_leaves], strict=True)
    ax.set_yticks(places, [f"{component}  ({weight:.0%})  {own}".rstrip() for component, weight, own in told])
    ax.tick_params(axis="y", length=0, labelsize=8, labelcolor=INK)
    ax.set_xlim(0.95, n_leaves + 0.6)
    ax.set_ylim(n_leaves - 0.5, -0.5)
    ax.set_xticks(range(1, n_leaves + 1))
    ax.set_xlabel("level")
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure: Any = ax.figure
    if not made and figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")  # room for the words beside other pictures
    return ax


def scatter(
    ggm: GGM, X: Matrix, labels: ArrayLike | None = None, *, dimensions: Sequence[int] = (0, 1), ax: Axes | None = None
) -> Axes:
    """Draw examples in two or three of their dimensions, coloured by label or component, with the components' ellipses.

    An ellipse (in three dimensions three circles of an ellipsoid) is two deviations wide, and has the colour of its
    component, or of the label that most of its examples have. Examples without a label are grey. Dimensions are those
    of the mixture's own space, where it has one.
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
    for group in [*names, NO_LABEL]:
        mine = some[groups[some] == group]
        if len(mine):
            place = [points[mine, dimension] for dimension in chosen]
            colour = colours.get(group, PALE_INK)
            drawing.scatter(*place, s=9, alpha=0.5, linewidth=0, color=colour, label=group or "no label")
    means = ggm.component_mean_[:, chosen]
    for component, covariance in enumerate(ggm.component_covariance_[:, chosen][:, :, chosen]):
        inside = groups[(components == component) & (groups != NO_LABEL)]
        owner = max(names, key=[*inside].count) if len(inside) else NO_LABEL
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
    """Labels of any kind as texts, "" for none, and those that there are in their order: numbers by their value."""
    given = np.asarray(labels).ravel()
    missing = ggm.missing_labels(given)
    known = {str(label): label for label in given[~missing].tolist()}
    try:
        names = sorted(known, key=lambda name: known[name])
    except TypeError:  # texts and numbers
        names = sorted(known)
    texts = [NO_LABEL if gone else str(label) for label, gone in zip(given.tolist(), missing, strict=True)]
    return np.array(texts), names


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


def choice_curve(model: GGM, ax: Axes | None = None) -> Axes:
    """Draw what a number of components, or a weight of unlabelled examples, was chosen by; the choice is marked.

    Held-out surprise (``cv_``) where there is any, else AIC (``aic_curve_``).
    """
    surprise = model.cv_ or {}
    told: dict[Any, float] = surprise or model.aic_curve_
    if not told:
        raise InputError("the mixture has nothing to draw: no number was tried", hint="n_components=None or 'cv'")
    by_weight = len({weight for weight, _ in surprise}) > 1
    lines: dict[Any, dict[Any, float]] = {}
    for key, value in told.items():
        weight, size = key if model.cv_ else (None, key)
        lines.setdefault(size if by_weight else weight, {})[weight if by_weight else size] = value
    ax = _axes(ax, (6.4, 3.6))
    for number, (name, line) in enumerate(sorted(lines.items(), key=lambda item: item[0] or 0)):
        label = f"{name} components" if by_weight and name else None
        colour = COLOURS[number % len(COLOURS)]
        ax.plot(sorted(line), [line[place] for place in sorted(line)], "o-", color=colour, label=label, markersize=4)
    best = min(told, key=lambda key: (round(told[key], 12), key))
    place = best if not model.cv_ else best[0] if by_weight else best[1]
    ax.plot(place, told[best], "o", markersize=11, fillstyle="none", color=INK)
    ax.set_xlabel("weight λ of unlabelled examples" if by_weight else "components")
    ax.set_ylabel("surprise of held-out examples" if model.cv_ else "AIC")
    if by_weight and len(lines) > 1:
        ax.legend(fontsize=8, frameon=False)
    return ax


def confusion(clusters: ArrayLike, labels: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw for each label the share of its examples in every cluster; examples without a label are left out."""
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
    """The share of each label's examples (rows) in each cluster (columns), the clusters, and the labels.

    Examples without a label are left out.
    """
    groups, kinds = _named(labels)
    if not kinds:
        raise InputError("expected some examples with a label, got none")
    names, columns = np.unique(np.asarray(clusters), return_inverse=True)
    table = np.zeros((len(kinds), len(names)))
    for row, kind in enumerate(kinds):
        table[row] = np.bincount(columns[groups == kind], minlength=len(names))
    return table / table.sum(axis=1, keepdims=True), names, kinds
