"""Routes of new documents: preview of their assignments, and storage."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, JSONResponse, Response

from topiarist.collection.file.arrivals import add_documents
from topiarist.collection.grow.read_as_grown import find_missing_columns, load_reading_settings
from topiarist.collection.shape.history import ChangedError
from topiarist.display.locale.catalogues import translate
from topiarist.errors import InputError, ResourceError, TopiaristError
from topiarist.text.characters import to_storable
from topiarist.text.documents import Document
from topiarist.text.readers import ReadingSettings, read
from topiarist.text.readers.columns import MissingColumnError, TableColumns
from topiarist.text.titles import get_first_line
from topiarist.web import addresses, frame
from topiarist.web.forms.bodies import StoreBody, UploadBody
from topiarist.web.forms.posts import back, patience
from topiarist.web.http.failures import wants_data
from topiarist.web.pages import new
from topiarist.web.session import Session
from topiarist.web.view import View

MAX_DOCUMENTS = 1_000  # documents that a page takes at once
LONGEST_PASTED = 2_000_000  # letters, as the page says
LONGEST_NAME = 200  # bytes
EMPTY = "No text found"


def bring(request: Request, session: Session, body: UploadBody) -> Response:
    """Preview the assignments of new documents."""
    view = session.view()
    documents, problems = _read_documents(view, body)
    columns = new.list_column_fields(view, body.columns)
    if not documents and wants_data(request):
        raise InputError(
            problems[0] if problems else translate(EMPTY), hint=translate("Paste a text or choose a file.")
        )
    if not documents:
        text = translate("No text found. Paste a text or choose a file.")
        page = replace(new.load(view, new.Ask(rho=body.rho)), problems=problems or (text,), columns=columns)
        return HTMLResponse(frame.render_in_frame(request, "new.html", page, view), 400)
    page = new.preview_documents(view, documents, body.rho, session.keep_for_later(documents), problems)
    page = replace(page, columns=columns)
    if wants_data(request):
        return JSONResponse(asdict(page))
    return HTMLResponse(frame.render_in_frame(request, "new.html", replace(page, text=body.text), view))


def keep(request: Request, session: Session, body: StoreBody) -> Response:
    """Store previewed documents; they can be stored again after an error."""
    documents = session.take(body.key)
    if documents is None:
        raise ChangedError(
            translate("These documents are already filed or no longer available"), hint=translate("Upload them again.")
        )
    try:
        first = _store(session, documents, body.dates)
    except BaseException:
        session.restore_kept(body.key, documents)
        raise
    return back(request, body.back, addresses.filed_documents(first, len(documents)))


def _store(session: Session, documents: list[Document], dates: str | None) -> int:
    """Store documents and return the first row. Retry while another program writes. Raise ResourceError."""
    end_time = time.monotonic() + patience(session)
    while True:
        try:
            with session.writer() as collection:
                stored = [item.document.id for item in add_documents(collection, documents, rename=True, dates=dates)]
                return collection.documents.row_of(stored[0])
        except ResourceError as error:
            if "being written" not in error.message or time.monotonic() > end_time:
                text = translate("Nothing was stored: {reason}", reason=error.message)
                hint = translate("Go back and press “File these” again.")
                raise ResourceError(text, hint=hint) from error
            time.sleep(0.1)


def _read_documents(view: View, body: UploadBody) -> tuple[list[Document], tuple[str, ...]]:
    """Return the documents of pasted text and files, and problems. Raise InputError for too long text."""
    result: list[Document] = []
    problems: list[str] = []
    if len(body.text) > LONGEST_PASTED:
        text = translate(
            "Expected at most {most} characters, got {letters}",
            letters=len(body.text),
            most=LONGEST_PASTED,
        )
        raise InputError(text, hint=translate("Upload it as a file."))
    pasted_text = to_storable(body.text)
    if pasted_text.strip():
        result.append(Document("pasted", pasted_text, title=get_first_line(pasted_text)))
    settings = load_reading_settings(view.collection, ReadingSettings(body.columns))
    column_counts = Counter[TableColumns]()
    with tempfile.TemporaryDirectory() as folder:
        for item in body.files:
            if len(result) >= MAX_DOCUMENTS:
                break
            part = Path(folder) / secrets.token_hex(8)
            documents, trouble = _read_upload(part, item, MAX_DOCUMENTS - len(result), settings, column_counts)
            result += documents
            problems += trouble
    problems += [
        translate(
            "{field}: missing in a table. The collection uses {column}.",
            field=new.list_field_labels()[role],
            column=column,
        )
        for role, column in find_missing_columns(view.collection, column_counts).items()
    ]
    if len(result) >= MAX_DOCUMENTS:
        text = translate(
            "Only the first {most} documents were read. Use topiarist file --add for more.",
            most=MAX_DOCUMENTS,
        )
        problems.insert(0, text)
    return result, tuple(problems[:20])


def _read_upload(
    folder: Path,
    upload: UploadFile,
    max_documents: int,
    settings: ReadingSettings,
    column_counts: Counter[TableColumns],
) -> tuple[list[Document], list[str]]:
    """Save and read an uploaded file in a temporary folder. Return its documents and problems."""
    folder.mkdir()
    path = folder / _clean_name(str(upload.filename))
    with path.open("wb") as file:
        shutil.copyfileobj(upload.file, file)

    def with_file_name(said: str) -> str:
        return said.replace(f"{folder}{os.sep}", "").replace(f"{folder.name}/", "").replace(str(folder), path.name)

    try:
        reading = read([folder], settings.columns, limit=max_documents, xml_path=settings.xml_path, ocr=settings.ocr)
        with reading as documents:
            result = [
                replace(item, id=with_file_name(item.id), source=with_file_name(item.source)) for item in documents
            ]
        column_counts.update(documents.chosen)
        return result, [f"{with_file_name(item.source)}: {with_file_name(item.reason)}" for item in documents.problems]
    except MissingColumnError as error:
        fix = translate("Enter its columns under “Columns of tables”.")
        suggestion = translate("Did you mean {column}?", column=error.suggestion) if error.suggestion else ""
        return [], [" ".join(filter(None, (f"{path.name}: {with_file_name(error.message)}.", suggestion, fix)))]
    except TopiaristError as error:
        return [], [f"{path.name}: {with_file_name(error.message)}"]


def _clean_name(file_name: str) -> str:
    """Return a file name without folders and forbidden characters, cut to the length limit."""
    name = "".join(sign for sign in re.split(r"[/\\]", to_storable(file_name))[-1] if sign.isprintable()).lstrip(".")
    while len(name.encode()) > LONGEST_NAME:
        name = name[1:]
    return name or "file.txt"
