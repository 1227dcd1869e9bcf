"""What is this topic about, and what is in it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.overview import LEVELS, Block, blocks
from topiarist.app.explorer.pages.topic_words import OwnWord, subtree_words, words_of
from topiarist.app.explorer.values import (
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    counted,
    document_lines,
    name_of,
    paging,
    path_to,
    topic_line,
)  # fmt: skip
from topiarist.app.explorer.view import CERTAIN, LEAST, View

DEEPEST = 8  # levels of the strip that says where one is
Sort = Literal["typical", "newest", "longest", "name"]
Show = Literal["all", "here", "hard", "unread", "tagged"]
SORTS = {"typical": "most typical", "newest": "newest", "longest": "longest", "name": "by name"}
SHOWS = {
    "all": "all", "here": "mostly here (50 % or more)", "hard": "hard to place", "unread": "unread", "tagged": "tagged"
}  # fmt: skip


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    topic: int
    special: Annotated[float | None, Query(ge=0, le=1, description="words: 0 frequent here, 1 only here")] = None
    n: Annotated[int, Query(ge=5, le=100, description="words to show")] = 12
    words: Annotated[Literal["own", "below"], Query(description="its own, or all words below it")] = "own"
    sort: Sort = "typical"
    show: Show = "all"
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True)
class TopicPage:
    """A topic: where it hangs, its words, what it splits into, its documents."""

    topic: TopicLine
    state: str  # of the collection, for edits
    path: tuple[Step, ...]
    whereabouts: tuple[Block, ...]  # the whole tree as a strip, with the way to this topic
    sentence: str
    note: str
    words: tuple[OwnWord, ...]
    words_kind: str
    special: float | None
    kinds: tuple[Choice, ...]
    subtopics: tuple[TopicLine, ...]
    neighbours: tuple[TopicLine, ...]
    hard_to_place: int
    pinned: int
    documents: tuple[DocumentLine, ...]
    heading: str
    how_counted: str
    read: int
    sort: str
    show: str
    sorts: tuple[Choice, ...]
    shows: tuple[Choice, ...]
    paging: Paging
    exports: tuple[Choice, ...]
    pending: bool


def load(view: View, ask: Ask) -> TopicPage:
    """Fill the page."""
    node = view.shape.node(ask.topic)
    line, here = topic_line(view, node), _values(ask)
    rows = rows_of(view, node, ask.sort, ask.show)
    pages = paging(len(rows), ask.page, lambda page: addresses.topic(ask.topic, **here | {"page": page}))
    chosen = rows[pages.start : pages.last]
    own = words_of(view, node, ask.n, ask.special) if ask.words == "own" else subtree_words(view, node, ask.n)
    inside = {"topic": ask.topic, "sort": here["sort"], "show": here["show"]}
    lines = document_lines(
        view, chosen.tolist(), lambda id, _: addresses.document(id, **inside), [word.word for word in own], node
    )
    parent = view.tree.parents[node]
    siblings = [n for n in view.children(parent) if n != node] if parent >= 0 else []
    return TopicPage(
        line, view.mark, path_to(view, node), _whereabouts(view, node), _sentence(view, node, own),
        view.shape.notes.get(ask.topic, ""), own, ask.words, ask.special,
        tuple(Choice(text, addresses.topic(ask.topic, **here | {"words": value, "page": None}), ask.words == kind)
              for kind, value, text in (("own", None, "own words"), ("below", "below", "all words below this topic"))),
        tuple(topic_line(view, child) for child in view.children(node)),
        tuple(topic_line(view, sibling) for sibling in siblings[:8]),
        view.hard_sizes[node], sum(topic == ask.topic for topic in view.shape.pins.values()),
        lines, _heading(view, node, ask, len(rows)), _how_counted(view, node),
        _read(view, rows), ask.sort, ask.show,
        tuple(Choice(text, addresses.topic(ask.topic, **here | {"sort": _unless(sort, "typical"), "page": None}),
                     sort == ask.sort, sort) for sort, text in SORTS.items()),
        tuple(Choice(text, addresses.topic(ask.topic, **here | {"show": _unless(show, "all"), "page": None}),
                     show == ask.show, show) for show, text in SHOWS.items()),
        pages,
        tuple(Choice(text, addresses.export(kind, topic=ask.topic, show=here["show"], sort=here["sort"]), False)
              for kind, text in (("csv", "CSV"), ("jsonl", "JSON lines"), ("txt", "titles"))),
        view.shape.pending,
    )  # fmt: skip


def _whereabouts(view: View, node: int) -> tuple[Block, ...]:
    """One level more than the way there, so that one sees what comes next; nothing where there is only one topic."""
    if len(view.tree) < 2:
        return ()
    return blocks(view, view.tree.root, min(max(view.tree.depths[node] + 2, LEVELS), DEEPEST), node)


def _read(view: View, rows: Any) -> int:
    """How many of them were read."""
    known = view.collection.marks.read_rows()
    if not len(known):
        return 0
    here = np.zeros(view.n_docs, bool)
    here[rows] = True
    return int(here[known[known < view.n_docs]].sum())


def rows_of(view: View, node: int, sort: str, show: str) -> Any:
    """The rows of the list of a topic."""
    if show not in ("unread", "tagged"):
        return view.listed(node, sort, show)
    rows = view.listed(node, sort, "all")
    marks, known = view.collection.marks, np.zeros(view.n_docs, bool)
    found = marks.read_rows() if show == "unread" else marks.tagged_rows()
    known[found[found < view.n_docs]] = True
    return rows[~known[rows] if show == "unread" else known[rows]]


def _values(ask: Ask) -> dict[str, Any]:
    """What is in the address, as far as it differs from what is shown anyway."""
    return {
        "special": ask.special, "n": _unless(ask.n, 12), "words": _unless(ask.words, "own"),
        "sort": _unless(ask.sort, "typical"), "show": _unless(ask.show, "all"), "page": _unless(ask.page, 1),
    }  # fmt: skip


def _unless(value: Any, usual: Any) -> Any:
    return None if value == usual else value


def _sentence(view: View, node: int, own: tuple[OwnWord, ...]) -> str:
    size, below = view.sizes[node], len(view.tree.children(node))
    share = f" ({size / max(view.n_docs, 1):.1%} of the collection)" if node != view.tree.root else ""
    told = [word.word for word in own[:3]]
    said = ""
    if told:
        listed = " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
        said = f" {'Its own words are about' if node != view.tree.root else 'Its general words are'} {listed}"
        said += f"; it splits into {counted(below, 'subtopic')}." if below else "."
    elif below:
        said = f" It splits into {counted(below, 'subtopic')}."
    if view.shape.pending and not size and not view.model_nodes(node):
        return f"New: filled when the tree is fitted.{said}"
    return f"{counted(size, 'document')}{share}.{said}"


def _heading(view: View, node: int, ask: Ask, total: int) -> str:
    name = name_of(view, node)
    return {
        "all": f"{counted(total, 'document')} with at least {LEAST:.0%} under {name}",
        "here": f"{counted(total, 'document')} with at least {CERTAIN:.0%} under {name}",
        "hard": f"{counted(total, 'document')} under {name} of which no last topic has more than half",
        "unread": f"{counted(total, 'unread document')} under {name}",
        "tagged": f"{counted(total, 'tagged document')} under {name}",
    }[ask.show]


def _how_counted(view: View, node: int) -> str:
    some, most = len(view.listed(node, "typical", "all")), len(view.listed(node, "typical", "here"))
    return (
        f"A document counts under each topic with its share, and its shares add up to one: "
        f"{counted(some, 'document')} {'has' if some == 1 else 'have'} at least {LEAST:.0%} here, {most:,} at least "
        f"half, and all shares together make {view.sizes[node]:,}."
    )
