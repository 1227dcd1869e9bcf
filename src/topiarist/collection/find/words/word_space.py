"""Documents and words in a space of few dimensions: words that are used alike lie near each other.

The space is that of LSI over stems, damped and weighted by their information, learned from a sample of the documents
where there are many. A document is kept in one byte for each dimension: fractions of the largest coordinate that one of
the sample has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, vstack

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection.find.words.line_file import place_of, read_lines, write_lines
from topiarist.collection.find.words.posting_lists import PostingLists
from topiarist.counts.lsi import truncated_svd
from topiarist.errors import DamagedError
from topiarist.models.engine import load_search_kernels
from topiarist.store.array_files import mapped, save

DIMENSIONS, SAMPLE = 100, 20_000  # of the space, and documents from which it is learned
STEPS = 127  # of a coordinate on either side of zero
WORDS, ARRAYS = "words.txt", ("vectors", "worth", "scales")


@dataclass(frozen=True, eq=False)
class WordSpace:
    """The directions of stems, what each of them is worth, and the largest coordinates of documents."""

    stems: Sequence[str]  # they rise
    vectors: Array  # (stems, dimensions), half precision
    worth: Array
    scales: Array

    def direction(self, times: Mapping[str, float]) -> Floats | None:
        """Where a query points; None where none of its words has a place."""
        found = ((place_of(stem, self.stems), often) for stem, often in times.items())
        known = {place: often for place, often in found if place is not None}
        if not known:
            return None
        rows = np.fromiter(known, np.int64, len(known))
        often = np.log2(1.0 + np.fromiter(known.values(), np.float64, len(known)))
        point = (often * self.worth[rows]) @ self.vectors[rows].astype(np.float64)
        length = float(np.linalg.norm(point))
        return (point / length).astype(np.float32) if length > 0 else None

    def near(self, documents: PostingLists, direction: Floats) -> Floats:
        """The cosine of every document with a direction."""
        return self.cosines(documents.space, direction)

    def cosines(self, places: Array, direction: Floats) -> Floats:
        """The cosines of documents, by their coordinates as they are kept."""
        found: Floats = np.empty(len(places), np.float32)
        scaled = (direction * self.scales).astype(np.float32)
        if places.dtype != np.int8 or places.shape != (len(found), *scaled.shape):  # the kernel looks without asking
            raise DamagedError("documents lie in another space than that of their words", hint="topiarist check")
        load_search_kernels().score_places(np.ascontiguousarray(places), scaled, found)
        return found

    def placed(self, documents: PostingLists) -> Array:
        """The coordinates of documents, as they are kept."""
        return self._packed(self._directions(documents))

    def _directions(self, documents: PostingLists) -> Floats:
        columns = columns_of(documents.stems, self.stems)
        known = np.flatnonzero(columns >= 0)
        return self._pointing(documents.by_stem()[:, known], columns[known])

    def _pointing(self, counts: Csr, columns: Array) -> Floats:
        """Where documents point; ``columns`` are the places of the stems that are counted."""
        weighted = _weighted(counts, np.asarray(self.worth)[columns])
        found = np.asarray(weighted @ np.asarray(self.vectors[columns], np.float32), np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(lengths > 1e-12, lengths, 1.0), np.float32)

    def _packed(self, directions: Floats) -> Array:
        steps = np.rint(directions / np.where(self.scales > 0, self.scales, 1.0))
        return np.clip(steps, -STEPS, STEPS).astype(np.int8)

    def save(self, folder: Path) -> None:
        """Write it to an empty folder."""
        for name in ARRAYS:
            save(folder / f"{name}.npy", np.ascontiguousarray(getattr(self, name)))
        write_lines(folder / WORDS, self.stems)

    @classmethod
    def open(cls, folder: Path) -> WordSpace:
        """Read it, mapped; its arrays must fit."""
        found = cls(read_lines(folder / WORDS), *(mapped(folder / f"{name}.npy") for name in ARRAYS))
        arrays = (found.vectors, np.float16), (found.worth, np.float32), (found.scales, np.float32)
        words = len(found.stems)
        shapes = (words, len(found.scales)), (words,), (len(found.scales),)
        if found.scales.ndim != 1 or [one.shape for one, _ in arrays] != [*shapes]:
            raise ValueError("the space of words does not fit together")
        if any(one.dtype != kind for one, kind in arrays):
            raise ValueError("the space of words has numbers of another kind")
        return found


def learned(parts: Sequence[PostingLists], n_dims: int = DIMENSIONS) -> WordSpace:
    """The space of the documents of several lists, from a sample where they are many."""
    number, often = sum(map(len, parts)), Counter[str]()
    for part in parts:
        often.update(dict(zip(part.stems, part.frequency.tolist(), strict=True)))
    names = tuple(sorted(stem for stem, documents in often.items() if documents >= 2))
    frequency = np.array([often[stem] for stem in names], np.float64)
    worth = np.log1p((number - frequency + 0.5) / (frequency + 0.5))
    dims = min(n_dims, number - 1, len(names))
    if dims < 1:
        return WordSpace((), *_nothing())
    counts = _sample(parts, names, max(1, -(-number // SAMPLE)))
    vectors = truncated_svd(_weighted(counts, worth), dims).word_factors.astype(np.float16)
    space = WordSpace(names, vectors, worth.astype(np.float32), np.ones(dims, np.float32))
    largest = np.abs(space._pointing(counts, np.arange(len(names)))).max(axis=0)
    return replace(space, scales=(largest / STEPS).astype(np.float32))


def _sample(parts: Sequence[PostingLists], names: Sequence[str], step: int) -> Csr:
    """Every so many documents, by stems."""
    found, start = [], 0
    for part in parts:
        counts = part.by_stem()[-start % step :: step]
        columns = columns_of(part.stems, names)
        known = np.flatnonzero(columns >= 0)
        few = csr_array(counts[:, known])
        found.append(csr_array((few.data, columns[known][few.indices], few.indptr), shape=(few.shape[0], len(names))))
        start += len(part)
        part.let_go()
    whole: Csr = found[0] if len(found) == 1 else vstack(found, format="csr")
    return whole


def columns_of(stems: Sequence[str], names: Sequence[str]) -> Array:
    """Of each stem its place among others, or -1."""
    place = {stem: at for at, stem in enumerate(names)}
    return np.fromiter((place.get(stem, -1) for stem in stems), np.int64, len(stems))


def _nothing() -> tuple[Any, Any, Any]:
    return np.zeros((0, 0), np.float16), np.zeros(0, np.float32), np.zeros(0, np.float32)


def _weighted(counts: Csr, worth: Any) -> Csr:
    """Damped counts times what their words are worth, rows of length one."""
    data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * worth[counts.indices]
    found = csr_array((data.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)
    lengths = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
    return csr_array(diags_array((1.0 / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)) @ found)
