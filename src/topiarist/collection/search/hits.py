"""Hits of a search: titles, places in the tree, copies and snippets; their numbers by topic, and their path down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.copies import count_copies
from topiarist.collection.search.results import Explanation, Hit, Place, TopicHits
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.text.highlights import Pieces
from topiarist.text.repeated import without
from topiarist.trees.levels import deepest_certain, node_posterior

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

LEAD = 160  # characters of a text without marked words
NOTABLE = 0.25  # share of the hits for which a topic is listed below its parent
CLEAR_SHARE = 2 / 3  # of a topic's matches in one subtopic: then the words decide the way
N_WORDS = 5  # of a subtopic
BLOCK = 1 << 14  # documents whose places are computed together


def list_hits(
    collection: Collection,
    rows: Sequence[int],
    snippets: Sequence[Pieces] | None = None,
    *,
    scores: Sequence[float] | None = None,
    reasons: Sequence[Explanation | None] | None = None,
) -> tuple[Hit, ...]:
    """Return documents as hits; without snippets, with the beginning of their text."""
    documents = (
        collection.documents.load_many(rows) if snippets is None else collection.documents.load_many(rows, texts=False)
    )
    forms = collection.counting.repeated.forms if snippets is None else frozenset()
    places, copies = find_places(collection, rows), count_copies(collection.copies, rows)
    return tuple(
        Hit(
            row=row, id=document.id, title=document.title, score=scores[at] if scores else 0.0,
            snippet=snippets[at] if snippets else ((_shorten(without(document.text, forms)), False),),
            place=places[at], labels=document.labels, date=document.date, why=reasons[at] if reasons else None,
            copies=copies[at],
        )
        for at, (row, document) in enumerate(zip(rows, documents, strict=True))
    )  # fmt: skip


def _shorten(text: str) -> str:
    words = " ".join(text[: 4 * LEAD].split())
    return words if len(words) <= LEAD else words[:LEAD].rsplit(" ", 1)[0] + " …"


def find_places(collection: Collection, rows: Sequence[int], certain: float = MIN_CERTAINTY) -> list[Place]:
    """Return the deepest topic of each document with at least the certainty ``certain``, and its probability."""
    outline = collection.outline
    if not rows:
        return []
    nodes = node_posterior(outline.tree, outline.class_nodes, collection.shares[list(rows)].toarray())
    assigned_nodes = deepest_certain(outline.tree, nodes, certain)
    return [
        Place(outline.topics[node], outline.tree.path_names(int(node))[1:], float(nodes[place][node]))
        for place, node in enumerate(assigned_nodes)
    ]


def count_hits_by_node(collection: Collection, rows: Array) -> Array:
    """Return for each node of the tree how many of ``rows`` have at least half of their share in it."""
    outline, tree = collection.outline, collection.outline.tree
    mask = tree.path_mask(outline.class_nodes).astype(np.float64)
    count = np.zeros(len(tree), np.int64)
    for start in range(0, len(rows), BLOCK):
        count += ((collection.shares[rows[start : start + BLOCK]] @ mask) >= MIN_CERTAINTY).sum(axis=0)
    return count


def count_topic_hits(collection: Collection, rows: Array) -> tuple[TopicHits, ...]:
    """Return the topics of hits: headings with the most hits first, each followed by notable topics below.

    A document without a heading that holds at least half of it is not counted.
    """
    outline, tree = collection.outline, collection.outline.tree
    if not len(rows):
        return ()
    count = count_hits_by_node(collection, rows)
    hits: list[TopicHits] = []
    waiting = sorted(tree.children(tree.root), key=lambda node: count[node])
    while waiting:
        node = waiting.pop()
        if count[node] and (tree.depths[node] == 1 or count[node] >= NOTABLE * len(rows)):
            size = collection.tree.sizes[node]
            hits.append(TopicHits(outline.topics[node], tree.path_names(node)[1:], int(count[node]), size))
            waiting.extend(sorted(tree.children(node), key=lambda child: count[child]))
    return tuple(hits)


@dataclass(frozen=True)
class Subtopic:
    """Topic with its words and the number of matches that it would keep."""

    topic: int
    name: str
    words: tuple[str, ...]
    documents: int

    def to_dict(self) -> dict[str, Any]:
        return {"topic": self.topic, "name": self.name, "words": list(self.words), "documents": self.documents}


@dataclass(frozen=True)
class Step:
    """Topic on the path, with the subtopics that keep matches, the largest number first."""

    branch: Subtopic
    below: tuple[Subtopic, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**self.branch.to_dict(), "below": [branch.to_dict() for branch in self.below]}


@dataclass(frozen=True)
class Descent:
    """Steps down the tree, from the whole tree or a topic to the last topic that the words decide."""

    steps: tuple[Step, ...]

    @property
    def choices(self) -> tuple[Subtopic, ...]:
        """Subtopics of the last step, among which the user decides; empty at a leaf."""
        return self.steps[-1].below

    def to_dict(self) -> dict[str, Any]:
        return {"steps": [step.to_dict() for step in self.steps], "open": bool(self.choices)}


def descend(collection: Collection, rows: Array, topic: int | str | None = None) -> Descent:
    """Follow the matches ``rows`` down the tree, while one subtopic keeps two thirds of the matches of its parent."""
    outline = collection.outline
    root = outline.tree.root
    node = root if topic is None else outline.node(outline.find(topic))

    def describe(child: int, count: int) -> Subtopic:
        words = () if child == root else collection.tree.nodes[child].words[:N_WORDS]  # the root has general words
        return Subtopic(outline.topics[child], outline.tree.names[child], words, count)

    return follow(
        node,
        outline.tree.children,
        count_hits_by_node(collection, rows),
        describe,
    )


def follow(
    node: int, children: Callable[[int], Any], counts: Array, describe: Callable[[int, int], Subtopic]
) -> Descent:
    """Return the steps from a node down, for the number of matches under each node."""
    steps = []
    while True:
        below = sorted((child for child in children(node) if counts[child]), key=lambda child: -counts[child])
        steps.append(
            Step(describe(node, int(counts[node])), tuple(describe(child, int(counts[child])) for child in below))
        )
        if not below or counts[below[0]] < CLEAR_SHARE * counts[node]:
            return Descent(tuple(steps))
        node = below[0]
