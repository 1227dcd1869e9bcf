"""Where does everything lie?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, choices
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, all_worded, worded
from topiarist.collection import document_map, map_ground, neighbour_map
from topiarist.measures.map_layout import Ground
from topiarist.measures.neighbour_map import is_possible

TOPICS, NEIGHBOURS = "topics", "neighbours"
LARGE = 0.08  # of the radius of the map: circles that are seen at first
WAYS = {TOPICS: "of one topic", NEIGHBOURS: "alike"}


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page; where one looks is on the screen alone."""

    by: Annotated[Literal["topics", "neighbours"], Query(description="which documents lie near each other")] = "topics"


@dataclass(frozen=True, kw_only=True)
class Circle:
    """A topic on the map: its middle and its radius, where the whole map has a radius of one around zero."""

    id: int
    name: str
    documents: int
    x: float
    y: float
    radius: float
    level: int
    branch: int
    last: bool  # nothing is below it
    first: bool  # shown before anybody looks closer
    between: bool  # only its name is shown: what is below it lies beside others
    address: str


@dataclass(frozen=True, kw_only=True)
class MapPage:
    """The map of the documents: circles of topics; the points are data of their own."""

    sentence: str
    documents: int
    circles: tuple[Circle, ...]
    points: str
    by: str
    ways: tuple[Choice, ...]  # which documents may lie near each other; none where there is one way only
    waiting: str  # while documents are placed by their neighbours; circles are those of the topics so long


def ground_of(view: View) -> Ground:
    """The circles, made once for a form of the tree."""
    return view.kept(("ground",), lambda: map_ground(view))


def points_of(view: View) -> bytes:
    """The points of the documents, made once for a form of the tree; see ``DocumentMap.to_bytes``."""
    return view.kept(("points",), lambda: document_map(view, ground_of(view)).to_bytes())


def neighbours_of(view: View) -> tuple[Ground, bytes] | None:
    """Where names belong among documents by their neighbours, and the points of these; None while it is made."""

    def made() -> tuple[Ground, bytes]:
        ground, points = neighbour_map(view)
        return ground, points.to_bytes()

    return view.numbers.later(("neighbours",), made) if is_possible(view.n_docs) else made()  # which says what lacks


def load(view: View, ask: Ask) -> MapPage:
    """Fill the page."""
    near = neighbours_of(view) if ask.by == NEIGHBOURS else None
    ground, by = ground_of(view) if near is None else near[0], None if ask.by == TOPICS else ask.by
    return MapPage(
        sentence=_sentence(view, ask),
        documents=view.n_docs,
        circles=_circles(view, ground),
        points=addresses.points(by=by),
        by=ask.by,
        ways=choices(all_worded(WAYS), ask.by, lambda way: addresses.document_map(by=None if way == TOPICS else way))
        if is_possible(view.n_docs)
        else (),
        waiting=worded("Documents are being placed, which may take a minute; the circles are those of the topics.")
        if ask.by == NEIGHBOURS and near is None
        else "",
    )


def _sentence(view: View, ask: Ask) -> str:
    documents, topics = Counted(view.n_docs, "document"), Counted(len(view.tree.leaves), "topic")
    if ask.by == NEIGHBOURS:
        return worded(
            "{documents} in {topics}: a point each, near others that are alike, in the colour of its heading. How far "
            "apart and how large clusters are says nothing.",
            documents=documents,
            topics=topics,
        )
    return worded(
        "{documents} in {topics}: a point each, in the circle of its topic, between circles where it is of several."
        " Topics that speak alike lie near each other.",
        documents=documents,
        topics=topics,
    )


def _circles(view: View, ground: Ground) -> tuple[Circle, ...]:
    tree = view.tree
    return tuple(
        Circle(
            id=view.shape.topics[node],
            name=view.names[node],
            documents=view.sizes[node],
            x=round(float(ground.centres[node, 0]), 5),
            y=round(float(ground.centres[node, 1]), 5),
            radius=round(float(ground.radii[node]), 5),
            level=tree.depths[node],
            branch=view.branches[node],
            last=tree.is_leaf(node),
            first=not ground.between[node] and (tree.depths[node] == 1 or bool(ground.radii[node] >= LARGE)),
            between=bool(ground.between[node]),
            address=addresses.topic(view.shape.topics[node]),
        )
        for node in view.ordered()
        if node != tree.root
    )
