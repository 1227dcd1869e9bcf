"""Report of a collection as one file, from the templates of the explorer.

Texts of documents are packed, many in one block of deflated JSON, in characters without a meaning in HTML. Each word has
its level. The browser unpacks the blocks that it needs.
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

from topiarist.collection.collection import Collection
from topiarist.collection.describe.provenance import format_growing_command
from topiarist.collection.describe.text_levels import DisplayCodes, compute_display_codes, iter_tokens
from topiarist.display.locale.catalogues import AUTO, ENGLISH, check_language, translate_table, use_language
from topiarist.display.locale.catalogues import current_language as spoken
from topiarist.errors import UsageError
from topiarist.storage.sealed_folder import new_file
from topiarist.version import __version__
from topiarist.web import frame
from topiarist.web.coloured_text import DEEPEST, MAX_WORDS, MIN_CERTAINTY
from topiarist.web.pages import categories, compare, groups, model, overview, time
from topiarist.web.pages.topic import TopicWordLine, build_word_lines
from topiarist.web.rendering import environment, mark_own_link
from topiarist.web.values import Step, TopicLine, build_topic_line, display_title, list_path
from topiarist.web.view import UnnamedView, View

DOCUMENTS = ("typical", "all", "none")
PRIVACY_TEXTS = {
    "typical": ("This report contains some titles and text lines, labels, columns, skipped files and notes."),
    "all": ("This report contains the full text of all documents, labels, columns, skipped files and notes."),
    "none": "This report contains words and numbers only, without titles, texts, labels, files, notes or topic names.",
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
class PackedTexts:
    """Packed documents from a row on."""

    first: int
    text: str


@dataclass(frozen=True)
class Card:
    """Topic in the report."""

    topic: TopicLine
    path: tuple[Step, ...]
    note: str
    words: tuple[TopicWordLine, ...]
    typical: tuple[Quoted, ...]
    here: int  # documents that lie mostly here and in nothing below


@dataclass(frozen=True)
class Quoted:
    """Document in the report."""

    row: int
    title: str
    date: str
    share: float
    line: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """Content of the report except the full texts."""

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
    version: str


def report(
    collection: Collection | str | os.PathLike[str],
    path: str | os.PathLike[str],
    documents: str = "typical",
    language: str = ENGLISH,
) -> int:
    """Write a collection, or the one in a folder, into one HTML file that opens anywhere and loads nothing.

    ``documents``: "typical" has titles and a line of text of a few, "all" every text with its words coloured by level,
    "none" words and numbers only; ``language``: en or de. Returns how many bytes it has.
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
    """Write the report of a collection and return its bytes. Raise UsageError for wrong arguments."""
    if documents not in DOCUMENTS:
        raise UsageError(
            f"expected the documents of a report to be one of {', '.join(DOCUMENTS)}, got {documents!r}",
            hint="Use typical.",
        )
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise UsageError(
            f"there is no folder {target.parent} to write the report into", hint=f"Write it to {target.name}."
        )
    view = UnnamedView(collection) if documents == "none" else View(collection)
    size = 0
    language_code = ENGLISH if check_language(language) == AUTO else language
    with new_file(target) as file, use_language(language_code):
        for part in iter_pieces(view, documents, tell):
            size += file.write(part.encode("utf-8", "replace"))
    return size


def iter_pieces(view: View, documents: str, tell: Tell | None = None) -> Iterator[str]:
    """Yield the report as pieces of HTML; ``tell`` receives the number of packed texts."""
    style, script = "".join(map(read_asset, STYLES)), read_asset(SCRIPT)
    values: dict[str, Any] = {
        "page": _build_report(view, documents),
        "style": mark_own_link(style),
        "script": mark_own_link(script),
        "spelling": view.spelling,
        "link": _link_inside,
        "listed": lambda topic: _list_documents(view, topic),
        "policy": f"default-src 'none'; img-src data:; style-src '{_format_hash(style)}'; script-src '{_format_hash(script)}'",
        "texts": pack_texts(view, tell) if documents == "all" else (),
        "root": "",
        "token": "",
        "frame": None,
    }
    yield from environment(spoken()).get_template("report.html").generate(**values)


def read_asset(name: str) -> str:
    return files("topiarist.web").joinpath("static", name).read_text("utf-8")


def _format_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _build_report(view: View, documents: str) -> Report:
    """Return the content of the report; documents "none" leaves out names, dates, groups and labels."""
    first, values = overview.load(view, overview.Ask()), model.load(view, model.Ask())
    labels = category_page = None
    if frame.has_labels(view):
        labels, category_page = compare.load(view, compare.Ask()), categories.load(view, categories.Ask())
    secret = documents == "none"
    told_groups, columns_left = ((), 0) if secret else _load_groups(view)
    settings = view.collection.settings
    return Report(
        name="" if secret else view.title,
        said=translate_table(PRIVACY_TEXTS)[documents],
        documents=documents,
        sentence=first.sentence,
        blocks=first.blocks,
        picture=first.picture,
        tree=frame.build_branch(view, view.tree.root, set(range(len(view.tree)))),
        cards=tuple(_build_card(view, node, documents) for node in view.ordered()),
        time=None if secret else _load_time(view),
        groups=told_groups,
        columns_left=columns_left,
        labels=labels if labels and labels.rows and not secret else None,
        categories=category_page if category_page and category_page.learned else None,
        model=values,
        command=format_growing_command(settings, paths=not secret),
        version=__version__,
    )


