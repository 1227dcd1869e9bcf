"""What people change: marks at once, edits of the tree after a look at what they would do. By POST, with the token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, Response

from topiarist.app.explorer import bringing, shaping
from topiarist.app.explorer.desk import Desk
from topiarist.app.explorer.pages import topic
from topiarist.app.explorer.posting import back, number, posted, text
from topiarist.errors import UsageError
from topiarist.files.marks import Marks

PATIENCE = 5.0  # seconds that a mark waits for another writer


def add(app: FastAPI) -> None:
    """The routes."""
    routes = {
        "/tag": tag, "/untag": untag, "/read": read, "/undo": undo, "/refit": refit, "/shape": shaping.edit,
        "/new": bringing.bring, "/keep": bringing.keep,
    }  # fmt: skip
    for path, does in routes.items():
        app.add_api_route(path, posted(does), methods=["POST"], include_in_schema=False)
    app.add_api_route("/job.json", job, include_in_schema=False)


def _rows(desk: Desk, form: Mapping[str, Any]) -> list[int]:
    """The documents that a form speaks of: one, or those of a topic."""
    view = desk.view()
    wanted = number(form, "topic")
    if wanted is not None:
        node = view.shape.node(wanted)
        show = text(form, "show", "all")
        found: list[int] = topic.rows_of(view, node, "typical", show if show in topic.SHOWS else "all").tolist()
        return found
    return [view.collection.documents.row_of(text(form, "document"))]


def tag(request: Request, desk: Desk, form: FormData) -> Response:
    """Give documents a tag."""
    rows = _rows(desk, form)
    with desk.writer() as collection, collection.folder.writing(wait=PATIENCE) as generation:
        Marks(generation.database).tag(rows, text(form, "tag"))
    return back(request, form)


def untag(request: Request, desk: Desk, form: FormData) -> Response:
    """Take a tag away."""
    rows = _rows(desk, form)
    with desk.writer() as collection, collection.folder.writing(wait=PATIENCE) as generation:
        Marks(generation.database).untag(rows, text(form, "tag"))
    return back(request, form)


def read(request: Request, desk: Desk, form: FormData) -> Response:
    """Mark documents as read, or not."""
    rows = _rows(desk, form)
    with desk.writer() as collection, collection.folder.writing(wait=PATIENCE) as generation:
        Marks(generation.database).mark_read(rows, read=not text(form, "unread"))
    return back(request, form)


def undo(request: Request, desk: Desk, form: FormData) -> Response:
    """Take the last edit back."""
    if text(form, "state") not in ("", str(desk.view().number)):
        raise UsageError("somebody has changed the tree since this page was made", hint="reload it, then undo")
    with desk.writer() as collection:
        collection.undo()
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
