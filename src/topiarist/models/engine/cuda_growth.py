"""Operations of tree growth on a device: words of groups, halves of groups, leading factors.

All groups are computed at once. Small matrices, with as many rows as dimensions, are computed on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import TINY, Array, Csr, Floats, Ints
from topiarist.execution.threads import Threads
from topiarist.kernels.cuda import points as kernels
from topiarist.kernels.cuda import shares, verbs
from topiarist.kernels.cuda.memory import DeviceArray, Memory
from topiarist.kernels.cuda.warp import LANES, Kernel
from topiarist.models.engine.host import slice_rows
from topiarist.models.halves import MAX_ROUNDS, STARTS

KEPT_TREES = 3  # trees held at once: candidates are kept until one is accepted
PART_POINTS = 256  # points that one thread adds
CHECK_ROUNDS = 3  # rounds of Lloyd's algorithm between two convergence tests
WIDTHS = (32, 64, 128, 256, 512)  # of tables of groups; few widths need few compilations
OVERSAMPLES, POWER_ITERATIONS = 10, 6  # as in ``counts.lsi``


def pad_width(n_columns: int) -> int:
    """Return the next width of a table for which a kernel is compiled."""
    return next((width for width in WIDTHS if width >= n_columns), -(-n_columns // 128) * 128)


def make_memberships(memory: Memory, n_docs: int, groups: Sequence[Ints], dtype: Any) -> DeviceArray:
    """Return (documents, groups) with one for the group of each document; groups are disjoint."""
    labels = np.full(n_docs, -1, np.int32)
    for number, group in enumerate(groups):
        labels[group] = number
    out = memory.empty((n_docs, pad_width(len(groups))), dtype)
    memory.launch(shares.mark_groups, out.array.size, memory.put(labels), out)
    return out


class GroupedPoints:
    """Points sorted by group and cut into parts, on the device."""

    def __init__(self, points: DeviceArray, groups: Sequence[Ints] | None = None) -> None:
        self.memory = points.memory
        self.points = points if groups is None else verbs.take_rows(points, np.concatenate(groups))
        self.sizes = np.array([len(points)] if groups is None else [len(group) for group in groups], np.int64)
        self.starts = np.append(0, np.cumsum(self.sizes))
        number = -(-self.sizes // PART_POINTS)
        step = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        begins = np.repeat(self.starts[:-1], number) + PART_POINTS * step
        ends = np.minimum(begins + PART_POINTS, np.repeat(self.starts[1:], number))
        first = np.append(0, np.cumsum(number))
        self._begins, self._ends, self._first = (self.memory.put(array, np.int64) for array in (begins, ends, first))

    def _add_groups(self, kernel: Kernel, out: DeviceArray, *arguments: object) -> None:
        """Compute a sum of all points of each group: part by part, and then over the parts."""
        pieces = self.memory.empty((len(self._begins), out.shape[1]), np.float64)
        self.memory.launch(kernel, pieces.array.size, self.points, self._begins, self._ends, *arguments, pieces)
        self.memory.launch(kernels.add_groups, out.array.size * LANES, pieces, self._first, out)

    def moments(self) -> Floats:
        """Return (groups, width, width): Σ x xᵀ with a one appended to each point."""
        width = self.points.shape[1] + 1
        out = self.memory.empty((len(self.sizes), width * width), np.float64)
        self._add_groups(kernels.moments, out)
        return out.numpy().reshape(-1, width, width)

    def run_lloyd(self, normals: Floats, limits: Floats, totals: Floats) -> tuple[Array, Floats, Array]:
        """Run Lloyd's algorithm from planes (starts, groups, dimensions); return sides, gains and sizes."""
        memory, n_starts, n_points = self.memory, len(normals), len(self.points)
        groups = memory.put(np.repeat(np.arange(len(self.sizes)), self.sizes), np.int32)
        planes = tuple(memory.put(part, np.float64) for part in (normals, limits))
        device_totals = memory.put(totals, np.float64)
        sides, moved = memory.full((n_starts, n_points), np.int8, 0), memory.full(limits.shape, np.int32, 0)
        sums = memory.empty((len(self.sizes), n_starts * (self.points.shape[1] + 1)), np.float64)
        gains, firsts = (memory.empty(limits.shape, np.float64) for _ in range(2))

        def choose_sides() -> None:
            memory.launch(kernels.choose_side, n_points * LANES, self.points, groups, *planes, sides, moved)

        choose_sides()
        for number in range(MAX_ROUNDS):
            self._add_groups(kernels.side_sums, sums, sides)
            results = (gains, firsts, moved)
            memory.launch(kernels.split_groups, limits.size * LANES, sums, device_totals, *planes, *results)
            choose_sides()
            if number % CHECK_ROUNDS == CHECK_ROUNDS - 1 and not moved.numpy().any():
                break
        return sides.numpy().astype(bool), gains.numpy(), firsts.numpy()


