"""How every compiled kernel is compiled: no lock, kept on disk, sums may be reordered and fused."""

from __future__ import annotations

import numba

from topiarist.kernels import cache

cache.settle()

FASTMATH = {"reassoc", "contract", "arcp"}  # NaN and infinity keep their meaning, as the guards need
AHEAD = 16  # non-zeros: how far ahead rows are asked for

jit = numba.njit(nogil=True, cache=True, fastmath=FASTMATH)
inline = numba.njit(nogil=True, cache=True, fastmath=FASTMATH, inline="always")
