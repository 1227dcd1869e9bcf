"""A collection as one file: the same templates, nothing loaded from anywhere, the same bytes for the same model.

Texts of documents are packed, many in one block: JSON, deflated, in signs that HTML takes for nothing else; each word
has the level that it speaks from, and a reader's browser unpacks the block that it needs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from topiarist.app.explorer import frame
from topiarist.app.explorer.pages import model, overview
from topiarist.app.explorer.pages.coloured_text import DEEPEST, MOST_WORDS, SURE
from topiarist.app.explorer.pages.judging import categories
from topiarist.app.explorer.pages.spread import compare, groups, time
from topiarist.app.explorer.pages.topic import OwnWord, word_lines
from topiarist.app.explorer.rendering import environment, own
from topiarist.app.explorer.values import Step, TopicLine, path_to, titled, topic_line
from topiarist.app.explorer.view import UnnamedView, View
from topiarist.app.languages.catalogues import AUTO, ENGLISH, all_worded, checked, speaking
from topiarist.app.languages.catalogues import language as spoken
from topiarist.collection import Collection, Looks, collection_digest, growing_command, looks, tokens_of
from topiarist.errors import UsageError
from topiarist.store.sealed_folder import new_file
from topiarist.version import __version__

DOCUMENTS = ("typical", "all", "none")
SAID = {
    "typical": (
        "This report holds titles and a line of text of a few documents of each topic, labels, values of columns, "
        "files that were not read, and what people wrote about topics."
    ),
    "all": (
        "This report holds the full text of all documents, labels, values of columns, files that were not read, and "
        "what people wrote about topics."
    ),
    "none": "This report holds words and numbers only: no titles, texts, labels, files or notes, no names of topics.",
}
TYPICAL, WORDS = 5, 15
LABEL, TAG = "label", "tag"  # what documents are grouped by first, and what is nobody else's
GROUPINGS = 3  # columns by which topics are told, beside the label
BATCH = 1_000  # titles at a time
LARGE = 25 << 20  # bytes: more is hard to send and to open
BLOCK = 1 << 18  # characters of text in one packed block: unpacked in no time
EFFORT = 9  # of zlib: a report is written once and read often
Tell = Callable[[int, int], None]  # how many documents are written, of how many
STYLES, SCRIPT = ("style.css", "report.css"), "report.js"


@dataclass(frozen=True)
class Packed:
    """Some documents, from a row on, packed."""

    first: int
    text: str


@dataclass(frozen=True)
class Card:
    """A topic of the report."""

    topic: TopicLine
    path: tuple[Step, ...]
    note: str
    words: tuple[OwnWord, ...]
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


@dataclass(frozen=True, kw_only=True)
class Report:
    """All of the report but the full texts."""

    name: str
    said: str
    documents: str
    sentence: str
    blocks: tuple[overview.Block, ...]
    picture: frame.Row | None  # the tree as the overview shows it
    tree: frame.Row
    cards: tuple[Card, ...]
    time: time.TimePage | None  # where documents have dates
    groups: tuple[groups.GroupsPage, ...]  # by each column or label that divides documents, what each group has more of
    columns_left: int  # further columns, which were not looked at
    labels: compare.ComparePage | None
    categories: categories.CategoriesPage | None
    model: model.ModelPage
    command: str
    digest: str  # of texts, tree and what people said of it: `topiarist verify` prints the same
    version: str


def report(
    collection: Collection | str | os.PathLike[str],
    path: str | os.PathLike[str],
    documents: str = "typical",
    language: str = ENGLISH,
) -> int:
    """Write a collection, or the one in a folder, into one HTML file that opens anywhere and loads nothing.

    ``documents``: "typical" has titles and a line of text of a few, "all" every text with its words coloured by level,
    "none" words and numbers only; ``language``: en, de (most of it), fr or es (begun). Returns how many bytes it has.
    """
    if isinstance(collection, Collection):
        return write_report(collection, path, documents, language=language)
    with Collection.open(collection) as opened:
        return write_report(opened, path, documents, language=language)


def write_report(
    collection: Collection,
    path: str | os.PathLike[str],
    documents: str = "typical",
    tell: Tell | None = None,
    language: str = ENGLISH,
) -> int:
    """Write the report of a collection; how many bytes it has. ``tell`` hears how many texts are written."""
    if documents not in DOCUMENTS:
        raise UsageError(f"a report has {', '.join(DOCUMENTS)} documents, not {documents!r}", hint="typical")
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {target.parent} to write the report into", hint=target.name)
    view = UnnamedView(collection) if documents == "none" else View(collection)
    size = 0
    chosen = ENGLISH if checked(language) == AUTO else language
    with new_file(target) as file, speaking(chosen):
        for part in pieces(view, documents, tell):
            size += file.write(part.encode("utf-8", "replace"))
    return size


def pieces(view: View, documents: str, tell: Tell | None = None) -> Iterator[str]:
    """The text of the report, piece by piece: texts of documents are never all in memory."""
    style, script = "".join(map(asset, STYLES)), asset(SCRIPT)
    values: dict[str, Any] = {
        "page": _report(view, documents),
        "style": own(style),
        "script": own(script),
        "spelling": view.spelling,
        "link": _link,
        "listed": lambda topic: _listed(view, topic),
        "policy": f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        "texts": packed(view, tell) if documents == "all" else (),
        "root": "",
        "token": "",
        "frame": None,
    }
    yield from environment(spoken()).get_template("report.html").generate(**values)


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
    told_groups, columns_left = ((), 0) if secret else _by_group(view)
    settings = view.collection.settings
    return Report(
        name="" if secret else view.title,
        said=all_worded(SAID)[documents],
        documents=documents,
        sentence=first.sentence,
        blocks=first.blocks,
        picture=first.picture,
        tree=frame.branch(view, view.tree.root, set(range(len(view.tree)))),
        cards=tuple(_card(view, node, documents) for node in view.ordered()),
        time=None if secret else _over_time(view),
        groups=told_groups,
        columns_left=columns_left,
        labels=labels if labels and labels.rows and not secret else None,
        categories=learned if learned and learned.learned else None,
        model=told,
        command=growing_command(settings, paths=not secret),
        digest=collection_digest(view.collection),
        version=__version__,
    )


def _over_time(view: View) -> time.TimePage | None:
    """Topics over time, each leading to its card; None where there are no two periods to compare."""
    found = time.load(view, time.Ask())
    if len(found.periods) < 2:
        return None
    return replace(found, courses=tuple(replace(one, address=one.topic.address) for one in found.courses))


def _by_group(view: View) -> tuple[tuple[groups.GroupsPage, ...], int]:
    """Topics by label and by the first few columns whose groups differ in any; how many columns were not looked at.

    Tags are what people keep for themselves: a report that is handed on has none.
    """
    names = [one.name for one in groups.load(view, groups.Ask()).columns if one.name != TAG]
    columns = [name for name in names if name != LABEL]
    found = _differing(view, LABEL) if LABEL in names else []
    most = len(found) + GROUPINGS
    while columns and len(found) < most:
        found += _differing(view, columns.pop(0))
    return tuple(found), len(columns)


def _differing(view: View, column: str) -> list[groups.GroupsPage]:
    """Topics by a column, where any of its groups differs from the others."""
    told = groups.load(view, groups.Ask(column=column))
    return [told] if any(group.more or group.less for group in told.groups) else []


def _card(view: View, node: int, documents: str) -> Card:
    rows = () if documents == "none" else view.collection.tree.nodes[node].rows[:TYPICAL]
    return Card(
        topic_line(view, node),
        path_to(view, node),
        view.shape.notes.get(view.shape.topics[node], ""),
        word_lines(view, node, view.own_words(node, WORDS)),
        tuple(_quoted(view, node, row) for row in rows),
        view.n_at_home(node),
    )


def _quoted(view: View, node: int, row: int) -> Quoted:
    document, lead = view.collection.documents.many([row], texts=False)[0], view.leads([row])[row]
    share = float(view.shares_under(node)[row])
    return Quoted(row, titled(document.title, document.id), document.date[:10], share, lead)


def _listed(view: View, topic: int) -> Iterator[Quoted]:
    """Every document that lies mostly at a topic, the most typical first."""
    node = view.shape.node(topic)
    rows, shares = view.at_home(node)
    for start in range(0, len(rows), BATCH):
        some = rows[start : start + BATCH].tolist()
        known = view.collection.documents.many(some, texts=False)
        for row, share, one in zip(some, shares[start : start + BATCH].tolist(), known, strict=True):
            yield Quoted(row, titled(one.title, one.id), one.date[:10], share, "")


def _link(address: str) -> str:
    """An address of the explorer as a place in the file; what is not in the file is its beginning."""
    found = re.fullmatch(r"/topic/(\d+)", urlsplit(address).path)
    return f"#topic-{found[1]}" if found else "#top"


def packed(view: View, tell: Tell | None = None) -> Iterator[Packed]:
    """All documents in the order of their rows; a few are in memory at a time."""
    tell = tell or (lambda done, total: None)
    waiting: list[list[Any]] = []
    size, found = 0, looks(view, 0, DEEPEST + 1, SURE)
    for row, document in enumerate(view.collection.documents.iterate()):
        if row >= found.stop:
            found = looks(view, row, DEEPEST + 1, SURE)
        text = document.text
        topic = view.shape.topics[int(view.homes[row])]
        waiting.append([document.id, document.date[:10], topic, text, *_runs(view, text, found.of(row))])
        size += len(text)
        if size >= BLOCK:
            yield _pack(view, found, row + 1 - len(waiting), waiting)
            tell(row + 1, view.n_docs)
            waiting, size = [], 0
    if waiting:
        yield _pack(view, found, view.n_docs - len(waiting), waiting)
    tell(view.n_docs, view.n_docs)


def _runs(view: View, text: str, known: dict[int, int]) -> tuple[list[int], ...]:
    """Signs to pass over, signs of a word, its look; and so on. Signs are counted as a browser counts them.

    Of a text with too many words the first are told, and how many these are.
    """
    wide = not text.isascii() and max(text) > "\uffff"
    runs: list[int] = []
    here = 0
    for number, (_, start, stop, column) in enumerate(tokens_of(view, text)):
        if number >= MOST_WORDS:
            return runs, [MOST_WORDS]
        look = None if column is None else known.get(column)
        if look is None or start < here:
            continue
        before, word = text[here:start], text[start:stop]
        runs += [_units(before), _units(word), look] if wide else [len(before), len(word), look]
        here = stop
    return (runs,)


def _units(text: str) -> int:
    return len(text) + sum(sign > "\uffff" for sign in text)


def _pack(view: View, found: Looks, first: int, documents: list[list[Any]]) -> Packed:
    """A block; looks are numbered by how often they come, so that most of them are one sign."""
    times = Counter(code for one in documents for code in one[4][2::3])
    order = sorted(times, key=lambda code: (-times[code], code))
    number = {code: place for place, code in enumerate(order)}
    for one in documents:
        one[4][2::3] = [number[code] for code in one[4][2::3]]
    known = [[level, view.shape.topics[node], unsure] for level, node, unsure in map(found.meaning, order)]
    body = json.dumps({"looks": known, "documents": documents}, ensure_ascii=False, separators=(",", ":"))
    return Packed(first, base64.b64encode(zlib.compress(body.encode("utf-8", "replace"), EFFORT)).decode())
