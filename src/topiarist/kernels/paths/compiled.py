"""The products that hierarchies need, in numba: counts times rows, and sums along the paths of a tree.

They are compiled by ``prepare``, so that whoever fits a flat model does not wait for them. As in ``compiled``
the order of every sum depends on its row, or on its piece of rows, alone.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE, Held, Paths, verbs
from topiarist.kernels.jit import AHEAD, inline, jit, prefetch

BLOCK = 1 << 16  # numbers: a block of words, class by class, stays in a core's cache
LINE = 16  # numbers between the rows of a block, so that they do not compete for the same lines of the cache


@inline
def _add_rows(indices, data, span, other, total):
    """``total = Σ_t data[t] other[indices[t]]`` in double precision, for the non-zeros ``span`` of one row."""
    first, end = span
    width, last = len(total), len(indices) - 1
    fours = first + (end - first) // 4 * 4
    total[:] = 0
    for t in range(first, fours, 4):
        for ahead in range(AHEAD, AHEAD + 4):
            prefetch(other, indices[min(t + ahead, last)])
        r0, r1, r2, r3 = other[indices[t]], other[indices[t + 1]], other[indices[t + 2]], other[indices[t + 3]]
        q0, q1 = np.float64(data[t]), np.float64(data[t + 1])
        q2, q3 = np.float64(data[t + 2]), np.float64(data[t + 3])
        for k in range(width):
            total[k] += q0 * r0[k] + q1 * r1[k] + q2 * r2[k] + q3 * r3[k]
    for t in range(fours, end):
        r0, q0 = other[indices[t]], np.float64(data[t])
        for k in range(width):
            total[k] += q0 * r0[k]


@jit
def row_products(indptr, indices, data, other, out):
    """See ``reference.row_products``."""
    total = np.empty(other.shape[1], np.float64)
    for d in range(len(out)):
        _add_rows(indices, data, (indptr[d], indptr[d + 1]), other, total)
        for k in range(len(total)):
            out[d, k] = total[k]


@jit
def word_products(indptr, starts, indices, data, other, out):
    """See ``reference.word_products``."""
    total = np.empty(other.shape[1], np.float64)
    out[:] = 0
    for t in range(len(indptr)):
        tile = other[starts[t] : starts[t + 1]]
        for w in range(len(out)):
            span = (indptr[t, w], indptr[t, w + 1])
            if span[0] == span[1]:
                continue
            _add_rows(indices, data, span, tile, total)
            for k in range(len(total)):
                out[w, k] += total[k]


@jit
def count_held(rows, least, sizes):
    """See ``reference.count_held``."""
    for d in range(len(rows)):
        number = 0
        for c in range(rows.shape[1]):
            number += rows[d, c] >= least
        sizes[d] = number


@jit
def keep_held(rows, least, held):
    """See ``reference.keep_held``."""
    for d in range(len(rows)):
        place, end = held.ends[d], held.ends[d + 1]
        for c in range(rows.shape[1]):
            if place == end:
                break
            if rows[d, c] >= least:
                held.classes[place], held.values[place] = c, rows[d, c]
                place += 1


@jit
def held_word_products(indptr, starts, indices, data, held, out):
    """See ``reference.held_word_products``: a word's sums stay in the first cache, and documents are short lists."""
    total = np.empty(out.shape[1], np.float64)
    for w in range(len(out)):
        total[:] = 0
        for t in range(len(indptr)):
            for place in range(indptr[t, w], indptr[t, w + 1]):
                d, number = starts[t] + indices[place], np.float64(data[place])
                for h in range(held.ends[d], held.ends[d + 1]):
                    total[held.classes[h]] += number * held.values[h]
        for c in range(len(total)):
            out[w, c] = total[c]


@inline
def _four(chosen, place, end):
    """Four numbers from ``place`` on; the last one again where there are fewer."""
    last = end - 1
    return chosen[place], chosen[min(place + 1, last)], chosen[min(place + 2, last)], chosen[min(place + 3, last)]


@inline
def _four_weights(weights, place, end):
    """Four weights from ``place`` on; zero where there are fewer."""
    zero = weights.dtype.type(0)
    return (
        weights[place],
        weights[place + 1] if place + 1 < end else zero,
        weights[place + 2] if place + 2 < end else zero,
        weights[place + 3] if place + 3 < end else zero,
    )


