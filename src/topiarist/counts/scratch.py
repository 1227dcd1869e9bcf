"""Scratch arrays that are larger than memory, in files without a name, and release of mapped pages.

A file without a name disappears with the process. Pages of a mapped file count as memory of the process until they are
released. They are then read from the cache of the system again. Only maps that ``mark_releasable`` knows are released:
their content changes through their file only.
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
from topiarist.errors import to_limit_error

MIN_FILE_SIZE = 1 << 26  # bytes from which an array is in a file
ROWS_PER_RUN = 1 << 16  # documents
ENTRIES_PER_RUN = 1 << 24  # entries of a long array
MIN_RELEASED = 1 << 20  # bytes of a map; releasing smaller ones costs more than it frees
_CAN_RELEASE = hasattr(mmap, "MADV_DONTNEED")
_RELEASABLE: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


@dataclass(frozen=True)
class ScratchSpace:
    """Memory or, with ``folder``, a folder for large arrays."""

    folder: Path | None = None

    def empty(self, number: int, dtype: DTypeLike) -> Array:
        """Allocate an uninitialised array of ``number`` items."""
        size = number * np.dtype(dtype).itemsize
        if self.folder is None or size < MIN_FILE_SIZE:
            return np.empty(number, dtype)
        with self.file() as file, self.translate_errors():
            reserve(file, size)
            return mark_releasable(np.asarray(np.memmap(file, dtype, "r+", shape=(number,))))

    def file(self) -> IO[bytes]:
        """Return a new file without a name."""
        with self.translate_errors():
            return tempfile.TemporaryFile(dir=self.folder)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Translate ``OSError`` into an error that names the missing resource."""
        try:
            yield
        except OSError as error:
            if missing := to_limit_error(error, str(self.folder)):
                raise missing from error
            raise


IN_MEMORY = ScratchSpace()


def reserve(file: IO[bytes], size: int) -> None:
    """Reserve ``size`` bytes on the disk, so that a full disk is an error now and not later."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except (AttributeError, OSError) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        file.truncate(size)


class ScratchArray:
    """Array that grows at its end, in memory or in a file."""

    def __init__(self, scratch: ScratchSpace, dtype: DTypeLike, row: tuple[int, ...] = ()) -> None:
        self._dtype, self._row, self._number = np.dtype(dtype), row, 0
        self._parts: list[Array] = []
        self._scratch, self._file = scratch, None if scratch.folder is None else scratch.file()

    def __len__(self) -> int:
        return self._number

    def append(self, part: Array) -> None:
        """Write rows to the end of the file."""
        part = np.ascontiguousarray(part, self._dtype)
        self._number += len(part)
        if self._file is None:
            self._parts.append(part)
        else:
            with self._scratch.translate_errors():
                self._file.write(part.reshape(-1).view(np.uint8).data)

    def array(self) -> Array:
        """Return all rows, mapped if they are in a file. Nothing can be appended afterwards."""
        shape = (self._number, *self._row)
        if self._file is None:
            return self._join_parts(shape)
        with self._file:
            if not self._number:
                return np.empty(shape, self._dtype)
            with self._scratch.translate_errors():
                self._file.flush()
            return mark_releasable(np.asarray(np.memmap(self._file, self._dtype, "r+", shape=shape)))

    def _join_parts(self, shape: tuple[int, ...]) -> Array:
        """Join all parts to one array, and free each part after it is copied."""
        joined, start = np.empty(shape, self._dtype), 0
        self._parts.reverse()
        while self._parts:
            part = self._parts.pop()
            joined[start : start + len(part)] = part
            start += len(part)
        return joined


def split_range(number: int, size: int | None = None) -> Iterator[slice]:
    """Yield slices of ``size`` items that cover ``number`` items; the last one can be shorter."""
    size = size or ROWS_PER_RUN
    return (slice(start, min(start + size, number)) for start in range(0, number, size))


def iterate_rows(counts: Csr, size: int | None = None) -> Iterator[tuple[slice, Csr]]:
    """Yield runs of rows with their slice, and release their pages; without ``size`` as ``split_entries``."""
    slices = (rows for rows, _ in split_entries(counts.indptr)) if size is None else split_range(counts.shape[0], size)
    for rows in slices:
        yield rows, counts[rows]
        release_pages(counts.data, counts.indices)


def iterate_selected_rows(counts: Csr, rows: Array | None) -> Iterator[Csr]:
    """Yield the rows of ascending numbers in runs; all rows for None."""
    for run, matrix in iterate_rows(counts):
        yield matrix if rows is None else matrix[rows[slice(*np.searchsorted(rows, (run.start, run.stop)))] - run.start]


def select_rows(counts: Csr, rows: Array) -> Csr:
    """Return the rows of ascending numbers; pages of a mapped matrix are released run by run."""
    if len(counts.data) * counts.data.itemsize < MIN_FILE_SIZE:
        return counts[rows]
    matrix: Csr = vstack(list(iterate_selected_rows(counts, rows)), format="csr")
    return matrix


def split_entries(ends: Integers) -> Iterator[tuple[slice, slice]]:
    """Yield slices of rows and of their entries, for the row ends of a matrix.

    A run has at most ``ROWS_PER_RUN`` rows, and at most ``ENTRIES_PER_RUN`` entries unless it is a single row.
    """
    start, number = 0, len(ends) - 1
    while start < number:
        last_row = int(np.searchsorted(ends, int(ends[start]) + ENTRIES_PER_RUN, "right")) - 1
        stop = min(start + ROWS_PER_RUN, number, max(last_row, start + 1))
        yield slice(start, stop), slice(int(ends[start]), int(ends[stop]))
        start = stop


def iterate_arrays(*arrays: Array, size: int | None = None) -> Iterator[tuple[Array, ...]]:
    """Yield parts of arrays of equal length, and release their pages."""
    for piece in split_range(len(arrays[0]), size or ENTRIES_PER_RUN):
        yield tuple(array[piece] for array in arrays)
        release_pages(*arrays)


def mark_releasable(array: Array) -> Array:
    """Allow ``release_pages`` for the file map of an array, and return the same array; no effect in memory.

    Releasing a private map loses changes in memory, so the array must only change through its file.
    """
    if (owner := _find_map(array)) is not None:
        _RELEASABLE.add(owner)
    return array


def release_pages(*arrays: Any) -> None:
    """Return the pages of releasable arrays to the system; other maps can have changes in memory and are kept."""
    for array in arrays:
        owner = _find_map(array)
        if _CAN_RELEASE and owner is not None and len(owner) >= MIN_RELEASED and owner in _RELEASABLE:
            owner.madvise(mmap.MADV_DONTNEED)


def prefetch_pages(array: Array, start: int, stop: int) -> None:
    """Ask the system to read some entries of a mapped array in the background."""
    owner = _find_map(array)
    if not _CAN_RELEASE or owner is None or (stop - start) * array.strides[0] < MIN_RELEASED // 16:
        return
    offset = array.__array_interface__["data"][0] - np.frombuffer(owner, np.uint8).__array_interface__["data"][0]
    first = (offset + start * array.strides[0]) // mmap.PAGESIZE * mmap.PAGESIZE
    with suppress(OSError):  # only a hint
        owner.madvise(mmap.MADV_WILLNEED, first, offset + stop * array.strides[0] - first)


def _find_map(array: Any) -> mmap.mmap | None:
    """Return the map that an array is a part of; None for an array in memory."""
    owner = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, mmap.mmap) else None
