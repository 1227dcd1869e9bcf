"""Outline of the tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import Query

from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.web import addresses
from topiarist.web.frame import DEFAULT_DETAIL, Detail, Row, build_branch, list_detail_links, list_open_nodes
from topiarist.web.query_limits import count_hits_below
from topiarist.web.values import Choice, Step, list_path
from topiarist.web.view import View

MAX_TOPICS = 500  # topics on the page; deeper ones are a click away


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    topic: Annotated[int | None, Query(description="from this topic down")] = None
    depth: Annotated[int | None, Query(ge=0, le=100, description="levels below it")] = None
    detail: Annotated[Detail, Query(description="detail, without a depth")] = DEFAULT_DETAIL
    q: Annotated[str, Query(max_length=2_000, description="count the documents that this finds")] = ""
    by: Annotated[Literal["words", "meaning", "both"], Query(description="by words, by meaning, or both")] = "both"


@dataclass(frozen=True, kw_only=True)
class OutlinePage:
    """Outline of the tree or of one branch."""

    sentence: str
    row: Row
    depth: int
    levels: tuple[Choice, ...]
    detail: str
    details: tuple[Choice, ...]
    shown: Row  # the same in the detail that was asked for; ``row`` has as many levels as fit
    path: tuple[Step, ...]  # topics above, as outlines


def load(view: View, ask: Ask) -> OutlinePage:
    """Return the outline of the tree or of a branch, open to the requested depth."""
    node = view.tree.root if ask.topic is None else view.shape.node(ask.topic)
    branch_nodes = [node, *view.tree.descendants(node)]
    start = view.tree.depths[node]
    depth = _choose_depth(view, branch_nodes, start) if ask.depth is None else ask.depth
    opened = {one for one in branch_nodes if view.tree.depths[one] - start < depth}
    sentence = translate(
        "{topics} under {name}, largest first.",
        topics=CountedNoun(view.tree.count_leaves_below(node), "topic"),
        name=view.names[node],
    )
    levels = range(1, max(view.tree.depths[one] for one in branch_nodes) - start + 1)
    matching = count_hits_below(view, ask.q, ask.by)
    row = build_branch(view, node, opened, matching=matching)
    opened_nodes = list_open_nodes(view, ask.detail, node)
    detail = ask.detail if ask.depth is None else None
    ancestors = list_path(view, node)[:-1]
    return OutlinePage(
        sentence=sentence,
        row=row,
        shown=row if detail in (None, "all") else build_branch(view, node, opened_nodes, matching=matching),
        detail=ask.detail,
        details=list_detail_links(view, detail, lambda one: addresses.tree(ask.topic, detail=one), node),
        path=tuple(replace(step, address=addresses.tree(step.id)) for step in ancestors),
        depth=depth,
        levels=tuple(Choice(str(level), addresses.tree(ask.topic, level), level == ask.depth) for level in levels),
    )


def _choose_depth(view: View, below: list[int], start: int) -> int:
    """Return the largest depth with at most ``MAX_TOPICS`` topics, at least 1."""
    depth = 1
    while sum(view.tree.depths[item] - start <= depth + 1 for item in below) <= MAX_TOPICS and depth < 100:
        depth += 1
    return depth
