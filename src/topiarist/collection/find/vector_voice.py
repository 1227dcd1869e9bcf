"""The voice of vectors in finding: how near documents lie to a document, to several, or to a question that is encoded.

Every document is compared, exactly, each by itself: no vector is kept wide. What counts is how much nearer a
document lies than documents do on average: one without a vector is as if it lay like all, neither preferred nor put
last, and is found by its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.document_vectors import own_encoder
from topiarist.collection.find.index.answers import Explanation
from topiarist.collection.find.index.question import Question
from topiarist.collection.find.shortlist import best_rows
from topiarist.counts.vectors import SHORTEST
from topiarist.models.engine import load_search_kernels
from topiarist.scale.threads import Threads
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

ROWS = 1 << 13  # that a thread compares before it takes others
SHARE_OF_VECTORS = 2.0  # beside words and kernel, each as a share of the most that it can be
UNLIKE = 0.5  # what nearness to unwanted documents counts


def cosines(vectors: Floats, direction: Floats, threads: Threads | None = None) -> Floats:
    """How near each row, in half precision, lies to a direction; 0 for a row of zeros."""
    near: Floats = np.empty(len(vectors), np.float32)
    halves = np.ascontiguousarray(vectors, np.float16).view(np.uint16)
    one, score = np.ascontiguousarray(direction, np.float32), load_search_kernels().score_vectors
    blocks = [slice(start, start + ROWS) for start in range(0, len(vectors), ROWS)]
    (threads or Threads(1)).map(lambda rows: score(halves[rows], one, near[rows]), blocks)
    return near


def leaning(near: Floats) -> Floats:
    """How much nearer each document lies than the average of those that have a vector; 0 for the others."""
    there = near != 0  # of a row of zeros it is exactly that
    number = int(np.count_nonzero(there))
    mean = float(near.sum(dtype=np.float64)) / number if number else 0.0
    lean: Floats = np.where(there, near - np.float32(mean), np.float32(0))
    return lean


def direction_of(collection: Collection, like: Sequence[str | int], unlike: Sequence[str | int] = ()) -> Floats | None:
    """Where documents (by their rows) and texts point together, and away from others; None where nobody can tell."""
    if collection.vectors is None:
        return None
    total = np.zeros(collection.vectors.shape[1])
    for sign, side in ((1.0, like), (-UNLIKE, unlike)):
        found = [row for row in (_one(collection, item) for item in side) if row is not None]
        if found:
            total += sign * np.mean(found, axis=0)
    length = float(np.linalg.norm(total))
    return None if length < SHORTEST else total / length


def _one(collection: Collection, item: str | int) -> Floats | None:
    if not isinstance(item, str):
        row: Floats = np.asarray(collection.vectors)[item].astype(np.float64)
        return row if row.any() else None
    encoder = own_encoder(collection)
    return None if encoder is None else encoder.of(0, [Document("", item)])[0].astype(np.float64)


class PointedQuestion(Question):
    """A question about likeness to which vectors have a say: what they add is part of the score, and of its reasons."""

    def __init__(self, question: Question, near: Floats) -> None:
        self.question, self.index, self.by, self.counts = question, question.index, question.by, question.counts
        self.added = SHARE_OF_VECTORS * np.maximum(leaning(near).astype(np.float64), 0.0)

    @cached_property
    def _whole(self) -> Floats:
        return self.question.scores + self.added

    def looked_at(self, allowed: Any = None) -> Array:
        """The rows of the documents that are looked at: those that lie nearest by vectors too."""
        return np.union1d(self.question.looked_at(allowed), best_rows(self.added, allowed))

    def scores_of(self, rows: Array) -> Floats:
        """The scores of some documents."""
        return self.question.scores_of(rows) + self.added[rows]

    def explained(self, number: int) -> Explanation:
        """Why a document is similar: all amounts add up to its score."""
        found, more = self.question.explained(number), float(self.added[number])
        return replace(found, score=found.score + more, by_meaning=found.by_meaning + more, vectors=more)
