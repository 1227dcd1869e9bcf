"""What people change: marks at once, edits of the tree after a look at what they would do. By POST, with the token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, Response

from topiarist.app.explorer import bringing, shaping
from topiarist.app.explorer.desk import Desk
from topiarist.app.explorer.pages import topic
from topiarist.app.explorer.posting import back, number, patience, posted, seen, text
from topiarist.files.marks import Marks
from topiarist.files.shaping import ChangedError
from topiarist.files.shaping import undo as take_back


def add(app: FastAPI) -> None:
    """The routes."""
    routes = {
        "/tag": tag, "/untag": untag, "/read": read, "/undo": undo, "/refit": refit, "/shape": shaping.edit,
        "/new": bringing.bring, "/keep": bringing.keep,
    }  # fmt: skip
    for path, does in routes.items():
        app.add_api_route(path, posted(does), methods=["POST"], include_in_schema=False)
    app.add_api_route("/job.json", job, include_in_schema=False)


@contextmanager
def _marking(desk: Desk, form: Mapping[str, Any]) -> Iterator[tuple[Marks, list[int]]]:
    """Marks to write, and the documents that a form speaks of: one, or those of a topic.

    They are looked up while nobody else can write, in the tree that somebody saw: in a collection that was grown anew
    the same number is another topic.
    """
    with desk.writer() as collection, collection.folder.writing(wait=patience(desk)) as generation:
        view, wanted = desk.view(), number(form, "topic")
        if wanted is None:
            yield Marks(generation.database), [view.collection.documents.row_of(text(form, "document"))]
            return
        if seen(form) != view.mark:
            raise ChangedError("somebody has changed the tree since this page was made", hint="reload it")
        show = text(form, "show", "all")
        rows = topic.rows_of(view, view.shape.node(wanted), "typical", show if show in topic.SHOWS else "all")
        yield Marks(generation.database), rows.tolist()


def tag(request: Request, desk: Desk, form: FormData) -> Response:
    """Give documents a tag."""
    with _marking(desk, form) as (marks, rows):
        marks.tag(rows, text(form, "tag"))
    return back(request, form)


def untag(request: Request, desk: Desk, form: FormData) -> Response:
    """Take a tag away."""
    with _marking(desk, form) as (marks, rows):
        marks.untag(rows, text(form, "tag"))
    return back(request, form)


def read(request: Request, desk: Desk, form: FormData) -> Response:
    """Mark documents as read, or not."""
    with _marking(desk, form) as (marks, rows):
        marks.mark_read(rows, read=not text(form, "unread"))
    return back(request, form)


def undo(request: Request, desk: Desk, form: FormData) -> Response:
    """Take the last edit back, if it is the one that somebody saw."""
    with desk.writer() as collection:
        take_back(collection, wait=patience(desk), expected=seen(form))
    return back(request, form)


def refit(request: Request, desk: Desk, form: FormData) -> Response:
    """Fit the tree as it was shaped, beside the pages."""
    desk.refit()
    return back(request, form)


def job(request: Request) -> Response:
    """How the fit goes that runs now."""
    found = request.app.state.desk.job
    if found is None:
        return JSONResponse({"running": False})
    return JSONResponse({"running": not found.done, "seconds": round(found.elapsed, 1), "error": found.error})
