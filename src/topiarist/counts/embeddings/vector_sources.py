"""Sources of embeddings from arrays or files, with or without ids of documents.

``.npy`` has one row for each document in order. ``.npz`` has ``ids`` and ``vectors``. Parquet and JSON lines have a
column of ids and a column of lists of numbers. Only the words count of documents without an embedding.
"""

from __future__ import annotations

import gzip
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.counts.vectors import normalise_vectors
from topiarist.errors import InputError, ResourceError
from topiarist.text.documents import Document

IDS, VECTORS = ("id", "ids"), ("vector", "vectors", "embedding", "embeddings")
FILE_TYPES = "Pass a .npy, .npz, .parquet or .jsonl file."


class VectorSource(ABC):
    """Source of the embeddings of documents."""

    @abstractmethod
    def load(self, first: int, documents: Sequence[Document]) -> Floats:
        """Return the directions of documents, from document number ``first`` on; zeros for documents without an
        embedding.
        """

    def check(self, n_docs: int) -> None:  # noqa: B027 (most sources accept any number)
        """Raise InputError if the embeddings do not match ``n_docs`` documents."""

    @abstractmethod
    def describe(self) -> str:
        """Return the origin of the embeddings as text."""


@dataclass(frozen=True)
class OrderedVectors(VectorSource):
    """Embeddings with one row for each document, in order."""

    rows: Array
    name: str = "an array"

    def load(self, first: int, documents: Sequence[Document]) -> Floats:
        vectors = self.rows[first : first + len(documents)]
        if len(vectors) < len(documents):
            raise self._create_mismatch_error(f"more than {len(self.rows):,}")
        return normalise_vectors(vectors)

    def check(self, n_docs: int) -> None:
        if n_docs != len(self.rows):
            raise self._create_mismatch_error(f"{n_docs:,}")

    def describe(self) -> str:
        return f"from {self.name}, in the order of the documents"

    def _create_mismatch_error(self, documents: str) -> InputError:
        return InputError(
            f"{self.name} has {len(self.rows):,} vectors, and there are {documents} documents",
            hint="Give ids with the vectors (.npz with ids and vectors, Parquet or JSON lines).",
        )


@dataclass
class VectorsById(VectorSource):
    """Embeddings with the ids of their documents."""

    rows: Array
    places: Mapping[str, int]
    name: str = "an array"
    found_ids: set[str] = field(default_factory=set)

    def load(self, first: int, documents: Sequence[Document]) -> Floats:
        """Return unit vectors of documents by id, zeros for missing ids; remember the ids that were found."""
        out = np.zeros((len(documents), self.rows.shape[1]), self.rows.dtype)
        for row, document in enumerate(documents):
            place = self.places.get(document.id)
            if place is not None:
                out[row] = self.rows[place]
                self.found_ids.add(document.id)
        return normalise_vectors(out)

    def check(self, n_docs: int) -> None:
        """Raise InputError if ``load`` has found no document."""
        if n_docs and not self.found_ids:
            sample = ", ".join(list(self.places)[:3])
            raise InputError(
                f"no document has one of the {len(self.places):,} ids of {self.name}",
                hint=f"Choose the column with the ids ({sample}) as the ids of the documents.",
            )

    def describe(self) -> str:
        n_unused = len(self.places) - len(self.found_ids)
        return f"from {self.name}" + (f", which has {n_unused:,} more" if n_unused else "")


def to_vector_source(vectors: Any, name: str = "vectors") -> VectorSource:
    """Return the source of rows in order, of a mapping of ids to vectors, or a given source."""
    if hasattr(vectors, "load") and hasattr(vectors, "describe"):
        source: VectorSource = vectors
        return source
    if isinstance(vectors, Mapping):
        return create_vectors_by_id(list(vectors), np.array(list(vectors.values())), name)
    return OrderedVectors(_check_matrix(np.asarray(vectors), name), name)


