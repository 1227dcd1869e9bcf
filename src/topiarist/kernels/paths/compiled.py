"""Compiled kernels of hierarchies in numba: products of counts and rows, and sums along the paths of a tree.

``prepare`` compiles them, so that flat models do not wait for them. The order of every sum depends on its row, or on
its slice of rows, alone.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE, Paths, SparseRows
from topiarist.kernels.jit import PREFETCH_DISTANCE, inline, jit, prefetch

BLOCK = 1 << 16  # numbers; a block of words by class stays in a core's cache
PADDING = 16  # numbers between the rows of a block, so that they do not map to the same cache lines


@inline
def _add_rows(indices, data, span, other, total):
    """Compute ``total = Σ_t data[t] other[indices[t]]`` in double precision for the non-zeros ``span`` of one row."""
    first, end = span
    width, last = len(total), len(indices) - 1
    fours = first + (end - first) // 4 * 4
    total[:] = 0
    for t in range(first, fours, 4):
        for distance in range(PREFETCH_DISTANCE, PREFETCH_DISTANCE + 4):
            prefetch(other, indices[min(t + distance, last)])
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
    """Compute ``out[i] = Σ_j n(i,j) other[j]`` in double precision."""
    total = np.empty(other.shape[1], np.float64)
    for d in range(len(out)):
        _add_rows(indices, data, (indptr[d], indptr[d + 1]), other, total)
        for k in range(len(total)):
            out[d, k] = total[k]


@jit
def word_products(indptr, starts, indices, data, other, out):
    """Compute ``out[j] = Σ_i n(i,j) other[i]``, one tile of documents after another."""
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
def count_kept_classes(rows, min_share, sizes):
    """Write to ``sizes`` how many classes of each document have a share of ``min_share`` or more."""
    for d in range(len(rows)):
        number = 0
        for c in range(rows.shape[1]):
            number += rows[d, c] >= min_share
        sizes[d] = number


@jit
def keep_classes(rows, min_share, sparse_rows):
    """Write the classes with a share of at least ``min_share`` into ``sparse_rows``, in order."""
    for d in range(len(rows)):
        place, end = sparse_rows.ends[d], sparse_rows.ends[d + 1]
        for c in range(rows.shape[1]):
            if place == end:
                break
            if rows[d, c] >= min_share:
                sparse_rows.classes[place], sparse_rows.values[place] = c, rows[d, c]
                place += 1


@jit
def sparse_word_products(indptr, starts, indices, data, sparse_rows, out):
    """Compute ``out[j] = Σ_i n(i,j) row[i]`` for sparse rows; a word's sums stay in the first cache."""
    total = np.empty(out.shape[1], np.float64)
    for w in range(len(out)):
        total[:] = 0
        for t in range(len(indptr)):
            for place in range(indptr[t, w], indptr[t, w + 1]):
                d, number = starts[t] + indices[place], np.float64(data[place])
                for h in range(sparse_rows.ends[d], sparse_rows.ends[d + 1]):
                    total[sparse_rows.classes[h]] += number * sparse_rows.values[h]
        for c in range(len(total)):
            out[w, c] = total[c]


@inline
def _take_four(numbers, place, end):
    """Return four numbers from ``place`` on; the last one is repeated beyond ``end``."""
    last = end - 1
    return numbers[place], numbers[min(place + 1, last)], numbers[min(place + 2, last)], numbers[min(place + 3, last)]


@inline
def _take_four_weights(weights, place, end):
    """Return four weights from ``place`` on, and zero beyond ``end``."""
    zero = weights.dtype.type(0)
    return (
        weights[place],
        weights[place + 1] if place + 1 < end else zero,
        weights[place + 2] if place + 2 < end else zero,
        weights[place + 3] if place + 3 < end else zero,
    )


