"""Which topics are there, from the top down?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.detail import USUAL, Detail, ways
from topiarist.app.explorer.detail import opened as opened_in
from topiarist.app.explorer.frame import Row, branch
from topiarist.app.explorer.query_limits import found_under
from topiarist.app.explorer.values import Choice, Step, path_to
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded

MOST = 500  # topics on the page; deeper ones are a click away


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    topic: Annotated[int | None, Query(description="from this topic down")] = None
    depth: Annotated[int | None, Query(ge=0, le=100, description="levels below it")] = None
    detail: Annotated[Detail, Query(description="how much of it is opened, where no depth is asked for")] = USUAL
    q: Annotated[str, Query(max_length=2_000, description="count the documents that this finds")] = ""
    by: Annotated[Literal["words", "meaning", "both"], Query(description="by words, by meaning, or both")] = "both"


@dataclass(frozen=True, kw_only=True)
class OutlinePage:
    """The tree, or a part of it, as an outline."""

    sentence: str
    row: Row
    depth: int
    levels: tuple[Choice, ...]
    detail: str
    details: tuple[Choice, ...]
    shown: Row  # the same in the detail that was asked for; ``row`` has as many levels as fit
    path: tuple[Step, ...]  # topics above, as outlines


def load(view: View, ask: Ask) -> OutlinePage:
    """Fill the page."""
    node = view.tree.root if ask.topic is None else view.shape.node(ask.topic)
    below = [node, *view.tree.descendants(node)]
    start = view.tree.depths[node]
    depth = _depth(view, below, start) if ask.depth is None else ask.depth
    opened = {one for one in below if view.tree.depths[one] - start < depth}
    sentence = worded(
        "{topics} under {name}, the largest first.",
        topics=Counted(len(below) - 1, "topic"),
        name=view.names[node],
    )
    levels = range(1, max(view.tree.depths[one] for one in below) - start + 1)
    matching = found_under(view, ask.q, ask.by)
    row = branch(view, node, opened, matching=matching)
    seen = opened_in(view, ask.detail, node)
    detail = ask.detail if ask.depth is None else None
    above = path_to(view, node)[:-1]
    return OutlinePage(
        sentence=sentence,
        row=row,
        shown=row if detail in (None, "all") else branch(view, node, seen, matching=matching),
        detail=ask.detail,
        details=ways(view, detail, lambda one: addresses.tree(ask.topic, detail=one), node),
        path=tuple(replace(step, address=addresses.tree(step.id)) for step in above),
        depth=depth,
        levels=tuple(Choice(str(level), addresses.tree(ask.topic, level), level == ask.depth) for level in levels),
    )


def _depth(view: View, below: list[int], start: int) -> int:
    """As many levels as fit on the page."""
    depth = 1
    while sum(view.tree.depths[one] - start <= depth + 1 for one in below) <= MOST and depth < 100:
        depth += 1
    return depth
