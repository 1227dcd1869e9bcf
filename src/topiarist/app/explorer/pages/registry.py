"""Every page of the explorer, by its address. A new page is its module, its template, and a line here.

A page's module has the question in its first line, ``Ask`` (what may be asked), a frozen value that answers it, and
``load``, which fills the value from a view. The template is called like the module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, get_type_hints

from topiarist.app.explorer.pages import (
    dendrogram,
    document,
    duplicates,
    help,
    model,
    new,
    notes,
    outline,
    overview,
    search,
    shape,
    topic,
    trees,
    word,
)
from topiarist.app.explorer.pages.judging import categories, review
from topiarist.app.explorer.pages.spread import compare, groups, map, time
from topiarist.app.explorer.view import View


@dataclass(frozen=True)
class Page:
    """A page: its address and its module; ``slow``: it is made once before anybody asks for it."""

    path: str
    module: ModuleType
    slow: bool = False

    @property
    def question(self) -> str:
        """What it answers."""
        return self.module.__doc__ or self.value.__name__

    @property
    def ask(self) -> type:
        """What may be asked of it."""
        found: type = self.module.Ask
        return found

    @property
    def load(self) -> Callable[[View, Any], Any]:
        """What fills its value."""
        found: Callable[[View, Any], Any] = self.module.load
        return found

    @property
    def value(self) -> type:
        """What answers it."""
        found: type = get_type_hints(self.module.load)["return"]
        return found

    @property
    def template(self) -> str:
        """What shows it."""
        return f"{self.module.__name__.rpartition('.')[2]}.html"

    @property
    def data_path(self) -> str:
        """Where its value is, as JSON."""
        return f"{'/index' if self.path == '/' else self.path}.json"


PAGES = (
    Page("/", overview, slow=True),
    Page("/topic/{topic}", topic),
    Page("/search", search),
    Page("/doc", document),
    Page("/word", word),
    Page("/tree", outline),
    Page("/categories", categories, slow=True),
    Page("/review", review),
    Page("/compare", compare, slow=True),
    Page("/time", time, slow=True),
    Page("/groups", groups),
    Page("/map", map, slow=True),
    Page("/trees", trees, slow=True),
    Page("/dendrogram", dendrogram),
    Page("/model", model),
    Page("/duplicates", duplicates),
    Page("/notes", notes),
    Page("/help", help),
    Page("/new", new),
    Page("/shape", shape),
)


def current_topic(ask: Any, value: Any) -> int | None:
    """The topic at which the tree beside a page is open: the one that was asked for, or where the document lies."""
    asked: int | None = getattr(ask, "topic", None)
    home: int | None = getattr(value, "home", None)
    return home if asked is None else asked
