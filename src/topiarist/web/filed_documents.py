"""The documents of a category, to be judged: the least certain first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topiarist.collection.classify.filing import (
    UNFILED,
    FiledRows,
    Filing,
    explain_filing,
    list_confused_documents,
    list_filed_documents,
    list_unassigned_documents,
)
from topiarist.collection.classify.judgements import ACCEPT, LEAVE, MOVE, TAKE_BACK, Judgement
from topiarist.display.locale.catalogues import CountedNoun, Share, translate, translate_table
from topiarist.web import addresses
from topiarist.web.values import Choice, DocumentLine, Paging, choices, display_title, document_lines, paging
from topiarist.web.view import View

MAX_LIKELY = 5
SHOWS = {"open": "not judged yet", "bare": "without a label", "all": "all"}
JUDGEMENT_TEXTS = {ACCEPT: "accepted", MOVE: "moved", LEAVE: "unchanged", TAKE_BACK: "undone"}


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


def filed_list(view: View, filing: Filing, ask: Any, rho: float) -> FiledList | None:
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
    pages = paging(number, ask.page, at)
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
        documents=_documents(view, filing, listed_rows.part(pages.start, pages.last)),
        paging=pages,
        shows=choices(translate_table(SHOWS), ask.show, lambda show: at(show=show)),
        hidden=hidden,
        all=len(selected_rows.rows),
        back=addresses.categories(rho or None),
    )


def done_of(view: View, number: int | None) -> Done | None:
    """Return the last judgement as a sentence; it can be undone while it is the last of its document."""
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


def _documents(view: View, filing: Filing, filed_rows: FiledRows) -> tuple[FiledDocument, ...]:
    rows, names = filed_rows.rows.tolist(), filing.categories.names
    lines = document_lines(view, rows, lambda id, _: addresses.document(id)) if rows else ()
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
            chips=_chips(answer.certain, line.labels) if filing.categories.is_multilabel else (),
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


def _chips(certainties: dict[str, float], has: Sequence[str]) -> tuple[Chip, ...]:
    names = sorted({*certainties, *has}, key=lambda name: (-certainties.get(name, -1.0), name))
    return tuple(Chip(name, certainties.get(name), name in has, name in certainties) for name in names)


def _describe_judgement(judgement: Judgement | None) -> str:
    return "" if judgement is None or judgement.kind == TAKE_BACK else translate(JUDGEMENT_TEXTS[judgement.kind])
