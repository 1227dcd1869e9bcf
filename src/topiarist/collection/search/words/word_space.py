"""Word space: documents and words in few dimensions, in which words with similar use are near each other.

The space is LSI over stems, damped and weighted by their information, learned from a sample of a large collection. A
document takes one byte for each dimension: fractions of the largest coordinate in the sample.
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
from topiarist.collection.search.words.line_file import find_line, read_lines, write_lines
from topiarist.collection.search.words.posting_lists import PostingLists
from topiarist.counts.lsi import truncated_svd
from topiarist.errors import DamagedError
from topiarist.models.engine import load_kernels
from topiarist.storage.array_files import map_array, save

DIMENSIONS, SAMPLE = 100, 20_000  # of the space, and documents from which it is learned
STEPS = 127  # of a coordinate on either side of zero
WORDS, ARRAYS = "words.txt", ("vectors", "worth", "scales")


@dataclass(frozen=True, eq=False)
class WordSpace:
    """Directions and weights of stems, and the scales of the coordinates of documents."""

    stems: Sequence[str]  # they rise
    vectors: Array  # (stems, dimensions), half precision
    worth: Array
    scales: Array

    def direction(self, times: Mapping[str, float]) -> Floats | None:
        """Return the direction of a query; None without a known word."""
        places = ((find_line(stem, self.stems), weights) for stem, weights in times.items())
        times_by_place = {place: weights for place, weights in places if place is not None}
        if not times_by_place:
            return None
        rows = np.fromiter(times_by_place, np.int64, len(times_by_place))
        weights = np.log2(1.0 + np.fromiter(times_by_place.values(), np.float64, len(times_by_place)))
        point = (weights * self.worth[rows]) @ self.vectors[rows].astype(np.float64)
        length = float(np.linalg.norm(point))
        return (point / length).astype(np.float32) if length > 0 else None

    def near(self, documents: PostingLists, direction: Floats) -> Floats:
        """Return the cosine of every document with a direction."""
        return self.cosines(documents.space, direction)

    def cosines(self, places: Array, direction: Floats) -> Floats:
        """Return the cosines of documents with a direction, by their int8 coordinates; check the dimensions."""
        cosines: Floats = np.empty(len(places), np.float32)
        scaled = (direction * self.scales).astype(np.float32)
        if places.dtype != np.int8 or places.shape != (len(cosines), *scaled.shape):  # the kernel looks without asking
            raise DamagedError("documents and words have different dimensions", hint="Run topiarist check.")
        load_kernels().score_byte_vectors(np.ascontiguousarray(places), scaled, cosines)
        return cosines

    def placed(self, documents: PostingLists) -> Array:
        """Return the packed coordinates of documents."""
        return self._pack_directions(self._compute_directions(documents))

    def _compute_directions(self, documents: PostingLists) -> Floats:
        """Return the unit directions of documents in the space."""
        columns = find_columns(documents.stems, self.stems)
        columns_in_space = np.flatnonzero(columns >= 0)
        return self._project_counts(documents.by_stem()[:, columns_in_space], columns[columns_in_space])

    def _project_counts(self, counts: Csr, columns: Array) -> Floats:
        """Return the unit directions of documents; ``columns`` are the places of the counted stems."""
        weighted = _weigh_counts(counts, np.asarray(self.worth)[columns])
        found = np.asarray(weighted @ np.asarray(self.vectors[columns], np.float32), np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(lengths > 1e-12, lengths, 1.0), np.float32)

    def _pack_directions(self, directions: Floats) -> Array:
        steps = np.rint(directions / np.where(self.scales > 0, self.scales, 1.0))
        return np.clip(steps, -STEPS, STEPS).astype(np.int8)

    def save(self, folder: Path) -> None:
        """Write the space to an empty folder."""
        for name in ARRAYS:
            save(folder / f"{name}.npy", np.ascontiguousarray(getattr(self, name)))
        write_lines(folder / WORDS, self.stems)

    @classmethod
    def open(cls, folder: Path) -> WordSpace:
        """Open a memory-mapped space after checking that its arrays fit."""
        space = cls(read_lines(folder / WORDS), *(map_array(folder / f"{name}.npy") for name in ARRAYS))
        arrays = (space.vectors, np.float16), (space.worth, np.float32), (space.scales, np.float32)
        words = len(space.stems)
        shapes = (words, len(space.scales)), (words,), (len(space.scales),)
        if space.scales.ndim != 1 or [array.shape for array, _ in arrays] != [*shapes]:
            raise ValueError("the space of words does not fit together")
        if any(array.dtype != kind for array, kind in arrays):
            raise ValueError("the space of words has numbers of another kind")
        return space


def learn_space(parts: Sequence[PostingLists]) -> WordSpace:
    """Return the word space of the documents of several lists, from a sample of a large collection."""
    number, frequencies = sum(map(len, parts)), Counter[str]()
    for part in parts:
        frequencies.update(dict(zip(part.stems, part.frequency.tolist(), strict=True)))
    names = tuple(sorted(stem for stem, documents in frequencies.items() if documents >= 2))
    frequency = np.array([frequencies[stem] for stem in names], np.float64)
    worth = np.log1p((number - frequency + 0.5) / (frequency + 0.5))
    dims = min(DIMENSIONS, number - 1, len(names))
    if dims < 1:
        return WordSpace((), *_create_empty_arrays())
    counts = _sample_counts(parts, names, max(1, -(-number // SAMPLE)))
    vectors = truncated_svd(_weigh_counts(counts, worth), dims).word_factors.astype(np.float16)
    space = WordSpace(names, vectors, worth.astype(np.float32), np.ones(dims, np.float32))
    largest = np.abs(space._project_counts(counts, np.arange(len(names)))).max(axis=0)
    return replace(space, scales=(largest / STEPS).astype(np.float32))


def _sample_counts(parts: Sequence[PostingLists], names: Sequence[str], step: int) -> Csr:
    """Return the counts of every ``step``-th document, by stems."""
    samples, start = [], 0
    for part in parts:
        counts = part.by_stem()[-start % step :: step]
        columns = find_columns(part.stems, names)
        columns_in_space = np.flatnonzero(columns >= 0)
        selected = csr_array(counts[:, columns_in_space])
        samples.append(
            csr_array(
                (selected.data, columns[columns_in_space][selected.indices], selected.indptr),
                shape=(selected.shape[0], len(names)),
            )
        )
        start += len(part)
        part.release_pages()
    combined: Csr = samples[0] if len(samples) == 1 else vstack(samples, format="csr")
    return combined


def find_columns(stems: Sequence[str], names: Sequence[str]) -> Array:
    """Return the place of each stem among others, or -1."""
    place = {stem: at for at, stem in enumerate(names)}
    return np.fromiter((place.get(stem, -1) for stem in stems), np.int64, len(stems))


def _create_empty_arrays() -> tuple[Any, Any, Any]:
    return np.zeros((0, 0), np.float16), np.zeros(0, np.float32), np.zeros(0, np.float32)


def _weigh_counts(counts: Csr, worth: Any) -> Csr:
    """Return damped counts times the weights of their words, in rows of unit length."""
    data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * worth[counts.indices]
    weighted = csr_array((data.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return csr_array(diags_array((1.0 / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)) @ weighted)
