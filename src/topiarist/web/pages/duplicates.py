"""Duplicates and near-duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.collection.copies import CopiesOf, list_duplicates
from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.web import addresses
from topiarist.web.values import PER_PAGE, Choice, Paging, build_paging, display_title, link
from topiarist.web.view import View

MAX_COPIES = 50  # copies of one document in a list of many


@dataclass(frozen=True)
class Ask:
    """Query parameters: a document whose duplicates are listed, and the page of the list."""

    id: Annotated[str, Query(max_length=10_000, description="a document: only its copies")] = ""
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True)
class CopyLine:
    """Duplicate, with the share of its words in the original."""

    document: Choice
    id: str
    shared: float
    exact: bool
    only_here: str  # words of a near-duplicate that its original lacks, and the other way round
    only_original: str


@dataclass(frozen=True)
class Group:
    """Original document with its duplicates."""

    document: Choice
    id: str
    copies: tuple[CopyLine, ...]
    more: int
    address: str  # of all copies


@dataclass(frozen=True, kw_only=True)
class DuplicatesPage:
    """Documents with duplicates, in decreasing order of their number."""

    sentence: str
    groups: tuple[Group, ...]
    paging: Paging
    every: str  # the address of the list of all, where one document was asked for


def load(view: View, ask: Ask) -> DuplicatesPage:
    """Return the duplicates of one document, or of all documents by pages."""
    collection, copies = view.collection, view.collection.copies
    rows = sorted(copies.groups, key=lambda row: (-len(copies.groups[row]), row))
    if ask.id:
        original_row = collection.documents.row_of(ask.id)
        first = int(copies.find_originals(view.n_docs)[original_row])
        rows = [first] if first in copies.groups else []
    pages = build_paging(len(rows), ask.page, lambda page: addresses.duplicates(page=page))
    result = list_duplicates(collection, copies, rows[pages.start : pages.start + PER_PAGE])
    text = translate(
        "{copies} of {others}. Only the first of each set is counted.",
        copies=CountedNoun(len(copies), "duplicate or near-duplicate", "duplicates or near-duplicates"),
        others=CountedNoun(copies.n_originals, "original"),
    )
    empty_text = translate(
        "This document has no duplicates." if ask.id else "There are no duplicates or near-duplicates."
    )
    return DuplicatesPage(
        sentence=text if rows else empty_text,
        groups=tuple(_build_group(item, all=bool(ask.id)) for item in result),
        paging=pages,
        every=addresses.duplicates() if ask.id else "",
    )


def _build_group(duplicates: CopiesOf, *, all: bool) -> Group:
    """Return an original with its duplicates; without ``all``, the first few."""
    listed_copies = duplicates.copies if all else duplicates.copies[:MAX_COPIES]
    return Group(
        link(display_title(duplicates.title, duplicates.id), addresses.document(duplicates.id)),
        duplicates.id,
        tuple(
            CopyLine(
                link(display_title(copy.title, copy.id), addresses.document(copy.id)),
                copy.id,
                copy.shared,
                copy.exact,
                ", ".join(copy.only_here),
                ", ".join(copy.only_original),
            )
            for copy in listed_copies
        ),
        len(duplicates.copies) - len(listed_copies),
        addresses.duplicates(id=duplicates.id),
    )
