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
CELLS = 1 << 22  # pairs that are compared at a time


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
    best, number = np.zeros((0, 3)), 0
    for topic in np.unique(topics).tolist():
        best, number = _near(vectors, kept[topics == topic], least, most, (best, number))
    rows = np.unique(best[:, :2].astype(np.int64)).tolist()
    names = dict(zip(rows, collection.documents.many(rows, texts=False), strict=True))

    def pair(one: int, other: int, near: float) -> AlikePair:
        first, second = (AlikeDocument(row, names[row].id, names[row].title) for row in (one, other))
        return AlikePair(first, second, near, _shared(collection.counts, one, other))

    told = tuple(pair(int(one), int(other), near) for one, other, near in best.tolist())
    return Alike(told, number, least)


def _near(vectors: Floats, rows: Array, least: float, most: int, before: tuple[Array, int]) -> tuple[Array, int]:
    """The nearest pairs so far and how many there are, with those among some documents.

    A row for each pair: both numbers, the smaller first, and the cosine. All are counted; of each block no more are
    kept than may be told, for near-equal documents are near each other in millions of pairs.
    """
    wide, (best, number), start = vectors[rows].astype(np.float32), before, 0
    while start < len(rows):
        step = max(1, CELLS // (len(rows) - start))
        near = wide[start : start + step] @ wide[start:].T
        one, other = np.nonzero(np.triu(near >= np.float32(least), 1))
        number += len(one)
        kept = _largest(near[one, other], most)
        one, other = one[kept], other[kept]
        found = np.stack([rows[start + one], rows[start + other], near[one, other]], axis=1)
        every = np.concatenate([best, found])
        best = every[np.lexsort((every[:, 1], every[:, 0], -every[:, 2]))][:most]
        start += step
    return best, number


def _largest(values: Array, most: int) -> Array:
    """The places of the largest numbers, in their order; of equal ones the first."""
    if len(values) <= most or most < 1:
        return np.arange(len(values))[: max(most, 0)]
    limit = np.partition(values, -most)[-most]
    above = np.flatnonzero(values > limit)
    return np.sort(np.concatenate([above, np.flatnonzero(values == limit)[: most - len(above)]]))


def _shared(counts: Csr, one: int, other: int) -> float:
    own = [set(counts.indices[counts.indptr[row] : counts.indptr[row + 1]].tolist()) for row in (one, other)]
    return len(own[0] & own[1]) / max(len(own[0] | own[1]), 1)
