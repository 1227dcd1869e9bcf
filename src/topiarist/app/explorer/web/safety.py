"""Who may ask, who may write, and what a browser may do with an answer.

- The server listens on this machine only, and answers to its own names only: a page of another site that has its name
  point here (DNS rebinding) gets nothing.
- Writing needs a POST from a page of this server (``Sec-Fetch-Site``, or ``Origin``), and the token that only its pages
  know. There are no cookies that a foreign page could send along.
- Programs may give the token of the address as ``Authorization: Bearer`` instead, which no foreign page can. Without a
  browser's headers they may ask where texts would be filed, by a POST that changes nothing; and nothing else.
- What is shown may load nothing from anywhere else, and run no script but ours; text of documents is only ever text.
- Every address begins with a token that is made for this run (unless ``--no-token``): who else works on this machine
  gets in no more than others do.
"""

from __future__ import annotations

import hmac
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DOWNLOAD_POLICY = "default-src 'none'; sandbox"
LOOPBACK = ("127.0.0.1", "localhost")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TOKEN = "x-topiarist-token"  # noqa: S105
PLACEMENTS = "/file.json"  # by POST, changes nothing
LARGEST = 32 << 20  # bytes of a request


class SafeHeaders:
    """Adds what every answer must say, unless a route has said something stricter."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, told)


class Doorkeeper:
    """Lets no large request and no foreign write in, and, where a token is asked for, nobody without it."""

    def __init__(self, app: ASGIApp, door: str = "") -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer why not."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return
        await self.app(self._inside(scope), receive, send)

    def _refused(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if self.door and not (self._has_token(scope["path"]) or is_token(bearer(headers), self.door)):
            return PlainTextResponse("This address needs its token. Open the address that topiarist printed.", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            return PlainTextResponse(f"A request may have {LARGEST >> 20} MB at most.", 413)
        if "transfer-encoding" in headers:
            return PlainTextResponse("A request has to say how long it is.", 411)
        reads = scope["method"] in ("GET", "HEAD") or (self._places(scope) and is_program(headers))
        if not reads and not same_origin(headers):
            return PlainTextResponse("Only pages of this server may change something.", 403)
        if headers.get("sec-fetch-site") == "cross-site" and not navigates(headers):
            return PlainTextResponse("Pages of other sites may lead here, and ask for nothing.", 403)
        return None

    def _has_token(self, path: str) -> bool:
        given = path.lstrip("/").split("/", 1)[0]
        return hmac.compare_digest(given.encode(), self.door.encode())

    def _places(self, scope: Scope) -> bool:
        path = str(scope["path"])
        return path == PLACEMENTS or bool(self.door and path == f"/{self.door}{PLACEMENTS}")

    def _inside(self, scope: Scope) -> Scope:
        """The token is where the pages begin: they are found behind it, and what leads elsewhere keeps it."""
        return {**scope, "root_path": f"/{self.door}"} if self.door else scope


class Heads:
    """Answers HEAD wherever GET is answered: the same, without its body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; of a HEAD as if it were a GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, without_body)


def navigates(headers: Headers) -> bool:
    """Whether somebody goes to a page, and no page asks behind a person's back."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest", "document") == "document"


def same_origin(headers: Headers) -> bool:
    """Whether a browser says that the request comes from a page of this server; silence is a no."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == headers.get("host", "")


def bearer(headers: Headers) -> str:
    """The token that a program gives in a header, if it does."""
    kind, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if kind.lower() == "bearer" else ""


def is_program(headers: Headers) -> bool:
    """Whether no browser asks: it would say from where."""
    return "origin" not in headers and "sec-fetch-site" not in headers


def is_token(given: Any, token: str) -> bool:
    """Whether it is the token, in a time that does not tell how much of it is right."""
    return isinstance(given, str) and hmac.compare_digest(given.encode(), token.encode())
