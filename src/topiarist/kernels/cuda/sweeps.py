"""Sweeps over non-zeros: one warp for a segment of a row, with all components in registers.

The lanes of a warp share the components of the warp's row in words of up to 16 bytes, so that the warp reads a row of
the other factor in whole cache lines. A few non-zeros are taken at a time, so that their reads overlap with the sums of
their products over the lanes. Only a few, because other warps overlap as well, and registers limit the number of warps.
On an H200, words of 16 bytes and four non-zeros at a time took two thirds of the time of words of four bytes and eight
non-zeros. Documents and words use the same sweep with the factors exchanged.

A kernel is compiled for a ``Shape``: loops over the numbers of a lane are unrolled, and the arrays that they index stay
in registers. ``rows`` to ``places`` assign work to warps (see ``segments.Segments``). The sum of a segment that is not
a whole row is stored in ``partial`` until it is added to the others.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from topiarist.kernels import FOLDING_STRIDE, SMALLEST_MIXTURE
from topiarist.kernels.cuda.loads import MAX_WORD_BYTES, load_item, load_values, store_values
from topiarist.kernels.cuda.warp import LANES, ONE_ROUND, device, kernel, spread, take, warp_sum


@device
def overshoot(target, value):
    """Return a value beyond the target, at least half of it; see ``FOLDING_STRIDE``."""
    value_beyond = target + (FOLDING_STRIDE - 1.0) * (target - value)
    return value_beyond if value_beyond > target / 2.0 else target / 2.0


@cache
def make_folding_kernel(shape: Shape) -> Any:
    """(P5): compile the kernel that runs over-relaxed EM on each row in place until convergence."""
    words, wide, full, group = shape
    size, span = words * wide, LANES // group

    @kernel
    def sweep(indptr, indices, data, row_factor, column_factor, smoothing, inverse_temperature, max_steps, tolerance):
        """Fold in documents, one per warp: update the rows of ``row_factor`` in place."""
        lane = cuda.threadIdx.x & (LANES - 1)
        zero, smallest = row_factor.dtype.type(0), row_factor.dtype.type(SMALLEST_MIXTURE)
        row = cuda.local.array(size, row_factor.dtype)
        tempered_row = cuda.local.array(size, row_factor.dtype)
        total = cuda.local.array(size, row_factor.dtype)
        column_rows = cuda.local.array((group, size), row_factor.dtype)
        values = cuda.local.array(group, row_factor.dtype)
        d = cuda.grid(1) // LANES
        while d < row_factor.shape[0]:
            end = indptr[d + 1]
            load_row(row_factor, d, full, wide, lane, row)
            for step in range(max_steps):
                for i in range(size):
                    tempered_row[i] = row[i]
                    if inverse_temperature != 1.0 and tempered_row[i] > zero:
                        tempered_row[i] = tempered_row[i] ** row_factor.dtype.type(inverse_temperature)
                    total[i] = zero
                for t in range(indptr[d], end, group):
                    value = multiply_rows(
                        indices, t, end, column_factor, tempered_row, full, wide, lane, column_rows, values
                    )
                    at = t + lane // span
                    ratio = zero
                    if at < end and value > smallest:
                        ratio = load_item(data, at) / value
                    add_ratios(ratio, column_rows, values, total)
                norm = 0.0
                for i in range(size):
                    total[i] = tempered_row[i] * total[i]
                    if full or wide * (lane + LANES * (i // wide)) < row_factor.shape[1]:
                        total[i] += row_factor.dtype.type(smoothing)
                    norm += total[i]
                norm = warp_sum(norm)
                if norm == 0.0:  # an empty row, or only words the model cannot produce, stays unchanged
                    break
                change, extrapolated_norm = 0.0, 0.0
                for i in range(size):
                    target = total[i] / norm
                    change += abs(target - row[i])
                    extrapolated_norm += overshoot(target, row[i])
                change, extrapolated_norm = warp_sum(change), warp_sum(extrapolated_norm)
                is_last = change < tolerance or step == max_steps - 1
                for i in range(size):
                    target = total[i] / norm
                    row[i] = target if is_last else overshoot(target, row[i]) / extrapolated_norm
                if is_last:
                    break
            store_row(row_factor, d, full, wide, lane, row)
            if ONE_ROUND:
                break
            d += cuda.gridsize(1) // LANES

    return sweep


MAX_GROUP_BYTES = 64  # of the other factor, in the registers of a lane
MAX_GROUP = min(8, LANES)  # non-zeros at a time


class Shape(NamedTuple):
    """Distribution of a row over the lanes of a warp."""

    words: int  # of a lane
    wide: int  # numbers in a word
    full: bool  # all lanes have equally many words
    group: int  # non-zeros at a time

    @classmethod
    def for_array(cls, array: Any) -> Shape:
        """Return the shape for the rows of an array."""
        return cls.for_width(array.shape[1], array.dtype)

    @classmethod
    def for_width(cls, width: int, dtype: Any) -> Shape:
        """Return the shape for rows of ``width`` components: the widest words that divide a row and use all lanes."""
        itemsize = np.dtype(dtype).itemsize
        fitting = (w for w in (4, 2) if w * itemsize <= MAX_WORD_BYTES and width % w == 0 and width > w // 2 * LANES)
        wide = next(fitting, 1)
        words = max(1, -(-width // (wide * LANES)))
        group = MAX_GROUP
        while group > 1 and group * words * wide * itemsize > MAX_GROUP_BYTES:
            group //= 2
        return cls(words, wide, words * wide * LANES == width, group)


@device
def load_row(array, row, full, wide, lane, out):
    """Load this lane's components of a row, zero beyond its end; ``full`` skips the check."""
    for word in range(len(out) // wide):
        k = wide * (lane + LANES * word)
        if full or k < array.shape[1]:
            load_values(array, row, k, wide, out, wide * word)
        else:
            for part in range(wide):
                out[wide * word + part] = 0


@device
def store_row(array, row, full, wide, lane, values):
    """Write this lane's components of ``values`` to a row; ``full`` skips the bounds check.

    ``wide`` adjacent numbers are one memory access.
    """
    for word in range(len(values) // wide):
        k = wide * (lane + LANES * word)
        if full or k < array.shape[1]:
            store_values(array, row, k, wide, values, wide * word)


@device
def multiply_rows(indices, begin, end, column_factor, row, full, wide, lane, column_rows, values):
    """Multiply a row with the next ``column_rows``, which are loaded; return the product of this lane."""
    left = np.int32(end - begin)
    for u in range(len(values)):
        column_row = column_rows[u]
        load_row(column_factor, load_item(indices, begin + (u if u < left else 0)), full, wide, lane, column_row)
        value = row.dtype.type(0)
        for i in range(len(row)):
            value += row[i] * column_row[i]
        values[u] = value
    return spread(values, lane)


@device
def add_ratios(ratio, column_rows, values, total):
    """Add ``column_rows`` times the ratios of the lanes to ``total``; the ratios are left in ``values``."""
    for u in range(len(values)):
        values[u] = take(ratio, u * (LANES // len(values)))
    for i in range(len(total)):
        part = total.dtype.type(0)
        for u in range(len(values)):
            part += values[u] * column_rows[u, i]
        total[i] += part


@cache
def make_counting_kernel(shape: Shape, counts: bool) -> Any:
    """(P2), (P3): compile the kernel ``out[i] = row_factor[i] ∘ Σ_j r(i,j) column_factor[j]``.

    r is n / mixture, and the mixture (P1) is row_factor[i]·column_factor[j]. Mixtures are stored if ``mixture`` has
    space. Without ``counts`` they are all that is computed.
    """
    words, wide, full, group = shape
    size, span = words * wide, LANES // group

    @kernel
    def sweep(rows, begins, ends, places, indices, data, row_factor, column_factor, out, partial, mixture):
        """Write the expected counts of row segments, one per warp, and optionally the mixtures."""
        lane = cuda.threadIdx.x & (LANES - 1)
        zero, smallest = row_factor.dtype.type(0), row_factor.dtype.type(SMALLEST_MIXTURE)
        row = cuda.local.array(size, row_factor.dtype)
        total = cuda.local.array(size, row_factor.dtype)
        column_rows = cuda.local.array((group, size), row_factor.dtype)
        values = cuda.local.array(group, row_factor.dtype)
        s = cuda.grid(1) // LANES
        while s < rows.size:
            d, end, place = rows[s], ends[s], places[s]
            load_row(row_factor, d, full, wide, lane, row)
            for i in range(size):
                total[i] = zero
            for t in range(begins[s], end, group):
                value = multiply_rows(indices, t, end, column_factor, row, full, wide, lane, column_rows, values)
                at = t + lane // span  # the non-zero of this lane
                if mixture.size > 0 and at < end and lane % span == 0:
                    mixture[at] = value if value > smallest else smallest
                if counts:
                    ratio = zero
                    if at < end and value > smallest:
                        ratio = load_item(data, at) / value
                    add_ratios(ratio, column_rows, values, total)
            if counts and place < 0:
                for i in range(size):
                    total[i] *= row[i]
                store_row(out, d, full, wide, lane, total)
            elif counts:
                store_row(partial, place, full, wide, lane, total)
            if ONE_ROUND:
                break
            s += cuda.gridsize(1) // LANES

    return sweep


@cache
def make_product_kernel(shape: Shape) -> Any:
    """Compile ``out[i] = Σ_j n(i,j) other[j]``, in double precision (the type of ``partial``)."""
    words, wide, full, group = shape
    size = words * wide

    @kernel
    def sweep(rows, begins, ends, places, indices, data, column_factor, out, partial):
        """Write the products of sparse row segments with ``column_factor``, one per warp."""
        lane = cuda.threadIdx.x & (LANES - 1)
        zero = partial.dtype.type(0)
        total = cuda.local.array(size, partial.dtype)
        column_rows = cuda.local.array((group, size), column_factor.dtype)
        s = cuda.grid(1) // LANES
        while s < rows.size:
            d, end, place = rows[s], ends[s], places[s]
            for i in range(size):
                total[i] = zero
            for t in range(begins[s], end, group):
                left = np.int32(end - t)
                for u in range(group):
                    load_row(
                        column_factor, load_item(indices, t + (u if u < left else 0)), full, wide, lane, column_rows[u]
                    )
                for u in range(group):
                    if u < left:
                        n = partial.dtype.type(load_item(data, t + u))
                        for i in range(size):
                            total[i] += n * column_rows[u, i]
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
def combine(long_rows, long_ends, partial, row_factor, out):
    """Add the sums of rows in several segments in double precision, times the row's factor if there is one."""
    width = out.shape[1]
    for n in range(cuda.grid(1), long_rows.size * width, cuda.gridsize(1)):
        j, k = n // width, n % width
        total = 0.0
        for place in range(long_ends[j], long_ends[j + 1]):
            total += partial[place, k]
        if row_factor.size > 0:
            total *= row_factor[long_rows[j], k]
        out[long_rows[j], k] = total
