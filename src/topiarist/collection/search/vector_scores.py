"""Similarities of documents by embeddings: to a document, to several documents, or to an encoded text.

Every document is compared exactly. The score is the cosine minus the mean cosine of all documents, so that a document
without an embedding counts as average and is found by its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.document_vectors import find_encoder
from topiarist.collection.search.index.kernel_scorer import UNLIKE_WEIGHT
from topiarist.counts.vectors import MIN_LENGTH
from topiarist.execution.threads import Threads
from topiarist.models.engine import load_kernels
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

BLOCK_ROWS = 1 << 13  # that a thread compares before it takes others


def cosines(vectors: Floats, direction: Floats, threads: Threads | None = None) -> Floats:
    """Return the cosine of each row, in half precision, with a direction; 0 for a row of zeros."""
    similarities: Floats = np.empty(len(vectors), np.float32)
    halves = np.ascontiguousarray(vectors, np.float16).view(np.uint16)
    query, score = np.ascontiguousarray(direction, np.float32), load_kernels().score_half_vectors
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, len(vectors), BLOCK_ROWS)]
    (threads or Threads(1)).map(lambda rows: score(halves[rows], query, similarities[rows]), blocks)
    return similarities


def subtract_mean(similarities: Floats) -> Floats:
    """Return cosines minus their mean over documents with an embedding; 0 for other documents."""
    has_embedding = similarities != 0  # of a row of zeros it is exactly that
    number = int(np.count_nonzero(has_embedding))
    mean = float(similarities.sum(dtype=np.float64)) / number if number else 0.0
    differences: Floats = np.where(has_embedding, similarities - np.float32(mean), np.float32(0))
    return differences


def find_direction(
    collection: Collection, like: Sequence[str | int], unlike: Sequence[str | int] = ()
) -> Floats | None:
    """Return the mean direction of rows and texts, away from others; None without embeddings for them."""
    if collection.encoder_vectors is None:
        return None
    total = np.zeros(collection.encoder_vectors.shape[1])
    for sign, side in ((1.0, like), (-UNLIKE_WEIGHT, unlike)):
        embeddings = [row for row in (_embed(collection, item) for item in side) if row is not None]
        if embeddings:
            total += sign * np.mean(embeddings, axis=0)
    length = float(np.linalg.norm(total))
    return None if length < MIN_LENGTH else total / length


def _embed(collection: Collection, item: str | int) -> Floats | None:
    """Return the vector of a row, or of an encoded text; None without a vector or an encoder."""
    if not isinstance(item, str):
        row: Floats = np.asarray(collection.vectors)[item].astype(np.float64)
        return row if row.any() else None
    encoder = find_encoder(collection)
    return None if encoder is None else encoder.load(0, [Document("", item)])[0].astype(np.float64)
