"""Operations on arrays of a device that take several kernels, or a sum on the host.

Long rows are computed in parts by several warps. The parts depend on the shape of an array alone, and they are added in
their order, so that a sum has the same bits on any device.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array, ArrayLike
from topiarist.kernels.cuda import clusters, dense, shares
from topiarist.kernels.cuda.memory import DeviceArray
from topiarist.kernels.cuda.warp import BLOCK_THREADS, LANES, SUM_BLOCKS, Kernel

INFORMATION_WORDS = 256  # words of a cluster per warp; logarithms are slow, and clusters few
PART_COLUMNS = 2048  # columns, or words, per warp in long rows
MAX_ROW_PARTS = 1024  # of a sum over rows
MIN_PART_ROWS = 64  # of such a part


def _sum_row_parts(kernel: Kernel, n_rows: int, size: int, table: DeviceArray, *arguments: object) -> DeviceArray:
    """Return the sums of a kernel over ``size`` columns of the table at a time: (n_rows, parts)."""
    sums = table.memory.empty((n_rows, max(1, -(-table.shape[1] // size))), np.float64)
    table.memory.launch(kernel, sums.array.size * LANES, table, *arguments, size, sums)
    return sums


def normalise_rows(table: DeviceArray, smoothing: float) -> None:
    """(P3), (P4): add the smoothing and scale each row to sum one, in place; an empty row becomes uniform."""
    sums = _sum_row_parts(dense.row_sums, len(table), PART_COLUMNS, table, float(smoothing))
    table.memory.launch(dense.scale_rows, sums.array.size * LANES, table, float(smoothing), PART_COLUMNS, sums)


def row_totals(table: DeviceArray) -> Array:
    """Return the sum of each row."""
    sums: Array = _sum_row_parts(dense.row_sums, len(table), PART_COLUMNS, table, 0.0).numpy().sum(axis=1)
    return sums


def row_logs(table: DeviceArray, weights: Array, floor: float) -> Array:
    """Return Σ_k weights[k] log table[d, k] of each row; values count as at least ``floor``."""
    device_weights = table.memory.put(weights, np.float64)
    sums = _sum_row_parts(dense.row_logs, len(table), PART_COLUMNS, table, device_weights, float(floor))
    logs: Array = sums.numpy().sum(axis=1)
    return logs


def information(table: DeviceArray, first: Array, second: Array, sign: float = 1.0) -> Array:
    """Return Σ_w x log x of rows, or of sums or differences of two rows, see ``clusters.information``."""
    rows = (table.memory.put(part, np.int32) for part in (first, second))
    sums = _sum_row_parts(clusters.information, len(first), INFORMATION_WORDS, table, *rows, float(sign))
    totals: Array = sums.numpy().sum(axis=1)
    return totals


def column_sums(table: DeviceArray) -> Array:
    """Return the sum of each column."""
    size = max(MIN_PART_ROWS, -(-len(table) // MAX_ROW_PARTS))
    sums = table.memory.empty((max(1, -(-len(table) // size)), table.shape[1]), np.float64)
    table.memory.launch(dense.column_sums, sums.array.size, table, size, sums)
    totals: Array = sums.numpy().sum(axis=0)
    return totals


def total(kernel: Kernel, *arrays: DeviceArray) -> float:
    """Return the sum of what a fixed number of warps compute over whole arrays."""
    memory, n_threads = arrays[0].memory, SUM_BLOCKS * BLOCK_THREADS
    sums = memory.empty((n_threads // LANES,), np.float64)
    memory.launch(kernel, n_threads, *(array.flat for array in arrays), sums, max_blocks=SUM_BLOCKS)
    return float(sums.numpy().sum())


def transpose(table: DeviceArray, shape: tuple[int, int]) -> DeviceArray:
    """Return a copy of the transpose, cut to ``shape``."""
    out = table.memory.empty(shape, table.dtype)
    table.memory.launch(shares.transpose_table, out.array.size, table, out)
    return out


def take_rows(table: DeviceArray, numbers: ArrayLike) -> DeviceArray:
    """Return rows in the given order."""
    device_numbers = table.memory.put(numbers, np.int64)
    out = table.memory.empty((len(device_numbers), table.shape[1]), table.dtype)
    table.memory.launch(shares.take_rows, out.array.size, table, device_numbers, out)
    return out


def find_largest_columns(table: DeviceArray) -> DeviceArray:
    """Return the column of the largest number of each row; the first of equal ones."""
    out = table.memory.empty((len(table),), np.int64)
    table.memory.launch(shares.find_largest_columns, len(table) * LANES, table, out)
    return out


def apply_minimum(table: DeviceArray, minimum: float) -> None:
    """Replace smaller numbers by the minimum in place."""
    table.memory.launch(clusters.apply_minimum, table.array.size, table, float(minimum))
