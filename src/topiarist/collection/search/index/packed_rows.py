"""P(class | document) in one byte per class: square roots, in steps of the largest root of the document.

Square roots have more steps for small shares, which are frequent, than shares. The shares of a document add up to one,
so that no scale is stored. A share of half the largest is exact to 0.5 %, a hundredth of it to 4 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.models.engine import load_search_kernels

STEPS = 255
PACKED_DTYPE = np.dtype(np.uint8)


def pack_rows(rows: Array) -> Array:
    """Return rows as one byte per class."""
    roots = np.sqrt(np.asarray(rows, np.float32))
    largest = roots.max(axis=1, keepdims=True, initial=0.0)
    steps: Array = np.rint(roots * (STEPS / np.where(largest > 0, largest, 1))).astype(PACKED_DTYPE)
    return steps


def unpack_rows(rows: Any) -> Floats:
    """Return packed shares in single precision; return other rows unchanged."""
    if rows.dtype != PACKED_DTYPE:
        return np.asarray(rows)
    unpacked: Floats = np.empty(rows.shape, np.float32)
    load_search_kernels().unpack_rows(np.ascontiguousarray(rows), unpacked)
    return unpacked
