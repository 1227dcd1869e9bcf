"""Rows of documents as hits: their titles, places in the tree, copies and snippets, and their numbers by topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    """Return the assignments of documents."""
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
    """Return the number of documents among ``rows`` that each node of the tree holds at least half of."""
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
