"""What arrived, and where does it go?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.fit_dates import grown_with
from topiarist.app.explorer.pages.category_filing import certainty_of
from topiarist.app.explorer.values import Choice, DocumentLine, counted, document_lines, path_to, titled
from topiarist.app.explorer.view import View
from topiarist.collection.file.arrivals import Filed
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


@dataclass(frozen=True)
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


def load(view: View, ask: Ask) -> NewPage:
    """The empty page, or what was filed just now: only documents that were added since the collection was grown."""
    first, last = max(ask.first, grown_with(view)), min(ask.first + ask.filed, view.n_docs)
    if first >= last:
        return NewPage("Paste a text or choose files, and see where they would go.", ask.rho, (), "")
    rows = range(first, min(last, first + SHOWN))
    lines = document_lines(view, rows, lambda id, _: addresses.document(id))
    lines = tuple(line if line.path else replace(line, path=path_to(view, view.tree.root)) for line in lines)
    said = f"{counted(last - first, 'document')} filed."
    return NewPage(said, ask.rho, (), "", stored=lines, more=last - first - len(rows))


def placed(view: View, documents: Sequence[Document], rho: float, key: str, problems: tuple[str, ...]) -> NewPage:
    """The page with documents."""
    certain = _certain(view, documents)
    filed = view.collection.file(documents, rho)
    lines = tuple(_line(view, one, certain.get(place, {})) for place, one in enumerate(filed))
    strange = sum(line.unusual for line in lines)
    said = f"; {counted(strange, 'is', 'are')} unlike the collection" if strange else ""
    return NewPage(
        f"{counted(len(lines), 'document')} to file{said}. Nothing is stored yet.", rho, lines, key, problems
    )


def _certain(view: View, documents: Sequence[Document]) -> dict[int, dict[str, float]]:
    """How certain each label of documents is that may have several, as the page of the categories says it."""
    found: dict[int, dict[str, float]] = {}
    categories = view.collection.categories
    if categories is None or not categories.several:
        return found
    told = categories.read(view.collection.heard(list(documents)).counts)
    sure = told.share if categories.held is None else certainty_of(categories, categories.held, told.share, told.score)
    for place, label, certainty in zip(told.place.tolist(), told.label.tolist(), sure.tolist(), strict=True):
        found.setdefault(place, {})[categories.names[label]] = certainty
    return found


def _line(view: View, filed: Filed, certain: dict[str, float]) -> FiledLine:
    nodes = view.tree.path(view.shape.node(filed.topic))
    certainty = (1.0, *filed.certainty)
    document = filed.document
    certain = dict(zip(filed.labels, filed.label_certainty, strict=False)) | certain
    return FiledLine(
        titled(document.title, document.id, " ".join(document.text[:300].split())),
        tuple(
            Level(view.names[node], addresses.topic(view.shape.topics[node]), sure)
            for node, sure in zip(nodes, certainty, strict=True)
        ),
        tuple(Choice(word, addresses.word(word), False) for word in filed.words), filed.unusual,
        tuple(Label(name, certain.get(name)) for name in filed.labels),
    )  # fmt: skip
