"""The map of a collection: circles of topics within each other, and a point for each document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Floats, Ints
from topiarist.collection.describe.figures import Figures
from topiarist.measures.map_layout import Features, Ground, features_by_counts, lay_ground, place_documents
from topiarist.measures.neighbour_map import check_possible, embedded, names_among

STEPS = 65_535  # in which a place is told: two bytes each way
WORDS = 8_192  # by which topics are told apart: those of most documents


@dataclass(frozen=True, eq=False)
class DocumentMap:
    """The points of the documents, with the heading of each: 1 for the first below the root, 0 for none."""

    points: Floats  # documents × 2
    branches: Ints

    def to_bytes(self) -> bytes:
        """All points, five bytes each: two of x, two of y (little-endian, from -1 to 1), one of the heading."""
        places = np.clip((self.points + 1) / 2, 0.0, 1.0)
        whole = np.round(places * STEPS).astype("<u2")
        packed = np.empty((len(whole), 5), np.uint8)
        packed[:, :4] = whole.view(np.uint8).reshape(-1, 4)
        packed[:, 4] = np.minimum(self.branches, 255)
        return packed.tobytes()


def map_ground(figures: Figures) -> Ground:
    """The circles of the topics, as the tree is now. Documents are not looked at: this takes a moment."""
    with threadpool_limits(limits=1, user_api="blas"):  # threads of so little work wait for each other, and burn
        return lay_ground(figures.tree, _words(figures, _frequent(figures)), figures.sizes)


def neighbour_map(figures: Figures) -> tuple[Ground, DocumentMap]:
    """The documents by their neighbours, and where the names of topics belong among them. It takes its time."""
    check_possible(figures.n_docs)
    points = embedded(_features(figures)(np.arange(figures.n_docs)))
    return names_among(figures.tree, figures.homes, points), DocumentMap(points, _branches(figures))


def document_map(figures: Figures, ground: Ground | None = None) -> DocumentMap:
    """The points of the documents on a ground, or on that of the tree as it is now."""
    tree, classes = figures.tree, figures.shape.class_nodes
    ground = map_ground(figures) if ground is None else ground
    with threadpool_limits(limits=1, user_api="blas"):
        points = place_documents(ground, tree.root, classes, figures.collection.shares, _features(figures))
    return DocumentMap(points, _branches(figures))


def _branches(figures: Figures) -> Ints:
    """The heading that each document lies under."""
    tree = figures.tree
    tops = sorted(tree.children(tree.root), key=lambda node: figures.shape.topics[node])
    number = {top: place for place, top in enumerate(tops, 1)}
    of_node = np.array([0 if node == tree.root else number[tree.path(node)[1]] for node in range(len(tree))], np.int64)
    found: Ints = of_node[figures.homes]
    return found


def _features(figures: Figures) -> Features:
    """What tells documents of one topic apart: where they lie in the space of words that searches use.

    A collection that was written before there was one has the counts.
    """
    collection = figures.collection
    words = collection.words
    if words is not None and len(words) == figures.n_docs and len(words.space.scales):
        places, scales = words.coordinates, np.asarray(words.space.scales, np.float64)
        return lambda rows: places[rows] * scales
    columns = _frequent(figures)
    of_classes = _words(figures, columns)[np.asarray(figures.shape.class_nodes, np.int64)]
    return features_by_counts(of_classes, csr_array(collection.counts[:, columns]))


def _frequent(figures: Figures) -> Ints:
    """The columns of the words of most documents."""
    often = np.asarray(figures.collection.counting.vocabulary.document_frequency)
    return np.sort(np.argsort(-often, kind="stable")[:WORDS])


def _words(figures: Figures, columns: Ints) -> Array:
    """P(word | all that lies under a node) of some words, for every node that people see."""
    model = figures.collection.tree_model
    spoken: Floats = np.asarray(model.node_given_class, np.float64)
    prior = np.maximum(np.asarray(model.class_prior, np.float64), 1e-12)
    under = (figures.mask * prior[:, None]).T  # nodes × classes
    weight = under / np.maximum(under.sum(axis=1, keepdims=True), 1e-300)
    words = np.asarray(model.word_given_node[:, columns], np.float32)
    found: Array = (weight @ spoken).astype(np.float32) @ words
    return found
