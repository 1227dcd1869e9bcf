"""A collection as one file: the same templates, nothing loaded from anywhere, the same bytes for the same model."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from topiarist import __version__
from topiarist.app.explorer import frame
from topiarist.app.explorer.pages import compare, model, overview, topic_words
from topiarist.app.explorer.pages.coloured import coloured
from topiarist.app.explorer.rendering import environment, own
from topiarist.app.explorer.values import Step, TopicLine, path_to, titled, topic_line
from topiarist.app.explorer.view import View
from topiarist.errors import UsageError
from topiarist.files.collection import Collection
from topiarist.scale.files import new_file

DOCUMENTS = ("typical", "all", "none")
SAID = {
    "typical": "This report holds titles and a line of text of a few documents of each topic.",
    "all": "This report holds the full text of all documents.",
    "none": "This report holds words and numbers only: no titles, no text of documents.",
}
TYPICAL, WORDS = 5, 15
LARGE = 25 << 20  # bytes: more is hard to send and to open
STYLE, SCRIPT = "style.css", "report.js"


@dataclass(frozen=True)
class Card:
    """A topic of the report."""

    topic: TopicLine
    path: tuple[Step, ...]
    note: str
    words: tuple[topic_words.OwnWord, ...]
    typical: tuple[Quoted, ...]


@dataclass(frozen=True)
class Quoted:
    """A document of the report: its title, and as much of its text as may be shown."""

    row: int
    title: str
    date: str
    share: float
    line: str


@dataclass(frozen=True)
class Report:
    """All of the report but the full texts."""

    name: str
    said: str
    documents: str
    overview: overview.OverviewPage
    tree: frame.Row
    cards: tuple[Card, ...]
    labels: compare.ComparePage | None
    model: model.ModelPage
    version: str


def write_report(collection: Collection, path: str | os.PathLike[str], documents: str = "typical") -> int:
    """Write the report of a collection; how many bytes it has."""
    if documents not in DOCUMENTS:
        raise UsageError(f"a report has {', '.join(DOCUMENTS)} documents, not {documents!r}", hint="typical")
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {target.parent} to write the report into", hint=target.name)
    view = View(collection)
    size = 0
    with new_file(target) as file:
        for part in pieces(view, documents):
            size += file.write(part.encode("utf-8", "replace"))
    return size


def pieces(view: View, documents: str) -> Iterator[str]:
    """The text of the report, piece by piece: texts of documents are never all in memory."""
    style, script = asset(STYLE), asset(SCRIPT)
    values: dict[str, Any] = {
        "page": _report(view, documents), "style": own(style), "script": own(script),
        "link": _linker(view, documents),
        "policy": f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        "texts": _texts(view) if documents == "all" else (), "root": "", "token": "", "frame": None,
    }  # fmt: skip
    yield from environment().get_template("report.html").generate(**values)


def asset(name: str) -> str:
    """The text of one of our own files."""
    return files("topiarist.app.explorer").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _report(view: View, documents: str) -> Report:
    first = overview.load(view, overview.Ask())
    nodes = _in_order(view)
    labels = compare.load(view, compare.Ask()) if frame.has_labels(view) else None
    return Report(
        frame.shown_name(view), SAID[documents], documents, first,
        frame.branch(view, view.tree.root, set(range(len(view.tree)))),
        tuple(_card(view, node, documents) for node in nodes), labels if labels and labels.rows else None,
        model.load(view, model.Ask()), __version__,
    )  # fmt: skip


def _in_order(view: View) -> list[int]:
    ordered, waiting = [], [view.tree.root]
    while waiting:
        node = waiting.pop()
        ordered.append(node)
        waiting += reversed(view.children(node))
    return ordered


def _card(view: View, node: int, documents: str) -> Card:
    rows = () if documents == "none" else view.collection.tree.nodes[node].rows[:TYPICAL]
    return Card(
        topic_line(view, node), path_to(view, node), view.shape.notes.get(view.shape.topics[node], ""),
        topic_words.words_of(view, node, WORDS), tuple(_quoted(view, node, row) for row in rows),
    )  # fmt: skip


def _quoted(view: View, node: int, row: int) -> Quoted:
    document, lead = view.collection.documents.many([row], texts=False)[0], view.leads([row])[row]
    share = float(view.shares_under(node)[row])
    return Quoted(row, titled(document.title, document.id, lead), document.date[:10], share, lead)


def _texts(view: View) -> Iterator[dict[str, Any]]:
    """Every document with its words coloured."""
    for row, document in enumerate(view.collection.documents.iterate()):
        painted = coloured(view, row, document.text, by="level", only=None, part=1)
        rest = document.text[sum(len(piece.text) for piece in painted.pieces) :]
        yield {
            "row": row, "id": document.id, "title": titled(document.title, document.id, document.text[:90]),
            "date": document.date[:10], "pieces": painted.pieces, "rest": rest,
            "path": path_to(view, int(view.homes[row]))[1:],
        }  # fmt: skip


def _linker(view: View, documents: str) -> Any:
    """Addresses of the explorer as places in the file; what is not in the file is nowhere."""
    rows: dict[str, int] = {}
    if documents == "all":
        rows = {id: row for row, id in enumerate(view.collection.documents.ids())}

    def link(address: str) -> str:
        path = urlsplit(address).path
        found = re.fullmatch(r"/topic/(\d+)", path)
        if found:
            return f"#topic-{found[1]}"
        if path.startswith("/doc/") and unquote(path[5:]) in rows:
            return f"#doc-{rows[unquote(path[5:])]}"
        return "#top"

    return link
