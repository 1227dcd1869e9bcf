"""Number of topics that are open at first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from topiarist.display.locale.catalogues import translate_table
from topiarist.web.values import Choice
from topiarist.web.view import View

Detail = Literal["coarse", "normal", "fine", "all"]
DETAILS: tuple[Detail, ...] = ("coarse", "normal", "fine", "all")
NAMES = {"coarse": "coarse", "normal": "normal", "fine": "fine", "all": "all"}
DEFAULT_DETAIL: Detail = "normal"
SIDE_TREE_DETAIL: Detail = "fine"  # the most that the tree beside a page opens by itself


def detail_of(text: str) -> Detail:
    return next((item for item in DETAILS if item == text), DEFAULT_DETAIL)


def opened(view: View, detail: Detail, top: int | None = None) -> frozenset[int]:
    """Return the open nodes of a branch, whose subtopics are visible."""
    top = view.tree.root if top is None else top

    def compute_opened() -> frozenset[int]:
        view_nodes = view.collection.tree.view(detail, top)
        ancestors = {step for node in view_nodes for step in view.tree.path(node)[:-1]}
        return frozenset(ancestors.difference(view.tree.path(top)[:-1]))

    return view.remembered(("opened", detail, top), compute_opened)


def ways(view: View, detail: Detail | None, at: Callable[[Detail], str], top: int | None = None) -> tuple[Choice, ...]:
    """Return links to other details; details that show the same nodes are one link."""
    detail_by_nodes = {opened(view, item, top): item for item in DETAILS}
    opened_nodes = None if detail is None else opened(view, detail, top)
    if len(detail_by_nodes) < 2:
        return ()
    return tuple(
        Choice(translate_table(NAMES)[item], at(item), nodes == opened_nodes) for nodes, item in detail_by_nodes.items()
    )
