"""Folding in: the sweep of one document until its row converges, without leaving the registers."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import cuda

from topiarist.kernels import FOLDING_STRIDE, SMALLEST_MIXTURE
from topiarist.kernels.cuda.loads import load_item
from topiarist.kernels.cuda.sweeps import Shape, add_ratios, load_row, multiply_rows, store_row
from topiarist.kernels.cuda.warp import LANES, ONE_ROUND, device, kernel, warp_sum


@device
def overshoot(target, value):
    """Return a value beyond the target, at least half of it; see ``FOLDING_STRIDE``."""
    value_beyond = target + (FOLDING_STRIDE - 1.0) * (target - value)
    return value_beyond if value_beyond > target / 2.0 else target / 2.0


@cache
def make_folding_kernel(shape: Shape) -> Any:
    """(P5): compile over-relaxed EM on each row in place; see ``reference.fold_in``."""
    words, wide, full, group = shape
    size, span = words * wide, LANES // group

    @kernel
    def sweep(indptr, indices, data, row_factor, column_factor, smoothing, inverse_temperature, max_steps, tolerance):
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
