"""Operations of tree growth on a device: words of groups, halves of groups, leading factors.

All groups are computed at once. Small matrices, with as many rows as dimensions, are computed on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import TINY, Array, Csr, Floats, Ints
from topiarist.execution.threads import Threads
from topiarist.kernels.cuda.memory import DeviceArray
from topiarist.kernels.cuda.verbs import DeviceKernels
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


def make_memberships(kernels: DeviceKernels, n_docs: int, groups: Sequence[Ints], dtype: Any) -> DeviceArray:
    """Return (documents, groups) with one for the group of each document; groups are disjoint."""
    labels = np.full(n_docs, -1, np.int32)
    for number, group in enumerate(groups):
        labels[group] = number
    device_labels = kernels.memory.put(labels)
    out = kernels.memory.empty((n_docs, pad_width(len(groups))), dtype)
    kernels.mark_groups(device_labels.array, out.array)
    return out


class GroupedPoints:
    """Points sorted by group and cut into parts, on the device."""

    def __init__(self, kernels: DeviceKernels, points: DeviceArray, groups: Sequence[Ints] | None = None) -> None:
        memory = kernels.memory
        self.device_kernels, self.points = kernels, points
        sizes = np.array([len(points)] if groups is None else [len(group) for group in groups], np.int64)
        if groups is not None:
            order = memory.put(np.concatenate(groups).astype(np.int64))
            self.points = memory.empty((len(order), points.shape[1]), points.dtype)
            kernels.take_rows(points.array, order.array, self.points.array)
        self.sizes, self.starts = sizes, np.append(0, np.cumsum(sizes))
        number = -(-sizes // PART_POINTS)
        step = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        begins = np.repeat(self.starts[:-1], number) + PART_POINTS * step
        ends = np.minimum(begins + PART_POINTS, np.repeat(self.starts[1:], number))
        first = np.append(0, np.cumsum(number))
        self._parts = [memory.put(array.astype(np.int64)) for array in (begins, ends, first)]

    @property
    def parts(self) -> tuple[Any, Any, Any]:
        """Starts and ends of parts, and the first part of each group, as kernels accept them."""
        begins, ends, first = self._parts
        return begins.array, ends.array, first.array

    def moments(self) -> Floats:
        """Return (groups, width, width): Σ x xᵀ with a one appended to each point."""
        width = self.points.shape[1] + 1
        out = self.device_kernels.memory.empty((len(self.sizes), width * width), np.float64)
        self.device_kernels.moments(self.points.array, *self.parts, out.array)
        return out.numpy().reshape(-1, width, width)

    def run_lloyd(self, normals: Floats, limits: Floats, totals: Floats) -> tuple[Array, Floats, Array]:
        """Run Lloyd's algorithm from planes (starts, groups, dimensions); return sides, gains and sizes."""
        memory, n_starts = self.device_kernels.memory, len(normals)
        n_points, width = len(self.points), self.points.shape[1] + 1
        groups = memory.put(np.repeat(np.arange(len(self.sizes)), self.sizes).astype(np.int32))
        device_normals, device_limits, device_totals = (
            memory.put(part, np.float64) for part in (normals, limits, totals)
        )
        sides = memory.put(np.zeros((n_starts, n_points), np.int8))
        moved = memory.put(np.zeros(limits.shape, np.int32))
        sums = memory.empty((len(self.sizes), n_starts * width), np.float64)
        gains, firsts = (memory.empty(limits.shape, np.float64) for _ in range(2))
        choose = (self.points.array, groups.array, device_normals.array, device_limits.array, sides.array, moved.array)
        self.device_kernels.choose_side(*choose)
        for number in range(MAX_ROUNDS):
            self.device_kernels.side_sums(self.points.array, *self.parts, sides.array, sums.array)
            self.device_kernels.split_groups(
                sums.array,
                device_totals.array,
                device_normals.array,
                device_limits.array,
                gains.array,
                firsts.array,
                moved.array,
            )
            self.device_kernels.choose_side(*choose)
            if number % CHECK_ROUNDS == CHECK_ROUNDS - 1 and not moved.numpy().any():
                break
        return sides.numpy().astype(bool), gains.numpy(), firsts.numpy()


def split_in_two(
    kernels: DeviceKernels,
    threads: Threads,
    points: DeviceArray,
    groups: Sequence[Ints],
    seeds: Sequence[int],
    min_size: float,
) -> list[tuple[float, Any]]:
    """See ``Engine.split_in_two``: all groups and all starts at once."""
    results: list[tuple[float, Any]] = [(0.0, None)] * len(groups)
    large_groups = [number for number, group in enumerate(groups) if len(group) >= 2 * min_size and len(group) > 1]
    if not large_groups:
        return results
    cloud = GroupedPoints(kernels, points, [groups[number] for number in large_groups])
    moments = cloud.moments()
    totals = np.ascontiguousarray(moments[:, -1, :])
    mean = totals[:, :-1] / totals[:, -1:]
    scatter = moments[:, :-1, :-1] - totals[:, -1, None, None] * mean[:, :, None] * mean[:, None, :]
    slices = slice_rows(scatter.reshape(len(scatter), -1), 1 << 15)
    axis = np.concatenate(threads.map(lambda rows: np.linalg.eigh(scatter[rows])[1][:, :, -1], slices))
    pairs = np.array([_draw_pairs(seeds[number], int(cloud.sizes[place])) for place, number in enumerate(large_groups)])
    device_pairs = kernels.memory.put((pairs + cloud.starts[:-1, None, None]).ravel())
    ends = kernels.memory.empty((len(device_pairs), mean.shape[1]), points.dtype)
    kernels.take_rows(cloud.points.array, device_pairs.array, ends.array)
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
        basis = orthogonalise(engine.device_kernels, engine.row_products(shard.rows, basis))
        basis = orthogonalise(engine.device_kernels, engine.word_products(shard, basis))
    basis = orthogonalise(engine.device_kernels, engine.row_products(shard.rows, basis), twice=True)
    words = engine.word_products(shard, basis)
    squares, rotation = np.linalg.eigh(GroupedPoints(engine.device_kernels, words).moments()[0, :-1, :-1])
    values, rotation = np.sqrt(np.maximum(squares[::-1][:number], 0.0)), rotation[:, ::-1][:, :number]
    left = multiply_by_factor(engine.device_kernels, basis, rotation)
    right = multiply_by_factor(engine.device_kernels, words, rotation / np.maximum(values, TINY))
    return left.numpy(), values, right.numpy().T


def orthogonalise(kernels: DeviceKernels, basis: DeviceArray, *, twice: bool = False) -> DeviceArray:
    """Return an orthonormal basis of the same space; ``twice`` recovers digits lost in the first pass."""
    for _ in range(2 if twice else 1):
        products = GroupedPoints(kernels, basis).moments()[0, :-1, :-1]
        ridge = 1e-12 * max(float(np.trace(products)), TINY)
        lower = np.linalg.cholesky(products + ridge * np.eye(len(products)))
        basis = multiply_by_factor(kernels, basis, np.linalg.inv(lower).T)
    return basis


def multiply_by_factor(kernels: DeviceKernels, points: DeviceArray, factor: Floats) -> DeviceArray:
    """Return ``points @ factor``."""
    device_factor = kernels.memory.put(factor, np.float64)
    out = kernels.memory.empty((len(points), factor.shape[1]), points.dtype)
    kernels.multiply_by_factor(points.array, device_factor.array, out.array)
    return out
