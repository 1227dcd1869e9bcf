"""The sweeps over non-zeros: one warp for a segment of a row, every component in a register.

The lanes of a warp share the components of the row that the warp works for, in words of up to 16 bytes, so that a row
of the other factor is read by the warp in whole lines. A few non-zeros are taken at a time, so that their reads and the
sums of their products over the lanes overlap; a few only, because other warps overlap as well, and registers decide how
many there are: on an H200 words of 16 bytes and four non-zeros at a time took two thirds of the time that words of four
bytes and eight non-zeros took. By documents or by words, it is the same sweep with the factors exchanged.

A kernel is made for a ``Shape``: loops over a lane's numbers are then unrolled, and what they index lies in registers.
``rows`` to ``places`` say what a warp works on (see ``segments.Segments``): where a segment is not a whole row, its sum
waits in ``partial`` to be added to the others'.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.cuda.loads import BYTES, item, read, write
from topiarist.kernels.cuda.warp import LANES, ONE_ROUND, device, kernel, spread, take

HELD = 64  # bytes of the other factor that a lane holds at a time
MOST = min(8, LANES)  # non-zeros at a time


class Shape(NamedTuple):
    """How the lanes share a row."""

    words: int  # of a lane
    wide: int  # numbers in a word
    full: bool  # no lane has fewer words than another
    group: int  # non-zeros at a time

    @classmethod
    def of(cls, width: int, dtype: Any) -> Shape:
        """For rows of so many components: the widest words that divide a row and leave no lane without one."""
        itemsize = np.dtype(dtype).itemsize
        fitting = (w for w in (4, 2) if w * itemsize <= BYTES and width % w == 0 and width > w // 2 * LANES)
        wide = next(fitting, 1)
        words = max(1, -(-width // (wide * LANES)))
        group = MOST
        while group > 1 and group * words * wide * itemsize > HELD:
            group //= 2
        return cls(words, wide, words * wide * LANES == width, group)


@device
def load(array, row, full, wide, lane, out):
    """This lane's components of a row."""
    for word in range(len(out) // wide):
        k = wide * (lane + LANES * word)
        if full or k < array.shape[1]:
            read(array, row, k, wide, out, wide * word)
        else:
            for part in range(wide):
                out[wide * word + part] = 0


@device
def store(array, row, full, wide, lane, values):
    """This lane's components, to a row."""
    for word in range(len(values) // wide):
        k = wide * (lane + LANES * word)
        if full or k < array.shape[1]:
            write(array, row, k, wide, values, wide * word)


@device
def meet(indices, begin, end, other, here, full, wide, lane, held, values):
    """The products of a row with those of the next few non-zeros, kept in ``held``: the one this lane answers for."""
    left = np.int32(end - begin)
    for u in range(len(values)):
        mine = held[u]
        load(other, item(indices, begin + (u if u < left else 0)), full, wide, lane, mine)
        value = here.dtype.type(0)
        for i in range(len(here)):
            value += here[i] * mine[i]
        values[u] = value
    return spread(values, lane)


@device
def gather(ratio, held, values, total):
    """Add to ``total`` the rows in ``held``, times the ratios that the lanes answer for (left in ``values``)."""
    for u in range(len(values)):
        values[u] = take(ratio, u * (LANES // len(values)))
    for i in range(len(total)):
        part = total.dtype.type(0)
        for u in range(len(values)):
            part += values[u] * held[u, i]
        total[i] += part


@cache
def counting(shape: Shape, scatter: bool) -> Any:
    """(P2), (P3): ``out[i] = own[i] ∘ Σ_j r(i,j) other[j]``, r = n / (own[i]·other[j]).

    The mixtures own[i]·other[j] are kept if there is room for them. With ``scatter`` r own[i] is added to ``sums[j]``
    as well, in the order in which the device comes to it.
    """
    words, wide, full, group = shape
    size, span = words * wide, LANES // group

    @kernel
    def sweep(rows, begins, ends, places, indices, data, own, other, out, partial, mixture, sums):
        lane = cuda.threadIdx.x & (LANES - 1)
        zero, smallest = own.dtype.type(0), own.dtype.type(SMALLEST_MIXTURE)
        here = cuda.local.array(size, own.dtype)
        total = cuda.local.array(size, own.dtype)
        held = cuda.local.array((group, size), own.dtype)
        values = cuda.local.array(group, own.dtype)
        s = cuda.grid(1) // LANES
        while s < rows.size:
            d, end, place = rows[s], ends[s], places[s]
            load(own, d, full, wide, lane, here)
            for i in range(size):
                total[i] = zero
            for t in range(begins[s], end, group):
                value = meet(indices, t, end, other, here, full, wide, lane, held, values)
                at = t + lane // span  # the non-zero that this lane answers for
                ratio = zero
                if at < end:
                    if value > smallest:
                        ratio = item(data, at) / value
                    if mixture.size > 0 and lane % span == 0:
                        mixture[at] = value if value > smallest else smallest
                gather(ratio, held, values, total)
                if scatter:
                    for u in range(group):
                        if t + u < end:
                            w = item(indices, t + u)
                            for i in range(size):
                                k = wide * (lane + LANES * (i // wide)) + i % wide
                                if full or k < own.shape[1]:
                                    cuda.atomic.add(sums, (w, k), values[u] * here[i])
            if place < 0:
                for i in range(size):
                    total[i] *= here[i]
                store(out, d, full, wide, lane, total)
            else:
                store(partial, place, full, wide, lane, total)
            if ONE_ROUND:
                break
            s += cuda.gridsize(1) // LANES

    return sweep


@cache
def mixing(shape: Shape) -> Any:
    """(P1): ``mixture[t] = own[i] · other[j]``, zero where it is zero."""
    words, wide, full, group = shape
    size, span = words * wide, LANES // group

    @kernel
    def sweep(rows, begins, ends, indices, own, other, mixture):
        lane = cuda.threadIdx.x & (LANES - 1)
        here = cuda.local.array(size, own.dtype)
        held = cuda.local.array((group, size), own.dtype)
        values = cuda.local.array(group, own.dtype)
        s = cuda.grid(1) // LANES
        while s < rows.size:
            end = ends[s]
            load(own, rows[s], full, wide, lane, here)
            for t in range(begins[s], end, group):
                value = meet(indices, t, end, other, here, full, wide, lane, held, values)
                at = t + lane // span
                if at < end and lane % span == 0:
                    mixture[at] = value
            if ONE_ROUND:
                break
            s += cuda.gridsize(1) // LANES

    return sweep


@cache
def adding(shape: Shape) -> Any:
    """``out[i] = Σ_j n(i,j) other[j]``, added in double precision (the type of ``partial``)."""
    words, wide, full, group = shape
    size = words * wide

    @kernel
    def sweep(rows, begins, ends, places, indices, data, other, out, partial):
        lane = cuda.threadIdx.x & (LANES - 1)
        zero = partial.dtype.type(0)
        total = cuda.local.array(size, partial.dtype)
        held = cuda.local.array((group, size), other.dtype)
        s = cuda.grid(1) // LANES
        while s < rows.size:
            d, end, place = rows[s], ends[s], places[s]
            for i in range(size):
                total[i] = zero
            for t in range(begins[s], end, group):
                left = np.int32(end - t)
                for u in range(group):
                    load(other, item(indices, t + (u if u < left else 0)), full, wide, lane, held[u])
                for u in range(group):
                    if u < left:
                        n = partial.dtype.type(item(data, t + u))
                        for i in range(size):
                            total[i] += n * held[u, i]
            for i in range(size):
                k = wide * (lane + LANES * (i // wide)) + i % wide
                if full or k < out.shape[1]:
                    if place < 0:
                        out[d, k] = total[i]
                    else:
                        partial[place, k] = total[i]
            if ONE_ROUND:
                break
            s += cuda.gridsize(1) // LANES

    return sweep


@kernel
def combine(long_rows, long_ends, partial, out):
    """The sums of rows in several segments, added in their order, in double precision."""
    width = out.shape[1]
    for n in range(cuda.grid(1), long_rows.size * width, cuda.gridsize(1)):
        j, k = n // width, n % width
        total = 0.0
        for place in range(long_ends[j], long_ends[j + 1]):
            total += partial[place, k]
        out[long_rows[j], k] = total


@kernel
def combine_scaled(long_rows, long_ends, partial, own, out):
    """The same, times the row itself."""
    width = out.shape[1]
    for n in range(cuda.grid(1), long_rows.size * width, cuda.gridsize(1)):
        j, k = n // width, n % width
        total = 0.0
        for place in range(long_ends[j], long_ends[j + 1]):
            total += partial[place, k]
        out[long_rows[j], k] = own[long_rows[j], k] * total