def split_in_two(
    threads: Threads, points: DeviceArray, groups: Sequence[Ints], seeds: Sequence[int], min_size: float
) -> list[tuple[float, Any]]:
    """Split groups as ``Engine.split_in_two`` does, all groups and all starts at once."""
    results: list[tuple[float, Any]] = [(0.0, None)] * len(groups)
    large_groups = [number for number, group in enumerate(groups) if len(group) >= 2 * min_size and len(group) > 1]
    if not large_groups:
        return results
    cloud = GroupedPoints(points, [groups[number] for number in large_groups])
    moments = cloud.moments()
    totals = np.ascontiguousarray(moments[:, -1, :])
    mean = totals[:, :-1] / totals[:, -1:]
    scatter = moments[:, :-1, :-1] - totals[:, -1, None, None] * mean[:, :, None] * mean[:, None, :]
    slices = slice_rows(scatter.reshape(len(scatter), -1), 1 << 15)
    axis = np.concatenate(threads.map(lambda rows: np.linalg.eigh(scatter[rows])[1][:, :, -1], slices))
    pairs = np.array([_draw_pairs(seeds[number], int(cloud.sizes[place])) for place, number in enumerate(large_groups)])
    ends = verbs.take_rows(cloud.points, (pairs + cloud.starts[:-1, None, None]).ravel())
    first, second = np.moveaxis(ends.numpy().astype(np.float64).reshape(*pairs.shape, -1), 2, 0)
    normals = np.concatenate([axis[None], np.swapaxes(first - second, 0, 1)])
    midpoints = np.swapaxes((first * first).sum(axis=2) - (second * second).sum(axis=2), 0, 1) / 2
    limits = np.concatenate([(axis * mean).sum(axis=1)[None], midpoints])
    sides, gains, firsts = cloud.run_lloyd(normals, limits, totals)
    smaller = np.minimum(firsts, cloud.sizes - firsts)
    worth = np.where((smaller >= min_size) & np.isfinite(gains), gains, 0.0)
    best = worth.argmax(axis=0)
    for place, number in enumerate(large_groups):
        if worth[best[place], place] > 0:
            side = sides[best[place], cloud.starts[place] : cloud.starts[place + 1]]
            results[number] = (float(worth[best[place], place]), side)
    return results


def _draw_pairs(seed: int, size: int) -> Array:
    """Draw two points for each start but the first, as ``split_in_two_means`` does."""
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(size, 2, replace=False) for _ in range(STARTS - 1)])


def leading_factors(engine: Any, matrix: Csr, number: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return U, S, Vᵀ of a matrix with at least as many rows as columns, by random projections with power iterations.

    The algorithm and the random start are those of scikit-learn's ``randomized_svd``. A basis is orthogonalised by the
    Cholesky factor of its products, which are added in double precision.
    """
    shard = engine.shard(matrix, np.float32, number + OVERSAMPLES)
    size = (matrix.shape[1], number + OVERSAMPLES)
    basis = engine.memory.put(np.random.RandomState(seed).normal(size=size), np.float32)
    for _ in range(POWER_ITERATIONS):
        basis = orthogonalise(engine.row_products(shard.rows, basis))
        basis = orthogonalise(engine.word_products(shard, basis))
    basis = orthogonalise(engine.row_products(shard.rows, basis), twice=True)
    words = engine.word_products(shard, basis)
    squares, rotation = np.linalg.eigh(GroupedPoints(words).moments()[0, :-1, :-1])
    values, rotation = np.sqrt(np.maximum(squares[::-1][:number], 0.0)), rotation[:, ::-1][:, :number]
    left = multiply_by_factor(basis, rotation)
    right = multiply_by_factor(words, rotation / np.maximum(values, TINY))
    return left.numpy(), values, right.numpy().T


def orthogonalise(basis: DeviceArray, *, twice: bool = False) -> DeviceArray:
    """Return an orthonormal basis of the same space; ``twice`` recovers digits lost in the first pass."""
    for _ in range(2 if twice else 1):
        products = GroupedPoints(basis).moments()[0, :-1, :-1]
        ridge = 1e-12 * max(float(np.trace(products)), TINY)
        lower = np.linalg.cholesky(products + ridge * np.eye(len(products)))
        basis = multiply_by_factor(basis, np.linalg.inv(lower).T)
    return basis


def multiply_by_factor(points: DeviceArray, factor: Floats) -> DeviceArray:
    """Return ``points @ factor``."""
    out = points.memory.empty((len(points), factor.shape[1]), points.dtype)
    points.memory.launch(kernels.multiply_by_factor, out.array.size, points, points.memory.put(factor, np.float64), out)
    return out