def create_vectors_by_id(ids: Sequence[Any], rows: Array, name: str) -> VectorsById:
    """Return the source of rows with distinct ids. Raise InputError for a repeated id."""
    rows = _check_matrix(rows, name)
    if len(ids) != len(rows):
        raise InputError(f"{name} has {len(ids):,} ids and {len(rows):,} vectors", hint="Give one id for each vector.")
    places: dict[str, int] = {}
    for place, document_id in enumerate(map(str, ids)):
        if places.setdefault(document_id, place) != place:
            raise InputError(
                f"{name} has two vectors for the id {document_id!r}", hint="Give one vector for each document."
            )
    return VectorsById(rows, places, name)


def read_vectors(path: str | Path) -> VectorSource:
    """Read embeddings from a file; its suffix determines the format."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no file of vectors at {path}", hint=FILE_TYPES)
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    suffix, name = (suffixes or [""])[-1], str(path)
    try:
        if suffix == ".npy":
            return OrderedVectors(_check_matrix(np.load(file, mmap_mode="r", allow_pickle=False), name), name)
        if suffix == ".npz":
            with np.load(file, allow_pickle=False) as arrays:
                ids, vectors = (_find_column(arrays.files, names, name) for names in (IDS, VECTORS))
                return create_vectors_by_id(arrays[ids].tolist(), arrays[vectors], name)
        if suffix == ".parquet":
            return create_vectors_by_id(*_read_parquet(file, name), name)
        if suffix in (".jsonl", ".ndjson"):
            return create_vectors_by_id(*_read_json_lines(file, name), name)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} cannot be read as vectors: {error}", hint=FILE_TYPES) from error
    raise InputError(f"expected a file of vectors, got {suffix or 'a file without a suffix'}: {name}", hint=FILE_TYPES)


def _check_matrix(rows: Array, name: str) -> Array:
    """Return a matrix of vectors; raise InputError for other arrays."""
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or rows.shape[1] < 2:
        raise InputError(
            f"{name} should be a matrix of numbers, documents × dimensions; it is {rows.dtype} of shape {rows.shape}",
            hint="Give lists of equal length, one for each document.",
        )
    return rows


def _find_column(columns: Sequence[str], names: Sequence[str], file: str) -> str:
    matches = [name for name in columns if name.lower() in names]
    if len(matches) != 1:
        raise InputError(f"{file} should have one column called {' or '.join(names)}; it has {', '.join(columns)}")
    return matches[0]


def _read_parquet(file: Path, name: str) -> tuple[list[Any], Array]:
    """Return the ids and vectors of a Parquet file; raise ResourceError without pyarrow."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ResourceError("reading Parquet needs pyarrow", hint="Run: pip install 'topiarist[parquet]'.") from error
    columns = pyarrow.parquet.read_schema(file).names
    ids, vectors = (_find_column(columns, names, name) for names in (IDS, VECTORS))
    table = pyarrow.parquet.read_table(file, columns=[ids, vectors])
    return table.column(ids).to_pylist(), np.array(table.column(vectors).to_pylist(), np.float32)


def _read_json_lines(file: Path, name: str) -> tuple[list[Any], Array]:
    """Return the ids and vectors of a JSON-lines file; raise InputError if their lengths differ."""
    ids, rows = list[Any](), list[Any]()
    for number, entry in _iterate_objects(file, name):
        id_name, vector_name = (
            _find_column(list(entry), names, f"line {number} of {name}") for names in (IDS, VECTORS)
        )
        ids.append(entry[id_name])
        rows.append(np.asarray(entry[vector_name], np.float32))
        if rows[-1].shape != rows[0].shape:
            raise InputError(
                f"line {number} of {name} has a vector of another length", hint="Use one encoder for all documents."
            )
    if not rows:
        raise InputError(f"{name} is empty", hint="Write an object with id and vector on each line.")
    return ids, np.stack(rows)


def _iterate_objects(file: Path, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the line number and the object of each line; raise InputError for other values."""
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise InputError(
                        f"line {number} of {name} is not an object",
                        hint='Write an object such as {"id": "…", "vector": [0.1, …]} on each line.',
                    )
                yield number, entry
