"""Where do new documents go, and is the filing good?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.judging.filed_documents import Done, FiledList, done_of, filed_list
from topiarist.app.explorer.values import Choice, link
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, language, worded
from topiarist.app.languages.locales import LOCALES
from topiarist.app.words import whole_percent
from topiarist.collection import (
    STEPS,
    Categories,
    Filing,
    Judgements,
    category_figures,
    documents_by_level,
    filing,
    headings_at,
)

CONFUSED = 3
MANY = 300  # categories; more are typed, not chosen from a list


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    label: Annotated[str, Query(max_length=1_000, description="the documents filed under this category or heading")] = (
        ""
    )
    labelled: Annotated[
        str, Query(max_length=1_000, description="of these, held-out documents that have this label instead")
    ] = ""
    left: Annotated[bool, Query(description="the documents that are certain enough nowhere")] = False
    rho: Annotated[float, Query(ge=0, le=0.99, description="how certain a document has to be at a category")] = 0.0
    show: Annotated[
        Literal["open", "bare", "all"], Query(description="what nobody has judged, of these what has no label, or all")
    ] = "open"
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1
    done: Annotated[int | None, Query(ge=0, le=2**53, description="the judgement that was made last")] = None


@dataclass(frozen=True, kw_only=True)
class CategoryRow:
    """A category: how many documents have it and are filed under it, and how far both agree.

    ``agreement``: of the documents that have it, the share that got it. ``precision``: of those that got it, the share
    that has it. Both of held-out documents, ``held_out`` of which have it.
    """

    label: str
    labelled: int
    filed: int | None
    held_out: int
    agreement: float | None
    precision: float | None
    confused: tuple[Choice, ...]
    address: str


@dataclass(frozen=True)
class Threshold:
    """What asking for some certainty costs and gains: shares of the documents by which the model is judged."""

    certainty: float
    filed: float  # at a category
    correct: float | None  # of those
    above: tuple[float, ...]  # filed at headings, from the level next to the categories up
    left: float  # filed nowhere


@dataclass(frozen=True)
class PlaceRow:
    """Where documents are filed at the chosen certainty: at a category, at headings of a level, or nowhere."""

    name: str
    share: float
    correct: float | None
    documents: int  # of the collection
    headings: tuple[Choice, ...]
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class CategoriesPage:
    """Categories, their quality, and the documents of one of them."""

    sentence: str
    learned: bool
    several: bool
    seen: bool  # judged by documents whose labels the model has seen
    notes: tuple[str, ...]
    rows: tuple[CategoryRow, ...]
    thresholds: tuple[Threshold, ...]
    chosen: Threshold | None
    places: tuple[PlaceRow, ...]
    label: str
    filed: FiledList | None
    options: tuple[str, ...]
    typed: bool  # options are too many for a list to choose from
    done: Done | None
    command: str


def load(view: View, ask: Ask) -> CategoriesPage:
    """Fill the page."""
    categories, first, now = view.collection.categories, *label_counts(view)
    if categories is None:
        return _not_learned(view, first, now)
    made, rho = filing(view.collection, categories), round(ask.rho, 2)
    listed = filed_list(view, made, ask, rho)
    every = () if listed else tuple(_threshold(made, step) for step in range(STEPS))
    found = None if listed else every[round(rho * STEPS)]
    names = tuple(sorted(set(categories.names) | set(now)))
    return CategoriesPage(
        sentence=listed.sentence if listed else _sentence(categories, made),
        learned=True,
        several=categories.several,
        seen=made.seen,
        notes=_notes(view, made),
        rows=() if listed else _rows(made, _labelled(view, made, now), first, rho),
        thresholds=every,
        chosen=found,
        places=() if found is None else _places(made, rho),
        label=ask.label,
        filed=listed,
        options=names if listed else (),
        typed=len(names) > MANY,
        done=done_of(view, ask.done),
        command="",
    )


def _not_learned(view: View, first: Counter[str], now: Counter[str]) -> CategoriesPage:
    rows = tuple(
        CategoryRow(
            label=label,
            labelled=now[label],
            filed=None,
            held_out=0,
            agreement=None,
            precision=None,
            confused=(),
            address=addresses.labelled(label),
        )
        for label in sorted(now, key=lambda name: (-first[name], name))
        if now[label]
    )
    told = worded(
        "{labels} came with the documents. Nothing was learned from them yet.", labels=Counted(len(rows), "label")
    )
    return CategoriesPage(
        sentence=told if rows else worded("There are no labels."),
        learned=False,
        several=False,
        seen=False,
        notes=(),
        rows=rows,
        thresholds=(),
        chosen=None,
        places=(),
        label="",
        filed=None,
        options=(),
        typed=False,
        done=None,
        command=" ".join(("topiarist", "learn", str(view.collection.folder.shown))),
    )


def label_counts(view: View) -> tuple[Counter[str], Counter[str]]:
    """Documents of each label: when this state was first looked at, and now; people may have judged some since."""
    database = view.collection.generation.database
    judgements = Judgements(database)

    def counts() -> tuple[int, Counter[str]]:
        with database.snapshot():
            return judgements.last_number(), Counter(view.collection.documents.label_counts())

    number, first = view.remembered("label counts", counts)
    return first, judgements.counted(first, number)


def _labelled(view: View, made: Filing, now: Counter[str]) -> dict[str, int]:
    """Documents of each category; those of a table that was learned from are not kept with the documents."""
    names, basis = made.categories.names, made.basis
    if not basis.by_table[0]:
        return {name: now[name] for name in names}
    known = Counter(dict(zip(names, basis.labelled.tolist(), strict=True)))
    now = Judgements(view.collection.generation.database).counted(known, int(basis.judged[0]))
    return {name: now[name] for name in names}


def _sentence(categories: Categories, made: Filing) -> str:
    n, basis = Counted(len(categories.names), "category", "categories"), made.basis
    if not len(basis.rows):
        return worded(
            "{categories} were learned from labels. No document has one of them now: how good they are cannot be said.",
            categories=n,
        )
    number = Counted(len(basis.rows), "document")
    documents = worded("{documents} whose labels it had not seen", documents=number)
    if made.seen:
        documents = worded("{documents} that it has seen", documents=number)
    signs = LOCALES[language()].signs
    if not categories.several:
        return worded(
            "{categories} were learned from labels. Of {documents}, {share} got their label.",
            categories=n, documents=documents, share=signs(whole_percent(basis.exact())),
        )  # fmt: skip
    return worded(
        "{categories} were learned from labels; a document may have several. Of the labels that {documents} got, "
        "{right} are right; of those that they have, {found} were found.",
        categories=n, documents=documents, right=signs(whole_percent(float(basis.told_right.mean()))),
        found=signs(whole_percent(float(basis.right_told.mean()))),
    )  # fmt: skip


def _notes(view: View, made: Filing) -> tuple[str, ...]:
    found = []
    if made.seen:
        found.append(
            worded(
                "Agreement is that on documents that it has seen, so that it looks better than it is. Learn the "
                "categories again to have documents held out."
            )
        )
    if len(made.rows) < view.n_docs:
        found.append(
            worded(
                "Filed documents are counted among {number} of all {all}, spread evenly.",
                number=len(made.rows),
                all=view.n_docs,
            )
        )
    if not made.categories.several and not made.basis.by_table[0] and _has_several(view):
        found.append(worded("Where a document has several labels, its first one was learned, and is judged."))
    if made.categories.several:
        found.append(
            worded(
                "The percentage of a label says how many labels were right that the model gave as clearly to "
                "documents it has seen."
                if made.seen
                else "The percentage of a label says how many labels were right that the model gave as clearly to "
                "held-out documents."
            )
        )
    if made.categories.reason:
        found.append(worded("How they were learned: {reason}", reason=made.categories.reason))
    return tuple(found)


def _has_several(view: View) -> bool:
    """Whether any document has more than one label."""
    number = Judgements(view.collection.generation.database).last_number()
    return view.remembered(("several labels", number), lambda: view.collection.documents.has_labels(several=True))


def _rows(made: Filing, labelled: dict[str, int], first: Counter[str], rho: float) -> tuple[CategoryRow, ...]:
    figures = dict(zip(made.categories.names, category_figures(made, rho, CONFUSED), strict=True))
    return tuple(
        CategoryRow(
            label=name,
            labelled=labelled[name],
            filed=figures[name].filed,
            held_out=figures[name].held_out,
            agreement=figures[name].agreement,
            precision=figures[name].precision,
            confused=tuple(
                link(f"{other} ({number:,})", addresses.category(other, labelled=name))
                for other, number in figures[name].confused
            ),
            address=addresses.category(name, rho=rho or None),
        )
        for name in sorted(figures, key=lambda name: (-max(first[name], labelled[name]), name))
    )


def _threshold(made: Filing, step: int) -> Threshold:
    at, *above, left = made.curve[step]
    return Threshold(step / STEPS, at.share, at.correct, tuple(level.share for level in above), left.share)


def _places(made: Filing, rho: float) -> tuple[PlaceRow, ...]:
    levels, (here, left) = made.curve[round(rho * STEPS)], documents_by_level(made, rho)
    found = [PlaceRow(worded("at a category"), levels[0].share, levels[0].correct, here, ())]
    above = list(headings_at(made, rho))
    for place, (level, headings) in enumerate(above, 1):
        name = worded("under a heading")
        if len(above) > 1:
            name = worded("under a heading of level {level}", level=level + 1)
        choices = tuple(
            link(f"{heading[:-1]} ({number:,})", addresses.category(heading, rho=rho or None))
            for heading, number in headings
        )
        share, correct = levels[place].share, levels[place].correct
        found.append(PlaceRow(name, share, correct, sum(number for _, number in headings), choices))
    found.append(PlaceRow(worded("left for a person"), levels[-1].share, None, left, (), addresses.unfiled(rho)))
    return tuple(found)
