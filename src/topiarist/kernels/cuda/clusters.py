"""Kernels for joint probabilities of clusters and words: smoothing, sums below nodes, and information."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from topiarist.kernels.cuda.warp import LANES, kernel, warp_sum


@kernel
def blend(table, columns, rows, out):
    """Compute ``out[c, w] = (table[c, w] + columns[w]) * rows[c]``."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        c, w = n // width, n % width
        out[c, w] = (np.float64(table[c, w]) + columns[w]) * rows[c]


@kernel
def apply_minimum(table, minimum):
    """Replace smaller numbers by ``minimum`` in place."""
    width = table.shape[1]
    for n in range(cuda.grid(1), table.size, cuda.gridsize(1)):
        if table[n // width, n % width] < minimum:
            table[n // width, n % width] = minimum


@kernel
def add_rows(table, ends, rows, out):
    """Compute ``out[g]``, the sum of the rows ``rows[ends[g]:ends[g + 1]]``, in double precision."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        g, w = n // width, n % width
        total = 0.0
        for place in range(ends[g], ends[g + 1]):
            total += np.float64(table[rows[place], w])
        out[g, w] = total


@kernel
def information(table, first, second, sign, size, sums):
    """Compute Σ_w x log x of rows x, ``size`` words at a time: ``sums`` is (rows, parts). One warp for a part.

    Row n is ``table[first[n]]``, plus ``sign`` times ``table[second[n]]`` unless that is -1; negative numbers count as
    zero.
    """
    lane, width, pieces = cuda.threadIdx.x & (LANES - 1), table.shape[1], sums.shape[1]
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        pair, piece = n // pieces, n % pieces
        first_row, second_row = first[pair], second[pair]
        end = (piece + 1) * size
        end = end if end < width else width
        total = 0.0
        for w in range(piece * size + lane, end, LANES):
            value = np.float64(table[first_row, w])
            if second_row >= 0:
                value += sign * np.float64(table[second_row, w])
            if value > 0.0:
                total += value * math.log(value)
        total = warp_sum(total)
        if lane == 0:
            sums[pair, piece] = total
