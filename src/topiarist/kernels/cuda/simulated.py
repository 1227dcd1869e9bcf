"""The words of ``shuffles`` for numba's simulator, which has none: said through memory that a block shares.

These are plain functions. A device function of the simulator swaps names in its module while it runs, and one lane may
swap them back while another is still at work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cuda.simulator.kernel import _get_kernel_context

LANES = 4


def _told(values: Any) -> Any:
    """What each lane has to say, a row for each."""
    block = _get_kernel_context()  # type: ignore[no-untyped-call]
    cells = block.__dict__.setdefault("cells", np.zeros((LANES, LANES)))
    block.syncthreads()
    cells[block.threadIdx.x, : len(values)] = values
    block.syncthreads()
    return cells


def spread(x: Any, lane: int) -> Any:
    """See ``shuffles.spread``."""
    return x.dtype.type(_told(x)[:, lane // (LANES // len(x))].sum())


def take(x: Any, lane: int) -> Any:
    """See ``shuffles.take``."""
    return type(x)(_told([x])[lane, 0])


def warp_sum(x: Any) -> Any:
    """See ``shuffles.warp_sum``."""
    return type(x)(_told([x])[:, 0].sum())


def warp_max(x: Any) -> Any:
    """See ``shuffles.warp_max``."""
    return type(x)(_told([x])[:, 0].max())