def _load_time(view: View) -> time.TimePage | None:
    """Return topics over time; None for fewer than two periods."""
    result = time.load(view, time.Ask())
    if len(result.periods) < 2:
        return None
    return replace(result, courses=tuple(replace(item, address=item.topic.address) for item in result.courses))


def _load_groups(view: View) -> tuple[tuple[groups.GroupsPage, ...], int]:
    """Return topics by label and by the first columns with differences, and the number of other columns.

    Tags are private and not part of a report.
    """
    names = [item.name for item in groups.load(view, groups.Ask()).columns if item.name != TAG]
    columns = [name for name in names if name != LABEL]
    result = _find_differing(view, LABEL) if LABEL in names else []
    max_columns = len(result) + GROUPINGS
    while columns and len(result) < max_columns:
        result += _find_differing(view, columns.pop(0))
    return tuple(result), len(columns)


def _find_differing(view: View, column: str) -> list[groups.GroupsPage]:
    """Return the page of a column if a topic differs between its groups; else an empty list."""
    values = groups.load(view, groups.Ask(column=column))
    return [values] if any(group.more or group.less for group in values.groups) else []


def _build_card(view: View, node: int, documents: str) -> Card:
    """Return a topic with words and typical documents; without documents for "none"."""
    rows = () if documents == "none" else view.collection.tree.nodes[node].rows[:TYPICAL]
    return Card(
        build_topic_line(view, node),
        list_path(view, node),
        view.shape.notes.get(view.shape.topics[node], ""),
        build_word_lines(view, node, view.own_words(node, WORDS)),
        tuple(_build_quoted(view, node, row) for row in rows),
        view.count_assigned_here(node),
    )


def _build_quoted(view: View, node: int, row: int) -> Quoted:
    document, lead = view.collection.documents.load_many([row], texts=False)[0], view.leads([row])[row]
    share = float(view.shares_under(node)[row])
    return Quoted(row, display_title(document.title, document.id), document.date[:10], share, lead)


def _list_documents(view: View, topic: int) -> Iterator[Quoted]:
    """Yield the documents of a topic without their texts."""
    node = view.shape.node(topic)
    rows, shares = view.list_assigned_here(node)
    for start in range(0, len(rows), BATCH):
        batch_rows = rows[start : start + BATCH].tolist()
        documents = view.collection.documents.load_many(batch_rows, texts=False)
        for row, share, item in zip(batch_rows, shares[start : start + BATCH].tolist(), documents, strict=True):
            yield Quoted(row, display_title(item.title, item.id), item.date[:10], share, "")


def _link_inside(address: str) -> str:
    """Return the anchor of a topic in the report; the top for other addresses."""
    result = re.fullmatch(r"/topic/(\d+)", urlsplit(address).path)
    return f"#topic-{result[1]}" if result else "#top"


def pack_texts(view: View, tell: Tell | None = None) -> Iterator[PackedTexts]:
    """Yield all texts with display codes in packed blocks, and call ``tell`` after each block."""
    tell = tell or (lambda done, total: None)
    waiting: list[list[Any]] = []
    size, result = 0, compute_display_codes(view, 0, DEEPEST + 1, MIN_CERTAINTY)
    for row, document in enumerate(view.collection.documents.iterate()):
        if row >= result.stop:
            result = compute_display_codes(view, row, DEEPEST + 1, MIN_CERTAINTY)
        text = document.text
        topic = view.shape.topics[int(view.assigned_nodes[row])]
        waiting.append([document.id, document.date[:10], topic, text, *_divide_into_runs(view, text, result.of(row))])
        size += len(text)
        if size >= BLOCK:
            yield _pack(view, result, row + 1 - len(waiting), waiting)
            tell(row + 1, view.n_docs)
            waiting, size = [], 0
    if waiting:
        yield _pack(view, result, view.n_docs - len(waiting), waiting)
    tell(view.n_docs, view.n_docs)


def _divide_into_runs(view: View, text: str, number_by_word: dict[int, int]) -> tuple[list[int], ...]:
    """Return runs of skipped characters, word characters and display code, in UTF-16 units.

    Of a text with too many words, return the runs of the first and their number.
    """
    wide = not text.isascii() and max(text) > "\uffff"
    runs: list[int] = []
    position = 0
    for number, (_, start, stop, column) in enumerate(iter_tokens(view, text)):
        if number >= MAX_WORDS:
            return runs, [MAX_WORDS]
        look = None if column is None else number_by_word.get(column)
        if look is None or start < position:
            continue
        gap, word = text[position:start], text[start:stop]
        runs += [_count_units(gap), _count_units(word), look] if wide else [len(gap), len(word), look]
        position = stop
    return (runs,)


def _count_units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text) + sum(sign > "\uffff" for sign in text)


def _pack(view: View, codes: DisplayCodes, first: int, documents: list[list[Any]]) -> PackedTexts:
    """Return a block; display codes are numbered by frequency so that most take one character."""
    times = Counter(code for item in documents for code in item[4][2::3])
    order = sorted(times, key=lambda code: (-times[code], code))
    number = {code: place for place, code in enumerate(order)}
    for item in documents:
        item[4][2::3] = [number[code] for code in item[4][2::3]]
    meanings = [[level, view.shape.topics[node], unsure] for level, node, unsure in map(codes.meaning, order)]
    body = json.dumps({"looks": meanings, "documents": documents}, ensure_ascii=False, separators=(",", ":"))
    return PackedTexts(first, base64.b64encode(zlib.compress(body.encode("utf-8", "replace"), EFFORT)).decode())
