"""Large tables as a tree changes, wherever they are: of NumPy, or of a device, which never sends them home for it.

Shares of documents in classes are divided and joined by columns, words of nodes are taken and stacked by rows. What
is small (sums of columns, the strongest column of each row) is NumPy's in either case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Array


def _verbs(table: Any) -> Any:
    from topiarist.kernels.cuda.verbs import Verbs

    return Verbs(table.memory)


def at_home(table: Any) -> Array:
    """As a NumPy array."""
    home: Array = table if isinstance(table, np.ndarray) else table.numpy()
    return home


def column_totals(table: Any) -> Array:
    """The sum of each column in double precision."""
    if isinstance(table, np.ndarray):
        total: Array = table.sum(axis=0, dtype=np.float64)
        return total
    sums = table.memory.empty((table.shape[1],), np.float64)
    _verbs(table).column_sums(table.array, sums.array)
    return at_home(sums)


def strongest(table: Any) -> Array:
    """The column of the largest number of each row; of equal ones the first."""
    if isinstance(table, np.ndarray):
        first: Array = table.argmax(axis=1)
        return first
    out = table.memory.empty((len(table),), np.int64)
    _verbs(table).strongest(table.array, out.array)
    return at_home(out)


def halved(table: Any, splits: Sequence[tuple[int, Any]], certain: float) -> Any:
    """Columns that part: the first half keeps the place of its column, the second is last, those of splits in turn.

    A split is a column and the rows of its two halves, or None. A row has ``certain`` of its number in its own half; of
    those in neither half each gets the same. A row is in the halves of one split at most.
    """
    if isinstance(table, np.ndarray):
        out = np.pad(table, ((0, 0), (0, len(splits))))
        for number, (column, halves) in enumerate(splits):
            first = np.full(len(table), 0.5, table.dtype)
            if halves is not None:
                first[halves[0]], first[halves[1]] = certain, 1 - certain
            out[:, column], out[:, table.shape[1] + number] = table[:, column] * first, table[:, column] * (1 - first)
        return out
    memory, width = table.memory, table.shape[1]
    sources = np.append(np.arange(width), [column for column, _ in splits]).astype(np.int32)
    which = np.full(width + len(splits), -1, np.int32)
    places = np.full(len(table), -1, np.int32)
    for number, (column, halves) in enumerate(splits):
        which[column], which[width + number] = 2 * number, 2 * number + 1
        if halves is not None:
            places[halves[0]], places[halves[1]] = 2 * number, 2 * number + 1
    out = memory.empty((len(table), width + len(splits)), table.dtype)
    arguments = [memory.put(part) for part in (sources, which, places)]
    _verbs(table).halve(table.array, *(part.array for part in arguments), certain, out.array)
    return out


def joined(table: Any, groups: Sequence[Sequence[int]], *, normalised: bool = False) -> Any:
    """The columns of each group added together, in their order.

    ``normalised``: rows that sum to one; a row of nothing becomes uniform.
    """
    if isinstance(table, np.ndarray):
        out = table[:, [group[0] for group in groups]]
        for place, group in enumerate(groups):
            for column in group[1:]:
                out[:, place] += table[:, column]
        if normalised:
            total = out.sum(axis=1, keepdims=True)
            out = np.where(total > 0, out / np.where(total > 0, total, 1), 1 / len(groups)).astype(table.dtype)
        return np.ascontiguousarray(out)
    memory, verbs = table.memory, _verbs(table)
    ends = memory.put(np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int32))
    columns = memory.put(np.concatenate([np.asarray(group, np.int32) for group in groups]))
    out = memory.empty((len(table), len(groups)), table.dtype)
    verbs.join(table.array, ends.array, columns.array, out.array)
    if normalised:
        verbs.normalise_rows(out.array, 0.0)
    return out


def rows(table: Any, numbers: Sequence[int] | Array) -> Any:
    """Some rows in an order of their own."""
    if isinstance(table, np.ndarray):
        return np.ascontiguousarray(table[numbers])
    wanted = table.memory.put(np.asarray(numbers, np.int64))
    out = table.memory.empty((len(wanted), table.shape[1]), table.dtype)
    _verbs(table).take_rows(table.array, wanted.array, out.array)
    return out


def stacked(table: Any, more: Any) -> Any:
    """Rows below those of a table, in its precision and where it is."""
    if isinstance(table, np.ndarray):
        return np.concatenate([table, at_home(more).astype(table.dtype)])
    memory, n_rows = table.memory, len(table)
    out = memory.empty((n_rows + len(more), table.shape[1]), table.dtype)
    added = memory.put(more, table.dtype) if isinstance(more, np.ndarray) else more
    for part, begin in ((table, 0), (added, n_rows)):
        if len(part):
            out.array[begin : begin + len(part)].copy_to_device(part.array, stream=memory.stream)
    return out


def with_row(table: Any, number: int, row: Any) -> Any:
    """The table with another row at one place, in place; ``row`` is a table of one."""
    if isinstance(table, np.ndarray):
        table[number] = at_home(row)[0]
    else:
        table.array[number : number + 1].copy_to_device(row.array, stream=table.memory.stream)
    return table


def row_totals(table: Any) -> Array:
    """The sum of each row in double precision."""
    if isinstance(table, np.ndarray):
        total: Array = table.sum(axis=1, dtype=np.float64)
        return total
    return np.asarray(_verbs(table).row_totals(table.array))


def _blended(table: Any, columns: Array, rows: Array, dtype: Any = np.float64) -> Any:
    memory = table.memory
    across, down = memory.put(columns, np.float64), memory.put(rows, np.float64)
    out = memory.empty(table.shape, dtype)
    _verbs(table).blend(table.array, across.array, down.array, out.array)
    return out


def blended(table: Any, columns: Array, rows: Array) -> Any:
    """``(table + columns) / rows[:, None]`` in double precision."""
    if isinstance(table, np.ndarray):
        return (table + columns) / rows[:, None]
    return _blended(table, columns, 1.0 / rows)


def parted(table: Any, rows: Array) -> Any:
    """``table / rows[:, None]``."""
    return table / rows[:, None] if isinstance(table, np.ndarray) else scaled(table, 1.0 / rows)


def scaled(table: Any, factors: Array) -> Any:
    """``table * factors[:, None]``."""
    if isinstance(table, np.ndarray):
        return table * factors[:, None]
    return _blended(table, np.zeros(table.shape[1]), factors)


def under(mask: Array, table: Any) -> Any:
    """``mask.T @ table`` in double precision, for a mask of which rows belong to which sums."""
    if isinstance(table, np.ndarray):
        return mask.astype(np.float64).T @ table
    return row_sums(table, [np.flatnonzero(column) for column in mask.T])


def row_sums(table: Any, groups: Sequence[Sequence[int] | Array]) -> Any:
    """The sum of each group of rows."""
    if isinstance(table, np.ndarray):
        return np.stack([table[group].sum(axis=0) for group in groups])
    memory = table.memory
    ends = memory.put(np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int32))
    numbers = memory.put(np.concatenate([np.asarray(group, np.int32) for group in groups]))
    out = memory.empty((len(groups), table.shape[1]), np.float64)
    _verbs(table).add_rows(table.array, ends.array, numbers.array, out.array)
    return out


def information(table: Any) -> Array:
    """Σ_w x log x of each row."""
    if isinstance(table, np.ndarray):
        told: Array = np.einsum("cw,cw->c", table, np.log(np.where(table > 0, table, 1.0)))
        return told
    return _informed(table, np.arange(len(table)), np.full(len(table), -1))


def _informed(table: Any, first: Array, second: Array, sign: float = 1.0) -> Array:
    one, other = (table.memory.put(part, np.int32) for part in (first, second))
    return np.asarray(_verbs(table).information(table.array, one.array, other.array, sign))


def union_information(table: Any, row: int, others: Array) -> Array:
    """The same of a row and each of some others together."""
    if isinstance(table, np.ndarray):
        return information(table[others] + table[row])
    return _informed(table, others, np.full(len(others), row)) if len(others) else np.zeros(0)


def difference_information(table: Any, row: int, other: int) -> float:
    """The same of what is left of a row without another one."""
    if isinstance(table, np.ndarray):
        return float(information(np.maximum(table[[row]] - table[[other]], 0.0))[0])
    return float(_informed(table, np.array([row]), np.array([other]), -1.0)[0])


def unite(table: Any, row: int, members: Sequence[int] | Array) -> None:
    """Put the sum of some rows into another one."""
    if isinstance(table, np.ndarray):
        table[row] = table[members].sum(axis=0)
        return
    table.array[row : row + 1].copy_to_device(row_sums(table, [members]).array, stream=table.memory.stream)


def beside(table: Any, value: Array) -> Any:
    """A NumPy array, where the table is."""
    return value if isinstance(table, np.ndarray) else table.memory.put(value)


def doubles(table: Any) -> Any:
    """In double precision, unless a device has it, which adds in that anyway."""
    return table if hasattr(table, "memory") else np.asarray(table, np.float64)


def possible(table: Any, least: float, dtype: Any) -> Any:
    """Rows that sum to one, with nothing less than ``least`` before they were brought to that."""
    if isinstance(table, np.ndarray):
        raised = np.maximum(table, least)
        raised /= raised.sum(axis=1, keepdims=True)
        return raised.astype(dtype)
    verbs, out = _verbs(table), _blended(table, np.zeros(table.shape[1]), np.ones(len(table)), dtype)
    verbs.raise_to(out.array, least)
    verbs.normalise_rows(out.array, 0.0)
    return out
