"""Ranking of scores: order, and the largest of many values."""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats

SAMPLING_LIMIT, MIN_SAMPLE_STEP = (
    10_000,
    16,
)  # values of which a sample is looked at first, and each of how many is in it
SAMPLE_SIZE = 1 << 16  # values that a sample has, about, of very many
MIN_SCORE = 1e-9  # score of the last of all ranked documents


class Ranking:
    """Scores of all documents and the order that follows from them; documents with equal scores keep their order.

    ``candidates`` are the rows of the documents that were scored in full; None: all documents.
    """

    candidates: Array | None = None

    def __init__(self, scores: Floats, candidates: Array | None = None) -> None:
        self.scores, self.candidates = scores, candidates

    def slice(self, n: int, offset: int = 0, mask: Any = None, *, rank_all: bool = False) -> tuple[Array, Floats]:
        """Return rows and scores of the ``n`` documents in the mask after the ``offset`` best.

        Documents without a positive score are left out by default. With ``rank_all`` all scores rise by the same amount
        until they are positive.
        """
        scores = self.scores
        if rank_all and mask is not None and mask.any() and (lowest := float(scores[mask].min())) <= 0:
            scores = scores - lowest + MIN_SCORE
        return sort_best(largest_rows(scores, offset + n, mask), scores, n, offset)

    def sort(self, mask: Any) -> Array:
        """Return the rows of all documents in the mask, the best first."""
        rows = np.flatnonzero(mask)
        return rows[np.argsort(-self.scores[rows], kind="stable")]

    def count(self, mask: Any = None) -> int:
        """Return the number of documents in the mask with a positive score."""
        return int(np.count_nonzero(self.scores > 0 if mask is None else (self.scores > 0) & mask))


def sort_best(rows: Array, scores: Floats, n: int, offset: int = 0) -> tuple[Array, Floats]:
    """Return ``n`` of some rows after the ``offset`` best with their scores; of equal scores the first rows first."""
    values = scores[rows]
    order = np.lexsort((rows, -values))[offset : offset + n]
    return rows[order], values[order]


def compute_information(n_docs: int, frequencies: Array) -> Floats:
    """Return the inverse document frequencies log(1 + (N − n + ½)/(n + ½)) of words in n of N documents."""
    information: Floats = np.log1p((n_docs - frequencies + 0.5) / (frequencies + 0.5))
    return information


def nth_largest(values: Floats, n: int) -> float:
    """Return the ``n``-th largest value. Of many values, a sample gives a lower bound first.

    If most values are equal, such as scores of zero, the bound is often the result.
    """
    if len(values) > SAMPLING_LIMIT:
        step = max(MIN_SAMPLE_STEP, len(values) // SAMPLE_SIZE)
        sample = values[::step]
        place = len(sample) - min(2 * n // step + 32, len(sample))
        bound = np.partition(sample, place)[place]
        larger = values[values > bound]
        if len(larger) < n <= np.count_nonzero(values >= bound):
            return float(bound)
        values = larger if len(larger) >= n else values
    return float(np.partition(values, len(values) - n)[len(values) - n])


def largest_rows(scores: Floats, n: int, mask: Any = None) -> Any:
    """Return the rising rows of the ``n`` highest positive scores, and of scores equal to the lowest of them."""
    if mask is None and 0 < n < len(scores) and (threshold := nth_largest(scores, n)) > 0:
        return np.flatnonzero(scores >= threshold)
    rows = np.flatnonzero(scores > 0 if mask is None else (scores > 0) & mask)
    if len(rows) > n > 0:
        values = scores[rows]
        rows = rows[values >= nth_largest(values, n)]
    return rows
