"""Categories with their quality and their documents."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.collection.classify.filing import (
    STEPS,
    UNFILED,
    CategoryFigures,
    FiledRows,
    Filing,
    compute_category_figures,
    count_filed_documents,
    explain_filing,
    iter_heading_sizes,
    list_confused_documents,
    list_filed_documents,
    list_unassigned_documents,
    load_filing,
)
from topiarist.collection.classify.judgements import ACCEPT, LEAVE, MOVE, TAKE_BACK, Judgement
from topiarist.collection.classify.learning import DEFAULT_HOLDOUT, TABLE, load_last_settings
from topiarist.collection.classify.predictions import Categories, compute_accuracy_interval
from topiarist.display.formats import whole_percent
from topiarist.display.locale.catalogues import (
    CountedNoun,
    Share,
    current_language,
    share_between,
    translate,
    translate_table,
)
from topiarist.display.locale.locales import LOCALES
from topiarist.web import addresses
from topiarist.web.pages.compare import LabelColumnLine, list_label_column_lines
from topiarist.web.values import (
    Choice,
    DocumentLine,
    Paging,
    build_document_lines,
    build_paging,
    choices,
    display_title,
    link,
)
from topiarist.web.view import View

MAX_CONFUSED = 3
MAX_LIKELY = 5
SHOWS = {"open": "not judged yet", "bare": "without a label", "all": "all"}
JUDGEMENT_TEXTS = {ACCEPT: "accepted", MOVE: "moved", LEAVE: "unchanged", TAKE_BACK: "undone"}
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


@dataclass(frozen=True)
class Chip:
    """Label of a document, given or predicted."""

    label: str
    certainty: float | None
    has: bool
    told: bool


@dataclass(frozen=True)
class HierarchyStep:
    """Heading or category on the path of a document."""

    name: str
    certainty: float
    here: bool


@dataclass(frozen=True, kw_only=True)
class FiledDocument:
    """Document with its category, certainty and judgement."""

    line: DocumentLine
    certainty: float
    path: tuple[HierarchyStep, ...]  # headings from the top, and the category; of one label
    label: str  # that accepting it gives
    chips: tuple[Chip, ...]  # of several labels
    likely: tuple[str, ...]  # other categories, the likeliest first
    judged: str
    number: int  # of the judgement that was made last


@dataclass(frozen=True, kw_only=True)
class FiledList:
    """Documents of a category, a heading or a confused pair, or unassigned documents."""

    title: str
    sentence: str
    documents: tuple[FiledDocument, ...]
    paging: Paging
    shows: tuple[Choice, ...]
    hidden: int  # that somebody has judged
    all: int
    back: str


@dataclass(frozen=True)
class Done:
    """Judgement that was made last, with the address that takes it back."""

    said: str
    document: str
    address: str
    number: int
    back: bool


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
    learned_from: str = ""  # column; empty: labels of documents
    columns: tuple[LabelColumnLine, ...] = ()  # that can be learned from, where there are no labels


def load(view: View, ask: Ask) -> CategoriesPage:
    """Return the page; without learned categories, only labels and columns to learn from."""
    categories, first, now = view.collection.categories, *label_counts(view)
    if categories is None:
        return _build_untrained_page(view, first, now)
    value, rho = load_filing(view.collection, categories), round(ask.rho, 2)
    documents = load_filed_list(view, value, ask, rho)
    thresholds = () if documents else tuple(_build_threshold(value, step) for step in range(STEPS))
    result = None if documents else thresholds[round(rho * STEPS)]
    settings = load_last_settings(view.collection)
    names = tuple(sorted(set(categories.names) | set(now)))
    return CategoriesPage(
        sentence=documents.sentence if documents else _write_sentence(categories, value),
        learned=True,
        several=categories.is_multilabel,
        seen=value.is_training_data,
        notes=_list_notes(view, value),
        rows=() if documents else _list_rows(value, _count_labels(view, value, now), first, rho),
        thresholds=thresholds,
        chosen=result,
        places=() if result is None else _list_places(value, rho),
        label=ask.label,
        filed=documents,
        options=names if documents else (),
        typed=len(names) > MAX_LISTED_CATEGORIES,
        done=describe_last_judgement(view, ask.done),
        command="" if documents or not settings.get(TABLE) else _write_table_command(view, settings),
        learned_from=settings.get("column", ""),
    )


def _build_untrained_page(view: View, first: Counter[str], now: Counter[str]) -> CategoriesPage:
    """Return the page of a collection without learned categories."""
    rows = tuple(
        CategoryRow(
            label=label,
            labelled=now[label],
            address=addresses.labelled_documents(label),
        )
        for label in sorted(now, key=lambda name: (-first[name], name))
        if now[label]
    )
    columns = () if rows else list_label_column_lines(view)
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


def _write_table_command(view: View, settings: Mapping[str, Any]) -> str:
    """Return the command that learns from a table again with the same settings."""
    parts = ["topiarist", "learn", shlex.quote(view.collection.folder.display_path), "--labels", "FILE"]
    if settings["separator"]:
        parts += ["--separator", shlex.quote(settings["separator"])]
    if settings["several"] is not None:
        parts.append("--several" if settings["several"] else "--single")
    if settings["holdout"] != DEFAULT_HOLDOUT:
        parts += ["--holdout", str(settings["holdout"])]
    if settings["unlabelled_weight"] is not None:
        parts += ["--unlabelled-weight", str(settings["unlabelled_weight"])]
    return " ".join(parts)


def label_counts(view: View) -> tuple[Counter[str], Counter[str]]:
    """Return the number of documents of each label, when the state was opened and now."""
    judgements = view.judgements

    def counts() -> tuple[int, Counter[str]]:
        with view.collection.generation.database.snapshot():
            return judgements.last_number(), Counter(view.collection.documents.label_counts())

    number, first = view.remembered("label counts", counts)
    return first, judgements.update_counts(first, number)


def _count_labels(view: View, filing: Filing, now: Counter[str]) -> dict[str, int]:
    """Return the number of labelled documents of each category, with judgements since learning."""
    names, basis = filing.categories.names, filing.basis
    if not basis.by_table[0]:
        return {name: now[name] for name in names}
    counts = Counter(dict(zip(names, basis.labelled.tolist(), strict=True)))
    now = view.judgements.update_counts(counts, int(basis.judged[0]))
    return {name: now[name] for name in names}


def _write_sentence(categories: Categories, filing: Filing) -> str:
    """Return the number of categories and their accuracy on test documents in words."""
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
        interval = compute_accuracy_interval(accuracy := basis.exact(), len(basis.rows))
        share = signs(whole_percent(accuracy)) if interval is None else share_between(accuracy, *interval)
        return translate(
            "{categories} learned. Tested on {documents}: accuracy {share}.",
            categories=n, documents=documents, share=share,
        )  # fmt: skip
    return translate(
        "{categories} learned. Tested on {documents}: precision {right}, recall {found}.",
        categories=n, documents=documents, right=signs(whole_percent(float(basis.is_correct.mean()))),
        found=signs(whole_percent(float(basis.is_found.mean()))),
    )  # fmt: skip


def _list_notes(view: View, filing: Filing) -> tuple[str, ...]:
    """Return notes on the limits of the test and of the counts."""
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


def _list_rows(
    filing: Filing, label_counts: dict[str, int], first: Counter[str], rho: float
) -> tuple[CategoryRow, ...]:
    """Return the categories with quality and links, the most frequent label first."""
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


def _build_threshold(filing: Filing, step: int) -> Threshold:
    at, *higher_shares, left = filing.curve[step]
    return Threshold(step / STEPS, at.share, at.correct, tuple(level.share for level in higher_shares), left.share)


def _list_places(filing: Filing, rho: float) -> tuple[PlaceRow, ...]:
    """Return the share of documents at categories, headings and unfiled at certainty ``rho``."""
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


def load_filed_list(view: View, filing: Filing, ask: Ask, rho: float) -> FiledList | None:
    """Return the requested list of documents, least certain first; None if no list is requested."""
    names, note = filing.categories.names, ""
    if ask.left:
        title, selected_rows = translate("Unfiled documents"), list_unassigned_documents(filing, rho)
    elif ask.labelled in names and ask.label in names:
        title = translate("Labelled {label}, predicted {other}", label=ask.labelled, other=ask.label)
        selected_rows = list_confused_documents(filing, ask.labelled, ask.label)
        note = translate("Predicted while held out. The model has learned from them since.")
        note = translate("These are training documents.") if filing.is_training_data else note
    else:
        result = list_filed_documents(filing, ask.label, rho)
        if result is None:
            return None
        selected_rows = result
        title = translate("Filed under {label}", label=ask.label)
        if selected_rows.label is None:
            title = translate("Filed under {label} only", label=ask.label[:-1])
    judged_rows = view.remember_labels("judged", lambda: [item.row for item in view.judgements.list_current()])
    open_ones = selected_rows.exclude(judged_rows)
    hidden = len(selected_rows.rows) - len(open_ones.rows)
    listed_rows = {"all": selected_rows, "open": open_ones}.get(ask.show) or open_ones.exclude(
        view.remember_labels("labelled rows", view.collection.documents.labelled_rows)
    )

    def at(page: int = 1, show: str = ask.show) -> str:
        values: dict[str, Any] = {"rho": rho or None, "show": show if show != "open" else None}
        values["page"] = page if page > 1 else None
        if ask.left:
            return addresses.unfiled_documents(**values)
        return addresses.category(ask.label, labelled=ask.labelled, **values)

    number = len(listed_rows.rows)
    pages = build_paging(number, ask.page, at)
    documents = CountedNoun(number, "document")
    text = translate("{documents}, least certain first.", documents=documents)
    if rho and not note:
        certainty, counted_documents = Share(rho), CountedNoun(number, "document", "documents")
        text = translate(
            "{documents} with at least {share} certainty, least certain first.",
            documents=counted_documents,
            share=certainty,
        )
        if ask.left:
            text = translate(
                "{documents} below {share} certainty, least certain first.",
                documents=counted_documents,
                share=certainty,
            )
    if hidden and ask.show != "all":
        text += translate(" {number} judged.", number=CountedNoun(hidden, "more was", "more were"))
    return FiledList(
        title=title,
        sentence=f"{text} {note}" if note and number else text,
        documents=_load_documents(view, filing, listed_rows.part(pages.start, pages.last)),
        paging=pages,
        shows=choices(translate_table(SHOWS), ask.show, lambda show: at(show=show)),
        hidden=hidden,
        all=len(selected_rows.rows),
        back=addresses.categories(rho or None),
    )


def describe_last_judgement(view: View, number: int | None) -> Done | None:
    """Return the last judgement as a sentence, and whether it can be undone; None without one."""
    item = view.judgements.get(number) if number else None
    if item is None:
        return None
    document = view.collection.documents.load_many([item.row], texts=False)[0]
    last = view.judgements.of([item.row])[item.row]
    title = display_title(document.title, document.id)
    labels = ", ".join(item.after) or translate("no label")
    text = translate("Labels of “{title}”: {labels}.", title=title, labels=labels)
    if item.kind == LEAVE:
        text = translate("Unchanged labels of “{title}”: {labels}.", title=title, labels=labels)
    return Done(
        text,
        document.id,
        addresses.document(document.id),
        item.number,
        last.number == item.number and item.kind != TAKE_BACK,
    )


def _load_documents(view: View, filing: Filing, filed_rows: FiledRows) -> tuple[FiledDocument, ...]:
    """Return the documents of a list with path, label, certainty and judgement."""
    rows, names = filed_rows.rows.tolist(), filing.categories.names
    lines = build_document_lines(view, rows, lambda id, _: addresses.document(id)) if rows else ()
    judgements = view.judgements.of(rows)
    result = zip(
        rows,
        lines,
        filed_rows.certainty.tolist(),
        explain_filing(view.collection, filing, filed_rows, MAX_LIKELY),
        strict=True,
    )
    return tuple(
        FiledDocument(
            line=line,
            certainty=certainty,
            path=tuple(
                HierarchyStep(name, sure, full == _describe_filing(filing, filed_rows))
                for full, name, sure in answer.path
            ),
            label=names[answer.label],
            chips=_build_chips(answer.certain, line.labels) if filing.categories.is_multilabel else (),
            likely=answer.alternatives,
            judged=_describe_judgement(judgements.get(row)),
            number=judgements[row].number if row in judgements else 0,
        )
        for row, line, certainty, answer in result
    )


def _describe_filing(filing: Filing, filed_rows: FiledRows) -> str:
    if filed_rows.label is not None:
        return filing.categories.names[filed_rows.label]
    return filing.categories.headings.names[filed_rows.level][filed_rows.group] if filed_rows.level != UNFILED else ""


def _build_chips(certainties: dict[str, float], has: Sequence[str]) -> tuple[Chip, ...]:
    names = sorted({*certainties, *has}, key=lambda name: (-certainties.get(name, -1.0), name))
    return tuple(Chip(name, certainties.get(name), name in has, name in certainties) for name in names)


def _describe_judgement(judgement: Judgement | None) -> str:
    return "" if judgement is None or judgement.kind == TAKE_BACK else translate(JUDGEMENT_TEXTS[judgement.kind])
