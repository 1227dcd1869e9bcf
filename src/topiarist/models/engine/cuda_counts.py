"""Counts on a device: by document and by word, cut into segments; or parked on the host until they are needed.

Building them takes one pass by the host over the numbers of non-zeros; the counts themselves are turned from rows to
columns on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Move
from topiarist.kernels.cuda.memory import DeviceArray
from topiarist.kernels.cuda.segments import Segments, tiles_of, word_starts
from topiarist.kernels.cuda.verbs import Verbs
from topiarist.kernels.shard import Side


class Swept(NamedTuple):
    """Counts in one order, as sweeps read them."""

    indptr: Any  # of documents; nothing for words, whose segments say all
    indices: Any
    data: Any
    cut: Segments

    def moved(self, move: Move) -> Swept:
        """The same with every array moved."""
        return Swept(move(self.indptr), move(self.indices), move(self.data), self.cut.moved(move))


@dataclass(frozen=True)
class CudaSide(Side):
    """Counts by document that a device has seen before: the host's arrays, and the device's (or parked ones)."""

    swept: Swept


@dataclass(frozen=True)
class CudaShard:
    """What ``Shard`` is on the host."""

    rows: CudaSide
    words: Swept
    totals: Any  # how often each word occurs
    uniform: Callable[[int, int, Any], Any]  # makes rows that say nothing yet, where this shard has its rows

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return self.rows.n_rows, len(self.totals)

    @property
    def resident(self) -> bool:
        """True when the device holds it."""
        return isinstance(self.words.data, DeviceArray)

    def uniform_rows(self, n_components: int) -> Any:
        """Proportions of its documents that say nothing yet."""
        return self.uniform(self.shape[0], n_components, self.rows.data.dtype)

    def word_totals(self) -> Any:
        """How often each word occurs."""
        return self.totals

    def moved(self, move: Move, uniform: Any = None) -> CudaShard:
        """The same with every array of the device moved."""
        side = self.rows
        rows = CudaSide(side.indptr, side.indices, side.data, side.cuts, side.swept.moved(move))
        return CudaShard(rows, self.words.moved(move), self.totals, uniform or self.uniform)


def array_of(value: DeviceArray) -> Any:
    """What kernels take."""
    return value.array


def swept_rows(verbs: Verbs, side: Side) -> Swept:
    """Counts by document, copied to the device; rows begin at zero."""
    first, last = int(side.indptr[0]), int(side.indptr[-1])
    indptr = side.indptr.astype(np.int64) - first
    indices = side.indices[first:last].astype(np.int32, copy=False)
    return Swept(indptr, indices, side.data[first:last], Segments.of_rows(indptr)).moved(verbs.memory.put)


def swept_words(verbs: Verbs, rows: Swept, n_words: int, n_components: int) -> Swept:
    """Counts by document turned into counts by word."""
    memory = verbs.memory
    indptr = rows.indptr.numpy()
    n_docs = len(indptr) - 1
    n_tiles = tiles_of(n_docs, n_components, rows.data.dtype.itemsize)
    size = -(-n_docs // n_tiles) if n_docs else 1
    tallies = memory.put(np.zeros((n_tiles, n_words), np.int32))
    for tile in range(n_tiles):
        first, last = (int(indptr[min(end * size, n_docs)]) for end in (tile, tile + 1))
        if last > first:
            verbs.tally(rows.indices.array[first:last], tallies.array[tile])
    starts = word_starts(tallies.numpy())
    indices, data = memory.empty(rows.indices.shape, np.int32), memory.empty(rows.data.shape, rows.data.dtype)
    places = memory.put(starts[:-1])
    if len(rows.data):
        arrays = (rows.indptr, rows.indices, rows.data, places, indices, data)
        verbs.transpose(*(array.array for array in arrays))
    return Swept(memory.put(np.zeros(0, np.int64)), indices, data, Segments.of_words(starts).moved(memory.put))
