"""Do the labels of the documents and the tree agree?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, counted, topic_line
from topiarist.app.explorer.view import View
from topiarist.arrays import Csr, Ints
from topiarist.collection.judge.judgements import Judgements

LABELS, TOPICS = 40, 30


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    level: Annotated[int | None, Query(ge=1, le=50, description="topics of this level; all last ones without it")] = (
        None
    )


@dataclass(frozen=True)
class LabelRow:
    """A label: its documents, the topic of all that has most of them, and its documents in every topic shown."""

    label: str
    documents: int
    address: str
    topic: TopicLine
    share: float  # of the label's documents that lie mostly under that topic
    purity: float  # of that topic's labelled documents that have the label
    both: str  # address of the documents of the label under that topic
    counts: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ComparePage:
    """Labels against topics."""

    sentence: str
    several: str  # what becomes of documents with several labels
    rows: tuple[LabelRow, ...]
    topics: tuple[TopicLine, ...]
    levels: tuple[Choice, ...]
    agreement: float | None
    left_out: int
    topics_left_out: int


@dataclass(frozen=True, eq=False)
class Labelled:
    """All labels of all documents: the row and the label of each, every label of a document once."""

    rows: Ints
    codes: Ints
    names: tuple[str, ...]
    sizes: Ints

    @property
    def largest(self) -> list[int]:
        """The labels with most documents."""
        return sorted(range(len(self.names)), key=lambda code: (-self.sizes[code], self.names[code]))[:LABELS]


def labelled(view: View) -> Labelled:
    """All labels, read once, and again when people have judged some."""
    database = view.collection.generation.database

    def read() -> Labelled:
        found = database.all("SELECT DISTINCT row, label FROM labels")
        names = tuple(sorted({label for _, label in found}))
        code = {label: number for number, label in enumerate(names)}
        rows = np.fromiter((row for row, _ in found), np.int64, len(found))
        codes = np.fromiter((code[label] for _, label in found), np.int64, len(found))
        known = rows < view.n_docs  # a document may be added while this is read
        return Labelled(rows[known], codes[known], names, np.bincount(codes[known], minlength=len(names)))

    return view.remembered(("all labels", Judgements(database).last_number()), read)


def agreement_of(view: View) -> float | None:
    """Normalised mutual information of the first labels that documents have now, and their last topics as they are now.

    None where there are not two labels to tell apart.
    """
    database = view.collection.generation.database

    def made() -> float | None:
        found = database.all("SELECT row, label FROM labels WHERE place = 0 AND row < ?", (view.n_docs,))
        if len({label for _, label in found}) < 2:
            return None
        from sklearn.metrics import normalized_mutual_info_score

        topics = np.array(view.shape.class_nodes)[_largest(view.collection.shares)]
        return float(normalized_mutual_info_score([label for _, label in found], topics[[row for row, _ in found]]))

    return view.remembered(("agreement", Judgements(database).last_number()), made)


def _largest(shares: Csr) -> Ints:
    """The column with the largest share of each row; the first where there is none, or several."""
    lengths = np.diff(shares.indptr)
    rows, found = np.repeat(np.arange(len(lengths)), lengths), np.zeros(len(lengths), np.int64)
    order = np.lexsort((shares.indices, -shares.data, rows))
    some = lengths > 0
    found[some] = shares.indices[order[shares.indptr[:-1][some]]]
    return found


def load(view: View, ask: Ask) -> ComparePage:
    """Fill the page."""
    known = labelled(view)
    if not len(known.rows):
        return ComparePage("No document of this collection has a label.", "", (), (), (), None, 0, 0)
    every_node, shown = _columns(view, ask.level)
    owner = np.full(len(view.tree), -1, np.int64)
    for column, node in enumerate(every_node):
        owner[[node, *view.tree.descendants(node)]] = column
    documents = np.unique(known.rows)
    every = np.bincount(owner[view.homes[documents]] + 1, minlength=len(every_node) + 1)[1:]
    chosen = known.largest
    table = _table(view, known, chosen, owner, len(every_node))
    rows = tuple(_row(view, known, code, table[place], every_node, every, shown) for place, code in enumerate(chosen))
    agreement = agreement_of(view)
    said = "" if agreement is None else (
        f" Their agreement is {agreement:.2f} of 1 (normalised mutual information of first labels and last topics)."
    )  # fmt: skip
    return ComparePage(
        f"{counted(len(known.names), 'label')} of {counted(len(documents), 'document')} against "
        f"{counted(len(every_node), 'topic')}.{said}",
        _several(known, len(documents)), rows, tuple(topic_line(view, every_node[column]) for column in shown),
        tuple(Choice(f"level {level}" if level else "last topics", addresses.compare(level),
                     level == ask.level) for level in (None, *range(1, min(view.tree.depth, 5) + 1))),
        agreement, max(0, len(known.names) - LABELS), len(every_node) - len(shown),
    )  # fmt: skip


def _several(known: Labelled, documents: int) -> str:
    """What is counted where a document has several labels."""
    several = int((np.bincount(known.rows) > 1).sum())
    if not several:
        return ""
    have = "has several labels and counts under each" if several == 1 else "have several labels and count under each"
    return f"{several:,} of {counted(documents, 'labelled document')} {have} of them."


def _columns(view: View, level: int | None) -> tuple[list[int], list[int]]:
    """The topics to compare with, in the order of the tree; and the places of those that are large enough to draw."""
    depths, deepest = view.tree.depths, view.tree.depth if level is None else level
    ordered = [
        node for node in view.ordered()
        if depths[node] <= deepest and (view.tree.is_leaf(node) or depths[node] == level)
    ]  # fmt: skip
    best = sorted(range(len(ordered)), key=lambda place: -view.sizes[ordered[place]])[:TOPICS]
    return ordered, sorted(best)


def _table(view: View, known: Labelled, chosen: list[int], owner: Ints, n: int) -> Any:
    """Documents by label and topic."""
    place = np.full(len(known.names), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    rows, columns = place[known.codes], owner[view.homes[known.rows]]
    kept = (rows >= 0) & (columns >= 0)
    return np.bincount(rows[kept] * n + columns[kept], minlength=len(chosen) * n).reshape(len(chosen), n)


def _row(
    view: View, known: Labelled, code: int, found: Any, nodes: list[int], every: Any, shown: list[int]
) -> LabelRow:
    """The topic with most of a label is sought among all; its documents are told for those that are shown."""
    best, label, size = int(found.argmax()), known.names[code], int(known.sizes[code])
    topic = topic_line(view, nodes[best])
    return LabelRow(
        label, size, addresses.labelled(label), topic, float(found[best] / size),
        float(found[best] / max(every[best], 1)), addresses.labelled(label, topic.id), tuple(found[shown].tolist()),
        tuple((found[shown] / size).round(4).tolist()),
    )  # fmt: skip
