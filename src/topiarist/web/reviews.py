"""Reviews in use, kept open between judgements."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from topiarist.collection.collection import Collection
from topiarist.collection.review.review import Review
from topiarist.web.query_limits import limit_query_time

MAX_OPEN_REVIEWS = 2  # reviews: each has all documents in memory, and few people share an explorer


@dataclass(frozen=True)
class ReviewRequest:
    """Label of a review with its starting query and its stopping rule."""

    label: str
    query: str
    target: float
    confidence: float


@dataclass
class OpenReviews:
    """Reviews of a collection that were used last; one request at a time uses them."""

    collection: Collection
    _open: OrderedDict[ReviewRequest, Review] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def acquire(self, request: ReviewRequest) -> Iterator[Review]:
        """Yield a review alone; open it first if it is not open or not current."""
        with self._lock:
            review = self._open.pop(request, None)
            if review is None or not review.is_current:
                with limit_query_time(self.collection):
                    review = Review(
                        self.collection, request.label, query=request.query,
                        target=request.target, confidence=request.confidence,
                    )  # fmt: skip
            yield review
            self._open[request] = review  # not after an error, which may have left it half way
            while len(self._open) > MAX_OPEN_REVIEWS:
                self._open.popitem(last=False)
