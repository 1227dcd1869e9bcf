"""Searches that are saved and deleted from the search page; one of the same name is replaced only after a question."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.view import View
from topiarist.app.explorer.writes.bodies import SearchToDelete, SearchToSave
from topiarist.app.explorer.writes.posts import asked, back, conflict, conflict_answer, patience, repeated
from topiarist.app.languages.catalogues import worded
from topiarist.collection import SavedSearch, delete_search, save_search, saved_search, saved_searches


def save(request: Request, session: Session, body: SearchToSave) -> Response:
    """Keep a search under a name; before one of the same name is replaced, ask."""
    view = session.fresh()
    if body.topic is not None and generation_of(view.mark) != generation_of(body.state):
        return _grown(request, session, view, body)
    before = [
        one for one in saved_searches(view.collection) if one.name.casefold() == " ".join(body.name.split()).casefold()
    ]
    if before and not body.sure:
        inverse = worded("It asks for “{query}” now, and for “{other}” then.", query=before[0].query, other=body.query)
        values = repeated(body, "name", "query", "by", "topic")
        question = worded("Replace the saved search “{name}”", name=before[0].name)
        return asked(request, session, body, question, inverse, values)
    topic = "" if body.topic is None else str(body.topic)
    with session.writer() as collection:
        save_search(collection, SavedSearch(body.name, body.query, body.by, topic), wait=patience(session))
    return back(request, body.back, addresses.search(body.query))


def delete(request: Request, session: Session, body: SearchToDelete) -> Response:
    """Let a saved search go; asked first."""
    found = saved_search(session.fresh().collection, body.name)
    if not body.sure:
        inverse = worded("It asks for “{query}”. To have it back, it must be saved again.", query=found.query)
        question = worded("Delete the saved search “{name}”", name=found.name)
        return asked(request, session, body, question, inverse, repeated(body, "name"))
    with session.writer() as collection:
        delete_search(collection, found.name, wait=patience(session))
    return back(request, body.back, addresses.search(""))


def _grown(request: Request, session: Session, view: View, body: SearchToSave) -> Response:
    """The topic that the search keeps to may be another one by now: the same without it."""
    both = conflict(
        session, view, body.state, theirs=worded("the topic that it keeps to may be another one"),
        yours=worded("save a search"), action=request.scope["route"].path, button=worded("Save it for everywhere"),
        values=repeated(body, "name", "query", "by"), back=addresses.HOME,
    )  # fmt: skip
    return conflict_answer(request, view, both)
