"""Route of judgements of filed documents."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request
from starlette.responses import Response

from topiarist.collection.classify.judgements import (
    LEAVE,
    MOVE,
    TAKE_BACK,
    Judgement,
    JudgementChangedError,
    Judgements,
    choose_labels,
)
from topiarist.collection.classify.learning import TABLE, load_last_settings
from topiarist.collection.shape.history import ChangedError
from topiarist.collection.trends.by_group import load_grouping
from topiarist.display.locale.catalogues import translate
from topiarist.errors import ResourceError, UsageError
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation
from topiarist.web import addresses
from topiarist.web.forms.bodies import Judgement as Told
from topiarist.web.forms.bodies import LearnBody
from topiarist.web.forms.posts import answer_conflict, back, patience, safe_back
from topiarist.web.pages.categories import JUDGEMENT_TEXTS
from topiarist.web.session import Session, generation_of
from topiarist.web.values import display_title


def judge(request: Request, session: Session, form: Told) -> Response:
    """Save a judgement of a document.

    The form names the document by its id and the last judgement that the user saw. Newer judgements are shown
    before anything is changed. The form lists all labels, so that edits of the tree do not matter.
    """
    with session.open_for_marks(patience(session)) as generation:
        collection = session.fresh().collection
        if generation_of(form.state) != generation.folder.name:
            raise ChangedError(
                translate("The collection was grown again after you opened the page"),
                hint=translate("Open the document again."),
            )
        row = Documents(generation.database).row_of(form.document)
        labels: tuple[str, ...] = ()
        if form.does not in (LEAVE, TAKE_BACK):
            labels = choose_labels(collection, row, form.label, form.to, move=form.does == MOVE)
        try:
            item = _write_judgement(generation, row, form.does, labels, form.number)
        except JudgementChangedError:
            item = None
    if item is None:
        return _answer_conflict(request, session, form, row, labels)
    return back(request, addresses.add_judgement(safe_back(request, form.back, addresses.CATEGORIES), item.number))


def learn(request: Request, session: Session, body: LearnBody) -> Response:
    """Learn categories in the background, from labels or from a column."""
    view = session.fresh()
    if generation_of(body.state) != generation_of(view.mark):
        raise ChangedError(
            translate("The collection was grown again after you opened the page"),
            hint=translate("Open the categories again."),
        )
    settings = {"column": body.column}
    if body.again:
        settings = load_last_settings(view.collection) or settings
        if settings.pop(TABLE, False):
            raise UsageError(
                translate("The categories were learned from a table"),
                hint=translate("Run topiarist learn with the table in a terminal."),
            )
    if settings["column"]:
        load_grouping(view, settings["column"])  # an unknown column is an error now, not of the job
    if session.job is not None and not session.job.done:
        raise ResourceError(translate("Another job is running"), hint=translate("Try again when it has ended."))
    session.learn(**settings)
    return back(request, body.back, addresses.CATEGORIES)


def _write_judgement(generation: Generation, row: int, does: str, labels: tuple[str, ...], expected: int) -> Judgement:
    """Save a judgement or undo the last one. ``expected`` is the last judgement that the user saw."""
    judgements = Judgements(generation.database)
    if does == TAKE_BACK:
        return judgements.undo_last(row, expected=expected)
    return judgements.judge(row, does, labels, expected=expected)


def _answer_conflict(request: Request, session: Session, form: Told, row: int, labels: tuple[str, ...]) -> Response:
    """Return a page with a newer judgement and the user's own, to choose between them."""
    view = session.view()
    document = view.collection.documents.load_many([row], texts=False)[0]
    last = Judgements(view.collection.generation.database).of([row]).get(row)
    labels_now = ", ".join(document.labels) or translate("no label")
    own_labels = ", ".join(labels)
    if not labels:
        own_labels = translate("now" if form.does == LEAVE else "before the last judgement")
    theirs = labels_now if last is None else f"{JUDGEMENT_TEXTS[last.kind]}: {labels_now}"
    return answer_conflict(
        request, session, replace(form, number=0 if last is None else last.number),
        title=translate("This document was judged after you opened the page"),
        since=(f"{display_title(document.title, document.id)}: {theirs}",), theirs=theirs,
        yours=own_labels, button=translate("Apply my judgement"),
        back=safe_back(request, form.back, addresses.CATEGORIES),
    )  # fmt: skip
