"""Replacements of ``shuffles`` for numba's simulator, through memory that a block shares.

These are plain functions. A device function of the simulator swaps names in its module while it runs, and one lane can
swap them back while another one still runs.
"""

from __future__ import annotations

import numpy as np
from numba.cuda.simulator.kernel import _get_kernel_context

LANES = 4


def _share_values(values):
    """Return the values of all lanes, a row for each lane."""
    block = _get_kernel_context()
    cells = block.__dict__.setdefault("cells", np.zeros((LANES, LANES)))
    block.syncthreads()
    cells[block.threadIdx.x, : len(values)] = values
    block.syncthreads()
    return cells


def spread(x, lane):
    return x.dtype.type(_share_values(x)[:, lane // (LANES // len(x))].sum())


def take(x, lane):
    return type(x)(_share_values([x])[lane, 0])


def warp_sum(x):
    return type(x)(_share_values([x])[:, 0].sum())


def warp_max(x):
    return type(x)(_share_values([x])[:, 0].max())
