"""Given categories as a part of a collection: learned from labels, told of new documents."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Csr
from topiarist.collection.judge.heldout_answers import HeldOut
from topiarist.collection.judge.label_paths import Headings, headings
from topiarist.collection.judge.predictions import Told
from topiarist.estimators.common import options
from topiarist.models.labels import label_shares

Array = np.ndarray[Any, Any]
BLOCK = 4_096  # documents that are dense at once


@dataclass(frozen=True)
class Categories:
    """A fitted categoriser: HPLC or PLC where documents have one label, PMM where they have several."""

    model: Any
    several: bool
    held: HeldOut | None = None  # None: learned before it was kept what held-out documents got
    known: tuple[Array, Told] | None = None  # rows of the collection as it was then, and what is told of them

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels, in the order of the model's classes."""
        return tuple(str(label) for label in self.model.classes_)

    @cached_property
    def headings(self) -> Headings:
        """What lies above the labels."""
        return headings(self.names)

    def told(self, counts: Csr) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
        """The labels of each document, and how sure they are: all that hold, or the likeliest one.

        A document without a known word has none: the most frequent label would say nothing about it.
        """
        empty = np.diff(counts.indptr) == 0
        if self.several:
            chosen = self._chosen(counts) & ~empty[:, None]
            return [(tuple(self.names[column] for column in np.flatnonzero(row)), ()) for row in chosen]
        rows = self.model.predict_proba(counts)
        best = [((self.names[column],), (round(float(rows[row, column]), 4),))
                for row, column in enumerate(rows.argmax(axis=1))]  # fmt: skip
        return [((), ()) if nothing else one for one, nothing in zip(best, empty.tolist(), strict=True)]

    def _chosen(self, counts: Csr) -> Array:
        """Which of several labels hold; of documents without a known word nothing is said beside."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found: Array = np.asarray(_dense(self.model.predict(counts))) > 0
        return found

    def shares(self, counts: Csr) -> Array:
        """P(label | document), or the share of each label in a document that may have several."""
        if not self.several:
            found: Array = self.model.predict_proba(counts)
            return found
        with options.running(self.model) as engine:
            return label_shares.shares(engine, self.model.word_given_label_.T, counts)

    def read(self, counts: Csr, names: Sequence[str] | None = None) -> Told:
        """What the model tells of documents, a block of them after the other; labels are numbers of its own ``names``.

        ``names``: those of a model that knows more labels, in whose numbers and headings to tell it.
        """
        known = tuple(names or self.names)
        place = {name: number for number, name in enumerate(known)}
        columns = np.array([place[name] for name in self.names], np.int64)
        above = self.headings if known == self.names else headings(known)
        starts = range(0, max(counts.shape[0], 1), BLOCK)
        parts = [self._block(counts[start : start + BLOCK], start, columns, above) for start in starts]
        numbers = [np.concatenate([part[at] for part in parts]) for at in range(len(parts[0]))]
        best = None if self.several else (numbers[4], numbers[5])
        return Told(numbers[0], numbers[1], numbers[2], numbers[3], best)

    def _block(self, counts: Csr, start: int, columns: Array, above: Headings) -> tuple[Array, ...]:
        n = counts.shape[0]
        shares = self.shares(counts) if n else np.empty((0, len(columns)))
        if self.several:
            chosen = self._chosen(counts) if n else shares > 0  # without a known word as all others
            place, label = np.nonzero(chosen)
            found, threshold = shares[place, label], self.model.label_threshold_
            return place + start, columns[label], found, found if threshold is None else found / threshold[label]
        wide = np.zeros((n, above.groups.shape[1]))
        wide[:, columns] = shares
        groups, certainty = above.best(wide)
        return np.arange(n) + start, groups[:, -1], certainty[:, -1], certainty[:, -1], groups, certainty


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
