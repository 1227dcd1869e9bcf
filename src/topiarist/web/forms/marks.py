"""Routes of tags, read marks and notes on passages; changes of many documents need a confirmation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import Request
from starlette.responses import Response

from topiarist.collection.shape.history import ChangedError
from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.errors import UsageError
from topiarist.storage.document_table import Documents
from topiarist.storage.marks import Marks, PassageNotes, find_passage, normalise_tag
from topiarist.web import addresses
from topiarist.web.forms import bodies
from topiarist.web.forms.posts import answer_conflict, ask_confirmation, back, patience, safe_back
from topiarist.web.pages import topic
from topiarist.web.session import Session, generation_of
from topiarist.web.values import PER_PAGE, display_title
from topiarist.web.view import View


@contextmanager
def _open_marks(session: Session, body: bodies.Marks) -> Iterator[tuple[Marks, list[int]]]:
    """Open the marks for writing, with the rows to mark. Raise ChangedError if the page is outdated.

    The rows are looked up under the lock and in the state that the user saw. After a new growth the same number
    is another topic.
    """
    with session.open_for_marks(patience(session)) as generation:
        view = session.fresh()
        is_current = body.state == view.mark
        if body.topic is None:
            is_current = generation_of(body.state) == generation_of(view.mark)
        if not is_current:
            raise ChangedError(
                translate("The tree was changed after you opened the page"), hint=translate("Reload the page.")
            )
        if body.topic is not None:
            rows = topic.select_rows(view, view.shape.node(body.topic), "typical", body.show).tolist()
        elif body.document is not None:
            rows = [view.collection.documents.row_of(body.document)]
        else:
            raise UsageError(translate("Expected a document or a topic"), hint=translate("Pass a document or a topic."))
        yield Marks(generation.database), rows


def tag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Add a tag to documents."""
    name = normalise_tag(body.tag)
    return _mark_documents(
        request, session, body, lambda marks, rows: marks.tag(rows, name),
        lambda documents: translate("Tag {documents} “{tag}”", documents=documents, tag=name),
        translate("“Remove the tag” undoes this."),
    )  # fmt: skip


def untag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Remove a tag from documents."""
    name = normalise_tag(body.tag)
    return _mark_documents(
        request, session, body, lambda marks, rows: marks.untag(rows, name),
        lambda documents: translate("Remove the tag “{tag}” from {documents}", documents=documents, tag=name),
        translate("“Tag” restores the tag for all of them."),
    )  # fmt: skip


def read(request: Request, session: Session, body: bodies.ReadMarks) -> Response:
    """Mark documents as read or unread."""
    return _mark_documents(
        request, session, body, lambda marks, rows: marks.mark_read(rows, read=not body.unread),
        lambda documents: translate(
            "Mark {documents} unread" if body.unread else "Mark {documents} read", documents=documents
        ),
        translate("This cannot be undone." if body.unread else "“Mark all unread” undoes this."),
    )  # fmt: skip


def note(request: Request, session: Session, body: bodies.Noted) -> Response:
    """Write, change or undo a note on a passage."""
    with session.open_for_marks(patience(session)) as generation:
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
    request: Request,
    session: Session,
    body: bodies.Marks,
    change: Callable[[Marks, list[int]], None],
    describe: Callable[[str], str],
    inverse: str,
) -> Response:
    """Change marks; ask for confirmation if documents are many, or return a conflict if the state changed."""
    try:
        with _open_marks(session, body) as (marks, rows):
            if len(rows) <= PER_PAGE or body.sure:
                change(marks, rows)
                return back(request, body.back)
    except ChangedError:
        deed = describe(translate("the collection"))
        target, exists = _describe_target(session.fresh(), body)
        button = translate("{deed} in the current tree", deed=deed) if exists else ""
        return answer_conflict(
            request, session, body, theirs=target, yours=deed, button=button,
            back=safe_back(request, body.back) if exists else addresses.OVERVIEW,
        )  # fmt: skip
    inverse = translate("The list shows only a part of them. {inverse}", inverse=inverse)
    question = describe(translate("all {number}", number=len(rows)))
    return ask_confirmation(request, session, body, question, inverse)


def _describe_target(view: View, body: bodies.Marks) -> tuple[str, bool]:
    """Return the document or topic of a form in words, and whether it still exists."""
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
