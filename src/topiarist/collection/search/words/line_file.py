"""Lines of a text file, read on access: millions of words take no memory before that."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, overload

import numpy as np

from topiarist.arrays import Ints
from topiarist.errors import DamagedError
from topiarist.storage.sealed_folder import new_file

LINES_PER_BLOCK = 1 << 16  # lines that are written, or read, together
MAX_LINES_IN_MEMORY = 1 << 16  # more lines stay in the file; fewer are faster in memory


class LineFile(Sequence[str]):
    """Sequence of the lines of a memory-mapped file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._bytes = mmap(file.fileno(), 0, access=ACCESS_READ) if path.stat().st_size else b""

    @cached_property
    def _starts(self) -> Ints:
        """Starts of all lines, and the end of the last line plus one."""
        if not len(self._bytes):
            return np.zeros(1, np.int64)
        ends = np.flatnonzero(np.frombuffer(self._bytes, np.uint8) == ord("\n"))
        return np.concatenate([[0], ends + 1, [len(self._bytes) + 1]]).astype(np.int64)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            first, last, step = place.indices(len(self))
            if step != 1 or last <= first:
                return tuple(self[number] for number in range(first, last, step))
            return tuple(self._text(first, last).split("\n"))
        number = range(len(self))[place]
        return self._text(number, number + 1)

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), LINES_PER_BLOCK):
            yield from self[first : first + LINES_PER_BLOCK]

    def _text(self, first: int, last: int) -> str:
        try:
            return self._bytes[self._starts[first] : self._starts[last] - 1].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise DamagedError("a file of words is not UTF-8 text", hint="Run topiarist check.") from error

    def place(self, line: str) -> int | None:
        """Return the index of a line among sorted lines, None if it is missing; texts sort like their bytes."""
        encoded, low, high = line.encode("utf-8", "surrogatepass"), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            middle_line = self._bytes[self._starts[middle] : self._starts[middle + 1] - 1]
            if middle_line == encoded:
                return middle
            low, high = (middle + 1, high) if middle_line < encoded else (low, middle)
        return None


def read_lines(path: Path) -> Sequence[str]:
    """Return the lines of a file; few lines are read into memory."""
    lines = LineFile(path)
    return tuple(lines) if len(lines) <= MAX_LINES_IN_MEMORY else lines


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write texts without line breaks, one a line."""
    separator = b""
    with new_file(path) as file:
        for line in lines:
            file.write(separator + line.encode("utf-8", "surrogatepass"))
            separator = b"\n"


def find_line(line: str, lines: Sequence[str]) -> int | None:
    """Return the place of a text among sorted lines; None if it is missing."""
    if isinstance(lines, LineFile):
        return lines.place(line)
    place = bisect_left(lines, line)
    return place if place < len(lines) and lines[place] == line else None
