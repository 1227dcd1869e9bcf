"""P(class | document) in a byte for each class: roots of shares, in steps of the largest root of the document.

A root has more steps for small shares, which are many, than the share itself; a document's shares add up to one, so
nothing else is kept. A share that is half of the largest is read to half a percent, a hundredth of it to four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.models.engine import load_search_kernels

STEPS = 255
PACKED = np.dtype(np.uint8)


def packed(rows: Array) -> Array:
    """Rows in bytes; those that are so already as they are."""
    if rows.dtype == PACKED:
        return rows
    roots = np.sqrt(np.asarray(rows, np.float32))
    largest = roots.max(axis=1, keepdims=True, initial=0.0)
    steps: Array = np.rint(roots * (STEPS / np.where(largest > 0, largest, 1))).astype(PACKED)
    return steps


def opened(rows: Any) -> Floats:
    """Shares of some documents in single precision, from bytes; others as they are."""
    if rows.dtype != PACKED:
        return np.asarray(rows)
    found: Floats = np.empty(rows.shape, np.float32)
    load_search_kernels().open_rows(np.ascontiguousarray(rows), found)
    return found
