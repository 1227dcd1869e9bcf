"""Where texts would be filed: for programs, by POST with JSON. Nothing is kept, so that nothing has to be guarded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import FastAPI, Request
from pydantic import Field

from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import failures
from topiarist.app.explorer.web.safety import PLACEMENTS
from topiarist.app.explorer.web.worker_threads import beside
from topiarist.collection import Filed
from topiarist.text.documents import Document
from topiarist.text.readers.making import storable
from topiarist.text.titles import first_line

MOST = 100  # texts at once
LONGEST = 2_000_000  # letters, as of a text that is pasted


@dataclass(frozen=True)
class Texts:
    """Texts to be placed, each at the deepest topic that is certain enough."""

    texts: Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Field(min_length=1, max_length=MOST)]
    rho: Annotated[float, Field(ge=0, lt=1, description="file at the deepest topic that is so certain")] = 0.9


@dataclass(frozen=True)
class Placement:
    """Where a text would be filed, the certainty at each step below the root, and the words that decided."""

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
    """A place for each text, in their order."""

    filed: tuple[Placement, ...]


def add(app: FastAPI) -> None:
    """The route."""
    app.add_api_route(
        PLACEMENTS,
        place,
        methods=["POST"],
        response_model=Placements,
        summary="Where texts would be filed; nothing is kept",
        responses=failures.documented(400, 403, 422, 503),
    )


async def place(request: Request, body: Texts) -> Placements:
    """Where texts would be filed, beside those who read."""
    session = request.app.state.session
    return await beside(
        request.app.state.bringing, lambda: session.looked_at(session.view(), lambda view: placed(view, body))
    )


def placed(view: View, body: Texts) -> Placements:
    """A place for each text."""
    texts = [storable(text) for text in body.texts]
    documents = [Document(str(number), text, title=first_line(text)) for number, text in enumerate(texts)]
    return Placements(tuple(_placement(one) for one in view.collection.file(documents, body.rho)))


def _placement(one: Filed) -> Placement:
    return Placement(
        topic=one.topic,
        path=one.path,
        certainty=tuple(round(float(sure), 6) for sure in one.certainty),
        words=one.words,
        unusual=one.unusual,
        misfit=one.misfit,
        labels=one.labels,
        label_certainty=tuple(round(float(sure), 6) for sure in one.label_certainty),
    )
