"""Registry of the pages by address. A new page is a module, a template and a line here.

The module of a page has a summary, the query parameters ``Ask``, a frozen value and ``load``, which fills the value
from a view. The template has the name of the module.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, get_type_hints

from topiarist.web.pages import (
    categories,
    compare,
    document,
    duplicates,
    groups,
    help,
    map,
    model,
    new,
    notes,
    outline,
    overview,
    review,
    search,
    shape,
    time,
    topic,
    word,
)


@dataclass(frozen=True)
class Page:
    """Address and module of a page; ``slow`` if it is computed before the first request."""

    path: str
    module: ModuleType
    slow: bool = False

    @property
    def value(self) -> type:
        result: type = get_type_hints(self.module.load)["return"]
        return result

    @property
    def template(self) -> str:
        return f"{self.module.__name__.rpartition('.')[2]}.html"

    @property
    def data_path(self) -> str:
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
    Page("/model", model, slow=True),
    Page("/duplicates", duplicates),
    Page("/notes", notes),
    Page("/help", help),
    Page("/new", new),
    Page("/shape", shape),
)


def current_topic(ask: Any, value: Any) -> int | None:
    """Return the topic at which the tree is open: of the address, or of the document."""
    asked: int | None = getattr(ask, "topic", None)
    home: int | None = getattr(value, "home", None)
    return home if asked is None else asked
