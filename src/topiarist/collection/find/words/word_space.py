"""Documents and words in a space of few dimensions: words that are used alike lie near each other.

The space is that of LSI over stems, damped and weighted by their information, learned from a sample of the documents
where there are many. A document is kept in one byte for each dimension: fractions of the largest coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection.find.words.posting_lists import PostingLists, read_lines
from topiarist.counts.lsi import truncated_svd
from topiarist.store.array_files import mapped, save
from topiarist.store.sealed_folder import new_file

DIMENSIONS, SAMPLE = 100, 20_000  # of the space, and documents from which it is learned
STEPS = 127  # of a coordinate on either side of zero
BLOCK = 4096  # documents that are unpacked in one go
WORDS, ARRAYS = "words.txt", ("vectors", "worth", "scales")


@dataclass(frozen=True, eq=False)
class WordSpace:
    """The directions of stems, what each of them is worth, and the largest coordinates of documents."""

    stems: tuple[str, ...]
    vectors: Array  # (stems, dimensions), half precision
    worth: Array
    scales: Array

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each stem."""
        return {stem: place for place, stem in enumerate(self.stems)}

    def direction(self, times: Mapping[str, float]) -> Floats | None:
        """Where a query points; None where none of its words has a place."""
        known = {self.places[stem]: often for stem, often in times.items() if stem in self.places}
        if not known:
            return None
        rows = np.fromiter(known, np.int64, len(known))
        often = np.log2(1.0 + np.fromiter(known.values(), np.float64, len(known)))
        found = (often * self.worth[rows]) @ self.vectors[rows].astype(np.float64)
        length = float(np.linalg.norm(found))
        return (found / length).astype(np.float32) if length > 0 else None

    def near(self, documents: PostingLists, direction: Floats) -> Floats:
        """The cosine of every document with a direction."""
        scaled = (direction * self.scales).astype(np.float32)
        out = np.empty(len(documents), np.float32)
        buffer = np.empty((min(BLOCK, len(documents)), len(scaled)), np.float32)
        for start in range(0, len(documents), BLOCK):
            block = documents.space[start : start + BLOCK]
            unpacked = buffer[: len(block)]
            unpacked[...] = block
            out[start : start + BLOCK] = unpacked @ scaled
        return out

    def placed(self, documents: PostingLists) -> Array:
        """The coordinates of documents, as they are kept."""
        return self._packed(self._directions(documents))

    def _directions(self, documents: PostingLists) -> Floats:
        columns = np.array([self.places.get(stem, -1) for stem in documents.stems], np.int64)
        known = np.flatnonzero(columns >= 0)
        weighted = _weighted(documents.by_stem()[:, known], np.asarray(self.worth)[columns[known]])
        found = np.asarray(weighted @ np.asarray(self.vectors[columns[known]], np.float32), np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(lengths > 1e-12, lengths, 1.0), np.float32)

    def _packed(self, directions: Floats) -> Array:
        steps = np.rint(directions / np.where(self.scales > 0, self.scales, 1.0))
        return np.clip(steps, -STEPS, STEPS).astype(np.int8)

    def save(self, folder: Path) -> None:
        """Write it to an empty folder."""
        for name in ARRAYS:
            save(folder / f"{name}.npy", np.ascontiguousarray(getattr(self, name)))
        with new_file(folder / WORDS) as file:
            file.write("\n".join(self.stems).encode("utf-8", "surrogatepass"))

    @classmethod
    def open(cls, folder: Path) -> WordSpace:
        """Read it, mapped."""
        return cls(read_lines(folder / WORDS), *(mapped(folder / f"{name}.npy") for name in ARRAYS))


def learned(documents: PostingLists, n_dims: int = DIMENSIONS) -> tuple[WordSpace, Array]:
    """The space of some documents, and their coordinates there."""
    several = np.flatnonzero(documents.frequency >= 2)
    number = len(documents)
    step = max(1, -(-number // SAMPLE))
    counts = documents.by_stem()[::step][:, several]
    worth = np.log1p((number - documents.frequency[several] + 0.5) / (documents.frequency[several] + 0.5))
    dims = min(n_dims, number - 1, len(several))
    if dims < 1:
        return WordSpace((), *_nothing()), np.zeros((number, 0), np.int8)
    vectors = truncated_svd(_weighted(counts, worth), dims).word_factors.astype(np.float16)
    names = tuple(documents.stems[place] for place in several.tolist())
    space = WordSpace(names, vectors, worth.astype(np.float32), np.ones(dims, np.float32))
    directions = space._directions(documents)
    scales = (np.abs(directions).max(axis=0) / STEPS).astype(np.float32)
    space = WordSpace(names, vectors, space.worth, scales)
    return space, space._packed(directions)


def _nothing() -> tuple[Any, Any, Any]:
    return np.zeros((0, 0), np.float16), np.zeros(0, np.float32), np.zeros(0, np.float32)


def _weighted(counts: Csr, worth: Any) -> Csr:
    """Damped counts times what their words are worth, rows of length one."""
    data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * worth[counts.indices]
    found = csr_array((data.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)
    lengths = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
    return csr_array(diags_array((1.0 / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)) @ found)
