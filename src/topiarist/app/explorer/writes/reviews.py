"""Reviewing from a page: relevant, not, skipped, or the last answer taken back; unless somebody was faster."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from topiarist.app.explorer.pages.judging.review import address_of
from topiarist.app.explorer.reviews import Wanted
from topiarist.app.explorer.session import Session, generation_of
from topiarist.app.explorer.writes.bodies import Reviewed
from topiarist.app.explorer.writes.posts import back, patience
from topiarist.app.languages.catalogues import worded
from topiarist.collection import ChangedError
from topiarist.errors import UsageError

UNDO = "undo"


def review(request: Request, session: Session, form: Reviewed) -> Response:
    """Keep what somebody says of the document that a review has proposed, and propose the next one.

    How a document was drawn is known here and not told by the page: what is unfound is estimated from it. A page that
    is older than the last answer changes nothing.
    """
    wanted = Wanted(" ".join(form.review.split()), form.query.strip(), form.target, form.confidence)
    with session.marking(patience(session)) as generation:
        view = session.fresh()
        if generation_of(form.state) != generation.folder.name:
            raise ChangedError(
                worded("the collection was grown anew since this page was made"), hint=worded("open the review again")
            )
        with view.reviews.taken(wanted) as one:
            if one.number != form.number:
                raise ChangedError(
                    worded("this review has gone on in another window"), hint=worded("open the review again")
                )
            undone = None
            with one.together(generation):
                if form.does == UNDO:
                    undone = one.undo()
                else:
                    if not form.document:
                        raise UsageError(
                            worded("an answer is of a document, and none was told"), hint=worded("its id, as document")
                        )
                    row = view.collection.documents.row_of(form.document)
                    proposed = one.next()
                    drawn = proposed[1] if proposed is not None and proposed[0] == row else "given"
                    one.answer(row, form.does, drawn)
            told = {}
            if undone is not None and one.labelled(undone):
                told["undone"] = view.collection.documents.many([undone], texts=False)[0].id
    return back(request, address_of(wanted, **told))
