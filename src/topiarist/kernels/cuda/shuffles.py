"""Sums and exchanges between the lanes of a warp by shuffles, without memory or synchronisation."""

from __future__ import annotations

from numba import cuda

FULL_WARP_MASK = 0xFFFFFFFF

device = cuda.jit(device=True)


@device
def exchange_halves(a, b, lane, offset):
    """Add values of opposite lanes: half of the lanes continue with ``a``, half with ``b``."""
    upper = lane & offset
    own_value = b if upper else a
    sent_value = a if upper else b
    return own_value + cuda.shfl_xor_sync(FULL_WARP_MASK, sent_value, offset)


@device
def sum_lanes(x, first):
    """Return the sum over the lanes that are ``first``, half of it, … or 1 apart."""
    if first >= 16:
        x += cuda.shfl_xor_sync(FULL_WARP_MASK, x, 16)
    if first >= 8:
        x += cuda.shfl_xor_sync(FULL_WARP_MASK, x, 8)
    if first >= 4:
        x += cuda.shfl_xor_sync(FULL_WARP_MASK, x, 4)
    x += cuda.shfl_xor_sync(FULL_WARP_MASK, x, 2)
    x += cuda.shfl_xor_sync(FULL_WARP_MASK, x, 1)
    return x


@device
def spread(x, lane):
    """Return the sums over the warp of the 1, 2, 4 or 8 values of each lane: lane *l* gets the sum of one value.

    ``l // (32 // len(x))`` is the number of that value. Eight sums take nine shuffles, not forty.
    """
    if len(x) == 8:
        a, b = exchange_halves(x[0], x[4], lane, 16), exchange_halves(x[1], x[5], lane, 16)
        c, d = exchange_halves(x[2], x[6], lane, 16), exchange_halves(x[3], x[7], lane, 16)
        a, b = exchange_halves(a, c, lane, 8), exchange_halves(b, d, lane, 8)
        return sum_lanes(exchange_halves(a, b, lane, 4), 2)
    if len(x) == 4:
        a, b = exchange_halves(x[0], x[2], lane, 16), exchange_halves(x[1], x[3], lane, 16)
        return sum_lanes(exchange_halves(a, b, lane, 8), 4)
    if len(x) == 2:
        return sum_lanes(exchange_halves(x[0], x[1], lane, 16), 8)
    return sum_lanes(x[0], 16)


@device
def take(x, lane):
    """Return the value of another lane."""
    return cuda.shfl_sync(FULL_WARP_MASK, x, lane)


@device
def warp_sum(x):
    """Return the sum over the warp to every lane."""
    return sum_lanes(x, 16)


@device
def warp_max(x):
    """Return the maximum over the warp to every lane."""
    for offset in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(FULL_WARP_MASK, x, offset)
        x = other if other > x else x
    return x
