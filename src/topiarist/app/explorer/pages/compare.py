"""Do the labels of the documents and the tree agree?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, topic_line
from topiarist.app.explorer.view import View

LABELS, TOPICS = 40, 30


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    level: Annotated[int | None, Query(ge=1, le=50, description="topics of this level; all last ones without it")] = (
        None
    )


@dataclass(frozen=True)
class LabelRow:
    """A label: its documents, the topic that has most of them, and its share in every topic."""

    label: str
    documents: int
    address: str
    topic: TopicLine
    share: float  # of the label's documents that lie mostly under that topic
    purity: float  # of that topic's labelled documents that have the label
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ComparePage:
    """Labels against topics."""

    sentence: str
    rows: tuple[LabelRow, ...]
    topics: tuple[TopicLine, ...]
    levels: tuple[Choice, ...]
    agreement: float | None
    left_out: int


def labels_by_row(view: View) -> list[tuple[int, str]]:
    """The first label of each document that has one."""
    sql = "SELECT row, label FROM labels WHERE place = 0 ORDER BY row"
    return view.remembered(
        "labels", lambda: [(row, label) for row, label in view.collection.generation.database.all(sql)]
    )


def load(view: View, ask: Ask) -> ComparePage:
    """Fill the page."""
    pairs, nodes = labels_by_row(view), _columns(view, ask.level)
    if not pairs:
        return ComparePage("No document of this collection has a label.", (), (), (), None, 0)
    place = {node: column for column, node in enumerate(nodes)}
    owner = np.full(len(view.tree), -1, np.int64)
    for node in nodes:
        owner[[node, *view.tree.descendants(node)]] = place[node]
    sizes = Counter(label for _, label in pairs)
    chosen = [label for label, _ in sorted(sizes.items(), key=lambda one: (-one[1], one[0]))[:LABELS]]
    table = _table(view, pairs, chosen, owner, len(nodes))
    every = np.bincount(owner[view.homes[[row for row, _ in pairs]]] + 1, minlength=len(nodes) + 1)[1:]
    rows = tuple(_row(view, label, sizes[label], table[number], nodes, every) for number, label in enumerate(chosen))
    known = view.collection.description.facts.get("agreement")
    said = "" if known is None else f" Their agreement is {known:.2f} of 1 (normalised mutual information)."
    return ComparePage(
        f"{len(sizes):,} labels of {len(pairs):,} documents against {len(nodes):,} topics.{said}",
        rows, tuple(topic_line(view, node) for node in nodes),
        tuple(Choice(f"level {level}" if level else "last topics", addresses.compare(level),
                     level == ask.level) for level in (None, *range(1, min(view.tree.depth, 5) + 1))),
        known, max(0, len(sizes) - LABELS),
    )  # fmt: skip


def _columns(view: View, level: int | None) -> list[int]:
    """The topics to compare with, in the order of the tree."""
    ordered, waiting = [], [view.tree.root]
    while waiting:
        node = waiting.pop()
        depth = view.tree.depths[node]
        if view.tree.is_leaf(node) or (level is not None and depth == level):
            ordered.append(node)
        else:
            waiting += reversed(view.children(node))
    best = sorted(ordered, key=lambda node: -view.sizes[node])[:TOPICS]
    return [node for node in ordered if node in set(best)]


def _table(view: View, pairs: list[tuple[int, str]], chosen: list[str], owner: Any, n: int) -> Any:
    """Documents by label and topic."""
    number = {label: place for place, label in enumerate(chosen)}
    table = np.zeros((len(chosen), n), np.int64)
    for row, label in pairs:
        column = owner[view.homes[row]]
        if label in number and column >= 0:
            table[number[label], column] += 1
    return table


def _row(view: View, label: str, size: int, found: Any, nodes: list[int], every: Any) -> LabelRow:
    best = int(found.argmax())
    return LabelRow(
        label, size, addresses.labelled(label), topic_line(view, nodes[best]), float(found[best] / size),
        float(found[best] / max(every[best], 1)), tuple((found / size).round(4).tolist()),
    )  # fmt: skip
