"""Marks of documents: tags, read or not, notes on passages; of more than a page shows only after a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages import topic
from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.values import PER_PAGE, titled
from topiarist.app.explorer.view import View
from topiarist.app.explorer.writes import bodies
from topiarist.app.explorer.writes.posts import asked, back, conflict, conflict_answer, patience, repeated, safe_back
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.collection import ChangedError
from topiarist.errors import UsageError
from topiarist.store.document_table import Documents
from topiarist.store.marks import Marks, PassageNotes, place_of, tag_name

NAMES = ("document", "topic", "show", "sure", "tag", "unread")


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
            raise ChangedError(
                worded("somebody has changed the tree since this page was made"), hint=worded("reload it")
            )
        if body.topic is not None:
            rows = topic.rows_of(view, view.shape.node(body.topic), "typical", body.show).tolist()
        elif body.document is not None:
            rows = [view.collection.documents.row_of(body.document)]
        else:
            raise UsageError(worded("neither a document nor a topic was told"), hint="document")
        yield Marks(generation.database), rows


@dataclass(frozen=True)
class Said:
    """What is to be done with documents, and how it is taken back."""

    of: Callable[[str], str]  # with these, in words
    inverse: str


def tag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Give documents a tag."""
    name = tag_name(body.tag)
    said = Said(
        lambda what: worded("Tag {documents} “{tag}”", documents=what, tag=name),
        worded("“Take the tag away” takes it back."),
    )
    return _marked(request, session, body, said, lambda marks, rows: marks.tag(rows, name))


def untag(request: Request, session: Session, body: bodies.Tagged) -> Response:
    """Take a tag away."""
    name = tag_name(body.tag)
    said = Said(
        lambda what: worded("Take the tag “{tag}” away from {documents}", documents=what, tag=name),
        worded("“Tag” gives it back, to all of them."),
    )
    return _marked(request, session, body, said, lambda marks, rows: marks.untag(rows, name))


def read(request: Request, session: Session, body: bodies.ReadMarks) -> Response:
    """Mark documents as read, or not."""
    said = Said(
        lambda what: worded("Mark {documents} read", documents=what), worded("“Mark all unread” takes it back.")
    )
    if body.unread:
        said = Said(
            lambda what: worded("Mark {documents} unread", documents=what),
            worded("Which of them were read is forgotten then."),
        )
    return _marked(request, session, body, said, lambda marks, rows: marks.mark_read(rows, read=not body.unread))


def note(request: Request, session: Session, body: bodies.Noted) -> Response:
    """Note something on a passage of a document, change that, or take the last change back."""
    with session.marking(patience(session)) as generation:
        if generation_of(body.state) != generation.folder.name:
            raise ChangedError(worded("documents came or went since this page was made"), hint=worded("reload it"))
        documents, notes = Documents(generation.database), PassageNotes(generation.database)
        row = documents.row_of(body.document)
        if body.does == "undo":
            notes.undo(row, expected=body.number)
        elif body.does == "change":
            notes.change(row, body.passage, body.note, expected=body.number)
        else:
            found = place_of(documents.get(row).text, body.quote, before=body.before, near=body.near)
            if found is None:
                said = worded("the text of this document does not hold the passage as it was told")
                raise UsageError(said, hint=worded("copy it from the text, letter by letter"))
            notes.write(row, *found, body.note)
    return back(request, body.back, addresses.document(body.document))


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
        return _other(request, session, body, said.of(worded("it")), repeated(body, *names))
    values = repeated(body, *(name for name in names if name != "sure"))
    inverse = worded("They are more than one page of the list shows. {inverse}", inverse=said.inverse)
    return asked(request, session, body, said.of(worded("all {number}", number=len(rows))), inverse, values)


def _other(request: Request, session: Session, body: Any, said: str, values: tuple[tuple[str, str], ...]) -> Response:
    """Marks of something that may be something else by now: what it is, and the same once more."""
    view = session.fresh()
    what, there = _meant(view, body)
    both = conflict(
        session,
        view,
        body.state,
        theirs=what,
        yours=said,
        action=request.scope["route"].path,
        button=worded("{deed} as it is now", deed=said) if there else "",
        values=values,
        back=safe_back(request, body.back) if there else addresses.HOME,
    )
    return conflict_answer(request, view, both)


def _meant(view: View, body: Any) -> tuple[str, bool]:
    """What a topic or a document is now, and whether it is there at all."""
    if body.topic is not None:
        node = view.shape.node_of.get(body.topic)
        if node is None:
            return worded("the topic is gone"), False
        documents = Counted(view.sizes[node], "document")
        return worded("the topic {name}, with {documents}", name=view.names[node], documents=documents), True
    try:
        found = view.collection.documents.get(view.collection.documents.row_of(body.document or ""))
    except UsageError:
        return worded("the document is gone"), False
    return worded("the document {title}", title=titled(found.title, found.id)), True
