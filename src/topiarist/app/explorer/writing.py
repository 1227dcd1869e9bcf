"""What people change: marks at once, edits of the tree after a look at what they would do. By POST, with the token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, JSONResponse, Response

from topiarist.app.explorer import bringing, judging, shaping
from topiarist.app.explorer.desk import Desk
from topiarist.app.explorer.pages import topic
from topiarist.app.explorer.posting import back, number, page_of, patience, posted, safe_back, seen, text
from topiarist.app.explorer.values import PER_PAGE
from topiarist.files.marks import Marks, tag_name
from topiarist.files.shaping import ChangedError
from topiarist.files.shaping import undo as take_back


def add(app: FastAPI) -> None:
    """The routes."""
    routes = {
        "/tag": tag, "/untag": untag, "/read": read, "/undo": undo, "/refit": refit, "/shape": shaping.edit,
        "/new": bringing.bring, "/keep": bringing.keep, "/judge": judging.judge,
    }  # fmt: skip
    for path, does in routes.items():
        app.add_api_route(path, posted(does), methods=["POST"], include_in_schema=False)
    app.add_api_route("/job.json", job, include_in_schema=False)


@contextmanager
def _marking(desk: Desk, form: Mapping[str, Any]) -> Iterator[tuple[Marks, list[int]]]:
    """Marks to write, and the documents that a form speaks of: one, or those of a topic.

    They are looked up while nobody else can write, in the tree that somebody saw: in a collection that was grown anew
    the same number is another topic.
    """
    with desk.writer() as collection, collection.folder.writing(wait=patience(desk)) as generation:
        view, wanted = desk.view(), number(form, "topic")
        if wanted is None:
            yield Marks(generation.database), [view.collection.documents.row_of(text(form, "document"))]
            return
        if seen(form) != view.mark:
            raise ChangedError("somebody has changed the tree since this page was made", hint="reload it")
        show = text(form, "show", "all")
        rows = topic.rows_of(view, view.shape.node(wanted), "typical", show if show in topic.SHOWS else "all")
        yield Marks(generation.database), rows.tolist()


@dataclass(frozen=True)
class Sure:
    """A question before many documents are marked at once, and how to take that back."""

    question: str
    yes: str
    inverse: str
    action: str
    values: tuple[tuple[str, str], ...]
    back: str


def tag(request: Request, desk: Desk, form: FormData) -> Response:
    """Give documents a tag."""
    name = tag_name(text(form, "tag"))
    said = f"Tag {{}} “{name}”", "“Take the tag away” takes it back."
    return _marked(request, desk, form, said, lambda marks, rows: marks.tag(rows, name))


def untag(request: Request, desk: Desk, form: FormData) -> Response:
    """Take a tag away."""
    name = tag_name(text(form, "tag"))
    said = f"Take the tag “{name}” away from {{}}", "“Tag” gives it back, to all of them."
    return _marked(request, desk, form, said, lambda marks, rows: marks.untag(rows, name))


def read(request: Request, desk: Desk, form: FormData) -> Response:
    """Mark documents as read, or not."""
    unread = bool(text(form, "unread"))
    said = (
        ("Mark {} unread", "Which of them were read is forgotten then.")
        if unread
        else ("Mark {} read", "“Mark all unread” takes it back.")
    )
    return _marked(request, desk, form, said, lambda marks, rows: marks.mark_read(rows, read=not unread))


def _marked(
    request: Request, desk: Desk, form: FormData, said: tuple[str, str], does: Callable[[Marks, list[int]], None]
) -> Response:
    """Mark documents; before more of them than a page shows, ask."""
    with _marking(desk, form) as (marks, rows):
        if len(rows) <= PER_PAGE or text(form, "sure"):
            does(marks, rows)
            return back(request, form)
    yes = said[0].format(f"all {len(rows):,}")
    values = tuple((name, text(form, name)) for name in ("topic", "show", "tag", "unread", "state") if text(form, name))
    question = Sure(f"{yes}?", yes, said[1], request.url.path, values, safe_back(request, form))
    return HTMLResponse(page_of(request, "sure.html", question, desk.view(), number(form, "topic")))


def undo(request: Request, desk: Desk, form: FormData) -> Response:
    """Take the last edit back, if it is the one that somebody saw."""
    with desk.writer() as collection:
        take_back(collection, wait=patience(desk), expected=seen(form))
    return back(request, form)


def refit(request: Request, desk: Desk, form: FormData) -> Response:
    """Fit the tree as it was shaped, beside the pages."""
    desk.refit()
    return back(request, form)


def job(request: Request) -> Response:
    """How the fit goes that runs now."""
    found = request.app.state.desk.job
    if found is None:
        return JSONResponse({"running": False})
    return JSONResponse({"running": not found.done, "seconds": round(found.elapsed, 1), "error": found.error})
