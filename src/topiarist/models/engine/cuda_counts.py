"""Counts on a device, cut into segments, or in pinned memory on the host until they are needed.

Cutting takes one pass of the host over the numbers of non-zeros. The counts themselves are transposed on the device.

A pinned block is in page-locked memory, which the device reads directly. ``StreamingExecutor`` copies each block and
its rows to the device, runs the E-step, and pins the new rows. Copies to the device use their own stream. The copy of
the next block begins when the work on the block before this one has ended, because its memory may be needed. The work
on the next block begins when its copy has ended. Pinned blocks give the same bits as resident ones.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array, Csr, Dtype, DTypeLike, Move
from topiarist.execution.executors import Sums
from topiarist.kernels.cuda.memory import DeviceArray, Memory, allocate_pinned, create_event, create_stream, round_up
from topiarist.kernels.cuda.segments import (
    MIN_TILE_NONZEROS,
    Segments,
    compute_word_starts,
    count_tiles,
    tally,
    transpose,
)
from topiarist.kernels.cuda.warp import BLOCK_THREADS
from topiarist.kernels.shard import CountsView


class SegmentedCounts(NamedTuple):
    """Counts in one order with their segments, as sweeps read them."""

    indptr: Any  # of documents; empty for words, which have segments
    indices: Any
    data: Any
    cut: Segments

    def move_arrays(self, move: Move) -> SegmentedCounts:
        """Return the counts with every array moved by ``move``."""
        return SegmentedCounts(move(self.indptr), move(self.indices), move(self.data), self.cut.move_arrays(move))


@dataclass(frozen=True)
class CudaCountsView(CountsView):
    """Counts by document with a copy on the device or in pinned memory."""

    segmented: SegmentedCounts


@dataclass(frozen=True)
class CudaShard:
    """Counterpart of ``Shard`` for a device."""

    rows: CudaCountsView
    words: SegmentedCounts
    totals: Any  # total count of each word
    make_rows: Callable[[int, int, Any], Any]  # makes uniform rows where this shard has its rows

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and words."""
        return self.rows.n_rows, len(self.totals)

    @property
    def is_resident(self) -> bool:
        """True if the counts are on the device."""
        return isinstance(self.words.data, DeviceArray)

    def uniform_rows(self, n_components: int) -> Any:
        """Return uniform mixing proportions for the documents of the shard."""
        return self.make_rows(self.shape[0], n_components, self.rows.data.dtype)

    def word_totals(self) -> Any:
        """Return the total count of each word."""
        return self.totals

    def move_arrays(self, move: Move, uniform: Any = None) -> CudaShard:
        """Return the shard with every device array moved by ``move``."""
        side = self.rows
        rows = CudaCountsView(side.indptr, side.indices, side.data, side.cuts, side.segmented.move_arrays(move))
        return CudaShard(rows, self.words.move_arrays(move), self.totals, uniform or self.make_rows)


def segment_rows(memory: Memory, side: CountsView) -> SegmentedCounts:
    """Copy counts by document to the device, with rows from zero on."""
    first, last = int(side.indptr[0]), int(side.indptr[-1])
    indptr = side.indptr.astype(np.int64) - first
    indices = side.indices[first:last].astype(np.int32, copy=False)
    return SegmentedCounts(indptr, indices, side.data[first:last], Segments.from_rows(indptr)).move_arrays(memory.put)


