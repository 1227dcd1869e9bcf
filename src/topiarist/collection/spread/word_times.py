"""Words that came and went within a topic: in which stretch of time its documents had them more often than usual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Floats
from topiarist.collection.describe.figures import LEAST, Figures
from topiarist.collection.spread.periods import Periods
from topiarist.measures.bursts import find_bursts

CAME, WENT, PASSED = "came", "went", "came and went"
FEWEST = 5  # documents with a word, for it to be looked at
WORDS = 20


@dataclass(frozen=True)
class WordTime:
    """A word of a topic: whether it came, went or both, when it was frequent, and in which share of documents."""

    word: str
    kind: str
    first: str
    last: str
    times: float
    dates: str  # as a query has them behind ``date:``
    shares: tuple[float, ...]  # of the topic's documents, in each period


def word_times(figures: Figures, topic: int, known: Periods, n: int = WORDS) -> tuple[WordTime, ...]:
    """The words of a topic that were frequent in a part of the time; the surest first."""
    if len(known) < 2:
        return ()
    shares = figures.shares_under(figures.shape.node(topic))
    rows = np.flatnonzero((known.of >= 0) & (shares >= LEAST))
    counts = csr_array(figures.collection.counts[rows])
    there = csr_array((np.ones(len(counts.data)), counts.indices, counts.indptr), shape=counts.shape)
    weight = np.asarray(shares[rows], np.float64)
    columns = np.flatnonzero(np.asarray(there.T @ weight) >= FEWEST)
    if not len(columns):
        return ()
    where = csr_array((weight, (known.of[rows], np.arange(len(rows)))), shape=(len(known), len(rows)))
    often: Floats = (where @ there[:, columns]).toarray()
    total = np.asarray(where.sum(axis=1), np.float64).reshape(-1, 1)
    words, names, last = figures.collection.counting.vocabulary.words, known.names, len(known) - 1
    found: dict[int, WordTime] = {}
    for burst in find_bursts(np.minimum(often, total), total):
        if burst.thing in found or len(found) == n:
            continue
        kind = CAME if burst.last == last and burst.first else WENT if not burst.first and burst.last < last else PASSED
        found[burst.thing] = WordTime(
            words[columns[burst.thing]],
            kind,
            names[burst.first],
            names[burst.last],
            burst.times,
            known.span(burst.first, burst.last),
            tuple((often[:, burst.thing] / np.maximum(total[:, 0], 1e-300)).round(6).tolist()),
        )
    return tuple(found.values())
