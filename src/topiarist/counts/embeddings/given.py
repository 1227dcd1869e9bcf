"""Vectors that somebody has: arrays, or files with or without the ids of documents.

``.npy`` has one row for each document, in their order; ``.npz`` has ``ids`` and ``vectors``; Parquet and JSON lines
have a column of ids and one of lists of numbers. Documents without a vector are told by their words.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.counts.vectors import unit_directions
from topiarist.errors import InputError, ResourceError
from topiarist.text.documents import Document

IDS, VECTORS = ("id", "ids"), ("vector", "vectors", "embedding", "embeddings")
KINDS = "a .npy, .npz, .parquet or .jsonl file"


class VectorSource(Protocol):
    """Where the vectors of documents come from."""

    def of(self, first: int, documents: Sequence[Document]) -> Floats:
        """The directions of documents, the first of which is number ``first`` of all; zeros where there is none."""

    def check(self, n_docs: int) -> None:
        """Raise InputError where the vectors are not those of so many documents."""

    def said(self) -> str:
        """Where the vectors come from, in words."""


@dataclass(frozen=True)
class InOrder:
    """One row for each document, in their order."""

    rows: Array
    name: str = "an array"

    def of(self, first: int, documents: Sequence[Document]) -> Floats:
        """See ``VectorSource``."""
        some = self.rows[first : first + len(documents)]
        if len(some) < len(documents):
            raise self._mismatch(f"more than {len(self.rows):,}")
        return unit_directions(some)

    def check(self, n_docs: int) -> None:
        """See ``VectorSource``."""
        if n_docs != len(self.rows):
            raise self._mismatch(f"{n_docs:,}")

    def said(self) -> str:
        """See ``VectorSource``."""
        return f"from {self.name}, in the order of the documents"

    def _mismatch(self, documents: str) -> InputError:
        return InputError(
            f"{self.name} has {len(self.rows):,} vectors, and there are {documents} documents",
            hint="ids beside the vectors (.npz with ids and vectors, Parquet or JSON lines) say which belongs to which",
        )


@dataclass
class ById:
    """Vectors with the ids of their documents."""

    rows: Array
    places: Mapping[str, int]
    name: str = "an array"
    found: set[str] = field(default_factory=set)

    def of(self, first: int, documents: Sequence[Document]) -> Floats:
        """See ``VectorSource``."""
        out = np.zeros((len(documents), self.rows.shape[1]), self.rows.dtype)
        for row, document in enumerate(documents):
            place = self.places.get(document.id)
            if place is not None:
                out[row] = self.rows[place]
                self.found.add(document.id)
        return unit_directions(out)

    def check(self, n_docs: int) -> None:
        """See ``VectorSource``."""
        if n_docs and not self.found:
            some = ", ".join(list(self.places)[:3])
            raise InputError(
                f"no document has one of the {len(self.places):,} ids of {self.name}",
                hint=f"its ids are {some}; --id-column says which column of your documents they are",
            )

    def said(self) -> str:
        """See ``VectorSource``."""
        more = len(self.places) - len(self.found)
        return f"from {self.name}" + (f", which has {more:,} more" if more else "")


def given_vectors(vectors: Any, name: str = "vectors") -> VectorSource:
    """Rows in the order of documents, or a mapping of ids to vectors, or what is a source already."""
    if hasattr(vectors, "of") and hasattr(vectors, "said"):
        source: VectorSource = vectors
        return source
    if isinstance(vectors, Mapping):
        return by_id(list(vectors), np.array(list(vectors.values())), name)
    return InOrder(_matrix(np.asarray(vectors), name), name)


def by_id(ids: Sequence[Any], rows: Array, name: str) -> ById:
    """Vectors with ids, each of which is there once."""
    rows = _matrix(rows, name)
    if len(ids) != len(rows):
        raise InputError(f"{name} has {len(ids):,} ids and {len(rows):,} vectors", hint="one id for each vector")
    places: dict[str, int] = {}
    for place, one in enumerate(map(str, ids)):
        if places.setdefault(one, place) != place:
            raise InputError(f"{name} has two vectors for the id {one!r}", hint="one vector for each document")
    return ById(rows, places, name)


def read_vectors(path: str | Path) -> VectorSource:
    """Vectors of a file, by its name."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no file of vectors at {path}", hint=KINDS)
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    suffix, name = (suffixes or [""])[-1], str(path)
    try:
        if suffix == ".npy":
            return InOrder(_matrix(np.load(file, mmap_mode="r", allow_pickle=False), name), name)
        if suffix == ".npz":
            with np.load(file, allow_pickle=False) as arrays:
                ids, vectors = (_named(arrays.files, names, name) for names in (IDS, VECTORS))
                return by_id(arrays[ids].tolist(), arrays[vectors], name)
        if suffix == ".parquet":
            return by_id(*_parquet(file, name), name)
        if suffix in (".jsonl", ".ndjson"):
            return by_id(*_json_lines(file, name), name)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} cannot be read as vectors: {error}", hint=KINDS) from error
    raise InputError(f"vectors are not read from {suffix or 'a file without a suffix'}: {name}", hint=KINDS)


def _matrix(rows: Array, name: str) -> Array:
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or rows.shape[1] < 2:
        raise InputError(
            f"{name} should be a matrix of numbers, documents × dimensions; it is {rows.dtype} of shape {rows.shape}",
            hint="lists of equal length, one for each document",
        )
    return rows


def _named(there: Sequence[str], names: Sequence[str], file: str) -> str:
    found = [name for name in there if name.lower() in names]
    if len(found) != 1:
        raise InputError(f"{file} should have one column called {' or '.join(names)}; it has {', '.join(there)}")
    return found[0]


def _parquet(file: Path, name: str) -> tuple[list[Any], Array]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ResourceError("reading Parquet needs pyarrow", hint="pip install 'topiarist[parquet]'") from error
    there = pyarrow.parquet.read_schema(file).names
    ids, vectors = (_named(there, names, name) for names in (IDS, VECTORS))
    table = pyarrow.parquet.read_table(file, columns=[ids, vectors])
    return table.column(ids).to_pylist(), np.array(table.column(vectors).to_pylist(), np.float32)


def _json_lines(file: Path, name: str) -> tuple[list[Any], Array]:
    ids, rows = list[Any](), list[Any]()
    for number, entry in _objects(file, name):
        known, vector = (_named(list(entry), names, f"line {number} of {name}") for names in (IDS, VECTORS))
        ids.append(entry[known])
        rows.append(np.asarray(entry[vector], np.float32))
        if rows[-1].shape != rows[0].shape:
            raise InputError(f"line {number} of {name} has a vector of another length", hint="the same encoder for all")
    if not rows:
        raise InputError(f"{name} is empty", hint="an object with id and vector on each line")
    return ids, np.stack(rows)


def _objects(file: Path, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise InputError(f"line {number} of {name} is no object", hint='{"id": "…", "vector": [0.1, …]}')
                yield number, entry
