"""Categories with their quality and their documents."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query

from topiarist.collection.classify.filing import (
    STEPS,
    CategoryFigures,
    Filing,
    compute_category_figures,
    count_filed_documents,
    iter_heading_sizes,
    load_filing,
)
from topiarist.collection.classify.predictions import Categories
from topiarist.display.formats import whole_percent
from topiarist.display.locale.catalogues import CountedNoun, current_language, translate
from topiarist.display.locale.locales import LOCALES
from topiarist.web import addresses
from topiarist.web.filed_documents import Done, FiledList, done_of, filed_list
from topiarist.web.pages.compare import LabelColumnLine, label_column_lines
from topiarist.web.values import Choice, link
from topiarist.web.view import View

MAX_CONFUSED = 3
MAX_LISTED_CATEGORIES = 300  # categories; more are typed, not chosen from a list


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    label: Annotated[str, Query(max_length=1_000, description="the documents filed under this category or heading")] = (
        ""
    )
    labelled: Annotated[
        str, Query(max_length=1_000, description="held-out documents of the label with this true label")
    ] = ""
    left: Annotated[bool, Query(description="documents without a certain label")] = False
    rho: Annotated[float, Query(ge=0, le=0.99, description="how certain a document has to be at a category")] = 0.0
    show: Annotated[
        Literal["open", "bare", "all"],
        Query(description="unjudged documents, unjudged documents without a label, or all"),
    ] = "open"
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1
    done: Annotated[int | None, Query(ge=0, le=2**53, description="the judgement that was made last")] = None


@dataclass(frozen=True, kw_only=True)
class CategoryRow(CategoryFigures):
    """A category, with the number of documents that have its label, and links."""

    label: str
    labelled: int
    confused: tuple[Choice, ...] = ()
    address: str


@dataclass(frozen=True)
class Threshold:
    """Shares of held-out documents that are filed and correct at a certainty."""

    certainty: float
    filed: float  # at a category
    correct: float | None  # of those
    above: tuple[float, ...]  # filed at headings, from the level next to the categories up
    left: float  # filed nowhere


@dataclass(frozen=True)
class PlaceRow:
    """Documents that are filed at one kind of place at the chosen certainty."""

    name: str
    share: float
    correct: float | None
    documents: int  # of the collection
    headings: tuple[Choice, ...]
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class CategoriesPage:
    """Categories with their quality, and the documents of one category."""

    sentence: str
    learned: bool
    several: bool = False
    seen: bool = False  # judged by documents whose labels the model has seen
    notes: tuple[str, ...] = ()
    rows: tuple[CategoryRow, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    chosen: Threshold | None = None
    places: tuple[PlaceRow, ...] = ()
    label: str = ""
    filed: FiledList | None = None
    options: tuple[str, ...] = ()
    typed: bool = False  # options are too many for a list to choose from
    done: Done | None = None
    command: str = ""
    columns: tuple[LabelColumnLine, ...] = ()  # that can be learned from, where there are no labels


def load(view: View, ask: Ask) -> CategoriesPage:
    categories, first, now = view.collection.categories, *label_counts(view)
    if categories is None:
        return _not_learned(view, first, now)
    value, rho = load_filing(view.collection, categories), round(ask.rho, 2)
    documents = filed_list(view, value, ask, rho)
    thresholds = () if documents else tuple(_threshold(value, step) for step in range(STEPS))
    result = None if documents else thresholds[round(rho * STEPS)]
    names = tuple(sorted(set(categories.names) | set(now)))
    return CategoriesPage(
        sentence=documents.sentence if documents else _sentence(categories, value),
        learned=True,
        several=categories.is_multilabel,
        seen=value.is_training_data,
        notes=_notes(view, value),
        rows=() if documents else _rows(value, _count_labels(view, value, now), first, rho),
        thresholds=thresholds,
        chosen=result,
        places=() if result is None else _places(value, rho),
        label=ask.label,
        filed=documents,
        options=names if documents else (),
        typed=len(names) > MAX_LISTED_CATEGORIES,
        done=done_of(view, ask.done),
    )


def _not_learned(view: View, first: Counter[str], now: Counter[str]) -> CategoriesPage:
    rows = tuple(
        CategoryRow(
            label=label,
            labelled=now[label],
            address=addresses.labelled_documents(label),
        )
        for label in sorted(now, key=lambda name: (-first[name], name))
        if now[label]
    )
    columns = () if rows else label_column_lines(view)
    learn = " ".join(("topiarist", "learn", shlex.quote(view.collection.folder.display_path)))
    values = translate(
        "The documents have {labels}. No categories are learned yet.", labels=CountedNoun(len(rows), "label")
    )
    return CategoriesPage(
        sentence=values if rows else translate("No document has a label."),
        learned=False,
        rows=rows,
        command=learn if rows else "" if columns else learn + " --labels FILE",
        columns=columns,
    )


def label_counts(view: View) -> tuple[Counter[str], Counter[str]]:
    """Return the documents of each label, when the state was opened and now."""
    judgements = view.judgements

    def counts() -> tuple[int, Counter[str]]:
        with view.collection.generation.database.snapshot():
            return judgements.last_number(), Counter(view.collection.documents.label_counts())

    number, first = view.remembered("label counts", counts)
    return first, judgements.update_counts(first, number)


def _count_labels(view: View, filing: Filing, now: Counter[str]) -> dict[str, int]:
    names, basis = filing.categories.names, filing.basis
    if not basis.by_table[0]:
        return {name: now[name] for name in names}
    counts = Counter(dict(zip(names, basis.labelled.tolist(), strict=True)))
    now = view.judgements.update_counts(counts, int(basis.judged[0]))
    return {name: now[name] for name in names}


def _sentence(categories: Categories, filing: Filing) -> str:
    n, basis = CountedNoun(len(categories.names), "category", "categories"), filing.basis
    if not len(basis.rows):
        return translate(
            "{categories} learned. No labelled documents are left for a test.",
            categories=n,
        )
    number = CountedNoun(len(basis.rows), "document")
    documents = translate("{documents} held out", documents=number)
    if filing.is_training_data:
        documents = translate("{documents} of the training set", documents=number)
    signs = LOCALES[current_language()].signs
    if not categories.is_multilabel:
        return translate(
            "{categories} learned. Tested on {documents}: accuracy {share}.",
            categories=n, documents=documents, share=signs(whole_percent(basis.exact())),
        )  # fmt: skip
    return translate(
        "{categories} learned. Tested on {documents}: precision {right}, recall {found}.",
        categories=n, documents=documents, right=signs(whole_percent(float(basis.is_correct.mean()))),
        found=signs(whole_percent(float(basis.is_found.mean()))),
    )  # fmt: skip


def _notes(view: View, filing: Filing) -> tuple[str, ...]:
    result = []
    if filing.is_training_data:
        result.append(
            translate("Agreement is measured on training documents and too high. Learn again to hold out documents.")
        )
    if len(filing.rows) < view.n_docs:
        result.append(
            translate(
                "Filed documents are counted among {number} of {all}.",
                number=len(filing.rows),
                all=view.n_docs,
            )
        )
    if not (filing.categories.is_multilabel or filing.basis.by_table[0]) and view.remember_labels(
        "several labels", lambda: view.collection.documents.has_labels(several=True)
    ):
        result.append(translate("Only the first label of a document is used."))
    if filing.categories.is_multilabel:
        result.append(
            translate(
                "Percentage: share of correct labels at this score, measured on training documents."
                if filing.is_training_data
                else "Percentage: share of correct labels at this score, measured on held-out documents."
            )
        )
    if filing.categories.reason:
        result.append(translate("How they were learned: {reason}", reason=filing.categories.reason))
    return tuple(result)


def _rows(filing: Filing, label_counts: dict[str, int], first: Counter[str], rho: float) -> tuple[CategoryRow, ...]:
    figures = dict(zip(filing.categories.names, compute_category_figures(filing, rho, MAX_CONFUSED), strict=True))
    return tuple(
        CategoryRow(
            **{
                **vars(figures[name]),
                "confused": tuple(
                    link(f"{other} ({number:,})", addresses.category(other, labelled=name))
                    for other, number in figures[name].confused
                ),
            },
            label=name,
            labelled=label_counts[name],
            address=addresses.category(name, rho=rho or None),
        )
        for name in sorted(figures, key=lambda name: (-max(first[name], label_counts[name]), name))
    )


def _threshold(filing: Filing, step: int) -> Threshold:
    at, *higher_shares, left = filing.curve[step]
    return Threshold(step / STEPS, at.share, at.correct, tuple(level.share for level in higher_shares), left.share)


def _places(filing: Filing, rho: float) -> tuple[PlaceRow, ...]:
    levels, (level_shares, left) = filing.curve[round(rho * STEPS)], count_filed_documents(filing, rho)
    result = [PlaceRow(translate("under a category"), levels[0].share, levels[0].correct, level_shares, ())]
    heading_names = list(iter_heading_sizes(filing, rho))
    for place, (level, headings) in enumerate(heading_names, 1):
        name = translate("under a heading")
        if len(heading_names) > 1:
            name = translate("under a heading of level {level}", level=level + 1)
        choices = tuple(
            link(f"{heading[:-1]} ({number:,})", addresses.category(heading, rho=rho or None))
            for heading, number in headings
        )
        share, correct = levels[place].share, levels[place].correct
        result.append(PlaceRow(name, share, correct, sum(number for _, number in headings), choices))
    result.append(PlaceRow(translate("unfiled"), levels[-1].share, None, left, (), addresses.unfiled_documents(rho)))
    return tuple(result)
