"""How the lanes of a warp add up and hand round what they have, by shuffles: no memory, no waiting."""

from __future__ import annotations

from numba import cuda

EVERYONE = 0xFFFFFFFF

device = cuda.jit(device=True)


@device
def exchange(a, b, lane, offset):
    """Half of the lanes go on with ``a``, half with ``b``: each adds what its opposite has of the same."""
    upper = lane & offset
    kept = b if upper else a
    given = a if upper else b
    return kept + cuda.shfl_xor_sync(EVERYONE, given, offset)


@device
def fold(x, first):
    """The sum over the lanes that are ``first``, half of it, … or 1 away from each other."""
    if first >= 16:
        x += cuda.shfl_xor_sync(EVERYONE, x, 16)
    if first >= 8:
        x += cuda.shfl_xor_sync(EVERYONE, x, 8)
    if first >= 4:
        x += cuda.shfl_xor_sync(EVERYONE, x, 4)
    x += cuda.shfl_xor_sync(EVERYONE, x, 2)
    x += cuda.shfl_xor_sync(EVERYONE, x, 1)
    return x


@device
def spread(x, lane):
    """The sums over the warp of the 1, 2, 4 or 8 values that each lane has: lane *l* gets that of its share.

    ``l // (32 // len(x))`` is the number of its value. Nine shuffles for eight sums, not forty.
    """
    if len(x) == 8:
        a, b = exchange(x[0], x[4], lane, 16), exchange(x[1], x[5], lane, 16)
        c, d = exchange(x[2], x[6], lane, 16), exchange(x[3], x[7], lane, 16)
        a, b = exchange(a, c, lane, 8), exchange(b, d, lane, 8)
        return fold(exchange(a, b, lane, 4), 2)
    if len(x) == 4:
        a, b = exchange(x[0], x[2], lane, 16), exchange(x[1], x[3], lane, 16)
        return fold(exchange(a, b, lane, 8), 4)
    if len(x) == 2:
        return fold(exchange(x[0], x[1], lane, 16), 8)
    return fold(x[0], 16)


@device
def take(x, lane):
    """What another lane has."""
    return cuda.shfl_sync(EVERYONE, x, lane)


@device
def warp_sum(x):
    """The sum over the warp, for every lane."""
    return fold(x, 16)


@device
def warp_max(x):
    """The largest of the warp, for every lane."""
    for offset in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(EVERYONE, x, offset)
        x = other if other > x else x
    return x
