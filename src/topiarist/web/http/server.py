"""Application of the explorer: routes of pages, as HTML and as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topiarist.display.locale.catalogues import AUTO, ENGLISH, check_language, preferred_language, use_language
from topiarist.errors import TopiaristError
from topiarist.execution.threads import count_available_cores
from topiarist.version import __version__
from topiarist.web import forms, frame
from topiarist.web.http import downloads, failures, placements, safety
from topiarist.web.pages import document, search
from topiarist.web.pages.registry import PAGES, Page, current_topic
from topiarist.web.query_limits import count_hits_below
from topiarist.web.session import Session
from topiarist.web.view import View

PACKAGE = "topiarist.web"
EXTRA_THREADS = 2  # threads beyond the cores: a page may wait for the disk; more only take memory for each other
UPLOAD_THREADS = 1  # long documents are counted one after the other
WRITERS = 8  # changes that wait for each other and keep no reader from reading


@asynccontextmanager
async def limit_threads(app: FastAPI) -> AsyncIterator[None]:
    to_thread.current_default_thread_limiter().total_tokens = count_available_cores() + EXTRA_THREADS
    yield


class ReaderLanguage(safety.Middleware):
    """Middleware that sets the language of pages; data are in English."""

    def __init__(self, app: ASGIApp, language: str = AUTO) -> None:
        super().__init__(app)
        self.language = language

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on in the language of the reader; JSON is English."""
        headers = Headers(scope=scope)
        language = preferred_language(headers.get("accept-language", "")) if self.language == AUTO else self.language
        if scope["path"].endswith(".json") or failures.JSON in headers.get("accept", ""):
            language = ENGLISH

        async def send_with_language(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers["Content-Language"] = language
                    if self.language == AUTO:
                        headers.append("Vary", "Accept-Language")
            await send(message)

        with use_language(language):
            await self.app(scope, receive, send_with_language)


def explorer(
    folder: str,
    *,
    read_only: bool = False,
    hosts: tuple[str, ...] = safety.LOOPBACK,
    door: str = "",
    local: bool | None = None,
    language: str = AUTO,
) -> FastAPI:
    """Return the application of a collection.

    ``door``: token at the start of every address. ``local``: only this machine can ask, so that original files are
    served; by default if there is no token. ``language``: language of the pages; "auto" follows the browser.
    """
    app = FastAPI(
        title="topiarist explorer",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        description="The pages of a collection as data: what each page shows, at its address with .json behind it.",
        lifespan=limit_threads,
    )
    app.state.session = Session(folder, read_only=read_only)
    app.state.writers, app.state.bringing = CapacityLimiter(WRITERS), CapacityLimiter(UPLOAD_THREADS)
    app.state.root = f"/{door}" if door else ""
    app.state.local = not door if local is None else local
    app.state.session.view()  # a collection that cannot be opened stops the server before it starts
    failures.add(app)
    for page in PAGES:
        _add(app, page)
    _add_documents(app)
    downloads.add(app)
    placements.add(app)
    forms.add(app)
    app.mount("/assets", StaticFiles(packages=[(PACKAGE, "static")]))
    app.add_middleware(safety.Heads)
    app.add_middleware(ReaderLanguage, language=check_language(language))
    app.add_middleware(safety.RequestGuard, door=door)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.add_middleware(failures.Faults)
    app.add_middleware(safety.SafeHeaders)
    return app


def make_ready(session: Session) -> None:
    """Compute the slow pages and cached values of the newest state before a user asks for them."""
    view = session.view()
    for page in PAGES:
        if page.slow:
            session.wait_for_requests()
            with suppress(TopiaristError, OSError):  # whoever asks for it is told
                session.with_current_view(view, lambda view, page=page: page.module.load(view, page.module.Ask()))  # type: ignore[misc]
    view.warm(session.wait_for_requests)


def current_view(request: Request) -> View:
    session: Session = request.app.state.session
    return session.view()


Latest = Annotated[View, Depends(current_view)]


def render_page(request: Request, page: Page, ask: Any, view: View) -> HTMLResponse:
    """Return a page as HTML, with numbers of hits in the tree for a search."""
    session: Session = request.app.state.session

    def render(view: View) -> str:
        value = page.module.load(view, ask)
        matching = None
        if isinstance(value, search.SearchPage | document.DocumentPage):
            with search.limit_search_time(ask) if isinstance(ask, search.Ask) else nullcontext():
                matching = count_hits_below(view, value.query, value.by)
        return frame.render_in_frame(request, page.template, value, view, current_topic(ask, value), matching)

    return HTMLResponse(session.with_current_view(view, render))


def _add(app: FastAPI, page: Page) -> None:
    """Add the routes of a page as HTML and as JSON."""

    def as_html(request: Request, view: Latest, ask: Any = Depends(page.module.Ask)) -> Any:
        return render_page(request, page, ask, view)

    def as_data(request: Request, view: Latest, ask: Any = Depends(page.module.Ask)) -> Any:
        return request.app.state.session.with_current_view(view, lambda view: page.module.load(view, ask))

    name = page.value.__name__
    app.add_api_route(
        page.data_path,
        as_data,
        response_model=page.value,
        name=name,
        summary=page.module.__doc__,
        responses=failures.document_failures(404, 422, 503),
    )
    app.add_api_route(page.path, as_html, include_in_schema=False, response_class=HTMLResponse, name=f"{name} as HTML")


def _add_documents(app: FastAPI) -> None:
    """Add the route of documents by id in the path, as HTML and as JSON."""
    page = next(page for page in PAGES if page.path == "/doc")

    def by_path(request: Request, view: Latest, name: str, ask: Any = Depends(document.Ask)) -> Any:
        if name.endswith(".json"):
            document_request = replace(ask, id=name.removesuffix(".json"))
            session: Session = request.app.state.session
            return JSONResponse(
                asdict(session.with_current_view(view, lambda view: document.load(view, document_request)))
            )
        return render_page(request, page, replace(ask, id=name), view)

    app.add_api_route("/doc/{name:path}", by_path, include_in_schema=False, response_class=HTMLResponse)
