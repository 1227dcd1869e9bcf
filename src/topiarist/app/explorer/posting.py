"""What all routes that change something have in common: a form, its token, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from topiarist import __version__
from topiarist.app.explorer import frame, rendering, safety
from topiarist.app.explorer.crowds import beside
from topiarist.app.explorer.desk import Desk
from topiarist.app.explorer.view import View
from topiarist.errors import UsageError

PATIENCE = 5.0  # seconds that a change waits for another writer
Does = Callable[[Request, Desk, FormData], Response]


def posted(does: Does) -> Any:
    """A route that reads a form, looks at its token, and does something outside of the event loop."""

    async def route(request: Request) -> Response:
        form = await request.form(max_files=200, max_part_size=safety.LARGEST)
        desk = allowed(request, form)
        return await beside(request.app.state.writers, does, request, desk, form)

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


def number(form: Mapping[str, Any], name: str) -> int | None:
    """A whole number of a form, if it is told."""
    given = text(form, name)
    if not given:
        return None
    if not given.isdecimal() or len(given) > 9:
        raise UsageError(f"{name} is a whole number, not {given[:20]!r}")
    return int(given)


def seen(form: Mapping[str, Any]) -> str:
    """The state that somebody saw who filled the form in."""
    found = text(form, "state")
    if not found:
        raise UsageError("the form does not say which tree it was made for", hint="reload the page, and try again")
    return found


def patience(desk: Desk) -> float:
    """How long a change waits: not for a fit, which takes longer than people wait."""
    return PATIENCE if desk.job is None or desk.job.done else 0.0


def safe_back(request: Request, form: Mapping[str, Any], otherwise: str = "/") -> str:
    """Where the form came from, as pages of this server only; below the place where this server is."""
    wanted, root = text(form, "back") or otherwise, request.app.state.root
    parts = urlsplit(wanted)
    if parts.scheme or parts.netloc or not wanted.startswith("/") or wanted.startswith(("//", "/\\")):
        wanted = otherwise
    return wanted.removeprefix(root) if root and wanted.startswith(f"{root}/") else wanted


def back(request: Request, form: Mapping[str, Any], otherwise: str = "/") -> Response:
    """To where the form came from."""
    wanted = f"{request.app.state.root}{safe_back(request, form, otherwise)}"
    if request.headers.get(safety.TOKEN):
        return JSONResponse({"done": True, "to": wanted})
    return RedirectResponse(wanted, 303)


def here_of(request: Request) -> str:
    """This address as it was asked for: an id may hold signs that mean something in a path."""
    path = request.scope.get("raw_path", b"").decode("ascii", "ignore") or quote(request.url.path)
    return f"{path}{'?' if request.url.query else ''}{request.url.query}"


def page_of(
    request: Request, template: str, value: Any, view: View, current: int | None = None, matching: Any = None
) -> str:
    """The text of a page, in its frame."""
    desk: Desk = request.app.state.desk
    here = here_of(request) if request.method == "GET" else ""
    return rendering.render(
        template, page=value, frame=frame.frame(view, current, matching), root=request.app.state.root,
        here=here, token="" if desk.read_only else desk.token, read_only=desk.read_only, job=desk.job,
        undoable="" if desk.read_only else desk.undoable(view), query=getattr(value, "query", ""), version=__version__,
    )  # fmt: skip
