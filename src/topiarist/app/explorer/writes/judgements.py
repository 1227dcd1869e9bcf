"""Judging from a page where documents are filed: accept, move, leave, or take that back; unless somebody was faster."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from topiarist.app.explorer import addresses, frame
from topiarist.app.explorer.pages.filed_documents import SAID
from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.values import titled
from topiarist.app.explorer.web import failures
from topiarist.app.explorer.web.failures import wants_data
from topiarist.app.explorer.writes.bodies import Judgement as Told
from topiarist.app.explorer.writes.posts import back, patience, safe_back
from topiarist.collection import BACK, LEAVE, MOVE, ChangedError, Collection, JudgedError, Judgement, Judgements
from topiarist.errors import UsageError
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation
from topiarist.text.spelling import nearest


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
            raise ChangedError("the collection was grown anew since this page was made", hint="open it again")
        row = Documents(generation.database).row_of(form.document)
        labels = () if form.does in (LEAVE, BACK) else _labels(collection, row, form)
        try:
            one = _written(generation, row, form.does, labels, form.number)
        except JudgedError:
            one = None
    if one is None:
        both = _both(request, session, form, row, labels)
        if wants_data(request):
            said = f"Somebody else has judged this document since: {both.theirs}."
            return failures.answer(request, failures.Failure(409, "Judged in another window", said, "look at it again"))
        return HTMLResponse(frame.page_of(request, "judged.html", both, session.view()), 409)
    return back(request, addresses.judged(safe_back(request, form.back, addresses.CATEGORIES), one.number))


def _written(generation: Generation, row: int, does: str, labels: tuple[str, ...], expected: int) -> Judgement:
    judgements = Judgements(generation.database)
    if does == BACK:
        return judgements.take_back(row, expected=expected)
    return judgements.judge(row, does, labels, expected=expected)


def _labels(collection: Collection, row: int, form: Told) -> tuple[str, ...]:
    """The labels that the document shall have."""
    several = collection.categories is not None and collection.categories.several
    told = [] if form.does == MOVE and not several else list(form.label)
    other = [form.to] if form.to and (form.does == MOVE or several) else []
    if not told and not other:
        hint = "check one of its labels, or Leave" if several else "one of the list, then Move"
        raise UsageError("choose the category that the document belongs to", hint=hint)
    now = collection.documents.labels_of([row])[0]
    known = {*(collection.categories.names if collection.categories is not None else ()), *now}
    if not known.issuperset([*told, *other]):
        known |= set(collection.documents.label_counts())
    wanted = [label if label in known else label.strip() for label in [*told, *other]]
    strange = [label for label in wanted if label not in known]
    if strange:
        near = nearest(strange[0], [(label, 1) for label in sorted(known)], 3)
        raise UsageError(f"there is no category {strange[0][:60]!r}", hint=" or ".join(near) or "one of the list")
    # where one label was learned it is the first of a document; others that it has are not what is judged
    return tuple(wanted) if several else (wanted[0], *(label for label in now[1:] if label != wanted[0]))


def _both(request: Request, session: Session, form: Told, row: int, labels: tuple[str, ...]) -> Judged:
    view = session.view()
    document = view.collection.documents.many([row], texts=False)[0]
    last = Judgements(view.collection.generation.database).of([row]).get(row)
    theirs = ", ".join(document.labels) or "no label"
    theirs = theirs if last is None else f"{SAID[last.kind]}: {theirs}"
    does = form.does
    values = [("does", str(does)), ("document", document.id), ("state", view.mark)]
    values += [("label", label) for label in form.label]
    values += [("to", form.to)] if form.to else []
    yours = ", ".join(labels) if labels else "as it is now" if does == LEAVE else "as it was before the last judgement"
    title = titled(document.title, document.id, view.leads([row]).get(row, ""))
    return Judged(
        title=title,
        document=addresses.document(document.id),
        theirs=theirs,
        yours=yours,
        values=tuple(values),
        number=0 if last is None else last.number,
        back=safe_back(request, form.back, addresses.CATEGORIES),
    )
