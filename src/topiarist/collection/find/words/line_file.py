"""Lines of a text file, each read when it is asked for: millions of words take no memory before that."""

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
from topiarist.store.sealed_folder import new_file

AT_ONCE = 1 << 16  # lines that are written, or read, together
FEW = 1 << 16  # lines that are all read at once: there they are faster in memory


class LineFile(Sequence[str]):
    """The lines of a file, mapped."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._bytes = mmap(file.fileno(), 0, access=ACCESS_READ) if path.stat().st_size else b""

    @cached_property
    def _starts(self) -> Ints:
        """Where each line begins, and one beyond where the last ends."""
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
        for first in range(0, len(self), AT_ONCE):
            yield from self[first : first + AT_ONCE]

    def _text(self, first: int, last: int) -> str:
        try:
            return self._bytes[self._starts[first] : self._starts[last] - 1].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise DamagedError("a file of words holds what is no text", hint="topiarist check") from error

    def place(self, line: str) -> int | None:
        """Where a line stands, if all of them rise: as texts they do so in the order of their bytes."""
        wanted, low, high = line.encode("utf-8", "surrogatepass"), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            found = self._bytes[self._starts[middle] : self._starts[middle + 1] - 1]
            if found == wanted:
                return middle
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return None


def read_lines(path: Path) -> Sequence[str]:
    """The lines of a file: in memory where they are few."""
    found = LineFile(path)
    return tuple(found) if len(found) <= FEW else found


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write texts without line breaks, one a line."""
    between = b""
    with new_file(path) as file:
        for line in lines:
            file.write(between + line.encode("utf-8", "surrogatepass"))
            between = b"\n"


def place_of(line: str, rising: Sequence[str]) -> int | None:
    """Where a text stands among lines that rise; None where it does not."""
    if isinstance(rising, LineFile):
        return rising.place(line)
    place = bisect_left(rising, line)
    return place if place < len(rising) and rising[place] == line else None
