"""Somebody was faster: what was changed meanwhile, what was to be done, and one button to do it all the same."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import failures
from topiarist.app.explorer.writes.posts import page_of, wants_data
from topiarist.collection.shape.changes import in_words

SHOWN = 10  # steps that were done meanwhile
GROWN = "the collection was grown anew"


@dataclass(frozen=True)
class Conflict:
    """A change that was told on a page of an earlier state: both versions, to choose from."""

    title: str
    since: tuple[str, ...]
    theirs: str
    yours: str
    action: str
    button: str  # empty: it cannot be done any more
    values: tuple[tuple[str, str], ...]
    back: str
    state: str


def since(session: Session, view: View, state: str) -> tuple[str, ...]:
    """What was done after somebody looked, in words."""
    done = session.history(view, state)
    said = tuple(in_words(view.collection.generation.database, one) for one in done[:SHOWN])
    return (*said, f"and {len(done) - SHOWN} more") if len(done) > SHOWN else said or (GROWN,)


def title_of(view: View, state: str) -> str:
    """What has happened, in a line."""
    if generation_of(state) != generation_of(view.mark):
        return "The collection was grown anew"
    return "The tree was changed in another window"


def answer(request: Request, view: View, conflict: Conflict) -> Response:
    """Both versions as a page; or as data."""
    if wants_data(request):
        message = f"{conflict.title}: {'; '.join(conflict.since)}. As it is now: {conflict.theirs}."
        return failures.answer(request, failures.Failure(409, conflict.title, message, "reload the page"))
    return HTMLResponse(page_of(request, "conflict.html", conflict, view), 409)
