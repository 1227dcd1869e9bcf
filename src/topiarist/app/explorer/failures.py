"""When something goes wrong: what the address meant, and what to try, in words. Never a word of a document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import numpy as np
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from topiarist.app.explorer import addresses, frame, rendering
from topiarist.app.explorer.posting import wants_data
from topiarist.app.explorer.values import Choice
from topiarist.app.explorer.view import View
from topiarist.errors import DamagedError, InputError, ResourceError, TopiaristError, UsageError
from topiarist.files import contents, log
from topiarist.files.shaping import ChangedError
from topiarist.files.state import SHARES, State

_MISSING = re.compile(r"(?:there is )?no (document|topic|page|word|level)\b(?! was)")


@dataclass(frozen=True)
class Failure:
    """Why there is no page, and what to try."""

    status: int
    title: str
    message: str
    hint: str = ""
    links: tuple[Choice, ...] = ()
    number: str = ""  # of a fault of ours, as the log has it
    log: str = ""


SAID = {
    400: "There is nothing to read in it", 403: "Not from there, or not with this token",
    404: "There is no such thing here", 409: "Somebody has changed it since", 422: "A value that makes no sense",
    500: "A fault of ours", 503: "Not now: somebody else writes, or it would take too long",
}  # fmt: skip


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The failures that a route may answer with, for its description."""
    return {
        status: {"description": SAID[status], "model": Failure, "content": {"text/html": {}}} for status in statuses
    }


def add(app: FastAPI) -> None:
    """Answer every failure with a page, or with data where data was asked for."""
    app.add_exception_handler(TopiaristError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def answer(request: Request, failure: Failure) -> Response:
    """A failure as a page or as data."""
    if wants_data(request):
        return JSONResponse({**vars(failure), "links": [vars(link) for link in failure.links]}, failure.status)
    desk, around, token = request.app.state.desk, None, ""
    try:
        view = desk.view()
        around = frame.frame(view)
        token = "" if desk.read_only or failure.status >= 500 else desk.token
    except Exception:
        around = None
    text = rendering.render(
        "failure.html", page=failure, frame=around, root=request.app.state.root, here="", token=token, query="",
        read_only=desk.read_only, job=desk.told(strip=True), undoable="", version="",
    )  # fmt: skip
    return HTMLResponse(text, failure.status)


async def _known(request: Request, error: Exception) -> Response:
    """An error in words: the status tells whose fault it is."""
    assert isinstance(error, TopiaristError)  # noqa: S101
    if isinstance(error, UsageError):
        return answer(request, _gone(request, error) or _refused(error))
    status = 400 if isinstance(error, InputError) else 503 if isinstance(error, ResourceError) else 500
    title = "The collection is damaged" if isinstance(error, DamagedError) else "This does not go now"
    return answer(request, Failure(status, title, _said(error.message), error.hint))


def _refused(error: UsageError) -> Failure:
    """Something that is not there, or that was changed meanwhile, or that makes no sense."""
    status, title = 422, "This makes no sense here"
    missing = _MISSING.match(error.message)
    if isinstance(error, ChangedError):
        status, title = 409, "Changed in another window"
    elif missing:
        status, title = 404, f"There is no such {missing[1]}"
    return Failure(status, title, _said(error.message), error.hint)


def _said(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0]
    name = str(first["loc"][-1]) if first.get("loc") else "a value"
    return answer(
        request, Failure(422, "This address makes no sense", f"{name}: {first['msg']}.", "the page without it")
    )


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        failure = Failure(404, "There is no such page", "Nothing in the explorer has this address.", "the overview")
        return answer(request, failure)
    title = HTTPStatus(error.status_code).phrase
    return answer(request, Failure(error.status_code, title, str(error.detail)))


def _gone(request: Request, error: UsageError) -> Failure | None:
    """A topic that was there once: what it was called, and where its documents are now."""
    asked = request.path_params.get("topic", request.query_params.get("topic"))
    if asked is None or not str(asked).isdecimal() or len(str(asked)) > 9 or "topic" not in error.message:
        return None
    view: View = request.app.state.desk.view()
    topic = int(asked)
    for entry in log.history(view.collection.generation.database, limit=200):
        state = State.from_dict(log.state(view.collection.generation.database, entry.after))
        if topic in state.shape.node_of:
            name = state.shape.name(topic)
            message = f"Topic “{name}” belonged to the tree of {entry.time[:10]}, which was changed since."
            now = _now(view, state, topic)
            if now is not None:
                found = view.shape.topics[now]
                links = (Choice(view.names[now], addresses.topic(found), False),)
                return Failure(404, "This topic is gone", f"{message} Its documents are now mostly under:", "", links)
            return Failure(404, "This topic is gone", message, "the overview")
    return Failure(404, "There is no such topic", f"No tree of this collection had a topic {topic}.", "the overview")


def _now(view: View, state: State, topic: int) -> int | None:
    """Where most documents of a topic of an earlier state are now."""
    shares = contents.stacked([contents.read_matrix(view.collection.part(name)) for name in state.pieces(SHARES)])
    below = state.shape.tree.path_mask(state.shape.class_nodes)[:, state.shape.node(topic)]
    rows = np.flatnonzero(shares @ below.astype(np.float64) >= 0.5)
    rows = rows[rows < view.n_docs]
    return int(np.bincount(view.homes[rows]).argmax()) if len(rows) else None
