"""Where a search lights up the tree, on whatever page it is shown."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from topiarist.app.explorer.pages import search
from topiarist.app.explorer.query_limits import StoppedError, understood
from topiarist.app.explorer.view import View
from topiarist.errors import UsageError


def lit(view: View, text: str, by: str) -> Any:
    """How many documents of each node a search has found, by meaning of the best; None where it cannot be told."""
    query = understood(text)
    if not query:
        return None
    with suppress(StoppedError, UsageError):
        if by == "words" or not query.terms:
            return view.counts_under(search.word_rows(view, query, None))
        return view.counts_under(search.near_rows(view, str(query), by, None))
    return None
