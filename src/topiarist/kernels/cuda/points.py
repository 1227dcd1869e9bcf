"""Kernels for points in groups: moments, and Lloyd's algorithm for two means of many groups at once.

Points are sorted by group, and groups are cut into *parts*, so that a large group does not delay the others. Sums of
parts are in double precision. A warp adds the parts of a group in a fixed order.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from topiarist.kernels.cuda.warp import LANES, kernel, warp_sum


@kernel
def moments(points, begins, ends, out):
    """Compute Σ x xᵀ of each part, x being a point with a one appended: ``out`` is (parts, width²)."""
    width = points.shape[1] + 1
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        piece, entry = n // (width * width), n % (width * width)
        i, j = entry // width, entry % width
        total = 0.0
        for d in range(begins[piece], ends[piece]):
            first_value = np.float64(points[d, i]) if i < width - 1 else 1.0
            second_value = np.float64(points[d, j]) if j < width - 1 else 1.0
            total += first_value * second_value
        out[piece, entry] = total


@kernel
def side_sums(points, begins, ends, sides, out):
    """Compute the sum and number of the points of a part on the first side: ``out`` is (parts, starts · width)."""
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
    """Add the parts ``ends[g]`` to ``ends[g + 1]`` of each group. One warp for a number."""
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
def split_groups(sums, totals, normals, limits, gains, firsts, moved):
    """Compute the plane between the means of both sides of each group, and the reduction of the squared error.

    ``sums`` (groups, starts · width) belong to the first side, ``totals`` (groups, width) to all points. A point is on
    the first side if its product with ``normals`` (starts, groups, dimensions) exceeds ``limits`` (starts, groups). A
    group with an empty side stays unchanged. One warp for a start of a group.
    """
    lane = cuda.threadIdx.x & (LANES - 1)
    n_starts, n_groups, dims = normals.shape
    for n in range(cuda.grid(1) // LANES, n_starts * n_groups, cuda.gridsize(1) // LANES):
        start, group = n // n_groups, n % n_groups
        n_first, n_points = sums[group, start * (dims + 1) + dims], totals[group, dims]
        has_both = n_first > 0.0 and n_first < n_points
        first_square, second_square, gap = 0.0, 0.0, 0.0
        if has_both:
            for k in range(lane, dims, LANES):
                total = sums[group, start * (dims + 1) + k]
                first, second = total / n_first, (totals[group, k] - total) / (n_points - n_first)
                normals[start, group, k] = first - second
                first_square += first * first
                second_square += second * second
                gap += (first - second) * (first - second)
        first_square, second_square, gap = warp_sum(first_square), warp_sum(second_square), warp_sum(gap)
        if lane == 0:
            firsts[start, group] = n_first
            gains[start, group] = n_first * (n_points - n_first) / n_points * gap if has_both else 0.0
            moved[start, group] = 0
            if has_both:
                limits[start, group] = (first_square - second_square) / 2.0


@kernel
def choose_side(points, groups, normals, limits, sides, moved):
    """Compute the side of each point, and mark groups with a point that ``moved``. One warp for a point."""
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
def multiply_by_factor(points, factor, out):
    """Compute ``out = points @ factor`` for a factor with few rows and columns."""
    width = out.shape[1]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        d, j = n // width, n % width
        total = 0.0
        for k in range(factor.shape[0]):
            total += np.float64(points[d, k]) * factor[k, j]
        out[d, j] = total
