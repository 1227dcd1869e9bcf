"""Documents of a large collection by where they lie: those near a query are looked for in the cells near it alone.

The space of words is parted into cells around centres (spherical k-means of a sample), and the coordinates of documents
lie in the order of their cells. A query looks through the cells whose centres are nearest to it until a million of the
documents, or a sixteenth, have been seen: what lies in others is missed, however near it is.

    centres.npy   (cells, dimensions)
    starts.npy    where the documents of each cell begin, and their number
    rows.npy      the documents
    places.npy    their coordinates, a byte for each dimension
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.words.posting_lists import PostingLists
from topiarist.collection.find.words.word_space import WordSpace
from topiarist.counts.room import expect, let_go, ours, pieces
from topiarist.scale.threads import Threads
from topiarist.store.array_files import mapped, save, save_parts

CELLS, SAMPLE, STEPS = 256, 20_000, 8  # how many, documents that they are found by, steps of k-means
SEEN, LEAST_SEEN = 16, 1 << 20  # one of so many documents is looked at, and so many at least: up to there all are
PIECE = 1 << 16  # documents whose places are written, or compared, together
ARRAYS = ("centres", "starts", "rows", "places")


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of some documents."""

    centres: Array
    starts: Array
    rows: Array
    places: Array

    def near(self, space: WordSpace, direction: Floats, threads: Threads) -> tuple[Array, Floats]:
        """The documents of the cells nearest to a direction, and their cosines with it."""
        sizes = np.diff(self.starts)
        order = np.argsort(-(self.centres @ direction), kind="stable")
        enough = int(np.searchsorted(np.cumsum(sizes[order]), max(LEAST_SEEN, -(-len(self.rows) // SEEN)))) + 1
        runs = [slice(int(self.starts[cell]), int(self.starts[cell + 1])) for cell in np.sort(order[:enough])]
        for run in runs:
            expect(self.places, run.start, run.stop)
        parts = [slice(at, min(at + PIECE, run.stop)) for run in runs for at in range(run.start, run.stop, PIECE)]
        cosines = threads.map(lambda part: space.cosines(self.places[part], direction), parts)
        return np.concatenate([self.rows[part] for part in parts]), np.concatenate(cosines)

    @classmethod
    def open(cls, folder: Path, lists: PostingLists) -> Cells:
        """Read them, mapped; they must be those of the documents of some lists, each of them once."""
        found = cls(*(ours(mapped(folder / f"{name}.npy")) for name in ARRAYS))
        documents, dims = lists.space.shape
        kinds = {"centres": np.float32, "starts": np.int64, "rows": np.int32, "places": np.int8}
        shapes = {"starts": (len(found.centres) + 1,), "rows": (documents,), "places": (documents, dims)}
        shapes["centres"] = (len(found.centres), dims)
        starts = found.starts
        fits = all(getattr(found, name).shape == shape for name, shape in shapes.items())
        fits = fits and all(getattr(found, name).dtype == kind for name, kind in kinds.items())
        if not fits or starts[0] != 0 or starts[-1] != documents or bool((np.diff(starts) < 0).any()):
            raise ValueError("the cells of the space lead nowhere")
        seen = np.zeros(documents, bool)
        for (rows,) in pieces(found.rows):
            seen[np.clip(rows, 0, max(documents - 1, 0))] = True
        if not seen.all():  # each of them once: there are as many rows as documents
            raise ValueError("the cells of the space hold others than their documents")
        return found


def write_cells(folder: Path, space: WordSpace, lists: PostingLists) -> None:
    """The cells of the documents of lists, in an empty folder; a piece of them is in memory at a time."""
    number, dims = lists.space.shape
    step = max(1, number // SAMPLE)
    centres = _centres(_unit(lists.space[::step], space))
    cells = np.concatenate([
        np.argmax(_unit(some, space) @ centres.T, axis=1).astype(np.int16)
        for (some,) in pieces(lists.space, size=PIECE)
    ])  # fmt: skip
    rows = np.argsort(cells, kind="stable").astype(np.int32)
    save(folder / "centres.npy", centres)
    save(folder / "starts.npy", np.searchsorted(cells[rows], np.arange(len(centres) + 1)).astype(np.int64))
    save(folder / "rows.npy", rows)
    save_parts(folder / "places.npy", (number, dims), np.int8, _moved(lists.space, rows))


def _moved(space: Array, rows: Array) -> Iterator[Array]:
    """The coordinates of documents in another order, piece by piece."""
    for start in range(0, len(rows), PIECE):
        yield space[rows[start : start + PIECE]]
        let_go(space)


def _unit(places: Array, space: WordSpace) -> Floats:
    found: Floats = places.astype(np.float32) * space.scales.astype(np.float32)
    return found


def _centres(points: Floats) -> Floats:
    """Spherical k-means, begun at points that lie evenly in their order."""
    centres: Floats = points[:: max(1, len(points) // CELLS)][:CELLS].copy()
    for _ in range(STEPS):
        nearest = np.argmax(points @ centres.T, axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, points)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 1e-6, sums / np.maximum(lengths, 1e-6), centres).astype(np.float32)
    return centres
