"""Scan for traces of removed texts: sequences of 20 letters that no remaining document explains."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from topiarist.arrays import Array

LETTERS = 20  # of a sequence
CHUNK = 1 << 22  # bytes that are read at once
_TABLE_BITS = 22  # bits of the index of a table that excludes most places
_FACTOR, _MIXED = np.uint64(0x100000001B3), np.uint64(0x9E3779B97F4A7C15)
_MAX_BYTES = 4 * LETTERS  # of a sequence in UTF-8


@dataclass(frozen=True)
class ScanResult:
    """Result of a folder scan: number of sequences by file, and of sequences that remaining documents explain."""

    left: dict[str, int]
    shared: int
    n_files: int
    n_bytes: int

    def __bool__(self) -> bool:
        return bool(self.left)


def make_spellings(text: str) -> list[str]:
    """Return the forms in which a text may be stored."""
    variants = [text, " ".join(text.split()), *(unicodedata.normalize(form, text) for form in ("NFC", "NFKC", "NFD"))]
    variants += [variant.lower() for variant in variants] + [variant.casefold() for variant in variants]
    quoted = [json.dumps(variant)[1:-1] for variant in variants] + [
        json.dumps(variant, ensure_ascii=False)[1:-1] for variant in variants
    ]
    return list(dict.fromkeys([*variants, *quoted]))


class Sequences:
    """All sequences of 20 letters of some texts, found in bytes in a few passes."""

    def __init__(self, texts: Iterable[str], *, exact: Iterable[str] = ()) -> None:
        self.texts = [spelling for text in texts for spelling in make_spellings(text)] + list(exact)
        self.sums = np.unique(np.concatenate([np.empty(0, np.uint64), *map(_hash_sequences, self.texts)]))
        self.table = np.zeros(1 << _TABLE_BITS, bool)
        self.table[_compute_table_places(self.sums)] = True

    @cached_property
    def letters(self) -> frozenset[str]:
        """The sequences as text, without sequences of signs only."""
        sequences = (text[at : at + LETTERS] for text in self.texts for at in range(len(text) - LETTERS + 1))
        return frozenset(sequence for sequence in sequences if any(map(str.isalnum, sequence)))

    def find_in_bytes(self, data: bytes) -> set[str]:
        """Return the sequences that the bytes contain in their original or in lower case."""
        sequences = self._find_exact(data)
        lower_data = data.lower()
        return sequences if lower_data == data else sequences | self._find_exact(lower_data)

    def _find_exact(self, data: bytes) -> set[str]:
        """Return the removed sequences in data, found by hash and confirmed letter by letter."""
        if not len(self.sums) or len(data) < LETTERS:
            return set()
        sums = _compute_rolling_sums(np.frombuffer(data, np.uint8))
        candidates = np.flatnonzero(self.table[_compute_table_places(sums)])
        candidates = candidates[np.isin(sums[candidates], self.sums)]
        sequences = set()
        for at in candidates.tolist():
            sequence = data[at : at + _MAX_BYTES].decode("utf-8", "ignore")[:LETTERS]
            if sequence in self.letters:
                sequences.add(sequence)
        return sequences


def scan_folder(folder: Path, texts: Iterable[str], staying: Iterable[str]) -> ScanResult:
    """Search a folder for fragments of removed texts; fragments of the texts in ``staying`` are allowed."""
    trace_sequences, by_file = Sequences(texts), dict[str, set[str]]()
    n_files = n_bytes = 0
    for path in sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()):
        n_files += 1
        for data in _read_overlapping_chunks(path):
            n_bytes += len(data)
            if in_chunk := trace_sequences.find_in_bytes(data):
                by_file.setdefault(path.relative_to(folder).as_posix(), set()).update(in_chunk)
    sequences = set().union(*by_file.values()) if by_file else set()
    traces_left = sequences - _find_in_texts(sequences, staying)
    traces = {name: len(in_file & traces_left) for name, in_file in by_file.items() if in_file & traces_left}
    return ScanResult(traces, len(sequences - traces_left), n_files, n_bytes)


def _find_in_texts(sequences: set[str], staying: Iterable[str]) -> set[str]:
    """Return the sequences that also occur in texts that stay."""
    explained_sequences, trace_sequences = set[str](), Sequences((), exact=sequences)
    for text in staying if sequences else ():
        for spelling in make_spellings(text):
            explained_sequences |= trace_sequences.find_in_bytes(spelling.encode("utf-8", "surrogatepass"))
        if len(explained_sequences) == len(sequences):
            break
    return explained_sequences


def _read_overlapping_chunks(path: Path) -> Iterator[bytes]:
    """Yield a file in chunks that overlap by the longest sequence."""
    with path.open("rb") as file:
        tail = b""
        while data := file.read(CHUNK):
            yield tail + data
            tail = (tail + data)[-_MAX_BYTES:]


def _hash_sequences(text: str) -> Array:
    """Return a hash of each sequence of 20 letters in UTF-8; its first 20 bytes decide."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    starts = np.flatnonzero((data & 0xC0) != 0x80)[: max(0, len(text) - LETTERS + 1)]
    return _compute_rolling_sums(data)[starts] if len(starts) else np.empty(0, np.uint64)


def _compute_rolling_sums(data: Array) -> Array:
    """Return a hash of each run of 20 bytes, by doubling: 1, 2, 4, 8, 16 and then 16 + 4 bytes."""
    runs, power = {1: data.astype(np.uint64)}, {1: _FACTOR}
    with np.errstate(over="ignore"):
        for length in (1, 2, 4, 8):
            sums = runs[length]
            runs[2 * length] = sums[:-length] * power[length] + sums[length:]
            power[2 * length] = power[length] * power[length]
        result: Array = runs[16][:-4] * power[4] + runs[4][16:]
    return result


def _compute_table_places(sums: Array) -> Array:
    """Return the index of each hash in the lookup table."""
    with np.errstate(over="ignore"):
        places: Array = ((sums * _MIXED) >> np.uint64(64 - _TABLE_BITS)).astype(np.int64)
    return places
