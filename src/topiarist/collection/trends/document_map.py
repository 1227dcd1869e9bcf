"""Document map: nested circles of topics, and a point for each document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Floats, Ints
from topiarist.collection.describe.statistics import Figures
from topiarist.metrics.map_layout import (
    CircleLayout,
    Features,
    check_possible,
    embed,
    lay_out_circles,
    make_count_features,
    place_documents,
    place_names,
)

STEPS = 65_535  # of a coordinate: two bytes
MAX_WORDS = 8_192  # most frequent words, from which the positions of topics are computed


@dataclass(frozen=True, eq=False)
class DocumentMap:
    """Points of the documents, with the branch of each: 1 for the first topic below the root, 0 for the root."""

    points: Floats  # documents × 2
    branches: Ints

    def to_bytes(self) -> bytes:
        """Return all points, five bytes each: two for x, two for y (little-endian, -1 to 1), one for the branch."""
        places = np.clip((self.points + 1) / 2, 0.0, 1.0)
        steps = np.round(places * STEPS).astype("<u2")
        point_bytes = np.empty((len(steps), 5), np.uint8)
        point_bytes[:, :4] = steps.view(np.uint8).reshape(-1, 4)
        point_bytes[:, 4] = np.minimum(self.branches, 255)
        return point_bytes.tobytes()


def lay_out_topics(figures: Figures) -> CircleLayout:
    """Return the circles of the topics of the current tree, without reading documents."""
    with threadpool_limits(limits=1, user_api="blas"):  # the matrices are so small that threads only wait
        return lay_out_circles(
            figures.tree, _compute_word_given_node(figures, _select_frequent_words(figures)), figures.sizes
        )


def lay_out_neighbours(figures: Figures) -> tuple[CircleLayout, DocumentMap]:
    """Return a map of the documents by their neighbours, and the positions of topic names on it; this is slow."""
    check_possible(figures.n_docs)
    points = embed(_make_features(figures)(np.arange(figures.n_docs)))
    return place_names(figures.tree, figures.assigned_nodes, points), DocumentMap(points, _number_branches(figures))


def lay_out_documents(figures: Figures, ground: CircleLayout | None = None) -> DocumentMap:
    """Return the points of the documents in a circle layout; by default the layout of the current tree."""
    tree, classes = figures.tree, figures.shape.class_nodes
    ground = lay_out_topics(figures) if ground is None else ground
    with threadpool_limits(limits=1, user_api="blas"):
        points = place_documents(ground, tree.root, classes, figures.collection.shares, _make_features(figures))
    return DocumentMap(points, _number_branches(figures))


def _number_branches(figures: Figures) -> Ints:
    """Return the branch of each document, from 1 on in the order of topic numbers; 0: the root."""
    tree = figures.tree
    tops = sorted(tree.children(tree.root), key=lambda node: figures.shape.topics[node])
    number = {top: place for place, top in enumerate(tops, 1)}
    of_node = np.array([0 if node == tree.root else number[tree.path(node)[1]] for node in range(len(tree))], np.int64)
    branches: Ints = of_node[figures.assigned_nodes]
    return branches


def _make_features(figures: Figures) -> Features:
    """Return features of documents from the word space of the search, or from counts without one."""
    collection = figures.collection
    words = collection.words
    if len(words) == figures.n_docs and len(words.space.scales):
        places, scales = words.coordinates, np.asarray(words.space.scales, np.float64)
        return lambda rows: places[rows] * scales
    columns = _select_frequent_words(figures)
    of_classes = _compute_word_given_node(figures, columns)[np.asarray(figures.shape.class_nodes, np.int64)]
    return make_count_features(of_classes, csr_array(collection.counts[:, columns]))


def _select_frequent_words(figures: Figures) -> Ints:
    frequency = np.asarray(figures.collection.counting.vocabulary.document_frequency)
    return np.sort(np.argsort(-frequency, kind="stable")[:MAX_WORDS])


def _compute_word_given_node(figures: Figures, columns: Ints) -> Array:
    """Return P(word | branch) of selected words for each node of the visible tree; nodes × words."""
    model = figures.collection.tree_model
    node_given_class: Floats = np.asarray(model.node_given_class, np.float64)
    prior = np.maximum(np.asarray(model.class_prior, np.float64), 1e-12)
    class_prior = (figures.mask * prior[:, None]).T  # nodes × classes
    weight = class_prior / np.maximum(class_prior.sum(axis=1, keepdims=True), 1e-300)
    words = np.asarray(model.word_given_node[:, columns], np.float32)
    word_given_node: Array = (weight @ node_given_class).astype(np.float32) @ words
    return word_given_node
