"""The server: which function answers which address, as a page and as data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from topiarist.app.explorer.pages import (
    categories,
    compare,
    dendrogram,
    document,
    help,
    model,
    new,
    outline,
    overview,
    search,
    shape,
    topic,
    trees,
    word,
)
from topiarist.app.explorer.pages.lighting import lit
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import downloads, failures, faults, safety
from topiarist.app.explorer.web.worker_threads import few_at_once, writers
from topiarist.app.explorer.writes import marks
from topiarist.app.explorer.writes.posts import page_of
from topiarist.errors import TopiaristError
from topiarist.version import __version__

PACKAGE = "topiarist.app.explorer"
SLOW_AT_FIRST = ("/", "/compare", "/categories", "/trees")


@dataclass(frozen=True)
class Page:
    """A page: its address, the value that answers it, what may be asked, and the template that shows it."""

    path: str
    value: type
    ask: type
    load: Callable[[View, Any], Any]
    template: str
    current: Callable[[Any, Any], int | None] = lambda ask, value: None  # the topic at which the tree is open


def _at_topic(ask: Any, value: Any) -> int | None:
    found: int | None = ask.topic
    return found


def _at_home(ask: Any, value: Any) -> int | None:
    """Where the document lies, if it was not opened from a topic."""
    found: int | None = value.home if ask.topic is None else ask.topic
    return found


PAGES = (
    Page("/", overview.OverviewPage, overview.Ask, overview.load, "overview.html"),
    Page("/topic/{topic}", topic.TopicPage, topic.Ask, topic.load, "topic.html", _at_topic),
    Page("/search", search.SearchPage, search.Ask, search.load, "search.html", _at_topic),
    Page("/doc", document.DocumentPage, document.Ask, document.load, "document.html", _at_home),
    Page("/word", word.WordPage, word.Ask, word.load, "word.html"),
    Page("/tree", outline.OutlinePage, outline.Ask, outline.load, "outline.html", _at_topic),
    Page("/categories", categories.CategoriesPage, categories.Ask, categories.load, "categories.html"),
    Page("/compare", compare.ComparePage, compare.Ask, compare.load, "compare.html"),
    Page("/trees", trees.TreesPage, trees.Ask, trees.load, "trees.html"),
    Page("/dendrogram", dendrogram.DendrogramPage, dendrogram.Ask, dendrogram.load, "dendrogram.html"),
    Page("/model", model.ModelPage, model.Ask, model.load, "model.html"),
    Page("/help", help.HelpPage, help.Ask, help.load, "help.html"),
    Page("/new", new.NewPage, new.Ask, new.load, "new.html"),
    Page("/shape", shape.ShapePage, shape.Ask, shape.load, "shape.html", _at_topic),
)


def explorer(
    folder: str, *, read_only: bool = False, hosts: tuple[str, ...] = safety.LOOPBACK, door: str = "",
    beside: tuple[str, ...] = (),
) -> FastAPI:  # fmt: skip
    """The application for a collection. ``door``: the token with which every address has to begin.

    ``beside``: other collections to compare it with, which are only ever read.
    """
    app = FastAPI(
        title="topiarist explorer", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        description="The pages of a collection as data: what each page shows, at its address with .json behind it.",
        lifespan=few_at_once,
    )  # fmt: skip
    others = tuple(Session(other, read_only=True) for other in beside)
    app.state.session = Session(folder, read_only=read_only, beside=others)
    app.state.writers = writers()
    app.state.root = f"/{door}" if door else ""
    for session in (app.state.session, *others):
        session.view()  # what cannot be opened is told before anybody waits for a page
    failures.add(app)
    for page in PAGES:
        _add(app, page)
    _add_documents(app)
    downloads.add(app)
    marks.add(app)
    app.mount("/assets", StaticFiles(packages=[(PACKAGE, "assets")]))
    app.add_middleware(safety.Heads)
    app.add_middleware(safety.Doorkeeper, door=door)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.add_middleware(faults.Faults)
    app.add_middleware(safety.SafeHeaders)
    return app


def make_ready(session: Session) -> None:
    """Work out what most pages need, and those that take longest at first, before anybody asks."""
    view = session.view()
    view.warm()
    for page in PAGES:
        if page.path in SLOW_AT_FIRST:
            with suppress(TopiaristError, OSError):  # whoever asks for it is told
                session.looked_at(view, lambda view, page=page: page.load(view, page.ask()))  # type: ignore[misc]


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
                matching = lit(view, value.query, value.by)
        return page_of(request, page.template, value, view, page.current(ask, value), matching)

    return HTMLResponse(session.looked_at(view, made))


def _add(app: FastAPI, page: Page) -> None:
    """A page and its data."""

    def as_html(request: Request, view: Latest, ask: Any = Depends(page.ask)) -> Any:
        return shown(request, page, ask, view)

    def as_data(request: Request, view: Latest, ask: Any = Depends(page.ask)) -> Any:
        return request.app.state.session.looked_at(view, lambda view: page.load(view, ask))

    name = page.value.__name__
    app.add_api_route(
        ("/index" if page.path == "/" else page.path) + ".json", as_data, response_model=page.value, name=name,
        summary=sys.modules[page.load.__module__].__doc__ or name,
        responses=failures.documented(404, 422, 503),
    )  # fmt: skip
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
