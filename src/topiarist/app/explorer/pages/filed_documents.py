"""The documents of a category, to be judged: the least certain first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.category_filing import LEFT, Filing, certainty_of
from topiarist.app.explorer.values import Choice, DocumentLine, Paging, counted, document_lines, paging, titled
from topiarist.app.explorer.view import View
from topiarist.collection.judge.judgements import ACCEPT, BACK, LEAVE, MOVE, Judgement, Judgements

Array = np.ndarray[Any, Any]
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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class _Chosen:
    """Rows with the certainty by which they are ordered, and the label that each would get, if that is known."""

    title: str
    rows: Array
    certainty: Array
    label: int | None = None
    level: int = LEFT
    group: int = -1
    note: str = ""
    asked: str = "at least"


def filed_list(view: View, made: Filing, ask: Any, rho: float) -> FiledList | None:
    """The documents that were asked for; None if there is no such category."""
    chosen = _chosen(made, ask, rho)
    if chosen is None:
        return None
    order = np.lexsort((chosen.rows, chosen.certainty.round(4)))
    rows, certainty = chosen.rows[order], chosen.certainty[order]
    judged = np.isin(rows, judged_rows(view))
    hidden, every = int(judged.sum()), len(rows)
    if ask.show != "all":
        wanted = ~judged if ask.show == "open" else ~judged & ~np.isin(rows, labelled_rows(view))
        rows, certainty = rows[wanted], certainty[wanted]

    def at(page: int = 1, show: str = ask.show) -> str:
        values: dict[str, Any] = {"rho": rho or None, "show": show if show != "open" else None}
        values["page"] = page if page > 1 else None
        if ask.left:
            return addresses.unfiled(**values)
        return addresses.category(ask.label, labelled=ask.labelled, **values)

    pages = paging(len(rows), ask.page, at)
    here = slice(pages.start, pages.last)
    shows = tuple(Choice(name, at(show=show), ask.show == show) for show, name in SHOWS.items())
    return FiledList(
        chosen.title, _sentence(chosen, rho, len(rows), 0 if ask.show == "all" else hidden),
        _documents(view, made, chosen, rows[here].tolist(), certainty[here]), pages, shows, hidden, every,
        addresses.categories(rho or None),
    )  # fmt: skip


def _sentence(chosen: _Chosen, rho: float, number: int, hidden: int) -> str:
    asked = "" if not rho or chosen.note else f" that {'is' if number == 1 else 'are'} {chosen.asked} {rho:.0%} certain"
    judged = f" {hidden:,} more {'was' if hidden == 1 else 'were'} judged." if hidden else ""
    note = f" {chosen.note}" if chosen.note and number else ""
    return f"{counted(number, 'document')}{asked}, the least certain first.{judged}{note}"


def judged_rows(view: View) -> Array:
    """The documents that somebody has judged; asked again only after somebody has judged another."""
    judgements = Judgements(view.collection.generation.database)
    known: dict[int, Array] = view.remembered("judged", dict)
    number = judgements.last_number()
    found = known.get(number)
    if found is None:
        found = np.array([one.row for one in judgements.holding()], np.int64)
        known.clear()
        known[number] = found
    return found


def labelled_rows(view: View) -> Array:
    """The documents that have a label; asked again after somebody has judged one."""
    sql = "SELECT DISTINCT row FROM labels"
    database = view.collection.generation.database
    return view.remembered(
        ("labelled rows", Judgements(database).last_number()),
        lambda: np.array([row for (row,) in database.all(sql)], np.int64),
    )


def done_of(view: View, number: int | None) -> Done | None:
    """A judgement in words; it can be taken back while it is the last of its document."""
    judgements = Judgements(view.collection.generation.database)
    one = judgements.get(number) if number else None
    if one is None:
        return None
    document = view.collection.documents.many([one.row], texts=False)[0]
    last = judgements.of([one.row])[one.row]
    title = titled(document.title, document.id, view.leads([one.row]).get(one.row, ""))
    labels = ", ".join(one.after) or "no label"
    said = f"“{title}” stays as it is: {labels}." if one.kind == LEAVE else f"“{title}” has now: {labels}."
    return Done(
        said, document.id, addresses.document(document.id), one.number, last.number == one.number and one.kind != BACK
    )


def _chosen(made: Filing, ask: Any, rho: float) -> _Chosen | None:
    names, headings = made.categories.names, made.categories.headings
    known = {name: place for place, name in enumerate(names)}
    if ask.left:
        return _left(made, rho)
    if ask.labelled in known and ask.label in known:
        found = made.basis.pair(known[ask.labelled], known[ask.label])
        rows, score = np.array([row for row, _ in found], np.int64), np.array([score for _, score in found], np.float32)
        certainty = certainty_of(made.categories, made.basis, score, score)
        note = "So it was while their labels were held out; the model has learned from them since."
        note = "The model has learned from them." if made.seen else note
        title = f"Labelled {ask.labelled}, but told {ask.label}"
        return _Chosen(title, rows, certainty, known[ask.label], note=note)
    if ask.label in known:
        here = made.filed(rho) & (made.told.label == known[ask.label])
        title = f"Filed under {ask.label}"
        return _Chosen(title, made.rows[made.told.place[here]], made.certainty[here], known[ask.label])
    if made.told.best is None:
        return None
    for level in range(headings.levels - 1):
        if ask.label in headings.names[level]:
            group = headings.names[level].index(ask.label)
            here = (made.levels_at(rho) == level) & (made.told.best[0][:, level] == group)
            title, certainty = f"Filed under {ask.label[:-1]}, no deeper", made.told.best[1][here, level]
            return _Chosen(title, made.rows[here], certainty, None, level, group)
    return None


def _left(made: Filing, rho: float) -> _Chosen:
    """Documents that are certain enough nowhere."""
    here = made.levels_at(rho) == LEFT
    if made.told.best is not None:
        certainty = made.told.best[1][here, -1]
    else:
        largest = np.zeros(len(made.rows), np.float32)
        np.maximum.at(largest, made.told.place, made.certainty)
        certainty = largest[here]
    return _Chosen("Left for a person", made.rows[here], certainty, asked="nowhere")


def _documents(
    view: View, made: Filing, chosen: _Chosen, rows: Sequence[int], certainty: Array
) -> tuple[FiledDocument, ...]:
    if not rows:
        return ()
    lines = document_lines(view, rows, lambda id, _: addresses.document(id))
    judged = Judgements(view.collection.generation.database).of(rows)
    counts = view.collection.counts[np.array(rows)]
    shares = made.categories.shares(counts)
    told = made.categories.read(counts) if made.categories.several else None
    sure = None if told is None else certainty_of(made.categories, made.basis, told.share, told.score)
    found = []
    for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
        label = _label(made, chosen, shares[place])
        path = () if told is not None else _path(made, shares[place], label, _filed(made, chosen))
        own = {} if told is None or sure is None else {
            int(told.label[at]): float(sure[at]) for at in np.flatnonzero(told.place == place)
        }  # fmt: skip
        if told is not None and chosen.label is not None:
            own.setdefault(chosen.label, float(certainty[place]))
        found.append(FiledDocument(
            line, float(certainty[place]), path, made.categories.names[label],
            _chips(made, own, line.labels) if told is not None else (), _likely(made, shares[place], label),
            _said(judged.get(row)), judged[row].number if row in judged else 0,
        ))  # fmt: skip
    return tuple(found)


def _label(made: Filing, chosen: _Chosen, shares: Array) -> int:
    """What accepting a document gives: the category of the list, or the likeliest under its heading."""
    if chosen.label is not None:
        return chosen.label
    if chosen.level == LEFT:
        return int(shares.argmax())
    return int(np.where(made.categories.headings.groups[chosen.level] == chosen.group, shares, -1.0).argmax())


def _filed(made: Filing, chosen: _Chosen) -> str:
    if chosen.label is not None:
        return made.categories.names[chosen.label]
    return made.categories.headings.names[chosen.level][chosen.group] if chosen.level != LEFT else ""


def _path(made: Filing, shares: Array, label: int, filed: str) -> tuple[Rung, ...]:
    """The headings of a category and itself, with the certainty of each."""
    headings, found = made.categories.headings, []
    for level in range(headings.levels):
        group = headings.groups[level, label]
        name, last = headings.names[level][group], level == headings.levels - 1
        if last or name != made.categories.names[label]:
            together = float(shares[headings.groups[level] == group].sum())
            found.append(Rung(name if last else name[:-1], min(together, 1.0), name == filed))
    return tuple(found)


def _chips(made: Filing, told: dict[int, float], has: Sequence[str]) -> tuple[Chip, ...]:
    """The labels that a document has, and those that the model tells, the most certain first."""
    names = made.categories.names
    known = {names[label]: certainty for label, certainty in told.items()}
    every = sorted({*known, *has}, key=lambda name: (-known.get(name, -1.0), name))
    return tuple(Chip(name, known.get(name), name in has, name in known) for name in every)


def _likely(made: Filing, shares: Array, label: int) -> tuple[str, ...]:
    order = np.argsort(-shares, kind="stable")[: LIKELY + 1]
    return tuple(made.categories.names[one] for one in order.tolist() if one != label)[:LIKELY]


def _said(one: Judgement | None) -> str:
    return "" if one is None or one.kind == BACK else SAID[one.kind]
