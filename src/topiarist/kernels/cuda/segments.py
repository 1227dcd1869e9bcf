"""Which warp sweeps what: rows cut into segments, in an order that depends on the counts alone.

A warp takes a segment of at most ``SEGMENT`` non-zeros of one row, so that a word of a million documents keeps no one
waiting. A row that is one segment gets its sum at once. The sums of other segments wait in *places*, those of a row
side by side, and are added in the order of their places: the same bits on any device.

A sweep by words jumps about in the documents' factors. Frequent words are therefore cut where *tiles* of documents end,
and swept tile after tile: a tile is as many documents as have factors that stay in the device's cache meanwhile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from topiarist.arrays import Array, Move
from topiarist.kernels.cuda.warp import kernel

SEGMENT = 1024  # non-zeros; in single precision their sum is good to six digits
TILE_BYTES = 16 << 20  # a fraction of the second-level cache of the devices that this is for; half is as good
SMALLEST_TILE = 4096  # documents
LEAST_PER_TILE = 16  # non-zeros of a word: below this a segment would be busier starting than adding


class Segments(NamedTuple):
    """Rows cut into segments, as arrays of the device or of the host."""

    rows: Any  # of each segment
    begins: Any  # its first non-zero
    ends: Any  # and the one after its last
    places: Any  # where its sum waits; -1 where it is the whole row
    long_rows: Any  # the rows that are in several segments
    long_ends: Any  # the first place of each of these, and the number of places
    n_places: int

    @classmethod
    def of(cls, rows: Array, begins: Array, ends: Array, size: int = SEGMENT) -> Segments:
        """From pieces of rows in the order in which they are to be swept; every row is in at least one."""
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

    def moved(self, move: Move) -> Segments:
        """The same with every array moved."""
        *arrays, n_places = self
        return Segments(*map(move, arrays), n_places)

    @classmethod
    def of_rows(cls, indptr: Array, size: int = SEGMENT) -> Segments:
        """Row after row."""
        return cls.of(np.arange(len(indptr) - 1), indptr[:-1].astype(np.int64), indptr[1:].astype(np.int64), size)

    @classmethod
    def of_words(cls, starts: Array, size: int = SEGMENT, least: int = LEAST_PER_TILE) -> Segments:
        """Frequent words tile after tile, then the others; ``starts`` is (n_tiles + 1, n_words), as ``word_starts``."""
        n_tiles, words = len(starts) - 1, np.arange(starts.shape[1])
        often = np.flatnonzero(starts[-1] - starts[0] >= least * n_tiles) if n_tiles > 1 else words[:0]
        seldom = np.setdiff1d(words, often, assume_unique=True)
        begins, ends = starts[:-1, often].ravel(), starts[1:, often].ravel()
        rows = np.tile(often, n_tiles)
        filled = ends > begins
        return cls.of(
            np.concatenate([rows[filled], seldom]),
            np.concatenate([begins[filled], starts[0, seldom]]),
            np.concatenate([ends[filled], starts[-1, seldom]]),
            size,
        )


def tiles_of(n_docs: int, n_components: int, itemsize: int) -> int:
    """How many tiles so many documents make."""
    return max(1, -(-n_docs // max(SMALLEST_TILE, TILE_BYTES // (n_components * itemsize))))


def word_starts(tallies: Array) -> Array:
    """(n_tiles + 1, n_words): where each word's documents of each tile begin when words are laid out in turn.

    The last row says where each word ends. ``tallies`` is (n_tiles, n_words), documents of each tile with each word.
    """
    starts = np.zeros((len(tallies) + 1, tallies.shape[1]), np.int64)
    np.cumsum(tallies, axis=0, out=starts[1:])
    starts += np.append(0, np.cumsum(starts[-1])[:-1])
    return starts


@kernel
def tally(indices, counts):
    """See ``reference.tally``."""
    for t in range(cuda.grid(1), indices.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, indices[t], 1)


@kernel
def transpose(indptr, indices, data, places, out_indices, out_data):
    """Rows to columns, each column in the order of rows. One block for a tile of ``ceil(n_docs / n_tiles)`` documents.

    ``places`` (n_tiles, n_words) says where the first document of each tile with each word goes. A document's words
    differ, so its non-zeros are placed together; the next document waits for them.
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
