"""What growing a tree needs of a device beside passes: words of groups, halves of groups, leading factors.

All groups are computed at once. Small matrices, of as many rows as there are dimensions, are the host's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Array, Csr, Floats, Ints
from topiarist.kernels.cuda.memory import DeviceArray
from topiarist.kernels.cuda.verbs import Verbs
from topiarist.models.engine.host import row_pieces
from topiarist.models.halves import MAX_ROUNDS, STARTS
from topiarist.scale.threads import Threads

TREES = 3  # times the rows and tables of a pass: trees that may still be taken are kept
PIECE = 256  # points whose sum one thread adds up
LOOKED = 3  # rounds of Lloyd's algorithm between two looks whether anybody has moved
WIDTHS = (32, 64, 128, 256, 512)  # of tables of groups: so few that the kernels for them are soon compiled
OVERSAMPLES, POWER_ITERATIONS = 10, 6  # as ``counts.lsi`` has them


def padded(n_columns: int) -> int:
    """The next width of a table that there is a kernel for."""
    return next((width for width in WIDTHS if width >= n_columns), -(-n_columns // 128) * 128)


def memberships(verbs: Verbs, n_docs: int, groups: Sequence[Ints], dtype: Any) -> DeviceArray:
    """(documents, groups): one where a document is in a group. No document is in two."""
    labels = np.full(n_docs, -1, np.int32)
    for number, group in enumerate(groups):
        labels[group] = number
    held = verbs.memory.put(labels)
    out = verbs.memory.empty((n_docs, padded(len(groups))), dtype)
    verbs.membership(held.array, out.array)
    return out


class Cloud:
    """Points group after group, cut into pieces, on the device."""

    def __init__(self, verbs: Verbs, points: DeviceArray, groups: Sequence[Ints] | None = None) -> None:
        memory = verbs.memory
        self.verbs, self.points = verbs, points
        sizes = np.array([len(points)] if groups is None else [len(group) for group in groups], np.int64)
        if groups is not None:
            order = memory.put(np.concatenate(groups).astype(np.int64))
            self.points = memory.empty((len(order), points.shape[1]), points.dtype)
            verbs.take_rows(points.array, order.array, self.points.array)
        self.sizes, self.starts = sizes, np.append(0, np.cumsum(sizes))
        number = -(-sizes // PIECE)
        step = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        begins = np.repeat(self.starts[:-1], number) + PIECE * step
        ends = np.minimum(begins + PIECE, np.repeat(self.starts[1:], number))
        first = np.append(0, np.cumsum(number))
        self._pieces = [memory.put(array.astype(np.int64)) for array in (begins, ends, first)]

    @property
    def pieces(self) -> tuple[Any, Any, Any]:
        """Where they begin and end, and the first one of each group, as kernels take them."""
        begins, ends, first = self._pieces
        return begins.array, ends.array, first.array

    def moments(self) -> Floats:
        """(groups, width, width): Σ x xᵀ with a one as the last coordinate of each point."""
        width = self.points.shape[1] + 1
        out = self.verbs.memory.empty((len(self.sizes), width * width), np.float64)
        self.verbs.moments(self.points.array, *self.pieces, out.array)
        return out.numpy().reshape(-1, width, width)

    def settled(self, normals: Floats, limits: Floats, totals: Floats) -> tuple[Array, Floats, Array]:
        """Lloyd's algorithm from some planes (starts, groups, dimensions): sides, gains, and how many are first."""
        memory, n_starts = self.verbs.memory, len(normals)
        n_points, width = len(self.points), self.points.shape[1] + 1
        groups = memory.put(np.repeat(np.arange(len(self.sizes)), self.sizes).astype(np.int32))
        planes, where, whole = (memory.put(part, np.float64) for part in (normals, limits, totals))
        sides = memory.put(np.zeros((n_starts, n_points), np.int8))
        moved = memory.put(np.zeros(limits.shape, np.int32))
        sums = memory.empty((len(self.sizes), n_starts * width), np.float64)
        gains, firsts = (memory.empty(limits.shape, np.float64) for _ in range(2))
        choose = (self.points.array, groups.array, planes.array, where.array, sides.array, moved.array)
        self.verbs.choose_side(*choose)
        for number in range(MAX_ROUNDS):
            self.verbs.side_sums(self.points.array, *self.pieces, sides.array, sums.array)
            self.verbs.part(sums.array, whole.array, planes.array, where.array, gains.array, firsts.array, moved.array)
            self.verbs.choose_side(*choose)
            if number % LOOKED == LOOKED - 1 and not moved.numpy().any():
                break
        return sides.numpy().astype(bool), gains.numpy(), firsts.numpy()


