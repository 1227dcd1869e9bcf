"""How do the groups join?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import Query

from topiarist.app.explorer.values import TopicLine, counted, topic_line
from topiarist.app.explorer.view import View

MOST = 200  # leaves that are drawn; beyond that only the groups at the cut


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    groups: Annotated[int | None, Query(ge=1, le=10_000, description="cut into so many groups")] = None


@dataclass(frozen=True)
class Stroke:
    """A line of the drawing, in shares of its width and rows of its height."""

    x1: float
    y1: float
    x2: float
    y2: float
    cut: bool  # whether it lies to the right of the cut


@dataclass(frozen=True)
class Tip:
    """A row at the left of the drawing."""

    name: str
    documents: int
    address: str
    row: float


@dataclass(frozen=True)
class DendrogramPage:
    """The merges of a mixture, and the groups at a cut."""

    sentence: str
    strokes: tuple[Stroke, ...]
    tips: tuple[Tip, ...]
    cut: float  # where, in shares of the width
    groups: tuple[TopicLine, ...]
    chosen: int
    most: int


def load(view: View, ask: Ask) -> DendrogramPage:
    """Fill the page."""
    hierarchy = getattr(view.collection.model, "hierarchy_", None)
    linkage = None if hierarchy is None else np.asarray(hierarchy.linkage_)
    if linkage is None or not len(linkage):
        return DendrogramPage("The tree of this collection was not made by joining groups.", (), (), 0.0, (), 0, 0)
    n_leaves = len(linkage) + 1
    chosen = min(ask.groups or max(2, round(n_leaves**0.5)), n_leaves)
    nodes = _groups(linkage, chosen)
    places = _places(linkage, nodes if n_leaves > MOST else None)
    scale = _scale(linkage)
    shown = list(dict.fromkeys(int(view.shown_nodes[node]) for node in nodes))
    return DendrogramPage(
        f"{counted(n_leaves, 'group')} join step by step; here they are cut into {counted(chosen, 'group')}.",
        _strokes(linkage, places, scale, chosen), _tips(view, linkage, places), _cut(linkage, scale, chosen),
        tuple(topic_line(view, node) for node in shown), chosen, n_leaves,
    )  # fmt: skip


def _groups(linkage: Any, wanted: int) -> list[int]:
    """The clusters, by SciPy's numbers, when only so many are left."""
    n_leaves = len(linkage) + 1
    left = set(range(n_leaves))
    for step in range(n_leaves - wanted):
        left -= {int(linkage[step, 0]), int(linkage[step, 1])}
        left.add(n_leaves + step)
    return sorted(left)


def _places(linkage: Any, collapsed: list[int] | None) -> dict[int, float]:
    """The row of each cluster: leaves, or collapsed groups, from the top down, the others between their parts."""
    n_leaves, ends = len(linkage) + 1, set(collapsed or ())
    rows: dict[int, float] = {}
    waiting = [2 * n_leaves - 2]
    while waiting:
        node = waiting.pop()
        if node < n_leaves or node in ends:
            rows[node] = len(rows) + 0.5
        else:
            waiting += [int(linkage[node - n_leaves, 1]), int(linkage[node - n_leaves, 0])]
    for step in range(len(linkage)):
        parts = [rows.get(int(part)) for part in linkage[step, :2]]
        if parts[0] is not None and parts[1] is not None:
            rows.setdefault(n_leaves + step, (parts[0] + parts[1]) / 2)
    return rows


def _scale(linkage: Any) -> Any:
    """From the height of a merge to its place in the width: by its logarithm, for most merges are low."""
    heights = np.maximum(linkage[:, 2], 1e-12)
    low, high = np.log(heights.min()), np.log(heights.max())
    return 0.08 + 0.88 * (np.log(heights) - low) / max(high - low, 1e-12)


def _cut(linkage: Any, scale: Any, chosen: int) -> float:
    """Between the last merge that is done and the first that is not."""
    done = len(linkage) + 1 - chosen
    before = float(scale[done - 1]) if done else 0.0
    after = float(scale[done]) if done < len(linkage) else 1.0
    return (before + after) / 2


def _strokes(linkage: Any, rows: dict[int, float], scale: Any, chosen: int) -> tuple[Stroke, ...]:
    n_leaves, found = len(linkage) + 1, []
    for step in range(len(linkage)):
        node, x = n_leaves + step, float(scale[step])
        parts = [int(part) for part in linkage[step, :2]]
        if any(part not in rows for part in parts) or node not in rows:
            continue
        cut = step >= n_leaves - chosen
        for part in parts:
            start = 0.0 if part < n_leaves else float(scale[part - n_leaves])
            found.append(Stroke(start, rows[part], x, rows[part], cut))
        found.append(Stroke(x, rows[parts[0]], x, rows[parts[1]], cut))
    return tuple(found)


def _tips(view: View, linkage: Any, rows: dict[int, float]) -> tuple[Tip, ...]:
    n_leaves = len(linkage) + 1
    parts = {int(part) for step in range(len(linkage)) if n_leaves + step in rows for part in linkage[step, :2]}
    inner = {n_leaves + step for step in range(len(linkage)) if all(int(part) in rows for part in linkage[step, :2])}
    found = []
    for node in sorted((parts | set(rows)) - inner, key=lambda node: rows[node]):
        line = topic_line(view, int(view.shown_nodes[node]))
        found.append(Tip(line.name, line.documents, line.address, rows[node]))
    return tuple(found)
