"""Routes of tree edits, undo and fits."""

from __future__ import annotations

from dataclasses import fields, replace

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from topiarist.collection.shape.edit_language import describe_edit, list_topics_in_edit, replace_topic_names
from topiarist.collection.shape.edits import Edit
from topiarist.collection.shape.history import LEARN, ChangedError, apply_edits, last_step, undo_last_step
from topiarist.collection.state import CATEGORIES
from topiarist.display.locale.catalogues import translate
from topiarist.errors import ResourceError, UsageError
from topiarist.storage import edit_log
from topiarist.trees.naming.name_test import split_items
from topiarist.trees.tree_text import JOINT
from topiarist.web import addresses, frame
from topiarist.web.forms.bodies import Body, Edited, StateBody, TakenBack
from topiarist.web.forms.posts import answer_conflict, ask_confirmation, back, patience
from topiarist.web.http.failures import wants_data
from topiarist.web.jobs import JobPage
from topiarist.web.pages import shape
from topiarist.web.session import Session
from topiarist.web.view import View

IGNORED = 5  # words of a topic that is ignored
NAMED_BY = 3  # topics whose first words name a heading that nobody has named
VALUES = tuple(one.name for one in fields(shape.EditForm))


def edit(request: Request, session: Session, body: Edited) -> Response:
    """Apply an edit and start a fit if the form asks for it.

    The state that the user saw is compared under the lock.
    """
    values = _complete_form(session.view(), shape.Ask(**{name: getattr(body, name) for name in VALUES}, ready=True))
    tree_edit = shape.build_edit(values)
    try:
        with session.writer() as collection:
            apply_edits(collection, [tree_edit], refit=False, wait=patience(session), expected=body.state)
    except ChangedError:
        return _answer_conflict(request, session, values, body)
    except ResourceError as error:
        if wants_data(request):
            raise
        return _redisplay_form(request, session.view(), values, error)
    now = session.fresh()
    if body.refit:
        session.refit(now.mark, last_step(now.collection.generation).number)
    is_removed = values.topic is not None and values.topic not in now.shape.node_of
    return back(request, "" if is_removed else body.back, addresses.overview())


def _complete_form(view: View, form: shape.Ask) -> shape.Ask:
    """Return the form with the first ticked topic as its topic, and a proposed name or words if missing."""
    if form.topic is not None or form.edit not in (*shape.MULTI_TOPIC_EDITS, "ignore") or not form.others:
        return form
    topics = [topic for topic in form.others if topic in view.shape.node_of]
    if form.edit == "ignore":
        text = [word for topic in topics for word in view.collection.tree.nodes[view.shape.node(topic)].words[:IGNORED]]
        return replace(form, words=form.words or ", ".join(dict.fromkeys(text)), others=())
    name = form.name
    if form.edit == "group" and not name.strip():
        firsts = [split_items(view.names[view.shape.node(topic)])[0] for topic in topics]
        name = JOINT.join(dict.fromkeys(firsts[:NAMED_BY]))
    return replace(form, topic=form.others[0], others=form.others[1:], name=name)


def _redisplay_form(request: Request, view: View, form: shape.Ask, error: ResourceError) -> Response:
    page = shape.load(view, form)
    text = translate("Not applied: {reason}. Your input is kept. Try again in a moment.", reason=error.message)
    return HTMLResponse(
        frame.render_in_frame(request, "shape.html", replace(page, problem=text), view, form.topic), 503
    )


def _answer_conflict(request: Request, session: Session, form: shape.Ask, body: Edited) -> Response:
    """Return a conflict page that offers the edit in the current tree, if its topics still exist."""
    view, tree_edit = session.fresh(), shape.build_edit(form)
    topic = form.other if form.topic is None else form.topic  # a pin speaks of the one that it goes to
    exists = topic in view.shape.node_of
    current_text = translate("gone")
    if topic is None:
        current_text = translate("the tree after these edits")
    elif exists:
        current_text = translate("called {name}", name=view.names[view.shape.node(topic)])
    can_apply = all(text in view.shape.node_of for text in list_topics_in_edit(tree_edit))
    return answer_conflict(
        request, session, body, theirs=current_text, yours=_describe_edit(view, tree_edit),
        button=translate("Apply my edit") if can_apply else "",
        back=addresses.topic(topic) if exists and topic is not None else addresses.overview(),
    )  # fmt: skip


def _describe_edit(view: View, edit: Edit) -> str:
    """Return an edit in words, with the names of its topics."""
    names = {}
    for text in list_topics_in_edit(edit):
        try:
            names[str(text)] = view.names[view.shape.node(view.shape.find(text))]
        except UsageError:
            names[str(text)] = translate("a topic that no longer exists")
    return describe_edit(replace_topic_names(edit, names, numbers=False))


def undo(request: Request, session: Session, body: TakenBack) -> Response:
    """Undo the last edit that the user saw; forgetting categories needs a confirmation."""
    view = session.fresh()
    last = session.find_undoable(view)
    if last is not None and last.kind == LEARN and view.mark == body.state and not body.sure:
        question = translate("Forget the learned categories")
        inverse = translate("Documents keep their labels. Run topiarist learn to restore the categories.")
        if _has_earlier_categories(view):
            question = translate("Restore the earlier categories")
            inverse = translate("Documents keep their labels. The newer categories are forgotten.")
        return ask_confirmation(request, session, body, question, inverse)
    with session.writer() as collection:
        undo_last_step(collection, wait=patience(session), expected=body.state)
    return back(request, body.back)


def _has_earlier_categories(view: View) -> bool:
    """Return whether the state before the last edit has categories."""
    generation = view.collection.generation
    before = last_step(generation).before
    return before is not None and CATEGORIES in edit_log.state(generation.database, before)["parts"]


def refit(request: Request, session: Session, body: StateBody) -> Response:
    """Fit the edited tree in the background."""
    view = session.fresh()
    if body.state != view.mark:
        state_text = translate("edited, not fitted" if view.shape.pending else "already fitted")
        return answer_conflict(
            request, session, body, theirs=state_text, yours=translate("fit the tree"), button=translate("Refit now")
        )
    session.refit(body.state)
    return back(request, body.back)


def check_steadiness(request: Request, session: Session, body: Body) -> Response:
    """Measure the stability of topics in the background."""
    session.check_steadiness()
    return back(request, body.back)


def stop(request: Request, session: Session, body: Body) -> Response:
    """Stop the running job and keep its best result."""
    if session.job is not None:
        session.job.stop()
    return back(request, body.back)


def job(request: Request) -> JobPage:
    """Return the progress of the running job, or the result of the last one."""
    session: Session = request.app.state.session
    return session.describe_job()
