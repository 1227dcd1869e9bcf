"""Routes that save and delete searches; replacing a saved search needs a confirmation."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from topiarist.collection.search.saved_searches import (
    SavedSearch,
    delete_search,
    find_saved_search,
    list_saved_searches,
    save_search,
)
from topiarist.display.locale.catalogues import translate
from topiarist.web import addresses
from topiarist.web.forms.bodies import SearchToDelete, SearchToSave
from topiarist.web.forms.posts import answer_conflict, ask_confirmation, back, patience
from topiarist.web.session import Session, generation_of


def save(request: Request, session: Session, body: SearchToSave) -> Response:
    """Save a search under a name; replacing one needs a confirmation."""
    view = session.fresh()
    if body.topic is not None and generation_of(view.mark) != generation_of(body.state):
        return answer_conflict(
            request, session, body, without=("sure", "topic"), theirs=translate("its topic has changed"),
            yours=translate("save a search"), button=translate("Save for all topics"), back=addresses.OVERVIEW,
        )  # fmt: skip
    same_name = [
        item
        for item in list_saved_searches(view.collection)
        if item.name.casefold() == " ".join(body.name.split()).casefold()
    ]
    if same_name and not body.sure:
        inverse = translate(
            "Its query changes from “{query}” to “{other}”.", query=same_name[0].query, other=body.query
        )
        question = translate("Replace the saved search “{name}”", name=same_name[0].name)
        return ask_confirmation(request, session, body, question, inverse)
    topic = "" if body.topic is None else str(body.topic)
    with session.writer() as collection:
        save_search(collection, SavedSearch(body.name, body.query, body.by, topic), wait=patience(session))
    return back(request, body.back, addresses.search(body.query))


def delete(request: Request, session: Session, body: SearchToDelete) -> Response:
    """Delete a saved search after a confirmation."""
    result = find_saved_search(session.fresh().collection, body.name)
    if not body.sure:
        inverse = translate("Query: “{query}”. To restore it, save it again.", query=result.query)
        question = translate("Delete the saved search “{name}”", name=result.name)
        return ask_confirmation(request, session, body, question, inverse)
    with session.writer() as collection:
        delete_search(collection, result.name, wait=patience(session))
    return back(request, body.back, addresses.search(""))
