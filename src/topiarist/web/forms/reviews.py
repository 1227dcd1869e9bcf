"""Route of answers in a review."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from topiarist.collection.shape.history import ChangedError
from topiarist.display.locale.catalogues import translate
from topiarist.errors import UsageError
from topiarist.web.forms.bodies import ReviewAnswerBody
from topiarist.web.forms.posts import back, patience
from topiarist.web.pages.review import format_address
from topiarist.web.reviews import ReviewRequest
from topiarist.web.session import Session, generation_of

UNDO = "undo"


def review(request: Request, session: Session, form: ReviewAnswerBody) -> Response:
    """Save an answer of a review and propose the next document.

    The server knows how a document was drawn, because the estimate of unfound documents depends on it.
    A page that is older than the last answer changes nothing.
    """
    review_request = ReviewRequest(" ".join(form.review.split()), form.query.strip(), form.target, form.confidence)
    with session.open_for_marks(patience(session)) as generation:
        view = session.fresh()
        if generation_of(form.state) != generation.folder.name:
            raise ChangedError(
                translate("The collection was grown again after you opened the page"),
                hint=translate("Open the review again."),
            )
        with view.reviews.acquire(review_request) as item:
            if item.number != form.number:
                raise ChangedError(
                    translate("This review has continued in another window"), hint=translate("Open the review again.")
                )
            undo_result = None
            with item.hold_lock(generation):
                if form.does == UNDO:
                    undo_result = item.undo()
                else:
                    if not form.document:
                        raise UsageError(
                            translate("Expected the id of a document"),
                            hint=translate("Pass its id as document."),
                        )
                    row = view.collection.documents.row_of(form.document)
                    proposal = item.next()
                    draw = proposal[1] if proposal is not None and proposal[0] == row else "given"
                    item.answer(row, form.does, draw)
            values = {}
            if undo_result is not None and item.has_label(undo_result):
                values["undone"] = view.collection.documents.load_many([undo_result], texts=False)[0].id
    return back(request, format_address(review_request, **values))
