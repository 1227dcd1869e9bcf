"""Row and column operations on parameter tables in NumPy or on the device.

Shares of documents in classes are split and added by columns, words of nodes are selected and appended by rows. Tables
on a device stay there. Small results (sums of columns, the largest column of each row) are NumPy arrays in both cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Array


def _get_kernels(table: Any) -> Any:
    from topiarist.kernels.cuda.verbs import DeviceKernels

    return DeviceKernels(table.memory)


def to_numpy(table: Any) -> Array:
    """Return the table as a NumPy array."""
    array: Array = table if isinstance(table, np.ndarray) else table.numpy()
    return array


def column_totals(table: Any) -> Array:
    """Return the sum of each column in double precision."""
    if isinstance(table, np.ndarray):
        total: Array = table.sum(axis=0, dtype=np.float64)
        return total
    sums = table.memory.empty((table.shape[1],), np.float64)
    _get_kernels(table).column_sums(table.array, sums.array)
    return to_numpy(sums)


def find_largest_columns(table: Any) -> Array:
    """Return the column of the largest number of each row; the first of equal ones."""
    if isinstance(table, np.ndarray):
        first: Array = table.argmax(axis=1)
        return first
    out = table.memory.empty((len(table),), np.int64)
    _get_kernels(table).find_largest_columns(table.array, out.array)
    return to_numpy(out)


def split_columns(table: Any, splits: Sequence[tuple[int, Any]], certainty: float) -> Any:
    """Split columns: the first half stays in its column, second halves are appended in the order of ``splits``.

    A split is a column and the rows of its two halves, or None. A row has the share ``certainty`` of its number in its
    half. Rows in neither half are divided equally. A row is in the halves of at most one split.
    """
    if isinstance(table, np.ndarray):
        out = np.pad(table, ((0, 0), (0, len(splits))))
        for number, (column, halves) in enumerate(splits):
            first = np.full(len(table), 0.5, table.dtype)
            if halves is not None:
                first[halves[0]], first[halves[1]] = certainty, 1 - certainty
            out[:, column], out[:, table.shape[1] + number] = table[:, column] * first, table[:, column] * (1 - first)
        return out
    memory, width = table.memory, table.shape[1]
    sources = np.append(np.arange(width), [column for column, _ in splits]).astype(np.int32)
    halves_of_columns = np.full(width + len(splits), -1, np.int32)
    places = np.full(len(table), -1, np.int32)
    for number, (column, halves) in enumerate(splits):
        halves_of_columns[column], halves_of_columns[width + number] = 2 * number, 2 * number + 1
        if halves is not None:
            places[halves[0]], places[halves[1]] = 2 * number, 2 * number + 1
    out = memory.empty((len(table), width + len(splits)), table.dtype)
    arguments = [memory.put(part) for part in (sources, halves_of_columns, places)]
    _get_kernels(table).split_columns(table.array, *(part.array for part in arguments), certainty, out.array)
    return out


def sum_columns(table: Any, groups: Sequence[Sequence[int]], *, normalise: bool = False) -> Any:
    """Add the columns of each group, in order; ``normalise`` scales rows to sum one, empty rows become uniform."""
    if isinstance(table, np.ndarray):
        out = table[:, [group[0] for group in groups]]
        for place, group in enumerate(groups):
            for column in group[1:]:
                out[:, place] += table[:, column]
        if normalise:
            total = out.sum(axis=1, keepdims=True)
            out = np.where(total > 0, out / np.where(total > 0, total, 1), 1 / len(groups)).astype(table.dtype)
        return np.ascontiguousarray(out)
    memory, kernels = table.memory, _get_kernels(table)
    ends = memory.put(np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int32))
    columns = memory.put(np.concatenate([np.asarray(group, np.int32) for group in groups]))
    out = memory.empty((len(table), len(groups)), table.dtype)
    kernels.sum_columns(table.array, ends.array, columns.array, out.array)
    if normalise:
        kernels.normalise_rows(out.array, 0.0)
    return out


def take_rows(table: Any, numbers: Sequence[int] | Array) -> Any:
    """Return rows in the given order."""
    if isinstance(table, np.ndarray):
        return np.ascontiguousarray(table[numbers])
    device_numbers = table.memory.put(np.asarray(numbers, np.int64))
    out = table.memory.empty((len(device_numbers), table.shape[1]), table.dtype)
    _get_kernels(table).take_rows(table.array, device_numbers.array, out.array)
    return out


def append_rows(table: Any, other: Any) -> Any:
    """Append rows to a table, in its precision and on its device."""
    if isinstance(table, np.ndarray):
        return np.concatenate([table, to_numpy(other).astype(table.dtype)])
    memory, n_rows = table.memory, len(table)
    out = memory.empty((n_rows + len(other), table.shape[1]), table.dtype)
    device_rows = memory.put(other, table.dtype) if isinstance(other, np.ndarray) else other
    for part, begin in ((table, 0), (device_rows, n_rows)):
        if len(part):
            out.array[begin : begin + len(part)].copy_to_device(part.array, stream=memory.stream)
    return out


def replace_row(table: Any, number: int, row: Any) -> Any:
    """Replace a row in place; ``row`` is a table of one row."""
    if isinstance(table, np.ndarray):
        table[number] = to_numpy(row)[0]
    else:
        table.array[number : number + 1].copy_to_device(row.array, stream=table.memory.stream)
    return table


def row_totals(table: Any) -> Array:
    """Return the sum of each row in double precision."""
    if isinstance(table, np.ndarray):
        total: Array = table.sum(axis=1, dtype=np.float64)
        return total
    return np.asarray(_get_kernels(table).row_totals(table.array))


def _blend_on_device(table: Any, columns: Array, rows: Array, dtype: Any = np.float64) -> Any:
    memory = table.memory
    device_columns, device_factors = memory.put(columns, np.float64), memory.put(rows, np.float64)
    out = memory.empty(table.shape, dtype)
    _get_kernels(table).blend(table.array, device_columns.array, device_factors.array, out.array)
    return out


def blend(table: Any, columns: Array, rows: Array) -> Any:
    """Return ``(table + columns) / rows[:, None]`` in double precision."""
    if isinstance(table, np.ndarray):
        return (table + columns) / rows[:, None]
    return _blend_on_device(table, columns, 1.0 / rows)


def divide_rows(table: Any, rows: Array) -> Any:
    """Return ``table / rows[:, None]``."""
    return table / rows[:, None] if isinstance(table, np.ndarray) else scale_rows(table, 1.0 / rows)


def scale_rows(table: Any, factors: Array) -> Any:
    """Return ``table * factors[:, None]``."""
    if isinstance(table, np.ndarray):
        return table * factors[:, None]
    return _blend_on_device(table, np.zeros(table.shape[1]), factors)


def sum_under_mask(mask: Array, table: Any) -> Any:
    """Return ``mask.T @ table`` in double precision for a boolean mask (rows, sums)."""
    if isinstance(table, np.ndarray):
        return mask.astype(np.float64).T @ table
    return row_sums(table, [np.flatnonzero(column) for column in mask.T])


def row_sums(table: Any, groups: Sequence[Sequence[int] | Array]) -> Any:
    """Return the sum of each group of rows."""
    if isinstance(table, np.ndarray):
        return np.stack([table[group].sum(axis=0) for group in groups])
    memory = table.memory
    ends = memory.put(np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int32))
    numbers = memory.put(np.concatenate([np.asarray(group, np.int32) for group in groups]))
    out = memory.empty((len(groups), table.shape[1]), np.float64)
    _get_kernels(table).add_rows(table.array, ends.array, numbers.array, out.array)
    return out


def row_information(table: Any) -> Array:
    """Return Σ_w x log x of each row."""
    if isinstance(table, np.ndarray):
        information: Array = np.einsum("cw,cw->c", table, np.log(np.where(table > 0, table, 1.0)))
        return information
    return _compute_information(table, np.arange(len(table)), np.full(len(table), -1))


def _compute_information(table: Any, first: Array, second: Array, sign: float = 1.0) -> Array:
    first_rows, second_rows = (table.memory.put(part, np.int32) for part in (first, second))
    return np.asarray(_get_kernels(table).information(table.array, first_rows.array, second_rows.array, sign))


def union_information(table: Any, row: int, others: Array) -> Array:
    """Return Σ_w x log x of the sum of a row and each of the others."""
    if isinstance(table, np.ndarray):
        return row_information(table[others] + table[row])
    return _compute_information(table, others, np.full(len(others), row)) if len(others) else np.zeros(0)


def difference_information(table: Any, row: int, other: int) -> float:
    """Return Σ_w x log x of a row minus another one; negative numbers count as zero."""
    if isinstance(table, np.ndarray):
        return float(row_information(np.maximum(table[[row]] - table[[other]], 0.0))[0])
    return float(_compute_information(table, np.array([row]), np.array([other]), -1.0)[0])


def sum_into_row(table: Any, row: int, members: Sequence[int] | Array) -> None:
    """Replace a row by the sum of other rows."""
    if isinstance(table, np.ndarray):
        table[row] = table[members].sum(axis=0)
        return
    table.array[row : row + 1].copy_to_device(row_sums(table, [members]).array, stream=table.memory.stream)


def to_device_of(table: Any, value: Array) -> Any:
    """Move a NumPy array to where the table is."""
    return value if isinstance(table, np.ndarray) else table.memory.put(value)


def to_double(table: Any) -> Any:
    """Return the table in double precision; a device table stays, because sums there are in double precision."""
    return table if hasattr(table, "memory") else np.asarray(table, np.float64)


def normalise_with_minimum(table: Any, minimum: float, dtype: Any) -> Any:
    """Replace numbers below ``minimum``, then scale rows to sum one."""
    if isinstance(table, np.ndarray):
        limited_table = np.maximum(table, minimum)
        limited_table /= limited_table.sum(axis=1, keepdims=True)
        return limited_table.astype(dtype)
    kernels, out = _get_kernels(table), _blend_on_device(table, np.zeros(table.shape[1]), np.ones(len(table)), dtype)
    kernels.apply_minimum(out.array, minimum)
    kernels.normalise_rows(out.array, 0.0)
    return out
