"""The file that a document was read from, where it still lies: only ever the one that was recorded for its id."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from topiarist.app.explorer.fit_dates import grown_at, grown_with
from topiarist.app.explorer.view import View
from topiarist.collection.grow.grower import PLACES
from topiarist.text.readers.kinds import kind_of


def original_of(view: View, row: int, source: str) -> Path | None:
    """The file of a document, with all links followed; None if it is not there, or holds other documents as well.

    It has to lie where the collection was grown from: a link in there that leads elsewhere is not followed. What was
    added later came from anywhere.
    """
    if not source or row >= grown_with(view) or not is_one_document(source):
        return None
    settings = view.collection.settings
    for named, place in zip(settings.get("sources", ()), settings.get(PLACES, ()), strict=False):
        if not place or not (source == named or source.startswith(os.path.join(named, ""))):
            continue
        root = os.path.realpath(place)
        found = os.path.realpath(os.path.join(place, os.path.relpath(source, named)))
        if (found == root or found.startswith(os.path.join(root, ""))) and os.path.isfile(found):
            return Path(found)
    return None


def changed_since(view: View, row: int, source: str) -> bool:
    """Whether the file of a document was written after the collection was grown: it may hold something else now."""
    path, time = original_of(view, row, source), grown_at(view)
    if path is None or time is None:
        return False
    try:
        return int(path.stat().st_mtime) > time  # the log knows seconds
    except OSError:
        return False


def is_one_document(source: str) -> bool:
    """Whether a file of this name is one document, and not a table or a mailbox of many."""
    kind = kind_of(source)[0]
    return not (source.lower().endswith(".mbox") or (kind is not None and kind.table))


def opened(path: Path) -> int | None:
    """A descriptor of the file, if it is still a file and not a link by now."""
    try:
        found = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(found).st_mode):
        return found
    os.close(found)
    return None
