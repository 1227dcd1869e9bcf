"""Topics and words over time: shares in every period with intervals and bursts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Floats
from topiarist.collection.describe.statistics import MIN_SHARE, Figures
from topiarist.collection.trends.periods import AUTO, Periods, collection_periods
from topiarist.collection.trends.topic_shares import TopicColumns, shares_in
from topiarist.metrics.bursts import Burst, find_bursts
from topiarist.metrics.share_intervals import ShareTable

SIDES = ("share", "low", "high")  # of a table of shares


@dataclass(frozen=True)
class TopicBurst:
    """Topic with ``times`` its usual share from a first to a last period, inclusive."""

    topic: int
    name: str
    first: str
    last: str
    times: float
    share: float
    usual_share: float
    dates: str  # value of ``date:`` in a query
    periods: tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class OverTime:
    """Shares of topics in periods: periods × topics, in the order of the tree."""

    periods: Periods
    columns: TopicColumns
    table: ShareTable
    bursts: tuple[TopicBurst, ...]  # the most certain first; a burst of a subtopic replaces that of the topic above

    def __repr__(self) -> str:
        periods = self.periods
        span = f", {periods.names[0]} to {periods.names[-1]}" if len(periods) else ""
        return f"<OverTime of {len(self.topics)} topics by {periods.unit}{span}: {len(self.bursts)} bursts>"

    @property
    def topics(self) -> tuple[int, ...]:
        return self.columns.topics

    @property
    def names(self) -> tuple[str, ...]:
        return self.columns.names

    @property
    def first_view(self) -> tuple[int, ...]:
        """Places of the topics in the first view."""
        return self.columns.first_view

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import time_card

        return time_card(self)

    def rows(self, first_view_only: bool = False) -> Iterator[dict[str, Any]]:
        """Yield a table row for each topic and period; with ``first_view_only`` only topics of the first view."""
        periods, documents = self.periods, self.periods.documents.tolist()
        for place in self.first_view if first_view_only else range(len(self.topics)):
            for period, name in enumerate(periods.names):
                at, is_filled = (period, place), bool(documents[period])
                yield {
                    "topic": self.topics[place],
                    "name": self.names[place],
                    "path": self.columns.paths[place],
                    "period": name,
                    "first_day": periods.first[period],
                    "last_day": periods.last[period],
                    "documents": documents[period],
                    **{side: float(getattr(self.table, side)[at]) if is_filled else None for side in SIDES},
                    "burst": (self.topics[place], period) in self._bursting,
                }

    @cached_property
    def _bursting(self) -> frozenset[tuple[int, int]]:
        spans = ((burst.topic, range(burst.periods[0], burst.periods[1] + 1)) for burst in self.bursts)
        return frozenset((topic, period) for topic, periods in spans for period in periods)

    def to_dict(self, first_view_only: bool = True) -> dict[str, Any]:
        """Return periods, topic shares and bursts as plain JSON data."""
        periods, table = self.periods, self.table
        columns = zip(periods.names, periods.first, periods.last, periods.documents.tolist(), strict=True)
        return {
            "unit": periods.unit,
            "periods": [dict(zip(("name", "first_day", "last_day", "documents"), row, strict=True)) for row in columns],
            "left_out": {
                "undated": periods.n_undated, "unread": periods.unread, "file_dated": periods.file_dated,
                "coarse": periods.coarse, "outside": periods.outside,
            },
            "topics": [
                {"id": self.topics[place], "name": self.names[place], "path": self.columns.paths[place]}
                | {side: _round_shares(getattr(table, side)[:, place], periods) for side in SIDES}
                for place in (self.first_view if first_view_only else range(len(self.topics)))
            ],
            "bursts": [
                {
                    "topic": burst.topic, "name": burst.name, "first": burst.first, "last": burst.last,
                    "times": round(burst.times, 3), "share": round(burst.share, 6),
                    "usual": round(burst.usual_share, 6),
                }
                for burst in self.bursts
            ],
        }  # fmt: skip


def find_topics_over_time(
    figures: Figures, by: str = AUTO, *, topic: int | None = None, detail: str | int = "normal"
) -> OverTime:
    """Return the topics of a collection, or below ``topic``, over time; ``detail`` sets the first view."""
    tree, shape = figures.tree, figures.shape
    top = tree.root if topic is None else shape.node(topic)
    all_periods = figures.compute_once(("periods", by), lambda: collection_periods(figures.collection, by))
    all_nodes = [node for node in range(len(tree)) if node != tree.root] or [tree.root]
    table = figures.compute_once(("time", by), lambda: shares_in(figures, all_periods.of, len(all_periods), all_nodes))
    bursts = figures.compute_once(("bursts", by), lambda: _find_topic_bursts(figures, table, all_nodes))
    column = {node: place for place, node in enumerate(all_nodes)}
    nodes = [node for node in figures.ordered(top) if node != top and node in column] or [top if top in column else 0]
    names = all_periods.names
    return OverTime(
        periods=all_periods,
        columns=TopicColumns.select(figures, nodes, detail, top),
        table=table.of([column[node] for node in nodes]),
        bursts=tuple(
            TopicBurst(
                shape.topics[burst.thing], figures.names[burst.thing], names[burst.first], names[burst.last],
                burst.times, burst.share, burst.usual, all_periods.span(burst.first, burst.last),
                (burst.first, burst.last),
            )
            for burst in bursts
            if burst.thing in nodes
        ),
    )  # fmt: skip


def _find_topic_bursts(figures: Figures, table: ShareTable, nodes: Sequence[int]) -> tuple[Burst, ...]:
    """Find bursts by node, without bursts that are as strong at a subtopic in the same periods."""
    counts = table.share * table.effective_documents
    bursts = [replace(burst, thing=nodes[burst.thing]) for burst in find_bursts(counts, table.effective_documents)]
    descendants = {burst.thing: set(figures.tree.descendants(burst.thing)) for burst in bursts}
    return tuple(
        burst
        for burst in bursts
        if not any(
            other.thing in descendants[burst.thing]
            and other.first <= burst.last
            and other.last >= burst.first
            and other.times >= burst.times
            for other in bursts
        )
    )


def _round_shares(values: Floats, periods: Periods) -> list[float | None]:
    pairs = zip(np.asarray(values).tolist(), periods.documents.tolist(), strict=True)
    return [round(value, 6) if number else None for value, number in pairs]


CAME, WENT, CAME_AND_WENT = "came", "went", "came and went"
MIN_DOCUMENTS = 5  # documents with a word, for its bursts to be searched
MAX_WORDS = 20


@dataclass(frozen=True)
class WordTime:
    """Word of a topic with a burst: whether it came, went or both, its periods and its share of documents."""

    word: str
    kind: str
    first: str
    last: str
    times: float
    dates: str  # value of ``date:`` in a query
    shares: tuple[float, ...]  # of the topic's documents, in each period


def find_words_over_time(figures: Figures, topic: int, periods: Periods, n: int = MAX_WORDS) -> tuple[WordTime, ...]:
    """Return the words of a topic with a burst, the most certain first."""
    if len(periods) < 2:
        return ()
    shares = figures.shares_under(figures.shape.node(topic))
    rows = np.flatnonzero((periods.of >= 0) & (shares >= MIN_SHARE))
    counts = csr_array(figures.collection.counts[rows])
    presence = csr_array((np.ones(len(counts.data)), counts.indices, counts.indptr), shape=counts.shape)
    weight = np.asarray(shares[rows], np.float64)
    columns = np.flatnonzero(np.asarray(presence.T @ weight) >= MIN_DOCUMENTS)
    if not len(columns):
        return ()
    document_weights = csr_array((weight, (periods.of[rows], np.arange(len(rows)))), shape=(len(periods), len(rows)))
    weighted_counts: Floats = (document_weights @ presence[:, columns]).toarray()
    total = np.asarray(document_weights.sum(axis=1), np.float64).reshape(-1, 1)
    words, names = figures.collection.counting.vocabulary.words, periods.names
    first_bursts: dict[int, Burst] = {}
    for burst in find_bursts(np.minimum(weighted_counts, total), total):
        first_bursts.setdefault(burst.thing, burst)
    return tuple(
        WordTime(
            words[columns[column]], _describe_course(burst, len(periods) - 1), names[burst.first], names[burst.last],
            burst.times, periods.span(burst.first, burst.last),
            tuple((weighted_counts[:, column] / np.maximum(total[:, 0], 1e-300)).round(6).tolist()),
        )
        for column, burst in list(first_bursts.items())[:n]
    )  # fmt: skip


def _describe_course(burst: Burst, last: int) -> str:
    if burst.first and burst.last == last:
        return CAME
    return WENT if not burst.first and burst.last < last else CAME_AND_WENT
