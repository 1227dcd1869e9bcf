"""What did people note, and on which passages?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import PER_PAGE, Choice, Paging, link, paging, titled
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page: the page of the list."""

    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True)
class NoteLine:
    """A note, the passage that it is on, and the document, which opens there."""

    document: Choice
    id: str
    quote: str
    note: str
    time: str


@dataclass(frozen=True, kw_only=True)
class NotesPage:
    """Every note on a passage, document by document."""

    sentence: str
    notes: tuple[NoteLine, ...]
    paging: Paging


def load(view: View, ask: Ask) -> NotesPage:
    """Fill the page."""
    found = view.collection.passage_notes.all()
    pages = paging(len(found), ask.page, lambda page: addresses.notes(page=page))
    shown = found[pages.start : pages.start + PER_PAGE]
    documents = view.collection.documents.many([one.row for one in shown], texts=False)
    said = worded(
        "Nobody has noted anything yet: open a document, choose a passage of its text, and write what you think of it."
    )
    if found:
        number = len({one.row for one in found})
        said = worded(
            "{notes} on passages of {documents}.",
            notes=Counted(len(found), "note"),
            documents=Counted(number, "document"),
        )
    return NotesPage(
        sentence=said,
        notes=tuple(
            NoteLine(link(titled(own.title, own.id), addresses.noted(own.id, one.passage)), own.id, one.quote, one.note,
                     one.time[:10])
            for one, own in zip(shown, documents, strict=True)
        ),
        paging=pages,
    )  # fmt: skip
