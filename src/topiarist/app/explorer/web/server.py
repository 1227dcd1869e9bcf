"""The server: which function answers which address, as a page and as data."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from topiarist.app.explorer import frame, writes
from topiarist.app.explorer.pages import document, search
from topiarist.app.explorer.pages.registry import PAGES, Page, current_topic
from topiarist.app.explorer.query_limits import found_under
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import downloads, failures, map_points, placements, safety
from topiarist.app.explorer.web.reader_language import ReaderLanguage
from topiarist.app.explorer.web.worker_threads import BRINGING, few_at_once, writers
from topiarist.app.languages.catalogues import AUTO, checked
from topiarist.errors import TopiaristError
from topiarist.version import __version__

PACKAGE = "topiarist.app.explorer"


def explorer(
    folder: str,
    *,
    read_only: bool = False,
    hosts: tuple[str, ...] = safety.LOOPBACK,
    door: str = "",
    beside: tuple[str, ...] = (),
    local: bool | None = None,
    language: str = AUTO,
) -> FastAPI:
    """The application for a collection. ``door``: the token with which every address has to begin.

    ``beside``: other collections to compare it with, which are only ever read. ``local``: nobody but this machine can
    ask, and gets original files; without a word, where there is no door. ``language``: of the pages, "auto" as browsers
    ask for.
    """
    app = FastAPI(
        title="topiarist explorer",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        description="The pages of a collection as data: what each page shows, at its address with .json behind it.",
        lifespan=few_at_once,
    )
    others = tuple(Session(other, read_only=True) for other in beside)
    app.state.session = Session(folder, read_only=read_only, beside=others)
    app.state.writers, app.state.bringing = writers(), writers(BRINGING)
    app.state.root = f"/{door}" if door else ""
    app.state.local = not door if local is None else local
    for session in (app.state.session, *others):
        session.view()  # what cannot be opened is told before anybody waits for a page
    failures.add(app)
    for page in PAGES:
        _add(app, page)
    _add_documents(app)
    downloads.add(app)
    map_points.add(app)
    placements.add(app)
    writes.add(app)
    app.mount("/assets", StaticFiles(packages=[(PACKAGE, "assets")]))
    app.add_middleware(safety.Heads)
    app.add_middleware(ReaderLanguage, language=checked(language))
    app.add_middleware(safety.Doorkeeper, door=door)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.add_middleware(failures.Faults)
    app.add_middleware(safety.SafeHeaders)
    return app


def make_ready(session: Session) -> None:
    """Work out what most pages need, and those that take longest at first, before anybody asks."""
    view = session.view()
    for page in PAGES:
        if page.slow:
            session.rest()
            with suppress(TopiaristError, OSError):  # whoever asks for it is told
                session.looked_at(view, lambda view, page=page: page.load(view, page.ask()))  # type: ignore[misc]
    view.warm(session.rest)


def current_view(request: Request) -> View:
    """The latest state of the collection."""
    session: Session = request.app.state.session
    return session.view()


Latest = Annotated[View, Depends(current_view)]


def shown(request: Request, page: Page, ask: Any, view: View) -> HTMLResponse:
    """A page as HTML."""
    session: Session = request.app.state.session

    def made(view: View) -> str:
        value = page.load(view, ask)
        matching = None
        if isinstance(value, search.SearchPage | document.DocumentPage):
            with search.time_for(ask) if isinstance(ask, search.Ask) else nullcontext():
                matching = found_under(view, value.query, value.by)
        return frame.page_of(request, page.template, value, view, current_topic(ask, value), matching)

    return HTMLResponse(session.looked_at(view, made))


def _add(app: FastAPI, page: Page) -> None:
    """A page and its data."""

    def as_html(request: Request, view: Latest, ask: Any = Depends(page.ask)) -> Any:
        return shown(request, page, ask, view)

    def as_data(request: Request, view: Latest, ask: Any = Depends(page.ask)) -> Any:
        return request.app.state.session.looked_at(view, lambda view: page.load(view, ask))

    name = page.value.__name__
    app.add_api_route(
        page.data_path,
        as_data,
        response_model=page.value,
        name=name,
        summary=page.question,
        responses=failures.documented(404, 422, 503),
    )
    app.add_api_route(page.path, as_html, include_in_schema=False, response_class=HTMLResponse, name=f"{name} as HTML")


def _add_documents(app: FastAPI) -> None:
    """Documents by their ids, which may hold slashes; with .json behind it the same as data."""
    page = next(page for page in PAGES if page.path == "/doc")

    def by_path(request: Request, view: Latest, name: str, ask: Any = Depends(document.Ask)) -> Any:
        if name.endswith(".json"):
            wanted = replace(ask, id=name.removesuffix(".json"))
            session: Session = request.app.state.session
            return JSONResponse(asdict(session.looked_at(view, lambda view: document.load(view, wanted))))
        return shown(request, page, replace(ask, id=name), view)

    app.add_api_route("/doc/{name:path}", by_path, include_in_schema=False, response_class=HTMLResponse)
