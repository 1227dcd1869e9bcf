"""Reviews that somebody reads at this moment: kept open between judgements, so that each of them is quick."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from topiarist.app.explorer.query_limits import in_time
from topiarist.collection import Collection, Review

KEPT = 2  # reviews: each has all documents in memory, and few people share an explorer


@dataclass(frozen=True)
class Wanted:
    """Which review: its label, where it begins while nothing is found, and when it is enough."""

    label: str
    query: str
    target: float
    confidence: float


@dataclass
class OpenReviews:
    """The reviews of a collection at one state that were read last. One at a time reads or writes."""

    collection: Collection
    _open: OrderedDict[Wanted, Review] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def taken(self, wanted: Wanted) -> Iterator[Review]:
        """A review as it is now: begun anew from what is kept, where somebody has judged elsewhere meanwhile."""
        with self._lock:
            known = self._open.pop(wanted, None)
            if known is None or not known.is_current:
                with in_time(self.collection):
                    known = Review(
                        self.collection, wanted.label, query=wanted.query,
                        target=wanted.target, confidence=wanted.confidence,
                    )  # fmt: skip
            yield known
            self._open[wanted] = known  # not after an error, which may have left it half way
            while len(self._open) > KEPT:
                self._open.popitem(last=False)
