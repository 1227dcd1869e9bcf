"""Copies in a collection: which documents are copies of others, how lists are folded, what is there already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Ints
from topiarist.collection import contents
from topiarist.collection.contents import Counting
from topiarist.collection.state import MINIMA
from topiarist.counts.copies import Copies, find_copies, signatures_of
from topiarist.store import copy_table
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

EXACT = 1.0  # what two documents share that have the same words in the same order


@dataclass(frozen=True)
class Copy:
    """A document that is a copy: what it is called, and what it shares with the first of its kind."""

    row: int
    id: str
    title: str
    shared: float

    @property
    def exact(self) -> bool:
        """Whether it has the same words in the same order."""
        return self.shared >= EXACT


@dataclass(frozen=True)
class CopiesOf:
    """A document and its copies, the first of them being the one that came first."""

    row: int
    id: str
    title: str
    copies: tuple[Copy, ...]


def kept_copies(database: Database) -> Copies:
    """The copies that are known to a collection."""
    found = copy_table.copies(database)
    if not found:
        return Copies.none()
    rows, originals, shared = zip(*found, strict=True)
    return Copies(np.array(rows, np.int64), np.array(originals, np.int64), np.array(shared, np.float64))


def keep_copies(database: Database, found: Copies) -> None:
    """Note copies."""
    rows = zip(found.rows.tolist(), found.originals.tolist(), found.shared.tolist(), strict=True)
    copy_table.add_copies(database, rows)


def counted_texts(documents: Documents, counting: Counting) -> Callable[[Sequence[int]], list[str]]:
    """A function that gives what is counted of documents, by rows."""
    return lambda rows: [counting.text_of(document) for document in documents.many(rows)]


def minima_of(collection: Collection) -> Array:
    """What tells copies of the documents; made anew where an earlier version has kept none."""
    pieces = collection.state.pieces(MINIMA)
    if pieces:
        return np.concatenate([contents.read_minima(collection.part(name)) for name in pieces])
    return signatures_of(map(collection.counting.text_of, collection.documents.iterate(0, len(collection))))


def copies_among(collection: Collection, documents: Sequence[Document]) -> tuple[Copies, Array]:
    """The copies among new documents, whose rows follow on those of the collection, and what tells them."""
    known, counting = minima_of(collection), collection.counting
    texts, before = [counting.text_of(document) for document in documents], len(known)
    own = signatures_of(texts)
    stored = counted_texts(collection.documents, counting)

    def texts_of(rows: Sequence[int]) -> list[str]:
        old = stored([row for row in rows if row < before])
        return [*old, *(texts[row - before] for row in rows if row >= before)]

    found = find_copies(np.concatenate([known, own]), texts_of, before)
    first = collection.copies.first_of(before)
    originals = np.where(found.originals < before, first[np.minimum(found.originals, before - 1)], found.originals)
    return Copies(found.rows, originals, found.shared), own


def found_copies(collection: Collection) -> Copies:
    """The copies of a collection: as they are kept, or looked for now where nobody has done so."""
    if copy_table.is_known(collection.generation.database):
        return collection.copies
    return find_copies(minima_of(collection), counted_texts(collection.documents, collection.counting))


def listed_copies(collection: Collection, copies: Copies, rows: Sequence[int] | None = None) -> tuple[CopiesOf, ...]:
    """Documents with their copies, those with most copies first; of all, or of some originals."""
    groups: Mapping[int, list[int]] = copies.groups
    wanted = sorted(groups if rows is None else rows, key=lambda row: (-len(groups.get(row, ())), row))
    shared = dict(zip(copies.rows.tolist(), copies.shared.tolist(), strict=True))
    every = [row for original in wanted for row in (original, *groups.get(original, ()))]
    known = dict(zip(every, collection.documents.many(every, texts=False), strict=True))
    return tuple(
        CopiesOf(
            row, known[row].id, known[row].title,
            tuple(Copy(copy, known[copy].id, known[copy].title, shared[copy]) for copy in groups.get(row, ())),
        )
        for row in wanted
    )  # fmt: skip


def copies_of(collection: Collection, row: int) -> tuple[CopiesOf, ...]:
    """A document, or the first of its kind, with its copies; nothing where there are none."""
    first = int(collection.copies.first_of(row + 1)[row])
    return listed_copies(collection, collection.copies, [first]) if first in collection.copies.groups else ()


def placed_with_first(copies: Copies, shares: Csr) -> Csr:
    """The shares of documents, with copies where the first of their kind is."""
    return shares[copies.first_of(shares.shape[0])] if len(copies) else shares


def fitted_rows(copies: Copies, n_docs: int, besides: Iterable[int] = ()) -> Ints | None:
    """The rows that a model is fitted to: each kind once, and ``besides`` whoever has a place by hand. None: all."""
    if not len(copies):
        return None
    kept = copies.is_first(n_docs)
    kept[list(besides)] = True
    found: Ints = np.flatnonzero(kept)
    return found


def folded(copies: Copies, rows: Array, n_docs: int) -> Bools:
    """Which of some rows are shown: the first of each kind that is among them, in their order."""
    several = np.zeros(n_docs, np.bool_)  # those that are of a kind with others; few, and only these are compared
    several[copies.rows] = several[copies.originals] = True
    shown: Bools = ~several[rows]
    places = np.flatnonzero(~shown)
    first = copies.first_of(n_docs)[rows[places]]
    shown[places[np.unique(first, return_index=True)[1]]] = True
    return shown


def number_of_copies(copies: Copies, rows: Iterable[int]) -> list[int]:
    """How many other documents of the same kind there are, for each of some rows."""
    of = dict(zip(copies.rows.tolist(), copies.originals.tolist(), strict=True))
    return [len(copies.groups.get(of.get(row, row), ())) for row in rows]
