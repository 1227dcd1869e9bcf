"""The sweeps over the components that documents still use, in numba.

A scattered number costs about eight times as much as one of a whole row, so these pay where a document uses less than
an eighth of the components. What makes them no slower than that:

- both sweeps go word by word: the word's row stays in the core's own cache while documents pass by, and a document's
  lanes are a few neighbouring lines of memory, asked for ``AHEAD`` documents ahead;
- lanes of eight, so that the loops over a document's components have no odd end;
- the mixtures of the first sweep are kept for the second, which then only adds.

As in ``compiled`` the order of every sum depends on the counts and the lanes alone.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE, Active, verbs
from topiarist.kernels.jit import inline, jit, prefetch

AHEAD = 6  # documents
RUN = 256  # documents: a long sum in single precision is a sum of sums
LANES_AT_HAND = (8 << 20) // 48  # tiles whose lanes together take a quarter of a common shared cache are swept as one


@jit
def active_document_counts(indptr, indices, data, active, other, out, mixture):
    """(P2), (P3): see ``reference.active_document_counts``."""
    ends, last = active.ends, len(indices) - 1
    components, values = active.components.reshape(-1), active.values.reshape(-1)
    sums = out.reshape(-1)
    longest = 0
    for d in range(len(ends) - 1):
        longest = max(longest, ends[d + 1] - ends[d])
    taken = np.empty(8 * longest, other.dtype)
    zero, smallest = other.dtype.type(0), other.dtype.type(SMALLEST_MIXTURE)
    sums[8 * ends[0] : 8 * ends[-1]] = 0
    for w in range(len(indptr) - 1):
        row = other[w]
        for t in range(indptr[w], indptr[w + 1]):
            lane = ends[min(np.intp(indices[min(t + AHEAD, last)]), len(ends) - 1)]
            prefetch(active.components, lane)
            prefetch(active.values, lane)
            prefetch(out, lane)
            first, end = 8 * ends[indices[t]], 8 * ends[indices[t] + 1]
            which, own, total = components[first:end], values[first:end], sums[first:end]
            for k in range(len(which)):
                taken[k] = row[which[k]]
            m = zero
            for k in range(len(which)):
                m += own[k] * taken[k]
            mixture[t] = max(m, smallest)
            q = data[t] / m if m > smallest else zero
            for k in range(len(which)):
                total[k] += q * taken[k]
    for place in range(8 * ends[0], 8 * ends[-1]):
        sums[place] *= values[place]


@jit
def active_word_counts(indptr, starts, indices, data, mixture, active, own, out):
    """(P3): see ``reference.active_word_counts``. Neighbouring tiles are swept as one as long as they are at hand."""
    ends, last, width = active.ends, len(indices) - 1, own.shape[1]
    run = np.zeros(width, own.dtype)
    zero, smallest = own.dtype.type(0), own.dtype.type(SMALLEST_MIXTURE)
    out[:] = 0
    tile = 0
    while tile < len(indptr):
        stop = tile + 1
        while stop < len(indptr) and ends[starts[stop + 1]] - ends[starts[tile]] <= LANES_AT_HAND:
            stop += 1
        for w in range(len(own)):
            visited = 0
            for t in range(tile, stop):
                for j in range(indptr[t, w], indptr[t, w + 1]):
                    if visited == RUN:
                        _add_run(own[w], run, out[w])
                        visited = 0
                    visited += 1
                    lane = ends[min(starts[t] + indices[min(j + AHEAD, last)], len(ends) - 1)]
                    prefetch(active.components, lane)
                    prefetch(active.values, lane)
                    d = starts[t] + indices[j]
                    which, some = active.components[ends[d] : ends[d + 1]], active.values[ends[d] : ends[d + 1]]
                    q = data[j] / mixture[j] if mixture[j] > smallest else zero
                    for i in range(len(which)):
                        for k in range(8):
                            run[which[i, k]] += q * some[i, k]
            if visited:
                _add_run(own[w], run, out[w])
        tile = stop


@inline
def _add_run(row, run, total):
    """Add a run to a word's sums, and begin another."""
    for k in range(len(row)):
        total[k] += row[k] * run[k]
    run[:] = 0


@inline
def _gains(indptr, indices, data, active, other, d, gains):
    """The gains of one document times its tokens, and its tokens."""
    which = active.components.reshape(-1)[8 * active.ends[d] : 8 * active.ends[d + 1]]
    own = active.values.reshape(-1)[8 * active.ends[d] : 8 * active.ends[d + 1]]
    first, end, last = indptr[d], indptr[d + 1], len(indices) - 1
    zero = other.dtype.type(0)
    gains[:] = 0
    weight = 0.0
    for t in range(first, end, 4):
        for ahead in range(AHEAD, AHEAD + 4):
            prefetch(other, indices[min(t + ahead, last)])
        t1, t2, t3 = min(t + 1, end - 1), min(t + 2, end - 1), min(t + 3, end - 1)
        r0, r1, r2, r3 = other[indices[t]], other[indices[t1]], other[indices[t2]], other[indices[t3]]
        m0 = m1 = m2 = m3 = zero
        for k in range(len(which)):
            m0 += own[k] * r0[which[k]]
            m1 += own[k] * r1[which[k]]
            m2 += own[k] * r2[which[k]]
            m3 += own[k] * r3[which[k]]
        n0 = data[t] if m0 > SMALLEST_MIXTURE else zero
        n1 = data[t1] if m1 > SMALLEST_MIXTURE and t + 1 < end else zero
        n2 = data[t2] if m2 > SMALLEST_MIXTURE and t + 2 < end else zero
        n3 = data[t3] if m3 > SMALLEST_MIXTURE and t + 3 < end else zero
        weight += n0 + n1 + n2 + n3
        q0 = n0 / m0 if n0 > 0 else zero
        q1 = n1 / m1 if n1 > 0 else zero
        q2 = n2 / m2 if n2 > 0 else zero
        q3 = n3 / m3 if n3 > 0 else zero
        for k in range(len(gains)):
            gains[k] += q0 * r0[k] + q1 * r1[k] + q2 * r2[k] + q3 * r3[k]
    return max(weight, SMALLEST_MIXTURE)


