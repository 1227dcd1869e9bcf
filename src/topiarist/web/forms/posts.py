"""Common parts of routes that change a collection: body, token, redirect and conflicts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from anyio import move_on_after, to_thread
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from topiarist.collection.shape.history import FORGET, REMOVE, UNDO, describe_step
from topiarist.display.locale.catalogues import translate
from topiarist.storage import edit_log
from topiarist.web import frame
from topiarist.web.forms import bodies
from topiarist.web.http import failures, safety
from topiarist.web.http.failures import wants_data
from topiarist.web.session import Session, generation_of
from topiarist.web.view import View

MAX_EDITS = 10  # steps that were done meanwhile
GROWN_AGAIN = "the collection was grown again"
PATIENCE = 5.0  # seconds that a change waits for another writer
PATIENT = 60.0  # seconds in which a body has to come
LOOKED_AT = 16 << 10  # bytes of a form in which its token stands
_TOKEN = re.compile(rb'(?:^|&)token=([\w-]{1,200})|name="token"\r\n(?:[^\r\n]+\r\n)*\r\n([\w-]{1,200})\r\n')
Does = Callable[[Request, Session, Any], Response]


@dataclass(frozen=True)
class Done:
    """Answer to a change by a program: its result, or the question that must be confirmed."""

    done: bool
    to: str  # the page that shows it
    question: str = ""  # to be answered by the same again, with ``sure``


def handle_post(does: Does, kind: type) -> Any:
    """Return a route that reads a body, checks its token and makes the change in a worker thread."""

    async def route(request: Request) -> Response:
        _check_request(request)
        with move_on_after(PATIENT) as clock:
            values = await _parse_body(request)
        if clock.cancelled_caught:
            raise HTTPException(
                408, translate("The upload did not finish within {number} seconds", number=f"{PATIENT:g}")
            )
        session = authorise(request, values.get("token"))
        limiter = request.app.state.bringing if kind is bodies.UploadBody else request.app.state.writers
        return await to_thread.run_sync(does, request, session, bodies.validate_body(kind, values), limiter=limiter)

    route.__doc__ = does.__doc__
    return route


def _check_request(request: Request) -> None:
    """Reject requests to a read-only server and JSON without a valid token before the body is read."""
    session: Session = request.app.state.session
    if session.read_only:
        raise HTTPException(403, translate("This explorer was started read-only."))
    token, plain = request.headers.get(safety.TOKEN), request.headers.get("content-type", "").startswith(failures.JSON)
    if (token or plain) and not safety.is_token(token, session.token):
        raise HTTPException(403, translate("The page is older than the server. Reload it and try again."))


async def _parse_body(request: Request) -> dict[str, Any]:
    """Return the values of a form or of JSON. Check the token of a form first. Raise a validation error."""
    if not request.headers.get("content-type", "").startswith(failures.JSON):
        has_token = await _check_token(request)
        return bodies.parse_form(await has_token.form(max_files=200, max_part_size=safety.LARGEST))
    try:
        data = await request.body()
        return bodies.parse_json(await to_thread.run_sync(json.loads, data, limiter=request.app.state.writers))
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or a number of thousands of digits
        wrong = {"loc": ("body",), "msg": "this is not JSON", "type": "value_error"}
        raise RequestValidationError([wrong]) from error


async def _check_token(request: Request) -> Request:
    """Check the form token in the first bytes and return the request unread. Raise HTTP error 403."""
    session: Session = request.app.state.session
    messages: list[Any] = []
    head, has_more = b"", True
    while has_more and len(head) < LOOKED_AT:
        message = await request.receive()
        messages.append(message)
        head, has_more = head + message.get("body", b""), bool(message.get("more_body"))
    result = _TOKEN.search(head[:LOOKED_AT])
    values = result[result.lastindex].decode("ascii") if result and result.lastindex else None
    if not safety.is_token(request.headers.get(safety.TOKEN) or values, session.token):
        raise HTTPException(403, translate("The page is older than the server. Reload it and try again."))

    async def receive() -> Any:
        return messages.pop(0) if messages else await request.receive()

    return Request(request.scope, receive)


def authorise(request: Request, form: Any) -> Session:
    """Return the session. Raise HTTP error 403 for an invalid token or a read-only server."""
    session: Session = request.app.state.session
    if session.read_only:
        raise HTTPException(403, translate("This explorer was started read-only."))
    if not safety.is_token(request.headers.get(safety.TOKEN) or form, session.token):
        raise HTTPException(403, translate("The page is older than the server. Reload it and try again."))
    return session


def repeat_fields(body: bodies.Body, *without: str) -> tuple[tuple[str, str], ...]:
    """Return the fields of a form that repeat a request in the current state."""
    return tuple(
        (name, "1" if item is True else str(item))
        for name, value in asdict(body).items()
        if name not in {"token", "back", "state", *without}
        for item in (value if isinstance(value, tuple) else (value,))
        if item is not None and item is not False and item != ""
    )


def patience(session: Session) -> float:
    """Return the seconds that a change waits for another writer; it does not wait for a fit."""
    return PATIENCE if session.job is None or session.job.done else 0.0


def safe_back(request: Request, address: str, fallback: str = "/") -> str:
    """Return an address as a path of this server; the fallback for other servers."""
    address, root = address or fallback, request.app.state.root
    parts = urlsplit(address)
    if parts.scheme or parts.netloc or not address.startswith("/") or address.startswith(("//", "/\\")):
        address = fallback
    if root and f"{address}/".startswith(f"{root}/"):
        address = address.removeprefix(root)
    return address if address.startswith("/") else f"/{address}"


def back(request: Request, address: str, fallback: str = "/") -> Response:
    """Load the newest state and redirect to an address; programs get it as JSON."""
    session: Session = request.app.state.session
    session.fresh()
    to = f"{request.app.state.root}{safe_back(request, address, fallback)}"
    if wants_data(request):
        return JSONResponse(asdict(Done(True, to)))
    return RedirectResponse(to, 303)


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """Question that must be confirmed before a large change."""

    question: str
    yes: str
    inverse: str
    action: str
    values: tuple[tuple[str, str], ...]
    back: str
    state: str


def ask_confirmation(request: Request, session: Session, body: bodies.StateBody, yes: str, inverse: str) -> Response:
    """Return a page with a question before a change; programs get it as JSON."""
    to = safe_back(request, body.back)
    if wants_data(request):
        return JSONResponse(asdict(Done(False, f"{request.app.state.root}{to}", f"{yes}?")))
    question = Confirmation(
        question=f"{yes}?",
        yes=yes,
        inverse=inverse,
        action=request.scope["route"].path,
        values=repeat_fields(body, "sure"),
        back=to,
        state=body.state,
    )
    return HTMLResponse(
        frame.render_in_frame(request, "sure.html", question, session.view(), getattr(body, "topic", None))
    )


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Conflict of a change with a newer state of the collection."""

    title: str
    since: tuple[str, ...]  # edits that were made meanwhile
    theirs: str
    yours: str
    action: str
    button: str  # empty: it cannot be done any more
    values: tuple[tuple[str, str], ...]
    back: str
    state: str


