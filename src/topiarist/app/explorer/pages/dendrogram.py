"""How do the groups join?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer.values import topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.collection import Merges

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


@dataclass(frozen=True, kw_only=True)
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
    if not view.has_dendrogram:
        return DendrogramPage(
            sentence=worded("The tree of this collection was not made by joining groups."),
            strokes=(),
            tips=(),
            cut=0.0,
            groups=(),
            chosen=0,
            most=0,
        )
    merges = Merges(view)
    n_leaves = merges.n_leaves
    chosen = min(ask.groups or max(2, round(n_leaves**0.5)), n_leaves)
    clusters = merges.groups(chosen)
    rows = merges.rows(clusters if n_leaves > MOST else None)
    return DendrogramPage(
        sentence=worded(
            "{all} join step by step; here they are cut into {groups}.",
            all=Counted(n_leaves, "group"),
            groups=Counted(chosen, "group"),
        ),
        strokes=_strokes(merges, rows, chosen),
        tips=_tips(view, merges, rows),
        cut=merges.cut(chosen),
        groups=tuple(_group(view, merges, cluster) for cluster in clusters),
        chosen=chosen,
        most=n_leaves,
    )


def _strokes(merges: Merges, rows: dict[int, float], chosen: int) -> tuple[Stroke, ...]:
    n_leaves, found = merges.n_leaves, []
    for step, (parts, x) in enumerate(zip(merges.parts, merges.scale, strict=True)):
        if any(cluster not in rows for cluster in (*parts, n_leaves + step)):
            continue
        cut = step >= n_leaves - chosen
        for part in parts:
            start = 0.0 if part < n_leaves else merges.scale[part - n_leaves]
            found.append(Stroke(start, rows[part], x, rows[part], cut))
        found.append(Stroke(x, rows[parts[0]], x, rows[parts[1]], cut))
    return tuple(found)


def _tip(view: View, merges: Merges, cluster: int, row: float = 0.0) -> Tip:
    """A cluster in a line: called like its topic; where others lie there too, like the largest of its components."""
    node, members = merges.node(cluster), merges.members[cluster]
    name = view.names[node]
    if not merges.is_alone(cluster):
        largest, rest = merges.largest_first(cluster)[0], len(members) - 1
        name = view.names[view.shape.class_nodes[largest]]
        name = worded("{name} and {others}", name=name, others=Counted(rest, "other")) if rest else name
    return Tip(name, merges.size(cluster), topic_line(view, node).address, row)


def _group(view: View, merges: Merges, cluster: int) -> Group:
    """A cluster with its components, the largest first."""
    own, words = _tip(view, merges, cluster), view.collection.tree.nodes[merges.node(cluster)].words[:8]
    parts = tuple(_tip(view, merges, member) for member in merges.largest_first(cluster)[:MOST])
    return Group(own.name, words, own.documents, own.address, parts)


def _tips(view: View, merges: Merges, rows: dict[int, float]) -> tuple[Tip, ...]:
    n_leaves = merges.n_leaves
    drawn = {part for step, parts in enumerate(merges.parts) if n_leaves + step in rows for part in parts}
    inner = {n_leaves + step for step, parts in enumerate(merges.parts) if all(part in rows for part in parts)}
    ends = sorted((node for node in (drawn | set(rows)) - inner if node in rows), key=lambda node: rows[node])
    return tuple(_tip(view, merges, node, rows[node]) for node in ends)
