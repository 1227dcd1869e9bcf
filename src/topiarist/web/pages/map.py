"""Map of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query

from topiarist.collection.trends.document_map import lay_out_documents, lay_out_neighbours, lay_out_topics
from topiarist.display.locale.catalogues import CountedNoun, translate, translate_table
from topiarist.metrics.map_layout import CircleLayout, is_possible
from topiarist.web import addresses
from topiarist.web.pages.overview import list_documents
from topiarist.web.values import Choice, DocumentLine, choices
from topiarist.web.view import View

TOPICS, NEIGHBOURS = "topics", "neighbours"
FEW = 100  # documents: below, a map shows structure that is not there, and the documents are listed
LARGE = 0.08  # of the radius of the map: circles that are seen at first
WAYS = {TOPICS: "in the same topic", NEIGHBOURS: "similar"}


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page, without the position on the map."""

    by: Annotated[Literal["topics", "neighbours"], Query(description="arrangement of the documents")] = "topics"


@dataclass(frozen=True, kw_only=True)
class Circle:
    """Circle of a topic; the map has radius 1 around the origin."""

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
    """Circles of the topics on the document map; the points have an address of their own."""

    sentence: str
    documents: int
    circles: tuple[Circle, ...]
    points: str
    by: str
    ways: tuple[Choice, ...]  # which documents may lie near each other; none where there is one way only
    listed: tuple[DocumentLine, ...]  # the documents themselves, if they are too few for a map
    waiting: str  # while documents are placed by their neighbours; circles are those of the topics so long


def compute_ground(view: View) -> CircleLayout:
    return view.compute_once(("ground",), lambda: lay_out_topics(view))


def compute_points(view: View) -> bytes:
    """Return the points of the documents as bytes."""
    return view.compute_once(("points",), lambda: lay_out_documents(view, compute_ground(view)).to_bytes())


def compute_neighbours(view: View) -> tuple[CircleLayout, bytes] | None:
    """Return circles and points of the map by neighbours; None while a thread computes them."""

    def compute_layout() -> tuple[CircleLayout, bytes]:
        ground, points = lay_out_neighbours(view)
        return ground, points.to_bytes()

    return (
        view.numbers.start_or_get(("neighbours",), compute_layout) if is_possible(view.n_docs) else compute_layout()
    )  # which says what lacks


def load(view: View, ask: Ask) -> MapPage:
    """Return the map page; by neighbours, it starts their computation and shows topics meanwhile."""
    neighbour_map = compute_neighbours(view) if ask.by == NEIGHBOURS else None
    ground, by = (
        compute_ground(view) if neighbour_map is None else neighbour_map[0],
        None if ask.by == TOPICS else ask.by,
    )
    return MapPage(
        sentence=_write_sentence(view, ask),
        documents=view.n_docs,
        circles=_list_circles(view, ground),
        points=addresses.points(by=by),
        by=ask.by,
        listed=list_documents(view, FEW) if view.n_docs < FEW else (),
        ways=choices(
            translate_table(WAYS), ask.by, lambda way: addresses.document_map(by=None if way == TOPICS else way)
        )
        if is_possible(view.n_docs) and view.n_docs >= FEW
        else (),
        waiting=translate("Computing the positions of documents, up to one minute. Circles show topics.")
        if ask.by == NEIGHBOURS and neighbour_map is None
        else "",
    )


def _write_sentence(view: View, ask: Ask) -> str:
    """Return the size of the map and how to read it in words."""
    documents, topics = CountedNoun(view.n_docs, "document"), CountedNoun(len(view.tree.leaves), "topic")
    if view.n_docs < FEW:
        return translate("Too few for a map: {documents}.", documents=documents)
    if ask.by == NEIGHBOURS:
        return translate(
            "{documents} in {topics}. Each point is a document in the colour of its heading. Only near points are "
            "comparable.",
            documents=documents,
            topics=topics,
        )
    return translate(
        "{documents} in {topics}. Each point is a document, each circle a topic. Similar topics are close together.",
        documents=documents,
        topics=topics,
    )


def _list_circles(view: View, ground: CircleLayout) -> tuple[Circle, ...]:
    """Return the circles of all topics except the root."""
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
            first=not ground.is_skipped[node] and (tree.depths[node] == 1 or bool(ground.radii[node] >= LARGE)),
            between=bool(ground.is_skipped[node]),
            address=addresses.topic(view.shape.topics[node]),
        )
        for node in view.ordered()
        if node != tree.root
    )
