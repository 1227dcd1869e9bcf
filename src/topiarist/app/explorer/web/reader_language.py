"""In which language whoever asks is answered: pages in theirs, data in English for all programs alike."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topiarist.app.languages.catalogues import AUTO, ENGLISH, speaking, wanted

JSON = "application/json"


class ReaderLanguage:
    """Answers each request in a language: one for all, or that which the browser asks for."""

    def __init__(self, app: ASGIApp, language: str = AUTO) -> None:
        self.app, self.language = app, language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; the answer says which language it is in, and that another may be had."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        spoken = wanted(headers.get("accept-language", "")) if self.language == AUTO else self.language
        if scope["path"].endswith(".json") or JSON in headers.get("accept", ""):
            spoken = ENGLISH

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                if own.get("content-type", "").startswith("text/html"):
                    own["Content-Language"] = spoken
                    if self.language == AUTO:
                        own.append("Vary", "Accept-Language")
            await send(message)

        with speaking(spoken):
            await self.app(scope, receive, told)
