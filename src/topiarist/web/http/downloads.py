"""Downloads: documents of a list, the text of a document, the report, and the points of the map."""

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
from starlette.responses import JSONResponse, Response, StreamingResponse

from topiarist.collection.describe.export import MARKS, iter_row_facts, name_columns
from topiarist.collection.describe.provenance import open_original
from topiarist.collection.describe.tables import BYTE_ORDER_MARK, SEPARATOR, remove_all_controls, write_spreadsheet
from topiarist.display.formats import STEP
from topiarist.display.locale.catalogues import current_language
from topiarist.text.characters import remove_controls
from topiarist.text.documents import Document
from topiarist.web import addresses, report
from topiarist.web.http import failures
from topiarist.web.http.safety import DOWNLOAD_POLICY
from topiarist.web.pages import map as map_page
from topiarist.web.pages import search, topic
from topiarist.web.query_limits import allow_counting, run_timed_search
from topiarist.web.values import display_title
from topiarist.web.view import View

BATCH = 1_000
PIECE = 1 << 16  # bytes
TEXT, BYTES = "text/plain; charset=utf-8", "application/octet-stream"
KINDS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson", "txt": TEXT}
HEADER = ("id", "title", "date", "topic", "share", "labels", "source")


@dataclass(frozen=True)
class Only:
    """Tag and label that documents must have."""

    tag: Annotated[str, Query(max_length=200)] = ""
    label: Annotated[str, Query(max_length=10_000)] = ""


def add(app: FastAPI) -> None:
    """Add the routes of downloads."""
    values = {"description": "A file to keep, never to be opened in the browser"}
    app.add_api_route(
        "/export.{kind}",
        export,
        response_class=StreamingResponse,
        summary="Documents of a list as a file",
        responses={
            200: {**values, "content": {key: {} for key in KINDS.values()}},
            **failures.document_failures(404, 422, 503),
        },
    )
    app.add_api_route(
        "/original",
        original,
        response_class=Response,
        summary="A document as a file",
        responses={
            200: {**values, "content": {key: {} for key in (TEXT, BYTES)}},
            **failures.document_failures(404, 422),
        },
    )

    app.add_api_route(addresses.POINTS, points, response_class=Response, include_in_schema=False)
    app.add_api_route(addresses.POINT, point, response_class=JSONResponse, include_in_schema=False)
    app.add_api_route("/report.html", report_file, response_class=Response, include_in_schema=False)


def _get_view(request: Request) -> View:
    result: View = request.app.state.session.view()
    return result


def report_file(view: Annotated[View, Depends(_get_view)]) -> Response:
    """Return the report with typical documents as a download; it is kept until labels change."""
    value = view.remember_labels(
        ("report", current_language()), lambda: "".join(report.iter_pieces(view, "typical")).encode("utf-8", "replace")
    )
    return Response(
        value, media_type="text/html; charset=utf-8", headers=_create_attachment_headers(f"{view.title}.html")
    )


def export(
    kind: Literal["csv", "jsonl", "txt"],
    view: Annotated[View, Depends(_get_view)],
    only: Annotated[Only, Depends()],
    topic_id: Annotated[int | None, Query(alias="topic")] = None,
    show: topic.Show = "all",
    sort: topic.Sort = "typical",
    q: Annotated[str, Query(max_length=2_000)] = "",
    by: Literal["words", "meaning", "both"] = "both",
) -> Response:
    """Return the documents of a topic or of a search as a file."""
    if q.strip():
        with allow_counting():  # a file is waited for longer than a page
            rows = run_timed_search(view, q, by).rows(topic_id)
    else:
        node = view.tree.root if topic_id is None else view.shape.node(topic_id)
        rows = topic.select_rows(view, node, sort, show)
    rows = search.filter_rows(view, rows, tag=only.tag, label=only.label)
    name = re.sub(r"[^\w-]+", "-", q or only.tag or only.label or f"topic-{topic_id}").strip("-")[:60] or "documents"
    return StreamingResponse(
        _iterate_lines(view, rows, kind), media_type=KINDS[kind], headers=_create_attachment_headers(f"{name}.{kind}")
    )