def segment_words(memory: Memory, rows: SegmentedCounts, n_words: int, n_components: int) -> SegmentedCounts:
    """Transpose counts by document to counts by word.

    ``n_components`` limits how many documents are counted at a time, so that their tables fit into memory.
    """
    indptr = rows.indptr.numpy()
    n_docs = len(indptr) - 1
    n_tiles = count_tiles(n_docs, n_components, rows.data.dtype.itemsize)
    size = -(-n_docs // n_tiles) if n_docs else 1
    tallies = memory.put(np.zeros((n_tiles, n_words), np.int32))
    for tile in range(n_tiles):
        first, last = (int(indptr[min(end * size, n_docs)]) for end in (tile, tile + 1))
        if last > first:
            memory.launch(tally, last - first, rows.indices.array[first:last], tallies.array[tile])
    starts = compute_word_starts(tallies.numpy())
    indices, data = memory.empty(rows.indices.shape, np.int32), memory.empty(rows.data.shape, rows.data.dtype)
    places = memory.put(starts[:-1])
    if len(rows.data):
        arrays = (rows.indptr, rows.indices, rows.data, places, indices, data)
        memory.launch(transpose, n_tiles * BLOCK_THREADS, *arrays)
    return SegmentedCounts(
        memory.put(np.zeros(0, np.int64)), indices, data, Segments.from_words(starts).move_arrays(memory.put)
    )


ROWS_PER_DOCUMENT = 4  # rows of components: old, new, tempered, and a temporary one
BYTES_PER_DOCUMENT = 64  # start and end of a document
TABLES = 8  # words times components; tables that a step holds at once


class PinnedRows(np.ndarray):
    """Rows in page-locked memory; the device can still be writing them until ``PinnedMemoryPool.copy`` returns."""


class PinnedMemoryPool:
    """Reusable page-locked memory and the transfers to and from it."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.stream = memory, create_stream()
        self._free: dict[int, list[Array]] = defaultdict(list)

    def _allocate_pinned_rows(self, shape: tuple[int, ...], dtype: Dtype) -> PinnedRows:
        """Return an uninitialised pinned array; its memory is reused after the array is freed."""
        nbytes = int(np.prod(shape)) * dtype.itemsize
        size = round_up(max(1, nbytes))
        try:  # two threads can allocate at once
            buffer = self._free[size].pop()
        except IndexError:
            buffer = allocate_pinned(size)
        rows = buffer[:nbytes].view(dtype).reshape(shape).view(PinnedRows)
        weakref.finalize(rows, self._free[size].append, buffer).atexit = False
        return rows

    def pin(self, array: DeviceArray) -> PinnedRows:
        """Copy an array to pinned memory; complete when the stream reaches it."""
        out = self._allocate_pinned_rows(array.shape, array.dtype)
        if out.size:
            array.array.copy_to_host(out, stream=self.memory.stream)
        return out

    def copy(self, rows: PinnedRows) -> Array:
        """Return a plain array with the same numbers."""
        self.memory.synchronize()
        return np.array(rows, subok=False)

    def overwrite(self, host: Array, array: DeviceArray) -> None:
        """Copy device numbers into a host array: directly, or in stream order if it is pinned."""
        if isinstance(host, PinnedRows):
            if host.size:
                array.array.copy_to_host(host, stream=self.memory.stream)
        else:
            host[...] = array.numpy()

    def pin_shard(self, shard: CudaShard) -> CudaShard:
        """Copy a shard to pinned memory, in the layout of the device."""
        make = shard.make_rows

        def uniform(n_rows: int, n_components: int, dtype: DTypeLike) -> Any:
            return self.pin(make(n_rows, n_components, dtype))

        pinned_shard = shard.move_arrays(self.pin, uniform)
        self.memory.synchronize()
        indptr, indices, data, _ = pinned_shard.rows.segmented  # the host reads the pinned arrays
        rows = CudaCountsView(indptr, indices, data, pinned_shard.rows.cuts, pinned_shard.rows.segmented)
        return CudaShard(rows, pinned_shard.words, pinned_shard.totals, uniform)

    def fetch(self, block: Any, rows: Any) -> Callable[[], tuple[Any, Any]]:
        """Start copying a block and its rows to the device.

        Returns a function that makes the device wait for the copies and returns them.
        """
        ready_event, copied_event = create_event(), create_event()
        ready_event.record(self.memory.stream)
        ready_event.wait(self.stream)
        device_arrays = _move_block(block, self._fetch_array), self._fetch_array(rows)
        copied_event.record(self.stream)

        def ready() -> tuple[Any, Any]:
            copied_event.wait(self.memory.stream)
            return device_arrays

        return ready

    def _fetch_array(self, array: Any) -> Any:
        return self.memory.put(array, stream=self.stream) if isinstance(array, PinnedRows) else array


def _move_block(block: Any, move: Callable[[Any], Any]) -> Any:
    """Return a shard, or a model's tuple of shards and None, with every array moved."""
    if isinstance(block, CudaShard):
        return block if block.is_resident else block.move_arrays(move)
    if isinstance(block, tuple):
        return type(block)(*(_move_block(part, move) for part in block))
    return block


class StreamingExecutor:
    """Executor of a device that computes one block while it fetches the next."""

    def __init__(self, pinned_pool: PinnedMemoryPool) -> None:
        self.pinned_pool = pinned_pool

    def total(
        self, function: Callable[[Any, Any], tuple[Any, Any]], blocks: Sequence[Any], local: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return the sum of the statistics and the new rows, as ``Executor.total`` does."""
        sums, results = Sums(), []
        ready = self.pinned_pool.fetch(blocks[0], local[0])
        for number, rows in enumerate(local):
            arguments = ready()
            if number + 1 < len(blocks):
                ready = self.pinned_pool.fetch(blocks[number + 1], local[number + 1])
            else:
                del ready
            stats, new = function(*arguments)
            del arguments
            sums.add(stats)
            is_pinned = isinstance(rows, PinnedRows) and isinstance(new, DeviceArray)
            results.append(self.pinned_pool.pin(new) if is_pinned else new)
            del new, stats
        return sums.total(), tuple(results)


def cut_blocks(counts: Csr, itemsize: int, n_components: int, limit: int | None) -> list[int]:
    """Return the document numbers that cut a collection into blocks.

    All documents are one block if they fit into ``limit`` bytes. Otherwise two blocks fit.
    """
    n_docs, n_words = counts.shape
    if limit is None or n_docs == 0:
        return [0, n_docs]
    tables = 12 * n_words * count_tiles(n_docs, n_components, itemsize) // n_docs  # starts of words in tiles
    document = ROWS_PER_DOCUMENT * n_components * itemsize + BYTES_PER_DOCUMENT + tables
    # counts and indices in two orders, the mixtures, and partial sums of segments
    nonzero = 8 + 3 * itemsize + n_components * itemsize // MIN_TILE_NONZEROS
    cost = counts.indptr.astype(np.int64) * nonzero + np.arange(n_docs + 1) * document
    available_bytes = limit - TABLES * n_words * n_components * itemsize
    if cost[-1] <= available_bytes:
        return [0, n_docs]
    pieces = -(-int(cost[-1]) // max(1, available_bytes // 2))
    cuts = np.searchsorted(cost, np.linspace(0, int(cost[-1]), min(pieces, n_docs) + 1))
    cuts[0], cuts[-1] = 0, n_docs
    return [int(cut) for cut in np.unique(cuts)]
