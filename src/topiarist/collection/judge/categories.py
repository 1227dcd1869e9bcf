"""Given categories as a part of a collection: their headings, and what their model tells of documents.

Labels may be paths: a document that is not certain enough for a category goes under a heading. ``law/bail`` lies under
``law/``. Where no label has a slash, dots do: ``comp.graphics`` lies under ``comp.``, if other labels do too. A heading
holds at least two labels, fewer than the heading above it, and never all of them. What is told of the documents of a
collection is kept with the model, so that pages need not ask it again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection.judge.heldout_answers import HeldOut
from topiarist.counts.vectors import has_vector
from topiarist.errors import DamagedError
from topiarist.estimators.common import options
from topiarist.models.labels import choice
from topiarist.store.tensors import map_tensors, write_tensors

ARRAYS = "told.safetensors"
MOST = 20_000  # documents that are looked at; of more, some that are spread evenly
_NUMBERS = ("place", "label", "share", "score")
BLOCK = 4_096  # documents that are dense at once


@dataclass(frozen=True)
class Headings:
    """For each level, from the top: the names of its groups, and the group of every label.

    The last level is the labels themselves. A label that has fewer headings is a group of its own at the levels that it
    lacks. The name of a heading ends with its sign, so that it is not the name of a label.
    """

    names: tuple[tuple[str, ...], ...]
    groups: Array  # levels × labels

    @property
    def levels(self) -> int:
        """How many levels there are; 1 without a hierarchy."""
        return len(self.names)

    def best(self, shares: Array) -> tuple[Array, Array]:
        """The likeliest group of each document at each level, and its probability; documents × levels."""
        found, certainty = [], []
        for names, groups in zip(self.names, self.groups, strict=True):
            together = np.zeros((shares.shape[1], len(names)))
            together[np.arange(shares.shape[1]), groups] = 1.0
            joined = shares @ together
            found.append(joined.argmax(axis=1))
            certainty.append(joined.max(axis=1, initial=0.0))
        return np.stack(found, axis=1).astype(np.int32), np.stack(certainty, axis=1).astype(np.float32)


def headings(labels: Sequence[str]) -> Headings:
    """The headings of labels."""
    chains = _chains(labels, "/") if any("/" in label for label in labels) else _dotted(labels)
    depth = max((len(chain) for chain in chains), default=1)
    padded = [(*chain, *[chain[-1]] * (depth - len(chain))) for chain in chains]
    names, groups = [], []
    for level in range(depth):
        known = list(labels) if level == depth - 1 else sorted({chain[level] for chain in padded})
        place = {name: number for number, name in enumerate(known)}
        names.append(tuple(known))
        groups.append([place[chain[level]] for chain in padded])
    return Headings(tuple(names), np.array(groups, np.int64).reshape(depth, len(labels)))


def _dotted(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """By dots, if these are names such as comp.graphics and not sentences."""
    dotted = [label for label in labels if all(label.split(".")) and "." in label and not any(map(str.isspace, label))]
    return _chains(labels, ".") if 2 * len(dotted) >= len(labels) else [(label,) for label in labels]


def _chains(labels: Sequence[str], sign: str) -> list[tuple[str, ...]]:
    """The headings of each label from the top, and itself."""
    below: dict[str, int] = {}
    for label in labels:
        for prefix in _prefixes(label, sign):
            below[prefix] = below.get(prefix, 0) + 1
    found = []
    for label in labels:
        chain, size = [], len(labels)
        for prefix in _prefixes(label, sign):
            if 2 <= below[prefix] < size:
                chain.append(prefix)
                size = below[prefix]
        found.append((*chain, label))
    return found


def _prefixes(label: str, sign: str) -> list[str]:
    """``law/`` and ``law/bail/`` of law/bail: a label may be the heading of others."""
    parts = label.split(sign)
    return [sign.join(parts[: end + 1]) + sign for end in range(len(parts))]


@dataclass(frozen=True)
class Told:
    """The labels of some documents: the place of each document in the list, the label, and its share of it.

    Where documents have one label there is one for each, and the likeliest heading of every level.
    """

    place: Array
    label: Array
    share: Array
    score: Array  # how clearly the label was given: its share, by the share that it needs where these differ
    best: tuple[Array, Array] | None

    @property
    def plain(self) -> tuple[Array, Array, Array, Array]:
        """Places, labels, shares and scores."""
        return self.place, self.label, self.share, self.score


def spread(n_docs: int, most: int = MOST) -> Array:
    """The rows that are looked at."""
    return np.arange(0, n_docs, max(1, -(-n_docs // most)))


def write_told(folder: Path, rows: Array, told: Told) -> None:
    """Beside the model that tells it."""
    arrays = {"rows": rows, **dict(zip(_NUMBERS, told.plain, strict=True))}
    if told.best is not None:
        arrays |= {"groups": told.best[0], "certainty": told.best[1]}
    write_tensors(folder / ARRAYS, arrays)


def read_told(folder: Path) -> tuple[Array, Told] | None:
    """The rows, and what is told of them; None for a model that was learned before this was kept."""
    if not (folder / ARRAYS).exists():
        return None
    arrays = map_tensors(folder / ARRAYS)
    try:
        best = (arrays["groups"], arrays["certainty"]) if "groups" in arrays else None
        place, label, share, score = (arrays[name] for name in _NUMBERS)
        return arrays["rows"], Told(place, label, share, score, best)
    except KeyError as error:
        raise DamagedError(f"{folder / ARRAYS} is damaged: there is no {error}", hint="topiarist check") from error


@dataclass(frozen=True)
class Categories:
    """A fitted ``CategoryLearner``; of earlier versions HPLC, PLC, or PMM where documents have several labels."""

    model: Any
    several: bool
    held: HeldOut | None = None  # None: learned before it was kept what held-out documents got
    known: tuple[Array, Told] | None = None  # rows of the collection as it was then, and what is told of them

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels, in the order of the model's classes."""
        return tuple(str(label) for label in self.model.classes_)

    @property
    def reason(self) -> str:
        """How was learned, and why so; nothing of models that earlier versions learned."""
        return str(getattr(self.model, "reason_", ""))

    @cached_property
    def headings(self) -> Headings:
        """What lies above the labels."""
        return headings(self.names)

    @property
    def knows_vectors(self) -> bool:
        """Whether the vectors of documents have a say: not where the learner left them aside."""
        return bool(getattr(self.model, "uses_vectors_", False))

    def _asked(self, vectors: Floats | None) -> dict[str, Floats]:
        """What a model is asked with beside counts: vectors, where it knows them and there are any."""
        return {"vectors": vectors} if vectors is not None and self.knows_vectors else {}

    def told(self, counts: Csr, vectors: Floats | None = None) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
        """The labels of each document, and how sure they are: all that hold, or the likeliest one.

        A document without a known word (and without a vector, where those have a say) has none: the most frequent label
        would say nothing about it.
        """
        empty = np.diff(counts.indptr) == 0
        if vectors is not None and self.knows_vectors:
            empty &= ~has_vector(vectors)
        if self.several:
            chosen = self._chosen(counts, vectors) & ~empty[:, None]
            return [(tuple(self.names[column] for column in np.flatnonzero(row)), ()) for row in chosen]
        rows = self.model.predict_proba(counts, **self._asked(vectors))
        best = [((self.names[column],), (round(float(rows[row, column]), 4),))
                for row, column in enumerate(rows.argmax(axis=1))]  # fmt: skip
        return [((), ()) if nothing else one for one, nothing in zip(best, empty.tolist(), strict=True)]

    def _chosen(self, counts: Csr, vectors: Floats | None) -> Array:
        """Which of several labels hold; of documents without a known word nothing is said beside."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found: Array = np.asarray(_dense(self.model.predict(counts, **self._asked(vectors)))) > 0
        return found

    def _needs(self, n_docs: int, vectors: Floats | None) -> Floats | None:
        """What each of several labels needs of every document; None where nothing was found."""
        threshold = self.model.label_threshold_
        if threshold is None:
            return None
        if not hasattr(self.model, "label_needs"):  # PMM, which earlier versions learned
            return np.broadcast_to(threshold, (n_docs, len(threshold)))
        needs: Floats = self.model.label_needs(n_docs, **self._asked(vectors))
        return needs

    def shares(self, counts: Csr, vectors: Floats | None = None) -> Array:
        """P(label | document); by PMM, which earlier versions learned, the share of each of several labels."""
        if not self.several or hasattr(self.model, "predict_proba"):
            found: Array = self.model.predict_proba(counts, **self._asked(vectors))
            return found
        with options.running(self.model) as engine:
            return choice.shares(engine, self.model.word_given_label_.T, counts)

    def read(self, counts: Csr, names: Sequence[str] | None = None, vectors: Floats | None = None) -> Told:
        """What the model tells of documents, a block of them after the other; labels are numbers of its own ``names``.

        ``names``: those of a model that knows more labels, in whose numbers and headings to tell it. ``vectors``: those
        of the documents, if there are any.
        """
        known = tuple(names or self.names)
        place = {name: number for number, name in enumerate(known)}
        columns = np.array([place[name] for name in self.names], np.int64)
        above = self.headings if known == self.names else headings(known)
        starts = range(0, max(counts.shape[0], 1), BLOCK)
        parts = [
            self._block(
                counts[start : start + BLOCK],
                start,
                columns,
                above,
                None if vectors is None else vectors[start : start + BLOCK],
            )
            for start in starts
        ]
        numbers = [np.concatenate([part[at] for part in parts]) for at in range(len(parts[0]))]
        best = None if self.several else (numbers[4], numbers[5])
        return Told(numbers[0], numbers[1], numbers[2], numbers[3], best)

    def _block(
        self, counts: Csr, start: int, columns: Array, above: Headings, vectors: Floats | None
    ) -> tuple[Array, ...]:
        n = counts.shape[0]
        shares = self.shares(counts, vectors) if n else np.empty((0, len(columns)))
        if self.several:
            chosen = self._chosen(counts, vectors) if n else shares > 0  # without a known word as all others
            place, label = np.nonzero(chosen)
            found, needs = shares[place, label], self._needs(n, vectors)
            return place + start, columns[label], found, found if needs is None else found / needs[place, label]
        wide = np.zeros((n, above.groups.shape[1]))
        wide[:, columns] = shares
        groups, certainty = above.best(wide)
        return np.arange(n) + start, groups[:, -1], certainty[:, -1], certainty[:, -1], groups, certainty


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
