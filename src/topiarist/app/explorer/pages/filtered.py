"""Documents with a tag or a label, whatever signs these hold: a query could not say every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from topiarist.app.explorer.values import PER_PAGE
from topiarist.app.explorer.view import View
from topiarist.app.words import counted
from topiarist.collection.find import search


def kept(view: View, rows: Any, **wanted: str) -> Any:
    """Those of some rows that have what is wanted: ``tag``, ``label``."""
    having: dict[str, Callable[[str], list[int]]] = {
        "tag": view.collection.marks.rows_with,
        "label": view.collection.documents.labelled_rows,
    }
    for kind, value in wanted.items():
        if value:
            rows = rows[np.isin(rows, having[kind](value))]
    return rows


def found(view: View, rows: Any, page: int) -> search.Found:
    """A page of documents as a search answers; beyond the end, the last one."""
    start = (min(page, max(1, -(-len(rows) // PER_PAGE))) - 1) * PER_PAGE
    some = rows[start : start + PER_PAGE].tolist()
    documents, leads = view.collection.documents.many(some, texts=False), view.leads(some)
    hits = tuple(
        search.FoundDocument(
            row, one.id, one.title, 0.0, ((leads.get(row, ""), False),), place, labels=one.labels, date=one.date
        )
        for row, one, place in zip(some, documents, search.places_of(view.collection, some), strict=True)
    )
    return search.Found(hits, len(rows))


def sentence(total: int, query: str, tag: str, label: str) -> str:
    """What was found."""
    said = [f"tagged “{tag}”"] * bool(tag) + [f"labelled “{label}”"] * bool(label)
    said += [f"that match “{query}”"] * bool(query.strip())
    return f"{counted(total, 'document')} {', '.join(said)}."


def as_rows(rows: Iterable[int]) -> Any:
    """Rows as lists of pages have them."""
    return np.array(list(rows), np.int64)
