"""Notes on passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.web import addresses
from topiarist.web.values import PER_PAGE, Choice, Paging, build_paging, display_title, link
from topiarist.web.view import View


@dataclass(frozen=True)
class Ask:
    """Query parameters: the page of the list."""

    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True)
class NoteLine:
    """Note with its passage and document."""

    document: Choice
    id: str
    quote: str
    note: str
    time: str


@dataclass(frozen=True, kw_only=True)
class NotesPage:
    """Notes on passages, document by document."""

    sentence: str
    notes: tuple[NoteLine, ...]
    paging: Paging


def load(view: View, ask: Ask) -> NotesPage:
    """Return the notes by pages."""
    result = view.collection.passage_notes.all()
    pages = build_paging(len(result), ask.page, lambda page: addresses.notes(page=page))
    shown_notes = result[pages.start : pages.start + PER_PAGE]
    documents = view.collection.documents.load_many([item.row for item in shown_notes], texts=False)
    text = translate("No notes yet. Select a passage in a document to write one.")
    if result:
        number = len({item.row for item in result})
        text = translate(
            "{notes} on passages of {documents}.",
            notes=CountedNoun(len(result), "note"),
            documents=CountedNoun(number, "document"),
        )
    return NotesPage(
        sentence=text,
        notes=tuple(
            NoteLine(
                link(display_title(document.title, document.id), addresses.passage_note(document.id, item.passage)),
                document.id,
                item.quote,
                item.note,
                item.time[:10],
            )
            for item, document in zip(shown_notes, documents, strict=True)
        ),
        paging=pages,
    )
