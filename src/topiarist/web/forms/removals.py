"""Routes that remove documents after a confirmation, and undo the removal."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from topiarist.collection.remove.removal import Removal, choose_documents, preview_removal, remove_documents
from topiarist.collection.shape.history import ChangedError
from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.errors import UsageError
from topiarist.web import addresses
from topiarist.web.forms.bodies import Removed
from topiarist.web.forms.posts import answer_conflict, ask_confirmation, back, patience
from topiarist.web.session import Session
from topiarist.web.view import View

MAX_NAMES = 5  # titles and topics


def remove(request: Request, session: Session, body: Removed) -> Response:
    """Remove a document or all documents of a query after a confirmation."""
    view = session.fresh()
    if view.mark != body.state:
        return _answer_conflict(request, session, view, body)
    result = _plan_removal(view, body)
    if not body.sure:
        question = translate("Remove {extent}", extent=_describe_extent(result))
        return ask_confirmation(request, session, body, question, _describe_removal(view, result))
    try:
        with session.writer() as collection:
            remove_documents(collection, result.ids, wait=patience(session), expected=body.state)
    except ChangedError:
        return _answer_conflict(request, session, session.fresh(), body)
    return back(request, body.back, addresses.overview())


def _plan_removal(view: View, body: Removed) -> Removal:
    collection = view.collection
    ids = () if body.document is None else (body.document,)
    return preview_removal(collection, choose_documents(collection, ids, body.query, topic=body.topic))


def _describe_removal(view: View, removal: Removal) -> str:
    """Return titles, topics and limits of a removal in words."""
    titles = "; ".join(f"“{title}”" for title in removal.titles[:MAX_NAMES])
    if len(removal) > MAX_NAMES:
        titles = translate("{first} and {number} more", first=titles, number=len(removal) - MAX_NAMES)
    topics = [f"{view.names[view.shape.node(topic)]} ({number:,})" for topic, number in removal.topics.items()]
    topic_names = ", ".join(topics[:MAX_NAMES])
    if len(topics) > MAX_NAMES:
        topic_names = translate("{first} and {number} more topics", first=topic_names, number=len(topics) - MAX_NAMES)
    return translate(
        "{titles}. From {topics}. {left} stay. You can undo this until three later additions. Original files are "
        "not changed.",
        titles=titles, topics=topic_names, left=CountedNoun(removal.n_documents_left, "document"),
    )  # fmt: skip


def _describe_extent(removal: Removal) -> str:
    """Return the number of documents and passages that a removal covers."""
    extent = removal.extent
    documents, passages = CountedNoun(extent.documents, "document"), CountedNoun(extent.rows, "passage")
    if not extent.cut:
        return translate("{documents}", documents=documents)
    is_complete = extent.complete == extent.documents
    return translate(
        "{documents} in {passages}" if is_complete else "{passages} of {documents}",
        documents=documents,
        passages=passages,
    )


def _answer_conflict(request: Request, session: Session, view: View, body: Removed) -> Response:
    """Return a conflict page that offers the removal in the current state, if it is still possible."""
    try:
        extent = _describe_extent(_plan_removal(view, body))
        reason, button = translate("remove {extent}", extent=extent), translate("Remove {extent}…", extent=extent)
    except UsageError as error:
        reason, button = error.message, ""
    return answer_conflict(
        request, session, body, without=("sure",),
        theirs=reason, yours=translate("remove documents"), button=button, back=addresses.OVERVIEW,
    )  # fmt: skip