@jit
def sum_along_paths(node_words, paths, start, out):
    """(H3): compute ``out[w, c] = Σ_v weight(c,v) node_words[v, start + w]`` over the path of c."""
    width = out.shape[1]
    zero = node_words.dtype.type(0)
    size = max(64, min(BLOCK // width, len(out)))
    block = np.empty((width, size + PADDING), node_words.dtype)
    for first in range(0, len(out), size):
        n = min(size, len(out) - first)
        span = slice(start + first, start + first + n)
        for c in range(width):
            row, begin, end = block[c, :n], paths.ends[c], paths.ends[c + 1]
            if begin == end:
                row[:] = 0
            for p in range(begin, end, 4):
                v0, v1, v2, v3 = _take_four(paths.nodes, p, end)
                a0, a1, a2, a3 = _take_four_weights(paths.weights, p, end)
                r0, r1, r2, r3 = node_words[v0, span], node_words[v1, span], node_words[v2, span], node_words[v3, span]
                for w in range(n):
                    previous = row[w] if p > begin else zero
                    row[w] = previous + (a0 * r0[w] + a1 * r1[w] + a2 * r2[w] + a3 * r3[w])
        for w in range(n):
            for c in range(width):
                out[first + w, c] = block[c, w]


@inline
def _add_shares(node_words, span, block, paths, out, sums):
    """Compute ``out[v] = node_words[v] ∘ Σ_c weight(c,v) block[c]`` for the words ``span``, and ``sums`` of its terms.

    The sums have a loop without stores: the compiler then emits one version of it, and the bits depend on the numbers
    alone.
    """
    zero, n = node_words.dtype.type(0), span.stop - span.start
    last = len(node_words) - 1
    for v in range(len(node_words)):
        prefetch(node_words[:, span], min(v + 1, last))
        part = node_words[v, span]
        begin, end = paths.node_ends[v], paths.node_ends[v + 1]
        if begin == end and len(out):
            out[v, span] = 0
        for p in range(begin, end, 4):
            c0, c1, c2, c3 = _take_four(paths.classes, p, end)
            a0, a1, a2, a3 = _take_four_weights(paths.node_weights, p, end)
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
                total = out[v, span]
                for w in range(n):
                    previous = total[w] if p > begin else zero
                    total[w] = previous + part[w] * (a0 * r0[w] + a1 * r1[w] + a2 * r2[w] + a3 * r3[w])


@jit
def distribute_along_paths(node_words, words, counts, paths, start, out, sums):
    """(H4), (H6): distribute class counts to the nodes on paths: ``out`` by word, ``sums`` by pair."""
    width = counts.shape[1]
    zero, smallest = node_words.dtype.type(0), node_words.dtype.type(SMALLEST_MIXTURE)
    size = max(64, min(BLOCK // width, len(counts)))
    block, ratio = np.empty((width, size + PADDING), node_words.dtype), np.empty(width, node_words.dtype)
    sums[:] = 0
    for first in range(0, len(counts), size):
        n = min(size, len(counts) - first)
        for w in range(n):
            for c in range(width):
                possible = words[first + w, c] > smallest
                ratio[c] = counts[first + w, c] / words[first + w, c] if possible else zero
            for c in range(width):
                block[c, w] = ratio[c]
        _add_shares(node_words, slice(start + first, start + first + n), block, paths, out, sums)


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision."""
    indptr, indices = np.array([0, 1], np.int32), np.array([0], np.int32)
    row_factor, data = np.ones((1, 1), dtype), np.ones(1, dtype)
    row_products(indptr, indices, data, row_factor, row_factor.copy())
    sparse_rows = SparseRows(np.array([0, 1]), np.zeros(1, np.uint16), data.copy())
    count_kept_classes(row_factor, 0.5, np.zeros(1, np.int64))
    keep_classes(row_factor, 0.5, sparse_rows)
    for n_tiles in (1, 2):  # slices of several tiles are not contiguous, which is another compilation
        ends = np.zeros((n_tiles, 3), np.int64)[:, :2]
        tiles = (ends, np.zeros(n_tiles + 1, np.int64), indices.astype(np.uint16), data)
        word_products(*tiles, row_factor, row_factor.copy())
        sparse_word_products(*tiles, sparse_rows, row_factor.copy())
    ends, places = np.array([0, 1]), np.array([0])
    paths = Paths(ends, places, data, ends.copy(), places.copy(), data.copy())
    sum_along_paths(row_factor, paths, 0, row_factor.copy())
    distribute_along_paths(row_factor, row_factor.copy(), row_factor.copy(), paths, 0, row_factor.copy(), np.empty(1))
