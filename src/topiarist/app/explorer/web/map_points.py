"""The points of the map as bytes, and the document that a point is: what the page of the map asks for by itself."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from starlette.responses import JSONResponse, Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.spread.map import points_of
from topiarist.app.explorer.values import titled
from topiarist.app.explorer.view import View

BYTES = "application/octet-stream"


def add(app: FastAPI) -> None:
    """The routes."""
    app.add_api_route(addresses.POINTS, points, response_class=Response, include_in_schema=False)
    app.add_api_route(addresses.POINT, point, response_class=JSONResponse, include_in_schema=False)


def points(request: Request) -> Any:
    """Five bytes for each document; see ``DocumentMap.to_bytes``."""
    session = request.app.state.session
    body = session.looked_at(session.view(), points_of)
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
