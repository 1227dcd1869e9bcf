"""Documents of one topic whose embeddings are close, although they are not duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.vectors import find_rows_with_vectors

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MIN_COSINE = 0.9  # cosine of a reported pair
MAX_PAIRS = 1_000  # reported pairs, the most similar ones
MAX_CELLS = 1 << 22  # pairs that are compared at once


@dataclass(frozen=True)
class SimilarDocument:
    """Document of a pair of similar documents."""

    row: int
    id: str
    title: str


@dataclass(frozen=True)
class SimilarPair:
    """Two similar documents that are not duplicates, with the cosine of their embeddings and shared words."""

    first: SimilarDocument
    second: SimilarDocument
    cosine: float
    shared: float  # share of the distinct words of both that both have


@dataclass(frozen=True)
class SimilarPairs:
    """Closest pairs of documents, with the number of all pairs and the minimum cosine."""

    pairs: tuple[SimilarPair, ...]
    number: int
    min_cosine: float


def find_similar_pairs(
    collection: Collection, min_cosine: float = MIN_COSINE, max_pairs: int = MAX_PAIRS
) -> SimilarPairs | None:
    """Return pairs of documents of one topic with similar embeddings, without duplicates; None without embeddings."""
    vectors = collection.encoder_vectors
    if vectors is None:
        return None
    rows_with_vector = np.flatnonzero(
        collection.copies.find_first_documents(len(vectors)) & find_rows_with_vectors(vectors)
    )
    topics = np.asarray(collection.shares.argmax(axis=1)).ravel()[rows_with_vector]
    best, number = np.zeros((0, 3)), 0
    for topic in np.unique(topics).tolist():
        best, number = _add_close_pairs(
            vectors, rows_with_vector[topics == topic], min_cosine, max_pairs, (best, number)
        )
    rows = np.unique(best[:, :2].astype(np.int64)).tolist()
    names = dict(zip(rows, collection.documents.load_many(rows, texts=False), strict=True))

    def pair(first_row: int, second_row: int, cosine: float) -> SimilarPair:
        first, second = (SimilarDocument(row, names[row].id, names[row].title) for row in (first_row, second_row))
        return SimilarPair(first, second, cosine, _shared_share(collection.counts, first_row, second_row))

    pairs = tuple(pair(int(first_row), int(second_row), cosine) for first_row, second_row, cosine in best.tolist())
    return SimilarPairs(pairs, number, min_cosine)


def _add_close_pairs(
    vectors: Floats, rows: Array, min_cosine: float, max_pairs: int, best_before: tuple[Array, int]
) -> tuple[Array, int]:
    """Return the closest pairs of ``rows`` and of the pairs so far, and the number of all close pairs."""
    single, (best, number), start = vectors[rows].astype(np.float32), best_before, 0
    while start < len(rows):
        step = max(1, MAX_CELLS // (len(rows) - start))
        cosines = single[start : start + step] @ single[start:].T
        first, second = np.nonzero(np.triu(cosines >= np.float32(min_cosine), 1))
        number += len(first)
        indices = _find_largest(cosines[first, second], max_pairs)
        first, second = first[indices], second[indices]
        pairs = np.stack([rows[start + first], rows[start + second], cosines[first, second]], axis=1)
        candidates = np.concatenate([best, pairs])
        best = candidates[np.lexsort((candidates[:, 1], candidates[:, 0], -candidates[:, 2]))][:max_pairs]
        start += step
    return best, number


def _find_largest(values: Array, maximum: int) -> Array:
    """Return the rising indices of the ``maximum`` largest values; of equal values the first."""
    if len(values) <= maximum or maximum < 1:
        return np.arange(len(values))[: max(maximum, 0)]
    limit = np.partition(values, -maximum)[-maximum]
    indices_above = np.flatnonzero(values > limit)
    return np.sort(np.concatenate([indices_above, np.flatnonzero(values == limit)[: maximum - len(indices_above)]]))


def _shared_share(counts: Csr, first: int, second: int) -> float:
    word_sets = [set(counts.indices[counts.indptr[row] : counts.indptr[row + 1]].tolist()) for row in (first, second)]
    return len(word_sets[0] & word_sets[1]) / max(len(word_sets[0] | word_sets[1]), 1)
