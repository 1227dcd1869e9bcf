"""Responses to failures: the requested address, the error and a remedy, without texts of documents.

Errors in our code are caught inside the middleware that adds the safety headers. The page shows a number, and a file has
the places in our code. The framework itself would print the exception with its text.
"""

from __future__ import annotations

import os
import platform
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
from starlette.types import Message, Receive, Scope, Send

from topiarist.collection.describe.provenance import find_removed_topic
from topiarist.collection.shape.history import ChangedError
from topiarist.display.locale.catalogues import current_language, translate
from topiarist.errors import DamagedError, InputError, MissingError, ResourceError, TopiaristError, UsageError
from topiarist.version import __version__
from topiarist.web import addresses, frame, rendering
from topiarist.web.http import safety
from topiarist.web.jobs import NO_JOB
from topiarist.web.removed_topics import (
    LeftOutError,
    describe_missing_topic,
    format_sentence,
    get_missing_topic,
    replace_topic_numbers,
)
from topiarist.web.values import Choice, link
from topiarist.web.view import View

JSON = "application/json"


@dataclass(frozen=True)
class Failure:
    """Reason why a page cannot be shown, with a hint."""

    status: int
    title: str
    message: str
    hint: str = ""
    links: tuple[Choice, ...] = ()
    number: str = ""  # of a fault of ours, as the log has it
    log: str = ""
    undo: bool = False  # whether the page offers to undo the last change
    details: str = ""  # of a fault, to be sent to whoever may mend it: places in our code, no text of a document


TITLES = {
    400: "No text found",
    403: "Access denied",
    404: "Not found",
    409: "The collection has changed",
    422: "Invalid value",
    500: "Internal error",
    503: "Temporarily unavailable: another write is in progress or the query timed out",
}


def document_failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {
        status: {"description": TITLES[status], "model": Failure, "content": {"text/html": {}}} for status in statuses
    }


def add(app: FastAPI) -> None:
    app.add_exception_handler(TopiaristError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid_request)
    app.add_exception_handler(HTTPException, _answer_http_error)


def wants_data(request: Request) -> bool:
    """Return whether the request comes from a program."""
    headers = request.headers
    return (
        request.url.path.endswith(".json")
        or JSON in headers.get("accept", "")
        or safety.TOKEN in headers
        or headers.get("content-type", "").startswith(JSON)
    )


def answer(request: Request, failure: Failure) -> Response:
    """Return an error as a page inside the frame, or as JSON for programs."""
    if wants_data(request):
        return JSONResponse({**vars(failure), "links": [vars(link) for link in failure.links]}, failure.status)
    session, view, page_frame, token = request.app.state.session, None, None, ""
    here, undoable = "", None
    try:
        view = session.view()
        page_frame = frame.build_frame(view)
        token = "" if session.read_only or failure.status >= 500 else session.token
        if failure.undo and token:
            here = frame.get_request_path(request) if request.method == "GET" else "/"
            undoable = session.find_undoable(view)
    except Exception:
        page_frame = None
    text = rendering.render(
        "failure.html",
        current_language(),
        page=failure,
        frame=page_frame,
        root=request.app.state.root,
        here=here,
        token=token,
        query="",
        read_only=session.read_only,
        job=NO_JOB if view is None else session.report_job(view),
        undoable=undoable,
        version="",
    )
    return HTMLResponse(text, failure.status)


def _answer_error(request: Request, error: Exception) -> Response:
    """Return the response to an error of topiarist, with the status of its class."""
    assert isinstance(error, TopiaristError)  # noqa: S101
    if isinstance(error, UsageError):
        view: View = request.app.state.session.view()
        return answer(request, _create_removed_topic_failure(view, error) or _create_usage_failure(view, error))
    status = 400 if isinstance(error, InputError) else 503 if isinstance(error, ResourceError) else 500
    is_damaged = isinstance(error, DamagedError)
    title = translate("The collection is damaged" if is_damaged else "Not possible now")
    return answer(request, Failure(status, title, format_sentence(error.message), error.hint))


def _create_usage_failure(view: View, error: UsageError) -> Failure:
    """Return the failure of a wrong request: status 404, 409 or 422."""
    status, title = 422, translate("Invalid request")
    if isinstance(error, LeftOutError):
        return Failure(404, translate("Skipped file"), error.message, error.hint)
    if isinstance(error, ChangedError):
        status, title = 409, translate("The collection has changed")
    elif isinstance(error, MissingError):
        status, title = 404, translate("No such {thing}", thing=error.kind)
    return Failure(status, title, *replace_topic_numbers(view, error))


def _answer_invalid_request(request: Request, error: Exception) -> Response:
    """Return status 422 with the name of the invalid parameter."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0]
    name = str(first["loc"][-1]) if first.get("loc") else "a value"
    return answer(
        request,
        Failure(
            422, translate("Invalid URL"), f"{name}: {first['msg']}.", translate("Open the page without this value.")
        ),
    )


def _answer_http_error(request: Request, error: Exception) -> Response:
    """Return the response to an HTTP error; 404 has its own text."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        failure = Failure(
            404,
            translate("Page not found"),
            translate("This URL does not exist in the explorer."),
            translate("Open the overview."),
        )
        return answer(request, failure)
    title = HTTPStatus(error.status_code).phrase
    return answer(request, Failure(error.status_code, title, str(error.detail)))


def _create_removed_topic_failure(view: View, error: UsageError) -> Failure | None:
    """Return the failure of a missing topic, with links to its successor; None for other errors."""
    topic = get_missing_topic(error)
    if topic is None:
        return None
    was = find_removed_topic(view, topic)
    description = describe_missing_topic(view, topic, was)
    if was is None:
        return Failure(404, translate("Topic not found"), description, translate("Open the overview."))
    if was.now is None:
        hint = translate("Open the overview.")
        return Failure(404, translate("This topic no longer exists"), description, hint, undo=bool(was.step))
    links = (link(view.names[was.now], addresses.topic(view.shape.topics[was.now])),)
    text = translate("{meant} Most of its documents are now under:", meant=description)
    return Failure(404, translate("This topic no longer exists"), text, "", links, undo=bool(was.step))


class Faults(safety.Middleware):
    """Middleware that answers an unexpected error with a page, and writes it to the log."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. An unexpected error is logged and answered with a page."""
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            failure = log_error(error)
            if not begun:
                await answer(Request(scope, receive), failure)(scope, receive, send)


def log_error(error: Exception) -> Failure:
    """Write an error with its code lines to the log, without document texts. Return the failure to show."""
    number, (path, descriptor) = secrets.token_hex(4), _log()
    made_by = ", ".join((f"topiarist {__version__}", f"Python {platform.python_version()}", platform.system()))
    lines = [f"{number} {datetime.now().isoformat(timespec='seconds')} {type(error).__name__} ({made_by})"]
    lines += [
        " ".join((f"  {os.path.basename(line.filename)}:{line.lineno}", "in", line.name))
        for line in traceback.extract_tb(error.__traceback__)
    ]
    os.write(descriptor, ("\n".join(lines) + "\n").encode())
    message = translate("An internal error occurred.")
    details = "\n".join(lines)
    return Failure(
        500,
        translate(TITLES[500]),
        message,
        translate("Go back to the previous page."),
        number=number,
        log=path,
        details=details,
    )


@cache
def _log() -> tuple[str, int]:
    """Create a log file that only its owner can read."""
    descriptor, path = tempfile.mkstemp(prefix="topiarist-explorer-", suffix=".log")
    return path, descriptor
