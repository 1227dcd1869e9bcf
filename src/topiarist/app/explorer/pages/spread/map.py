"""Where does everything lie?"""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.collection import document_map, map_ground
from topiarist.measures.map_layout import Ground


@dataclass(frozen=True)
class Ask:
    """Nothing may be asked of the page: where one looks is on the screen alone."""


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


def ground_of(view: View) -> Ground:
    """The circles, made once for a form of the tree."""
    return view.kept(("ground",), lambda: map_ground(view))


def points_of(view: View) -> bytes:
    """The points of the documents, made once for a form of the tree; see ``DocumentMap.to_bytes``."""
    return view.kept(("points",), lambda: document_map(view, ground_of(view)).to_bytes())


def load(view: View, ask: Ask) -> MapPage:
    """Fill the page."""
    ground, tree = ground_of(view), view.tree
    first = {step for node in view.collection.tree.view("coarse") for step in tree.path(node)}
    nodes = [node for node in view.ordered() if node != tree.root]
    return MapPage(
        sentence=worded(
            "{documents} in {topics}: a point each, in the circle of its topic, between circles where it is of several."
            " Topics that speak alike lie near each other.",
            documents=Counted(view.n_docs, "document"),
            topics=Counted(len(tree.leaves), "topic"),
        ),
        documents=view.n_docs,
        circles=tuple(
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
                first=node in first,
                between=bool(ground.between[node]),
                address=addresses.topic(view.shape.topics[node]),
            )
            for node in nodes
        ),
        points=addresses.POINTS,
    )
