"""Every address of the explorer. What a page shows is in its address: reload it, keep it, send it to somebody."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

HOME, SHAPE, HELP, REPORT = "/", "/shape", "/help", "/report.html"
NEW, MODEL, CATEGORIES, DENDROGRAM, COMPARE, TREE = "/new", "/model", "/categories", "/dendrogram", "/compare", "/tree"
TREES, REVIEW, NOTES = "/trees", "/review", "/notes"
TIME, GROUPS, MAP = "/time", "/groups", "/map"
POINTS, POINT = "/map.points", "/map.document"  # what the map asks for by itself
_PAGES = frozenset(
    (HOME, SHAPE, HELP, NEW, MODEL, CATEGORIES, DENDROGRAM, COMPARE, TREE, TREES, REVIEW, TIME, GROUPS, MAP, NOTES)
) | {"/search", "/word", "/doc"}


def _with(path: str, **values: Any) -> str:
    """A path with those values that say something; what is left out stays as it is by default."""
    told = {name: value for name, value in values.items() if value is not None and value is not False and value != ""}
    return f"{path}?{urlencode(told)}" if told else path


def home(view: str | None = None, detail: str | None = None, turned: Sequence[int] = ()) -> str:
    """The overview; ``turned``: topics that are open where the detail has them closed, or the other way round."""
    return _with(HOME, view=view, detail=detail, turned="-".join(map(str, turned)))


def topic(id: int, **values: Any) -> str:
    """A topic: ``special``, ``n``, ``words``, ``sort``, ``show``, ``page``, ``tag``."""
    return _with(f"/topic/{id}", **values)


def document(id: str, **values: Any) -> str:
    """A document, with the list that it was opened from (``topic``, ``sort``, ``show``, or ``q``, ``by``, ``at``).

    An id that a browser would take for a step in the path, or the server for a wish for JSON, goes behind the
    question mark.
    """
    if id in ("", ".", "..") or id.endswith(".json") or any(ord(sign) < 32 for sign in id):
        return _with("/doc", id=id, **values)
    return _with(f"/doc/{quote(id, safe='')}", **values)


def anchor(id: str) -> str:
    """The place of a document in a list, whatever signs its id holds."""
    return f"d{blake2b(id.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def passage(number: int) -> str:
    """The place of a passage with a note in the text of its document."""
    return f"passage-{number}"


def notes(**values: Any) -> str:
    """All notes on passages."""
    return _with(NOTES, **values)


def noted(id: str, number: int) -> str:
    """A document at a passage with a note; of a long one, in the part that has it."""
    return f"{document(id, note=number)}#{passage(number)}"


def original(id: str, **values: Any) -> str:
    """The file that a document came from, to keep; or its ``text``."""
    return _with("/original", id=id, **values)


def search(query: str = "", **values: Any) -> str:
    """A search: ``by``, ``topic``, ``page``."""
    return _with("/search", q=query, **values)


def tagged(tag: str) -> str:
    """The documents with a tag."""
    return _with("/search", tag=tag)


def labelled(label: str, topic: int | None = None) -> str:
    """The documents with a label; those of them that lie under a topic."""
    return _with("/search", label=label, topic=topic)


def word(name: str) -> str:
    """Where a word is at home."""
    return _with("/word", word=name)


def tree(id: int | None = None, depth: int | None = None, detail: str | None = None) -> str:
    """The tree as an outline, or from a topic down, to so many levels below it, or in so much detail."""
    return _with(TREE, topic=id, depth=depth, detail=detail)


def category(name: str, **values: Any) -> str:
    """The documents of a category."""
    return _with(CATEGORIES, label=name, **values)


def categories(rho: float | None = None) -> str:
    """All categories, at a certainty."""
    return _with(CATEGORIES, rho=rho)


def unfiled(rho: float | None = None, **values: Any) -> str:
    """The documents that are certain enough for no category."""
    return _with(CATEGORIES, left=1, rho=rho or None, **values)


def judged(address: str, number: int) -> str:
    """The same address, where it is told what was judged just now."""
    path, _, query = address.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "done"]
    return f"{path}?{urlencode([*kept, ('done', number)])}"


def review(label: str = "", **values: Any) -> str:
    """A review for a label: ``query``, ``target``, ``confidence``; ``id``, a document to judge now."""
    return _with(REVIEW, label=label, **values)


def compare(level: int | None = None) -> str:
    """Labels against topics of a level."""
    return _with(COMPARE, level=level)


def trees(beside: str | None = None, **values: Any) -> str:
    """This tree beside another: ``level``, ``show``, ``page``; ``left`` and ``right``, documents of two topics."""
    return _with(TREES, **{"with": beside}, **values)


def time(**values: Any) -> str:
    """Topics over time: ``by`` a unit, of a ``topic``, with what is new ``since`` a date and ``until`` another."""
    return _with(TIME, **values)


def document_map(**values: Any) -> str:
    """The map of the documents."""
    return _with(MAP, **values)


def points(**values: Any) -> str:
    """The points of a map, as bytes."""
    return _with(POINTS, **values)


def groups(**values: Any) -> str:
    """Topics by the groups that a ``column`` makes; of one ``group`` all of them."""
    return _with(GROUPS, **values)


def duplicates(**values: Any) -> str:
    """Documents with their copies: of one (``id``), or a ``page`` of all."""
    return _with("/duplicates", **values)


def shape(edit: str, id: int | None = None, **values: Any) -> str:
    """An edit before it is made: what it would change."""
    return _with(SHAPE, edit=edit, topic=id, **values)


def filed(first: int, number: int) -> str:
    """What was filed just now: so many documents from a row on."""
    return _with(NEW, first=first, filed=number)


def export(kind: str, **values: Any) -> str:
    """Documents of a topic or a search as a file: ``topic`` or ``q``."""
    return _with(f"/export.{kind}", **values)


def in_detail(address: str, detail: str) -> str:
    """The same page with as much of the tree open as on the one before, unless it says itself how much."""
    place, mark, anchor = address.partition("#")
    path, _, values = place.partition("?")
    if not detail or not (path in _PAGES or path.startswith(("/topic/", "/doc/"))):
        return address
    told = [*values.split("&")] if values else []
    if any(one.startswith("detail=") for one in told):
        return address
    return f"{path}?{'&'.join([*told, f'detail={quote(detail)}'])}{mark}{anchor}"


def as_json(address: str) -> str:
    """The same page as data."""
    path, mark, values = address.partition("?")
    return f"{'/index' if path == HOME else path}.json{mark}{values}"
