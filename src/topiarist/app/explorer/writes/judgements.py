"""Judging from a page where documents are filed: accept, move, leave, or take that back; unless somebody was faster."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from topiarist.app.explorer import addresses, frame
from topiarist.app.explorer.pages.judging.filed_documents import SAID
from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.values import titled
from topiarist.app.explorer.web import failures
from topiarist.app.explorer.web.failures import wants_data
from topiarist.app.explorer.writes.bodies import Judgement as Told
from topiarist.app.explorer.writes.posts import back, patience, safe_back
from topiarist.app.languages.catalogues import worded
from topiarist.collection import BACK, LEAVE, MOVE, ChangedError, JudgedError, Judgement, Judgements, labels_for
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A document that somebody else has judged since the page was made: both versions, to choose from."""

    title: str
    document: str
    theirs: str
    yours: str
    values: tuple[tuple[str, str], ...]
    number: int
    back: str


def judge(request: Request, session: Session, form: Told) -> Response:
    """Write down what somebody says of a document.

    A document is known by its id in the collection that they saw, and by the judgement of it that they saw last: what
    others said meanwhile is shown before anything is changed. Labels are told in full, so that it does not matter
    whether the tree was shaped, or categories were learned again.
    """
    with session.marking(patience(session)) as generation:
        collection = session.fresh().collection
        if generation_of(form.state) != generation.folder.name:
            raise ChangedError(
                worded("the collection was grown anew since this page was made"), hint=worded("open it again")
            )
        row = Documents(generation.database).row_of(form.document)
        labels: tuple[str, ...] = ()
        if form.does not in (LEAVE, BACK):
            labels = labels_for(collection, row, form.label, form.to, move=form.does == MOVE)
        try:
            one = _written(generation, row, form.does, labels, form.number)
        except JudgedError:
            one = None
    if one is None:
        both = _both(request, session, form, row, labels)
        if wants_data(request):
            said = worded("Somebody else has judged this document since: {labels}.", labels=both.theirs)
            return failures.answer(
                request, failures.Failure(409, worded("Judged in another window"), said, worded("look at it again"))
            )
        return HTMLResponse(frame.page_of(request, "judged.html", both, session.view()), 409)
    return back(request, addresses.judged(safe_back(request, form.back, addresses.CATEGORIES), one.number))


def _written(generation: Generation, row: int, does: str, labels: tuple[str, ...], expected: int) -> Judgement:
    judgements = Judgements(generation.database)
    if does == BACK:
        return judgements.take_back(row, expected=expected)
    return judgements.judge(row, does, labels, expected=expected)


def _both(request: Request, session: Session, form: Told, row: int, labels: tuple[str, ...]) -> Judged:
    view = session.view()
    document = view.collection.documents.many([row], texts=False)[0]
    last = Judgements(view.collection.generation.database).of([row]).get(row)
    theirs = ", ".join(document.labels) or worded("no label")
    theirs = theirs if last is None else f"{SAID[last.kind]}: {theirs}"
    does = form.does
    values = [("does", str(does)), ("document", document.id), ("state", view.mark)]
    values += [("label", label) for label in form.label]
    values += [("to", form.to)] if form.to else []
    yours = ", ".join(labels)
    if not labels:
        yours = worded("as it is now" if does == LEAVE else "as it was before the last judgement")
    title = titled(document.title, document.id)
    return Judged(
        title=title,
        document=addresses.document(document.id),
        theirs=theirs,
        yours=yours,
        values=tuple(values),
        number=0 if last is None else last.number,
        back=safe_back(request, form.back, addresses.CATEGORIES),
    )
