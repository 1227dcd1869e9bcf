"""A warp, and how many of them there are.

On a device a warp has 32 lanes that talk by ``shuffles``. In numba's simulator (``NUMBA_ENABLE_CUDASIM``), where a lane
is a Python thread and waiting for others is what takes the time, it has four that talk as ``simulated`` says, and a
block is one warp. All other code is the same for both.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numba import cuda

from topiarist.kernels import cache

if TYPE_CHECKING:
    from numba.cuda.cudadrv.devicearray import DeviceNDArray
    from numba.cuda.cudadrv.driver import Stream

try:  # the package numba-cuda has settings of its own
    from numba.cuda.core import config
except ImportError:
    from numba.core import config

cache.settle(config)
if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it by this name, which NumPy 2.5 has given up
    np.row_stack = np.vstack
warnings.filterwarnings("ignore", ".*Grid size .* under-utilization")  # a small array makes a small grid: that is fine

SIMULATED = bool(config.ENABLE_CUDASIM)
LANES = 4 if SIMULATED else 32
THREADS = 4 if SIMULATED else 128  # of a block: its warps leave together, so few
BLOCKS = 2 if SIMULATED else (1 << 31) - 1  # of a grid at most
ONE_ROUND = not SIMULATED  # a grid is as large as the work; where it is not, what is left is taken in further rounds
SUM_BLOCKS = 2 if SIMULATED else 1024  # of a sum: its order must not depend on anything else

if SIMULATED:
    from topiarist.kernels.cuda.simulated import spread, take, warp_max, warp_sum
else:
    from topiarist.kernels.cuda.shuffles import spread, take, warp_max, warp_sum

__all__ = [
    "LANES",
    "ONE_ROUND",
    "SIMULATED",
    "SUM_BLOCKS",
    "THREADS",
    "Gpu",
    "Kernel",
    "device",
    "kernel",
    "launch",
    "spread",
    "take",
    "warp_max",
    "warp_sum",
]  # fmt: skip

Gpu: TypeAlias = "DeviceNDArray"  # an array on a device, as numba has it
Kernel: TypeAlias = Any  # numba's decorators are typed as if nothing were ever compiled

kernel = cuda.jit(cache=True)
device = cuda.jit(device=True)


def launch(function: Kernel, stream: Stream | int, n_threads: int, *arguments: object, most: int = BLOCKS) -> None:
    """Start a kernel with a thread for each piece of work, or as many as there may be."""
    blocks = max(1, min(most, -(-n_threads // THREADS)))
    function[blocks, THREADS, stream](*arguments)
