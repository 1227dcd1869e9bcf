"""The door to the explorer: what the command line starts of the explorer, loaded when it is started."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from topiarist.collection import Collection

EXPLORER = "topiarist.app.explorer"


class Report(NamedTuple):
    """A report that was written: its bytes, what it holds, and whether it is too large to hand around."""

    size: int
    contents: str
    is_large: bool


def serve(folder: str, **options: Any) -> None:
    """Serve a collection as pages; see ``topiarist.app.explorer.web.serving``."""
    import_module(f"{EXPLORER}.web.serving").serve(folder, **options)


def write_report(
    collection: Collection,
    path: str | os.PathLike[str],
    documents: str,
    tell: Callable[[int, int], None],
    language: str = "en",
) -> Report:
    """Write a collection into one file; see ``topiarist.app.explorer.report``."""
    report = import_module(f"{EXPLORER}.report")
    size = report.write_report(collection, path, documents, tell, language)
    return Report(size, report.SAID[documents], size > report.LARGE)
