"""What people change: marks at once, edits of the tree after a look at what they would do. By POST, with the token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.security import APIKeyHeader
from starlette.responses import HTMLResponse, JSONResponse, Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.jobs import JobPage
from topiarist.app.explorer.pages import new, topic
from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.values import PER_PAGE, counted, titled
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import failures, safety
from topiarist.app.explorer.writes import bodies, conflicts, judgements, tree_edits, uploads
from topiarist.app.explorer.writes.posts import (
    Does,
    Done,
    back,
    page_of,
    patience,
    posted,
    repeated,
    safe_back,
    wants_data,
)  # fmt: skip
from topiarist.collection.shape.changes import LEARN, ChangedError
from topiarist.collection.shape.changes import undo as take_back
from topiarist.errors import UsageError
from topiarist.store.marks import Marks, tag_name

STATUSES = (400, 403, 404, 409, 422, 503)
NAMES = ("document", "topic", "show", "sure", "tag", "unread")
TOKEN = APIKeyHeader(name=safety.TOKEN, auto_error=False, description="what pages have as ``topiarist-token``")


def add(app: FastAPI) -> None:
    """The routes."""
    routes: dict[str, tuple[Does, type]] = {
        "/tag": (tag, bodies.Tagged), "/untag": (untag, bodies.Tagged), "/read": (read, bodies.ReadMarks),
        "/undo": (undo, bodies.TakenBack), "/refit": (refit, bodies.Seen), "/stop": (stop, bodies.Body),
        "/shape": (tree_edits.edit, bodies.Edited), "/new": (uploads.bring, bodies.Brought),
        "/keep": (uploads.keep, bodies.Kept), "/judge": (judgements.judge, bodies.Judgement),
    }  # fmt: skip
    for path, (does, kind) in routes.items():
        app.add_api_route(
            path, posted(does, kind), methods=["POST"], name=f"post {path[1:]}", summary=does.__doc__,
            response_model=new.NewPage if path == "/new" else Done, dependencies=[Depends(TOKEN)],
            openapi_extra={"requestBody": bodies.described(kind)},
            responses={
                200: {"content": {"text/html": {}}, "description": "What was done, or what is asked before"},
                303: {"description": "Done; a browser goes to the page that shows it"},
                **failures.documented(*STATUSES),
            },
        )  # fmt: skip
    app.add_api_route("/job.json", job, response_model=JobPage, summary="How the fit goes")


@contextmanager
def _marking(session: Session, body: Any) -> Iterator[tuple[Marks, list[int]]]:
    """Marks to write, and the documents that are spoken of: one, or those of a topic.

    They are looked up while nobody else can write, in what somebody saw: in a collection that was grown anew the same
    number is another topic, and the same id may be another document.
    """
    with session.marking(patience(session)) as generation:
        view = session.fresh()
        same = body.state == view.mark
        if body.topic is None:
            same = generation_of(body.state) == generation_of(view.mark)
        if not same:
            raise ChangedError("somebody has changed the tree since this page was made", hint="reload it")
        if body.topic is not None:
            rows = topic.rows_of(view, view.shape.node(body.topic), "typical", body.show).tolist()
        elif body.document is not None:
            rows = [view.collection.documents.row_of(body.document)]
        else:
            raise UsageError("neither a document nor a topic was told", hint="document")
        yield Marks(generation.database), rows


@dataclass(frozen=True)
class Said:
    """What is to be done with documents, in words around them, and how it is taken back."""

    before: str
    after: str
    inverse: str

    def of(self, what: str) -> str:
        """Done with these."""
        return f"{self.before} {what}{self.after}"


@dataclass(frozen=True)
class Sure:
    """A question before something large is done, and how to take that back."""

    question: str
    yes: str
    inverse: str
    action: str
    values: tuple[tuple[str, str], ...]
    back: str
    state: str


def tag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Give documents a tag."""
    name = tag_name(body.tag)
    said = Said("Tag", f" “{name}”", "“Take the tag away” takes it back.")
    return _marked(request, session, body, said, lambda marks, rows: marks.tag(rows, name))


