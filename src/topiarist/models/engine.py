"""What every model of counts does with the kernels: sweep, normalise, look ahead, piece by piece over threads.

All functions give the same bits for any number of threads: a piece owns its rows, and what crosses pieces (a
log-likelihood, the sum of a column) is added in the order of the pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from topiarist.kernels import Folding, Kernels
from topiarist.kernels.shard import Shard, Side, aligned_empty, aligned_zeros, even_cuts
from topiarist.scale.threads import Threads

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]


@dataclass(frozen=True)
class Engine:
    """How a block is computed: which telling of the kernels, on how many threads."""

    kernels: Kernels
    threads: Threads

    def document_counts(self, shard: Shard, documents: Floats, words: Floats) -> tuple[Floats, float]:
        """Expected counts of each document's components, and the log-likelihood Σ n log mixture."""
        out = aligned_zeros(documents.shape, documents.dtype)

        def piece(rows: slice) -> float:
            mixture, data = self._sweep(shard.rows, rows, documents, words, out)
            np.log(mixture, out=mixture)
            return float(self.kernels.weighted_sum(data, mixture))

        return out, sum(self.threads.map(piece, shard.rows.pieces))

    def word_counts(self, shard: Shard, words: Floats, documents: Floats) -> Floats:
        """Expected counts of each word's components: the same sweep by words, tile after tile of the documents."""
        out = aligned_zeros(words.shape, words.dtype)

        def piece(rows: slice) -> None:
            for tile, side in shard.tiles:
                self._sweep(side, rows, words, documents[tile], out)

        # Few long pieces, so that a tile is used often while it is at hand. A word belongs to one piece and its tiles
        # come in their order, so that here, unlike elsewhere, the number of pieces may follow the number of threads.
        everything = np.vstack([side.indptr for _, side in shard.tiles]).sum(axis=0, dtype=np.int64)
        cuts = even_cuts(everything, 4 * self.threads.n_threads)
        self.threads.map(piece, [slice(a, b) for a, b in pairwise(cuts.tolist())])
        return out

    def _sweep(self, side: Side, rows: slice, own: Floats, other: Floats, out: Floats) -> tuple[Floats, Floats]:
        indptr = side.indptr[rows.start : rows.stop + 1]
        mixture = np.empty(int(indptr[-1] - indptr[0]), own.dtype)
        self.kernels.expected_counts(indptr, side.indices, side.data, own[rows], other, out[rows], mixture)
        return mixture, side.data[indptr[0] : indptr[-1]]

    def log_likelihood(self, side: Side, own: Floats, other: Floats) -> float:
        """Σ n log mixture alone, for a third of the work of a sweep; minus infinity where a mixture is zero."""

        def piece(rows: slice) -> float:
            indptr = side.indptr[rows.start : rows.stop + 1]
            mixture = np.empty(int(indptr[-1] - indptr[0]), own.dtype)
            self.kernels.mixtures(indptr, side.indices, own[rows], other, mixture)
            with np.errstate(divide="ignore"):
                np.log(mixture, out=mixture)
            return float(self.kernels.weighted_sum(side.data[indptr[0] : indptr[-1]], mixture))

        return sum(self.threads.map(piece, side.pieces))

    def fold_in(self, side: Side, own: Floats, other: Floats, folding: Folding) -> Floats:
        """Each row of ``own`` brought to its optimum for fixed ``other``."""
        out = aligned_empty(own.shape, own.dtype)
        out[:] = own

        def piece(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            self.kernels.fold_in(indptr, side.indices, side.data, out[rows], other, folding)

        self.threads.map(piece, side.pieces)
        return out

    def power(self, array: Floats, exponent: float) -> Floats:
        """``array ** exponent``; the array itself when nothing would change."""
        if exponent == 1.0:
            return array
        out = aligned_empty(array.shape, array.dtype)
        self.threads.map(lambda rows: np.power(array[rows], exponent, out=out[rows]), row_pieces(array))
        return out

    def normalise_rows(self, counts: Floats, smoothing: float) -> Floats:
        """Each row + smoothing to sum one, in place; a row of nothing becomes uniform."""

        def piece(rows: slice) -> None:
            block = counts[rows]
            block += counts.dtype.type(smoothing)
            total = block.sum(axis=1, keepdims=True)
            block[total[:, 0] == 0] = 1.0
            block /= np.where(total == 0, block.shape[1], total)

        self.threads.map(piece, row_pieces(counts))
        return counts

    def normalise_columns(self, counts: Floats, smoothing: float) -> Floats:
        """Each column + smoothing to sum one, in place; a column of nothing becomes uniform."""
        pieces = row_pieces(counts)
        sums = self.threads.map(lambda rows: counts[rows].sum(axis=0, dtype=np.float64), pieces)
        total = np.sum(sums, axis=0) + smoothing * len(counts)
        empty = total == 0
        scale = (1.0 / np.where(empty, len(counts), total)).astype(counts.dtype)

        def piece(rows: slice) -> None:
            block = counts[rows]
            block += counts.dtype.type(smoothing)
            block[:, empty] = 1.0
            block *= scale

        self.threads.map(piece, pieces)
        return counts

    def sum_of_logs(self, array: Floats) -> float:
        """Σ log of the entries: the log-density of a Dirichlet prior, up to its weight."""
        return sum(self.threads.map(lambda rows: float(np.log(array[rows]).sum(dtype=np.float64)), row_pieces(array)))

    def look_ahead(self, old: Floats, new: Floats, stride: float) -> Floats:
        """``stride`` times as far from ``old`` as ``new`` is, but nowhere less than half of ``new``."""
        out = aligned_empty(new.shape, new.dtype)
        self.threads.map(lambda rows: self.kernels.look_ahead(old[rows], new[rows], stride, out[rows]), row_pieces(new))
        return out


def row_pieces(array: Floats, size: int = 1 << 18) -> list[slice]:
    """Slices of rows of about ``size`` numbers each: they stay in a core's cache from one operation to the next."""
    rows = max(1, size // max(1, array.shape[1]), -(-len(array) // 1024))
    return [slice(start, min(start + rows, len(array))) for start in range(0, len(array), rows)]
