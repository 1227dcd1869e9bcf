"""Operations on a collection of documents with its topic tree, one sub-package for each operation.

``Collection`` is imported on first use. Every other name is imported from the module that defines it, because each
import of a module imports this package first, and ``topiarist --help`` loads no numerical library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection as Collection


def __getattr__(name: str) -> Any:
    if name == "Collection":
        from topiarist.collection.collection import Collection

        return Collection
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
