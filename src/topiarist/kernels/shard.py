"""Block of documents in the memory layout of the kernels: counts by document and by word, cut into slices for threads.

The cuts depend on the counts alone and never on the number of threads, so any number adds in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topiarist.arrays import Array, Csr, Dtype, DTypeLike
from topiarist.kernels import load

MAX_SLICES = 64  # keeps sixteen threads evenly busy at a negligible cost of scheduling
CACHE_LINE = 64
TILE_BYTES = 8 << 20  # a quarter of the shared cache of a common server core complex; words need the rest
MAX_TILE_DOCUMENTS = 1 << 16  # their numbers fit into two bytes
MIN_TILE_DOCUMENTS = 4096  # in smaller tiles a word would hardly occur twice
MIN_SLICE_NONZEROS = 100_000  # for fewer, starting a thread costs more than the sums


@dataclass(frozen=True)
class CountsView:
    """Counts in one order, with the row numbers at which the slices for threads begin and end."""

    indptr: Array
    indices: Array
    data: Array
    cuts: Array

    @classmethod
    def from_matrix(cls, matrix: Csr, dtype: DTypeLike | None = None) -> CountsView:
        """Create a view of a CSR matrix (rows are documents) or a CSC matrix (rows are words).

        Data that have this type already are shared.
        """
        data = matrix.data if dtype is None else matrix.data.astype(dtype, copy=False)
        return cls(matrix.indptr, matrix.indices, data, cut_evenly(matrix.indptr))

    @property
    def n_rows(self) -> int:
        """Number of rows: documents or words."""
        return len(self.indptr) - 1

    def part(self, rows: slice) -> tuple[Array, Array, Array]:
        """Return ``indptr``, ``indices`` and ``data`` of some rows, as the kernels take them."""
        return self.indptr[rows.start : rows.stop + 1], self.indices, self.data

    @property
    def slices(self) -> list[slice]:
        """Slices of rows with about equally many non-zeros."""
        return [slice(a, b) for a, b in zip(self.cuts[:-1].tolist(), self.cuts[1:].tolist(), strict=True)]


@dataclass(frozen=True)
class Tiles:
    """Counts by word, in tiles of documents.

    A sweep by words accesses the documents' factors in random order. A tile has as many documents as have factors that
    fit into the shared cache of the processor. Without tiles a pass over more documents waits for memory.
    """

    indptr: Array  # (n_tiles, n_words + 1): where a word's documents in a tile begin and end
    starts: Array  # (n_tiles + 1,): the first document of each tile
    indices: Array  # documents, numbered from the start of their tile, in two bytes
    data: Array
    ends: Array  # (n_words + 1,): non-zeros of all tiles up to a word

    @classmethod
    def from_rows(cls, rows: CountsView, n_words: int, size: int) -> Tiles:
        """Convert counts by document to counts by word, ``size`` documents at a time."""
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

    def part(self, words: slice) -> tuple[Array, Array, Array, Array]:
        """Return ``indptr``, ``starts``, ``indices`` and ``data`` of some words, as the kernels take them."""
        return self.indptr[:, words.start : words.stop + 1], self.starts, self.indices, self.data

    def slices(self, number: int) -> list[slice]:
        """Return about ``number`` slices of words with about equally many non-zeros.

        A word belongs to one slice and its tiles are in order, so this number can depend on the number of threads,
        unlike the slices of ``CountsView``. Few long slices use a tile often while it is in the cache.
        """
        cuts = cut_evenly(self.ends, number)
        return [slice(a, b) for a, b in pairwise(cuts.tolist())]


@dataclass(frozen=True)
class Shard:
    """Counts by document and by word, in the layout of the kernels."""

    rows: CountsView
    words: Tiles

    @classmethod
    def from_matrix(cls, counts: Csr, dtype: DTypeLike = np.float64, n_components: int = 1) -> Shard:
        """Index a CSR matrix in both orders; its data are shared if they have this type."""
        rows = CountsView.from_matrix(counts, dtype)
        size = min(MAX_TILE_DOCUMENTS, max(MIN_TILE_DOCUMENTS, TILE_BYTES // (n_components * np.dtype(dtype).itemsize)))
        return cls(rows, Tiles.from_rows(rows, int(counts.shape[1]), size))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and words."""
        return self.rows.n_rows, self.words.indptr.shape[1] - 1

    def uniform_rows(self, n_components: int) -> Array:
        """Return uniform mixing proportions for the documents of the shard."""
        return make_uniform_rows(self.shape[0], n_components, self.rows.data.dtype)

    def word_totals(self) -> Array:
        """Return the total count of each word."""
        total = np.zeros(self.shape[1])
        for ends in self.words.indptr:
            running = np.concatenate([[0.0], np.cumsum(self.words.data[ends[0] : ends[-1]], dtype=np.float64)])
            total += np.diff(running[ends - ends[0]])
        return total


def cut_evenly(indptr: Array, n_slices: int = MAX_SLICES) -> Array:
    """Return row numbers that cut the rows into slices of about equally many non-zeros; no slice is empty."""
    n_rows, nnz = len(indptr) - 1, int(indptr[-1] - indptr[0])
    n_slices = max(1, min(n_slices, nnz // MIN_SLICE_NONZEROS, n_rows))
    targets = indptr[0] + np.linspace(0, nnz, n_slices + 1)
    cuts = np.searchsorted(indptr, targets)
    cuts[0], cuts[-1] = 0, n_rows
    return np.unique(cuts)


def make_uniform_rows(n_rows: int, n_components: int, dtype: DTypeLike) -> Array:
    """Return uniform mixing proportions."""
    rows = allocate_aligned((n_rows, n_components), dtype)
    rows[:] = 1.0 / n_components
    return rows


def allocate_aligned(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Allocate an array at the start of a cache line; sweeps over rows of whole lines run a fifth faster."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return _align_view(np.empty(size + CACHE_LINE, np.uint8), size, dtype, shape)


def _align_view(buffer: Array, size: int, dtype: Dtype, shape: tuple[int, ...]) -> Array:
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + size].view(dtype).reshape(shape)
