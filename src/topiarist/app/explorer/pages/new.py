"""What arrived, and where does it go?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, DocumentLine, document_lines, link, path_to, titled
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.collection import Filed, file_with_certainty
from topiarist.text.date_orders import DateOrders
from topiarist.text.dates import read_date
from topiarist.text.documents import Document

SHOWN = 50  # documents of those that were filed


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    rho: Annotated[float, Query(ge=0, lt=1, description="file at the deepest topic that is so certain")] = 0.9
    filed: Annotated[int, Query(ge=0, lt=10**9, description="documents that were filed just now")] = 0
    first: Annotated[int, Query(ge=0, lt=10**9, description="the row of the first of them")] = 0


@dataclass(frozen=True)
class Level:
    """A topic on the path, and how certain it is."""

    name: str
    address: str
    certainty: float


@dataclass(frozen=True)
class Label:
    """A category that was learned, and how certain it is."""

    name: str
    certainty: float | None


@dataclass(frozen=True)
class FiledLine:
    """A document that was brought, and where it goes."""

    title: str
    path: tuple[Level, ...]
    words: tuple[Choice, ...]  # that decided
    unusual: bool
    labels: tuple[Label, ...]
    misfit: str  # why it fits nowhere


@dataclass(frozen=True, kw_only=True)
class NewPage:
    """Documents that were brought; nothing is stored until somebody says so."""

    sentence: str
    rho: float
    filed: tuple[FiledLine, ...]
    key: str  # of these documents, for filing them
    problems: tuple[str, ...] = ()
    stored: tuple[DocumentLine, ...] = ()  # those that were filed just now
    more: int = 0  # of these, not shown
    text: str = ""  # that was pasted, to be corrected in the form
    undecided: str = ""  # a date of theirs of which nothing tells whether the day or the month comes first


def load(view: View, ask: Ask) -> NewPage:
    """The empty page, or what was filed just now: only documents that were added since the collection was grown."""
    first, last = max(ask.first, view.grown_with), min(ask.first + ask.filed, view.n_docs)
    if first >= last:
        return NewPage(
            sentence=worded("Paste a text or choose files, and see where they would go."), rho=ask.rho, filed=(), key=""
        )
    rows = range(first, min(last, first + SHOWN))
    lines = document_lines(view, rows, lambda id, _: addresses.document(id))
    lines = tuple(line if line.path else replace(line, path=path_to(view, view.tree.root)) for line in lines)
    said = worded("{documents} filed.", documents=Counted(last - first, "document"))
    return NewPage(sentence=said, rho=ask.rho, filed=(), key="", stored=lines, more=last - first - len(rows))


def placed(view: View, documents: Sequence[Document], rho: float, key: str, problems: tuple[str, ...]) -> NewPage:
    """The page with documents."""
    lines = tuple(_line(view, *one) for one in file_with_certainty(view.collection, documents, rho))
    strange = sum(line.unusual for line in lines)
    said = worded("; {documents} unlike the collection", documents=Counted(strange, "is", "are")) if strange else ""
    return NewPage(
        sentence=worded(
            "{documents} to file{strange}. Nothing is stored yet.",
            documents=Counted(len(lines), "document"),
            strange=said,
        ),
        rho=rho,
        filed=lines,
        key=key,
        problems=problems,
        undecided=_undecided(documents),
    )


def _undecided(documents: Sequence[Document]) -> str:
    """A date that may have the day or the month first, by all dates of its source."""
    orders = DateOrders()
    for document in documents:
        orders.see(document.source, read_date(document.date), document.date)
    return next((orders.seen[source].example for source in orders.undecided), "")


def _line(view: View, filed: Filed, certain: dict[str, float]) -> FiledLine:
    nodes = view.tree.path(view.shape.node(filed.topic))
    certainty = (1.0, *filed.certainty)
    document = filed.document
    return FiledLine(
        titled(document.title, document.id),
        tuple(
            Level(view.names[node], addresses.topic(view.shape.topics[node]), sure)
            for node, sure in zip(nodes, certainty, strict=True)
        ),
        tuple(link(word, addresses.word(word)) for word in filed.words),
        filed.unusual,
        tuple(Label(name, certain.get(name)) for name in filed.labels),
        filed.misfit,
    )
