"""How do the groups join?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import Query

from topiarist.app.explorer.values import counted, topic_line
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
class Group:
    """A group at the cut, with what it is made of."""

    name: str
    words: tuple[str, ...]
    documents: int
    address: str
    parts: tuple[Tip, ...]


@dataclass(frozen=True)
class DendrogramPage:
    """The merges of a mixture, and the groups at a cut."""

    sentence: str
    strokes: tuple[Stroke, ...]
    tips: tuple[Tip, ...]
    cut: float  # where, in shares of the width
    groups: tuple[Group, ...]
    chosen: int
    most: int


def load(view: View, ask: Ask) -> DendrogramPage:
    """Fill the page."""
    linkage = np.asarray(view.collection.model.hierarchy_.linkage_) if view.has_dendrogram else ()
    if not len(linkage):
        return DendrogramPage("The tree of this collection was not made by joining groups.", (), (), 0.0, (), 0, 0)
    n_leaves = len(linkage) + 1
    chosen = min(ask.groups or max(2, round(n_leaves**0.5)), n_leaves)
    nodes = _groups(linkage, chosen)
    places = _places(linkage, nodes if n_leaves > MOST else None)
    scale = _scale(linkage)
    told = _Clusters(view, linkage)
    return DendrogramPage(
        f"{counted(n_leaves, 'group')} join step by step; here they are cut into {counted(chosen, 'group')}.",
        _strokes(linkage, places, scale, chosen), _tips(told, linkage, places), _cut(linkage, scale, chosen),
        tuple(told.group(node) for node in nodes), chosen, n_leaves,
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


class _Clusters:
    """The clusters of a linkage in words. Nodes of the tree may be fewer: merges that say little are removed from it.

    A cluster is therefore known by its components, and called like the topic under which they all lie; where others
    lie there too, like the largest of its components.
    """

    def __init__(self, view: View, linkage: Any) -> None:
        self.view = view
        self.members: list[list[int]] = [[leaf] for leaf in range(len(linkage) + 1)]
        for one, other in linkage[:, :2].astype(int).tolist():
            self.members.append(self.members[one] + self.members[other])
        self.sizes = np.asarray(view.collection.shares.sum(axis=0, dtype=np.float64)).ravel()

    def tip(self, cluster: int, row: float = 0.0) -> Tip:
        """A cluster in a line."""
        members, view = self.members[cluster], self.view
        node, places = self._node(members), view.shape.class_nodes
        name = view.names[node]
        if int(view.mask[:, node].sum()) != len(members):
            largest = max(members, key=lambda member: (self.sizes[member], -member))
            rest = len(members) - 1
            name = view.names[places[largest]] + (f" and {counted(rest, 'other')}" if rest else "")
        documents = round(float(self.sizes[members].sum()))
        return Tip(name, documents, topic_line(view, node).address, row)

    def group(self, cluster: int) -> Group:
        """A cluster with its components, the largest first."""
        own = self.tip(cluster)
        ordered = sorted(self.members[cluster], key=lambda member: (-self.sizes[member], member))
        words = self.view.collection.tree.nodes[self._node(ordered)].words[:8]
        return Group(own.name, words, own.documents, own.address, tuple(self.tip(member) for member in ordered[:MOST]))

    def _node(self, members: list[int]) -> int:
        """The deepest topic under which all of them lie."""
        under = self.view.mask[members].all(axis=0)
        return max(np.flatnonzero(under).tolist(), key=lambda node: self.view.tree.depths[node])


def _tips(told: _Clusters, linkage: Any, rows: dict[int, float]) -> tuple[Tip, ...]:
    n_leaves = len(linkage) + 1
    parts = {int(part) for step in range(len(linkage)) if n_leaves + step in rows for part in linkage[step, :2]}
    inner = {n_leaves + step for step in range(len(linkage)) if all(int(part) in rows for part in linkage[step, :2])}
    ends = sorted((node for node in (parts | set(rows)) - inner if node in rows), key=lambda node: rows[node])
    return tuple(told.tip(node, rows[node]) for node in ends)