def untag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Take a tag away."""
    name = tag_name(body.tag)
    said = Said(f"Take the tag “{name}” away from", "", "“Tag” gives it back, to all of them.")
    return _marked(request, session, body, said, lambda marks, rows: marks.untag(rows, name))


def read(request: Request, session: Session, body: bodies.ReadMarks) -> Response:
    """Mark documents as read, or not."""
    said = Said("Mark", " read", "“Mark all unread” takes it back.")
    if body.unread:
        said = Said("Mark", " unread", "Which of them were read is forgotten then.")
    return _marked(request, session, body, said, lambda marks, rows: marks.mark_read(rows, read=not body.unread))


def _marked(
    request: Request, session: Session, body: Any, said: Said, does: Callable[[Marks, list[int]], None]
) -> Response:
    """Mark documents; before more of them than a page shows, ask."""
    names = tuple(name for name in NAMES if hasattr(body, name))
    try:
        with _marking(session, body) as (marks, rows):
            if len(rows) <= PER_PAGE or body.sure:
                does(marks, rows)
                return back(request, body.back)
    except ChangedError:
        return _other(request, session, body, said.of("it"), repeated(body, *names))
    values = repeated(body, *(name for name in names if name != "sure"))
    inverse = f"They are more than one page of the list shows. {said.inverse}"
    return _asked(request, session, body, said.of(f"all {len(rows):,}"), inverse, values)


def _asked(
    request: Request, session: Session, body: Any, yes: str, inverse: str, values: tuple[tuple[str, str], ...] = ()
) -> Response:
    """A question before something is done, as a page or as data."""
    to = safe_back(request, body.back)
    if wants_data(request):
        return JSONResponse(asdict(Done(False, f"{request.app.state.root}{to}", f"{yes}?")))
    question = Sure(f"{yes}?", yes, inverse, request.scope["route"].path, values, to, body.state)
    return HTMLResponse(page_of(request, "sure.html", question, session.view(), getattr(body, "topic", None)))


def _other(request: Request, session: Session, body: Any, said: str, values: tuple[tuple[str, str], ...]) -> Response:
    """Marks of something that may be something else by now: what it is, and the same once more."""
    view = session.fresh()
    what, there = _meant(view, body)
    conflict = conflicts.Conflict(
        conflicts.title_of(view, body.state), conflicts.since(session, view, body.state), what, said,
        request.scope["route"].path, f"{said} as it is now" if there else "", values,
        safe_back(request, body.back) if there else addresses.HOME, view.mark,
    )  # fmt: skip
    return conflicts.answer(request, view, conflict)


def _meant(view: View, body: Any) -> tuple[str, bool]:
    """What a topic or a document is now, and whether it is there at all."""
    if body.topic is not None:
        node = view.shape.node_of.get(body.topic)
        if node is None:
            return "the topic is gone", False
        return f"the topic {view.names[node]}, with {counted(view.sizes[node], 'document')}", True
    try:
        found = view.collection.documents.get(view.collection.documents.row_of(body.document or ""))
    except UsageError:
        return "the document is gone", False
    return f"the document {titled(found.title, found.id)}", True


def undo(request: Request, session: Session, body: bodies.TakenBack) -> Response:
    """Take the last edit back, if it is the one that somebody saw; before categories are forgotten, ask."""
    view = session.fresh()
    last = session.undoable(view)
    if last is not None and last.kind == LEARN and view.mark == body.state and not body.sure:
        inverse = "Documents keep their labels. Only the command topiarist learn brings the categories back."
        return _asked(request, session, body, "Forget the categories that were learned", inverse)
    with session.writer() as collection:
        take_back(collection, wait=patience(session), expected=body.state)
    return back(request, body.back)


def refit(request: Request, session: Session, body: bodies.Seen) -> Response:
    """Fit the tree as it was shaped, beside the pages."""
    view = session.fresh()
    if body.state != view.mark:
        what = "edited, and not fitted yet" if view.shape.pending else "fitted; there is nothing to apply"
        conflict = conflicts.Conflict(
            conflicts.title_of(view, body.state), conflicts.since(session, view, body.state), what, "fit the tree",
            "/refit", "Refit now", (), safe_back(request, body.back), view.mark,
        )  # fmt: skip
        return conflicts.answer(request, view, conflict)
    session.refit(body.state)
    return back(request, body.back)


def stop(request: Request, session: Session, body: bodies.Body) -> Response:
    """End the fit that runs; the best tree so far is kept."""
    if session.job is not None:
        session.job.stop()
    return back(request, body.back)


def job(request: Request) -> JobPage:
    """How the fit goes that runs now, or how the last one ended."""
    session: Session = request.app.state.session
    return session.told()
