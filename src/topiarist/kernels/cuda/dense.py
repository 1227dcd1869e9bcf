"""Kernels over whole arrays: elementwise, or sums in which every warp adds its part in a fixed order.

Elementwise kernels see their arrays flat. A sum returns one number for each of a fixed number of warps, so that the
order of addition depends on the size of the arrays alone. The caller adds these numbers.
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.cuda.warp import LANES, kernel, warp_max, warp_sum


@kernel
def fill(out, value):
    """Compute ``out = value``."""
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = value


@kernel
def add(first, second, out):
    """Compute ``out = first + second``."""
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = first[n] + second[n]


@kernel
def power(array, exponent, out):
    """Compute ``out = array ** exponent``; zero for numbers that are not positive."""
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = array[n] ** out.dtype.type(exponent) if array[n] > 0 else out.dtype.type(0)


@kernel
def logarithms(array, out):
    """Compute ``out = log(array)``; smaller values count as ``SMALLEST_MIXTURE``."""
    smallest = out.dtype.type(SMALLEST_MIXTURE)
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = math.log(array[n] if array[n] > smallest else smallest)


@kernel
def extrapolate(new, old, factor, out):
    """Compute ``out = new + factor (new - old)``, at least half of ``new``; zeros stay zero."""
    half = out.dtype.type(0.5)
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        value, bound = new[n] + out.dtype.type(factor) * (new[n] - old[n]), half * new[n]
        out[n] = value if value > bound else bound


@kernel
def scale_columns(counts, smoothing, scale, uniform):
    """(P3), (P4): add the smoothing, multiply columns by ``scale`` and add ``uniform``, in place."""
    width = counts.shape[1]
    plus = counts.dtype.type(smoothing)
    for n in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        d, k = n // width, n % width
        counts[d, k] = (counts[d, k] + plus) * scale[k] + uniform[k]


@kernel
def add_outer(counts, rows, columns):
    """Compute ``counts += rows ⊗ columns``."""
    width = counts.shape[1]
    for n in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        d, k = n // width, n % width
        counts[d, k] += rows[d] * columns[k]


@kernel
def row_sums(counts, smoothing, size, sums):
    """Compute sums of rows over ``size`` columns at a time: ``sums`` is (rows, parts). One warp for a part."""
    lane, width, pieces = cuda.threadIdx.x & (LANES - 1), counts.shape[1], sums.shape[1]
    plus = counts.dtype.type(smoothing)
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        d, piece = n // pieces, n % pieces
        end = (piece + 1) * size
        end = end if end < width else width
        total = 0.0
        for k in range(piece * size + lane, end, LANES):
            total += counts[d, k] + plus
        total = warp_sum(total)
        if lane == 0:
            sums[d, piece] = total


@kernel
def scale_rows(counts, smoothing, size, sums):
    """(P3), (P4): add the smoothing and scale rows to sum one, in place, by partial ``sums``."""
    lane, width, pieces = cuda.threadIdx.x & (LANES - 1), counts.shape[1], sums.shape[1]
    plus = counts.dtype.type(smoothing)
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        d, piece = n // pieces, n % pieces
        total = 0.0
        for other in range(pieces):
            total += sums[d, other]
        has_mass = total > SMALLEST_MIXTURE
        scale = counts.dtype.type(1.0 / total if has_mass else 0.0)
        uniform = counts.dtype.type(0.0 if has_mass else 1.0 / width)
        end = (piece + 1) * size
        end = end if end < width else width
        for k in range(piece * size + lane, end, LANES):
            counts[d, k] = (counts[d, k] + plus) * scale + uniform


@kernel
def column_sums(counts, size, sums):
    """Compute sums of columns over ``size`` rows at a time: ``sums`` is (parts, columns). One thread for each."""
    width = counts.shape[1]
    for n in range(cuda.grid(1), sums.size, cuda.gridsize(1)):
        piece, k = n // width, n % width
        end = (piece + 1) * size
        end = end if end < counts.shape[0] else counts.shape[0]
        total = 0.0
        for d in range(piece * size, end):
            total += counts[d, k]
        sums[piece, k] = total


@kernel
def weighted_logs(weights, values, sums):
    """Compute Σ weights · log values, warp by warp; values count as at least 1e-30."""
    smallest = values.dtype.type(SMALLEST_MIXTURE)
    total = 0.0
    for n in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        total += np.float64(weights[n]) * np.float64(math.log(values[n] if values[n] > smallest else smallest))
    total = warp_sum(total)
    if cuda.threadIdx.x & (LANES - 1) == 0:
        sums[cuda.grid(1) // LANES] = total


@kernel
def sums_of_logs(array, sums):
    """(P4): compute Σ log, warp by warp."""
    total = 0.0
    for n in range(cuda.grid(1), array.size, cuda.gridsize(1)):
        total += math.log(np.float64(array[n])) if array[n] > 0 else -math.inf
    total = warp_sum(total)
    if cuda.threadIdx.x & (LANES - 1) == 0:
        sums[cuda.grid(1) // LANES] = total


@kernel
def row_logs(array, weights, floor, size, sums):
    """Compute Σ_k weights[k] log array[d, k] over ``size`` columns at a time, in the parts of ``row_sums``."""
    lane, width, pieces = cuda.threadIdx.x & (LANES - 1), array.shape[1], sums.shape[1]
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        d, piece = n // pieces, n % pieces
        end = (piece + 1) * size
        end = end if end < width else width
        total = 0.0
        for k in range(piece * size + lane, end, LANES):
            if weights[k] > 0.0:
                value = np.float64(array[d, k])
                total += weights[k] * math.log(value if value > floor else floor)
        total = warp_sum(total)
        if lane == 0:
            sums[d, piece] = total


@kernel
def posteriors(scores, prior, inverse_temperature, evidence):
    """(C1): convert rows of scores to probabilities in place; write log totals to ``evidence``."""
    lane, width = cuda.threadIdx.x & (LANES - 1), scores.shape[1]
    for d in range(cuda.grid(1) // LANES, scores.shape[0], cuda.gridsize(1) // LANES):
        row = scores[d]
        top = -math.inf
        for k in range(lane, width, LANES):
            value = np.float64(row[k]) * inverse_temperature + prior[k]
            top = value if value > top else top
        top = warp_max(top)
        total = 0.0
        for k in range(lane, width, LANES):
            total += math.exp(np.float64(row[k]) * inverse_temperature + prior[k] - top)
        total = warp_sum(total)
        for k in range(lane, width, LANES):
            row[k] = math.exp(np.float64(row[k]) * inverse_temperature + prior[k] - top) / total
        if lane == 0:
            evidence[d] = math.log(total) + top
