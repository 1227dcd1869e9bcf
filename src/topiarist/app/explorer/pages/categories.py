"""Where do new documents go, and is the filing good?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.compare import labels_by_row
from topiarist.app.explorer.values import Choice, DocumentLine, Paging, counted, document_lines, paging
from topiarist.app.explorer.view import View
from topiarist.files import log
from topiarist.files.shaping import LEARN

BLOCK = 4_096
JUDGED = 20_000  # documents that are looked at; of more, some that are spread evenly
RHOS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
CONFUSED = 3


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    label: Annotated[str, Query(max_length=1_000, description="the documents filed under this category")] = ""
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True)
class CategoryRow:
    """A category: how many documents have it, how many are filed under it, and how far both agree."""

    label: str
    labelled: int
    filed: int | None
    agreement: float | None
    confused: tuple[Choice, ...]
    address: str


@dataclass(frozen=True)
class Threshold:
    """What asking for some certainty costs and gains."""

    certainty: float
    filed: float  # share of documents
    correct: float | None  # expected share of those that are right


@dataclass(frozen=True)
class CategoriesPage:
    """Categories, their quality, and the documents of one of them."""

    sentence: str
    learned: bool
    rows: tuple[CategoryRow, ...]
    thresholds: tuple[Threshold, ...]
    label: str
    documents: tuple[DocumentLine, ...]
    certainty: tuple[float, ...]
    paging: Paging | None
    command: str


@dataclass(frozen=True)
class _Told:
    """What the model of the labels says of documents."""

    rows: Any
    labels: Any  # numbers of names
    certainty: Any
    names: list[str]


def load(view: View, ask: Ask) -> CategoriesPage:
    """Fill the page."""
    folder = view.collection.folder.shown
    labelled = view.remembered("label counts", view.collection.documents.label_counts)
    categories = view.collection.categories
    if categories is None or categories.several:
        rows = tuple(
            CategoryRow(label, size, None, None, (), addresses.labelled(label))
            for label, size in sorted(labelled.items(), key=lambda one: (-one[1], one[0]))
        )
        said = "Documents may have several of them." if categories is not None else "Nothing was learned from them yet."
        sentence = f"{counted(len(rows), 'label')} came with the documents. {said}" if rows else "There are no labels."
        command = "" if categories is not None else f"topiarist learn {folder}"
        return CategoriesPage(sentence, categories is not None, rows, (), "", (), (), None, command)
    told = view.remembered("categories", lambda: _told(view, categories))
    documents, certainty, pages = _documents(view, told, ask)
    return CategoriesPage(
        _sentence(view, told), True, _rows(view, told, labelled),
        tuple(_threshold(told, rho) for rho in RHOS), ask.label, documents, certainty, pages, "",
    )  # fmt: skip


def _told(view: View, categories: Any) -> _Told:
    names = [str(name) for name in categories.model.classes_]
    step = max(1, -(-view.n_docs // JUDGED))
    rows = np.arange(0, view.n_docs, step)
    labels, certainty = np.empty(len(rows), np.int64), np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        found = categories.model.predict_proba(view.collection.counts[rows[start : start + BLOCK]])
        labels[start : start + BLOCK], certainty[start : start + BLOCK] = found.argmax(axis=1), found.max(axis=1)
    return _Told(rows, labels, certainty, names)


def _sentence(view: View, told: _Told) -> str:
    entry = next(iter(log.history(view.collection.generation.database, kind=LEARN, limit=1)), None)
    quality = ""
    if entry is not None and entry.body.get("accuracy") is not None:
        quality = (
            f" Of {entry.body['n_held_out']:,} documents that it had not seen, {entry.body['accuracy']:.0%} got "
            "their label."
        )
    some = "" if len(told.rows) == view.n_docs else f" Judged by {len(told.rows):,} of {view.n_docs:,} documents."
    return f"{counted(len(told.names), 'category', 'categories')} were learned from labels.{quality}{some}"


def _rows(view: View, told: _Told, labelled: dict[str, int]) -> tuple[CategoryRow, ...]:
    number = {name: place for place, name in enumerate(told.names)}
    place = {int(row): at for at, row in enumerate(told.rows)}
    pairs = Counter(
        (number[label], int(told.labels[place[row]]))
        for row, label in labels_by_row(view) if row in place and label in number
    )  # fmt: skip
    given: Counter[int] = Counter()
    for (label, _), times in pairs.items():
        given[label] += times
    filed = np.bincount(told.labels, minlength=len(told.names))
    found = []
    for name, label in sorted(number.items(), key=lambda one: (-labelled.get(one[0], 0), one[0])):
        wrong = Counter({other: times for (own, other), times in pairs.items() if own == label and other != label})
        confused = tuple(
            Choice(f"{told.names[other]} ({times:,})", addresses.category(told.names[other]), False)
            for other, times in wrong.most_common(CONFUSED)
        )
        agreement = pairs[label, label] / given[label] if given[label] else None
        found.append(
            CategoryRow(name, labelled.get(name, 0), int(filed[label]), agreement, confused, addresses.category(name))
        )
    return tuple(found)


def _threshold(told: _Told, rho: float) -> Threshold:
    sure = told.certainty >= rho
    return Threshold(rho, float(sure.mean()), float(told.certainty[sure].mean()) if sure.any() else None)


def _documents(view: View, told: _Told, ask: Ask) -> tuple[tuple[DocumentLine, ...], tuple[float, ...], Paging | None]:
    """The documents filed under a category, the least certain first."""
    if ask.label not in told.names:
        return (), (), None
    places = np.flatnonzero(told.labels == told.names.index(ask.label))
    places = places[np.argsort(told.certainty[places], kind="stable")]
    pages = paging(len(places), ask.page, lambda page: addresses.category(ask.label, page=page if page > 1 else None))
    chosen = places[pages.start : pages.last]
    lines = document_lines(view, told.rows[chosen].tolist(), lambda id, _: addresses.document(id))
    return lines, tuple(float(told.certainty[at]) for at in chosen), pages
