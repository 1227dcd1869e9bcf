"""What is there more than once?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import PER_PAGE, Choice, Paging, link, paging, titled
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.collection import CopiesOf, listed_copies

MOST = 50  # copies of one document in a list of many


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page: the copies of one document only, and the page of the list."""

    id: Annotated[str, Query(max_length=10_000, description="a document: only its copies")] = ""
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True)
class CopyLine:
    """A copy, and how many of its words it shares with the first of its kind."""

    document: Choice
    id: str
    shared: float
    exact: bool


@dataclass(frozen=True)
class Group:
    """The first document of a kind, and its copies."""

    document: Choice
    id: str
    copies: tuple[CopyLine, ...]
    more: int
    address: str  # of all copies


@dataclass(frozen=True, kw_only=True)
class DuplicatesPage:
    """Documents with copies and near-copies, those with most copies first."""

    sentence: str
    groups: tuple[Group, ...]
    paging: Paging
    every: str  # the address of the list of all, where one document was asked for


def load(view: View, ask: Ask) -> DuplicatesPage:
    """Fill the page."""
    collection, copies = view.collection, view.collection.copies
    rows = sorted(copies.groups, key=lambda row: (-len(copies.groups[row]), row))
    if ask.id:
        own = collection.documents.row_of(ask.id)
        first = int(copies.first_of(view.n_docs)[own])
        rows = [first] if first in copies.groups else []
    pages = paging(len(rows), ask.page, lambda page: addresses.duplicates(page=page))
    found = listed_copies(collection, copies, rows[pages.start : pages.start + PER_PAGE])
    said = worded(
        "{copies} of {others}. Each kind was counted once, and lies where the first of them does.",
        copies=Counted(len(copies), "document is a copy or near-copy", "documents are copies or near-copies"),
        others=Counted(copies.n_originals, "other"),
    )
    nothing = worded("This document has no copies." if ask.id else "No document is a copy or a near-copy of another.")
    return DuplicatesPage(
        sentence=said if rows else nothing,
        groups=tuple(_group(one, all=bool(ask.id)) for one in found),
        paging=pages,
        every=addresses.duplicates() if ask.id else "",
    )


def _group(one: CopiesOf, *, all: bool) -> Group:
    shown = one.copies if all else one.copies[:MOST]
    return Group(
        link(titled(one.title, one.id), addresses.document(one.id)),
        one.id,
        tuple(
            CopyLine(link(titled(copy.title, copy.id), addresses.document(copy.id)), copy.id, copy.shared, copy.exact)
            for copy in shown
        ),
        len(one.copies) - len(shown),
        addresses.duplicates(id=one.id),
    )
