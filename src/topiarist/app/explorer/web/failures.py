"""When something goes wrong: what the address meant, and what to try, in words. Never a word of a document.

Faults of ours are caught inside the middleware that adds the safety headers, and end here as a page with a number and a
file with the places in our code: what the framework does with a fault is outside of it, and the server prints the
exception with its text.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import tempfile
import traceback
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topiarist.app.explorer import addresses, frame, rendering
from topiarist.app.explorer.jobs import NO_JOB
from topiarist.app.explorer.removed_topics import LeftOutError, meaning_of, missing, sentence, spoken
from topiarist.app.explorer.values import Choice, link
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import safety
from topiarist.app.languages.catalogues import language, worded
from topiarist.collection import ChangedError, removed_topic
from topiarist.errors import DamagedError, InputError, ResourceError, TopiaristError, UsageError
from topiarist.version import __version__

JSON = "application/json"
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
    details: str = ""  # of a fault, to be sent to whoever may mend it: places in our code, no text of a document


SAID = {
    400: "There is nothing to read in it",
    403: "Not from there, or not with this token",
    404: "There is no such thing here",
    409: "Somebody has changed it since",
    422: "A value that makes no sense",
    500: "A fault of ours",
    503: "Not now: somebody else writes, or it would take too long",
}


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


def wants_data(request: Request) -> bool:
    """Whether whoever asks is a program: it says so, or does what only programs do."""
    headers = request.headers
    return (
        request.url.path.endswith(".json")
        or JSON in headers.get("accept", "")
        or safety.TOKEN in headers
        or headers.get("content-type", "").startswith(JSON)
    )


def answer(request: Request, failure: Failure) -> Response:
    """A failure as a page or as data."""
    if wants_data(request):
        return JSONResponse({**vars(failure), "links": [vars(link) for link in failure.links]}, failure.status)
    session, view, around, token = request.app.state.session, None, None, ""
    try:
        view = session.view()
        around = frame.frame(view)
        token = "" if session.read_only or failure.status >= 500 else session.token
    except Exception:
        around = None
    text = rendering.render(
        "failure.html",
        language(),
        page=failure,
        frame=around,
        root=request.app.state.root,
        here="",
        token=token,
        query="",
        read_only=session.read_only,
        job=NO_JOB if view is None else session.strip(view),
        undoable=None,
        version="",
    )
    return HTMLResponse(text, failure.status)


def _known(request: Request, error: Exception) -> Response:
    """An error in words: the status tells whose fault it is."""
    assert isinstance(error, TopiaristError)  # noqa: S101
    if isinstance(error, UsageError):
        view: View = request.app.state.session.view()
        return answer(request, _gone(view, error) or _refused(view, error))
    status = 400 if isinstance(error, InputError) else 503 if isinstance(error, ResourceError) else 500
    damaged = isinstance(error, DamagedError)
    title = worded("The collection is damaged" if damaged else "This does not go now")
    return answer(request, Failure(status, title, sentence(error.message), error.hint))


def _refused(view: View, error: UsageError) -> Failure:
    """Something that is not there, or that was changed meanwhile, or that makes no sense."""
    status, title = 422, worded("This makes no sense here")
    found = _MISSING.match(error.message)
    if isinstance(error, LeftOutError):
        return Failure(404, worded("This file was left out"), error.message, error.hint)
    if isinstance(error, ChangedError):
        status, title = 409, worded("Changed in another window")
    elif found:
        status, title = 404, worded("There is no such {thing}", thing=found[1])
    return Failure(status, title, *spoken(view, error))


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0]
    name = str(first["loc"][-1]) if first.get("loc") else "a value"
    return answer(
        request,
        Failure(422, worded("This address makes no sense"), f"{name}: {first['msg']}.", worded("the page without it")),
    )


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        failure = Failure(
            404,
            worded("There is no such page"),
            worded("Nothing in the explorer has this address."),
            worded("the overview"),
        )
        return answer(request, failure)
    title = HTTPStatus(error.status_code).phrase
    return answer(request, Failure(error.status_code, title, str(error.detail)))


def _gone(view: View, error: UsageError) -> Failure | None:
    """A topic that was there once: what it was called, and where its documents are now."""
    topic = missing(error)
    if topic is None:
        return None
    was = removed_topic(view, topic)
    meant = meaning_of(view, topic, was)
    if was is None:
        return Failure(404, worded("There is no such topic"), meant, worded("the overview"))
    if was.now is None:
        return Failure(404, worded("This topic is gone"), meant, worded("the overview"))
    links = (link(view.names[was.now], addresses.topic(view.shape.topics[was.now])),)
    said = worded("{meant} Its documents are now mostly under:", meant=meant)
    return Failure(404, worded("This topic is gone"), said, "", links)


class Faults:
    """Answers a request that failed where it should not have."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a fault is written down, and answered as long as nothing was sent yet."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            failure = written_down(error)
            if not begun:
                await answer(Request(scope, receive), failure)(scope, receive, send)


def written_down(error: Exception) -> Failure:
    """The failure for a page, after its places in the code went to the log."""
    number, (path, descriptor) = secrets.token_hex(4), _log()
    made_by = ", ".join((f"topiarist {__version__}", f"Python {platform.python_version()}", platform.system()))
    lines = [f"{number} {datetime.now().isoformat(timespec='seconds')} {type(error).__name__} ({made_by})"]
    lines += [
        " ".join((f"  {os.path.basename(line.filename)}:{line.lineno}", "in", line.name))
        for line in traceback.extract_tb(error.__traceback__)
    ]
    os.write(descriptor, ("\n".join(lines) + "\n").encode())
    message = worded("topiarist failed where it should not have.")
    details = "\n".join(lines)
    return Failure(500, worded(SAID[500]), message, worded("the page before"), number=number, log=path, details=details)


@cache
def _log() -> tuple[str, int]:
    """A new file that only we may read, under a name that nobody could have laid a link at."""
    descriptor, path = tempfile.mkstemp(prefix="topiarist-explorer-", suffix=".log")
    return path, descriptor
