"""Recent changes: topics and words that are more frequent in documents from a date on than before it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Floats, Ints
from topiarist.collection.describe.provenance import find_last_fit
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.trends.periods import dates_of_texts
from topiarist.collection.trends.topic_shares import TopicColumns, TopicShare, shares_in
from topiarist.counts.vectors import compute_nearest_cosines
from topiarist.errors import UsageError
from topiarist.metrics.share_intervals import (
    FALSE_DISCOVERY_RATE,
    compute_chance_below,
    compute_known_shares,
    compute_ratios,
)
from topiarist.text.dates import get_next_date, read_date

MIN_TOPIC_RATIO = 1.25  # share since the date, divided by the share before, for a topic to be listed
MIN_DOCUMENTS = 5  # documents with a word, for the word to be listed
MIN_WORD_RATIO = 2.0  # share of documents since the date, divided by the share before, for a word to be listed
MAX_WORDS = 20
FAR_SHARE = 0.05  # of the documents before, the farthest from all topics by their embeddings
MIN_DOCUMENTS_WITH_VECTORS = 100  # documents before, for a distance shift to be measured
MAX_DOCUMENTS_BEFORE = 0.5  # documents of a topic before the date, for the topic to be new


@dataclass(frozen=True)
class RisingWord:
    """Word with the number of documents that have it, before and since a date."""

    word: str
    before: int
    since: int
    times: float


@dataclass(frozen=True)
class DistanceShift:
    """Number of documents whose embedding is farther from all topics than 95% of the documents before.

    Without a shift this is about one document in twenty. ``certain`` takes into account that the limit is estimated
    from the documents before. Documents to which the tree was not fitted are slightly farther in any case.
    """

    documents: int  # since the date, with an embedding
    far: int
    share: float
    low: float
    high: float
    before: float  # share of far documents before the date
    certain: bool  # a chance below 5% without a shift
    known: int  # documents before the date, with an embedding
    unfitted: int  # documents since the date that were added after the tree was fitted


@dataclass(frozen=True)
class RecentChanges:
    """Topics and words that are more frequent in documents from ``first`` to ``last`` than before."""

    first: str
    last: str
    dates: str  # value of ``date:`` in a query
    before: int  # documents
    since: int
    undated: int  # documents without a date, or with the date of their file only
    coarse: int  # documents whose date, a year or a month, contains a limit
    topics: tuple[TopicShare, ...]
    fewer: tuple[TopicShare, ...]  # topics with a smaller share
    words: tuple[RisingWord, ...]
    farther: DistanceShift | None = None  # None without embeddings

    def is_new(self, topic: TopicShare) -> bool:
        """Return whether the documents before have less than half a document of the topic between them."""
        return topic.others * self.before < MAX_DOCUMENTS_BEFORE

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            side: [self._encode_topic(share) for share in getattr(self, side)] for side in ("topics", "fewer")
        }

    def _encode_topic(self, share: TopicShare) -> dict[str, Any]:
        """Return a topic with its shares before and since the date, as JSON data."""
        return {
            "topic": share.topic, "name": share.name, "path": share.path, "before": share.others, "since": share.share,
            "since_low": share.low, "since_high": share.high, "times": share.times, "times_low": share.times_low,
            "times_high": share.times_high, "new": self.is_new(share), "documents": share.documents,
        }  # fmt: skip


def find_changes_since(figures: Figures, since: str, last: str = "", *, n_words: int = MAX_WORDS) -> RecentChanges:
    """Compare documents from ``since`` on, or to ``last`` inclusive, with those before (2014, 2014-03, 2014-03-15)."""
    first, end = _read_limits(since, last)
    texts, codes = dates_of_texts(figures.collection)
    dates = np.array([date[:10] for date in texts], "U10")
    is_dated, is_coarse = dates != "", _is_ambiguous(dates, first) | _is_ambiguous(dates, end)
    is_since = (dates >= first) & ((dates < end) | (end == ""))
    groups = np.where(~is_dated | is_coarse, -1, np.where(dates < first, 0, np.where(is_since, 1, -1)))[codes]
    n_before, n_since = int((groups == 0).sum()), int((groups == 1).sum())
    result = RecentChanges(
        first=since, last=last, before=n_before, since=n_since, undated=int((~is_dated)[codes].sum()),
        dates=f"{since}..{last}" if last and last != since else since if last else f">={since}",
        coarse=int((is_dated & is_coarse)[codes].sum()), topics=(), fewer=(), words=(),
    )  # fmt: skip
    if not n_before or not n_since:
        return result
    nodes = [node for node in figures.ordered() if node != figures.tree.root]
    table = shares_in(figures, groups, 2, nodes)
    growth = compute_ratios(table.group(1), table.group(0))
    rows, columns = np.flatnonzero(groups == 1), TopicColumns.select(figures, nodes)

    def list_topics(weight: Array, is_listed: Array) -> tuple[TopicShare, ...]:
        """Return the listed topics, those with the largest weight first."""
        places = (place for place in np.argsort(-weight, kind="stable").tolist() if is_listed[place])
        return tuple(
            columns.compare(
                table.group(1), table.group(0), growth, 0, place,
                int(figures.select_assigned_under(nodes[place], rows).sum()),
            )
            for place in places
        )  # fmt: skip

    certain, ratio = growth.certain[0], growth.ratio[0]
    return replace(
        result,
        topics=list_topics(table.share[1] * np.log(ratio), certain & (ratio >= MIN_TOPIC_RATIO)),
        fewer=list_topics(-table.share[0] * np.log(ratio), certain & (ratio <= 1 / MIN_TOPIC_RATIO)),
        words=_find_rising_words(figures, groups, (n_before, n_since), n_words),
        farther=_measure_distance_shift(figures, groups),
    )


def _measure_distance_shift(figures: Figures, groups: Ints) -> DistanceShift | None:
    """Return how far the distances to the nearest topic changed; None without embeddings."""
    directions, vectors = getattr(figures.collection.model, "directions_", None), figures.collection.vectors
    if directions is None or vectors is None:
        return None
    cosine = compute_nearest_cosines(vectors[: figures.n_docs], directions)
    rows_before, rows_since = (np.flatnonzero((groups == group) & np.isfinite(cosine)) for group in (0, 1))
    n_fitted = len(figures.collection) - find_last_fit(figures.collection).n_added
    return measure_distance_shift(cosine[rows_before], cosine[rows_since], int((rows_since >= n_fitted).sum()))


def measure_distance_shift(cosines_before: Floats, cosines_since: Floats, n_unfitted: int = 0) -> DistanceShift | None:
    """Compare the cosines of documents to their nearest topic, before and since; None with too few documents."""
    n_before, n_since = len(cosines_before), len(cosines_since)
    if n_before < MIN_DOCUMENTS_WITH_VECTORS or not n_since:
        return None
    place = round(FAR_SHARE * (n_before + 1))
    limit = np.partition(cosines_before, place - 1)[place - 1]
    n_far = int((cosines_since < limit).sum())
    interval = compute_known_shares(np.array([[n_far]]), n_since)
    return DistanceShift(
        documents=n_since,
        far=n_far,
        share=n_far / n_since,
        low=float(interval.low[0, 0]),
        high=float(interval.high[0, 0]),
        before=float((cosines_before < limit).mean()),
        certain=compute_chance_below(n_far, n_since, place, n_before) <= FALSE_DISCOVERY_RATE,
        known=n_before,
        unfitted=n_unfitted,
    )


def _find_rising_words(figures: Figures, groups: Ints, documents: tuple[int, int], n: int) -> tuple[RisingWord, ...]:
    """Return the most informative words that are at least twice as frequent in the documents since the date."""
    counts, words = figures.collection.counts, figures.collection.counting.vocabulary.words
    before, since = (
        np.bincount(part.indices[part.data > 0], minlength=counts.shape[1])
        for part in (csr_array(counts[np.flatnonzero(groups == group)]) for group in (0, 1))
    )
    growth = compute_ratios(
        compute_known_shares(since[None], documents[1]), compute_known_shares(before[None], documents[0])
    )
    ratio, share = growth.ratio[0], (since + 0.5) / (documents[1] + 1.0)
    is_rising = growth.certain[0] & (ratio >= MIN_WORD_RATIO) & (since >= MIN_DOCUMENTS)
    order = np.argsort(-np.where(is_rising, share * np.log(ratio), -np.inf), kind="stable")[:n]
    return tuple(
        RisingWord(words[column], int(before[column]), int(since[column]), float(ratio[column]))
        for column in order.tolist()
        if is_rising[column]
    )


def _is_ambiguous(dates: Array, day: str) -> Array:
    """Return which dates are a year or month that contains a day, so that they can be before or after it."""
    if len(day) <= 4:
        return np.zeros(len(dates), bool)
    is_prefix: Array = np.isin(dates, [day[:letters] for letters in (4, 7) if letters < len(day)])
    return is_prefix


def _read_limits(since: str, last: str) -> tuple[str, str]:
    """Return the first day of a range that a user typed, and the first day after it, empty without an end."""
    for text in (since, last):
        if text and not read_date(text).iso:
            raise UsageError(
                f"expected a date such as 2014, 2014-03 or 2014-03-15, got {text!r}", hint="Use a date such as 2014-03."
            )
    if not since:
        raise UsageError(
            "expected a start date such as 2014, 2014-03 or 2014-03-15", hint="Use a date such as 2014-03."
        )
    first, end = read_date(since).iso[:10], get_next_date(read_date(last).iso[:10]) if last else ""
    if last and end and end <= first:
        raise UsageError(f"{last} is before {since}", hint=f"Search from {last} until {since}.")
    return first, end
