"""Do the labels of the documents and the tree agree?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, choices, topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, language, worded
from topiarist.app.languages.locales import LOCALES
from topiarist.collection import Judgements, Labelled, LabelTopics, agreement_of, labelled, labels_in_topics

LABELS, TOPICS = 40, 30


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    level: Annotated[int | None, Query(ge=1, le=50, description="topics of this level; all last ones without it")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


def _known(view: View) -> Labelled:
    """All labels, read once, and again when people have judged some."""
    number = Judgements(view.collection.generation.database).last_number()
    return view.remembered(("all labels", number), lambda: labelled(view))


def agreement(view: View) -> float | None:
    """How far first labels and last topics agree, as they are now."""
    number = Judgements(view.collection.generation.database).last_number()
    return view.remembered(("agreement", number), lambda: agreement_of(view))


def load(view: View, ask: Ask) -> ComparePage:
    """Fill the page."""
    known = _known(view)
    if not len(known.rows):
        return ComparePage(
            sentence=worded("No document of this collection has a label."),
            several="",
            rows=(),
            topics=(),
            levels=(),
            agreement=None,
            left_out=0,
            topics_left_out=0,
        )
    nodes, shown = _columns(view, ask.level)
    chosen, documents, agreed = known.largest(LABELS), known.n_documents, agreement(view)
    found = labels_in_topics(view, known, chosen, nodes)
    said = worded(
        " Their agreement is {agreement} of 1 (normalised mutual information of first labels and last topics).",
        agreement=LOCALES[language()].signs(f"{agreed or 0:.2f}"),
    )
    levels: dict[int | None, str] = {None: worded("last topics")}
    levels |= {level: worded("level {level}", level=level) for level in range(1, min(view.tree.depth, 5) + 1)}
    return ComparePage(
        sentence=worded(
            "{labels} of {documents} against {topics}.",
            labels=Counted(len(known.names), "label"),
            documents=Counted(documents, "document"),
            topics=Counted(len(nodes), "topic"),
        )
        + ("" if agreed is None else said),
        several=_several(known, documents),
        rows=tuple(
            _row(view, known, code, one, nodes[one.best], shown) for code, one in zip(chosen, found, strict=True)
        ),
        topics=tuple(topic_line(view, nodes[column]) for column in shown),
        levels=choices(levels, ask.level, addresses.compare),
        agreement=agreed,
        left_out=max(0, len(known.names) - LABELS),
        topics_left_out=len(nodes) - len(shown),
    )


def _several(known: Labelled, documents: int) -> str:
    """What is counted where a document has several labels."""
    several = known.n_several
    if not several:
        return ""
    every = Counted(documents, "labelled document")
    if several == 1:
        return worded("1 of {documents} has several labels and counts under each of them.", documents=every)
    return worded(
        "{number} of {documents} have several labels and count under each of them.", number=several, documents=every
    )


def _columns(view: View, level: int | None) -> tuple[list[int], list[int]]:
    """The topics to compare with, in the order of the tree; and the places of those that are large enough to draw."""
    depths, deepest = view.tree.depths, view.tree.depth if level is None else level
    ordered = [
        node
        for node in view.ordered()
        if depths[node] <= deepest and (view.tree.is_leaf(node) or depths[node] == level)
    ]
    best = sorted(range(len(ordered)), key=lambda place: -view.sizes[ordered[place]])[:TOPICS]
    return ordered, sorted(best)


def _row(view: View, known: Labelled, code: int, found: LabelTopics, node: int, shown: list[int]) -> LabelRow:
    """The topic with most of a label is sought among all; its documents are told for those that are shown."""
    label, topic = known.names[code], topic_line(view, node)
    return LabelRow(
        label=label,
        documents=int(known.sizes[code]),
        address=addresses.labelled(label),
        topic=topic,
        share=found.share,
        purity=found.purity,
        both=addresses.labelled(label, topic.id),
        counts=tuple(found.counts[column] for column in shown),
        shares=tuple(found.shares[column] for column in shown),
    )
