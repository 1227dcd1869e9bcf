"""Topics over time: the share of each in every period, with intervals and bursts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.describe.figures import Figures
from topiarist.collection.spread.periods import AUTO, Periods, periods
from topiarist.measures.bursts import Burst, find_bursts
from topiarist.measures.share_intervals import ShareTable, group_shares

MIXTURES = frozenset(("hplsa",))  # trees in which a document is a mixture of topics


@dataclass(frozen=True)
class TopicBurst:
    """A topic that had ``times`` its usual share from one period to another, both in it."""

    topic: int
    name: str
    first: str
    last: str
    times: float
    share: float
    usual: float
    dates: str  # as a query has them behind ``date:``
    periods: tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class OverTime:
    """The shares of topics in periods: periods × topics, in the order of the tree.

    ``shown`` are the places of the topics that hold all documents between them, as a first view of the tree has them.
    """

    periods: Periods
    topics: tuple[int, ...]
    names: tuple[str, ...]
    paths: tuple[str, ...]
    table: ShareTable
    shown: tuple[int, ...]
    bursts: tuple[TopicBurst, ...]  # the surest first; that of a topic below stands for the one above

    def __repr__(self) -> str:
        known = self.periods
        span = f", {known.names[0]} to {known.names[-1]}" if len(known) else ""
        return f"<OverTime of {len(self.topics)} topics by {known.unit}{span}: {len(self.bursts)} bursts>"

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import time_card

        return time_card(self)

    def rows(self, shown: bool = False) -> Iterator[dict[str, Any]]:
        """A row for each topic and period, as tables have them; all topics, or those of the first view."""
        names, documents = self.periods.names, self.periods.documents.tolist()
        table, bursting = self.table, self._bursting
        for place in self.shown if shown else range(len(self.topics)):
            for period, name in enumerate(names):
                some = documents[period] > 0
                yield {
                    "topic": self.topics[place],
                    "name": self.names[place],
                    "path": self.paths[place],
                    "period": name,
                    "first_day": self.periods.first[period],
                    "last_day": self.periods.last[period],
                    "documents": documents[period],
                    "share": float(table.share[period, place]) if some else None,
                    "low": float(table.low[period, place]) if some else None,
                    "high": float(table.high[period, place]) if some else None,
                    "burst": (self.topics[place], period) in bursting,
                }

    @cached_property
    def _bursting(self) -> frozenset[tuple[int, int]]:
        return frozenset(
            (burst.topic, period)
            for burst in self.bursts
            for period in range(burst.periods[0], burst.periods[1] + 1)
        )  # fmt: skip

    def to_dict(self, shown: bool = True) -> dict[str, Any]:
        """All of it as plain JSON data."""
        known = self.periods
        table, names = self.table, known.names
        return {
            "unit": known.unit,
            "periods": [
                {"name": name, "first_day": first, "last_day": last, "documents": number}
                for name, first, last, number in zip(
                    names, known.first, known.last, known.documents.tolist(), strict=True
                )
            ],
            "left_out": {
                "undated": known.undated, "unread": known.unread, "coarse": known.coarse, "outside": known.outside,
            },
            "topics": [
                {
                    "id": self.topics[place],
                    "name": self.names[place],
                    "path": self.paths[place],
                    **{name: _told(getattr(table, name)[:, place], known) for name in ("share", "low", "high")},
                }
                for place in (self.shown if shown else range(len(self.topics)))
            ],
            "bursts": [
                {
                    "topic": one.topic, "name": one.name, "first": one.first, "last": one.last,
                    "times": round(one.times, 3), "share": round(one.share, 6), "usual": round(one.usual, 6),
                }
                for one in self.bursts
            ],
        }  # fmt: skip


def over_time(figures: Figures, by: str = AUTO, *, topic: int | None = None, detail: str | int = "normal") -> OverTime:
    """The topics of a collection over time; ``topic``: those below one; ``detail``: how many are shown at first."""
    tree, shape = figures.tree, figures.shape
    top = tree.root if topic is None else shape.node(topic)
    known = figures.kept(("periods", by), lambda: periods(figures.collection, by))
    every = [node for node in range(len(tree)) if node != tree.root] or [tree.root]
    table = figures.kept(("time", by), lambda: shares_in(figures, known.of, len(known), every))
    found = figures.kept(("bursts", by), lambda: _bursts(figures, table, every))
    column = {node: place for place, node in enumerate(every)}
    nodes = [node for node in figures.ordered(top) if node != top and node in column] or [top if top in column else 0]
    place = {node: number for number, node in enumerate(nodes)}
    names = known.names
    return OverTime(
        periods=known,
        topics=tuple(shape.topics[node] for node in nodes),
        names=tuple(figures.names[node] for node in nodes),
        paths=tuple(path_text(figures, node) for node in nodes),
        table=table.of([column[node] for node in nodes]),
        shown=tuple(sorted(place[node] for node in figures.collection.tree.view(detail, top) if node in place)),
        bursts=tuple(
            TopicBurst(
                shape.topics[one.thing], figures.names[one.thing], names[one.first], names[one.last], one.times,
                one.share, one.usual, known.span(one.first, one.last), (one.first, one.last),
            )
            for one in found
            if one.thing in place
        ),
    )  # fmt: skip


def _bursts(figures: Figures, table: ShareTable, nodes: Sequence[int]) -> tuple[Burst, ...]:
    """Bursts by node; one that is stronger at a topic below, at the same time, is told there alone."""
    counts = table.share * table.telling
    found = [replace(one, thing=nodes[one.thing]) for one in find_bursts(counts, table.telling)]
    below = {one.thing: set(figures.tree.descendants(one.thing)) for one in found}
    return tuple(
        one
        for one in found
        if not any(
            other.thing in below[one.thing]
            and other.first <= one.last
            and other.last >= one.first
            and other.times >= one.times
            for other in found
        )
    )


def shares_in(figures: Figures, groups: Any, n_groups: int, nodes: Sequence[int]) -> ShareTable:
    """The shares of nodes in groups of documents, as the model of the tree means them."""
    return group_shares(
        figures.collection.shares,
        groups,
        n_groups,
        figures.mask[:, list(nodes)],
        mixed=figures.collection.state.model in MIXTURES,
    )


def path_text(figures: Figures, node: int) -> str:
    """The names from below the root down to a node."""
    return " ▸ ".join(figures.names[step] for step in figures.tree.path(node)[1:]) or figures.names[node]


def _told(values: Floats, known: Periods) -> list[float | None]:
    """Numbers of periods; nothing where a period has no documents."""
    return [
        round(value, 6) if number else None
        for value, number in zip(np.asarray(values).tolist(), known.documents.tolist(), strict=True)
    ]
