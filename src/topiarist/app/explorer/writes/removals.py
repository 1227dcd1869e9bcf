"""Removing documents from a page: which they are and from where is asked before, and undo brings them back."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.view import View
from topiarist.app.explorer.writes.bodies import Removed
from topiarist.app.explorer.writes.posts import asked, back, conflict, conflict_answer, patience, repeated
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.collection import (
    ChangedError,
    Removal,
    chosen_documents,
    preview_removal,
    remove_documents,
)
from topiarist.errors import UsageError

SHOWN = 5  # titles and topics


def remove(request: Request, session: Session, body: Removed) -> Response:
    """Take a document out, or all that a search by words finds; asked first."""
    view = session.fresh()
    if view.mark != body.state:
        return _conflict(request, session, view, body)
    found = _wanted(view, body)
    if not body.sure:
        values = repeated(body, "document", "query", "topic")
        return asked(
            request, session, body, worded("Remove {extent}", extent=_extent(found)), _said(view, found), values
        )
    try:
        with session.writer() as collection:
            remove_documents(collection, found.ids, wait=patience(session), expected=body.state)
    except ChangedError:
        return _conflict(request, session, session.fresh(), body)
    return back(request, body.back, addresses.home())


def _wanted(view: View, body: Removed) -> Removal:
    """The documents that are spoken of."""
    collection = view.collection
    ids = () if body.document is None else (body.document,)
    return preview_removal(collection, chosen_documents(collection, ids, body.query, topic=body.topic))


def _said(view: View, found: Removal) -> str:
    """Which they are, where they lie, what is left, and how they come back."""
    titles = "; ".join(f"“{title}”" for title in found.titles[:SHOWN])
    if len(found) > SHOWN:
        titles = worded("{first} and {number} more", first=titles, number=len(found) - SHOWN)
    topics = [f"{view.names[view.shape.node(topic)]} ({number:,})" for topic, number in found.topics.items()]
    shown = ", ".join(topics[:SHOWN])
    if len(topics) > SHOWN:
        shown = worded("{first} and {number} more topics", first=shown, number=len(topics) - SHOWN)
    return worded(
        "{titles}. From {topics}. {left} stay. They leave the tree, the lists and every search; Undo brings them back, "
        "until documents were added thrice. The files that they came from are not touched.",
        titles=titles, topics=shown, left=Counted(found.n_documents_left, "document"),
    )  # fmt: skip


def _extent(found: Removal) -> str:
    """How much would go, in words."""
    much = found.extent
    documents, passages = Counted(much.documents, "document"), Counted(much.rows, "passage")
    if not much.cut:
        return worded("{documents}", documents=documents)
    whole = much.complete == much.documents
    return worded(
        "{documents} in {passages}" if whole else "{passages} of {documents}", documents=documents, passages=passages
    )


def _conflict(request: Request, session: Session, view: View, body: Removed) -> Response:
    """The tree or the documents have changed since: what would go now, to be asked again."""
    try:
        what = _extent(_wanted(view, body))
        theirs, button = worded("{extent} would go", extent=what), worded("Remove {extent}…", extent=what)
    except UsageError as error:
        theirs, button = error.message, ""
    both = conflict(
        session, view, body.state, theirs=theirs, yours=worded("remove documents"), action=request.scope["route"].path,
        button=button, values=repeated(body, "document", "query", "topic"), back=addresses.HOME,
    )  # fmt: skip
    return conflict_answer(request, view, both)
