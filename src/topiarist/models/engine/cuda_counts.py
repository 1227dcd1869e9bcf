"""Counts on a device, cut into segments; or parked on the host until they are needed.

Building them takes one pass by the host over the numbers of non-zeros; the counts themselves are turned from rows to
columns on the device.

A parked block lies in page-locked memory, which the device can read by itself. ``Streamed`` brings each block and its
rows to the device, lets the E-step run, and parks the new rows. Copies to the device go by a stream of their own: the
copy of the next block begins when the work on the block before this one is done (its place may be needed), and the work
on the next block begins when its copy is done. Same blocks, same bits, whether parked or not.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array, Csr, Dtype, DTypeLike, Move
from topiarist.kernels.cuda.memory import DeviceArray, Memory, new_event, new_stream, pinned_empty, rounded
from topiarist.kernels.cuda.segments import LEAST_PER_TILE, Segments, tiles_of, word_starts
from topiarist.kernels.cuda.verbs import Verbs
from topiarist.kernels.shard import Side
from topiarist.scale.executors import Sums


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


ROWS_PER_DOCUMENT = 4  # of components: before, after, tempered, and one in the making
BYTES_PER_DOCUMENT = 64  # where it begins and ends
TABLES = 8  # of words times components that a step may hold at a time


class Parked(np.ndarray):
    """Rows that wait in page-locked memory. The device may still be writing them: ``Parking.copied`` waits for it."""


class Parking:
    """Page-locked memory that is used again and again, and the ways there and back."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.stream = memory, new_stream()
        self._free: dict[int, list[Array]] = defaultdict(list)

    def _empty(self, shape: tuple[int, ...], dtype: Dtype) -> Parked:
        nbytes = int(np.prod(shape)) * dtype.itemsize
        size = rounded(max(1, nbytes))
        try:  # two threads may ask at a time
            buffer = self._free[size].pop()
        except IndexError:
            buffer = pinned_empty(size)
        parked = buffer[:nbytes].view(dtype).reshape(shape).view(Parked)
        weakref.finalize(parked, self._free[size].append, buffer).atexit = False
        return parked

    def park(self, array: DeviceArray) -> Parked:
        """A copy on the host, complete when the device comes to it."""
        out = self._empty(array.shape, array.dtype)
        if out.size:
            array.array.copy_to_host(out, stream=self.memory.stream)
        return out

    def copied(self, parked: Parked) -> Array:
        """A plain array of the same numbers."""
        self.memory.synchronize()
        return np.array(parked, subok=False)

    def overwrite(self, host: Array, array: DeviceArray) -> None:
        """Put what the device has into an array of the host: at once, or in turn where it is parked."""
        if isinstance(host, Parked):
            if host.size:
                array.array.copy_to_host(host, stream=self.memory.stream)
        else:
            host[...] = array.numpy()

    def parked_shard(self, shard: CudaShard) -> CudaShard:
        """A block on the host, in the form that the device had it."""
        make = shard.uniform

        def uniform(n_rows: int, n_components: int, dtype: DTypeLike) -> Any:
            return self.park(make(n_rows, n_components, dtype))

        parked = shard.moved(self.park, uniform)
        self.memory.synchronize()
        indptr, indices, data, _ = parked.rows.swept  # the host reads the same arrays
        rows = CudaSide(indptr, indices, data, parked.rows.cuts, parked.rows.swept)
        return CudaShard(rows, parked.words, parked.totals, uniform)

    def fetch(self, block: Any, rows: Any) -> Callable[[], tuple[Any, Any]]:
        """Begin to bring a block and its rows; the answer makes the device wait for them and says where they are."""
        done, arrived = new_event(), new_event()
        done.record(self.memory.stream)
        done.wait(self.stream)
        here = _moved(block, self._fetched), self._fetched(rows)
        arrived.record(self.stream)

        def ready() -> tuple[Any, Any]:
            arrived.wait(self.memory.stream)
            return here

        return ready

    def _fetched(self, array: Any) -> Any:
        return self.memory.put(array, stream=self.stream) if isinstance(array, Parked) else array


def _moved(block: Any, move: Callable[[Any], Any]) -> Any:
    """A shard, or a model's tuple of shards (and None where there is none), with every array moved."""
    if isinstance(block, CudaShard):
        return block if block.resident else block.moved(move)
    if isinstance(block, tuple):
        return type(block)(*(_moved(part, move) for part in block))
    return block


class Streamed:
    """The executor of a device: one block after the other, the next one on its way meanwhile."""

    def __init__(self, parking: Parking) -> None:
        self.parking = parking

    def total(
        self, function: Callable[[Any, Any], tuple[Any, Any]], blocks: Sequence[Any], local: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        """See ``executors.Executor.total``."""
        sums, results = Sums(), []
        ready = self.parking.fetch(blocks[0], local[0])
        for number, rows in enumerate(local):
            here = ready()
            if number + 1 < len(blocks):
                ready = self.parking.fetch(blocks[number + 1], local[number + 1])
            else:
                del ready
            stats, new = function(*here)
            del here
            sums.add(stats)
            parked = isinstance(rows, Parked) and isinstance(new, DeviceArray)
            results.append(self.parking.park(new) if parked else new)
            del new, stats
        return sums.total(), tuple(results)


def block_cuts(counts: Csr, itemsize: int, n_components: int, limit: int | None) -> list[int]:
    """Document numbers that cut a collection into blocks: one if all fits into so many bytes, or such that two do."""
    n_docs, n_words = counts.shape
    if limit is None or n_docs == 0:
        return [0, n_docs]
    tables = 12 * n_words * tiles_of(n_docs, n_components, itemsize) // n_docs  # where each word begins in each tile
    document = ROWS_PER_DOCUMENT * n_components * itemsize + BYTES_PER_DOCUMENT + tables
    # two orders of counts, each with numbers of rows or columns; the mixtures; and sums of segments that wait
    nonzero = 8 + 3 * itemsize + n_components * itemsize // LEAST_PER_TILE
    cost = counts.indptr.astype(np.int64) * nonzero + np.arange(n_docs + 1) * document
    room = limit - TABLES * n_words * n_components * itemsize
    if cost[-1] <= room:
        return [0, n_docs]
    pieces = -(-int(cost[-1]) // max(1, room // 2))
    cuts = np.searchsorted(cost, np.linspace(0, int(cost[-1]), min(pieces, n_docs) + 1))
    cuts[0], cuts[-1] = 0, n_docs
    return [int(cut) for cut in np.unique(cuts)]
