"""Things to keep: the documents of a list as a file, and the text of a document. Never opened in the browser."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Depends, FastAPI, Query, Request
from starlette.responses import Response, StreamingResponse

from topiarist.app.explorer import report
from topiarist.app.explorer.pages import search, topic
from topiarist.app.explorer.query_limits import asked, counting
from topiarist.app.explorer.view import View
from topiarist.app.explorer.web import failures
from topiarist.app.explorer.web.safety import DOWNLOAD_POLICY
from topiarist.app.languages.catalogues import language
from topiarist.app.words import STEP
from topiarist.collection import (
    BETWEEN,
    MARKS,
    Judgements,
    exported_columns,
    further_facts,
    opened_original,
    write_spreadsheet,
)
from topiarist.text.documents import Document

BATCH = 1_000
PIECE = 1 << 16  # bytes
TEXT, BYTES = "text/plain; charset=utf-8", "application/octet-stream"
KINDS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson", "txt": TEXT}
HEADER = ("id", "title", "date", "topic", "share", "labels", "source")


@dataclass(frozen=True)
class Only:
    """What documents have to have."""

    tag: Annotated[str, Query(max_length=200)] = ""
    label: Annotated[str, Query(max_length=10_000)] = ""


def add(app: FastAPI) -> None:
    """The routes."""
    told = {"description": "A file to keep, never to be opened in the browser"}
    app.add_api_route(
        "/export.{kind}",
        export,
        response_class=StreamingResponse,
        summary="Documents of a list as a file",
        responses={200: {**told, "content": {key: {} for key in KINDS.values()}}, **failures.documented(404, 422, 503)},
    )
    app.add_api_route(
        "/original",
        original,
        response_class=Response,
        summary="A document as a file",
        responses={200: {**told, "content": {key: {} for key in (TEXT, BYTES)}}, **failures.documented(404, 422)},
    )

    app.add_api_route("/report.html", report_file, response_class=Response, include_in_schema=False)


def _view(request: Request) -> View:
    found: View = request.app.state.session.view()
    return found


def report_file(view: Annotated[View, Depends(_view)]) -> Response:
    """The report with typical documents, as ``topiarist report`` writes it."""
    judged = Judgements(view.collection.generation.database).last_number()
    made = view.remembered(
        ("report", language(), judged), lambda: "".join(report.pieces(view, "typical")).encode("utf-8", "replace")
    )
    return Response(made, media_type="text/html; charset=utf-8", headers=_attached(f"{view.title}.html"))


def export(
    kind: Literal["csv", "jsonl", "txt"],
    view: Annotated[View, Depends(_view)],
    only: Annotated[Only, Depends()],
    topic_id: Annotated[int | None, Query(alias="topic")] = None,
    show: topic.Show = "all",
    sort: topic.Sort = "typical",
    q: Annotated[str, Query(max_length=2_000)] = "",
    by: Literal["words", "meaning", "both"] = "both",
) -> Response:
    """The documents of a topic, or those that a search finds."""
    if q.strip():
        with counting():  # a file is waited for longer than a page
            rows = asked(view, q, by).rows(topic_id)
    else:
        node = view.tree.root if topic_id is None else view.shape.node(topic_id)
        rows = topic.rows_of(view, node, sort, show)
    rows = search.kept(view, rows, tag=only.tag, label=only.label)
    name = re.sub(r"[^\w-]+", "-", q or only.tag or only.label or f"topic-{topic_id}").strip("-")[:60] or "documents"
    return StreamingResponse(_lines(view, rows, kind), media_type=KINDS[kind], headers=_attached(f"{name}.{kind}"))


def _lines(view: View, rows: Any, kind: str) -> Iterator[str]:
    """The file, some documents at a time."""
    names = exported_columns(view.collection)
    header = (*HEADER, *MARKS, *names.values())
    if kind == "csv":
        yield _csv([header])
    for start in range(0, len(rows), BATCH):
        some = rows[start : start + BATCH].tolist()
        further = further_facts(view.collection, some, names)
        told = [
            _told(view, row, document) | known
            for row, document, known in zip(some, _many(view, some), further, strict=True)
        ]
        if kind == "csv":
            yield _csv([[_cell(record[name]) for name in header] for record in told])
        elif kind == "jsonl":
            yield "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in told)
        else:
            yield "".join((record["title"] or record["id"]) + "\n" for record in told)


def _cell(value: Any) -> Any:
    """What stands in a cell of a spreadsheet: several values as one text."""
    if isinstance(value, list):
        return BETWEEN.join(map(str, value))
    return "" if value is None else value


def _many(view: View, rows: list[int]) -> list[Document]:
    return view.collection.documents.many(rows, texts=False)


def _told(view: View, row: int, document: Document) -> dict[str, Any]:
    node = int(view.homes[row])
    path = STEP.join(view.names[step] for step in view.tree.path(node)[1:])
    share = round(float(view.shares_under(node)[row]), 4)
    return {
        "id": document.id,
        "title": " ".join(document.title.split()),
        "date": document.date,
        "topic": path,
        "share": share,
        "labels": list(document.labels),
        "source": document.source,
    }


def _csv(rows: Any) -> str:
    file = io.StringIO(newline="")
    header, *rest = rows
    write_spreadsheet(file, header, rest)
    return file.getvalue()


def original(
    request: Request,
    view: Annotated[View, Depends(_view)],
    id: Annotated[str, Query(max_length=10_000)],
    text: Annotated[bool, Query(description="the text that was read, even where its file is there")] = False,
) -> Response:
    """The file that a document came from, where it lies on this machine and is asked for from it; else its text."""
    row = view.collection.documents.row_of(id)
    document = view.collection.documents.get(row)
    found = None if text or not request.app.state.local else view.original_of(row, document.source)
    descriptor = None if found is None else opened_original(found)
    if found is None or descriptor is None:
        name = re.sub(r"[^\w.-]+", "_", document.id)[-80:] or "document"
        headers = _attached(name if name.endswith(".txt") else f"{name}.txt")
        return Response(document.text, media_type=TEXT, headers=headers)
    size = str(os.fstat(descriptor).st_size)
    headers = {**_attached(found.name), "Content-Length": size}
    return StreamingResponse(_pieces(descriptor, int(size)), media_type=BYTES, headers=headers)


def _pieces(descriptor: int, size: int) -> Iterator[bytes]:
    """A file a bit at a time, as long as it was when it was opened."""
    with os.fdopen(descriptor, "rb") as file:
        while size > 0 and (piece := file.read(min(PIECE, size))):
            size -= len(piece)
            yield piece


def _attached(name: str) -> dict[str, str]:
    return {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "Content-Security-Policy": DOWNLOAD_POLICY,
    }
