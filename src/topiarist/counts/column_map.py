"""Map of columns of the counts: each column is kept, added to another word's column, or ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topiarist.arrays import Bools, Csr, Ints
from topiarist.counts.pruning import move_columns
from topiarist.counts.scratch import IN_MEMORY, ScratchSpace
from topiarist.counts.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """Target column of each column; the number of columns does not change, and remapped columns become empty."""

    target: Ints  # of each column, −1 for none

    @classmethod
    def of(cls, vocabulary: Vocabulary, ignored: Iterable[str], merged_spellings: Mapping[str, str]) -> ColumnMap:
        """Return the map of ignored words and of merged spellings; unknown words have no effect."""
        target = np.arange(len(vocabulary))
        for spelling, word in merged_spellings.items():
            column, other = vocabulary.column(spelling), vocabulary.column(word)
            if column is not None and other is not None:
                target[column] = other
        for word in ignored:
            column = vocabulary.column(word)
            if column is not None:
                target[target == column] = -1
        return cls(target)

    @cached_property
    def is_remapped(self) -> Bools:
        """Mask of the columns that are ignored or added to another column."""
        is_remapped: Bools = self.target != np.arange(len(self.target))
        return is_remapped

    @property
    def is_identity(self) -> bool:
        """Whether no column is remapped."""
        return not self.is_remapped.any()

    def column(self, column: int | None) -> int | None:
        """Return the target of a column; None for an ignored one."""
        target = -1 if column is None else int(self.target[column])
        return target if target >= 0 else None

    def apply(self, counts: Csr, scratch: ScratchSpace = IN_MEMORY) -> Csr:
        """Return the counts with remapped columns; the same object if no column is remapped."""
        if self.is_identity:
            return counts
        return move_columns(counts, self.target.astype(np.int32), counts.shape[1], scratch, meeting=True)


def without_columns(counts: Csr, columns: Ints) -> Csr:
    """Return the counts with zeros in some columns; the number of columns stays."""
    if not len(columns):
        return counts
    target = np.arange(counts.shape[1])
    target[columns] = -1
    return ColumnMap(target).apply(counts)
