"""Documents with a tag or a label, whatever signs these hold: a query could not say every one of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.app.explorer.values import PER_PAGE, counted
from topiarist.app.explorer.view import View
from topiarist.collection.find.search import Found, listed

_ROWS = {"tag": "SELECT row FROM tags WHERE tag = ?", "label": "SELECT row FROM labels WHERE label = ?"}


def kept(view: View, rows: Any, **wanted: str) -> Any:
    """Those of some rows that have what is wanted: ``tag``, ``label``."""
    for kind, value in wanted.items():
        if value:
            known = [row for (row,) in view.collection.generation.database.all(_ROWS[kind], (value,))]
            rows = rows[np.isin(rows, known)]
    return rows


def found(view: View, rows: Any, page: int) -> Found:
    """A page of documents as a search answers; beyond the end, the last one."""
    start = (min(page, max(1, -(-len(rows) // PER_PAGE))) - 1) * PER_PAGE
    some = rows[start : start + PER_PAGE].tolist()
    leads = view.leads(some)
    return Found(listed(view.collection, some, [((leads.get(row, ""), False),) for row in some]), len(rows))


def sentence(total: int, query: str, tag: str, label: str) -> str:
    """What was found."""
    said = [f"tagged “{tag}”"] * bool(tag) + [f"labelled “{label}”"] * bool(label)
    said += [f"that match “{query}”"] * bool(query.strip())
    return f"{counted(total, 'document')} {', '.join(said)}."
