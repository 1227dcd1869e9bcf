"""Traces of texts: does any file of a folder still hold twenty letters in a row of something that must be gone?

Looked for are the texts as they were, normalised, in small letters, in one line, and as JSON writes them. A sequence
that stands in a document that stays is no trace: it is there because of that document.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from topiarist.arrays import Array

LETTERS = 20  # in a row
CHUNK = 1 << 22  # bytes that are looked at at once
_BITS = 22  # of a table that rules most places out
_FACTOR, _MIXED = np.uint64(0x100000001B3), np.uint64(0x9E3779B97F4A7C15)
_WIDEST = 4 * LETTERS  # bytes of so many letters


@dataclass(frozen=True)
class Found:
    """What a look through a folder has found: sequences in each file, and how many more are in documents that stay."""

    left: dict[str, int]
    shared: int
    n_files: int
    n_bytes: int

    def __bool__(self) -> bool:
        return bool(self.left)


def spellings(text: str) -> list[str]:
    """The ways in which a text may be written down."""
    plain = [text, " ".join(text.split()), *(unicodedata.normalize(form, text) for form in ("NFC", "NFKC", "NFD"))]
    plain += [one.lower() for one in plain] + [one.casefold() for one in plain]
    quoted = [json.dumps(one)[1:-1] for one in plain] + [json.dumps(one, ensure_ascii=False)[1:-1] for one in plain]
    return list(dict.fromkeys([*plain, *quoted]))


class Sequences:
    """All sequences of twenty letters of some texts, found in bytes at the speed of a few passes over them."""

    def __init__(self, texts: Iterable[str], *, exact: Iterable[str] = ()) -> None:
        self.texts = [one for text in texts for one in spellings(text)] + list(exact)
        sums = [sum_ for text in self.texts if (sum_ := _sums(*_starts(text))) is not None]
        self.sums = np.unique(np.concatenate(sums)) if sums else np.empty(0, np.uint64)
        self.table = np.zeros(1 << _BITS, bool)
        self.table[_places(self.sums)] = True

    @cached_property
    def letters(self) -> frozenset[str]:
        """The sequences themselves, without those of signs only."""
        every = (text[at : at + LETTERS] for text in self.texts for at in range(len(text) - LETTERS + 1))
        return frozenset(one for one in every if any(map(str.isalnum, one)))

    def within(self, data: bytes) -> set[str]:
        """The sequences that some bytes hold, as they are or in small letters."""
        found = self._within(data)
        small = data.lower()
        return found if small == data else found | self._within(small)

    def _within(self, data: bytes) -> set[str]:
        if not len(self.sums) or len(data) < LETTERS:
            return set()
        sums = _rolled(np.frombuffer(data, np.uint8))
        maybe = np.flatnonzero(self.table[_places(sums)])
        maybe = maybe[np.isin(sums[maybe], self.sums)]
        found = set()
        for at in maybe.tolist():
            here = data[at : at + _WIDEST].decode("utf-8", "ignore")[:LETTERS]
            if here in self.letters:
                found.add(here)
        return found


def look(folder: Path, texts: Iterable[str], staying: Iterable[str]) -> Found:
    """Whether texts have left a trace in the files of a folder; ``staying`` are the texts that may be there."""
    wanted, found = Sequences(texts), dict[str, set[str]]()
    n_files = n_bytes = 0
    for path in sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()):
        n_files += 1
        for data in _read(path):
            n_bytes += len(data)
            if here := wanted.within(data):
                found.setdefault(path.relative_to(folder).as_posix(), set()).update(here)
    every = set().union(*found.values()) if found else set()
    left = every - _explained(every, staying)
    traces = {name: len(some & left) for name, some in found.items() if some & left}
    return Found(traces, len(every - left), n_files, n_bytes)


def _explained(found: set[str], staying: Iterable[str]) -> set[str]:
    """Which of the sequences are in a text that may be there."""
    known, wanted = set[str](), Sequences((), exact=found)
    for text in staying if found else ():
        for one in spellings(text):
            known |= wanted.within(one.encode("utf-8", "surrogatepass"))
        if len(known) == len(found):
            break
    return known


def _read(path: Path) -> Iterator[bytes]:
    """The bytes of a file, some at a time; what lies over an end comes with both."""
    with path.open("rb") as file:
        tail = b""
        while data := file.read(CHUNK):
            yield tail + data
            tail = (tail + data)[-_WIDEST:]


def _starts(text: str) -> tuple[Array, Array]:
    """The bytes of a text, and where its letters begin after which enough others come."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    starts = np.flatnonzero((data & 0xC0) != 0x80)
    return data, starts[: max(0, len(starts) - LETTERS + 1)]


def _sums(data: Array, starts: Array) -> Array | None:
    return _rolled(data)[starts] if len(starts) else None


def _rolled(data: Array) -> Array:
    """A number for each run of twenty bytes, by doubling: of 1, 2, 4, 8, 16 and then 16 + 4."""
    runs, power = {1: data.astype(np.uint64)}, {1: _FACTOR}
    with np.errstate(over="ignore"):
        for length in (1, 2, 4, 8):
            one = runs[length]
            runs[2 * length] = one[:-length] * power[length] + one[length:]
            power[2 * length] = power[length] * power[length]
        whole: Array = runs[16][:-4] * power[4] + runs[4][16:]
    return whole


def _places(sums: Array) -> Array:
    with np.errstate(over="ignore"):
        places: Array = ((sums * _MIXED) >> np.uint64(64 - _BITS)).astype(np.int64)
    return places
