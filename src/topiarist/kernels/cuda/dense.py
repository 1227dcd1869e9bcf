"""The verbs that go over whole arrays: elementwise, or sums of which every warp adds its part in a fixed order.

Elementwise kernels see their arrays flat. Sums are left as one number for each of a fixed number of warps, so that the
order of addition depends on the size of the arrays alone; the few numbers are added up by whoever asked.
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.cuda.warp import LANES, kernel, warp_max, warp_sum


@kernel
def fill(out, value):
    """``out = value``."""
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = value


@kernel
def add(first, second, out):
    """``out = first + second``."""
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = first[n] + second[n]


@kernel
def multiply(first, second, out):
    """``out = first * second``."""
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = first[n] * second[n]


@kernel
def power(array, exponent, out):
    """``out = array ** exponent``."""
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = array[n] ** out.dtype.type(exponent) if array[n] > 0 else out.dtype.type(0)


@kernel
def logarithms(array, out):
    """The logarithm, finite everywhere."""
    smallest = out.dtype.type(SMALLEST_MIXTURE)
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n] = math.log(array[n] if array[n] > smallest else smallest)


@kernel
def look_ahead(old, new, ahead, out):
    """See ``reference.look_ahead``; ``ahead`` is the stride less one."""
    half = out.dtype.type(0.5)
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        far, near = new[n] + out.dtype.type(ahead) * (new[n] - old[n]), half * new[n]
        out[n] = far if far > near else near


@kernel
def scale_columns(counts, smoothing, scale):
    """(P3), (P4): see ``reference.scale_columns``."""
    width = counts.shape[1]
    plus = counts.dtype.type(smoothing)
    for n in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        d, k = n // width, n % width
        counts[d, k] = (counts[d, k] + plus) * scale[k]


@kernel
def add_outer(counts, rows, columns):
    """``counts += rows ⊗ columns``."""
    width = counts.shape[1]
    for n in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        d, k = n // width, n % width
        counts[d, k] += rows[d] * columns[k]


@kernel
def fill_columns(counts, wanted, value):
    """``value`` in the columns that are wanted."""
    width = counts.shape[1]
    for n in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        if wanted[n % width]:
            counts[n // width, n % width] = value


@kernel
def normalise_rows(counts, smoothing):
    """(P3), (P4): see ``reference.normalise_rows``. One warp for a row."""
    lane, width = cuda.threadIdx.x & (LANES - 1), counts.shape[1]
    plus = counts.dtype.type(smoothing)
    for d in range(cuda.grid(1) // LANES, counts.shape[0], cuda.gridsize(1) // LANES):
        row = counts[d]
        total = 0.0
        for k in range(lane, width, LANES):
            total += row[k] + plus
        total = warp_sum(total)
        something = total > SMALLEST_MIXTURE
        scale = counts.dtype.type(1.0 / total if something else 0.0)
        least = counts.dtype.type(0.0 if something else 1.0 / width)
        for k in range(lane, width, LANES):
            row[k] = (row[k] + plus) * scale + least


@kernel
def row_sums(counts, smoothing, size, sums):
    """Of ``size`` columns at a time: ``sums`` is (rows, pieces). One warp for a piece of a row."""
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
    """What ``normalise_rows`` does, where rows are long and their sums known in pieces."""
    lane, width, pieces = cuda.threadIdx.x & (LANES - 1), counts.shape[1], sums.shape[1]
    plus = counts.dtype.type(smoothing)
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        d, piece = n // pieces, n % pieces
        total = 0.0
        for other in range(pieces):
            total += sums[d, other]
        something = total > SMALLEST_MIXTURE
        scale = counts.dtype.type(1.0 / total if something else 0.0)
        least = counts.dtype.type(0.0 if something else 1.0 / width)
        end = (piece + 1) * size
        end = end if end < width else width
        for k in range(piece * size + lane, end, LANES):
            counts[d, k] = (counts[d, k] + plus) * scale + least


@kernel
def column_sums(counts, size, sums):
    """Of ``size`` rows at a time: ``sums`` is (pieces, columns). One thread for a column of a piece."""
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
def add_pieces(pieces, sums):
    """``sums`` of the columns of ``pieces``: one warp for a column."""
    lane = cuda.threadIdx.x & (LANES - 1)
    for k in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        total = 0.0
        for piece in range(lane, pieces.shape[0], LANES):
            total += pieces[piece, k]
        total = warp_sum(total)
        if lane == 0:
            sums[k] = total


@kernel
def sums(values, sums):
    """Σ values, warp by warp."""
    total = 0.0
    for n in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        total += values[n]
    total = warp_sum(total)
    if cuda.threadIdx.x & (LANES - 1) == 0:
        sums[cuda.grid(1) // LANES] = total


@kernel
def weighted_sums(weights, values, sums):
    """Σ weights · values, warp by warp."""
    total = 0.0
    for n in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        total += np.float64(weights[n]) * np.float64(values[n])
    total = warp_sum(total)
    if cuda.threadIdx.x & (LANES - 1) == 0:
        sums[cuda.grid(1) // LANES] = total


@kernel
def weighted_logs(weights, values, sums):
    """Σ weights · log values, warp by warp; nothing counts as less probable than 1e-30."""
    smallest = values.dtype.type(SMALLEST_MIXTURE)
    total = 0.0
    for n in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        total += np.float64(weights[n]) * np.float64(math.log(values[n] if values[n] > smallest else smallest))
    total = warp_sum(total)
    if cuda.threadIdx.x & (LANES - 1) == 0:
        sums[cuda.grid(1) // LANES] = total


@kernel
def sums_of_logs(array, sums):
    """(P4): Σ log, warp by warp."""
    total = 0.0
    for n in range(cuda.grid(1), array.size, cuda.gridsize(1)):
        total += math.log(np.float64(array[n])) if array[n] > 0 else -math.inf
    total = warp_sum(total)
    if cuda.threadIdx.x & (LANES - 1) == 0:
        sums[cuda.grid(1) // LANES] = total


@kernel
def row_logs(array, weights, size, least, sums):
    """Σ_k weights[k] log array[d, k] of ``size`` columns at a time, as ``row_sums`` cuts them."""
    lane, width, pieces = cuda.threadIdx.x & (LANES - 1), array.shape[1], sums.shape[1]
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        d, piece = n // pieces, n % pieces
        end = (piece + 1) * size
        end = end if end < width else width
        total = 0.0
        for k in range(piece * size + lane, end, LANES):
            if weights[k] > 0.0:
                value = np.float64(array[d, k])
                total += weights[k] * math.log(value if value > least else least)
        total = warp_sum(total)
        if lane == 0:
            sums[d, piece] = total


@kernel
def posteriors(scores, prior, inverse_temperature, evidence):
    """(C1): see ``reference.posteriors``; ``evidence`` is the logarithm of each row's total. One warp for a row."""
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
