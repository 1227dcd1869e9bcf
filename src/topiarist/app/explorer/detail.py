"""How much of the tree is opened at once: a few topics first, the rest where somebody opens it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from topiarist.app.explorer.values import Choice
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import all_worded

Detail = Literal["coarse", "normal", "fine", "all"]
DETAILS: tuple[Detail, ...] = ("coarse", "normal", "fine", "all")
NAMES = {"coarse": "coarse", "normal": "normal", "fine": "fine", "all": "all"}
USUAL: Detail = "normal"
BESIDE: Detail = "fine"  # the most that the tree beside a page opens by itself


def detail_of(text: str) -> Detail:
    """The detail that an address asks for; the usual one where it asks for none that there is."""
    return next((one for one in DETAILS if one == text), USUAL)


def opened(view: View, detail: Detail, top: int | None = None) -> frozenset[int]:
    """The nodes, from one down, that are open: those below them are seen, and so are all documents."""
    top = view.tree.root if top is None else top

    def made() -> frozenset[int]:
        seen = view.collection.tree.view(detail, top)
        above = {step for node in seen for step in view.tree.path(node)[:-1]}
        return frozenset(above.difference(view.tree.path(top)[:-1]))

    return view.remembered(("opened", detail, top), made)


def ways(view: View, detail: Detail | None, at: Callable[[Detail], str], top: int | None = None) -> tuple[Choice, ...]:
    """Ways to see more or less of the tree; those that would show the same are one, and one alone is no choice."""
    shown = {opened(view, one, top): one for one in DETAILS}
    chosen = None if detail is None else opened(view, detail, top)
    if len(shown) < 2:
        return ()
    return tuple(Choice(all_worded(NAMES)[one], at(one), nodes == chosen) for nodes, one in shown.items())