def _iterate_lines(view: View, rows: Any, kind: str) -> Iterator[str]:
    """Yield the downloaded file in chunks of documents, as CSV, JSON lines or titles."""
    names = name_columns(view.collection)
    header = (*HEADER, *MARKS, *names.values())
    if kind == "csv":
        yield BYTE_ORDER_MARK + _format_csv([header])
    for start in range(0, len(rows), BATCH):
        batch_rows = rows[start : start + BATCH].tolist()
        column_values = iter_row_facts(view.collection, batch_rows, names)
        values = [
            _describe_document(view, row, document) | facts
            for row, document, facts in zip(
                batch_rows, view.collection.documents.load_many(batch_rows, texts=False), column_values, strict=True
            )
        ]
        if kind == "csv":
            yield _format_csv([[_format_cell(record[name]) for name in header] for record in values])
        elif kind == "jsonl":
            yield "".join(json.dumps(remove_all_controls(record), ensure_ascii=False) + "\n" for record in values)
        else:
            yield "".join(remove_controls(record["title"] or record["id"]) + "\n" for record in values)


def _format_cell(value: Any) -> Any:
    """Return a value as the text of a cell."""
    if isinstance(value, list):
        return SEPARATOR.join(map(str, value))
    return "" if value is None else value


def _describe_document(view: View, row: int, document: Document) -> dict[str, Any]:
    """Return the metadata of a document as a record, without its text."""
    node = int(view.assigned_nodes[row])
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


def _format_csv(rows: Any) -> str:
    """Return rows as CSV that spreadsheets open safely; the first row is the header."""
    file = io.StringIO(newline="")
    header, *rest = rows
    write_spreadsheet(file, header, rest)
    return file.getvalue()


def original(
    request: Request,
    view: Annotated[View, Depends(_get_view)],
    id: Annotated[str, Query(max_length=10_000)],
    text: Annotated[bool, Query(description="the stored text, even if the file exists")] = False,
) -> Response:
    """Return the source file of a document if the server may read it, else its text."""
    row = view.collection.documents.row_of(id)
    document = view.collection.documents.get(row)
    result = None if text or not request.app.state.local else view.original_of(row, document.source)
    descriptor = None if result is None else open_original(result)
    if result is None or descriptor is None:
        name = re.sub(r"[^\w.-]+", "_", document.id)[-80:] or "document"
        headers = _create_attachment_headers(name if name.endswith(".txt") else f"{name}.txt")
        return Response(document.text, media_type=TEXT, headers=headers)
    size = str(os.fstat(descriptor).st_size)
    headers = {**_create_attachment_headers(result.name), "Content-Length": size}
    return StreamingResponse(_read_blocks(descriptor, int(size)), media_type=BYTES, headers=headers)


def _read_blocks(descriptor: int, size: int) -> Iterator[bytes]:
    """Yield a file in blocks, up to the size when it was opened, and close it."""
    with os.fdopen(descriptor, "rb") as file:
        while size > 0 and (piece := file.read(min(PIECE, size))):
            size -= len(piece)
            yield piece


def _create_attachment_headers(name: str) -> dict[str, str]:
    """Return headers that make a browser save the response and run nothing in it."""
    return {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "Content-Security-Policy": DOWNLOAD_POLICY,
    }


def points(request: Request, ask: Annotated[map_page.Ask, Depends()]) -> Any:
    """Return the points of the map as bytes; status 202 while they are computed."""
    session = request.app.state.session
    if ask.by == map_page.NEIGHBOURS:
        result = session.with_current_view(session.view(), map_page.compute_neighbours)
        body = None if result is None else result[1]
    else:
        body = session.with_current_view(session.view(), map_page.compute_points)
    if body is None:
        return Response(status_code=202, headers={"Cache-Control": "no-store"})
    return Response(body, media_type=BYTES, headers={"Cache-Control": "no-store"})


def point(request: Request, row: Annotated[int, Query(ge=0)]) -> Any:
    """Return title and address of the document of a point; empty for a row that does not exist."""

    def load_point(view: View) -> dict[str, str]:
        if row >= view.n_docs:
            return {"title": "", "address": ""}
        (document,) = view.collection.documents.load_many([row], texts=False)
        return {"title": display_title(document.title, document.id), "address": addresses.document(document.id)}

    session = request.app.state.session
    return JSONResponse(session.with_current_view(session.view(), load_point))