@jit
def climb(own, paths, start, out):
    """(H3): see ``reference.climb``."""
    width = out.shape[1]
    zero = own.dtype.type(0)
    size = max(64, min(BLOCK // width, len(out)))
    block = np.empty((width, size + LINE), own.dtype)
    for first in range(0, len(out), size):
        n = min(size, len(out) - first)
        here = slice(start + first, start + first + n)
        for c in range(width):
            row, begin, end = block[c, :n], paths.ends[c], paths.ends[c + 1]
            if begin == end:
                row[:] = 0
            for p in range(begin, end, 4):
                v0, v1, v2, v3 = _four(paths.nodes, p, end)
                a0, a1, a2, a3 = _four_weights(paths.weights, p, end)
                r0, r1, r2, r3 = own[v0, here], own[v1, here], own[v2, here], own[v3, here]
                for w in range(n):
                    before = row[w] if p > begin else zero
                    row[w] = before + (a0 * r0[w] + a1 * r1[w] + a2 * r2[w] + a3 * r3[w])
        for w in range(n):
            for c in range(width):
                out[first + w, c] = block[c, w]


@inline
def _add_shares(own, here, block, paths, out, sums):
    """``out[v] = own[v] ∘ Σ_c weight(c,v) block[c]`` for the words ``here``, and each term added to its sum.

    The sums have a loop without stores: the compiler then knows no two ways through it, and their bits depend on
    nothing but the numbers.
    """
    zero, n = own.dtype.type(0), here.stop - here.start
    last = len(own) - 1
    for v in range(len(own)):
        prefetch(own[:, here], min(v + 1, last))
        part = own[v, here]
        begin, end = paths.node_ends[v], paths.node_ends[v + 1]
        if begin == end and len(out):
            out[v, here] = 0
        for p in range(begin, end, 4):
            c0, c1, c2, c3 = _four(paths.classes, p, end)
            a0, a1, a2, a3 = _four_weights(paths.node_weights, p, end)
            r0, r1, r2, r3 = block[c0], block[c1], block[c2], block[c3]
            s0 = s1 = s2 = s3 = zero
            for w in range(n):
                s0 += part[w] * r0[w]
                s1 += part[w] * r1[w]
                s2 += part[w] * r2[w]
                s3 += part[w] * r3[w]
            sums[p] += a0 * s0
            if p + 1 < end:
                sums[p + 1] += a1 * s1
            if p + 2 < end:
                sums[p + 2] += a2 * s2
            if p + 3 < end:
                sums[p + 3] += a3 * s3
            if len(out):
                total = out[v, here]
                for w in range(n):
                    before = total[w] if p > begin else zero
                    total[w] = before + part[w] * (a0 * r0[w] + a1 * r1[w] + a2 * r2[w] + a3 * r3[w])


@jit
def descend(own, words, counts, paths, start, out, sums):
    """(H4), (H6): see ``reference.descend``."""
    width = counts.shape[1]
    zero, smallest = own.dtype.type(0), own.dtype.type(SMALLEST_MIXTURE)
    size = max(64, min(BLOCK // width, len(counts)))
    block, ratio = np.empty((width, size + LINE), own.dtype), np.empty(width, own.dtype)
    sums[:] = 0
    for first in range(0, len(counts), size):
        n = min(size, len(counts) - first)
        for w in range(n):
            for c in range(width):
                possible = words[first + w, c] > smallest
                ratio[c] = counts[first + w, c] / words[first + w, c] if possible else zero
            for c in range(width):
                block[c, w] = ratio[c]
        _add_shares(own, slice(start + first, start + first + n), block, paths, out, sums)


VERBS = verbs(row_products, word_products, count_held, keep_held, held_word_products, climb, descend)


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision."""
    indptr, indices = np.array([0, 1], np.int32), np.array([0], np.int32)
    own, data = np.ones((1, 1), dtype), np.ones(1, dtype)
    row_products(indptr, indices, data, own, own.copy())
    held = Held(np.array([0, 1]), np.zeros(1, np.uint16), data.copy())
    count_held(own, 0.5, np.zeros(1, np.int64))
    keep_held(own, 0.5, held)
    for n_tiles in (1, 2):  # pieces of several tiles are not contiguous, which is another compilation
        ends = np.zeros((n_tiles, 3), np.int64)[:, :2]
        tiles = (ends, np.zeros(n_tiles + 1, np.int64), indices.astype(np.uint16), data)
        word_products(*tiles, own, own.copy())
        held_word_products(*tiles, held, own.copy())
    ends, places = np.array([0, 1]), np.array([0])
    paths = Paths(ends, places, data, ends.copy(), places.copy(), data.copy())
    climb(own, paths, 0, own.copy())
    descend(own, own.copy(), own.copy(), paths, 0, own.copy(), np.empty(1))
