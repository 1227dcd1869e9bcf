"""Values that pages share: topics and documents in a line, and the position in a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from topiarist.collection.copies import count_copies
from topiarist.collection.search.results import Hit
from topiarist.display.locale.catalogues import translate_table
from topiarist.estimators.tree.topic_certainty import MAX_CERTAINTY
from topiarist.text.highlights import build_snippet
from topiarist.text.tokens import Tokenizer
from topiarist.web import addresses
from topiarist.web.view import View

Pieces = tuple[tuple[str, bool], ...]  # text, and whether it is a match; never HTML
PER_PAGE = 20
EXPORTS = {"csv": "CSV", "jsonl": "JSON lines", "txt": "titles"}
INVISIBLE = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C])  # turn text
READ = 20_000  # letters of a text in which a telling part is looked for


@dataclass(frozen=True, kw_only=True)
class TopicLine:
    """Topic in a list; ``named`` if a user gave it its name."""

    id: int
    name: str
    named: bool
    words: tuple[str, ...]
    documents: int
    share: float  # of the collection
    subtopics: int
    level: int
    address: str
    matching: int | None = None  # documents under it that a search has found
    waiting: bool = False  # new in a tree that was not fitted since: nothing is known of it yet
    below: int = 0  # topics below it, on all levels
    branch: int = 0  # the heading that it lies under, by which it has its colour and sign; 0 for the root


@dataclass(frozen=True)
class Step:
    """Topic on the path from the root."""

    id: int
    name: str
    address: str
    branch: int = 0


@dataclass(frozen=True)
class Place:
    """Topic with a share of a document."""

    path: tuple[Step, ...]
    share: float


@dataclass(frozen=True, kw_only=True)
class DocumentLine:
    """Document in a list."""

    id: str
    title: str
    address: str
    snippet: Pieces
    date: str = ""
    share: float | None = None  # of the document under the topic of the list
    score: float | None = None
    path: tuple[Step, ...] = ()
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    read: bool = False
    copies: int = 0  # other documents of the same kind, which are not listed
    copies_address: str = ""


@dataclass(frozen=True)
class Choice:
    """Link with a name; ``chosen`` if it leads to the current page."""

    name: str
    address: str
    chosen: bool
    title: str = ""


def link(name: str, address: str, title: str = "") -> Choice:
    return Choice(name, address, False, title)


def choices(names: Mapping[Any, str], selected_value: Any, at: Callable[[Any], str]) -> tuple[Choice, ...]:
    return tuple(Choice(name, at(key), key == selected_value) for key, name in names.items())


@dataclass(frozen=True, kw_only=True)
class Paging:
    """Position of a page in a list."""

    page: int
    pages: int
    first: int  # place of the first item, from 1
    last: int
    total: int
    choices: tuple[Choice, ...] = ()
    previous: str = ""
    next: str = ""

    @property
    def start(self) -> int:
        return self.first - 1 if self.total else 0


def build_paging(total: int, page: int, at: Callable[[int], str], per_page: int = PER_PAGE) -> Paging:
    """Return the position in a list with links to the first, last and near pages."""
    pages = max(1, -(-total // per_page))
    page = min(max(page, 1), pages)
    near_pages = sorted({1, pages, *range(max(1, page - 2), min(pages, page + 2) + 1)})
    choices = tuple(Choice(str(number), at(number), number == page) for number in near_pages) if pages > 1 else ()
    first = (page - 1) * per_page + 1 if total else 0
    return Paging(
        page=page,
        pages=pages,
        first=first,
        last=min(page * per_page, total),
        total=total,
        choices=choices,
        previous=at(page - 1) if page > 1 else "",
        next=at(page + 1) if page < pages else "",
    )


def build_topic_line(view: View, node: int, matching: int | None = None, **values: Any) -> TopicLine:
    """Return a topic with name, words, size and address, for a list."""
    topic = view.shape.topics[node]
    return TopicLine(
        id=topic,
        name=view.names[node],
        named=topic in view.shape.titles,
        words=view.collection.tree.nodes[node].words[:8],
        documents=view.sizes[node],
        share=view.sizes[node] / max(view.n_docs, 1),
        subtopics=len(view.tree.children(node)),
        level=view.tree.depths[node],
        address=addresses.topic(topic, **values),
        matching=matching,
        waiting=view.shape.pending and not view.sizes[node] and not view.model_nodes(node),
        below=view.tree.count_leaves_below(node),
        branch=view.branches[node],
    )


def list_path(view: View, node: int) -> tuple[Step, ...]:
    """Return the topics from the root to a node."""
    return tuple(
        Step(view.shape.topics[step], view.names[step], addresses.topic(view.shape.topics[step]), view.branches[step])
        for step in view.tree.path(node)
    )


def display_title(title: str, id: str) -> str:
    return " ".join(title.split()) or id


def export_links(**values: Any) -> tuple[Choice, ...]:
    """Return links to the documents of a list as files."""
    return tuple(link(text, addresses.export(kind, **values)) for kind, text in translate_table(EXPORTS).items())


def build_hit_line(view: View, hit: Hit, **values: Any) -> DocumentLine:
    """Return a hit of a search in a line; ``values`` are fields that differ."""
    values = {
        "address": addresses.document(hit.id),
        "snippet": hit.snippet,
        "score": hit.score,
        **values,
    }
    return DocumentLine(
        id=hit.id,
        title=display_title(hit.title, hit.id),
        date=hit.date[:10],
        share=hit.place.share,
        path=list_path(view, view.shape.node(hit.place.topic))[1:],
        labels=hit.labels,
        **values,
    )


def build_document_lines(
    view: View, rows: Sequence[int], address: Callable[[str, int], str], words: Sequence[str] = (), node: int = -1
) -> tuple[DocumentLine, ...]:
    """Return documents for a list, with ``words`` marked and shares of ``node``."""
    collection = view.collection
    documents = collection.documents.load_many(rows, texts=False)
    copies = count_copies(collection.copies, rows)
    leads, tags, read = view.leads(rows), collection.marks.tags_of(rows), collection.marks.read_among(rows)
    query_words = {part for word in words for part in word.split()}
    shares: Any = collection.certainties(rows) @ view.mask[:, node] if node >= 0 and len(rows) else []
    return tuple(
        DocumentLine(
            id=document.id,
            title=display_title(document.title, document.id),
            address=address(document.id, place),
            snippet=mark_words(leads[row], query_words),
            date=document.date[:10],
            share=min(float(shares[place]), MAX_CERTAINTY) if node >= 0 else None,
            path=list_path(view, int(view.assigned_nodes[row]))[1:],
            labels=document.labels,
            tags=tags[place],
            read=row in read,
            copies=copies[place],
            copies_address=addresses.duplicates(id=document.id) if copies[place] else "",
        )
        for place, (row, document) in enumerate(zip(map(int, rows), documents, strict=True))
    )


def build_excerpt(text: str, words: Sequence[str]) -> Pieces:
    """Return the excerpt with most of the words, with the words marked."""
    query_words = {part for word in words for part in word.split()}
    begin = text[:READ]
    return build_snippet(
        begin, [(start, end) for word, start, end in Tokenizer().offsets(begin) if word in query_words]
    )


def mark_words(text: str, words: set[str]) -> Pieces:
    """Return a text in pieces with the given words marked."""
    result: list[tuple[str, bool]] = []
    position = 0
    for word, start, end in Tokenizer().offsets(text) if words else ():
        if word in words and start >= position:
            result += [(text[position:start], False), (text[start:end], True)]
            position = end
    result.append((text[position:], False))
    return tuple(piece for piece in result if piece[0])


def plain(text: str) -> str:
    """Return a title or a name in one line, without signs that turn the direction of the text around it."""
    if isinstance(text, Markup):  # a message: its values are escaped
        return text
    if text.isprintable():
        return text.strip()
    return "".join(sign if sign.isprintable() else " " for sign in text.translate(INVISIBLE)).strip()
