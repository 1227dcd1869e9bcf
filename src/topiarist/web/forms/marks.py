"""Marks of documents: tags, read or not, notes on passages; of more than a page shows only after a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import Response

from topiarist.collection.shape.history import ChangedError
from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.errors import UsageError
from topiarist.storage.document_table import Documents
from topiarist.storage.marks import Marks, PassageNotes, find_passage, normalise_tag
from topiarist.web import addresses
from topiarist.web.forms import bodies
from topiarist.web.forms.posts import ask_confirmation, back, conflict, conflict_answer, patience, repeated, safe_back
from topiarist.web.pages import topic
from topiarist.web.session import Session, generation_of
from topiarist.web.values import PER_PAGE, display_title
from topiarist.web.view import View

NAMES = ("document", "topic", "show", "sure", "tag", "unread")


@contextmanager
def _marking(session: Session, body: Any) -> Iterator[tuple[Marks, list[int]]]:
    """Open the marks for writing, with the rows of a document or of a topic.

    The rows are looked up under the lock and in the state that the user saw. After a new growth the same number
    is another topic.
    """
    with session.marking(patience(session)) as generation:
        view = session.fresh()
        is_current = body.state == view.mark
        if body.topic is None:
            is_current = generation_of(body.state) == generation_of(view.mark)
        if not is_current:
            raise ChangedError(
                translate("The tree was changed after you opened the page"), hint=translate("Reload the page.")
            )
        if body.topic is not None:
            rows = topic.rows_of(view, view.shape.node(body.topic), "typical", body.show).tolist()
        elif body.document is not None:
            rows = [view.collection.documents.row_of(body.document)]
        else:
            raise UsageError(translate("Expected a document or a topic"), hint="document")
        yield Marks(generation.database), rows


@dataclass(frozen=True)
class MarkMessage:
    """Sentence about a change of marks, and the sentence about its undo."""

    of: Callable[[str], str]  # with these, in words
    inverse: str


def tag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Add a tag to documents."""
    name = normalise_tag(body.tag)
    text = MarkMessage(
        lambda documents: translate("Tag {documents} “{tag}”", documents=documents, tag=name),
        translate("“Remove the tag” undoes this."),
    )
    return _mark_documents(request, session, body, text, lambda marks, rows: marks.tag(rows, name))


def untag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Remove a tag from documents."""
    name = normalise_tag(body.tag)
    text = MarkMessage(
        lambda documents: translate("Remove the tag “{tag}” from {documents}", documents=documents, tag=name),
        translate("“Tag” restores the tag for all of them."),
    )
    return _mark_documents(request, session, body, text, lambda marks, rows: marks.untag(rows, name))


def read(request: Request, session: Session, body: bodies.ReadMarks) -> Response:
    """Mark documents as read or unread."""
    text = MarkMessage(
        lambda documents: translate("Mark {documents} read", documents=documents),
        translate("“Mark all unread” undoes this."),
    )
    if body.unread:
        text = MarkMessage(
            lambda documents: translate("Mark {documents} unread", documents=documents),
            translate("This cannot be undone."),
        )
    return _mark_documents(
        request, session, body, text, lambda marks, rows: marks.mark_read(rows, read=not body.unread)
    )


def note(request: Request, session: Session, body: bodies.Noted) -> Response:
    """Write, change or undo a note on a passage."""
    with session.marking(patience(session)) as generation:
        if generation_of(body.state) != generation.folder.name:
            raise ChangedError(
                translate("Documents were added or removed after you opened the page"),
                hint=translate("Reload the page."),
            )
        documents, notes = Documents(generation.database), PassageNotes(generation.database)
        row = documents.row_of(body.document)
        if body.does == "undo":
            notes.undo(row, expected=body.number)
        elif body.does == "change":
            notes.change(row, body.passage, body.note, expected=body.number)
        else:
            result = find_passage(documents.get(row).text, body.quote, before=body.before, position=body.near)
            if result is None:
                text = translate("The document does not contain the selected passage")
                raise UsageError(text, hint=translate("Select the passage in the text again."))
            notes.write(row, *result, body.note)
    return back(request, body.back, addresses.document(body.document))


def _mark_documents(
    request: Request, session: Session, body: Any, texts: MarkMessage, does: Callable[[Marks, list[int]], None]
) -> Response:
    names = tuple(name for name in NAMES if hasattr(body, name))
    try:
        with _marking(session, body) as (marks, rows):
            if len(rows) <= PER_PAGE or body.sure:
                does(marks, rows)
                return back(request, body.back)
    except ChangedError:
        return _other(request, session, body, texts.of(translate("the collection")), repeated(body, *names))
    values = repeated(body, *(name for name in names if name != "sure"))
    inverse = translate("The list shows only a part of them. {inverse}", inverse=texts.inverse)
    return ask_confirmation(
        request, session, body, texts.of(translate("all {number}", number=len(rows))), inverse, values
    )


def _other(
    request: Request, session: Session, body: Any, action_text: str, values: tuple[tuple[str, str], ...]
) -> Response:
    view = session.fresh()
    target, exists = _describe_target(view, body)
    comparison = conflict(
        session,
        view,
        body.state,
        theirs=target,
        yours=action_text,
        action=request.scope["route"].path,
        button=translate("{deed} in the current tree", deed=action_text) if exists else "",
        values=values,
        back=safe_back(request, body.back) if exists else addresses.OVERVIEW,
    )
    return conflict_answer(request, view, comparison)


def _describe_target(view: View, body: Any) -> tuple[str, bool]:
    if body.topic is not None:
        node = view.shape.node_of.get(body.topic)
        if node is None:
            return translate("the topic no longer exists"), False
        documents = CountedNoun(view.sizes[node], "document")
        return translate("the topic {name}, with {documents}", name=view.names[node], documents=documents), True
    try:
        result = view.collection.documents.get(view.collection.documents.row_of(body.document or ""))
    except UsageError:
        return translate("the document no longer exists"), False
    return translate("the document {title}", title=display_title(result.title, result.id)), True
