"""Route of judgements of filed documents."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from topiarist.collection.classify.judgements import (
    LEAVE,
    MOVE,
    TAKE_BACK,
    Judgement,
    JudgementChangedError,
    Judgements,
    choose_labels,
)
from topiarist.collection.shape.history import ChangedError
from topiarist.display.locale.catalogues import translate
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation
from topiarist.web import addresses, frame
from topiarist.web.filed_documents import JUDGEMENT_TEXTS
from topiarist.web.forms.bodies import Judgement as Told
from topiarist.web.forms.posts import back, patience, safe_back
from topiarist.web.http import failures
from topiarist.web.http.failures import wants_data
from topiarist.web.session import Session, generation_of
from topiarist.web.values import display_title


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Conflict of two judgements of a document."""

    title: str
    document: str
    theirs: str
    yours: str
    values: tuple[tuple[str, str], ...]
    number: int
    back: str


def judge(request: Request, session: Session, form: Told) -> Response:
    """Save a judgement of a document.

    The form names the document by its id and the last judgement that the user saw. Newer judgements are shown
    before anything is changed. The form lists all labels, so that edits of the tree do not matter.
    """
    with session.marking(patience(session)) as generation:
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
        comparison = _load_both(request, session, form, row, labels)
        if wants_data(request):
            text = translate("This document was judged after you opened the page: {labels}.", labels=comparison.theirs)
            return failures.answer(
                request,
                failures.Failure(409, translate("Changed judgement"), text, translate("Open the document again.")),
            )
        return HTMLResponse(frame.page_of(request, "judged.html", comparison, session.view()), 409)
    return back(request, addresses.add_judgement(safe_back(request, form.back, addresses.CATEGORIES), item.number))


def _write_judgement(generation: Generation, row: int, does: str, labels: tuple[str, ...], expected: int) -> Judgement:
    judgements = Judgements(generation.database)
    if does == TAKE_BACK:
        return judgements.undo_last(row, expected=expected)
    return judgements.judge(row, does, labels, expected=expected)


def _load_both(request: Request, session: Session, form: Told, row: int, labels: tuple[str, ...]) -> Judged:
    view = session.view()
    document = view.collection.documents.load_many([row], texts=False)[0]
    last = Judgements(view.collection.generation.database).of([row]).get(row)
    other_labels = ", ".join(document.labels) or translate("no label")
    other_labels = other_labels if last is None else f"{JUDGEMENT_TEXTS[last.kind]}: {other_labels}"
    does = form.does
    values = [("does", str(does)), ("document", document.id), ("state", view.mark)]
    values += [("label", label) for label in form.label]
    values += [("to", form.to)] if form.to else []
    own_labels = ", ".join(labels)
    if not labels:
        own_labels = translate("now" if does == LEAVE else "before the last judgement")
    title = display_title(document.title, document.id)
    return Judged(
        title=title,
        document=addresses.document(document.id),
        theirs=other_labels,
        yours=own_labels,
        values=tuple(values),
        number=0 if last is None else last.number,
        back=safe_back(request, form.back, addresses.CATEGORIES),
    )