@jit
def active_gains(indptr, indices, data, active, other, out):
    """(S3): see ``reference.active_gains``."""
    gains = np.empty(other.shape[1], other.dtype)
    for d in range(len(out)):
        weight = _gains(indptr, indices, data, active, other, d, gains)
        for k in range(len(gains)):
            out[d, k] = gains[k] / weight


@jit
def active_entrants(indptr, indices, data, active, other, least, out, gains):
    """(S3): see ``reference.active_entrants``."""
    every = np.empty(other.shape[1], other.dtype)
    for d in range(len(out)):
        weight = _gains(indptr, indices, data, active, other, d, every)
        for i in range(active.ends[d], active.ends[d + 1]):
            for k in range(8):
                if active.values[i, k] > 0:
                    every[active.components[i, k]] = 0
        out[d], gains[d] = 0, 0
        for k in range(len(every)):
            gain = every[k] / weight
            if gain > least and gain > gains[d, 7]:
                place = 7
                while place > 0 and gain > gains[d, place - 1]:
                    out[d, place], gains[d, place] = out[d, place - 1], gains[d, place - 1]
                    place -= 1
                out[d, place], gains[d, place] = k, gain


@jit
def normalise_active(ends, counts, otherwise):
    """(P3): see ``reference.normalise_active``."""
    for d in range(len(ends) - 1):
        row, other = counts[ends[d] : ends[d + 1]], otherwise[ends[d] : ends[d + 1]]
        total = 0.0
        for i in range(len(row)):
            for k in range(8):
                total += row[i, k]
        scale = counts.dtype.type(1.0 / total if total > SMALLEST_MIXTURE else 0.0)
        for i in range(len(row)):
            for k in range(8):
                row[i, k] = row[i, k] * scale if total > SMALLEST_MIXTURE else other[i, k]


@jit
def count_used(active, before, least, sizes):
    """See ``reference.count_used``."""
    for d in range(len(sizes)):
        number = 0
        for i in range(active.ends[d], active.ends[d + 1]):
            for k in range(8):
                value = active.values[i, k]
                if value > 0 and (value >= least[d] or value >= before[i, k]):
                    number += 1
        sizes[d] = number


@jit
def keep_used(active, before, least, values, out):
    """See ``reference.keep_used``."""
    components, kept = out.components.reshape(-1), out.values.reshape(-1)
    for d in range(len(least)):
        place = 8 * out.ends[d]
        for i in range(active.ends[d], active.ends[d + 1]):
            for k in range(8):
                value = active.values[i, k]
                if value > 0 and (value >= least[d] or value >= before[i, k]):
                    components[place], kept[place] = active.components[i, k], values[i, k]
                    place += 1
        for rest in range(place, 8 * out.ends[d + 1]):
            components[rest], kept[rest] = 0, 0


VERBS = verbs(
    active_document_counts, active_word_counts, active_gains, active_entrants, normalise_active, count_used,
    keep_used,
)  # fmt: skip


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision."""
    indptr, indices, data = np.array([0, 1], np.int32), np.array([0], np.int32), np.ones(1, dtype)
    lanes = np.full((1, 8), 0.125, dtype)
    active = Active(np.array([0, 1]), np.zeros((1, 8), np.uint16), lanes)
    own, tile = np.ones((1, 1), dtype), indices.astype(np.uint16)
    active_document_counts(indptr.astype(np.int64), tile, data, active, own, lanes.copy(), data.copy())
    for n_tiles in (1, 2):  # pieces of several tiles are not contiguous, which is another compilation
        ends = np.zeros((n_tiles, 3), np.int64)[:, :2]
        active_word_counts(ends, np.zeros(n_tiles + 1, np.int64), tile, data, data.copy(), active, own, own.copy())
    active_gains(indptr, indices, data, active, own, np.empty((1, 1)))
    active_entrants(indptr, indices, data, active, own, 1.0, np.zeros((1, 8), np.uint16), np.zeros((1, 8)))
    normalise_active(active.ends, lanes.copy(), lanes)
    count_used(active, lanes, np.zeros(1), np.zeros(1, np.int64))
    keep_used(active, lanes, np.zeros(1), lanes, Active(active.ends, active.components.copy(), lanes.copy()))
