"""Size of a warp and of a grid, and the operations of a warp.

On a device a warp has 32 lanes that exchange values by ``shuffles``. In numba's simulator (``NUMBA_ENABLE_CUDASIM``) a
lane is a Python thread and synchronisation dominates the time. There a warp has four lanes, uses ``simulated``, and a
block is one warp. All other code is the same.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numba import cuda

from topiarist.kernels import cache

if TYPE_CHECKING:
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

try:  # the package numba-cuda has its own settings
    from numba.cuda.core import config
except ImportError:
    from numba.core import config

cache.configure_cache(config)
if not hasattr(np, "row_stack"):  # numba-cuda 0.30 uses this name, which NumPy 2.5 removed
    np.row_stack = np.vstack
warnings.filterwarnings("ignore", ".*Grid size .* under-utilization")  # small arrays have small grids

IS_SIMULATED = bool(config.ENABLE_CUDASIM)
LANES = 4 if IS_SIMULATED else 32
BLOCK_THREADS = 4 if IS_SIMULATED else 128  # per block; its warps end together, so few
MAX_BLOCKS = 2 if IS_SIMULATED else (1 << 31) - 1  # per grid
ONE_ROUND = not IS_SIMULATED  # a grid is as large as the work; in the simulator the rest takes further rounds
SUM_BLOCKS = 2 if IS_SIMULATED else 1024  # blocks of a sum; fixed, because it decides the order of addition

if IS_SIMULATED:
    from topiarist.kernels.cuda.simulated import spread, take, warp_max, warp_sum
else:
    from topiarist.kernels.cuda.shuffles import spread, take, warp_max, warp_sum

__all__ = [
    "BLOCK_THREADS",
    "IS_SIMULATED",
    "LANES",
    "MAX_BLOCKS",
    "ONE_ROUND",
    "SUM_BLOCKS",
    "Gpu",
    "Kernel",
    "device",
    "kernel",
    "spread",
    "take",
    "warp_max",
    "warp_sum",
]  # fmt: skip

Gpu: TypeAlias = "DeviceNDArray"  # numba's array on a device
Kernel: TypeAlias = Any  # numba's decorators have the types of the undecorated functions

kernel = cuda.jit(cache=True)
device = cuda.jit(device=True)
