"""Assignment of work to warps: rows are cut into segments, in an order that depends on the counts alone.

A warp computes a segment of at most ``SEGMENT_NONZEROS`` non-zeros of one row, so that a frequent word does not delay
the others. A row of one segment gets its sum directly. The sums of other segments are stored in *places*, adjacent for
one row, and added in the order of their places. The bits are the same on any device.

A sweep by words accesses the documents' factors in random order. Frequent words are therefore cut at the ends of
*tiles* of documents and swept tile after tile. A tile has as many documents as have factors that fit into the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from topiarist.arrays import Array, Move
from topiarist.kernels.cuda.warp import kernel

SEGMENT_NONZEROS = 1024  # in single precision their sum has six correct digits
TILE_BYTES = 16 << 20  # a fraction of the second-level cache of data centre GPUs; half of it is as fast
MIN_TILE_DOCUMENTS = 4096  # documents
MIN_TILE_NONZEROS = 16  # of a word; for fewer, starting a segment costs more than its sum


class Segments(NamedTuple):
    """Rows cut into segments, as arrays of the device or of the host."""

    rows: Any  # of each segment
    begins: Any  # its first non-zero
    ends: Any  # one after its last
    places: Any  # where its sum is stored; -1 for a whole row
    long_rows: Any  # rows in several segments
    long_ends: Any  # first place of each of these, and the number of places
    n_places: int

    @classmethod
    def from_ranges(cls, rows: Array, begins: Array, ends: Array) -> Segments:
        """Cut ranges of rows in the order of the sweep; every row has at least one segment."""
        size = SEGMENT_NONZEROS
        number = np.maximum(1, -(-(ends - begins) // size))
        if len(number) and number.max() > 1:
            piece = np.repeat(np.arange(len(rows)), number)
            step = (np.arange(len(piece)) - np.repeat(np.cumsum(number) - number, number)) * size
            rows, begins, ends = rows[piece], begins[piece] + step, np.minimum(ends[piece], begins[piece] + step + size)
        parts = np.bincount(rows, minlength=1)
        long = np.flatnonzero(parts[rows] > 1)
        long_rows = np.flatnonzero(parts > 1)
        places = np.full(len(rows), -1, np.int32)
        places[long[np.argsort(rows[long], kind="stable")]] = np.arange(len(long), dtype=np.int32)
        return cls(
            rows.astype(np.int32), begins.astype(np.int64), ends.astype(np.int64), places,
            long_rows.astype(np.int32), np.append(0, np.cumsum(parts[long_rows])).astype(np.int64), len(long),
        )  # fmt: skip

    def move_arrays(self, move: Move) -> Segments:
        """Return the segments with every array moved by ``move``."""
        *arrays, n_places = self
        return Segments(*map(move, arrays), n_places)

    @classmethod
    def from_rows(cls, indptr: Array) -> Segments:
        """Cut rows in their order."""
        return cls.from_ranges(np.arange(len(indptr) - 1), indptr[:-1].astype(np.int64), indptr[1:].astype(np.int64))

    @classmethod
    def from_words(cls, starts: Array) -> Segments:
        """Cut frequent words tile after tile, then the others; ``starts`` is the result of ``compute_word_starts``."""
        n_tiles, words = len(starts) - 1, np.arange(starts.shape[1])
        frequent = np.flatnonzero(starts[-1] - starts[0] >= MIN_TILE_NONZEROS * n_tiles) if n_tiles > 1 else words[:0]
        rare = np.setdiff1d(words, frequent, assume_unique=True)
        begins, ends = starts[:-1, frequent].ravel(), starts[1:, frequent].ravel()
        rows = np.tile(frequent, n_tiles)
        filled = ends > begins
        return cls.from_ranges(
            np.concatenate([rows[filled], rare]),
            np.concatenate([begins[filled], starts[0, rare]]),
            np.concatenate([ends[filled], starts[-1, rare]]),
        )


def count_tiles(n_docs: int, n_components: int, itemsize: int) -> int:
    """Return the number of tiles for a number of documents."""
    return max(1, -(-n_docs // max(MIN_TILE_DOCUMENTS, TILE_BYTES // (n_components * itemsize))))


def compute_word_starts(tallies: Array) -> Array:
    """Return where the documents of each word begin in each tile, for words laid out in order: (n_tiles + 1, n_words).

    The last row has the ends of the words. ``tallies`` is (n_tiles, n_words): documents of each tile with each word.
    """
    starts = np.zeros((len(tallies) + 1, tallies.shape[1]), np.int64)
    np.cumsum(tallies, axis=0, out=starts[1:])
    starts += np.append(0, np.cumsum(starts[-1])[:-1])
    return starts


@kernel
def tally(indices, counts):
    for t in range(cuda.grid(1), indices.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, indices[t], 1)


@kernel
def transpose(indptr, indices, data, places, out_indices, out_data):
    """Convert rows to columns, each in the order of rows. One block for a tile of ``ceil(n_docs / n_tiles)`` documents.

    ``places`` (n_tiles, n_words) is the place of the first document of each tile with each word. The words of a
    document differ, so its non-zeros are placed together; the next document waits for them.
    """
    n_docs, n_tiles = indptr.size - 1, places.shape[0]
    size = (n_docs + n_tiles - 1) // n_tiles
    for tile in range(cuda.blockIdx.x, n_tiles, cuda.gridDim.x):
        last = (tile + 1) * size
        last = last if last < n_docs else n_docs
        for d in range(tile * size, last):
            for t in range(indptr[d] + cuda.threadIdx.x, indptr[d + 1], cuda.blockDim.x):
                place = cuda.atomic.add(places, (tile, indices[t]), 1)
                out_indices[place] = d
                out_data[place] = data[t]
            cuda.syncthreads()
