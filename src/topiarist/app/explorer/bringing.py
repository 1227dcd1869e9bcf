"""New documents from a page: read as the command line reads them, placed, and kept only if somebody says so."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, Response

from topiarist.app.explorer import addresses
from topiarist.app.explorer.desk import Desk
from topiarist.app.explorer.pages import new
from topiarist.app.explorer.posting import back, page_of, text
from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.files.filing import add
from topiarist.text.documents import Document
from topiarist.text.readers import read
from topiarist.text.readers.making import storable


def bring(request: Request, desk: Desk, form: FormData) -> Response:
    """Where documents would go."""
    view = desk.view()
    documents, problems = _documents(view, form)
    if not documents:
        raise InputError("there is no text in what you brought", hint="paste a text, or choose a file")
    try:
        rho = min(max(float(text(form, "rho", "0.9")), 0.0), 0.99)
    except ValueError:
        rho = 0.9
    page = new.placed(view, documents, rho, desk.keep_for_later(documents), problems)
    return HTMLResponse(page_of(request, "new.html", page, view))


def keep(request: Request, desk: Desk, form: FormData) -> Response:
    """File documents that were brought."""
    documents = desk.brought.pop(text(form, "key"), None)
    if documents is None:
        raise UsageError("these documents were filed already, or are forgotten", hint="bring them again")
    with desk.writer() as collection:
        for _ in add(collection, documents):
            pass
    return back(request, form, addresses.NEW)


def _documents(view: Any, form: FormData) -> tuple[list[Document], tuple[str, ...]]:
    """What was pasted, and what files hold; ids that the collection does not have yet."""
    found: list[Document] = []
    problems: list[str] = []
    pasted = storable(text(form, "text"))
    if pasted.strip():
        found.append(Document("pasted", pasted, title=" ".join(pasted.strip().split("\n", 1)[0].split())[:120]))
    files = [one for one in form.getlist("files") if isinstance(one, UploadFile) and one.filename]
    if files:
        with tempfile.TemporaryDirectory() as folder:
            for number, one in enumerate(files):
                name = re.sub(r"[^\w.-]+", "_", Path(str(one.filename)).name)[-80:].lstrip(".") or "file.txt"
                (Path(folder) / f"{number:03d}-{name}").write_bytes(one.file.read())
            try:
                with read([folder]) as documents:
                    found += [replace(one, id=one.id[4:], source=one.id[4:]) for one in documents]
                problems += [f"{one.source[4:]}: {one.reason}" for one in documents.problems]
            except TopiaristError as error:
                problems.append(error.message.replace(folder, "what you chose"))
    return [replace(one, id=_free(view, one.id)) for one in found], tuple(problems[:20])


def _free(view: Any, id: str) -> str:
    """An id that no document has."""
    name, number = id, 1
    sql = "SELECT 1 FROM documents WHERE id = ?"
    while view.collection.generation.database.one(sql, (name,)) is not None:
        number += 1
        name = f"{id} ({number})"
    return name
