"""Which column of the counts each column counts for: itself, that of a word it is one with, or none at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topiarist.arrays import Bools, Csr, Ints
from topiarist.counts.pruning import moved
from topiarist.counts.room import IN_MEMORY, Room
from topiarist.counts.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """The columns stay as many as they are: what is ignored, or counts for another word, is a column of nothing."""

    target: Ints  # of each column, −1 for none

    @classmethod
    def of(cls, vocabulary: Vocabulary, ignored: Iterable[str], united: Mapping[str, str]) -> ColumnMap:
        """The map of words that are ignored, and of spellings that count for another; unknown words have no part."""
        target = np.arange(len(vocabulary))
        for spelling, word in united.items():
            column, other = vocabulary.column(spelling), vocabulary.column(word)
            if column is not None and other is not None:
                target[column] = other
        for word in ignored:
            column = vocabulary.column(word)
            if column is not None:
                target[target == column] = -1
        return cls(target)

    @cached_property
    def moved(self) -> Bools:
        """The columns that do not count for themselves."""
        found: Bools = self.target != np.arange(len(self.target))
        return found

    @property
    def plain(self) -> bool:
        """Whether every column counts for itself."""
        return not self.moved.any()

    def column(self, column: int | None) -> int | None:
        """The column that one counts for; None for none."""
        found = -1 if column is None else int(self.target[column])
        return found if found >= 0 else None

    def applied(self, counts: Csr, room: Room = IN_MEMORY) -> Csr:
        """The counts with every column where it counts; the same object if nothing is changed."""
        if self.plain:
            return counts
        return moved(counts, self.target.astype(np.int32), counts.shape[1], room, meeting=True)


def without_columns(counts: Csr, columns: Ints) -> Csr:
    """The counts with nothing in some columns."""
    if not len(columns):
        return counts
    target = np.arange(counts.shape[1])
    target[columns] = -1
    return ColumnMap(target).applied(counts)
