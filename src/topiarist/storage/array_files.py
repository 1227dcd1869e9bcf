"""Arrays in files: arrays that are too large for memory, or that several processes share.

A *handle* is a small value with a method ``load``. It can be sent to another process that sees the same folder, and
opens the same array there. Files are plain ``.npy``, memory-mapped: the system caches what is read and frees it when
the array is released.
"""

from __future__ import annotations

import os
import shutil
import threading
import uuid
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from topiarist.arrays import Array
from topiarist.counts.scratch import reserve
from topiarist.errors import InputError, ResourceError, describe_error, to_limit_error
from topiarist.storage.sealed_folder import new_file, translate_write_errors

RESERVED_FILES = 256  # open files of a process beside the maps
HEADER_BYTES = 128  # bytes before the numbers of an ``.npy`` file
_HEADER_LOCK = threading.Lock()  # CPython 3.11 has one recursion counter of its parser for all threads


def map_array(path: str | Path) -> Array:
    """Return the array of a file, memory-mapped and private: kernels can write to it, the file never changes."""
    try:
        with _HEADER_LOCK:
            array = np.load(path, mmap_mode="c", allow_pickle=False)
    except FileNotFoundError as error:
        raise InputError(
            f"{path} does not exist or is not visible from this machine",
            hint="Use a folder that every worker sees under the same path.",
        ) from error
    except Exception as error:  # the header of such a file is parsed as Python, by numpy, and fails as that does
        if limit_error := to_limit_error(error, str(path)):
            raise limit_error from error
        raise InputError(
            f"{path} is not an array that can be read: {describe_error(error)}", hint="Write the files again."
        ) from error
    return np.asarray(array)  # a plain array, as the kernels know it


def allow_open_files(number: int) -> None:
    """Raise the limit of open files above the usual number, if the system allows it: each map keeps one open."""
    try:
        import resource
    except ImportError:  # a system that does not count them
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    required = number + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < required:
        with suppress(ValueError, OSError):  # the error of opening too many files says enough
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (required if hard == resource.RLIM_INFINITY else min(required, hard), hard)
            )


def save(path: str | Path, array: Array) -> None:
    with new_file(path) as file:
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def save_parts(path: str | Path, shape: tuple[int, ...], dtype: Any, parts: Iterable[Array]) -> None:
    """Write an array part by part, without the complete array in memory."""
    with new_file(path) as file:
        _write_header(file, shape, dtype)
        for part in parts:
            file.write(np.ascontiguousarray(part, dtype).data)


def _write_header(file: BinaryIO, shape: tuple[int, ...], dtype: Any) -> None:
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def open_handles(value: Any) -> Any:
    """Return the array of a handle; the arrays of a tuple of handles; any other value unchanged."""
    if hasattr(value, "load"):
        return value.load()
    if isinstance(value, tuple):
        parts = tuple(map(open_handles, value))
        return value._make(parts) if hasattr(value, "_make") else parts
    return value


def find_handles(value: Any) -> Iterator[Any]:
    """Yield a handle itself, or the handles in a tuple."""
    if hasattr(value, "load"):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from find_handles(part)


@dataclass(frozen=True)
class EvenRows:
    """Row parameters before the first step, created where they are used."""

    n_rows: int
    n_columns: int
    dtype: str

    @property
    def nbytes(self) -> int:
        return self.n_rows * self.n_columns * np.dtype(self.dtype).itemsize

    def load(self) -> Array:
        """Return equal rows that sum to one."""
        return np.full((self.n_rows, self.n_columns), 1.0 / self.n_columns, self.dtype)


@dataclass(frozen=True)
class EmptyRows(EvenRows):
    """Rows that a task creates itself: nothing to open, but memory to count."""

    def load(self) -> None:  # type: ignore[override]
        pass


class RowFile:
    """Row parameters of a block in a file, which is deleted with the last handle in the process that created it.

    In another process a handle is only a name: it reads or writes the file, and deletes nothing.
    """

    def __init__(self, path: str, owner: Scratch | None = None) -> None:
        self.path = path
        self.owner = owner  # keeps the folder
        if owner is not None:
            weakref.finalize(self, _remove, path)

    def __reduce__(self) -> tuple[Any, ...]:
        return RowFile, (self.path,)

    def __repr__(self) -> str:
        return f"RowFile({self.path!r})"

    @property
    def folder(self) -> Path:
        return Path(self.path).parent

    @property
    def nbytes(self) -> int:
        return os.path.getsize(self.path) - HEADER_BYTES

    def load(self) -> Array:
        """Return the rows, memory-mapped."""
        return map_array(self.path)

    def save(self, rows: Array) -> None:
        """Write the rows; writing them again, as after the death of a worker, changes nothing."""
        save(self.path, rows)


class Scratch:
    """Folder for row parameters, deleted when no handle refers to it."""

    def __init__(self, parent: str | Path) -> None:
        self.folder = Path(parent).resolve() / f"scratch-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        try:
            self.folder.mkdir()
        except OSError as error:
            raise ResourceError(
                f"cannot make a folder for row parameters in {parent}: {error}",
                hint="Pass scratch=, a writable folder with free space that all workers see.",
            ) from error
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @classmethod
    def find_or_create(cls, row_parts: Iterable[Any], parent: str | Path) -> Scratch:
        """Return the scratch folder of the rows, or a new one in ``parent``."""
        owners = (getattr(handle, "owner", None) for rows in row_parts for handle in find_handles(rows))
        return next((owner for owner in owners if owner is not None), None) or cls(parent)

    def rows(self) -> RowFile:
        """Return the handle of a new file in this folder."""
        return RowFile(str(self.folder / f"{uuid.uuid4().hex}.npy"), self)

    def saved(self, rows: Array) -> RowFile:
        """Write rows to a new file and return its handle."""
        file = self.rows()
        file.save(rows)
        return file

    def array(self, shape: tuple[int, ...], dtype: Any, parts: Iterable[Array] = ()) -> Array:
        """Return an array in a file of this folder; ``parts`` of it are written first.

        The file lives as long as the array and takes no memory until it is read.
        """
        path = self.folder / f"{uuid.uuid4().hex}.npy"
        with translate_write_errors(path), path.open("wb") as file:
            _write_header(file, shape, dtype)
            file.flush()
            start, size = file.tell(), int(np.prod(shape)) * np.dtype(dtype).itemsize
            reserve(file, start + size)
            for part in parts:
                file.write(np.ascontiguousarray(part, dtype).data)
        array = np.load(path, mmap_mode="r+", allow_pickle=False)
        weakref.finalize(array, _remove_with, path, self)
        return np.asarray(array)


def _remove(path: str | Path) -> None:
    Path(path).unlink(missing_ok=True)


def _remove_with(path: Path, folder: Scratch) -> None:
    """Remove a file; ``folder`` keeps its folder until then."""
    _remove(path)
