"""The points of the map as bytes, and the document that a point is: what the page of the map asks for by itself."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from starlette.responses import JSONResponse, Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.spread.map import NEIGHBOURS, Ask, neighbours_of, points_of
from topiarist.app.explorer.values import titled
from topiarist.app.explorer.view import View

BYTES = "application/octet-stream"


def add(app: FastAPI) -> None:
    """The routes."""
    app.add_api_route(addresses.POINTS, points, response_class=Response, include_in_schema=False)
    app.add_api_route(addresses.POINT, point, response_class=JSONResponse, include_in_schema=False)


def points(request: Request, ask: Annotated[Ask, Depends()]) -> Any:
    """Five bytes for each document; see ``DocumentMap.to_bytes``. 202: they are being placed, ask again."""
    session = request.app.state.session
    if ask.by == NEIGHBOURS:
        found = session.looked_at(session.view(), neighbours_of)
        body = None if found is None else found[1]
    else:
        body = session.looked_at(session.view(), points_of)
    if body is None:
        return Response(status_code=202, headers={"Cache-Control": "no-store"})
    return Response(body, media_type=BYTES, headers={"Cache-Control": "no-store"})


def point(request: Request, row: Annotated[int, Query(ge=0)]) -> Any:
    """What the document of a row is called, and where it is read."""

    def found(view: View) -> dict[str, str]:
        if row >= view.n_docs:
            return {"title": "", "address": ""}
        (document,) = view.collection.documents.many([row], texts=False)
        return {"title": titled(document.title, document.id), "address": addresses.document(document.id)}

    session = request.app.state.session
    return JSONResponse(session.looked_at(session.view(), found))
