"""What people change: marks at once, edits of the tree after a look at what they would do. By POST, with the token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from topiarist.app.explorer import addresses, safety
from topiarist.app.explorer.desk import Desk
from topiarist.app.explorer.pages import topic
from topiarist.errors import UsageError
from topiarist.files.marks import Marks


def add(app: FastAPI) -> None:
    """The routes."""
    for path, does in (("/tag", tag), ("/untag", untag), ("/read", read), ("/undo", undo), ("/refit", refit)):
        app.add_api_route(path, _posted(does), methods=["POST"], include_in_schema=False)
    app.add_api_route("/job.json", job, include_in_schema=False)


def _posted(does: Any) -> Any:
    """A route that reads a form, looks at its token, and does something outside of the event loop."""

    async def route(request: Request) -> Response:
        form = await request.form(max_files=200, max_part_size=safety.LARGEST)
        desk = allowed(request, form)
        found: Response = await run_in_threadpool(does, request, desk, form)
        return found

    return route


def allowed(request: Request, form: FormData) -> Desk:
    """The desk, for whoever has its token; in read-only mode for nobody."""
    desk: Desk = request.app.state.desk
    if desk.read_only:
        raise HTTPException(403, "This explorer was started read-only.")
    given = request.headers.get(safety.TOKEN) or form.get("token")
    if not safety.is_token(given, desk.token):
        raise HTTPException(403, "The page is older than the server: reload it, and try again.")
    return desk


def text(form: Mapping[str, Any], name: str, usual: str = "") -> str:
    """A value of a form."""
    found = form.get(name, usual)
    return usual if isinstance(found, UploadFile) or found is None else str(found)


def back(request: Request, form: Mapping[str, Any], otherwise: str = "/") -> Response:
    """To where the form came from; only ever to a page of this server."""
    wanted = text(form, "back") or otherwise
    parts = urlsplit(wanted)
    root: str = request.app.state.root
    if parts.scheme or parts.netloc or not wanted.startswith("/") or wanted.startswith(("//", "/\\")):
        wanted = f"{root}{otherwise}"
    elif root and not wanted.startswith(f"{root}/"):
        wanted = f"{root}{wanted}"
    if request.headers.get(safety.TOKEN):
        return JSONResponse({"done": True, "to": wanted})
    return RedirectResponse(wanted, 303)


def _rows(desk: Desk, form: Mapping[str, Any]) -> list[int]:
    """The documents that a form speaks of: one, or those of a topic."""
    view = desk.view()
    if text(form, "topic").isdecimal():
        node = view.shape.node(int(text(form, "topic")))
        show = text(form, "show", "all")
        found: list[int] = topic.rows_of(view, node, "typical", show if show in topic.SHOWS else "all").tolist()
        return found
    return [view.collection.documents.row_of(text(form, "document"))]


def _marks(desk: Desk) -> Any:
    return desk.writer().folder.writing(wait=5.0)


def tag(request: Request, desk: Desk, form: FormData) -> Response:
    """Give documents a tag."""
    rows = _rows(desk, form)
    with _marks(desk) as generation:
        Marks(generation.database).tag(rows, text(form, "tag"))
    return back(request, form)


def untag(request: Request, desk: Desk, form: FormData) -> Response:
    """Take a tag away."""
    rows = _rows(desk, form)
    with _marks(desk) as generation:
        Marks(generation.database).untag(rows, text(form, "tag"))
    return back(request, form)


def read(request: Request, desk: Desk, form: FormData) -> Response:
    """Mark documents as read, or not."""
    rows = _rows(desk, form)
    with _marks(desk) as generation:
        Marks(generation.database).mark_read(rows, read=not text(form, "unread"))
    return back(request, form)


def undo(request: Request, desk: Desk, form: FormData) -> Response:
    """Take the last edit back."""
    view = desk.view()
    if text(form, "state") not in ("", str(view.number)):
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


__all__ = ["add", "addresses"]
