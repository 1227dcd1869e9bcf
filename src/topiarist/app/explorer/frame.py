"""What all pages have around them: the collection's name, the tree as a table of contents, tags, the state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topiarist.app.explorer import addresses, fit_dates
from topiarist.app.explorer.values import Choice, TopicLine, topic_line
from topiarist.app.explorer.view import View

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


@dataclass(frozen=True)
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
    state: str  # of the collection, for forms
    written: str  # when the tree was fitted
    arrived: int  # documents since
    pending: bool
    has_labels: bool
    has_dendrogram: bool


def frame(view: View, current: int | None = None, matching: Any = None) -> Frame:
    """The frame with the tree open down to a topic; ``matching`` has how many documents of each node were found."""
    node = view.shape.node_of.get(current, view.tree.root) if current is not None else view.tree.root
    opened = set(view.tree.path(node))
    last = fit_dates.fitted(view)
    tags = view.collection.marks.tags()
    root = view.tree.root
    return Frame(
        shown_name(view), view.n_docs, branch(view, root, opened, node if current is not None else -1, matching),
        _example(view),
        tuple(Choice(str(level), addresses.tree(depth=level), False) for level in range(1, _depth(view) + 1)),
        view.hard_sizes[root], addresses.topic(view.shape.topics[root], show="hard"),
        tuple(Choice(f"{tag} ({number:,})", addresses.tagged(tag), False) for tag, number in tags.items()),
        view.mark, fit_dates.when(last.time), last.arrived, view.shape.pending,
        has_labels(view), view.has_dendrogram,
    )  # fmt: skip


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
    return view.collection.generation.database.one("SELECT 1 FROM labels LIMIT 1") is not None


def shown_name(view: View) -> str:
    """The collection as its folder is called."""
    return Path(view.collection.folder.shown).name.removesuffix(".topiary") or "collection"


def branch(view: View, node: int, opened: set[int], current: int = -1, matching: Any = None) -> Row:
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


def _row(view: View, node: int, current: int, matching: Any) -> Row:
    found = None if matching is None else int(matching[node])
    return Row(topic_line(view, node, found), 1.0, node == current, False, (), 0)
