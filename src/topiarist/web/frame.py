"""Frame of every page: collection name, tree, tags and state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote

from fastapi import Request

from topiarist.collection.classify.label_sources import list_label_columns
from topiarist.collection.search.search import DEFAULT_METHOD
from topiarist.display.locale.catalogues import current_language, translate_table
from topiarist.display.locale.locales import LOCALES
from topiarist.version import __version__
from topiarist.web import addresses, rendering
from topiarist.web.session import Session
from topiarist.web.values import Choice, TopicLine, build_topic_line, link
from topiarist.web.view import View

Detail = Literal["coarse", "normal", "fine", "all"]
DETAILS: tuple[Detail, ...] = ("coarse", "normal", "fine", "all")
NAMES = {"coarse": "coarse", "normal": "normal", "fine": "fine", "all": "all"}
DEFAULT_DETAIL: Detail = "normal"
SIDE_TREE_DETAIL: Detail = "fine"  # the most that the tree beside a page opens by itself
LEVELS = 9  # as there are keys for them
SIBLINGS = 30  # in the tree; smaller ones fold into one line

NAME_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Row:
    """Topic in the tree, with its open subtopics."""

    topic: TopicLine
    bar: float  # of the largest topic below the root
    current: bool
    open: bool
    below: tuple[Row, ...]
    more: int  # smaller siblings of those below that are not shown


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Parts around every page."""

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
    has_dates: bool
    has_groups: bool
    detail: str  # how much of the tree somebody wants to see, where that is not the usual


def parse_detail(text: str) -> Detail:
    """Return the detail of a parameter; the default for unknown values."""
    return next((item for item in DETAILS if item == text), DEFAULT_DETAIL)


def list_open_nodes(view: View, detail: Detail, top: int | None = None) -> frozenset[int]:
    """Return the open nodes of a branch, whose subtopics are visible."""
    top = view.tree.root if top is None else top

    def compute_opened() -> frozenset[int]:
        view_nodes = view.collection.tree.view(detail, top)
        ancestors = {step for node in view_nodes for step in view.tree.path(node)[:-1]}
        return frozenset(ancestors.difference(view.tree.path(top)[:-1]))

    return view.remembered(("opened", detail, top), compute_opened)


def list_detail_links(
    view: View, detail: Detail | None, at: Callable[[Detail], str], top: int | None = None
) -> tuple[Choice, ...]:
    """Return links to other details; details with the same nodes are one link, and a single one is none."""
    detail_by_nodes = {list_open_nodes(view, item, top): item for item in DETAILS}
    opened_nodes = None if detail is None else list_open_nodes(view, detail, top)
    if len(detail_by_nodes) < 2:
        return ()
    return tuple(
        Choice(translate_table(NAMES)[item], at(item), nodes == opened_nodes) for nodes, item in detail_by_nodes.items()
    )


def build_frame(
    view: View,
    current: int | None = None,
    matching: Any = None,
    detail: Detail = DEFAULT_DETAIL,
    filter_address: str = "",
) -> Frame:
    """Return the frame of a page, with the side tree open down to the topic ``current``.

    ``matching``: number of hits below each node. ``filter_address``: address of their search, which topic links keep.
    """
    node = view.shape.node_of.get(current, view.tree.root) if current is not None else view.tree.root
    opened_nodes = {*list_open_nodes(view, SIDE_TREE_DETAIL if detail == "all" else detail), *view.tree.path(node)}
    tags = view.collection.marks.tags()
    root = view.tree.root
    return Frame(
        name=view.title,
        documents=view.n_docs,
        tree=_link_search(
            build_branch(view, root, opened_nodes, node if current is not None else -1, matching), filter_address
        ),
        example=_choose_example(view),
        levels=tuple(link(str(level), addresses.tree(depth=level)) for level in range(1, _count_levels(view) + 1)),
        hard_to_place=view.hard_sizes[root],
        hard_address=addresses.topic(view.shape.topics[root], show="hard"),
        tags=tuple(link(f"{tag} ({number:,})", addresses.tagged(tag)) for tag, number in tags.items()),
        notes=view.collection.passage_notes.count(),
        state=view.mark,
        written=LOCALES[current_language()].format_time(view.last_fit.time),
        arrived=view.last_fit.n_added,
        pending=view.shape.pending,
        has_labels=has_labels(view)
        or view.remembered(("label column",), lambda: any(item.has_label_name for item in list_label_columns(view))),
        has_dates=view.has_dates,
        has_groups=bool(view.collection.fields) or has_labels(view),
        detail="" if detail == DEFAULT_DETAIL else detail,
    )


