"""Points in groups: their moments, and Lloyd's algorithm for two means of many groups at once.

Points lie group after group, and groups are cut into *pieces*, so that a large one keeps no one waiting. Sums are those
of pieces, in double precision; those of a group are added by the lanes of a warp in an order of their own.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from topiarist.kernels.cuda.warp import LANES, kernel, warp_sum


@kernel
def moments(points, begins, ends, out):
    """Σ x xᵀ of each piece, x being a point and a one after its last coordinate: ``out`` is (pieces, width²)."""
    width = points.shape[1] + 1
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        piece, entry = n // (width * width), n % (width * width)
        i, j = entry // width, entry % width
        total = 0.0
        for d in range(begins[piece], ends[piece]):
            one = np.float64(points[d, i]) if i < width - 1 else 1.0
            other = np.float64(points[d, j]) if j < width - 1 else 1.0
            total += one * other
        out[piece, entry] = total


@kernel
def side_sums(points, begins, ends, sides, out):
    """The sum, and the number, of the points of a piece on the first side: ``out`` is (pieces, starts · width)."""
    width = points.shape[1] + 1
    per_piece = sides.shape[0] * width
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        piece, entry = n // per_piece, n % per_piece
        start, k = entry // width, entry % width
        total = 0.0
        for d in range(begins[piece], ends[piece]):
            if sides[start, d]:
                total += np.float64(points[d, k]) if k < width - 1 else 1.0
        out[piece, entry] = total


@kernel
def add_groups(pieces, ends, out):
    """Sums of the pieces of each group, ``ends[g]`` to ``ends[g + 1]``. One warp for a number."""
    lane, width = cuda.threadIdx.x & (LANES - 1), out.shape[1]
    for n in range(cuda.grid(1) // LANES, out.size, cuda.gridsize(1) // LANES):
        group, k = n // width, n % width
        total = 0.0
        for piece in range(ends[group] + lane, ends[group + 1], LANES):
            total += pieces[piece, k]
        total = warp_sum(total)
        if lane == 0:
            out[group, k] = total


@kernel
def part(sums, totals, normals, limits, gains, firsts, moved):
    """The plane between the means of both sides of each group, and the drop of the squared error.

    ``sums`` (groups, starts · width) are those of the first side, ``totals`` (groups, width) those of all; a point is
    on the first side if its product with ``normals`` (starts, groups, dimensions) exceeds ``limits`` (starts, groups).
    A group with nobody on one side stays as it is. One warp for a start of a group.
    """
    lane = cuda.threadIdx.x & (LANES - 1)
    n_starts, n_groups, dims = normals.shape
    for n in range(cuda.grid(1) // LANES, n_starts * n_groups, cuda.gridsize(1) // LANES):
        start, group = n // n_groups, n % n_groups
        own, everyone = sums[group, start * (dims + 1) + dims], totals[group, dims]
        there = own > 0.0 and own < everyone
        mine, yours, gap = 0.0, 0.0, 0.0
        if there:
            for k in range(lane, dims, LANES):
                total = sums[group, start * (dims + 1) + k]
                first, second = total / own, (totals[group, k] - total) / (everyone - own)
                normals[start, group, k] = first - second
                mine += first * first
                yours += second * second
                gap += (first - second) * (first - second)
        mine, yours, gap = warp_sum(mine), warp_sum(yours), warp_sum(gap)
        if lane == 0:
            firsts[start, group] = own
            gains[start, group] = own * (everyone - own) / everyone * gap if there else 0.0
            moved[start, group] = 0
            if there:
                limits[start, group] = (mine - yours) / 2.0


@kernel
def choose_side(points, groups, normals, limits, sides, moved):
    """On which side each point is, and the groups of which one has ``moved``. One warp for a point."""
    lane, dims = cuda.threadIdx.x & (LANES - 1), points.shape[1]
    for d in range(cuda.grid(1) // LANES, points.shape[0], cuda.gridsize(1) // LANES):
        group = groups[d]
        for start in range(sides.shape[0]):
            product = 0.0
            for k in range(lane, dims, LANES):
                product += np.float64(points[d, k]) * np.float64(normals[start, group, k])
            product = warp_sum(product)
            side = 1 if product > limits[start, group] else 0
            if lane == 0 and sides[start, d] != side:
                sides[start, d] = side
                moved[start, group] = 1


@kernel
def mix(points, factor, out):
    """``out = points @ factor``, for a factor of a few rows and columns."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        d, j = n // width, n % width
        total = 0.0
        for k in range(factor.shape[0]):
            total += np.float64(points[d, k]) * factor[k, j]
        out[d, j] = total
