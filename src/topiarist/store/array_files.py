"""Arrays that live in files: what is too large for memory, or must be seen by several processes.

A *handle* is a small value with a method ``load``; it may travel to another process that sees the same folder, and
opens the same array there. Files are plain ``.npy``, opened memory-mapped: what is read comes from the system's cache,
and is given back as soon as the array is let go.
"""

from __future__ import annotations

import os
import shutil
import uuid
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from topiarist.arrays import Array
from topiarist.counts.room import reserve
from topiarist.errors import InputError, ResourceError, in_words, lack
from topiarist.store.sealed_folder import new_file, written

USUAL_FILES = 256  # that a process has open beside
HEADER = 128  # bytes before the numbers of an ``.npy`` file


def mapped(path: str | Path) -> Array:
    """The array of a file, memory-mapped. Private: the kernels may take it as writeable, the file never changes."""
    try:
        array = np.load(path, mmap_mode="c", allow_pickle=False)
    except FileNotFoundError as error:
        raise InputError(
            f"{path} is not there (any more), or not to be seen from this machine",
            hint="a folder that every worker sees under the same name",
        ) from error
    except Exception as error:  # the header of such a file is parsed as Python, by numpy, and fails as that does
        if missing := lack(error, str(path)):
            raise missing from error
        raise InputError(
            f"{path} is not an array that can be read: {in_words(error)}", hint="write the files anew"
        ) from error
    return np.asarray(array)  # a plain array, as the kernels know it


def allow_open_files(number: int) -> None:
    """Have the system allow so many open files more than the usual ones, if it may: each map keeps one."""
    try:
        import resource
    except ImportError:  # a system that does not count them
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + USUAL_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # then whoever opens one too many is told
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
            )


def save(path: str | Path, array: Array, *, sync: bool = False) -> None:
    """Write an array."""
    with new_file(path, sync=sync) as file:
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def save_parts(path: str | Path, shape: tuple[int, ...], dtype: Any, parts: Iterable[Array]) -> None:
    """Write an array of which only parts are in memory, one after the other."""
    with new_file(path) as file:
        _write_header(file, shape, dtype)
        for part in parts:
            file.write(np.ascontiguousarray(part, dtype).data)


def _write_header(file: BinaryIO, shape: tuple[int, ...], dtype: Any) -> None:
    known = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, known)


def opened(thing: Any) -> Any:
    """What a handle stands for; tuples part by part, anything else as it is."""
    if hasattr(thing, "load"):
        return thing.load()
    if isinstance(thing, tuple):
        parts = tuple(map(opened, thing))
        return thing._make(parts) if hasattr(thing, "_make") else parts
    return thing


def handles(thing: Any) -> Iterator[Any]:
    """The handles in a thing: itself, or those among the parts of a tuple."""
    if hasattr(thing, "load"):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from handles(part)


@dataclass(frozen=True)
class EvenRows:
    """Row parameters that say nothing yet: made where they are needed."""

    n_rows: int
    n_columns: int
    dtype: str

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.n_rows * self.n_columns * np.dtype(self.dtype).itemsize

    def load(self) -> Array:
        """Every row the same, summing to one."""
        return np.full((self.n_rows, self.n_columns), 1.0 / self.n_columns, self.dtype)


@dataclass(frozen=True)
class NewRows(EvenRows):
    """Rows that the work makes without being given any: nothing to open, and memory to count."""

    def load(self) -> None:  # type: ignore[override]
        """Nothing."""


class RowFile:
    """The parameters of a block's rows in a file, which goes when nobody in the process that made it needs it.

    In another process a handle is only a name: it may be read or written there, and removes nothing.
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
        """Where the file lies."""
        return Path(self.path).parent

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return os.path.getsize(self.path) - HEADER

    def load(self) -> Array:
        """The rows, memory-mapped."""
        return mapped(self.path)

    def save(self, rows: Array) -> None:
        """Write the rows; writing them again, as after the death of a worker, changes nothing."""
        save(self.path, rows)


class Scratch:
    """A folder for row parameters, removed with the last of them."""

    def __init__(self, parent: str | Path) -> None:
        self.folder = Path(parent).resolve() / f"scratch-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        try:
            self.folder.mkdir()
        except OSError as error:
            raise ResourceError(
                f"cannot make a folder for row parameters in {parent}: {error}",
                hint="scratch=, a folder with room that can be written (and that all workers see)",
            ) from error
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @classmethod
    def beside(cls, local: Iterable[Any], parent: str | Path) -> Scratch:
        """The folder that holds these rows already, or a new one."""
        known = (getattr(handle, "owner", None) for rows in local for handle in handles(rows))
        return next((owner for owner in known if owner is not None), None) or cls(parent)

    def rows(self) -> RowFile:
        """A file of this folder that does not exist yet."""
        return RowFile(str(self.folder / f"{uuid.uuid4().hex}.npy"), self)

    def saved(self, rows: Array) -> RowFile:
        """These rows in such a file."""
        file = self.rows()
        file.save(rows)
        return file

    def array(self, shape: tuple[int, ...], dtype: Any, parts: Iterable[Array] = ()) -> Array:
        """An array in a file of this folder, which lives as long as the array; ``parts`` of it are written first.

        What is written so takes no memory until it is read.
        """
        path = self.folder / f"{uuid.uuid4().hex}.npy"
        with written(path), path.open("wb") as file:
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
    """Remove a file of a folder that must not go before it."""
    _remove(path)
