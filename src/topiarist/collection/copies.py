"""Duplicates in a collection: detection, groups and folding of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Ints
from topiarist.collection.contents import Counting
from topiarist.counts.corpus import build_counted_text
from topiarist.counts.duplicates import (
    MIN_PAIRS,
    Duplicates,
    compute_text_signatures,
    find_different_words,
    find_duplicates,
)
from topiarist.storage import facts
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MAX_DIFFERENT_WORDS = 20  # of a near-duplicate and of its original that are listed
EXACT = 1.0  # similarity of documents with the same words in the same order


@dataclass(frozen=True)
class Copy:
    """Duplicate with its similarity to the first document of its group."""

    row: int
    id: str
    title: str
    shared: float
    only_here: tuple[str, ...] = ()  # words of a near-duplicate that its original lacks, and the other way round
    only_original: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """True if the words are the same in the same order."""
        return self.shared >= EXACT


@dataclass(frozen=True)
class CopiesOf:
    """Original with its duplicates."""

    row: int
    id: str
    title: str
    copies: tuple[Copy, ...]


def load_duplicates(database: Database) -> Duplicates:
    """Load the stored duplicates: rows, originals and the shared part of their words."""
    entries = facts.get_duplicates(database)
    if not entries:
        return Duplicates.none()
    rows, originals, shared = zip(*entries, strict=True)
    return Duplicates(np.array(rows, np.int64), np.array(originals, np.int64), np.array(shared, np.float64))


def save_duplicates(database: Database, duplicates: Duplicates) -> None:
    rows = zip(duplicates.rows.tolist(), duplicates.originals.tolist(), duplicates.shared.tolist(), strict=True)
    facts.add_duplicates(database, rows)


def make_text_reader(documents: Documents, counting: Counting) -> Callable[[Sequence[int]], list[str]]:
    """Return a function that reads the compared texts of rows."""
    return lambda rows: [get_compared_text(document, counting) for document in documents.load_many(rows)]


def get_compared_text(document: Document, counting: Counting) -> str:
    """Return the counted text without its title; a short text needs its title to be one with another text."""
    body = build_counted_text(document, titles=False, repeated=counting.repeated)
    return body if len(set(body.split())) > MIN_PAIRS else counting.text_of(document)


def find_copies_among(collection: Collection, documents: Sequence[Document]) -> tuple[Duplicates, Array]:
    """Return the duplicates among new documents, numbered after the stored ones, and the new signatures."""
    minima, counting = collection.minima, collection.counting
    texts, n_before = [get_compared_text(document, counting) for document in documents], len(minima)
    new_minima = compute_text_signatures([counting.text_of(document) for document in documents])
    stored = make_text_reader(collection.documents, counting)

    def texts_of(rows: Sequence[int]) -> list[str]:
        old = stored([row for row in rows if row < n_before])
        return [*old, *(texts[row - n_before] for row in rows if row >= n_before)]

    duplicates = find_duplicates(np.concatenate([minima, new_minima]), texts_of, n_before)
    first = collection.copies.find_originals(n_before)
    originals = np.where(
        duplicates.originals < n_before, first[np.minimum(duplicates.originals, n_before - 1)], duplicates.originals
    )
    return Duplicates(duplicates.rows, originals, duplicates.shared), new_minima


def list_duplicates(
    collection: Collection, copies: Duplicates, rows: Sequence[int] | None = None
) -> tuple[CopiesOf, ...]:
    """Return originals with their duplicates, the largest groups first; of all originals or of some."""
    groups: Mapping[int, list[int]] = copies.groups
    originals = sorted(groups if rows is None else rows, key=lambda row: (-len(groups.get(row, ())), row))
    shared = dict(zip(copies.rows.tolist(), copies.shared.tolist(), strict=True))
    all_rows = [row for original in originals for row in (original, *groups.get(original, ()))]
    document_of = dict(zip(all_rows, collection.documents.load_many(all_rows, texts=False), strict=True))
    read = make_text_reader(collection.documents, collection.counting)

    def compare(row: int, original: int) -> Copy:
        document, share = document_of[row], shared[row]
        texts = read([original, row]) if share < EXACT else ["", ""]
        words = [tuple(find_different_words(*pair)[:MAX_DIFFERENT_WORDS]) for pair in (texts[::-1], texts)]
        return Copy(row, document.id, document.title, share, *words)

    return tuple(
        CopiesOf(
            row, document_of[row].id, document_of[row].title,
            tuple(compare(copy, row) for copy in groups.get(row, ())),
        )
        for row in originals
    )  # fmt: skip


def copies_of(collection: Collection, row: int) -> tuple[CopiesOf, ...]:
    """Return the group of a document, or nothing for a document without duplicates."""
    first = int(collection.copies.find_originals(row + 1)[row])
    return list_duplicates(collection, collection.copies, [first]) if first in collection.copies.groups else ()


def use_shares_of_originals(copies: Duplicates, shares: Csr) -> Csr:
    """Return the shares, with each duplicate replaced by its original."""
    return shares[copies.find_originals(shares.shape[0])] if len(copies) else shares


def select_fitted_rows(copies: Duplicates, n_docs: int, extra_rows: Iterable[int] = ()) -> Ints | None:
    """Return the rows to fit: one document of each group, and ``extra_rows`` with pins. None: all rows."""
    if not len(copies):
        return None
    is_kept = copies.find_first_documents(n_docs)
    is_kept[list(extra_rows)] = True
    rows: Ints = np.flatnonzero(is_kept)
    return rows


def fold_copies(copies: Duplicates, rows: Array, n_docs: int) -> Bools:
    """Return which rows are shown: the first row of each group, in the given order."""
    has_duplicates = np.zeros(n_docs, np.bool_)  # documents with duplicates; few, and only these are compared
    has_duplicates[copies.rows] = has_duplicates[copies.originals] = True
    is_shown: Bools = ~has_duplicates[rows]
    places = np.flatnonzero(~is_shown)
    first = copies.find_originals(n_docs)[rows[places]]
    is_shown[places[np.unique(first, return_index=True)[1]]] = True
    return is_shown


def count_copies(copies: Duplicates, rows: Iterable[int]) -> list[int]:
    """Return the number of other documents in the group of each row."""
    original_by_row = dict(zip(copies.rows.tolist(), copies.originals.tolist(), strict=True))
    return [len(copies.groups.get(original_by_row.get(row, row), ())) for row in rows]
