"""Room for what is larger than memory: arrays in files without a name, and pages that are handed back when read.

A file without a name is gone with the process, however that ends. The system reads and writes it as it likes; what of
it stands in memory counts for the process until it is *let go*, and costs no more than a look at the cache afterwards.
Only maps that are ours are let go, and never changed but by what is in their file: see ``ours``.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy.sparse import vstack

from topiarist.arrays import Array, Csr, DTypeLike, Integers
from topiarist.errors import lack

LARGE = 1 << 26  # bytes of an array from which on it lies in a file, where there is a folder for that
RUN = 1 << 16  # documents that are looked at together
PIECE = 1 << 24  # numbers of a long array, likewise
WORTH = 1 << 20  # bytes of a map that are worth being let go
_CAN_LET_GO = hasattr(mmap, "MADV_DONTNEED")
_OURS: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()  # maps that may be let go


@dataclass(frozen=True)
class Room:
    """Where arrays are made: in memory, or those that are large in files of a folder."""

    folder: Path | None = None

    def empty(self, number: int, dtype: DTypeLike) -> Array:
        """An array of so many numbers that say nothing yet."""
        size = number * np.dtype(dtype).itemsize
        if self.folder is None or size < LARGE:
            return np.empty(number, dtype)
        with self.file() as file, self.told():
            reserve(file, size)
            return ours(np.asarray(np.memmap(file, dtype, "r+", shape=(number,))))

    def file(self) -> IO[bytes]:
        """A file without a name."""
        with self.told():
            return tempfile.TemporaryFile(dir=self.folder)

    @contextmanager
    def told(self) -> Iterator[None]:
        """A full disk, or whatever else is lacking, in words."""
        try:
            yield
        except OSError as error:
            if missing := lack(error, str(self.folder)):
                raise missing from error
            raise


IN_MEMORY = Room()


def reserve(file: IO[bytes], size: int) -> None:
    """Have room for so many bytes now, where the system can say so: a full disk is found out here, not later."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except (AttributeError, OSError) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        file.truncate(size)


class NewArray:
    """An array that grows at its end, in memory or in a file."""

    def __init__(self, room: Room, dtype: DTypeLike, row: tuple[int, ...] = ()) -> None:
        self._dtype, self._row, self._number = np.dtype(dtype), row, 0
        self._parts: list[Array] = []
        self._room, self._file = room, None if room.folder is None else room.file()

    def __len__(self) -> int:
        return self._number

    def append(self, part: Array) -> None:
        """Some rows more."""
        part = np.ascontiguousarray(part, self._dtype)
        self._number += len(part)
        if self._file is None:
            self._parts.append(part)
        else:
            with self._room.told():
                self._file.write(part.reshape(-1).view(np.uint8).data)

    def clear(self) -> None:
        """Begin anew."""
        self._number = 0
        self._parts.clear()
        if self._file is not None:
            self._file.close()
            self._file = self._room.file()

    def array(self) -> Array:
        """All rows; mapped where they are in a file. Nothing can be added any more."""
        shape = (self._number, *self._row)
        if self._file is None:
            return self._joined(shape)
        with self._file:
            if not self._number:
                return np.empty(shape, self._dtype)
            with self._room.told():
                self._file.flush()
            return ours(np.asarray(np.memmap(self._file, self._dtype, "r+", shape=shape)))

    def _joined(self, shape: tuple[int, ...]) -> Array:
        """All parts as one array; a part is let go as soon as it has its place."""
        whole, start = np.empty(shape, self._dtype), 0
        self._parts.reverse()
        while self._parts:
            part = self._parts.pop()
            whole[start : start + len(part)] = part
            start += len(part)
        return whole


def runs(number: int, size: int | None = None) -> Iterator[slice]:
    """So many things in runs of one size, the last one shorter."""
    size = size or RUN
    return (slice(start, min(start + size, number)) for start in range(0, number, size))


def row_runs(counts: Csr, size: int | None = None) -> Iterator[tuple[slice, Csr]]:
    """The rows of a matrix, a run at a time, each with its place; what was looked at is let go.

    Runs are of so many rows, or as ``entry_runs`` has them.
    """
    every = (rows for rows, _ in entry_runs(counts.indptr)) if size is None else runs(counts.shape[0], size)
    for here in every:
        yield here, counts[here]
        let_go(counts.data, counts.indices)


def picked_runs(counts: Csr, rows: Array | None) -> Iterator[Csr]:
    """Some (rising) rows of a matrix, a run at a time; None: all of them."""
    for here, some in row_runs(counts):
        yield some if rows is None else some[rows[slice(*np.searchsorted(rows, (here.start, here.stop)))] - here.start]


def picked(counts: Csr, rows: Array) -> Csr:
    """Some (rising) rows of a matrix, which is let go run by run where it is mapped."""
    if len(counts.data) * counts.data.itemsize < LARGE:
        return counts[rows]
    found: Csr = vstack(list(picked_runs(counts, rows)), format="csr")
    return found


def entry_runs(ends: Integers) -> Iterator[tuple[slice, slice]]:
    """Runs of rows as places: of the rows, and of their entries among all. ``ends`` are those of a matrix by rows.

    A run is of ``RUN`` rows, or of fewer that have ``PIECE`` entries together.
    """
    start, number = 0, len(ends) - 1
    while start < number:
        within = int(np.searchsorted(ends, int(ends[start]) + PIECE, "right")) - 1
        stop = min(start + RUN, number, max(within, start + 1))
        yield slice(start, stop), slice(int(ends[start]), int(ends[stop]))
        start = stop


def pieces(*arrays: Array, size: int | None = None) -> Iterator[tuple[Array, ...]]:
    """Arrays of one length in pieces, which are let go behind."""
    for here in runs(len(arrays[0]), size or PIECE):
        yield tuple(array[here] for array in arrays)
        let_go(*arrays)


def ours(array: Array) -> Array:
    """The array, whose map nobody changes but through its file: it may be let go."""
    if (owner := _map_of(array)) is not None:
        _OURS.add(owner)
    return array


def let_go(*arrays: Any) -> None:
    """Hand the pages of mapped arrays that are ours back to the system; they are read again when they are looked at.

    Of any other map nothing is let go: somebody may have changed it, and such a change is in memory alone.
    """
    for array in arrays:
        owner = _map_of(array)
        if _CAN_LET_GO and owner is not None and len(owner) >= WORTH and owner in _OURS:
            owner.madvise(mmap.MADV_DONTNEED)


def expect(array: Array, start: int, stop: int) -> None:
    """Have the system fetch some entries of a mapped array, all at once, while something else is done."""
    owner = _map_of(array)
    if not _CAN_LET_GO or owner is None or (stop - start) * array.strides[0] < WORTH // 16:
        return
    there = array.__array_interface__["data"][0] - np.frombuffer(owner, np.uint8).__array_interface__["data"][0]
    first = (there + start * array.strides[0]) // mmap.PAGESIZE * mmap.PAGESIZE
    with suppress(OSError):  # a hint, and no more
        owner.madvise(mmap.MADV_WILLNEED, first, there + stop * array.strides[0] - first)


def _map_of(array: Any) -> mmap.mmap | None:
    """The map that an array is a part of; None where it is in memory."""
    owner = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, mmap.mmap) else None
