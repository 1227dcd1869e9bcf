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
from urllib.parse import urlsplit

import numpy as np

from topiarist.app.explorer import embedding, frame
from topiarist.app.explorer.nameless import Nameless
from topiarist.app.explorer.pages import categories, compare, model, overview, topic_words
from topiarist.app.explorer.rendering import environment, own
from topiarist.app.explorer.values import Step, TopicLine, path_to, titled, topic_line
from topiarist.app.explorer.view import View
from topiarist.collection.collection import Collection
from topiarist.errors import UsageError
from topiarist.store.sealed_folder import new_file
from topiarist.version import __version__

DOCUMENTS = ("typical", "all", "none")
SAID = {
    "typical": "This report holds titles and a line of text of a few documents of each topic.",
    "all": "This report holds the full text of all documents.",
    "none": "This report holds words and numbers only: no titles, texts, labels, files or notes, no names of topics.",
}
TYPICAL, WORDS = 5, 15
BATCH = 1_000  # titles at a time
LARGE = 25 << 20  # bytes: more is hard to send and to open
STYLES, SCRIPT = ("style.css", "report.css"), "report.js"


@dataclass(frozen=True)
class Card:
    """A topic of the report."""

    topic: TopicLine
    path: tuple[Step, ...]
    note: str
    words: tuple[topic_words.OwnWord, ...]
    typical: tuple[Quoted, ...]
    here: int  # documents that lie mostly here and in nothing below


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
    sentence: str
    blocks: tuple[overview.Block, ...]
    tree: frame.Row
    cards: tuple[Card, ...]
    labels: compare.ComparePage | None
    categories: categories.CategoriesPage | None
    model: model.ModelPage
    command: str
    version: str


def report(
    collection: Collection | str | os.PathLike[str], path: str | os.PathLike[str], documents: str = "typical"
) -> int:
    """Write a collection, or the one in a folder, into one HTML file that opens anywhere and loads nothing.

    ``documents``: "typical" has titles and a line of text of a few, "all" every text with its words coloured by level,
    "none" words and numbers only. Returns how many bytes the file has.
    """
    if isinstance(collection, Collection):
        return write_report(collection, path, documents)
    with Collection.open(collection) as opened:
        return write_report(opened, path, documents)


def write_report(
    collection: Collection, path: str | os.PathLike[str], documents: str = "typical", tell: embedding.Tell | None = None
) -> int:
    """Write the report of a collection; how many bytes it has. ``tell`` hears how many texts are written."""
    if documents not in DOCUMENTS:
        raise UsageError(f"a report has {', '.join(DOCUMENTS)} documents, not {documents!r}", hint="typical")
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {target.parent} to write the report into", hint=target.name)
    view = Nameless(collection) if documents == "none" else View(collection)
    size = 0
    with new_file(target) as file:
        for part in pieces(view, documents, tell):
            size += file.write(part.encode("utf-8", "replace"))
    return size


def pieces(view: View, documents: str, tell: embedding.Tell | None = None) -> Iterator[str]:
    """The text of the report, piece by piece: texts of documents are never all in memory."""
    style, script = "".join(map(asset, STYLES)), asset(SCRIPT)
    values: dict[str, Any] = {
        "page": _report(view, documents), "style": own(style), "script": own(script),
        "link": _link, "listed": lambda topic: _listed(view, topic),
        "policy": f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        "texts": embedding.packed(view, tell) if documents == "all" else (), "root": "", "token": "", "frame": None,
    }  # fmt: skip
    yield from environment().get_template("report.html").generate(**values)


def asset(name: str) -> str:
    """The text of one of our own files."""
    return files("topiarist.app.explorer").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _report(view: View, documents: str) -> Report:
    first, told = overview.load(view, overview.Ask()), model.load(view, model.Ask())
    labels = learned = None
    if frame.has_labels(view):
        labels, learned = compare.load(view, compare.Ask()), categories.load(view, categories.Ask())
    secret = documents == "none"
    settings = view.collection.settings
    return Report(
        "" if secret else frame.shown_name(view), SAID[documents], documents, first.sentence, first.blocks,
        frame.branch(view, view.tree.root, set(range(len(view.tree)))),
        tuple(_card(view, node, documents) for node in view.ordered()),
        labels if labels and labels.rows and not secret else None, learned if learned and learned.learned else None,
        told, model.command(settings, paths=not secret), __version__,
    )  # fmt: skip


def _card(view: View, node: int, documents: str) -> Card:
    rows = () if documents == "none" else view.collection.tree.nodes[node].rows[:TYPICAL]
    return Card(
        topic_line(view, node), path_to(view, node), view.shape.notes.get(view.shape.topics[node], ""),
        topic_words.words_of(view, node, WORDS), tuple(_quoted(view, node, row) for row in rows),
        int((view.homes == node).sum()),
    )  # fmt: skip


def _quoted(view: View, node: int, row: int) -> Quoted:
    document, lead = view.collection.documents.many([row], texts=False)[0], view.leads([row])[row]
    share = float(view.shares_under(node)[row])
    return Quoted(row, titled(document.title, document.id, lead), document.date[:10], share, lead)


def _listed(view: View, topic: int) -> Iterator[Quoted]:
    """Every document that lies mostly at a topic, the most typical first."""
    node = view.shape.node(topic)
    rows = np.flatnonzero(view.homes == node)
    shares = view.shares_under(node)[rows]
    order = np.lexsort((rows, -view.lengths[rows], -shares.round(4)))
    for start in range(0, len(rows), BATCH):
        some = order[start : start + BATCH]
        known = view.collection.documents.many(rows[some], texts=False)
        leads = view.leads([row for row, one in zip(rows[some].tolist(), known, strict=True) if not one.title.strip()])
        for row, share, one in zip(rows[some].tolist(), shares[some].tolist(), known, strict=True):
            yield Quoted(row, titled(one.title, one.id, leads.get(row, "")), one.date[:10], share, "")


def _link(address: str) -> str:
    """An address of the explorer as a place in the file; what is not in the file is its beginning."""
    found = re.fullmatch(r"/topic/(\d+)", urlsplit(address).path)
    return f"#topic-{found[1]}" if found else "#top"
