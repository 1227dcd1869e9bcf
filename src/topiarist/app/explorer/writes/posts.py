"""What all routes that change something have in common: a body, its token, the way back, and who was faster."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from anyio import move_on_after
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from topiarist.app.explorer import frame
from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import failures, safety
from topiarist.app.explorer.web.failures import wants_data
from topiarist.app.explorer.web.worker_threads import beside
from topiarist.app.explorer.writes import bodies
from topiarist.app.languages.catalogues import worded
from topiarist.collection import FORGET, REMOVE, UNDO, step_in_words
from topiarist.store import edit_log

SHOWN = 10  # steps that were done meanwhile
GROWN = "the collection was grown anew"
PATIENCE = 5.0  # seconds that a change waits for another writer
PATIENT = 60.0  # seconds in which a body has to come
LOOKED_AT = 16 << 10  # bytes of a form in which its token stands
_TOKEN = re.compile(rb'(?:^|&)token=([\w-]{1,200})|name="token"\r\n(?:[^\r\n]+\r\n)*\r\n([\w-]{1,200})\r\n')
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
        with move_on_after(PATIENT) as clock:
            told = await _told(request)
        if clock.cancelled_caught:
            raise HTTPException(408, worded("The rest did not come within {number} seconds.", number=f"{PATIENT:g}"))
        session = allowed(request, told.get("token"))
        places = request.app.state.bringing if kind is bodies.Brought else request.app.state.writers
        return await beside(places, does, request, session, bodies.checked(kind, told))

    route.__doc__ = does.__doc__
    return route


def _admitted(request: Request) -> None:
    """Before anything is read: whoever may not write has nothing to say, and JSON comes with the token in a header."""
    session: Session = request.app.state.session
    if session.read_only:
        raise HTTPException(403, worded("This explorer was started read-only."))
    given, plain = request.headers.get(safety.TOKEN), request.headers.get("content-type", "").startswith(failures.JSON)
    if (given or plain) and not safety.is_token(given, session.token):
        raise HTTPException(403, worded("The page is older than the server: reload it, and try again."))


async def _told(request: Request) -> dict[str, Any]:
    """The values of a body, whichever way they came."""
    if not request.headers.get("content-type", "").startswith(failures.JSON):
        known = await _with_token(request)
        return bodies.of_form(await known.form(max_files=200, max_part_size=safety.LARGEST))
    try:
        given = await request.body()
        return bodies.of_json(await beside(request.app.state.writers, json.loads, given))
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or a number of thousands of digits
        wrong = {"loc": ("body",), "msg": "this is not JSON", "type": "value_error"}
        raise RequestValidationError([wrong]) from error


async def _with_token(request: Request) -> Request:
    """The same request, after a look at its beginning: forms tell the token first, and are read no further without."""
    session: Session = request.app.state.session
    messages: list[Any] = []
    head, more = b"", True
    while more and len(head) < LOOKED_AT:
        message = await request.receive()
        messages.append(message)
        head, more = head + message.get("body", b""), bool(message.get("more_body"))
    found = _TOKEN.search(head[:LOOKED_AT])
    told = found[found.lastindex].decode("ascii") if found and found.lastindex else None
    if not safety.is_token(request.headers.get(safety.TOKEN) or told, session.token):
        raise HTTPException(403, worded("The page is older than the server: reload it, and try again."))

    async def receive() -> Any:
        return messages.pop(0) if messages else await request.receive()

    return Request(request.scope, receive)


def allowed(request: Request, told: Any) -> Session:
    """The session, for whoever has its token; in read-only mode for nobody."""
    session: Session = request.app.state.session
    if session.read_only:
        raise HTTPException(403, worded("This explorer was started read-only."))
    if not safety.is_token(request.headers.get(safety.TOKEN) or told, session.token):
        raise HTTPException(403, worded("The page is older than the server: reload it, and try again."))
    return session


def repeated(body: Any, *names: str) -> tuple[tuple[str, str], ...]:
    """The values that a form has to tell again to ask for the same."""
    told = asdict(body)
    kept = {name: told[name] for name in names if told[name] is not None and told[name] is not False}
    return tuple(
        (name, "1" if one is True else str(one))
        for name, value in kept.items()
        for one in (value if isinstance(value, tuple) else (value,))
        if one != ""
    )


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


@dataclass(frozen=True, kw_only=True)
class Sure:
    """A question before something large is done, and how to take that back."""

    question: str
    yes: str
    inverse: str
    action: str
    values: tuple[tuple[str, str], ...]
    back: str
    state: str


def asked(
    request: Request, session: Session, body: Any, yes: str, inverse: str, values: tuple[tuple[str, str], ...] = ()
) -> Response:
    """A question before something is done, as a page or as data."""
    to = safe_back(request, body.back)
    if wants_data(request):
        return JSONResponse(asdict(Done(False, f"{request.app.state.root}{to}", f"{yes}?")))
    question = Sure(
        question=f"{yes}?",
        yes=yes,
        inverse=inverse,
        action=request.scope["route"].path,
        values=values,
        back=to,
        state=body.state,
    )
    return HTMLResponse(frame.page_of(request, "sure.html", question, session.view(), getattr(body, "topic", None)))


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """A change that was told on a page of an earlier state: both versions, to choose from."""

    title: str
    since: tuple[str, ...]
    theirs: str
    yours: str
    action: str
    button: str  # empty: it cannot be done any more
    values: tuple[tuple[str, str], ...]
    back: str
    state: str


def _since(session: Session, view: View, state: str) -> tuple[str, ...]:
    """What was done after somebody looked, in words."""
    done = session.history(view, state)
    said = tuple(step_in_words(view.collection.generation.database, one) for one in done[:SHOWN])
    if len(done) > SHOWN:
        return (*said, worded("and {number} more", number=len(done) - SHOWN))
    return said or (_other_documents(view, state),)


def _other_documents(view: View, state: str) -> str:
    """Why a page is of another generation: documents were removed or brought back, or it was grown anew."""
    folder, database = view.collection.folder, view.collection.generation.database
    newest = next(iter(edit_log.history(database, limit=1)), None)
    if generation_of(state) in folder.manifest.kept or (newest is not None and newest.kind in (REMOVE, FORGET)):
        return worded("documents were removed")
    taken = {one.number: one.kind for one in edit_log.history(database, limit=2)}
    back = newest is not None and newest.kind == UNDO and taken.get(newest.body["edit"]) == REMOVE
    return worded("documents that were removed were brought back") if back else worded(GROWN)


def _title(view: View, state: str) -> str:
    """What has happened, in a line."""
    if generation_of(state) != generation_of(view.mark):
        said = _other_documents(view, state)
        return said[0].upper() + said[1:]
    return worded("The tree was changed in another window")


def conflict(session: Session, view: View, state: str, **values: Any) -> Conflict:
    """A change of an earlier state of the collection, beside what has happened since."""
    return Conflict(title=_title(view, state), since=_since(session, view, state), state=view.mark, **values)


def conflict_answer(request: Request, view: View, conflict: Conflict) -> Response:
    """Both versions as a page; or as data."""
    if wants_data(request):
        message = worded(
            "{what}: {steps}. As it is now: {theirs}.",
            what=conflict.title, steps="; ".join(conflict.since), theirs=conflict.theirs,
        )  # fmt: skip
        return failures.answer(request, failures.Failure(409, conflict.title, message, worded("reload the page")))
    return HTMLResponse(frame.page_of(request, "conflict.html", conflict, view), 409)
