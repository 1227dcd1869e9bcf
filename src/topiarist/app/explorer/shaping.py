"""Changing the tree from a page: the edit as the form tells it, unless somebody was faster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.desk import Desk
from topiarist.app.explorer.pages import shape
from topiarist.app.explorer.posting import back, number, page_of, patience, seen, text
from topiarist.app.explorer.view import View
from topiarist.errors import ResourceError, UsageError
from topiarist.files import shaping as files
from topiarist.files.shaping import ChangedError, told
from topiarist.tasks.shape.wording import to_entry

VALUES = ("edit", "topic", "name", "note", "other", "into", "below", "document", "refit")


@dataclass(frozen=True)
class Conflict:
    """An edit that was told on a page of an earlier state: both versions, to choose from."""

    since: tuple[str, ...]
    theirs: str
    yours: str
    values: tuple[tuple[str, str], ...]
    back: str
    state: str


def edit(request: Request, desk: Desk, form: FormData) -> Response:
    """Make an edit, and begin to fit the tree if that was asked for.

    Whether the tree is still the one that somebody saw is asked while nobody else can write.
    """
    asked, state = ask_of(form), seen(form)
    wanted = shape.edit_of(asked)
    try:
        with desk.writer() as collection:
            files.shape(collection, [wanted], refit=False, wait=patience(desk), expected=state)
    except ChangedError:
        view = desk.view()
        return HTMLResponse(page_of(request, "conflict.html", _conflict(desk, view, asked, form), view), 409)
    except ResourceError as error:
        return _again(request, desk.view(), asked, error)
    if text(form, "refit"):
        desk.refit()
    now = desk.view()
    gone = asked.topic is not None and asked.topic not in now.shape.node_of
    return back(request, {} if gone else form, addresses.home())


def _again(request: Request, view: View, asked: shape.Ask, error: ResourceError) -> Response:
    """The form as it was filled in, for whoever could not be served now."""
    page = shape.load(view, asked)
    said = f"Not done yet: {error.message}. What you told is still here; try again in a moment."
    return HTMLResponse(page_of(request, "shape.html", replace(page, problem=said), view, asked.topic), 503)


def ask_of(form: FormData) -> shape.Ask:
    """The edit that a form tells."""
    kind = text(form, "edit")
    if kind not in shape.TITLES:
        raise UsageError(f"there is no edit called {kind!r}", hint="rename")
    numbers = {name: number(form, name) for name in ("topic", "other", "into")}
    return shape.Ask(
        cast("shape.Kind", kind), numbers["topic"], text(form, "name"), text(form, "note"), numbers["other"],
        numbers["into"] or 2, bool(text(form, "below")), text(form, "document"), ready=True,
    )  # fmt: skip


def _conflict(desk: Desk, view: View, asked: shape.Ask, form: FormData) -> Conflict:
    since = tuple(told(one) for one in desk.history(view, text(form, "state"))[:10])
    there = asked.topic is not None and asked.topic in view.shape.node_of
    theirs = f"called {view.names[view.shape.node(asked.topic)]}" if there else "gone"  # type: ignore[arg-type]
    entry: dict[str, Any] = to_entry(shape.edit_of(asked))
    ((kind, values),) = entry.items()
    said = ", ".join(f"{name} {value}" for name, value in values.items() if value not in (None, "", False))
    kept = tuple((name, text(form, name)) for name in VALUES if text(form, name))
    where = addresses.topic(asked.topic) if there else addresses.home()  # type: ignore[arg-type]
    return Conflict(since or ("the collection was grown anew",), theirs, f"{kind}: {said}", kept, where, view.mark)
