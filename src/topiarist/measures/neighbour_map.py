"""A map by neighbours: documents that are alike lie near each other, whatever topics they are of.

It is a t-SNE of their features, begun from the two directions in which they differ most, by openTSNE, which comes with
``pip install 'topiarist[map]'``. One thread and a fixed seed: the same documents, the same map. Clusters and what lies
beside what can be read from it; distances between clusters, and how large they are, say nothing.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from topiarist.arrays import Floats, Ints
from topiarist.errors import UsageError
from topiarist.hierarchy.tree import Tree
from topiarist.measures.map_layout import Ground

FEWEST, MOST = 10, 50_000  # documents: 12,000 take about 20 s, and time grows with them
APART, STEPS = 100, 250  # of the optimisation: while neighbours are exaggerated, and after that
NEIGHBOURS = 30.0  # that count, about


def is_possible(documents: int) -> bool:
    """Whether so many documents can be placed: openTSNE is here, and they are neither too few nor too many."""
    return FEWEST <= documents <= MOST and find_spec("openTSNE") is not None


def check_possible(documents: int) -> None:
    """An error that says what is wanted, where so many documents cannot be placed."""
    if not is_possible(documents):
        raise UsageError(
            f"a map by neighbours needs openTSNE, and {FEWEST} to {MOST:,} documents; got {documents:,}",
            hint="pip install 'topiarist[map]'",
        )


def embedded(features: Floats) -> Floats:
    """A place for each row of features, rows × 2, in a circle of radius one around zero."""
    check_possible(len(features))
    from openTSNE import TSNE

    model = TSNE(
        perplexity=min(NEIGHBOURS, (len(features) - 1) / 3),
        early_exaggeration_iter=APART,
        n_iter=STEPS,
        initialization="pca",
        n_jobs=1,
        random_state=0,
    )
    places = np.asarray(model.fit(np.asarray(features, np.float32)), np.float64)
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    found: Floats = places / max(float(np.sqrt((places**2).sum(axis=1)).max()), 1e-12)
    return found


def names_among(tree: Tree, homes: Ints, points: Floats) -> Ground:
    """Where the names of topics belong among points: in the middle of the documents below them. None has a circle."""
    centres, radii = np.zeros((len(tree), 2)), np.zeros(len(tree))
    below = tree.path_mask(range(len(tree)))[homes]  # documents × nodes
    for node in range(len(tree)):
        own = points[below[:, node]]
        if len(own):
            centres[node] = np.median(own, axis=0)
            radii[node] = float(np.median(np.sqrt(((own - centres[node]) ** 2).sum(axis=1))))
    return Ground(centres, radii, np.ones(len(tree), bool))
