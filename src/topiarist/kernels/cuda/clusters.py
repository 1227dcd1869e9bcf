"""Joint probabilities of clusters and words: smoothed, added up under the nodes of a tree, and what they tell."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from topiarist.kernels.cuda.warp import LANES, kernel, warp_sum


@kernel
def blend(table, columns, rows, out):
    """``out[c, w] = (table[c, w] + columns[w]) * rows[c]``."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        c, w = n // width, n % width
        out[c, w] = (np.float64(table[c, w]) + columns[w]) * rows[c]


@kernel
def raise_to(table, least):
    """Nothing less than this, in place."""
    width = table.shape[1]
    for n in range(cuda.grid(1), table.size, cuda.gridsize(1)):
        if table[n // width, n % width] < least:
            table[n // width, n % width] = least


@kernel
def add_rows(table, ends, rows, out):
    """``out[g]`` is the sum of the rows ``rows[ends[g]:ends[g + 1]]``, in double precision."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        g, w = n // width, n % width
        total = 0.0
        for place in range(ends[g], ends[g + 1]):
            total += np.float64(table[rows[place], w])
        out[g, w] = total


@kernel
def information(table, first, second, sign, size, sums):
    """Σ_w x log x of rows x, ``size`` words at a time: ``sums`` is (rows, pieces). One warp for a piece.

    Row n is ``table[first[n]]``, and ``sign`` times ``table[second[n]]`` with it unless that is -1; nothing counts as
    less than zero.
    """
    lane, width, pieces = cuda.threadIdx.x & (LANES - 1), table.shape[1], sums.shape[1]
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        pair, piece = n // pieces, n % pieces
        one, other = first[pair], second[pair]
        end = (piece + 1) * size
        end = end if end < width else width
        total = 0.0
        for w in range(piece * size + lane, end, LANES):
            value = np.float64(table[one, w])
            if other >= 0:
                value += sign * np.float64(table[other, w])
            if value > 0.0:
                total += value * math.log(value)
        total = warp_sum(total)
        if lane == 0:
            sums[pair, piece] = total
