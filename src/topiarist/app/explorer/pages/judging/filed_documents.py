"""The documents of a category, to be judged: the least certain first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, DocumentLine, Paging, choices, document_lines, paging, titled
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, Share, all_worded, worded
from topiarist.collection import (
    ACCEPT,
    BACK,
    LEAVE,
    LEFT,
    MOVE,
    FiledRows,
    Filing,
    Judgement,
    Judgements,
    answers,
    confused_with,
    filed_under,
    left_over,
)

LIKELY = 5
SHOWS = {"open": "not judged yet", "bare": "without a label", "all": "all"}
SAID = {ACCEPT: "accepted", MOVE: "moved", LEAVE: "left as it is", BACK: "taken back"}


@dataclass(frozen=True)
class Chip:
    """A label of a document: how certain it is, whether it has it, and whether the model tells it."""

    label: str
    certainty: float | None
    has: bool
    told: bool


@dataclass(frozen=True)
class Rung:
    """A heading or a category on the way down to one, and whether the document is filed here."""

    name: str
    certainty: float
    here: bool


@dataclass(frozen=True, kw_only=True)
class FiledDocument:
    """A document, where it is filed and how certain that is; what somebody said of it, if anybody did."""

    line: DocumentLine
    certainty: float
    path: tuple[Rung, ...]  # headings from the top, and the category; of one label
    label: str  # that accepting it gives
    chips: tuple[Chip, ...]  # of several labels
    likely: tuple[str, ...]  # other categories, the likeliest first
    judged: str
    number: int  # of the judgement that was made last


@dataclass(frozen=True, kw_only=True)
class FiledList:
    """Documents of a category, of a heading, of a pair that was confused, or that are left for a person."""

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
    """What was judged just now, and how to take it back."""

    said: str
    document: str
    address: str
    number: int
    back: bool


def filed_list(view: View, made: Filing, ask: Any, rho: float) -> FiledList | None:
    """The documents that were asked for; None if there is no such category."""
    names, note = made.categories.names, ""
    if ask.left:
        title, chosen = worded("Left for a person"), left_over(made, rho)
    elif ask.labelled in names and ask.label in names:
        title = worded("Labelled {label}, but told {other}", label=ask.labelled, other=ask.label)
        chosen = confused_with(made, ask.labelled, ask.label)
        note = worded("So it was while their labels were held out; the model has learned from them since.")
        note = worded("The model has learned from them.") if made.seen else note
    else:
        found = filed_under(made, ask.label, rho)
        if found is None:
            return None
        chosen = found
        title = worded("Filed under {label}", label=ask.label)
        if chosen.label is None:
            title = worded("Filed under {label}, no deeper", label=ask.label[:-1])
    open_ones = chosen.without(judged_rows(view))
    hidden = len(chosen.rows) - len(open_ones.rows)
    listed = {"all": chosen, "open": open_ones}.get(ask.show) or open_ones.without(labelled_rows(view))

    def at(page: int = 1, show: str = ask.show) -> str:
        values: dict[str, Any] = {"rho": rho or None, "show": show if show != "open" else None}
        values["page"] = page if page > 1 else None
        if ask.left:
            return addresses.unfiled(**values)
        return addresses.category(ask.label, labelled=ask.labelled, **values)

    number = len(listed.rows)
    pages = paging(number, ask.page, at)
    documents = Counted(number, "document")
    said = worded("{documents}, the least certain first.", documents=documents)
    if rho and not note:
        sure, such = Share(rho), Counted(number, "document that is", "documents that are")
        said = worded("{documents} at least {share} certain, the least certain first.", documents=such, share=sure)
        if ask.left:
            said = worded("{documents} nowhere {share} certain, the least certain first.", documents=such, share=sure)
    if hidden and ask.show != "all":
        said += worded(" {number} judged.", number=Counted(hidden, "more was", "more were"))
    return FiledList(
        title=title,
        sentence=f"{said} {note}" if note and number else said,
        documents=_documents(view, made, listed.part(pages.start, pages.last)),
        paging=pages,
        shows=choices(all_worded(SHOWS), ask.show, lambda show: at(show=show)),
        hidden=hidden,
        all=len(chosen.rows),
        back=addresses.categories(rho or None),
    )


def judged_rows(view: View) -> list[int]:
    """The documents that somebody has judged; asked again only after somebody has judged another."""
    judgements = Judgements(view.collection.generation.database)
    known: dict[int, list[int]] = view.remembered("judged", dict)
    number = judgements.last_number()
    if number not in known:
        found = [one.row for one in judgements.holding()]
        known.clear()
        known[number] = found
    return known[number]


def labelled_rows(view: View) -> list[int]:
    """The documents that have a label; asked again after somebody has judged one."""
    number = Judgements(view.collection.generation.database).last_number()
    return view.remembered(("labelled rows", number), view.collection.documents.labelled_rows)


def done_of(view: View, number: int | None) -> Done | None:
    """A judgement in words; it can be taken back while it is the last of its document."""
    judgements = Judgements(view.collection.generation.database)
    one = judgements.get(number) if number else None
    if one is None:
        return None
    document = view.collection.documents.many([one.row], texts=False)[0]
    last = judgements.of([one.row])[one.row]
    title = titled(document.title, document.id)
    labels = ", ".join(one.after) or worded("no label")
    said = worded("“{title}” has now: {labels}.", title=title, labels=labels)
    if one.kind == LEAVE:
        said = worded("“{title}” stays as it is: {labels}.", title=title, labels=labels)
    return Done(
        said, document.id, addresses.document(document.id), one.number, last.number == one.number and one.kind != BACK
    )


def _documents(view: View, made: Filing, filed: FiledRows) -> tuple[FiledDocument, ...]:
    rows, names = filed.rows.tolist(), made.categories.names
    lines = document_lines(view, rows, lambda id, _: addresses.document(id)) if rows else ()
    judged = Judgements(view.collection.generation.database).of(rows)
    found = zip(rows, lines, filed.certainty.tolist(), answers(view.collection, made, filed, LIKELY), strict=True)
    return tuple(
        FiledDocument(
            line=line,
            certainty=certainty,
            path=tuple(Rung(name, sure, full == _filed(made, filed)) for full, name, sure in answer.path),
            label=names[answer.label],
            chips=_chips(answer.certain, line.labels) if made.categories.several else (),
            likely=answer.likely,
            judged=_said(judged.get(row)),
            number=judged[row].number if row in judged else 0,
        )
        for row, line, certainty, answer in found
    )


def _filed(made: Filing, filed: FiledRows) -> str:
    """The name of the category or heading where documents are filed."""
    if filed.label is not None:
        return made.categories.names[filed.label]
    return made.categories.headings.names[filed.level][filed.group] if filed.level != LEFT else ""


def _chips(known: dict[str, float], has: Sequence[str]) -> tuple[Chip, ...]:
    """The labels that a document has, and those that the model tells, the most certain first."""
    every = sorted({*known, *has}, key=lambda name: (-known.get(name, -1.0), name))
    return tuple(Chip(name, known.get(name), name in has, name in known) for name in every)


def _said(one: Judgement | None) -> str:
    return "" if one is None or one.kind == BACK else worded(SAID[one.kind])
