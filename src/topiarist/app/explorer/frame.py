"""What all pages have around them: the collection's name, the tree as a table of contents, tags, the state."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from fastapi import Request

from topiarist.app.explorer import addresses, rendering
from topiarist.app.explorer.detail import BESIDE, USUAL, Detail, detail_of, opened
from topiarist.app.explorer.session import Session
from topiarist.app.explorer.values import Choice, TopicLine, link, topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import language
from topiarist.app.languages.locales import LOCALES
from topiarist.collection import DEFAULT_WAY
from topiarist.version import __version__

LEVELS = 9  # as there are keys for them
SIBLINGS = 30  # in the tree; smaller ones fold into one line


@dataclass(frozen=True)
class Row:
    """A topic in the tree, with what is open below it."""

    topic: TopicLine
    bar: float  # of the largest sibling
    current: bool
    open: bool
    below: tuple[Row, ...]
    more: int  # smaller siblings of those below that are not shown


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The frame of a page."""

    name: str
    documents: int
    tree: Row
    example: str  # a word of a topic, to be searched with
    levels: tuple[Choice, ...]  # down to which the tree can be opened
    hard_to_place: int
    hard_address: str
    tags: tuple[Choice, ...]
    notes: int  # on passages
    state: str  # of the collection, for forms
    written: str  # when the tree was fitted
    arrived: int  # documents since
    pending: bool
    has_labels: bool
    has_dendrogram: bool
    has_dates: bool
    has_groups: bool
    detail: str  # how much of the tree somebody wants to see, where that is not the usual


def frame(
    view: View, current: int | None = None, matching: Any = None, detail: Detail = USUAL, narrowed: str = ""
) -> Frame:
    """The frame with the tree open as usual and down to a topic, with what is beside and below it.

    ``matching`` has how many documents of each node were found; ``narrowed`` is the address of the search that did, so
    that the tree leads to what it has found under a topic.
    """
    node = view.shape.node_of.get(current, view.tree.root) if current is not None else view.tree.root
    shown = {*opened(view, BESIDE if detail == "all" else detail), *view.tree.path(node)}
    tags = view.collection.marks.tags()
    root = view.tree.root
    return Frame(
        name=view.title,
        documents=view.n_docs,
        tree=_leading(branch(view, root, shown, node if current is not None else -1, matching), narrowed),
        example=_example(view),
        levels=tuple(link(str(level), addresses.tree(depth=level)) for level in range(1, _depth(view) + 1)),
        hard_to_place=view.hard_sizes[root],
        hard_address=addresses.topic(view.shape.topics[root], show="hard"),
        tags=tuple(link(f"{tag} ({number:,})", addresses.tagged(tag)) for tag, number in tags.items()),
        notes=view.collection.passage_notes.count(),
        state=view.mark,
        written=LOCALES[language()].when(view.last_fit.time),
        arrived=view.last_fit.arrived,
        pending=view.shape.pending,
        has_labels=has_labels(view),
        has_dendrogram=view.has_dendrogram,
        has_dates=view.has_dates,
        has_groups=bool(view.collection.fields) or has_labels(view),
        detail="" if detail == USUAL else detail,
    )


def _example(view: View) -> str:
    """A short word of one of the headings: what a search within a topic may look like in this collection."""
    words = [word for node in view.children(view.tree.root) for word in view.collection.tree.nodes[node].words[:3]]
    return next((word for word in words if word.isalpha() and 4 <= len(word) <= 10), "")


def _depth(view: View) -> int:
    return min(view.tree.depth, LEVELS)


def has_labels(view: View) -> bool:
    """Whether documents came with labels, or categories were learned."""
    if view.collection.state.parts.get("categories"):
        return True
    return view.collection.documents.has_labels()


def branch(view: View, node: int, opened: Set[int], current: int = -1, matching: Any = None) -> Row:
    """A row of the tree with what is open below it."""
    found = _row(view, node, current, matching)
    if node not in opened:
        return found
    children = view.children(node)
    largest = max((view.sizes[child] for child in children), default=0)
    shown = [child for place, child in enumerate(children) if place < SIBLINGS or child in opened]
    below = []
    for child in shown:
        row = branch(view, child, opened, current, matching)
        below.append(replace(row, bar=view.sizes[child] / max(largest, 1)))
    return replace(found, open=True, below=tuple(below), more=len(children) - len(shown))


def _leading(row: Row, narrowed: str) -> Row:
    """A row, and those below it, as ways to narrow a search."""
    if not narrowed:
        return row
    address = f"{narrowed}&topic={row.topic.id}" if row.topic.level else narrowed
    below = tuple(_leading(one, narrowed) for one in row.below)
    return replace(row, topic=replace(row.topic, address=address), below=below)


def _row(view: View, node: int, current: int, matching: Any) -> Row:
    found = None if matching is None else int(matching[node])
    return Row(topic_line(view, node, found), 1.0, node == current, False, (), 0)


def here_of(request: Request) -> str:
    """This address as it was asked for: an id may hold signs that mean something in a path."""
    path = request.scope.get("raw_path", b"").decode("ascii", "ignore") or quote(request.url.path)
    path = path.removeprefix(request.app.state.root) or "/"
    return f"{path}{'?' if request.url.query else ''}{request.url.query}"


def page_of(
    request: Request, template: str, value: Any, view: View, current: int | None = None, matching: Any = None
) -> str:
    """The text of a page, in its frame."""
    session: Session = request.app.state.session
    here = here_of(request) if request.method == "GET" else ""
    narrowed = getattr(value, "clear", "") if matching is not None else ""
    around = frame(view, current, matching, detail_of(request.query_params.get("detail", "")), narrowed)
    return rendering.render(
        template,
        language(),
        page=value,
        frame=around,
        spelling=view.spelling,
        detail=around.detail,
        root=request.app.state.root,
        local=request.app.state.local,
        here=here,
        token="" if session.read_only else session.token,
        read_only=session.read_only,
        narrowed=narrowed,
        job=session.strip(view),
        undoable=None if session.read_only else session.undoable(view),
        query=getattr(value, "query", ""),
        by=getattr(value, "by", DEFAULT_WAY),
        version=__version__,
    )
