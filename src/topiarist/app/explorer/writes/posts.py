"""What all routes that change something have in common: a body, its token, and the way back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from topiarist.app.explorer import frame, rendering
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import safety
from topiarist.app.explorer.web.worker_threads import beside
from topiarist.app.explorer.writes import bodies
from topiarist.version import __version__

PATIENCE = 5.0  # seconds that a change waits for another writer
Does = Callable[[Request, Session, Any], Response]


@dataclass(frozen=True)
class Done:
    """What a change answers whoever is no browser: that it was made, or the question that comes before."""

    done: bool
    to: str  # the page that shows it
    question: str = ""  # to be answered by the same again, with ``sure``


def posted(does: Does, kind: type) -> Any:
    """A route that reads a body, looks at its token, and does something outside of the event loop."""

    async def route(request: Request) -> Response:
        _admitted(request)
        told = await _told(request)
        session = allowed(request, told.get("token"))
        return await beside(request.app.state.writers, does, request, session, bodies.checked(kind, told))

    route.__doc__ = does.__doc__
    return route


def _admitted(request: Request) -> None:
    """Before anything is read: whoever may not write has nothing to say, and JSON comes with the token in a header."""
    session: Session = request.app.state.session
    if session.read_only:
        raise HTTPException(403, "This explorer was started read-only.")
    given, plain = request.headers.get(safety.TOKEN), request.headers.get("content-type", "").startswith(bodies.JSON)
    if (given or plain) and not safety.is_token(given, session.token):
        raise HTTPException(403, "The page is older than the server: reload it, and try again.")


async def _told(request: Request) -> dict[str, Any]:
    """The values of a body, whichever way they came."""
    if not request.headers.get("content-type", "").startswith(bodies.JSON):
        return bodies.of_form(await request.form(max_files=200, max_part_size=safety.LARGEST))
    try:
        given = await request.body()
        return bodies.of_json(await beside(request.app.state.writers, json.loads, given))
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or a number of thousands of digits
        wrong = {"loc": ("body",), "msg": "this is not JSON", "type": "value_error"}
        raise RequestValidationError([wrong]) from error


def allowed(request: Request, told: Any) -> Session:
    """The session, for whoever has its token; in read-only mode for nobody."""
    session: Session = request.app.state.session
    if session.read_only:
        raise HTTPException(403, "This explorer was started read-only.")
    if not safety.is_token(request.headers.get(safety.TOKEN) or told, session.token):
        raise HTTPException(403, "The page is older than the server: reload it, and try again.")
    return session


def wants_data(request: Request) -> bool:
    """Whether whoever asks is a program: it says so, or does what only programs do."""
    headers = request.headers
    return (
        request.url.path.endswith(".json")
        or bodies.JSON in headers.get("accept", "")
        or safety.TOKEN in headers
        or headers.get("content-type", "").startswith(bodies.JSON)
    )


def repeated(body: Any, *names: str) -> tuple[tuple[str, str], ...]:
    """The values that a form has to tell again to ask for the same."""
    told = asdict(body)
    kept = {name: told[name] for name in names if told[name] is not None and told[name] is not False}
    return tuple((name, "1" if value is True else str(value)) for name, value in kept.items() if value != "")


def patience(session: Session) -> float:
    """How long a change waits: not for a fit, which takes longer than people wait."""
    return PATIENCE if session.job is None or session.job.done else 0.0


def safe_back(request: Request, wanted: str, otherwise: str = "/") -> str:
    """Where the form came from, as pages of this server only; below the place where this server is."""
    wanted, root = wanted or otherwise, request.app.state.root
    parts = urlsplit(wanted)
    if parts.scheme or parts.netloc or not wanted.startswith("/") or wanted.startswith(("//", "/\\")):
        wanted = otherwise
    if root and f"{wanted}/".startswith(f"{root}/"):
        wanted = wanted.removeprefix(root)
    return wanted if wanted.startswith("/") else f"/{wanted}"


def back(request: Request, wanted: str, otherwise: str = "/") -> Response:
    """To where the form came from, where what was changed is to be seen."""
    session: Session = request.app.state.session
    session.fresh()
    to = f"{request.app.state.root}{safe_back(request, wanted, otherwise)}"
    if wants_data(request):
        return JSONResponse(asdict(Done(True, to)))
    return RedirectResponse(to, 303)


def here_of(request: Request) -> str:
    """This address as it was asked for: an id may hold signs that mean something in a path."""
    path = request.scope.get("raw_path", b"").decode("ascii", "ignore") or quote(request.url.path)
    path = path.removeprefix(request.app.state.root) or "/"
    return f"{path}{'?' if request.url.query else ''}{request.url.query}"


def page_of(
    request: Request, template: str, value: Any, view: View, current: int | None = None, matching: Any = None
) -> str:
    """The text of a page, in its frame."""
    session: Session = request.app.state.session
    here = here_of(request) if request.method == "GET" else ""
    return rendering.render(
        template, page=value, frame=frame.frame(view, current, matching), root=request.app.state.root,
        here=here, token="" if session.read_only else session.token, read_only=session.read_only,
        job=session.strip(view),
        undoable=None if session.read_only else session.undoable(view), query=getattr(value, "query", ""),
        by=getattr(value, "by", "words"), version=__version__,
    )  # fmt: skip
