"""The map of a collection: circles of topics within each other, and a point for each document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Floats, Ints
from topiarist.collection.describe.figures import Figures
from topiarist.measures.map_layout import MapLayout, lay_out

STEPS = 65_535  # in which a place is told: two bytes each way


@dataclass(frozen=True, eq=False)
class DocumentMap:
    """A layout with the heading of each document: 1 for the first below the root, 0 for none."""

    layout: MapLayout
    branches: Ints

    def to_bytes(self) -> bytes:
        """All points, five bytes each: two of x, two of y (little-endian, from -1 to 1), one of the heading."""
        places = np.clip((self.layout.points + 1) / 2, 0.0, 1.0)
        whole = np.round(places * STEPS).astype("<u2")
        packed = np.empty((len(whole), 5), np.uint8)
        packed[:, :4] = whole.view(np.uint8).reshape(-1, 4)
        packed[:, 4] = np.minimum(self.branches, 255)
        return packed.tobytes()


def document_map(figures: Figures) -> DocumentMap:
    """The map, as the tree is now."""
    tree, collection = figures.tree, figures.collection
    layout = lay_out(
        tree, figures.shape.class_nodes, collection.shares, collection.counts, _words(figures), figures.sizes
    )
    tops = sorted(tree.children(tree.root), key=lambda node: figures.shape.topics[node])
    number = {top: place for place, top in enumerate(tops, 1)}
    of_node = np.array([0 if node == tree.root else number[tree.path(node)[1]] for node in range(len(tree))], np.int64)
    return DocumentMap(layout, of_node[figures.homes])


def _words(figures: Figures) -> Array:
    """P(word | all that lies under a node), for every node that people see."""
    model = figures.collection.tree_model
    spoken: Floats = np.asarray(model.node_given_class, np.float64)
    prior = np.maximum(np.asarray(model.class_prior, np.float64), 1e-12)
    under = (figures.mask * prior[:, None]).T  # nodes × classes
    weight = under / np.maximum(under.sum(axis=1, keepdims=True), 1e-300)
    found: Array = (weight @ spoken) @ np.asarray(model.word_given_node)
    return found
