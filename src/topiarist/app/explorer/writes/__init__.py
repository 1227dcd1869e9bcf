"""What people change from a page: marks, edits of the tree, judgements, new documents. By POST, with the token.

Floor plan:

    bodies      What may be told by POST, as a form or as JSON: the same names, the same meaning, one description for
                both.
    judgements  Judging from a page where documents are filed: accept, move, leave, or take that back; unless somebody
                was faster.
    marks       Marks of documents: tags, read or not, notes on passages; of more than a page shows only after a
                question.
    posts       What all routes that change something have in common: a body, its token, the way back, and who was
                faster.
    removals    Removing documents from a page: which they are and from where is asked before, and undo brings them
                back.
    reviews     Reviewing from a page: relevant, not, skipped, or the last answer taken back; unless somebody was
                faster.
    searches    Searches that are saved and deleted from the search page; one of the same name is replaced only after a
                question.
    tree_edits  Changing the tree from a page, unless somebody was faster: an edit, the last one undone, a fit of what
                was edited.
    uploads     New documents from a page: read as the command line reads them, placed, and kept only if somebody says
                so.
"""

from __future__ import annotations

from fastapi import Depends, FastAPI
from fastapi.security import APIKeyHeader

from topiarist.app.explorer.jobs import JobPage
from topiarist.app.explorer.pages import new
from topiarist.app.explorer.web import failures, safety
from topiarist.app.explorer.writes import bodies, judgements, marks, removals, reviews, searches, tree_edits, uploads
from topiarist.app.explorer.writes.posts import Does, Done, posted

STATUSES = (400, 403, 404, 409, 422, 503)
TOKEN = APIKeyHeader(name=safety.TOKEN, auto_error=False, description="what pages have as ``topiarist-token``")


def add(app: FastAPI) -> None:
    """Which function writes what was posted to which address."""
    routes: dict[str, tuple[Does, type]] = {
        "/tag": (marks.tag, bodies.Tagged),
        "/untag": (marks.untag, bodies.Tagged),
        "/read": (marks.read, bodies.ReadMarks),
        "/note": (marks.note, bodies.Noted),
        "/remove": (removals.remove, bodies.Removed),
        "/save_search": (searches.save, bodies.SearchToSave),
        "/delete_search": (searches.delete, bodies.SearchToDelete),
        "/undo": (tree_edits.undo, bodies.TakenBack),
        "/refit": (tree_edits.refit, bodies.Seen),
        "/steadiness": (tree_edits.check_steadiness, bodies.Body),
        "/stop": (tree_edits.stop, bodies.Body),
        "/shape": (tree_edits.edit, bodies.Edited),
        "/new": (uploads.bring, bodies.Brought),
        "/keep": (uploads.keep, bodies.Kept),
        "/judge": (judgements.judge, bodies.Judgement),
        "/review": (reviews.review, bodies.Reviewed),
    }
    for path, (does, kind) in routes.items():
        app.add_api_route(
            path,
            posted(does, kind),
            methods=["POST"],
            name=f"post {path[1:]}",
            summary=does.__doc__,
            response_model=new.NewPage if path == "/new" else Done,
            dependencies=[Depends(TOKEN)],
            openapi_extra={"requestBody": bodies.described(kind)},
            responses={
                200: {"content": {"text/html": {}}, "description": "What was done, or what is asked before"},
                303: {"description": "Done; a browser goes to the page that shows it"},
                **failures.documented(*STATUSES),
            },
        )
    app.add_api_route("/job.json", tree_edits.job, response_model=JobPage, summary="How the fit goes")
