"""Cells of a large collection: a query is compared only with the documents of the nearest cells.

The word space is divided into cells around centres (spherical k-means of a sample). The coordinates of documents are
stored in the order of their cells. A query reads the cells with the nearest centres until it has seen a million
documents, or a sixteenth. Documents of other cells are missed, however near they are.

    centres.npy   (cells, dimensions)
    starts.npy    first place of each cell, and the number of documents
    rows.npy      rows of the documents
    places.npy    their coordinates, a byte for each dimension
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.search.words.posting_lists import PostingLists
from topiarist.collection.search.words.word_space import WordSpace
from topiarist.counts.scratch import iterate_arrays, mark_releasable, prefetch_pages, release_pages
from topiarist.execution.threads import Threads
from topiarist.storage.array_files import map_array, save, save_parts

MAX_CELLS, SAMPLE, MAX_STEPS = 256, 20_000, 8  # cells, documents in the sample, steps of k-means
SEARCHED_FRACTION, MIN_SEARCHED = (
    16,
    1 << 20,
)  # one in 16 documents is compared, at least a million
BLOCK_DOCUMENTS = 1 << 16  # documents whose places are written, or compared, together
ARRAYS = ("centres", "starts", "rows", "places")


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of the documents of a segment."""

    centres: Array
    starts: Array
    rows: Array
    places: Array

    def near(self, space: WordSpace, direction: Floats, threads: Threads) -> tuple[Array, Floats]:
        """Return the rows of documents in the cells nearest to a direction, and their cosines with it."""
        sizes = np.diff(self.starts)
        order = np.argsort(-(self.centres @ direction), kind="stable")
        n_cells = (
            int(np.searchsorted(np.cumsum(sizes[order]), max(MIN_SEARCHED, -(-len(self.rows) // SEARCHED_FRACTION))))
            + 1
        )
        runs = [slice(int(self.starts[cell]), int(self.starts[cell + 1])) for cell in np.sort(order[:n_cells])]
        for run in runs:
            prefetch_pages(self.places, run.start, run.stop)
        parts = [
            slice(at, min(at + BLOCK_DOCUMENTS, run.stop))
            for run in runs
            for at in range(run.start, run.stop, BLOCK_DOCUMENTS)
        ]
        cosines = threads.map(lambda part: space.cosines(self.places[part], direction), parts)
        return np.concatenate([self.rows[part] for part in parts]), np.concatenate(cosines)

    @classmethod
    def open(cls, folder: Path, lists: PostingLists) -> Cells:
        """Open memory-mapped cells; they must hold each document of the lists exactly once."""
        cells = cls(*(mark_releasable(map_array(folder / f"{name}.npy")) for name in ARRAYS))
        documents, dims = lists.space.shape
        kinds = {"centres": np.float32, "starts": np.int64, "rows": np.int32, "places": np.int8}
        shapes = {"starts": (len(cells.centres) + 1,), "rows": (documents,), "places": (documents, dims)}
        shapes["centres"] = (len(cells.centres), dims)
        starts = cells.starts
        fits = all(getattr(cells, name).shape == shape for name, shape in shapes.items())
        fits = fits and all(getattr(cells, name).dtype == kind for name, kind in kinds.items())
        if not fits or starts[0] != 0 or starts[-1] != documents or bool((np.diff(starts) < 0).any()):
            raise ValueError("the cells of the word space are inconsistent")
        present = np.zeros(documents, bool)
        for (rows,) in iterate_arrays(cells.rows):
            present[np.clip(rows, 0, max(documents - 1, 0))] = True
        if not present.all():  # each of them once: there are as many rows as documents
            raise ValueError("the cells of the word space lack documents")
        return cells


def write_cells(folder: Path, space: WordSpace, lists: PostingLists) -> None:
    """Write the cells of documents to an empty folder, with one block in memory at a time."""
    number, dims = lists.space.shape
    step = max(1, number // SAMPLE)
    centres = _find_centres(_unscale_coordinates(lists.space[::step], space))
    cells = np.concatenate([
        np.argmax(_unscale_coordinates(places, space) @ centres.T, axis=1).astype(np.int16)
        for (places,) in iterate_arrays(lists.space, size=BLOCK_DOCUMENTS)
    ])  # fmt: skip
    rows = np.argsort(cells, kind="stable").astype(np.int32)
    save(folder / "centres.npy", centres)
    save(folder / "starts.npy", np.searchsorted(cells[rows], np.arange(len(centres) + 1)).astype(np.int64))
    save(folder / "rows.npy", rows)
    save_parts(folder / "places.npy", (number, dims), np.int8, _reorder_coordinates(lists.space, rows))


def _reorder_coordinates(space: Array, rows: Array) -> Iterator[Array]:
    """Yield blocks of the coordinates of documents in another order."""
    for start in range(0, len(rows), BLOCK_DOCUMENTS):
        yield space[rows[start : start + BLOCK_DOCUMENTS]]
        release_pages(space)


def _unscale_coordinates(places: Array, space: WordSpace) -> Floats:
    coordinates: Floats = places.astype(np.float32) * space.scales.astype(np.float32)
    return coordinates


def _find_centres(points: Floats) -> Floats:
    """Return spherical k-means centres, begun at evenly spaced points."""
    centres: Floats = points[:: max(1, len(points) // MAX_CELLS)][:MAX_CELLS].copy()
    for _ in range(MAX_STEPS):
        nearest_centres = np.argmax(points @ centres.T, axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest_centres, points)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 1e-6, sums / np.maximum(lengths, 1e-6), centres).astype(np.float32)
    return centres
