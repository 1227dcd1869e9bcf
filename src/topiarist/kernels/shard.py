"""A block of documents as the sweeps want it: counts by document and by word, cut into pieces for threads.

The cuts depend on the counts alone, never on the number of threads: any number of them adds the same numbers in the
same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topiarist.arrays import Array, Csr, Dtype, DTypeLike
from topiarist.kernels import load

PIECES = 64  # enough to keep sixteen threads evenly busy, few enough that handing them out costs nothing
CACHE_LINE = 64
TILE_BYTES = 8 << 20  # a quarter of the shared cache of a common server core complex: words need their share of it
LARGEST_TILE = 1 << 16  # documents: so that two bytes number them
SMALLEST_TILE = 4096  # documents: below this a word would hardly occur twice in a tile
SMALLEST_PIECE = 100_000  # non-zeros: below this a thread is busier starting than adding


@dataclass(frozen=True)
class Side:
    """One order of the counts, with the row numbers where its pieces begin and end."""

    indptr: Array
    indices: Array
    data: Array
    cuts: Array

    @classmethod
    def of(cls, matrix: Csr, dtype: DTypeLike | None = None) -> Side:
        """From a CSR matrix (rows are documents) or a CSC one (rows are words), sharing what has this type already."""
        data = matrix.data if dtype is None else matrix.data.astype(dtype, copy=False)
        return cls(matrix.indptr, matrix.indices, data, even_cuts(matrix.indptr))

    @property
    def n_rows(self) -> int:
        """Documents, or words."""
        return len(self.indptr) - 1

    @property
    def pieces(self) -> list[slice]:
        """The pieces, as slices of rows."""
        return [slice(a, b) for a, b in zip(self.cuts[:-1].tolist(), self.cuts[1:].tolist(), strict=True)]


@dataclass(frozen=True)
class Tiles:
    """Counts by word, one tile of documents after the other.

    A sweep by words jumps about in the documents' factors. A tile is as many documents as have factors that stay in the
    processor's shared cache meanwhile; without tiles a pass over more documents than that would wait for memory.
    """

    indptr: Array  # (n_tiles, n_words + 1): where a word's documents in a tile begin and end
    starts: Array  # (n_tiles + 1,): the first document of each tile
    indices: Array  # documents, numbered from the start of their tile, so that two bytes are enough
    data: Array
    ends: Array  # (n_words + 1,): non-zeros of all tiles up to a word

    @classmethod
    def of(cls, rows: Side, n_words: int, size: int) -> Tiles:
        """Turn counts by document into counts by word, ``size`` documents at a time."""
        kernels = load()
        starts = np.append(np.arange(0, rows.n_rows, size), rows.n_rows)
        indptr = np.zeros((len(starts) - 1, n_words + 1), np.int64)
        indices, data = np.empty(len(rows.indices), np.uint16), np.empty_like(rows.data)
        for ends, (start, stop) in zip(indptr, pairwise(starts.tolist()), strict=True):
            first, last = rows.indptr[start], rows.indptr[stop]
            kernels.tally(rows.indices[first:last], ends[1:])
            np.cumsum(ends, out=ends)
            ends += first
            documents = rows.indptr[start : stop + 1]
            kernels.transpose(documents, rows.indices, rows.data, ends[:-1].copy(), indices, data)
        return cls(indptr, starts, indices, data, (indptr - indptr[:, :1]).sum(axis=0))

    def pieces(self, number: int) -> list[slice]:
        """About ``number`` slices of words with about equally many non-zeros.

        A word belongs to one piece and its tiles come in their order, so that this number, unlike that of a side's
        pieces, may follow the number of threads. Few long pieces use a tile often while it is at hand.
        """
        cuts = even_cuts(self.ends, number)
        return [slice(a, b) for a, b in pairwise(cuts.tolist())]


@dataclass(frozen=True)
class Shard:
    """Counts as the sweeps read them: by document, and by word."""

    rows: Side
    words: Tiles

    @classmethod
    def of(cls, counts: Csr, dtype: DTypeLike = np.float64, n_components: int = 1) -> Shard:
        """Index a CSR matrix both ways; the matrix is not changed, and not copied where it has this type."""
        rows = Side.of(counts, dtype)
        size = min(LARGEST_TILE, max(SMALLEST_TILE, TILE_BYTES // (n_components * np.dtype(dtype).itemsize)))
        return cls(rows, Tiles.of(rows, int(counts.shape[1]), size))

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return self.rows.n_rows, self.words.indptr.shape[1] - 1

    def uniform_rows(self, n_components: int) -> Array:
        """Proportions of its documents that say nothing yet."""
        return uniform_rows(self.shape[0], n_components, self.rows.data.dtype)

    def word_totals(self) -> Array:
        """How often each word occurs."""
        total = np.zeros(self.shape[1])
        for ends in self.words.indptr:
            running = np.concatenate([[0.0], np.cumsum(self.words.data[ends[0] : ends[-1]], dtype=np.float64)])
            total += np.diff(running[ends - ends[0]])
        return total


def even_cuts(indptr: Array, pieces: int = PIECES) -> Array:
    """Row numbers that cut the rows into pieces of about equally many non-zeros (and never an empty piece)."""
    n_rows, nnz = len(indptr) - 1, int(indptr[-1] - indptr[0])
    pieces = max(1, min(pieces, nnz // SMALLEST_PIECE, n_rows))
    targets = indptr[0] + np.linspace(0, nnz, pieces + 1)
    cuts = np.searchsorted(indptr, targets)
    cuts[0], cuts[-1] = 0, n_rows
    return np.unique(cuts)


def uniform_rows(n_rows: int, n_components: int, dtype: DTypeLike) -> Array:
    """Mixing proportions that say nothing yet."""
    rows = aligned_empty((n_rows, n_components), dtype)
    rows[:] = 1.0 / n_components
    return rows


def aligned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """An array that begins on a cache line: where a row is a whole number of lines, the sweeps run a fifth faster."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return _aligned(np.empty(size + CACHE_LINE, np.uint8), size, dtype, shape)


def _aligned(buffer: Array, size: int, dtype: Dtype, shape: tuple[int, ...]) -> Array:
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + size].view(dtype).reshape(shape)
