"""Map by neighbours: similar documents are placed close to each other, independent of topics.

The map is a t-SNE of document features by openTSNE (``pip install 'topiarist[map]'``), started from the two directions
in which documents differ most. One thread and a fixed seed make it deterministic. Clusters and neighbours can be read
from it. Distances between clusters and their sizes have no meaning.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from topiarist.arrays import Floats, Ints
from topiarist.errors import UsageError
from topiarist.metrics.map_layout import CircleLayout
from topiarist.trees.tree import Tree

MIN_DOCUMENTS, MAX_DOCUMENTS = 10, 50_000  # 12,000 documents take about 20 s; time grows with their number
EXAGGERATED_STEPS, STEPS = 100, 250  # optimisation steps with exaggerated neighbours, and after them
NEIGHBOURS = 30.0  # perplexity of t-SNE


def is_possible(documents: int) -> bool:
    """Return whether openTSNE is installed and the number of documents is within the limits."""
    return MIN_DOCUMENTS <= documents <= MAX_DOCUMENTS and find_spec("openTSNE") is not None


def check_possible(documents: int) -> None:
    """Raise ``UsageError`` if this number of documents cannot be placed."""
    if not is_possible(documents):
        raise UsageError(
            f"a map by neighbours needs openTSNE and {MIN_DOCUMENTS} to {MAX_DOCUMENTS:,} documents, got {documents:,}",
            hint="Run pip install 'topiarist[map]'.",
        )


def embed(features: Floats) -> Floats:
    """Return a point for each row of features, rows × 2, in a circle of radius one around zero."""
    check_possible(len(features))
    from openTSNE import TSNE

    model = TSNE(
        perplexity=min(NEIGHBOURS, (len(features) - 1) / 3),
        early_exaggeration_iter=EXAGGERATED_STEPS,
        n_iter=STEPS,
        initialization="pca",
        n_jobs=1,
        random_state=0,
    )
    places = np.asarray(model.fit(np.asarray(features, np.float32)), np.float64)
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    points: Floats = places / max(float(np.sqrt((places**2).sum(axis=1)).max()), 1e-12)
    return points


def place_names(tree: Tree, assigned_nodes: Ints, points: Floats) -> CircleLayout:
    """Return positions of topic names at the median of the documents below them; no node has a circle."""
    centres, radii = np.zeros((len(tree), 2)), np.zeros(len(tree))
    is_below = tree.path_mask(range(len(tree)))[assigned_nodes]  # documents × nodes
    for node in range(len(tree)):
        points_below = points[is_below[:, node]]
        if len(points_below):
            centres[node] = np.median(points_below, axis=0)
            radii[node] = float(np.median(np.sqrt(((points_below - centres[node]) ** 2).sum(axis=1))))
    return CircleLayout(centres, radii, np.ones(len(tree), bool))
