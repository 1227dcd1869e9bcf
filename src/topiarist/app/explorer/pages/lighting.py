"""Where a search lights up the tree, on whatever page it is shown."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from topiarist.app.explorer.asking import StoppedError, asked
from topiarist.app.explorer.pages.narrowing import counts_under
from topiarist.app.explorer.view import View
from topiarist.errors import UsageError


def lit(view: View, text: str, by: str) -> Any:
    """How many documents of each node a search has found, by meaning of the best; None where it cannot be told."""
    search = asked(view, text, by)
    if search.query:
        with suppress(StoppedError, UsageError):
            return counts_under(view, search.rows())
    return None
