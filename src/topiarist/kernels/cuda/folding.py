"""Folding-in: the sweep of one document again and again, until its row stands still. It never leaves the registers."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import cuda

from topiarist.kernels import FOLDING_STRIDE, SMALLEST_MIXTURE
from topiarist.kernels.cuda.loads import item
from topiarist.kernels.cuda.sweeps import Shape, gather, load, meet, store
from topiarist.kernels.cuda.warp import LANES, ONE_ROUND, device, kernel, warp_sum


@device
def ahead_of(target, now):
    """See ``FOLDING_STRIDE``: past the target, but nowhere less than half of it."""
    ahead = target + (FOLDING_STRIDE - 1.0) * (target - now)
    return ahead if ahead > target / 2.0 else target / 2.0


@cache
def folding(shape: Shape) -> Any:
    """(P5): over-relaxed EM on each row of ``own`` in place, until it stands still; see ``reference.fold_in``."""
    words, wide, full, group = shape
    size, span = words * wide, LANES // group

    @kernel
    def sweep(indptr, indices, data, own, other, smoothing, inverse_temperature, max_steps, tolerance):
        lane = cuda.threadIdx.x & (LANES - 1)
        zero, smallest = own.dtype.type(0), own.dtype.type(SMALLEST_MIXTURE)
        now = cuda.local.array(size, own.dtype)
        here = cuda.local.array(size, own.dtype)
        total = cuda.local.array(size, own.dtype)
        held = cuda.local.array((group, size), own.dtype)
        values = cuda.local.array(group, own.dtype)
        d = cuda.grid(1) // LANES
        while d < own.shape[0]:
            end = indptr[d + 1]
            load(own, d, full, wide, lane, now)
            for step in range(max_steps):
                for i in range(size):
                    here[i] = now[i]
                    if inverse_temperature != 1.0 and here[i] > zero:
                        here[i] = here[i] ** own.dtype.type(inverse_temperature)
                    total[i] = zero
                for t in range(indptr[d], end, group):
                    value = meet(indices, t, end, other, here, full, wide, lane, held, values)
                    at = t + lane // span
                    ratio = zero
                    if at < end and value > smallest:
                        ratio = item(data, at) / value
                    gather(ratio, held, values, total)
                norm = 0.0
                for i in range(size):
                    total[i] = here[i] * total[i]
                    if full or wide * (lane + LANES * (i // wide)) < own.shape[1]:
                        total[i] += own.dtype.type(smoothing)
                    norm += total[i]
                norm = warp_sum(norm)
                if norm == 0.0:  # an empty row, or only words the model cannot produce: leave it as it is
                    break
                moved, reach = 0.0, 0.0
                for i in range(size):
                    target = total[i] / norm
                    moved += abs(target - now[i])
                    reach += ahead_of(target, now[i])
                moved, reach = warp_sum(moved), warp_sum(reach)
                last = moved < tolerance or step == max_steps - 1
                for i in range(size):
                    target = total[i] / norm
                    now[i] = target if last else ahead_of(target, now[i]) / reach
                if last:
                    break
            store(own, d, full, wide, lane, now)
            if ONE_ROUND:
                break
            d += cuda.gridsize(1) // LANES

    return sweep
