"""Shares of documents in classes as a tree changes: classes part, are joined, leave; and who is strongest."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.cuda.warp import LANES, kernel, warp_max, warp_sum


@kernel
def halve(shares, sources, halves, places, certain, out):
    """Columns that part: see ``tables.halved``.

    Column c of ``out`` is column ``sources[c]`` times the part that half ``halves[c]`` has of it (-1: it is whole).
    Halves 2n and 2n + 1 belong together; a document is ``certain`` of the half that ``places`` says.
    """
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        d, c = n // width, n % width
        share, half = shares[d, sources[c]], halves[c]
        if half >= 0:
            part = 0.5
            if places[d] == half:
                part = certain
            elif places[d] >= 0 and places[d] // 2 == half // 2:
                part = 1.0 - certain
            share = share * out.dtype.type(part)
        out[d, c] = share


@kernel
def join(shares, ends, columns, out):
    """``out[d, c]`` is the sum of the columns ``columns[ends[c]:ends[c + 1]]``."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        d, c = n // width, n % width
        total = out.dtype.type(0)
        for place in range(ends[c], ends[c + 1]):
            total += shares[d, columns[place]]
        out[d, c] = total


@kernel
def strongest(shares, out):
    """The column of the largest number of each row; of equal ones the first. One warp for a row."""
    lane, width = cuda.threadIdx.x & (LANES - 1), shares.shape[1]
    for d in range(cuda.grid(1) // LANES, shares.shape[0], cuda.gridsize(1) // LANES):
        top, own = -math.inf, float(width)
        for c in range(lane, width, LANES):
            value = np.float64(shares[d, c])
            if value > top:
                top, own = value, float(c)
        best = warp_max(top)
        first = -warp_max(-own if top == best else -float(width))
        if lane == 0:
            out[d] = int(first)


@kernel
def take_rows(table, numbers, out):
    """``out = table[numbers]``."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n // width, n % width] = table[numbers[n // width], n % width]


@kernel
def turn(table, out):
    """``out = table.T``, as far as ``out`` goes."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n // width, n % width] = table[n % width, n // width]


@kernel
def membership(groups, out):
    """One in the column of the group that each document is in, zero elsewhere."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n // width, n % width] = 1 if groups[n // width] == n % width else 0


@kernel
def log_sums(indptr, data, mixture, out):
    """Σ n log mixture of each row; nothing counts as less probable than 1e-30. One warp for a row."""
    lane = cuda.threadIdx.x & (LANES - 1)
    for d in range(cuda.grid(1) // LANES, out.size, cuda.gridsize(1) // LANES):
        total = 0.0
        for t in range(indptr[d] + lane, indptr[d + 1], LANES):
            value = np.float64(mixture[t])
            total += np.float64(data[t]) * math.log(value if value > SMALLEST_MIXTURE else SMALLEST_MIXTURE)
        total = warp_sum(total)
        if lane == 0:
            out[d] = total
