"""The small values that pages are made of: a topic in a line, a document in a line, the pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import View
from topiarist.collection import number_of_copies
from topiarist.text.highlights import snippet
from topiarist.text.tokens import Tokenizer

Pieces = tuple[tuple[str, bool], ...]  # text, and whether it is a match; never HTML
PER_PAGE = 20
READ = 20_000  # letters of a text in which a telling part is looked for


@dataclass(frozen=True, kw_only=True)
class TopicLine:
    """A topic in a list. ``named``: somebody gave it its name; otherwise the name is its words."""

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
    """A topic on the way from the root."""

    id: int
    name: str
    address: str
    branch: int = 0


@dataclass(frozen=True)
class Place:
    """A topic under which some of a document lies."""

    path: tuple[Step, ...]
    share: float


@dataclass(frozen=True, kw_only=True)
class DocumentLine:
    """A document in a list."""

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
    """One of several ways to see a page."""

    name: str
    address: str
    chosen: bool
    title: str = ""


def link(name: str, address: str, title: str = "") -> Choice:
    """A way to another page."""
    return Choice(name, address, False, title)


def choices(names: Mapping[Any, str], chosen: Any, at: Callable[[Any], str]) -> tuple[Choice, ...]:
    """Ways to see a page, by what is chosen."""
    return tuple(Choice(name, at(key), key == chosen) for key, name in names.items())


@dataclass(frozen=True, kw_only=True)
class Paging:
    """Where in a list a page is."""

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
        """As a slice counts."""
        return self.first - 1 if self.total else 0


def paging(total: int, page: int, at: Callable[[int], str], per_page: int = PER_PAGE) -> Paging:
    """The pages of a list: the first, the last, and those around the one that is shown."""
    pages = max(1, -(-total // per_page))
    page = min(max(page, 1), pages)
    near = sorted({1, pages, *range(max(1, page - 2), min(pages, page + 2) + 1)})
    choices = tuple(Choice(str(number), at(number), number == page) for number in near) if pages > 1 else ()
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


def topic_line(view: View, node: int, matching: int | None = None, **values: Any) -> TopicLine:
    """A topic in a line."""
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
        below=len(view.tree.descendants(node)),
        branch=view.branches[node],
    )


def path_to(view: View, node: int) -> tuple[Step, ...]:
    """The topics from the root down to one."""
    return tuple(
        Step(view.shape.topics[step], view.names[step], addresses.topic(view.shape.topics[step]), view.branches[step])
        for step in view.tree.path(node)
    )


def titled(title: str, id: str) -> str:
    """What a document is called: its title, which the store knows of every document that is not without a name."""
    return " ".join(title.split()) or id


def document_lines(
    view: View, rows: Sequence[int], address: Callable[[str, int], str], words: Sequence[str] = (), node: int = -1
) -> tuple[DocumentLine, ...]:
    """Documents with the beginnings of their texts, in which some words are marked."""
    collection = view.collection
    documents = collection.documents.many(rows, texts=False)
    copies = number_of_copies(collection.copies, rows)
    leads, tags, read = view.leads(rows), collection.marks.tags_of(rows), collection.marks.read_among(rows)
    wanted = {part for word in words for part in word.split()}
    shares: Any = view.shares_under(node)[list(rows)] if node >= 0 and len(rows) else []
    return tuple(
        DocumentLine(
            id=document.id,
            title=titled(document.title, document.id),
            address=address(document.id, place),
            snippet=marked(leads[row], wanted),
            date=document.date[:10],
            share=float(shares[place]) if node >= 0 else None,
            path=path_to(view, int(view.homes[row]))[1:],
            labels=document.labels,
            tags=tags[place],
            read=row in read,
            copies=copies[place],
            copies_address=addresses.duplicates(id=document.id) if copies[place] else "",
        )
        for place, (row, document) in enumerate(zip(map(int, rows), documents, strict=True))
    )


def excerpt(text: str, words: Sequence[str]) -> Pieces:
    """The part of a text that has most of some words, which are marked in it."""
    wanted = {part for word in words for part in word.split()}
    begin = text[:READ]
    return snippet(begin, [(start, end) for word, start, end in Tokenizer().offsets(begin) if word in wanted])


def marked(text: str, words: set[str]) -> Pieces:
    """A text in pieces, those being marked that are one of the words."""
    found: list[tuple[str, bool]] = []
    here = 0
    for word, start, end in Tokenizer().offsets(text) if words else ():
        if word in words and start >= here:
            found += [(text[here:start], False), (text[start:end], True)]
            here = end
    found.append((text[here:], False))
    return tuple(piece for piece in found if piece[0])
