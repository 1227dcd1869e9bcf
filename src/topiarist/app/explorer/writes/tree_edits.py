"""Changing the tree from a page, unless somebody was faster: an edit, the last one undone, a fit of what was edited."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from topiarist.app.explorer import addresses, frame
from topiarist.app.explorer.jobs import JobPage
from topiarist.app.explorer.pages import shape
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web.failures import wants_data
from topiarist.app.explorer.writes.bodies import Body, Edited, Seen, TakenBack
from topiarist.app.explorer.writes.posts import (
    Conflict,
    asked,
    back,
    conflict,
    conflict_answer,
    patience,
    repeated,
    safe_back,
)
from topiarist.app.languages.catalogues import worded
from topiarist.collection import (
    LEARN,
    ChangedError,
    Edit,
    apply_edits,
    edit_to_sentence,
    last_step,
    named_as,
    spoken_of,
    undo_last,
)
from topiarist.errors import ResourceError, UsageError

IGNORED = 5  # words of a topic that is ignored
NAMED_BY = 3  # topics whose first words name a heading that nobody has named
VALUES = ("edit", "topic", "name", "note", "other", "others", "into", "below", "document", "words", "refit")


def edit(request: Request, session: Session, body: Edited) -> Response:
    """Make an edit, and begin to fit the tree if that was asked for.

    Whether the tree is still the one that somebody saw is asked while nobody else can write.
    """
    told = _completed(session.view(), ask_of(body))
    wanted = shape.edit_of(told)
    try:
        with session.writer() as collection:
            apply_edits(collection, [wanted], refit=False, wait=patience(session), expected=body.state)
    except ChangedError:
        view = session.fresh()
        return conflict_answer(request, view, _conflict(session, view, told, body))
    except ResourceError as error:
        if wants_data(request):
            raise
        return _again(request, session.view(), told, error)
    now = session.fresh()
    if body.refit:
        session.refit(now.mark, last_step(now.collection.generation).number)
    gone = told.topic is not None and told.topic not in now.shape.node_of
    return back(request, "" if gone else body.back, addresses.home())


def _completed(view: View, told: shape.Ask) -> shape.Ask:
    """What topics that were ticked mean: the first of them is the one that is edited, and names are found for them."""
    if told.topic is not None or told.edit not in (*shape.SEVERAL, "ignore") or not told.others:
        return told
    known = [topic for topic in told.others if topic in view.shape.node_of]
    if told.edit == "ignore":
        said = [word for topic in known for word in view.collection.tree.nodes[view.shape.node(topic)].words[:IGNORED]]
        return replace(told, words=told.words or ", ".join(dict.fromkeys(said)), others=())
    name = told.name
    if told.edit == "group" and not name.strip():
        firsts = [view.names[view.shape.node(topic)].split(" · ")[0] for topic in known]
        name = " · ".join(dict.fromkeys(firsts[:NAMED_BY]))
    return replace(told, topic=told.others[0], others=told.others[1:], name=name)


def _again(request: Request, view: View, told: shape.Ask, error: ResourceError) -> Response:
    """The form as it was filled in, for whoever could not be served now."""
    page = shape.load(view, told)
    said = worded("Not done yet: {reason}. What you told is still here; try again in a moment.", reason=error.message)
    return HTMLResponse(frame.page_of(request, "shape.html", replace(page, problem=said), view, told.topic), 503)


def ask_of(body: Edited) -> shape.Ask:
    """The edit that a form tells."""
    told = {name: getattr(body, name) for name in VALUES if name != "refit"}
    return shape.Ask(**told, ready=True)


def _conflict(session: Session, view: View, told: shape.Ask, body: Edited) -> Conflict:
    """Both versions; what speaks of a topic that is gone cannot be applied any more."""
    wanted = shape.edit_of(told)
    topic = told.other if told.topic is None else told.topic  # a pin speaks of the one that it goes to
    there = topic in view.shape.node_of
    theirs = worded("gone")
    if topic is None:
        theirs = worded("the tree after these steps")
    elif there:
        theirs = worded("called {name}", name=view.names[view.shape.node(topic)])
    can = all(said in view.shape.node_of for said in spoken_of(wanted))
    return conflict(
        session,
        view,
        body.state,
        theirs=theirs,
        yours=_told(view, wanted),
        action=addresses.SHAPE,
        button=worded("Apply mine now") if can else "",
        values=repeated(body, *VALUES),
        back=addresses.topic(topic) if there and topic is not None else addresses.home(),
    )


def _told(view: View, edit: Edit) -> str:
    """The edit with the names that its topics have now; a number tells nobody anything."""
    names = {}
    for said in spoken_of(edit):
        try:
            names[str(said)] = view.names[view.shape.node(view.shape.find(said))]
        except UsageError:
            names[str(said)] = worded("a topic that is gone")
    return edit_to_sentence(named_as(edit, names, numbers=False))


def undo(request: Request, session: Session, body: TakenBack) -> Response:
    """Take the last edit back, if it is the one that somebody saw; before categories are forgotten, ask."""
    view = session.fresh()
    last = session.undoable(view)
    if last is not None and last.kind == LEARN and view.mark == body.state and not body.sure:
        inverse = worded("Documents keep their labels. Only the command topiarist learn brings the categories back.")
        return asked(request, session, body, worded("Forget the categories that were learned"), inverse)
    with session.writer() as collection:
        undo_last(collection, wait=patience(session), expected=body.state)
    return back(request, body.back)


def refit(request: Request, session: Session, body: Seen) -> Response:
    """Fit the tree as it was shaped, beside the pages."""
    view = session.fresh()
    if body.state != view.mark:
        pending = view.shape.pending
        what = worded("edited, and not fitted yet" if pending else "fitted; there is nothing to apply")
        both = conflict(
            session,
            view,
            body.state,
            theirs=what,
            yours=worded("fit the tree"),
            action="/refit",
            button=worded("Refit now"),
            values=(),
            back=safe_back(request, body.back),
        )
        return conflict_answer(request, view, both)
    session.refit(body.state)
    return back(request, body.back)


def check_steadiness(request: Request, session: Session, body: Body) -> Response:
    """Grow other trees beside the pages, to see how steady each topic is."""
    session.check_steadiness()
    return back(request, body.back)


def stop(request: Request, session: Session, body: Body) -> Response:
    """End the fit that runs; the best tree so far is kept."""
    if session.job is not None:
        session.job.stop()
    return back(request, body.back)


def job(request: Request) -> JobPage:
    """How the fit goes that runs now, or how the last one ended."""
    session: Session = request.app.state.session
    return session.told()
