"""New documents with their assignments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query

from topiarist.collection.file.arrivals import FiledDocument, file_with_certainty
from topiarist.collection.grow.read_as_grown import get_date_order, load_reading_settings
from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.text.date_orders import DateOrders
from topiarist.text.dates import read_date
from topiarist.text.documents import Document
from topiarist.text.readers import Columns
from topiarist.web import addresses
from topiarist.web.values import Choice, DocumentLine, build_document_lines, display_title, link, list_path
from topiarist.web.view import View

MAX_FILED = 50  # documents of those that were filed


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    rho: Annotated[float, Query(ge=0, lt=1, description="file at the deepest topic that is so certain")] = 0.5
    filed: Annotated[int, Query(ge=0, lt=10**9, description="documents that were filed just now")] = 0
    first: Annotated[int, Query(ge=0, lt=10**9, description="row of the first document")] = 0


@dataclass(frozen=True)
class Level:
    """Topic on the path, with its certainty."""

    name: str
    address: str
    certainty: float


@dataclass(frozen=True)
class Label:
    """Category with its certainty."""

    name: str
    certainty: float | None


@dataclass(frozen=True)
class FiledLine:
    """New document with its assignment."""

    title: str
    path: tuple[Level, ...]
    words: tuple[Choice, ...]  # that decided
    unusual: bool
    labels: tuple[Label, ...]
    misfit: str  # why it fits nowhere


@dataclass(frozen=True)
class ColumnField:
    """Form field for the name of a column."""

    name: str  # of the field
    label: str
    usual: str  # the column of the collection
    value: str  # as it was typed


@dataclass(frozen=True, kw_only=True)
class NewPage:
    """Preview of new documents with their topics."""

    sentence: str
    rho: float
    filed: tuple[FiledLine, ...]
    key: str  # of these documents, for filing them
    problems: tuple[str, ...] = ()
    stored: tuple[DocumentLine, ...] = ()  # those that were filed just now
    more: int = 0  # of these, not shown
    text: str = ""  # that was pasted, to be corrected in the form
    undecided: str = ""  # a date of theirs of which nothing tells whether the day or the month comes first
    columns: tuple[ColumnField, ...] = ()  # of tables


def load(view: View, ask: Ask) -> NewPage:
    """Return the upload form, or the documents that were filed last."""
    first, last = max(ask.first, view.grown_with), min(ask.first + ask.filed, view.n_docs)
    if first >= last:
        return NewPage(
            sentence=translate("Paste a text or choose files to see their topics."),
            rho=ask.rho,
            filed=(),
            key="",
            columns=list_column_fields(view),
        )
    rows = range(first, min(last, first + MAX_FILED))
    lines = build_document_lines(view, rows, lambda id, _: addresses.document(id))
    lines = tuple(line if line.path else replace(line, path=list_path(view, view.tree.root)) for line in lines)
    text = translate("{documents} filed.", documents=CountedNoun(last - first, "document"))
    n_hidden = last - first - len(rows)
    return NewPage(
        sentence=text, rho=ask.rho, filed=(), key="", stored=lines, more=n_hidden, columns=list_column_fields(view)
    )


def list_field_labels() -> dict[str, str]:
    """Return the labels of the fields for columns, by role."""
    return {
        "text": translate("Text column"),
        "title": translate("Title column"),
        "id": translate("Id column"),
        "date": translate("Date column"),
        "label": translate("Label column"),
    }


def list_column_fields(view: View, typed: Columns | None = None) -> tuple[ColumnField, ...]:
    """Return form fields for column names, with the names of the collection and the typed ones."""
    columns = load_reading_settings(view.collection).columns
    earlier = columns.preferred[0] if columns.preferred else None
    return tuple(
        ColumnField(
            f"{role}_column",
            label,
            getattr(columns, role) or (getattr(earlier, role) if earlier else ""),
            (getattr(typed, role) if typed else "") or "",
        )
        for role, label in list_field_labels().items()
    )


def preview_documents(
    view: View, documents: Sequence[Document], rho: float, key: str, problems: tuple[str, ...]
) -> NewPage:
    """Return the assignments of documents; nothing is stored."""
    lines = tuple(_describe_filing(view, *item) for item in file_with_certainty(view.collection, documents, rho))
    strange = sum(line.unusual for line in lines)
    text = (
        translate("; {documents} unlike the collection", documents=CountedNoun(strange, "is", "are")) if strange else ""
    )
    return NewPage(
        sentence=translate(
            "{documents} to file{strange}. Not stored yet.",
            documents=CountedNoun(len(lines), "document"),
            strange=text,
        ),
        rho=rho,
        filed=lines,
        key=key,
        problems=problems,
        undecided=_find_ambiguous_date(documents, get_date_order(view.collection)),
        columns=list_column_fields(view),
    )


def _find_ambiguous_date(documents: Sequence[Document], order: str) -> str:
    """Return a date with unknown order of day and month; empty without one."""
    orders = DateOrders(order)
    for document in documents:
        orders.add(document.source, read_date(document.date), document.date)
    return next((orders.evidence[source].example for source in orders.ambiguous_sources), "")


def _describe_filing(view: View, filed_document: FiledDocument, certain: dict[str, float]) -> FiledLine:
    """Return a new document with its path, words, labels and certainties."""
    nodes = view.tree.path(view.shape.node(filed_document.topic))
    certainty = (1.0, *filed_document.certainty)
    document = filed_document.document
    return FiledLine(
        display_title(document.title, document.id),
        tuple(
            Level(view.names[node], addresses.topic(view.shape.topics[node]), certainty_value)
            for node, certainty_value in zip(nodes, certainty, strict=True)
        ),
        tuple(link(word, addresses.word(word)) for word in filed_document.words),
        filed_document.unusual,
        tuple(Label(name, certain.get(name)) for name in filed_document.labels),
        filed_document.misfit,
    )
