"""Changing the tree from a page: the edit as it was told, unless somebody was faster."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages import shape
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.view import View
from topiarist.app.explorer.writes import conflicts
from topiarist.app.explorer.writes.bodies import Edited
from topiarist.app.explorer.writes.posts import back, page_of, patience, repeated, wants_data
from topiarist.collection.shape import changes as files
from topiarist.collection.shape.changes import ChangedError
from topiarist.collection.shape.edit_language import named_as, spoken_of, to_sentence
from topiarist.collection.shape.edits import Edit
from topiarist.errors import ResourceError, UsageError

VALUES = ("edit", "topic", "name", "note", "other", "into", "below", "document", "refit")


def edit(request: Request, session: Session, body: Edited) -> Response:
    """Make an edit, and begin to fit the tree if that was asked for.

    Whether the tree is still the one that somebody saw is asked while nobody else can write.
    """
    asked = ask_of(body)
    wanted = shape.edit_of(asked)
    try:
        with session.writer() as collection:
            files.shape(collection, [wanted], refit=False, wait=patience(session), expected=body.state)
    except ChangedError:
        view = session.fresh()
        return conflicts.answer(request, view, _conflict(session, view, asked, body))
    except ResourceError as error:
        if wants_data(request):
            raise
        return _again(request, session.view(), asked, error)
    now = session.fresh()
    if body.refit:
        session.refit(now.mark)
    gone = asked.topic is not None and asked.topic not in now.shape.node_of
    return back(request, "" if gone else body.back, addresses.home())


def _again(request: Request, view: View, asked: shape.Ask, error: ResourceError) -> Response:
    """The form as it was filled in, for whoever could not be served now."""
    page = shape.load(view, asked)
    said = f"Not done yet: {error.message}. What you told is still here; try again in a moment."
    return HTMLResponse(page_of(request, "shape.html", replace(page, problem=said), view, asked.topic), 503)


def ask_of(body: Edited) -> shape.Ask:
    """The edit that a form tells."""
    return shape.Ask(
        body.edit, body.topic, body.name, body.note, body.other, body.into, body.below, body.document, ready=True
    )


def _conflict(session: Session, view: View, asked: shape.Ask, body: Edited) -> conflicts.Conflict:
    """Both versions; what speaks of a topic that is gone cannot be applied any more."""
    wanted = shape.edit_of(asked)
    topic = asked.other if asked.topic is None else asked.topic  # a pin speaks of the one that it goes to
    there = topic in view.shape.node_of
    theirs = f"called {view.names[view.shape.node(topic)]}" if there else "gone"  # type: ignore[arg-type]
    if topic is None:
        theirs = "the tree after these steps"
    can = all(said in view.shape.node_of for said in spoken_of(wanted))
    return conflicts.Conflict(
        conflicts.title_of(view, body.state), conflicts.since(session, view, body.state), theirs, _worded(view, wanted),
        addresses.SHAPE, "Apply mine now" if can else "", repeated(body, *VALUES),
        addresses.topic(topic) if there else addresses.home(), view.mark,  # type: ignore[arg-type]
    )  # fmt: skip


def _worded(view: View, edit: Edit) -> str:
    """The edit with the names that its topics have now; a number tells nobody anything."""
    names = {}
    for said in spoken_of(edit):
        try:
            names[str(said)] = view.names[view.shape.node(view.shape.find(said))]
        except UsageError:
            names[str(said)] = "a topic that is gone"
    return to_sentence(named_as(edit, names, numbers=False))
