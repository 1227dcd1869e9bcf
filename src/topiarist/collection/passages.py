"""Whole documents of a collection that was grown on passages: which they are, and what all of their passages tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.text.passages import Part, is_passage, part_of, whole_title

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

PASSAGES = "passages"  # a setting: how many documents there were when it was grown, long ones, and passages of those
NOTHING = 1e-9  # words of a passage without any


@dataclass(frozen=True)
class Passage:
    """A part of a long document: its row and id, and in words which part it is."""

    row: int
    id: str
    label: str


@dataclass(frozen=True)
class Whole:
    """A document and its passages, in their order; one that was not cut is its own."""

    id: str
    title: str
    passages: tuple[Passage, ...]

    @property
    def rows(self) -> list[int]:
        """The rows of its passages."""
        return [one.row for one in self.passages]


def is_cut(collection: Collection) -> bool:
    """Whether long documents of a collection are cut into passages."""
    return bool(collection.settings.get("recipe", {}).get("passages"))


def whole_of(collection: Collection, id: str) -> Whole | None:
    """The whole document with this id, or with a passage of this id; None where that was not cut, or is not there."""
    if not is_cut(collection):
        return None
    part = part_of(id)
    name = part.whole if part is not None and id in collection.documents else id
    rows = [row for row, other in collection.documents.within(f"{name}#") if _is_part(other, name)]
    documents = collection.documents.many(rows, texts=False)
    found = [(row, one, part_of(one.id)) for row, one in zip(rows, documents, strict=True) if is_passage(one)]
    parts = [(row, one, part) for row, one, part in found if part is not None]
    if not parts:
        return None
    passages = tuple(Passage(row, one.id, part.label) for row, one, part in parts)
    return Whole(name, whole_title(parts[0][1].title, parts[0][2]), passages)


def rows_of(collection: Collection, id: str) -> list[int]:
    """The rows of a document: its own, or those of its passages; an unknown id is an error."""
    whole = None if id in collection.documents else whole_of(collection, id)
    return [collection.documents.row_of(id)] if whole is None else whole.rows


def wholes(collection: Collection) -> tuple[Whole, ...]:
    """All documents, the long ones with their passages, in the order of their first rows."""
    cut, titles = is_cut(collection), collection.documents.titles()
    found: dict[str, tuple[str, list[Passage]]] = {}
    for row, (id, title) in enumerate(zip(collection.documents.ids()[: len(collection)], titles, strict=False)):
        part = part_of(id) if cut else None
        if part is None or not title.endswith(f", {part.label}"):
            found[id] = (title, [Passage(row, id, "")])
            continue
        _, passages = found.setdefault(part.whole, (whole_title(title, part), []))
        passages.append(Passage(row, id, part.label))
    return tuple(Whole(id, title, tuple(passages)) for id, (title, passages) in found.items())


def n_wholes(collection: Collection) -> int:
    """How many documents there are, however many passages they have."""
    if not is_cut(collection):
        return len(collection)
    return len(_kept_wholes(collection))


@dataclass(frozen=True)
class Extent:
    """How much some rows are: of how many documents, how many of these with all of their passages."""

    rows: int
    documents: int
    complete: int
    cut: bool  # whether any of them is a passage

    def __str__(self) -> str:
        documents = f"{self.documents:,} document{'s' * (self.documents != 1)}"
        if not self.cut:
            return documents
        passages = f"{self.rows:,} passage{'s' * (self.rows != 1)}"
        return f"{documents} in {passages}" if self.complete == self.documents else f"{passages} of {documents}"


def extent(collection: Collection, rows: Iterable[int]) -> Extent:
    """Of which documents some rows are."""
    chosen = np.unique(np.fromiter((int(row) for row in rows), np.int64))
    if not is_cut(collection):
        return Extent(len(chosen), len(chosen), len(chosen), cut=False)
    every = _kept_wholes(collection)
    sizes = np.array([len(one.passages) for one in every], np.int64)
    of_row = np.empty(int(sizes.sum()), np.int64)
    of_row[[row for one in every for row in one.rows]] = np.repeat(np.arange(len(every)), sizes)
    found, times = np.unique(of_row[chosen], return_counts=True)
    return Extent(len(chosen), len(found), int((times == sizes[found]).sum()), cut=bool((sizes[found] > 1).any()))


def unit(collection: Collection) -> str:
    """What the rows of a collection are: documents, or passages of some."""
    return "document" if n_wholes(collection) == len(collection) else "passage"


def _kept_wholes(collection: Collection) -> tuple[Whole, ...]:
    return collection.generation.database.kept("wholes", lambda: wholes(collection))


def summed_up(collection: Collection, documents: Sequence[Whole]) -> Csr:
    """The shares of whole documents: those of their passages, each as much as it has words that the tree sees."""
    rows = [row for one in documents for row in one.rows]
    lengths = np.array([len(one.rows) for one in documents], np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    weights: Any = np.asarray(collection.counts[rows].sum(axis=1), np.float64).ravel() + NOTHING
    totals = np.add.reduceat(weights, starts[:-1]) if len(rows) else weights
    weights = weights / np.repeat(totals, lengths)
    mean: Any = csr_array((weights, np.array(rows, np.int64), starts), shape=(len(documents), len(collection)))
    return csr_array(mean @ collection.shares)


def documents_said(collection: Collection) -> str:
    """How many documents there are, and in how many passages."""
    number = n_wholes(collection)
    documents = f"{number:,} document{'s' * (number != 1)}"
    return documents if number == len(collection) else f"{documents} in {len(collection):,} passages"


def cut_now(collection: Collection) -> dict[str, int]:
    """What is cut, as the collection is now: documents, long ones, and passages of those."""
    if not is_cut(collection):
        return {"documents": len(collection), "long": 0, "passages": 0}
    sizes = [len(one.passages) for one in _kept_wholes(collection)]
    long = [size for size in sizes if size > 1]
    return {"documents": len(sizes), "long": len(long), "passages": sum(long)}


def cut_said(facts: dict[str, int]) -> str:
    """What was cut at growing, in a sentence; nothing where nothing was."""
    long, passages, whole = facts.get("long", 0), facts.get("passages", 0), facts.get("documents", 0)
    if not long:
        return ""
    short = whole - long
    rest = f"; {short:,} short {'one stays' if short == 1 else 'ones stay'} whole" if short else ""
    documents = "1 long document is" if long == 1 else f"{long:,} long documents are"
    return f"{documents} cut into {passages:,} passages, on which the tree is grown{rest}"


def _is_part(id: str, whole: str) -> bool:
    part: Part | None = part_of(id)
    return part is not None and part.whole == whole
