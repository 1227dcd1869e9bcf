"""The verbs of counts in numba: the same sums as ``reference``, in one sweep and without a temporary.

What makes them fast, each worth measuring again when hardware changes (``make bench`` does):

- four non-zeros at a time, so that the row and its running sum are loaded once for four;
- rows asked for sixteen non-zeros ahead (``prefetch``): the sweep is bound by memory, not by arithmetic;
- sums may be reordered and fused (``jit``), but NaN and infinity keep their meaning, as the guards need;
- in single precision a long row is added up in runs of ``RUN`` non-zeros, and the runs in double precision.

The order of every sum depends on the row alone, so blocks and threads cannot change a bit. Kernels hold no lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import FOLDING_STRIDE, SMALLEST_MIXTURE, Folding, verbs
from topiarist.kernels.jit import AHEAD, inline, jit, prefetch

RUN = 256


@inline
def _add_ratios(indices, data, span, row, other, run, total, mixture):
    """``total = Σ_t data[t]/mixture[t] other[indices[t]]`` and the mixtures, for the non-zeros ``span`` of one row."""
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
            for ahead in range(AHEAD, AHEAD + 4):  # on into the next rows: they are swept next
                prefetch(other, indices[min(t + ahead, last)])
            r0, r1, r2, r3 = (
                other[indices[t]],
                other[indices[t + 1]],
                other[indices[t + 2]],
                other[indices[t + 3]],
            )
            m0 = m1 = m2 = m3 = zero
            for k in range(width):
                m0 += row[k] * r0[k]
                m1 += row[k] * r1[k]
                m2 += row[k] * r2[k]
                m3 += row[k] * r3[k]
            here = t - first
            mixture[here], mixture[here + 1] = max(m0, smallest), max(m1, smallest)
            mixture[here + 2], mixture[here + 3] = max(m2, smallest), max(m3, smallest)
            q0 = data[t] / m0 if m0 > smallest else zero
            q1 = data[t + 1] / m1 if m1 > smallest else zero
            q2 = data[t + 2] / m2 if m2 > smallest else zero
            q3 = data[t + 3] / m3 if m3 > smallest else zero
            for k in range(width):
                run[k] += q0 * r0[k] + q1 * r1[k] + q2 * r2[k] + q3 * r3[k]
        for t in range(fours, stop):
            r0 = other[indices[t]]
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
def document_counts(indptr, indices, data, own, other, out, mixture):
    """(P2), (P3), (H5): see ``reference.document_counts``."""
    width = own.shape[1]
    run, total = np.empty(width, own.dtype), np.empty(width, np.float64)
    for d in range(len(own)):
        span = (indptr[d], indptr[d + 1])
        _add_ratios(indices, data, span, own[d], other, run, total, mixture[indptr[d] - indptr[0] :])
        for k in range(width):
            out[d, k] = own[d, k] * total[k]


@jit
def word_counts(indptr, starts, indices, data, own, other, out):
    """(P3), (H6): see ``reference.word_counts``."""
    width = own.shape[1]
    run, total = np.empty(width, own.dtype), np.empty(width, np.float64)
    mixture = np.empty(np.max(starts[1:] - starts[:-1]), own.dtype)
    out[:] = 0
    for t in range(len(indptr)):
        tile = other[starts[t] : starts[t + 1]]
        for w in range(len(own)):
            span = (indptr[t, w], indptr[t, w + 1])
            if span[0] == span[1]:
                continue
            _add_ratios(indices, data, span, own[w], tile, run, total, mixture)
            for k in range(width):
                out[w, k] += own[w, k] * total[k]


@jit
def mixtures(indptr, indices, own, other, mixture):
    """(P1): see ``reference.mixtures``."""
    width = own.shape[1]
    first = indptr[0]
    for d in range(len(own)):
        for t in range(indptr[d], indptr[d + 1]):
            row = other[indices[t]]
            m = own.dtype.type(0)
            for k in range(width):
                m += own[d, k] * row[k]
            mixture[t - first] = m


@jit
def fold_in(indptr, indices, data, own, other, folding):
    """(P5): see ``reference.fold_in``."""
    width = own.shape[1]
    longest = 0
    for d in range(len(own)):
        longest = max(longest, indptr[d + 1] - indptr[d])
    tempered, run = np.empty(width, own.dtype), np.empty(width, own.dtype)
    total, ahead, mixture = (
        np.empty(width, np.float64),
        np.empty(width, np.float64),
        np.empty(longest, own.dtype),
    )
    for d in range(len(own)):
        span = (indptr[d], indptr[d + 1])
        for step in range(folding.max_steps):
            for k in range(width):
                tempered[k] = own[d, k]
            if folding.inverse_temperature != 1.0:
                for k in range(width):
                    tempered[k] = tempered[k] ** folding.inverse_temperature
            _add_ratios(indices, data, span, tempered, other, run, total, mixture)
            norm = 0.0
            for k in range(width):
                total[k] = tempered[k] * total[k] + folding.smoothing
                norm += total[k]
            if norm == 0.0:
                break
            moved = reach = 0.0
            for k in range(width):
                total[k] /= norm
                move = total[k] - own[d, k]
                moved += abs(move)
                ahead[k] = max(total[k] + (FOLDING_STRIDE - 1.0) * move, total[k] / 2.0)
                reach += ahead[k]
            last = moved < folding.tolerance or step == folding.max_steps - 1
            for k in range(width):
                own[d, k] = total[k] if last else ahead[k] / reach
            if last:
                break


@jit
def look_ahead(old, new, stride, out):
    """See ``reference.look_ahead``."""
    ahead, half = new.dtype.type(stride - 1.0), new.dtype.type(0.5)
    for d in range(len(new)):
        for k in range(new.shape[1]):
            out[d, k] = max(new[d, k] + ahead * (new[d, k] - old[d, k]), half * new[d, k])


@jit
def normalise_rows(counts, smoothing):
    """(P3), (P4): see ``reference.normalise_rows``."""
    width = counts.shape[1]
    plus = counts.dtype.type(smoothing)
    for d in range(len(counts)):
        total = 0.0
        for k in range(width):
            total += counts[d, k] + plus
        something = total > SMALLEST_MIXTURE
        scale = counts.dtype.type(1.0 / total) if something else counts.dtype.type(0)
        least = counts.dtype.type(0) if something else counts.dtype.type(1.0 / width)
        for k in range(width):
            counts[d, k] = (counts[d, k] + plus) * scale + least


@jit
def column_sums(counts, sums):
    """See ``reference.column_sums``."""
    sums[:] = 0
    for d in range(len(counts)):
        for k in range(counts.shape[1]):
            sums[k] += counts[d, k]


@jit
def scale_columns(counts, smoothing, scale):
    """(P3), (P4): see ``reference.scale_columns``."""
    plus = counts.dtype.type(smoothing)
    for d in range(len(counts)):
        for k in range(counts.shape[1]):
            counts[d, k] = (counts[d, k] + plus) * scale[k]


@jit
def sum_of_logs(array):
    """(P4): see ``reference.sum_of_logs``. One logarithm for eight entries, unless their product is too small."""
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
    """See ``reference.weighted_sum``."""
    total = 0.0
    for t in range(len(weights)):
        total += np.float64(weights[t]) * np.float64(values[t])
    return total


@jit
def tally(indices, counts):
    """See ``reference.tally``."""
    for t in range(len(indices)):
        counts[indices[t]] += 1


@jit
def transpose(indptr, indices, data, places, out_indices, out_data):
    """See ``reference.transpose``."""
    for d in range(len(indptr) - 1):
        for t in range(indptr[d], indptr[d + 1]):
            place = places[indices[t]]
            out_indices[place] = d
            out_data[place] = data[t]
            places[indices[t]] = place + 1


VERBS = verbs(
    document_counts, word_counts, mixtures, fold_in, look_ahead, normalise_rows, column_sums, scale_columns,
    sum_of_logs, weighted_sum, tally, transpose,
)  # fmt: skip


def prepare(dtype: DTypeLike) -> None:
    """Compile the kernels of flat models in one precision, which takes some seconds once per machine."""
    indptr, indices = np.array([0, 1], np.int32), np.array([0], np.int32)
    own, data = np.ones((1, 1), dtype), np.ones(1, dtype)
    arguments: tuple[Any, ...] = (indptr, indices, data, own, own.copy())
    document_counts(*arguments, own.copy(), data.copy())
    for n_tiles in (1, 2):  # pieces of several tiles are not contiguous, which is another compilation
        ends = np.zeros((n_tiles, 3), np.int64)[:, :2]
        word_counts(ends, np.zeros(n_tiles + 1, np.int64), indices.astype(np.uint16), *arguments[2:], own.copy())
    mixtures(indptr, indices, own, own.copy(), data.copy())
    fold_in(*arguments, Folding())
    look_ahead(own, own.copy(), 1.5, own.copy())
    normalise_rows(own.copy(), 0.5)
    column_sums(own, np.empty(1))
    scale_columns(own.copy(), 0.5, data.copy())
    sum_of_logs(own)
    weighted_sum(data, data.copy())
    tally(indices, np.zeros(1, np.int64))
    transpose(indptr, indices, data, np.zeros(1, np.int64), indices.astype(np.uint16), data.copy())
