"""A block of documents as the sweeps want it: counts by document and by word, cut into pieces for threads.

The cuts depend on the counts alone, never on the number of threads: any number of them adds the same numbers in the
same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

Array = np.ndarray[Any, Any]

PIECES = 64  # enough to keep sixteen threads evenly busy, few enough that handing them out costs nothing
CACHE_LINE = 64
TILE_BYTES = 8 << 20  # a quarter of the shared cache of a common server core complex: words need their share of it
LARGEST_TILE = 1 << 16  # documents: so that two bytes number them
SMALLEST_TILE = 4096  # documents: below this a word would hardly occur twice in a tile
SMALLEST_PIECE = 50_000  # non-zeros: below this a thread is busier starting than adding


@dataclass(frozen=True)
class Side:
    """One order of the counts, with the row numbers where its pieces begin and end."""

    indptr: Array
    indices: Array
    data: Array
    cuts: Array

    @classmethod
    def of(cls, matrix: Any, dtype: Any = None) -> Side:
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
class Shard:
    """Counts swept by documents (``rows``), and by words in one tile of documents after the other (``tiles``).

    A sweep by words jumps about in the documents' factors. A tile is as many documents as have factors that stay in the
    processor's shared cache meanwhile; without tiles a pass over more documents than that would wait for memory.
    """

    rows: Side
    tiles: tuple[tuple[slice, Side], ...]  # which documents, and their counts by word
    n_words: int

    @classmethod
    def of(cls, counts: Any, dtype: Any = np.float64, n_components: int = 1) -> Shard:
        """Index a CSR matrix both ways; the matrix is not changed, and not copied where it has this type."""
        rows = Side.of(counts, dtype)
        size = min(LARGEST_TILE, max(SMALLEST_TILE, TILE_BYTES // (n_components * np.dtype(dtype).itemsize)))
        documents = [slice(start, min(start + size, rows.n_rows)) for start in range(0, rows.n_rows, size)]
        # one array for all tiles: many smaller ones would leave holes in memory when they go
        indices, data = np.empty(len(rows.indices), np.uint16), np.empty_like(rows.data)
        tiles = tuple((tile, _by_word(rows, tile, counts.shape[1], indices, data)) for tile in documents)
        return cls(rows, tiles, int(counts.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return self.rows.n_rows, self.n_words

    def word_totals(self) -> Array:
        """How often each word occurs."""
        total = np.zeros(self.n_words)
        for _, side in self.tiles:
            running = np.concatenate([[0.0], np.cumsum(side.data, dtype=np.float64)])
            total += np.diff(running[side.indptr])
        return total


def _by_word(rows: Side, tile: slice, n_words: int, indices: Array, data: Array) -> Side:
    """The counts of a tile by words, written to the tile's place in ``indices`` and ``data``."""
    first, last = rows.indptr[tile.start], rows.indptr[tile.stop]
    part = (rows.data[first:last], rows.indices[first:last], rows.indptr[tile.start : tile.stop + 1] - first)
    by_word = sp.csr_matrix(part, shape=(tile.stop - tile.start, n_words)).tocsc()
    indices[first:last], data[first:last] = by_word.indices, by_word.data
    return Side(by_word.indptr, indices[first:last], data[first:last], even_cuts(by_word.indptr))


def even_cuts(indptr: Array, pieces: int = PIECES) -> Array:
    """Row numbers that cut the rows into pieces of about equally many non-zeros (and never an empty piece)."""
    n_rows, nnz = len(indptr) - 1, int(indptr[-1] - indptr[0])
    pieces = max(1, min(pieces, nnz // SMALLEST_PIECE, n_rows))
    targets = indptr[0] + np.linspace(0, nnz, pieces + 1)
    cuts = np.searchsorted(indptr, targets)
    cuts[0], cuts[-1] = 0, n_rows
    return np.unique(cuts)


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array that begins on a cache line: where a row is a whole number of lines, the sweeps run a fifth faster."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return _aligned(np.empty(size + CACHE_LINE, np.uint8), size, dtype, shape)


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> Array:
    """Zeros that begin on a cache line; the system hands out zeroed memory, so nothing is written yet."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return _aligned(np.zeros(size + CACHE_LINE, np.uint8), size, dtype, shape)


def _aligned(buffer: Array, size: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    start = -buffer.ctypes.data % CACHE_LINE
    array: Array = buffer[start : start + size].view(dtype).reshape(shape)
    return array
