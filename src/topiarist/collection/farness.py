"""Documents that lie far from every topic, by their vectors: farther than nearly all documents of the collection do.

A topic has a mean direction. How near a document lies to the nearest of them is compared with how near the documents of
the collection do. Which share of them counts as far is said wherever that is told; a document without a vector is never
far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Bools, Floats
from topiarist.counts.vectors import nearest_cosines

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

FAR = 0.01  # the share of a collection's own documents that lie as far
SAMPLE = 5_000  # of them, spread evenly, that tell what is usual
FEWEST = 50  # documents with vectors: of fewer nothing is said


@dataclass(frozen=True)
class Farness:
    """The directions of topics, and how near to one of them nearly all documents lie."""

    directions: Floats
    limit: float  # cosine
    share: float  # of the collection's own documents, that lie farther than the limit

    def far(self, vectors: Floats) -> Bools:
        """Which documents lie farther from all topics than nearly all documents of the collection."""
        found: Bools = nearest_cosines(vectors, self.directions) < self.limit
        return found


def farness_of(collection: Collection, share: float = FAR) -> Farness | None:
    """What is far in a collection; None where its tree knows no vectors, or hardly any document has one."""
    directions, vectors = getattr(collection.model, "directions_", None), collection.vectors
    if directions is None or vectors is None:
        return None
    some = vectors[:: max(1, -(-len(vectors) // SAMPLE))]
    near = nearest_cosines(some, directions)
    near = near[np.isfinite(near)]
    return Farness(directions, float(np.quantile(near, share)), share) if len(near) >= FEWEST else None
