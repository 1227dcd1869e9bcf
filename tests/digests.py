"""Digests of a collection: texts, counts, parameters, shares, words and the displayed tree.

A digest does not depend on the place of the folder, the number of parts, undone edits, tags or labels.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Csr
from topiarist.collection.contents import CSR, MODEL
from topiarist.collection.state import TREE
from topiarist.estimators.model_folder import ARRAYS
from topiarist.storage.tensors import map_tensors
from topiarist.text.characters import to_storable

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

AT_ONCE = 1 << 20  # numbers of an array


@dataclass(frozen=True)
class Digests:
    """One digest for each thing that a collection is made of, in the order in which they are made from each other."""

    texts: str
    counts: str
    parameters: str
    shares: str
    words: str
    tree: str

    @property
    def whole(self) -> str:
        """The one digest of all."""
        lines = (f"{name} {value}\n" for name, value in self.to_dict().items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def to_dict(self) -> dict[str, str]:
        """By name."""
        return asdict(self)


def digests(collection: Collection) -> Digests:
    """Read everything of a collection once."""
    return Digests(
        texts=_of_texts(collection),
        counts=_of_counts(collection),
        parameters=_of_arrays(parameters(collection).items()),
        shares=_of_matrix(collection.shares),
        words=_of_values([asdict(node) for node in collection.description.nodes]),
        tree=_of_values(collection.outline.to_dict()),
    )


def digest_of(collection: Collection) -> str:
    """The one digest of a collection."""
    return digests(collection).whole


def _of_texts(collection: Collection) -> str:
    """Return a digest of the ids and texts of all documents, in order."""
    made = hashlib.sha256()
    for document in collection.documents.iterate(0, len(collection)):
        for part in (document.id, document.text):
            content = to_storable(part).encode()
            made.update(len(content).to_bytes(8, "little"))
            made.update(content)
    return made.hexdigest()


def parameters(collection: Collection) -> dict[str, Array]:
    """The arrays of the model behind the tree, mapped."""
    with collection._reading("the model"):
        return map_tensors(collection.part(collection.state.parts[TREE]) / MODEL / ARRAYS)


def _of_counts(collection: Collection) -> str:
    words = _of_values([collection.counting.vocabulary.words, collection.counting.general])
    return hashlib.sha256(f"{words} {_of_matrix(collection.all_counts)}".encode()).hexdigest()


def _of_matrix(matrix: Csr) -> str:
    """Values as they are; places as whole numbers, however wide they are kept."""
    return _of_arrays([(name, getattr(matrix, name)) for name in CSR], np.int64)


def _of_arrays(arrays: Iterable[tuple[str, Array]], whole: Any = None) -> str:
    """A digest of named arrays, piece by piece; with ``whole`` all whole numbers are taken as this wide."""
    made = hashlib.sha256()
    for name, array in sorted(arrays, key=lambda one: one[0]):
        kind = np.dtype(whole) if whole is not None and array.dtype.kind in "iu" else array.dtype
        made.update(f"{name} {kind.str} {array.shape}\n".encode())
        flat = array.reshape(-1)
        for start in range(0, len(flat), AT_ONCE):
            made.update(np.ascontiguousarray(flat[start : start + AT_ONCE], kind).tobytes())
    return made.hexdigest()


def _of_values(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=float).encode()).hexdigest()
