"""New documents from a page: read as the command line reads them, placed, and kept only if somebody says so."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, JSONResponse, Response

from topiarist.app.explorer import addresses, frame
from topiarist.app.explorer.pages import new
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.web.failures import wants_data
from topiarist.app.explorer.writes.bodies import Brought, Kept
from topiarist.app.explorer.writes.posts import back, patience
from topiarist.app.languages.catalogues import worded
from topiarist.collection import ChangedError, add_documents
from topiarist.errors import InputError, ResourceError, TopiaristError
from topiarist.text.documents import Document
from topiarist.text.readers import read
from topiarist.text.readers.making import storable
from topiarist.text.titles import first_line

MOST = 1_000  # documents that a page takes at once
LONGEST_PASTED = 2_000_000  # letters, as the page says
LONGEST_NAME = 200  # bytes
EMPTY = "there is no text in what you brought"


def bring(request: Request, session: Session, body: Brought) -> Response:
    """Where documents would go."""
    view = session.view()
    documents, problems = _documents(body)
    if not documents and wants_data(request):
        raise InputError(worded(EMPTY), hint=worded("paste a text, or choose a file"))
    if not documents:
        said = worded("There is no text in what you brought: paste a text, or choose a file.")
        page = replace(new.load(view, new.Ask(rho=body.rho)), problems=(*problems, said))
        return HTMLResponse(frame.page_of(request, "new.html", page, view), 400)
    page = new.placed(view, documents, body.rho, session.keep_for_later(documents), problems)
    if wants_data(request):
        return JSONResponse(asdict(page))
    return HTMLResponse(frame.page_of(request, "new.html", replace(page, text=body.text), view))


def keep(request: Request, session: Session, body: Kept) -> Response:
    """File documents that were brought. They are forgotten only when they are stored; ids are chosen then."""
    documents = session.take(body.key)
    if documents is None:
        raise ChangedError(
            worded("these documents were filed already, or are forgotten"), hint=worded("bring them again")
        )
    try:
        first = _store(session, documents, body.dates)
    except BaseException:
        session.put_back(body.key, documents)
        raise
    return back(request, body.back, addresses.filed(first, len(documents)))


def _store(session: Session, documents: list[Document], dates: str) -> int:
    """Store them; the row of the first."""
    until = time.monotonic() + patience(session)
    while True:
        try:
            with session.writer() as collection:
                stored = [one.document.id for one in add_documents(collection, documents, rename=True, dates=dates)]
                return collection.documents.row_of(stored[0])
        except ResourceError as error:
            if "being written" not in error.message or time.monotonic() > until:
                said = worded("nothing is stored yet: {reason}", reason=error.message)
                hint = worded("go back, and press “File these” again in a moment")
                raise ResourceError(said, hint=hint) from error
            time.sleep(0.1)


def _documents(body: Brought) -> tuple[list[Document], tuple[str, ...]]:
    """What was pasted, and what files hold."""
    found: list[Document] = []
    problems: list[str] = []
    if len(body.text) > LONGEST_PASTED:
        said = worded(
            "a text of {letters} letters is too long to be pasted, at most {most}",
            letters=len(body.text),
            most=LONGEST_PASTED,
        )
        raise InputError(said, hint=worded("the same as a file"))
    pasted = storable(body.text)
    if pasted.strip():
        found.append(Document("pasted", pasted, title=first_line(pasted)))
    with tempfile.TemporaryDirectory() as folder:
        for one in body.files:
            if len(found) >= MOST:
                break
            documents, trouble = _uploaded(Path(folder) / secrets.token_hex(8), one, MOST - len(found))
            found += documents
            problems += trouble
    if len(found) >= MOST:
        said = worded(
            "Only the first {most} documents were read; the command topiarist file with --add takes any number.",
            most=MOST,
        )
        problems.insert(0, said)
    return found, tuple(problems[:20])


def _uploaded(folder: Path, upload: UploadFile, most: int) -> tuple[list[Document], list[str]]:
    """The documents of a file, as if it had been read where it was: under its own name, in a folder of its own."""
    folder.mkdir()
    path = folder / _name(str(upload.filename))
    with path.open("wb") as file:
        shutil.copyfileobj(upload.file, file)

    def shown(said: str) -> str:
        return said.replace(f"{folder}{os.sep}", "").replace(f"{folder.name}/", "").replace(str(folder), path.name)

    try:
        with read([folder], limit=most) as documents:
            found = [replace(one, id=shown(one.id), source=shown(one.source)) for one in documents]
        return found, [f"{shown(one.source)}: {shown(one.reason)}" for one in documents.problems]
    except TopiaristError as error:
        return [], [f"{path.name}: {shown(error.message)}"]


def _name(given: str) -> str:
    """The name of a file without the folders before it, and without what no file may be called."""
    name = "".join(sign for sign in re.split(r"[/\\]", storable(given))[-1] if sign.isprintable()).lstrip(".")
    while len(name.encode()) > LONGEST_NAME:
        name = name[1:]
    return name or "file.txt"
