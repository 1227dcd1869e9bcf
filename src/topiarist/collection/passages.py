"""Passages of a collection: their parent documents, and numbers of documents and passages in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.plurals import count_noun
from topiarist.text.documents import Document
from topiarist.text.passages import get_parent_id, get_parent_title, is_passage, parse_part

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

PASSAGES = "passages"  # setting: numbers of documents, long documents and passages when the collection was grown
MIN_WEIGHT = 1e-9  # weight of a passage without words, so that weights never sum to zero


@dataclass(frozen=True)
class Passage:
    """Passage of a parent document: its row, its id and its place in words."""

    row: int
    id: str
    label: str


@dataclass(frozen=True)
class ParentDocument:
    """Parent document with its passages in order; a document without passages is its own only passage."""

    id: str
    title: str
    passages: tuple[Passage, ...]

    @property
    def rows(self) -> list[int]:
        return [passage.row for passage in self.passages]


@dataclass(frozen=True)
class DocumentCount:
    """Number of rows, of their documents, and of documents with all passages among the rows."""

    rows: int
    documents: int
    complete: int
    cut: bool  # whether any row is a passage

    @property
    def noun(self) -> str:
        return "passage" if self.cut else "document"

    def __str__(self) -> str:
        documents = count_noun(self.documents, "document")
        if not self.cut:
            return documents
        passages = count_noun(self.rows, "passage")
        return f"{documents} in {passages}" if self.complete == self.documents else f"{passages} of {documents}"


def has_passages(collection: Collection) -> bool:
    """Return whether the collection splits long documents into passages."""
    return bool(collection.settings.get("recipe", {}).get("passages"))


def find_parent(collection: Collection, id: str) -> ParentDocument | None:
    """Return the parent document with this id, or with a passage of this id; None if there is none."""
    if not has_passages(collection):
        return None
    name = get_parent_id(id) if id in collection.documents else id
    rows = [
        row
        for row, other in collection.documents.list_within(f"{name}#")
        if other != name and get_parent_id(other) == name
    ]
    documents = zip(rows, collection.documents.load_many(rows, texts=False), strict=True)
    parents = _collect_parents((row, document.id, document.title) for row, document in documents)
    return next((parent for parent in parents if parent.id == name), None)


def has_document(collection: Collection, id: str) -> bool:
    """Return whether the collection has a document, or a parent document, with this id."""
    return id in collection.documents or find_parent(collection, id) is not None


def rows_of(collection: Collection, id: str) -> list[int]:
    """Return the row of a document or the rows of its passages; an unknown id is an error."""
    parent = None if id in collection.documents else find_parent(collection, id)
    return [collection.documents.row_of(id)] if parent is None else parent.rows


def parent_ids(collection: Collection, rows: Sequence[int]) -> list[str]:
    """Return the id of the parent document for each row, or its own id."""
    ids, cut = collection.documents.ids(), has_passages(collection)
    return [get_parent_id(ids[row]) if cut else ids[row] for row in rows]


def describe_place(document: Document) -> tuple[str, str]:
    """Return the id of the parent document and the place in it; its own id and no place for other documents."""
    part = parse_part(document.id) if is_passage(document) else None
    return (part.parent_id, part.label) if part else (document.id, "")


def list_parent_documents(collection: Collection) -> tuple[ParentDocument, ...]:
    """Return all documents in the order of their first rows; each parent document appears once."""
    database = collection.generation.database
    return database.get_cached("parents", lambda: _list_parents(collection))


def _list_parents(collection: Collection) -> tuple[ParentDocument, ...]:
    """Return all parent documents; without passages, each document is its own parent."""
    ids, titles = collection.documents.ids()[: len(collection)], collection.documents.titles()
    if has_passages(collection):
        return _collect_parents((row, id, title) for row, (id, title) in enumerate(zip(ids, titles, strict=False)))
    rows = enumerate(zip(ids, titles, strict=False))
    return tuple(ParentDocument(id, title, (Passage(row, id, ""),)) for row, (id, title) in rows)


def _collect_parents(entries: Iterable[tuple[int, str, str]]) -> tuple[ParentDocument, ...]:
    """Return the parent documents of rows with ids and titles, each in the order of its first row."""
    titles, passages = dict[str, str](), dict[str, list[Passage]]()
    for row, id, title in entries:
        part, name, label = parse_part(id), id, ""
        if part is not None and title.endswith(f", {part.label}"):
            name, title, label = part.parent_id, get_parent_title(title, part), part.label
        titles.setdefault(name, title)
        passages.setdefault(name, []).append(Passage(row, id, label))
    return tuple(ParentDocument(name, titles[name], tuple(parts)) for name, parts in passages.items())


def count_documents(collection: Collection, rows: Iterable[int] | None = None) -> DocumentCount:
    """Return the number of documents and passages of some rows; None: of all rows."""
    if not has_passages(collection):
        number = len(collection) if rows is None else len(set(map(int, rows)))
        return DocumentCount(number, number, number, cut=False)
    parents = list_parent_documents(collection)
    if rows is None:
        return DocumentCount(len(collection), len(parents), len(parents), cut=len(parents) != len(collection))
    rows_counted = np.unique(np.fromiter((int(row) for row in rows), np.int64))
    sizes = np.array([len(parent.passages) for parent in parents], np.int64)
    of_row = np.empty(int(sizes.sum()), np.int64)
    of_row[[row for parent in parents for row in parent.rows]] = np.repeat(np.arange(len(parents)), sizes)
    parent_numbers, times = np.unique(of_row[rows_counted], return_counts=True)
    complete = int((times == sizes[parent_numbers]).sum())
    return DocumentCount(len(rows_counted), len(parent_numbers), complete, cut=bool((sizes[parent_numbers] > 1).any()))


def sum_parent_shares(collection: Collection, documents: Sequence[ParentDocument]) -> Csr:
    """Return the shares of parent documents: means over sorted passages, weighted by the counted words."""
    rows = [row for document in documents for row in document.rows]
    lengths = np.array([len(document.rows) for document in documents], np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    weights: Any = np.asarray(collection.counts[rows].sum(axis=1), np.float64).ravel() + MIN_WEIGHT
    weights *= np.diff(collection.shares.indptr)[rows] > 0  # unsorted passages have no shares
    totals = np.add.reduceat(weights, starts[:-1]) if len(rows) else weights
    weights = weights / np.repeat(np.maximum(totals, MIN_WEIGHT), lengths)
    mean: Any = csr_array((weights, np.array(rows, np.int64), starts), shape=(len(documents), len(collection)))
    return csr_array(mean @ collection.shares)


def count_passages(collection: Collection) -> dict[str, int]:
    """Return the number of documents, of long documents and of their passages, as ``PASSAGES`` has them."""
    if not has_passages(collection):
        return {"documents": len(collection), "long": 0, "passages": 0}
    sizes = [len(parent.passages) for parent in list_parent_documents(collection)]
    long = [size for size in sizes if size > 1]
    return {"documents": len(sizes), "long": len(long), "passages": sum(long)}


def describe_passages(numbers: dict[str, int]) -> str:
    """Return the split of long documents in a sentence; empty without long documents."""
    long, passages, documents = (numbers.get(name, 0) for name in ("long", "passages", "documents"))
    if not long:
        return ""
    short = documents - long
    rest = f"; {count_noun(short, 'short one stays', 'short ones stay')} whole" if short else ""
    split = count_noun(long, "long document is", "long documents are")
    return f"{split} cut into {passages:,} passages, on which the tree is grown{rest}"
