"""Documents that are alike by meaning: their vectors point the same way, whatever words they have.

These are no copies: an encoder takes two reports of one event for alike, or a translation and its original, and also
two forms of which only the names differ. So nothing is folded and nothing is counted once because of it; it is a list
for people. Documents of one topic are compared with each other, exactly; who lies in different topics is not compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.vectors import has_vector

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

LEAST = 0.9  # cosine of two documents that are told
MOST = 1_000  # pairs that are told, the nearest
ROWS = 2_048  # that are compared with others at a time


@dataclass(frozen=True)
class AlikeDocument:
    """One of two."""

    row: int
    id: str
    title: str


@dataclass(frozen=True)
class AlikePair:
    """Two documents that are no copies of each other: how near their vectors are, and what words they share."""

    first: AlikeDocument
    second: AlikeDocument
    cosine: float
    shared: float  # of the different words of both, the share that both have


@dataclass(frozen=True)
class Alike:
    """The nearest pairs, how many there are in all, and how near they are at least."""

    pairs: tuple[AlikePair, ...]
    number: int
    least: float


def alike_by_meaning(collection: Collection, least: float = LEAST, most: int = MOST) -> Alike | None:
    """Pairs of documents of one topic whose vectors are near; copies are left out. None without vectors."""
    vectors = collection.vectors
    if vectors is None:
        return None
    kept = np.flatnonzero(collection.copies.is_first(len(vectors)) & has_vector(vectors))
    topics = np.asarray(collection.shares.argmax(axis=1)).ravel()[kept]
    found = [_near(vectors, kept[topics == topic], least) for topic in np.unique(topics).tolist()]
    pairs = np.concatenate([np.zeros((0, 3)), *found])
    best = pairs[np.lexsort((pairs[:, 1], pairs[:, 0], -pairs[:, 2]))][:most]
    rows = np.unique(best[:, :2].astype(np.int64)).tolist()
    names = dict(zip(rows, collection.documents.many(rows, texts=False), strict=True))

    def pair(one: int, other: int, near: float) -> AlikePair:
        first, second = (AlikeDocument(row, names[row].id, names[row].title) for row in (one, other))
        return AlikePair(first, second, near, _shared(collection.counts, one, other))

    told = tuple(pair(int(one), int(other), near) for one, other, near in best.tolist())
    return Alike(told, len(pairs), least)


def _near(vectors: Floats, rows: Array, least: float) -> Array:
    """Pairs among some documents, a row each: both numbers, the smaller first, and the cosine."""
    wide, found = vectors[rows].astype(np.float32), [np.zeros((0, 3))]
    for start in range(0, len(rows), ROWS):
        near = wide[start : start + ROWS] @ wide[start:].T
        one, other = np.nonzero(np.triu(near >= np.float32(least), 1))
        found.append(np.stack([rows[start + one], rows[start + other], near[one, other]], axis=1))
    return np.concatenate(found)


def _shared(counts: Csr, one: int, other: int) -> float:
    own = [set(counts.indices[counts.indptr[row] : counts.indptr[row + 1]].tolist()) for row in (one, other)]
    return len(own[0] & own[1]) / max(len(own[0] | own[1]), 1)
