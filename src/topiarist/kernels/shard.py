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
SMALLEST_PIECE = 50_000  # non-zeros: below this a thread is busier starting than adding


@dataclass(frozen=True)
class Side:
    """One order of the counts, with the row numbers where its pieces begin and end."""

    indptr: Array
    indices: Array
    data: Array
    cuts: Array

    @classmethod
    def of(cls, matrix: Any) -> Side:
        """From a CSR matrix (rows are documents) or a CSC one (rows are words)."""
        return cls(matrix.indptr, matrix.indices, matrix.data, even_cuts(matrix.indptr))

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
    """Counts swept by documents (``rows``) and by words (``columns``)."""

    rows: Side
    columns: Side

    @classmethod
    def of(cls, counts: Any, dtype: Any = np.float64) -> Shard:
        """Index a CSR matrix both ways; the matrix itself is not changed, and not copied if it has this type."""
        by_document = sp.csr_matrix(counts, dtype=dtype)
        return cls(Side.of(by_document), Side.of(by_document.tocsc()))

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return self.rows.n_rows, self.columns.n_rows


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
    buffer = np.empty(size + CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    array: Array = buffer[start : start + size].view(dtype).reshape(shape)
    return array
