"""Removing documents from a page: which they are and from where is asked before, and undo brings them back."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.view import View
from topiarist.app.explorer.writes.bodies import Removed
from topiarist.app.explorer.writes.posts import asked, back, conflict, conflict_answer, patience, repeated
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
        return asked(request, session, body, f"Remove {found.extent}", _said(view, found), values)
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
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    topics = [f"{view.names[view.shape.node(topic)]} ({number:,})" for topic, number in found.topics.items()]
    others = f" and {len(topics) - SHOWN:,} more topics" if len(topics) > SHOWN else ""
    return (
        f"{titles}{more}. From {', '.join(topics[:SHOWN])}{others}. {found.left_said} stay. "
        "They leave the tree, the lists and every search; Undo brings them back, until documents were added thrice. "
        "The files that they came from are not touched."
    )


def _conflict(request: Request, session: Session, view: View, body: Removed) -> Response:
    """The tree or the documents have changed since: what would go now, to be asked again."""
    try:
        what = str(_wanted(view, body).extent)
        theirs, button = f"{what} would go", f"Remove {what}…"
    except UsageError as error:
        theirs, button = error.message, ""
    both = conflict(
        session, view, body.state, theirs=theirs, yours="remove documents", action=request.scope["route"].path,
        button=button, values=repeated(body, "document", "query", "topic"), back=addresses.HOME,
    )  # fmt: skip
    return conflict_answer(request, view, both)