def _list_changes_since(session: Session, view: View, state: str) -> tuple[str, ...]:
    """Return the edits since a state in words, or the reason why its documents differ."""
    done = session.list_edits_since(view, state)
    text = tuple(describe_step(view.collection.generation.database, item) for item in done[:MAX_EDITS])
    if len(done) > MAX_EDITS:
        return (*text, translate("and {number} more", number=len(done) - MAX_EDITS))
    return text or (_explain_other_documents(view, state),)


def _explain_other_documents(view: View, state: str) -> str:
    """Return why a page belongs to another generation: documents were removed, restored or grown anew."""
    folder, database = view.collection.folder, view.collection.generation.database
    newest = next(iter(edit_log.history(database, limit=1)), None)
    if generation_of(state) in folder.manifest.kept or (newest is not None and newest.kind in (REMOVE, FORGET)):
        return translate("documents were removed")
    kind_by_number = {item.number: item.kind for item in edit_log.history(database, limit=2)}
    is_restored = newest is not None and newest.kind == UNDO and kind_by_number.get(newest.body["edit"]) == REMOVE
    return translate("removed documents were restored") if is_restored else translate(GROWN_AGAIN)


def _name_conflict(view: View, state: str) -> str:
    """Return the title of a conflict."""
    if generation_of(state) != generation_of(view.mark):
        text = _explain_other_documents(view, state)
        return text[0].upper() + text[1:]
    return translate("The collection has changed")


def answer_conflict(
    request: Request, session: Session, body: bodies.StateBody, *, without: tuple[str, ...] = (), **values: Any
) -> Response:
    """Return status 409 with both versions of a change, as a page or as data.

    The page offers to repeat the request in the current state; ``without``: fields that it leaves out.
    """
    view = session.fresh()
    conflict = Conflict(**{
        "title": _name_conflict(view, body.state),
        "since": _list_changes_since(session, view, body.state),
        "action": request.scope["route"].path,
        "values": repeat_fields(body, *without),
        "back": safe_back(request, body.back),
        "state": view.mark,
        **values,
    })  # fmt: skip
    if not wants_data(request):
        return HTMLResponse(frame.render_in_frame(request, "conflict.html", conflict, view), 409)
    title = f"{conflict.title}: {'; '.join(conflict.since)}".removesuffix(": ")
    message = translate("{what}. Current state: {theirs}.", what=title, theirs=conflict.theirs)
    failure = failures.Failure(409, conflict.title, message, translate("Reload the page."))
    choice = {name: getattr(conflict, name) for name in ("theirs", "yours", "button", "state")}
    return JSONResponse({**vars(failure), **choice, "links": []}, 409)
