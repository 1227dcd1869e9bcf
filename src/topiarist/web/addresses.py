"""Addresses of the explorer; they hold everything that a page shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

OVERVIEW, SHAPE, HELP, REPORT = "/", "/shape", "/help", "/report.html"
NEW, MODEL, CATEGORIES, COMPARE, TREE = "/new", "/model", "/categories", "/compare", "/tree"
REVIEW, NOTES = "/review", "/notes"
TIME, GROUPS, MAP = "/time", "/groups", "/map"
POINTS, POINT = "/map.points", "/map.document"  # what the map asks for by itself
_PAGES = frozenset((
    OVERVIEW, SHAPE, HELP, NEW, MODEL, CATEGORIES, COMPARE, TREE, REVIEW, TIME, GROUPS, MAP, NOTES,
    "/search", "/word", "/doc",
))  # fmt: skip


def _with(path: str, **values: Any) -> str:
    """Return a path with its query; values that are None, False or empty are left out."""
    fields = {name: value for name, value in values.items() if value is not None and value is not False and value != ""}
    return f"{path}?{urlencode(fields)}" if fields else path


def overview(view: str | None = None, detail: str | None = None, turned: Sequence[int] = ()) -> str:
    """Return the address of the overview; ``turned``: topics opened or closed against the detail."""
    return _with(OVERVIEW, view=view, detail=detail, turned="-".join(map(str, turned)))


def topic(id: int, **values: Any) -> str:
    """Return the address of a topic: ``special``, ``n``, ``words``, ``sort``, ``show``, ``page``."""
    return _with(f"/topic/{id}", **values)


def document(id: str, **values: Any) -> str:
    """Return the address of a document and of the list that it was opened from.

    Ids that browsers read as path steps, and ids that end in .json, go into the query.
    """
    if id in ("", ".", "..") or id.endswith(".json") or any(ord(sign) < 32 for sign in id):
        return _with("/doc", id=id, **values)
    return _with(f"/doc/{quote(id, safe='')}", **values)


def anchor(id: str) -> str:
    """Return the HTML id of a document in a list; it is safe for any id."""
    return f"d{blake2b(id.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def passage(number: int) -> str:
    """Return the HTML id of a passage with a note."""
    return f"passage-{number}"


def passage_note(id: str, number: int) -> str:
    """Return the address of a document at a passage with a note."""
    return f"{document(id, note=number)}#{passage(number)}"


def search(query: str = "", **values: Any) -> str:
    """Return the address of a search: ``by``, ``topic``, ``page``."""
    return _with("/search", q=query, **values)


def labelled_documents(label: str, topic: int | None = None) -> str:
    return _with("/search", label=label, topic=topic)


def tree(id: int | None = None, depth: int | None = None, detail: str | None = None) -> str:
    return _with(TREE, topic=id, depth=depth, detail=detail)


def category(name: str, **values: Any) -> str:
    return _with(CATEGORIES, label=name, **values)


def unfiled_documents(rho: float | None = None, **values: Any) -> str:
    """Return the address of the documents that are certain enough for no category."""
    return _with(CATEGORIES, left=1, rho=rho or None, **values)


def review(label: str = "", **values: Any) -> str:
    """Return the address of a review: ``query``, ``target``, ``confidence``; ``id``, the document to judge next."""
    return _with(REVIEW, label=label, **values)


def shape(edit: str, id: int | None = None, **values: Any) -> str:
    """Return the address of the preview of an edit."""
    return _with(SHAPE, edit=edit, topic=id, **values)


def original(id: str, **values: Any) -> str:
    """Return the address of the file that a document came from, or of its ``text``."""
    return _with("/original", id=id, **values)


def tagged(tag: str) -> str:
    return _with("/search", tag=tag)


def word(name: str) -> str:
    return _with("/word", word=name)


def categories(rho: float | None = None) -> str:
    return _with(CATEGORIES, rho=rho)


def compare(level: int | None = None) -> str:
    return _with(COMPARE, level=level)


def filed_documents(first: int, number: int) -> str:
    """Return the address of the documents that were filed last, from a row on."""
    return _with(NEW, first=first, filed=number)


def export(kind: str, **values: Any) -> str:
    """Return the address of the documents of a ``topic`` or a search ``q`` as a file."""
    return _with(f"/export.{kind}", **values)


notes, document_map, points = partial(_with, NOTES), partial(_with, MAP), partial(_with, POINTS)
time, groups, duplicates = partial(_with, TIME), partial(_with, GROUPS), partial(_with, "/duplicates")


def add_judgement(address: str, number: int) -> str:
    """Return the same address with the number of the last judgement."""
    path, _, query = address.partition("?")
    parameters = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "done"]
    return f"{path}?{urlencode([*parameters, ('done', number)])}"


def in_detail(address: str, detail: str) -> str:
    """Return the address with the current detail; unchanged with its own one, or without a tree."""
    place, mark, anchor = address.partition("#")
    path, _, values = place.partition("?")
    if not detail or not (path in _PAGES or path.startswith(("/topic/", "/doc/"))):
        return address
    fields = [*values.split("&")] if values else []
    if any(item.startswith("detail=") for item in fields):
        return address
    return f"{path}?{'&'.join([*fields, f'detail={quote(detail)}'])}{mark}{anchor}"


def as_json(address: str) -> str:
    """Return the address of the data of a page."""
    path, mark, values = address.partition("?")
    return f"{'/index' if path == OVERVIEW else path}.json{mark}{values}"
