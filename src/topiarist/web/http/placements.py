"""Assignments of texts for programs, by POST with JSON; nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from anyio import to_thread
from fastapi import FastAPI, Request
from pydantic import Field

from topiarist.collection.file.arrivals import FiledDocument
from topiarist.text.characters import to_storable
from topiarist.text.documents import Document
from topiarist.text.titles import get_first_line
from topiarist.web.http import failures
from topiarist.web.http.safety import PLACEMENTS
from topiarist.web.view import View

MAX_TEXTS = 100  # texts at once
LONGEST = 2_000_000  # letters, as of a text that is pasted


@dataclass(frozen=True)
class Texts:
    """Texts that are assigned to the deepest topic with enough certainty."""

    texts: Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Field(min_length=1, max_length=MAX_TEXTS)]
    rho: Annotated[float, Field(ge=0, lt=1, description="file at the deepest topic that is so certain")] = 0.5


@dataclass(frozen=True)
class Placement:
    """Assignment of a text, with the certainty of each step and the words that decided."""

    topic: int
    path: tuple[str, ...]
    certainty: tuple[float, ...]
    words: tuple[str, ...]
    unusual: bool
    misfit: str  # why it fits nowhere; then the topic is the root
    labels: tuple[str, ...]  # of the categories that were learned
    label_certainty: tuple[float, ...]


@dataclass(frozen=True)
class Placements:
    """Assignments of the texts, in their order."""

    filed: tuple[Placement, ...]


def add(app: FastAPI) -> None:
    """Add the route of assignments."""
    app.add_api_route(
        PLACEMENTS,
        place,
        methods=["POST"],
        response_model=Placements,
        summary="places of new texts, which are not stored",
        responses=failures.document_failures(400, 403, 422, 503),
    )


async def place(request: Request, body: Texts) -> Placements:
    """Return the assignments of texts; nothing is stored."""
    session = request.app.state.session
    return await to_thread.run_sync(
        lambda: session.with_current_view(session.view(), lambda view: place_texts(view, body)),
        limiter=request.app.state.bringing,
    )


def place_texts(view: View, body: Texts) -> Placements:
    texts = [to_storable(text) for text in body.texts]
    documents = [Document(str(number), text, title=get_first_line(text)) for number, text in enumerate(texts)]
    return Placements(tuple(_describe_placement(item) for item in view.collection.file(documents, body.rho)))


def _describe_placement(filed_document: FiledDocument) -> Placement:
    """Return a filed document as an assignment, with rounded certainties."""
    values = {item.name: getattr(filed_document, item.name) for item in fields(Placement)}
    for name in ("certainty", "label_certainty"):
        values[name] = tuple(round(float(certainty), 6) for certainty in values[name])
    return Placement(**values)
