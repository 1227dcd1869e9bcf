"""Given categories as a part of a collection: learned from labels, told of new documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.counts.validation import Csr

LEAST = 0.05  # probability of a label that is told where one document has one label


@dataclass(frozen=True)
class Categories:
    """A fitted categoriser: HPLC or PLC where documents have one label, PMM where they have several."""

    model: Any
    several: bool

    def told(self, counts: Csr) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
        """The labels of each document, and how sure they are: all that hold, or the likeliest one."""
        names = [str(label) for label in self.model.classes_]
        if self.several:
            chosen = np.asarray(_dense(self.model.predict(counts))) > 0
            return [(tuple(names[column] for column in np.flatnonzero(row)), ()) for row in chosen]
        rows = self.model.predict_proba(counts)
        best = rows.argmax(axis=1)
        return [((names[column],), (round(float(rows[row, column]), 4),)) for row, column in enumerate(best)]


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
