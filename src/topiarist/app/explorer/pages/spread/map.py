"""Where does everything lie?"""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.collection import DocumentMap, document_map


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
    address: str


@dataclass(frozen=True, kw_only=True)
class MapPage:
    """The map of the documents: circles of topics; the points are data of their own."""

    sentence: str
    documents: int
    circles: tuple[Circle, ...]
    points: str


def map_of(view: View) -> DocumentMap:
    """The map, made once for a form of the tree."""
    return view.kept(("map",), lambda: document_map(view))


def load(view: View, ask: Ask) -> MapPage:
    """Fill the page."""
    layout, tree = map_of(view).layout, view.tree
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
                x=round(float(layout.centres[node, 0]), 5),
                y=round(float(layout.centres[node, 1]), 5),
                radius=round(float(layout.radii[node]), 5),
                level=tree.depths[node],
                branch=view.branches[node],
                last=tree.is_leaf(node),
                first=node in first,
                address=addresses.topic(view.shape.topics[node]),
            )
            for node in nodes
        ),
        points=addresses.POINTS,
    )
