"""Comparison of labels and topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.collection.classify.label_sources import list_label_columns
from topiarist.collection.classify.labels_in_topics import (
    LabelCodes,
    LabelTopics,
    compute_agreement,
    count_labels_in_topics,
    load_label_codes,
)
from topiarist.display.locale.catalogues import CountedNoun, current_language, translate
from topiarist.display.locale.locales import LOCALES
from topiarist.web import addresses
from topiarist.web.values import Choice, TopicLine, build_topic_line, choices
from topiarist.web.view import View

LABELS, TOPICS, COLUMNS = 40, 30, 10


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    level: Annotated[int | None, Query(ge=1, le=50, description="topics of this level; all last ones without it")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class LabelRow(LabelTopics):
    """A label against topics, with links."""

    address: str
    topic: TopicLine  # the topic with most documents of the label
    both: str  # address of the documents of the label under that topic


@dataclass(frozen=True)
class LabelColumnLine:
    """Column that can serve as a label, with the command that learns from it."""

    name: str
    values: str
    address: str
    command: str


@dataclass(frozen=True, kw_only=True)
class ComparePage:
    """Comparison of labels and topics."""

    sentence: str
    several: str = ""  # what becomes of documents with several labels
    rows: tuple[LabelRow, ...] = ()
    topics: tuple[TopicLine, ...] = ()
    levels: tuple[Choice, ...] = ()
    agreement: float | None = None
    left_out: int = 0
    topics_left_out: int = 0
    columns: tuple[LabelColumnLine, ...] = ()  # that hold labels, where no document has one


def list_label_column_lines(view: View) -> tuple[LabelColumnLine, ...]:
    """Return the columns that can serve as labels, with links and commands."""
    return tuple(
        LabelColumnLine(item.name, item.values, addresses.groups(column=item.name), item.command)
        for item in list_label_columns(view)[:COLUMNS]
    )


def agreement(view: View) -> float | None:
    """Return how far first labels and last topics agree."""
    return view.remember_labels("agreement", lambda: compute_agreement(view))


def load(view: View, ask: Ask) -> ComparePage:
    """Return the page; without labels, only the columns that can serve as labels."""
    labels = view.remember_labels("all labels", lambda: load_label_codes(view))
    if not len(labels.rows):
        return ComparePage(
            sentence=translate("No document has a label."),
            columns=list_label_column_lines(view),
        )
    nodes, topic_columns = _choose_columns(view, ask.level)
    documents, agreed = labels.n_documents, agreement(view)
    text = translate(
        " Agreement (NMI): {agreement}.",
        agreement=LOCALES[current_language()].signs(f"{agreed or 0:.2f}"),
    )
    levels: dict[int | None, str] = {None: translate("topics")}
    levels |= {level: translate("level {level}", level=level) for level in range(1, min(view.tree.depth, 5) + 1)}
    return ComparePage(
        sentence=translate(
            "{labels} of {documents} against {topics}.",
            labels=CountedNoun(len(labels.names), "label"),
            documents=CountedNoun(documents, "document"),
            topics=CountedNoun(len(nodes), "topic"),
        )
        + ("" if agreed is None else text),
        several=_describe_several_labels(labels, documents),
        rows=tuple(
            LabelRow(
                **vars(label),
                address=addresses.labelled_documents(label.label),
                topic=build_topic_line(view, node),
                both=addresses.labelled_documents(label.label, view.shape.topics[node]),
            )
            for label, node in count_labels_in_topics(view, labels, LABELS, nodes, topic_columns)
        ),
        topics=tuple(build_topic_line(view, nodes[column]) for column in topic_columns),
        levels=choices(levels, ask.level, addresses.compare),
        agreement=agreed,
        left_out=max(0, len(labels.names) - LABELS),
        topics_left_out=len(nodes) - len(topic_columns),
    )


def _describe_several_labels(labels: LabelCodes, documents: int) -> str:
    """Return a note on documents with several labels; empty without any."""
    n_several = labels.n_several
    if not n_several:
        return ""
    counted_documents = CountedNoun(documents, "labelled document")
    if n_several == 1:
        return translate("1 of {documents} counts under several labels.", documents=counted_documents)
    return translate(
        "{number} of {documents} count under several labels.", number=n_several, documents=counted_documents
    )


def _choose_columns(view: View, level: int | None) -> tuple[list[int], list[int]]:
    """Return the nodes of a level in tree order, and the positions of the largest."""
    depths, deepest = view.tree.depths, view.tree.depth if level is None else level
    ordered = [
        node
        for node in view.ordered()
        if depths[node] <= deepest and (view.tree.is_leaf(node) or depths[node] == level)
    ]
    best = sorted(range(len(ordered)), key=lambda place: -view.sizes[ordered[place]])[:TOPICS]
    return ordered, sorted(best)
