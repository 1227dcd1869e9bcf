"""More like these, not like those: several documents asked of the index by meaning as one question (Rocchio).

Every document of a set counts the same, however long it is: the words of a set are the mean of their shares. What the
documents that are not wanted score is subtracted, at half its weight; what is more like them than like the wanted ones
is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.find.index import SearchIndex
from topiarist.collection.find.index.query_counts import QueryCounts
from topiarist.collection.find.index.question import Question
from topiarist.collection.find.index.segments import Segment

UNLIKE = 0.5  # what likeness to the unwanted documents counts


class SetQuestion(Question):
    """What is like some documents and unlike others; reasons are those of the likeness."""

    def __init__(
        self, index: SearchIndex, like: Sequence[QueryCounts], unlike: Sequence[QueryCounts] = (), by: str = "both"
    ) -> None:
        super().__init__(index, pooled(like), by)
        self._sides = [Question(index, pooled(side), by) for side in (like, unlike) if side]

    @property
    def _columns(self) -> Any:
        return reduce(np.union1d, (side.counts.columns for side in self._sides))

    def _scores(self, segments: Sequence[Segment]) -> Floats:
        """Likeness to the ones, less some of that to the others."""
        wanted, *unwanted = (side._scores(segments) for side in self._sides)
        return wanted - UNLIKE * unwanted[0] if unwanted else wanted


def pooled(documents: Sequence[QueryCounts]) -> QueryCounts:
    """Documents as one of their mean length, to which each brings the same number of words."""
    known = [one for one in documents if len(one.columns)]
    unknown = tuple(dict.fromkeys(word for one in documents for word in one.unknown))
    if not known:
        return QueryCounts(np.zeros(0, np.int64), np.zeros(0), unknown)
    columns, places = np.unique(np.concatenate([one.columns for one in known]), return_inverse=True)
    length = float(np.mean([one.counts.sum() for one in known]))
    shares = np.concatenate([one.shares for one in known]) * (length / len(known))
    return QueryCounts(columns, np.bincount(places, shares, len(columns)), unknown)
