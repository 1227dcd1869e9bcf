"""Routes of forms that change a collection, by POST with a token."""

from __future__ import annotations

from fastapi import Depends, FastAPI
from fastapi.security import APIKeyHeader

from topiarist.web.forms import bodies, judgements, marks, removals, reviews, searches, tree_edits, uploads
from topiarist.web.forms.posts import Does, Done, handle_post
from topiarist.web.http import failures, safety
from topiarist.web.jobs import JobPage
from topiarist.web.pages import new

STATUSES = (400, 403, 404, 409, 422, 503)
TOKEN = APIKeyHeader(name=safety.TOKEN, auto_error=False, description="token of a page (``topiarist-token``)")


def add(app: FastAPI) -> None:
    """Add the routes of all forms."""
    routes: dict[str, tuple[Does, type]] = {
        "/tag": (marks.tag, bodies.Tagged),
        "/untag": (marks.untag, bodies.Tagged),
        "/read": (marks.read, bodies.ReadMarks),
        "/note": (marks.note, bodies.Noted),
        "/remove": (removals.remove, bodies.Removed),
        "/save_search": (searches.save, bodies.SearchToSave),
        "/delete_search": (searches.delete, bodies.SearchToDelete),
        "/undo": (tree_edits.undo, bodies.TakenBack),
        "/refit": (tree_edits.refit, bodies.StateBody),
        "/steadiness": (tree_edits.check_steadiness, bodies.Body),
        "/stop": (tree_edits.stop, bodies.Body),
        "/shape": (tree_edits.edit, bodies.Edited),
        "/new": (uploads.bring, bodies.UploadBody),
        "/keep": (uploads.keep, bodies.StoreBody),
        "/judge": (judgements.judge, bodies.Judgement),
        "/learn": (judgements.learn, bodies.LearnBody),
        "/review": (reviews.review, bodies.ReviewAnswerBody),
    }
    for path, (does, kind) in routes.items():
        app.add_api_route(
            path,
            handle_post(does, kind),
            methods=["POST"],
            name=f"post {path[1:]}",
            summary=does.__doc__,
            response_model=new.NewPage if path == "/new" else Done,
            dependencies=[Depends(TOKEN)],
            openapi_extra={"requestBody": bodies.describe_body(kind)},
            responses={
                200: {"content": {"text/html": {}}, "description": "result of the change, or a question before it"},
                303: {"description": "Done; a browser goes to the page that shows it"},
                **failures.document_failures(*STATUSES),
            },
        )
    app.add_api_route("/job.json", tree_edits.job, response_model=JobPage, summary="How the fit goes")