def halves(
    verbs: Verbs, threads: Threads, points: DeviceArray, groups: Sequence[Ints], seeds: Sequence[int], fewest: float
) -> list[tuple[float, Any]]:
    """See ``Engine.halves``: all groups, and all starts, at once."""
    found: list[tuple[float, Any]] = [(0.0, None)] * len(groups)
    wanted = [number for number, group in enumerate(groups) if len(group) >= 2 * fewest and len(group) > 1]
    if not wanted:
        return found
    cloud = Cloud(verbs, points, [groups[number] for number in wanted])
    moments = cloud.moments()
    totals = np.ascontiguousarray(moments[:, -1, :])
    mean = totals[:, :-1] / totals[:, -1:]
    spread = moments[:, :-1, :-1] - totals[:, -1, None, None] * mean[:, :, None] * mean[:, None, :]
    pieces = row_pieces(spread.reshape(len(spread), -1), 1 << 15)
    axis = np.concatenate(threads.map(lambda rows: np.linalg.eigh(spread[rows])[1][:, :, -1], pieces))
    drawn = np.array([_drawn(seeds[number], int(cloud.sizes[place])) for place, number in enumerate(wanted)])
    taken = verbs.memory.put((drawn + cloud.starts[:-1, None, None]).ravel())
    ends = verbs.memory.empty((len(taken), mean.shape[1]), points.dtype)
    verbs.take_rows(cloud.points.array, taken.array, ends.array)
    one, other = np.moveaxis(ends.numpy().astype(np.float64).reshape(*drawn.shape, -1), 2, 0)
    normals = np.concatenate([axis[None], np.swapaxes(one - other, 0, 1)])
    between = np.swapaxes((one * one).sum(axis=2) - (other * other).sum(axis=2), 0, 1) / 2
    limits = np.concatenate([(axis * mean).sum(axis=1)[None], between])
    sides, gains, firsts = cloud.settled(normals, limits, totals)
    smaller = np.minimum(firsts, cloud.sizes - firsts)
    worth = np.where((smaller >= fewest) & np.isfinite(gains), gains, 0.0)
    best = worth.argmax(axis=0)
    for place, number in enumerate(wanted):
        if worth[best[place], place] > 0:
            side = sides[best[place], cloud.starts[place] : cloud.starts[place + 1]]
            found[number] = (float(worth[best[place], place]), side)
    return found


def _drawn(seed: int, size: int) -> Array:
    """Two points for each start but the first, as ``two_means`` draws them."""
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(size, 2, replace=False) for _ in range(STARTS - 1)])


def leading_factors(engine: Any, matrix: Csr, number: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """U, S, Vᵀ of a matrix of at least as many rows as columns, by random projections with power iterations.

    As scikit-learn's ``randomized_svd`` has it, from the same random start; a basis is made orthogonal by the Cholesky
    factor of its products, which are added in double precision.
    """
    shard = engine.shard(matrix, np.float32, number + OVERSAMPLES)
    size = (matrix.shape[1], number + OVERSAMPLES)
    basis = engine.memory.put(np.random.RandomState(seed).normal(size=size), np.float32)
    for _ in range(POWER_ITERATIONS):
        basis = orthogonal(engine.verbs, engine.row_products(shard.rows, basis))
        basis = orthogonal(engine.verbs, engine.word_products(shard, basis))
    basis = orthogonal(engine.verbs, engine.row_products(shard.rows, basis), again=True)
    words = engine.word_products(shard, basis)
    squares, turned = np.linalg.eigh(Cloud(engine.verbs, words).moments()[0, :-1, :-1])
    values, turned = np.sqrt(np.maximum(squares[::-1][:number], 0.0)), turned[:, ::-1][:, :number]
    left = mixed(engine.verbs, basis, turned)
    right = mixed(engine.verbs, words, turned / np.maximum(values, 1e-300))
    return left.numpy(), values, right.numpy().T


def orthogonal(verbs: Verbs, basis: DeviceArray, *, again: bool = False) -> DeviceArray:
    """Columns of the same space at right angles, of length one; ``again`` for the digits that are lost at first."""
    for _ in range(2 if again else 1):
        products = Cloud(verbs, basis).moments()[0, :-1, :-1]
        least = 1e-12 * max(float(np.trace(products)), 1e-300)
        lower = np.linalg.cholesky(products + least * np.eye(len(products)))
        basis = mixed(verbs, basis, np.linalg.inv(lower).T)
    return basis


def mixed(verbs: Verbs, points: DeviceArray, factor: Floats) -> DeviceArray:
    """``points @ factor``."""
    held = verbs.memory.put(factor, np.float64)
    out = verbs.memory.empty((len(points), factor.shape[1]), points.dtype)
    verbs.mix(points.array, held.array, out.array)
    return out
