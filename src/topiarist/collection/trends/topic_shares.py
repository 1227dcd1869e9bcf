"""Shares of topics in groups of documents, and their differences, for time, groups and recent changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topiarist.collection.describe.statistics import Figures
from topiarist.metrics.share_intervals import RatioTable, ShareTable, compute_group_shares

MIXTURES = frozenset(("hplsa",))  # trees in which a document is a mixture of topics


@dataclass(frozen=True)
class TopicShare:
    """Share of a topic in some documents, its share in other documents, and the ratio of both, with intervals."""

    topic: int
    name: str
    path: str
    share: float
    low: float
    high: float
    others: float
    times: float
    times_low: float
    times_high: float
    certain: bool
    documents: int  # documents assigned to the topic


@dataclass(frozen=True, eq=False)
class TopicColumns:
    """Topics in the columns of a table of shares."""

    nodes: tuple[int, ...]
    topics: tuple[int, ...]
    names: tuple[str, ...]
    paths: tuple[str, ...]
    first_view: tuple[int, ...]  # places of the topics in a view that covers all documents

    @classmethod
    def select(
        cls, figures: Figures, nodes: Sequence[int], detail: str | int = "normal", top: int | None = None
    ) -> TopicColumns:
        """Return the columns of these nodes, with the indices of those in the view at ``detail``."""
        place = {node: number for number, node in enumerate(nodes)}
        return cls(
            tuple(nodes),
            tuple(figures.shape.topics[node] for node in nodes),
            tuple(figures.names[node] for node in nodes),
            tuple(path_text(figures, node) for node in nodes),
            tuple(sorted(place[node] for node in figures.collection.tree.view(detail, top) if node in place)),
        )

    def compare(
        self, table: ShareTable, others: ShareTable, ratio: RatioTable, group: int, place: int, documents: int
    ) -> TopicShare:
        """Return the share of the topic at column ``place`` in a group and in other documents, with their ratio."""
        at = group, place
        return TopicShare(
            topic=self.topics[place], name=self.names[place], path=self.paths[place],
            share=float(table.share[at]), low=float(table.low[at]), high=float(table.high[at]),
            others=float(others.share[at]), times=float(ratio.ratio[at]), times_low=float(ratio.low[at]),
            times_high=float(ratio.high[at]), certain=bool(ratio.certain[at]), documents=documents,
        )  # fmt: skip


def shares_in(figures: Figures, groups: Any, n_groups: int, nodes: Sequence[int]) -> ShareTable:
    """Return the shares of nodes in groups of documents; ``groups`` has -1 for a document of no group."""
    mixed = figures.collection.state.model in MIXTURES
    return compute_group_shares(
        figures.collection.shares, groups, n_groups, figures.mask[:, list(nodes)], is_mixture=mixed
    )


def path_text(figures: Figures, node: int) -> str:
    """Return the names from below the root down to a node."""
    return " ▸ ".join(figures.names[step] for step in figures.tree.path(node)[1:]) or figures.names[node]
