"""P(class | document) of documents in files during growth: stored rows and pending changes of classes.

A model whose rows are parameters of their own (HPLSA) carries them from one tree to the next. Splits, joins and
sorting change the rows of the sampled documents in memory. All other rows follow block by block, in one pass before
they are needed again: every change only redistributes a document's shares among classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Array

Change = Callable[[Array], Array]  # maps shares (rows, old classes) to (rows, new classes)


@dataclass(frozen=True)
class StoredRows:
    """Rows of all documents as EM left them, with the class changes since then."""

    files: tuple[Any, ...]  # of each block: a handle, or an array from a checkpoint
    class_changes: Array  # (old classes, new classes): fraction of each share that moves

    @classmethod
    def without_changes(cls, files: tuple[Any, ...], n_classes: int) -> StoredRows:
        """Return stored rows without pending class changes."""
        return cls(files, np.eye(n_classes))

    def apply(self, change: Change) -> StoredRows:
        """Return the rows with one more pending change of classes."""
        return replace(self, class_changes=change(self.class_changes))


@dataclass(frozen=True)
class ApplyClassChanges:
    """Picklable function that applies class changes to the rows of a block."""

    class_changes: Array

    def __call__(self, _: None, local_data: tuple[Array, Array, Array]) -> tuple[float, Array]:
        """Return 0 and the rows: known ones of sampled documents, redistributed shares of others.

        A document whose classes were all removed gets equal shares.
        """
        drawn_shares, drawn_rows, old_rows = local_data
        rows = np.zeros((len(old_rows), self.class_changes.shape[1]), old_rows.dtype)
        for old, new in zip(*map(np.ndarray.tolist, np.nonzero(self.class_changes)), strict=True):
            rows[:, new] += old_rows[:, old] * old_rows.dtype.type(self.class_changes[old, new])
        total = rows.sum(axis=1, keepdims=True, dtype=np.float64)
        rows /= np.where(total > 0, total, 1.0).astype(rows.dtype)
        rows[total[:, 0] <= 0] = 1.0 / rows.shape[1]
        rows[drawn_rows] = drawn_shares
        return 0.0, rows
