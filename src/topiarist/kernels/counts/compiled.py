"""Compiled kernels of counts in numba: the same sums as ``reference``, in one sweep and without temporary arrays.

Four measures make them fast. ``make bench`` measures them again when hardware changes:

- Four non-zeros are taken at a time, so that the row and its running sum are loaded once for four.
- Rows are prefetched sixteen non-zeros ahead (``prefetch``): the sweep is bound by memory, not by arithmetic.
- Sums can be reordered and fused (``jit``), but NaN and infinity keep their meaning, as the guards need.
- In single precision a long row is added up in runs of ``RUN`` non-zeros, and the runs in double precision.

The order of every sum depends on the row alone, so blocks and threads do not change bits. Kernels hold no lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import FOLDING_STRIDE, SMALLEST_MIXTURE, Folding
from topiarist.kernels.jit import PREFETCH_DISTANCE, inline, jit, prefetch

RUN = 256  # non-zeros


@inline
def _add_ratios(indices, data, span, row, column_factor, run, total, mixture):
    """Compute ``total = Σ_t data[t]/mixture[t] column_factor[indices[t]]`` and the mixtures.

    ``span`` is the range of non-zeros of one row.
    """
    first, end = span
    width, last = len(row), len(indices) - 1
    zero = row.dtype.type(0)
    smallest = row.dtype.type(SMALLEST_MIXTURE)
    if first == end:
        total[:] = 0
    for start in range(first, end, RUN):
        stop = min(start + RUN, end)
        fours = start + (stop - start) // 4 * 4
        run[:] = 0
        for t in range(start, fours, 4):
            for distance in range(
                PREFETCH_DISTANCE, PREFETCH_DISTANCE + 4
            ):  # beyond the row: the next rows are swept next
                prefetch(column_factor, indices[min(t + distance, last)])
            r0, r1, r2, r3 = (
                column_factor[indices[t]],
                column_factor[indices[t + 1]],
                column_factor[indices[t + 2]],
                column_factor[indices[t + 3]],
            )
            m0 = m1 = m2 = m3 = zero
            for k in range(width):
                m0 += row[k] * r0[k]
                m1 += row[k] * r1[k]
                m2 += row[k] * r2[k]
                m3 += row[k] * r3[k]
            place = t - first
            mixture[place], mixture[place + 1] = max(m0, smallest), max(m1, smallest)
            mixture[place + 2], mixture[place + 3] = max(m2, smallest), max(m3, smallest)
            q0 = data[t] / m0 if m0 > smallest else zero
            q1 = data[t + 1] / m1 if m1 > smallest else zero
            q2 = data[t + 2] / m2 if m2 > smallest else zero
            q3 = data[t + 3] / m3 if m3 > smallest else zero
            for k in range(width):
                run[k] += q0 * r0[k] + q1 * r1[k] + q2 * r2[k] + q3 * r3[k]
        for t in range(fours, stop):
            r0 = column_factor[indices[t]]
            m0 = zero
            for k in range(width):
                m0 += row[k] * r0[k]
            mixture[t - first] = max(m0, smallest)
            q0 = data[t] / m0 if m0 > smallest else zero
            for k in range(width):
                run[k] += q0 * r0[k]
        for k in range(width):
            total[k] = run[k] if start == first else total[k] + run[k]


@jit
def document_counts(indptr, indices, data, row_factor, column_factor, out, mixture):
    """(P2), (P3), (H5): compute expected counts by document into ``out``, and the mixtures."""
    width = row_factor.shape[1]
    run, total = np.empty(width, row_factor.dtype), np.empty(width, np.float64)
    for d in range(len(row_factor)):
        span = (indptr[d], indptr[d + 1])
        _add_ratios(indices, data, span, row_factor[d], column_factor, run, total, mixture[indptr[d] - indptr[0] :])
        for k in range(width):
            out[d, k] = row_factor[d, k] * total[k]


@jit
def word_counts(indptr, starts, indices, data, row_factor, column_factor, out):
    """(P3), (H6): compute expected counts by word into ``out``, one tile of documents after another."""
    width = row_factor.shape[1]
    run, total = np.empty(width, row_factor.dtype), np.empty(width, np.float64)
    mixture = np.empty(np.max(starts[1:] - starts[:-1]), row_factor.dtype)
    out[:] = 0
    for t in range(len(indptr)):
        tile = column_factor[starts[t] : starts[t + 1]]
        for w in range(len(row_factor)):
            span = (indptr[t, w], indptr[t, w + 1])
            if span[0] == span[1]:
                continue
            _add_ratios(indices, data, span, row_factor[w], tile, run, total, mixture)
            for k in range(width):
                out[w, k] += row_factor[w, k] * total[k]


@jit
def mixtures(indptr, indices, row_factor, column_factor, mixture):
    """(P1): set ``mixture[t] = row_factor[i] · column_factor[j]`` for each non-zero t at (i, j)."""
    width = row_factor.shape[1]
    first = indptr[0]
    for d in range(len(row_factor)):
        for t in range(indptr[d], indptr[d + 1]):
            row = column_factor[indices[t]]
            m = row_factor.dtype.type(0)
            for k in range(width):
                m += row_factor[d, k] * row[k]
            mixture[t - first] = m


@jit
def fold_in(indptr, indices, data, row_factor, column_factor, folding):
    """(P5): run over-relaxed EM on each row of ``row_factor`` in place until convergence."""
    width = row_factor.shape[1]
    max_length = 0
    for d in range(len(row_factor)):
        max_length = max(max_length, indptr[d + 1] - indptr[d])
    tempered_row, run = np.empty(width, row_factor.dtype), np.empty(width, row_factor.dtype)
    total, next_row, mixture = (
        np.empty(width, np.float64),
        np.empty(width, np.float64),
        np.empty(max_length, row_factor.dtype),
    )
    for d in range(len(row_factor)):
        span = (indptr[d], indptr[d + 1])
        for step in range(folding.max_steps):
            for k in range(width):
                tempered_row[k] = row_factor[d, k]
            if folding.inverse_temperature != 1.0:
                for k in range(width):
                    tempered_row[k] = tempered_row[k] ** folding.inverse_temperature
            _add_ratios(indices, data, span, tempered_row, column_factor, run, total, mixture)
            norm = 0.0
            for k in range(width):
                total[k] = tempered_row[k] * total[k] + folding.smoothing
                norm += total[k]
            if norm == 0.0:
                break
            change = extrapolated_norm = 0.0
            for k in range(width):
                total[k] /= norm
                move = total[k] - row_factor[d, k]
                change += abs(move)
                next_row[k] = max(total[k] + (FOLDING_STRIDE - 1.0) * move, total[k] / 2.0)
                extrapolated_norm += next_row[k]
            is_last = change < folding.tolerance or step == folding.max_steps - 1
            for k in range(width):
                row_factor[d, k] = total[k] if is_last else next_row[k] / extrapolated_norm
            if is_last:
                break


@jit
def extrapolate(old, new, stride, out):
    factor, half = new.dtype.type(stride - 1.0), new.dtype.type(0.5)
    for d in range(len(new)):
        for k in range(new.shape[1]):
            out[d, k] = max(new[d, k] + factor * (new[d, k] - old[d, k]), half * new[d, k])


@jit
def normalise_rows(counts, smoothing):
    """(P3), (P4): smooth and scale each row to sum one, in place; an empty row becomes uniform."""
    width = counts.shape[1]
    plus = counts.dtype.type(smoothing)
    for d in range(len(counts)):
        total = 0.0
        for k in range(width):
            total += counts[d, k] + plus
        has_mass = total > SMALLEST_MIXTURE
        scale = counts.dtype.type(1.0 / total) if has_mass else counts.dtype.type(0)
        uniform = counts.dtype.type(0) if has_mass else counts.dtype.type(1.0 / width)
        for k in range(width):
            counts[d, k] = (counts[d, k] + plus) * scale + uniform


@jit
def column_sums(counts, sums):
    sums[:] = 0
    for d in range(len(counts)):
        for k in range(counts.shape[1]):
            sums[k] += counts[d, k]


@jit
def scale_columns(counts, smoothing, scale):
    """(P3), (P4): add the smoothing and multiply each column by its scale, in place."""
    plus = counts.dtype.type(smoothing)
    for d in range(len(counts)):
        for k in range(counts.shape[1]):
            counts[d, k] = (counts[d, k] + plus) * scale[k]


@jit
def sum_of_logs(array):
    """(P4): return Σ log of the entries in double precision, with one logarithm for eight entries.

    Entries whose product is too small have one logarithm each.
    """
    width = array.shape[1]
    eights = width // 8 * 8
    total = 0.0
    for d in range(len(array)):
        for k in range(0, eights, 8):
            product = 1.0
            for step in range(8):
                product *= array[d, k + step]
            if product > 1e-290:
                total += np.log(product)
            else:
                for step in range(8):
                    total += np.log(np.float64(array[d, k + step]))
        for k in range(eights, width):
            total += np.log(np.float64(array[d, k]))
    return total


@jit
def weighted_sum(weights, values):
    total = 0.0
    for t in range(len(weights)):
        total += np.float64(weights[t]) * np.float64(values[t])
    return total


@jit
def tally(indices, counts):
    for t in range(len(indices)):
        counts[indices[t]] += 1


@jit
def transpose(indptr, indices, data, places, out_indices, out_data):
    """Convert rows to columns; ``places`` has the next output index per column and is advanced."""
    for d in range(len(indptr) - 1):
        for t in range(indptr[d], indptr[d + 1]):
            place = places[indices[t]]
            out_indices[place] = d
            out_data[place] = data[t]
            places[indices[t]] = place + 1


def prepare(dtype: DTypeLike) -> None:
    """Compile the kernels of flat models in one precision, which takes some seconds once on a machine."""
    indptr, indices = np.array([0, 1], np.int32), np.array([0], np.int32)
    row_factor, data = np.ones((1, 1), dtype), np.ones(1, dtype)
    arguments: tuple[Any, ...] = (indptr, indices, data, row_factor, row_factor.copy())
    document_counts(*arguments, row_factor.copy(), data.copy())
    for n_tiles in (1, 2):  # slices of several tiles are not contiguous, which is another compilation
        ends = np.zeros((n_tiles, 3), np.int64)[:, :2]
        word_counts(ends, np.zeros(n_tiles + 1, np.int64), indices.astype(np.uint16), *arguments[2:], row_factor.copy())
    mixtures(indptr, indices, row_factor, row_factor.copy(), data.copy())
    fold_in(*arguments, Folding())
    extrapolate(row_factor, row_factor.copy(), 1.5, row_factor.copy())
    normalise_rows(row_factor.copy(), 0.5)
    column_sums(row_factor, np.empty(1))
    scale_columns(row_factor.copy(), 0.5, data.copy())
    sum_of_logs(row_factor)
    weighted_sum(data, data.copy())
    tally(indices, np.zeros(1, np.int64))
    transpose(indptr, indices, data, np.zeros(1, np.int64), indices.astype(np.uint16), data.copy())
