"""Faults of ours: a page with a number, and a file with the places in our code. Never a word of a document.

They are caught inside the middleware that adds the safety headers, and end here: what the framework does with a fault
is outside of it, and the server prints the exception with its text.
"""

from __future__ import annotations

import os
import platform
import secrets
import tempfile
import traceback
from datetime import datetime
from functools import cache

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topiarist.app.explorer.web.failures import Failure, answer
from topiarist.version import __version__


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
    made_by = f"topiarist {__version__}, Python {platform.python_version()}, {platform.system()}"
    lines = [f"{number} {datetime.now().isoformat(timespec='seconds')} {type(error).__name__} ({made_by})"]
    lines += [
        f"  {os.path.basename(line.filename)}:{line.lineno} in {line.name}"
        for line in traceback.extract_tb(error.__traceback__)
    ]
    os.write(descriptor, ("\n".join(lines) + "\n").encode())
    message = f"topiarist failed where it should not have ({type(error).__name__})."
    return Failure(500, "A fault of ours", message, "the page before", (), number, path, "\n".join(lines))


@cache
def _log() -> tuple[str, int]:
    """A new file that only we may read, under a name that nobody could have laid a link at."""
    descriptor, path = tempfile.mkstemp(prefix="topiarist-explorer-", suffix=".log")
    return path, descriptor
