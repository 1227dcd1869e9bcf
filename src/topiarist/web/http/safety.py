"""Access rules of the explorer: hosts, origins, tokens and security headers.

- The server listens on this machine only, and answers only requests for its own names. A page of another site that
  resolves its name to this machine (DNS rebinding) is refused.
- Writing requires a POST from a page of this server (``Sec-Fetch-Site``, or ``Origin``), and the token of its pages.
  There are no cookies that a foreign page could send.
- Programs can send the token of the address as ``Authorization: Bearer``. Without headers of a browser they can also
  ask for assignments of texts, by a POST that changes nothing.
- Pages load nothing from other servers, and run only our scripts. Text of documents is never markup.
- Each address begins with a token of this run, unless ``--no-token``. Other users of this machine do not know it.
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


class Middleware:
    """ASGI application around another one that changes or refuses HTTP requests."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an HTTP request, pass on server start and stop, and drop other connections."""
        if scope["type"] == "http":
            await self.answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


class SafeHeaders(Middleware):
    """Middleware that adds the safety headers, unless a route has set stricter ones."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add the safety headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class RequestGuard(Middleware):
    """Middleware that rejects oversized requests, cross-site writes and requests without a valid token."""

    def __init__(self, app: ASGIApp, door: str = "") -> None:
        super().__init__(app)
        self.door = door

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._refuse_request(scope) or self.app)(self._add_root_path(scope), receive, send)

    def _refuse_request(self, scope: Scope) -> PlainTextResponse | None:
        """Return the refusal of an unsafe request, or None for an allowed one."""
        headers = Headers(scope=scope)
        if self.door and not (self._has_token(scope["path"]) or is_token(bearer(headers), self.door)):
            return PlainTextResponse("This address needs its token. Open the address that topiarist printed.", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            return PlainTextResponse(f"A request may have {LARGEST >> 20} MB at most.", 413)
        if "transfer-encoding" in headers:
            return PlainTextResponse("Expected the header Content-Length.", 411)
        reads = scope["method"] in ("GET", "HEAD") or (self._is_placement(scope) and is_program(headers))
        if not reads and not same_origin(headers):
            return PlainTextResponse("Only pages of this server may change something.", 403)
        if headers.get("sec-fetch-site") == "cross-site" and not is_navigation(headers):
            return PlainTextResponse("Pages of other sites may lead here, and ask for nothing.", 403)
        return None

    def _has_token(self, path: str) -> bool:
        token = path.lstrip("/").split("/", 1)[0]
        return hmac.compare_digest(token.encode(), self.door.encode())

    def _is_placement(self, scope: Scope) -> bool:
        path = str(scope["path"])
        return path == PLACEMENTS or bool(self.door and path == f"/{self.door}{PLACEMENTS}")

    def _add_root_path(self, scope: Scope) -> Scope:
        return {**scope, "root_path": f"/{self.door}"} if self.door else scope


class Heads(Middleware):
    """Middleware that answers HEAD like GET, without the body."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass HEAD on as GET and send the response without its body."""

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        is_head = scope["method"] == "HEAD"
        inner = {**scope, "method": "GET"} if is_head else scope
        await self.app(inner, receive, send_without_body if is_head else send)


def is_navigation(headers: Headers) -> bool:
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest", "document") == "document"


def same_origin(headers: Headers) -> bool:
    """Return whether the browser names a page of this server as the origin; no header means no."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == headers.get("host", "")


def bearer(headers: Headers) -> str:
    """Return the token of the Authorization header."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def is_program(headers: Headers) -> bool:
    """Return whether the request has no headers of a browser."""
    return "origin" not in headers and "sec-fetch-site" not in headers


def is_token(value: Any, token: str) -> bool:
    """Compare a token in constant time."""
    return isinstance(value, str) and hmac.compare_digest(value.encode(), token.encode())
