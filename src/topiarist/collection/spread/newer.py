"""What is new: topics and words of which documents from a date on have more than those before it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Floats, Ints
from topiarist.collection.describe.figures import Figures
from topiarist.collection.describe.provenance import last_fit
from topiarist.collection.spread.over_time import path_text, shares_in
from topiarist.counts.vectors import nearest_cosines
from topiarist.errors import UsageError
from topiarist.measures.share_intervals import FALSE_ONES, chance_below, counted_shares, ratios
from topiarist.text.dates import following, read_date

GREW = 1.25  # times as much as before, at least, to be told
FEWEST = 5  # documents with a word, for it to be told
TWICE = 2.0  # times as often as before, for a word to be told
WORDS = 20
FAR = 0.05  # of documents before, by their vectors: those that lie farthest from all topics
FEWEST_WITH_VECTORS = 100  # documents before: of fewer nothing is said
UNSEEN = 0.5  # of a document before: the topic is new, not larger


@dataclass(frozen=True)
class NewerTopic:
    """A topic with its share before and since, and how many times as large that is, with intervals."""

    topic: int
    name: str
    path: str
    before: float
    since: float
    since_low: float
    since_high: float
    times: float
    times_low: float
    times_high: float
    new: bool  # hardly any document before was of it
    documents: int  # since then, that are mostly of it


@dataclass(frozen=True)
class NewerWord:
    """A word with the documents that have it, before and since."""

    word: str
    before: int
    since: int
    times: float


@dataclass(frozen=True)
class Farther:
    """By their vectors: how many documents lie farther from all topics than 95 of 100 of those before did.

    Where new documents are as those before, that is about one in twenty. The limit is known no better than those before
    tell it, and ``certain`` knows that. Documents to which the tree was not fitted lie a little farther anyway.
    """

    documents: int  # since then, that have a vector
    far: int
    share: float
    low: float
    high: float
    before: float  # the share of those before
    certain: bool  # hardly a chance: in one of twenty where nothing has changed
    known: int  # documents before that have a vector
    unfitted: int  # of the documents since: added since the tree was fitted


@dataclass(frozen=True)
class Newer:
    """What documents from ``first`` to ``last`` have more of than those before."""

    first: str
    last: str
    dates: str  # as a query has them behind ``date:``
    before: int  # documents
    since: int
    undated: int
    coarse: int  # documents whose date does not tell on which side they are
    topics: tuple[NewerTopic, ...]
    fewer: tuple[NewerTopic, ...]  # what became less
    words: tuple[NewerWord, ...]
    farther: Farther | None = None  # None where documents have no vectors

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        return asdict(self)


def newer(figures: Figures, since: str, until: str = "", *, n_words: int = WORDS) -> Newer:
    """What is new from a date on, or from one until another (2014, 2014-03, 2014-03-15: both in it)."""
    first, end = _ends(since, until)
    found = figures.collection.documents.coded("date")
    codes, dates = found.codes[: figures.n_docs], np.array([date[:10] for date in found.texts], "U10")
    known, vague = dates != "", _vague(dates, first) | _vague(dates, end)
    groups = np.where(~known | vague, -1, np.where(dates < first, 0, np.where((dates < end) | (end == ""), 1, -1)))
    known, vague, groups = known[codes], vague[codes], groups[codes]
    before, now = (int((groups == group).sum()) for group in (0, 1))
    span = f"{since}..{until}" if until and until != since else since if until else f">={since}"
    told: dict[str, Any] = {"first": since, "last": until, "dates": span, "before": before, "since": now}
    left: dict[str, Any] = {"undated": int((~known).sum()), "coarse": int((known & vague).sum())}
    if not before or not now:
        return Newer(**told, **left, topics=(), fewer=(), words=())
    nodes = [node for node in figures.ordered() if node != figures.tree.root]
    table = shares_in(figures, groups, 2, nodes)
    many = ratios(table.group(1), table.group(0))
    rows = np.flatnonzero(groups == 1)

    def topic(place: int) -> NewerTopic:
        node = nodes[place]
        return NewerTopic(
            topic=figures.shape.topics[node],
            name=figures.names[node],
            path=path_text(figures, node),
            before=float(table.share[0, place]),
            since=float(table.share[1, place]),
            since_low=float(table.low[1, place]),
            since_high=float(table.high[1, place]),
            times=float(many.ratio[0, place]),
            times_low=float(many.low[0, place]),
            times_high=float(many.high[0, place]),
            new=bool(table.share[0, place] * before < UNSEEN),
            documents=int(figures.mostly_under(node, rows).sum()),
        )

    certain = many.certain[0]
    weight = table.share[1] * np.log(many.ratio[0])
    more = [place for place in np.argsort(-weight, kind="stable").tolist() if certain[place]]
    less = np.argsort(table.share[0] * np.log(many.ratio[0]), kind="stable").tolist()
    return Newer(
        **told,
        **left,
        topics=tuple(topic(place) for place in more if many.ratio[0, place] >= GREW),
        fewer=tuple(topic(place) for place in less if certain[place] and many.ratio[0, place] <= 1 / GREW),
        words=_words(figures, groups, (before, now), n_words),
        farther=_farther(figures, groups),
    )


def _farther(figures: Figures, groups: Ints) -> Farther | None:
    directions, vectors = getattr(figures.collection.model, "directions_", None), figures.collection.vectors
    if directions is None or vectors is None:
        return None
    near = nearest_cosines(vectors[: figures.n_docs], directions)
    old, new = (np.flatnonzero((groups == group) & np.isfinite(near)) for group in (0, 1))
    fitted = len(figures.collection) - last_fit(figures.collection).arrived
    return farther(near[old], near[new], int((new >= fitted).sum()))


def farther(old: Floats, new: Floats, unfitted: int = 0) -> Farther | None:
    """By how near documents before and since lie to a topic, as cosines; None where too few tell what is usual."""
    if len(old) < FEWEST_WITH_VECTORS or not len(new):
        return None
    place = round(FAR * (len(old) + 1))
    limit = np.partition(old, place - 1)[place - 1]
    far, usual = int((new < limit).sum()), float((old < limit).mean())
    told = counted_shares(np.array([[far]]), len(new))
    certain = chance_below(far, len(new), place, len(old)) <= FALSE_ONES
    return Farther(
        documents=len(new),
        far=far,
        share=far / len(new),
        low=float(told.low[0, 0]),
        high=float(told.high[0, 0]),
        before=usual,
        certain=certain,
        known=len(old),
        unfitted=unfitted,
    )


def _words(figures: Figures, groups: Ints, documents: tuple[int, int], n: int) -> tuple[NewerWord, ...]:
    """The words that tell most of the documents since, of those that are at least twice as frequent in them."""
    counts = figures.collection.counts
    often = []
    for group in (0, 1):
        rows = csr_array(counts[np.flatnonzero(groups == group)])
        often.append(np.bincount(rows.indices[rows.data > 0], minlength=counts.shape[1]))
    share = [(number + 0.5) / (total + 1.0) for number, total in zip(often, documents, strict=True)]
    many = ratios(counted_shares(often[1][None], documents[1]), counted_shares(often[0][None], documents[0]))
    told = many.certain[0] & (many.ratio[0] >= TWICE) & (often[1] >= FEWEST)
    order = np.argsort(-np.where(told, share[1] * np.log(many.ratio[0]), -np.inf), kind="stable")[:n]
    words = figures.collection.counting.vocabulary.words
    return tuple(
        NewerWord(words[column], int(often[0][column]), int(often[1][column]), float(many.ratio[0, column]))
        for column in order.tolist()
        if told[column]
    )


def _vague(dates: Array, day: str) -> Array:
    """Which dates are a year or a month in which another date is: they may be before or behind it."""
    if len(day) <= 4:
        return np.zeros(len(dates), bool)
    found: Array = np.isin(dates, [day[:letters] for letters in (4, 7) if letters < len(day)])
    return found


def _ends(since: str, until: str) -> tuple[str, str]:
    """The first day of what somebody typed, and the first one behind it, if there is an end."""
    for text in (since, until):
        if text and not read_date(text).iso:
            raise UsageError(f"expected a date such as 2014, 2014-03 or 2014-03-15, got {text!r}", hint="2014-03")
    if not since:
        raise UsageError("since when? A date such as 2014, 2014-03 or 2014-03-15 is expected", hint="2014-03")
    first, end = read_date(since).iso[:10], following(read_date(until).iso[:10]) if until else ""
    if until and end and end <= first:
        raise UsageError(f"{until} is before {since}", hint=f"from {until} until {since}")
    return first, end
