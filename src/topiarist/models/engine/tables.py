"""Row and column operations on parameter tables in NumPy or on the device.

Shares of documents in classes are split and added by columns, words of nodes are selected and appended by rows. Tables
on a device stay there. Small results (sums of columns, the largest column of each row) are NumPy arrays in both cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from topiarist.arrays import Array


def _launch(table: Any, module: str, name: str, shape: tuple[int, int], dtype: Any, *arguments: object) -> Any:
    """Start a kernel that reads the table, with one thread for each number of its result, and return the result."""
    out = table.memory.empty(shape, dtype)
    kernel = getattr(import_module(f"topiarist.kernels.cuda.{module}"), name)
    table.memory.launch(kernel, out.array.size, table, *arguments, out)
    return out


def _get_verbs() -> Any:
    return import_module("topiarist.kernels.cuda.verbs")


def _put_groups(table: Any, groups: Sequence[Sequence[int] | Array]) -> tuple[Any, Any]:
    """Return the ends of groups and their members, in sequence, on the device."""
    ends = np.append(0, np.cumsum([len(group) for group in groups]))
    members = np.concatenate([np.asarray(group, np.int32) for group in groups])
    return table.memory.put(ends, np.int32), table.memory.put(members)


def to_numpy(table: Any) -> Array:
    """Return the table as a NumPy array."""
    array: Array = table if isinstance(table, np.ndarray) else table.numpy()
    return array


def column_totals(table: Any) -> Array:
    """Return the sum of each column in double precision."""
    if isinstance(table, np.ndarray):
        total: Array = table.sum(axis=0, dtype=np.float64)
        return total
    return np.asarray(_get_verbs().column_sums(table))


def find_largest_columns(table: Any) -> Array:
    """Return the column of the largest number of each row; the first of equal ones."""
    if isinstance(table, np.ndarray):
        first: Array = table.argmax(axis=1)
        return first
    return to_numpy(_get_verbs().find_largest_columns(table))


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
    width = table.shape[1]
    sources = np.append(np.arange(width), [column for column, _ in splits]).astype(np.int32)
    halves_of_columns = np.full(width + len(splits), -1, np.int32)
    places = np.full(len(table), -1, np.int32)
    for number, (column, halves) in enumerate(splits):
        halves_of_columns[column], halves_of_columns[width + number] = 2 * number, 2 * number + 1
        if halves is not None:
            places[halves[0]], places[halves[1]] = 2 * number, 2 * number + 1
    arguments = (table.memory.put(part) for part in (sources, halves_of_columns, places))
    shape = (len(table), width + len(splits))
    return _launch(table, "shares", "split_columns", shape, table.dtype, *arguments, float(certainty))


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
    shape = (len(table), len(groups))
    out = _launch(table, "shares", "sum_columns", shape, table.dtype, *_put_groups(table, groups))
    if normalise:
        _get_verbs().normalise_rows(out, 0.0)
    return out


def take_rows(table: Any, numbers: Sequence[int] | Array) -> Any:
    """Return rows in the given order."""
    if isinstance(table, np.ndarray):
        return np.ascontiguousarray(table[numbers])
    return _get_verbs().take_rows(table, numbers)


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
    return np.asarray(_get_verbs().row_totals(table))


def _blend_on_device(table: Any, columns: Array, rows: Array, dtype: Any = np.float64) -> Any:
    factors = (table.memory.put(part, np.float64) for part in (columns, rows))
    return _launch(table, "clusters", "blend", table.shape, dtype, *factors)


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
    shape = (len(groups), table.shape[1])
    return _launch(table, "clusters", "add_rows", shape, np.float64, *_put_groups(table, groups))


def row_information(table: Any) -> Array:
    """Return Σ_w x log x of each row."""
    if isinstance(table, np.ndarray):
        information: Array = np.einsum("cw,cw->c", table, np.log(np.where(table > 0, table, 1.0)))
        return information
    return np.asarray(_get_verbs().information(table, np.arange(len(table)), np.full(len(table), -1)))


def union_information(table: Any, row: int, others: Array) -> Array:
    """Return Σ_w x log x of the sum of a row and each of the others."""
    if isinstance(table, np.ndarray):
        return row_information(table[others] + table[row])
    if not len(others):
        return np.zeros(0)
    return np.asarray(_get_verbs().information(table, others, np.full(len(others), row)))


def difference_information(table: Any, row: int, other: int) -> float:
    """Return Σ_w x log x of a row minus another one; negative numbers count as zero."""
    if isinstance(table, np.ndarray):
        return float(row_information(np.maximum(table[[row]] - table[[other]], 0.0))[0])
    return float(_get_verbs().information(table, np.array([row]), np.array([other]), -1.0)[0])


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
    out = _blend_on_device(table, np.zeros(table.shape[1]), np.ones(len(table)), dtype)
    _get_verbs().apply_minimum(out, minimum)
    _get_verbs().normalise_rows(out, 0.0)
    return out
