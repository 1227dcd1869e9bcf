"""P(class | document) of documents that are files, while a tree grows: rows in files, and what became of classes since.

A model whose rows are parameters of their own (HPLSA) hands them on from one tree to the next. The drawn documents are
in memory, and splitting, joining and ordering changes their rows there. Those of all others follow block by block, in
one pass before they are needed again: whatever happened to classes, a document's shares were handed on among them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Array

Change = Callable[[Array], Array]  # of shares, class by class: (anything, classes before) to (anything, classes after)


@dataclass(frozen=True)
class StoredRows:
    """The rows of all documents as EM left them, and the classes that there are now."""

    files: tuple[Any, ...]  # of each block: a handle, or an array that a checkpoint kept
    handed_on: Array  # (classes of the files, classes now): of a share in each, how much is now in each

    @classmethod
    def of(cls, files: tuple[Any, ...], n_classes: int) -> StoredRows:
        """Rows in files whose classes are as they are."""
        return cls(files, np.eye(n_classes))

    def changed(self, change: Change) -> StoredRows:
        """The same after a change of classes."""
        return replace(self, handed_on=change(self.handed_on))


@dataclass(frozen=True)
class HandOn:
    """The rows of a block after a change of classes, as a function that may travel."""

    handed_on: Array

    def __call__(self, _: None, own: tuple[Array, Array, Array]) -> tuple[float, Array]:
        """Nothing to add, and the rows: of drawn documents those that are known, of others their shares handed on.

        A document that had nothing but what is gone begins anew.
        """
        known, drawn, before = own
        rows = np.zeros((len(before), self.handed_on.shape[1]), before.dtype)
        for old, new in zip(*map(np.ndarray.tolist, np.nonzero(self.handed_on)), strict=True):
            rows[:, new] += before[:, old] * before.dtype.type(self.handed_on[old, new])
        total = rows.sum(axis=1, keepdims=True, dtype=np.float64)
        rows /= np.where(total > 0, total, 1.0).astype(rows.dtype)
        rows[total[:, 0] <= 0] = 1.0 / rows.shape[1]
        rows[drawn] = known
        return 0.0, rows