def _choose_example(view: View) -> str:
    """Return a word that only one name has, because the filter ``topic:`` takes it for that topic."""
    used = Counter(word for name in view.tree.names for word in NAME_WORD.findall(name))
    names = (view.tree.names[node] for node in view.children(view.tree.root))
    words = (word for name in names for word in NAME_WORD.findall(name))
    return next((word for word in words if used[word] == 1 and 4 <= len(word) <= 10), "")


def _count_levels(view: View) -> int:
    return min(view.tree.depth, LEVELS)


def has_labels(view: View) -> bool:
    if view.collection.state.parts.get("categories"):
        return True
    return view.collection.documents.has_labels()


def build_branch(view: View, node: int, opened: Set[int], current: int = -1, matching: Any = None) -> Row:
    """Return a row of the tree with its open subtopics; of many siblings, the first few and open ones."""
    result = _build_row(view, node, current, matching)
    if node not in opened:
        return result
    children = view.children(node)
    largest = max((view.sizes[child] for child in view.children(view.tree.root)), default=0)  # one scale for the tree
    shown_children = [child for place, child in enumerate(children) if place < SIBLINGS or child in opened]
    child_rows = []
    for child in shown_children:
        row = build_branch(view, child, opened, current, matching)
        child_rows.append(replace(row, bar=view.sizes[child] / max(largest, 1)))
    return replace(result, open=True, below=tuple(child_rows), more=len(children) - len(shown_children))


def _link_search(row: Row, filter_address: str) -> Row:
    """Return a row whose links keep the search; unchanged without ``filter_address``."""
    if not filter_address:
        return row
    address = f"{filter_address}&topic={row.topic.id}" if row.topic.level else filter_address
    child_rows = tuple(_link_search(item, filter_address) for item in row.below)
    return replace(row, topic=replace(row.topic, address=address), below=child_rows)


def _build_row(view: View, node: int, current: int, matching: Any) -> Row:
    result = None if matching is None else int(matching[node])
    return Row(build_topic_line(view, node, result), 1.0, node == current, False, (), 0)


def get_request_path(request: Request) -> str:
    """Return the path and query of a request with the escapes that the client sent."""
    path = request.scope.get("raw_path", b"").decode("ascii", "ignore") or quote(request.url.path)
    path = path.removeprefix(request.app.state.root) or "/"
    return f"{path}{'?' if request.url.query else ''}{request.url.query}"


def render_in_frame(
    request: Request, template: str, value: Any, view: View, current: int | None = None, matching: Any = None
) -> str:
    """Return a page as HTML: the value in its template, inside the frame."""
    session: Session = request.app.state.session
    request_path = get_request_path(request) if request.method == "GET" else ""
    filter_address = getattr(value, "clear", "") if matching is not None else ""
    page_frame = build_frame(
        view, current, matching, parse_detail(request.query_params.get("detail", "")), filter_address
    )
    return rendering.render(
        template,
        current_language(),
        page=value,
        frame=page_frame,
        spelling=view.spelling,
        detail=page_frame.detail,
        root=request.app.state.root,
        local=request.app.state.local,
        here=request_path,
        token="" if session.read_only else session.token,
        read_only=session.read_only,
        narrowed=filter_address,
        job=session.report_job(view),
        undoable=None if session.read_only else session.find_undoable(view),
        query=getattr(value, "query", ""),
        by=getattr(value, "by", DEFAULT_METHOD),
        version=__version__,
    )
