"""Kernels for shares of documents in classes as a tree changes: split, sum, select and transpose columns."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.cuda.warp import LANES, kernel, warp_max, warp_sum


@kernel
def split_columns(shares, sources, halves, places, certainty, out):
    """Split columns of shares, see ``tables.split_columns``.

    Column c of ``out`` is column ``sources[c]`` times the share of half ``halves[c]`` (-1: the whole column). Halves 2n
    and 2n + 1 belong together. A document belongs to half ``places[d]`` with share ``certainty``.
    """
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        d, c = n // width, n % width
        share, half = shares[d, sources[c]], halves[c]
        if half >= 0:
            part = 0.5
            if places[d] == half:
                part = certainty
            elif places[d] >= 0 and places[d] // 2 == half // 2:
                part = 1.0 - certainty
            share = share * out.dtype.type(part)
        out[d, c] = share


@kernel
def sum_columns(shares, ends, columns, out):
    """Compute ``out[d, c]``, the sum of the columns ``columns[ends[c]:ends[c + 1]]``."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        d, c = n // width, n % width
        total = out.dtype.type(0)
        for place in range(ends[c], ends[c + 1]):
            total += shares[d, columns[place]]
        out[d, c] = total


@kernel
def find_largest_columns(shares, out):
    """Compute the column of the largest number of each row; the first of equal ones. One warp for a row."""
    lane, width = cuda.threadIdx.x & (LANES - 1), shares.shape[1]
    for d in range(cuda.grid(1) // LANES, shares.shape[0], cuda.gridsize(1) // LANES):
        top, column = -math.inf, float(width)
        for c in range(lane, width, LANES):
            value = np.float64(shares[d, c])
            if value > top:
                top, column = value, float(c)
        best = warp_max(top)
        first = -warp_max(-column if top == best else -float(width))
        if lane == 0:
            out[d] = int(first)


@kernel
def take_rows(table, numbers, out):
    """Compute ``out = table[numbers]``."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n // width, n % width] = table[numbers[n // width], n % width]


@kernel
def transpose_table(table, out):
    """Copy the transpose of ``table`` into ``out``, cut to the shape of ``out``."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n // width, n % width] = table[n % width, n // width]


@kernel
def mark_groups(groups, out):
    """Set one in the column of each document's group and zero elsewhere."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[n // width, n % width] = 1 if groups[n // width] == n % width else 0


@kernel
def log_sums(indptr, data, mixture, out):
    """Compute Σ n log mixture of each row; a mixture counts as at least 1e-30. One warp for a row."""
    lane = cuda.threadIdx.x & (LANES - 1)
    for d in range(cuda.grid(1) // LANES, out.size, cuda.gridsize(1) // LANES):
        total = 0.0
        for t in range(indptr[d] + lane, indptr[d + 1], LANES):
            value = np.float64(mixture[t])
            total += np.float64(data[t]) * math.log(value if value > SMALLEST_MIXTURE else SMALLEST_MIXTURE)
        total = warp_sum(total)
        if lane == 0:
            out[d] = total
