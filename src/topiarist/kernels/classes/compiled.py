"""Compiled kernels of known classes in numba: paths (K1) and classes of documents (K2)."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import MIN_LEAP_SHARE, SMALLEST_MIXTURE, Folding, Paths
from topiarist.kernels.counts.compiled import _add_ratios
from topiarist.kernels.jit import inline, jit

BLOCK = 1 << 12  # numbers; a block of words by node stays in a core's first cache


@jit
def propagate_down_paths(indptr, indices, data, node_words, paths, start, out, sums):
    """(K1), (H4): add class counts to the nodes on paths in ``out``; return the log-likelihood.

    Blocks of words are transposed to node order.
    """
    smallest, zero = node_words.dtype.type(SMALLEST_MIXTURE), node_words.dtype.type(0)
    n_nodes, last = len(node_words), data.shape[1] - 1
    size = max(16, BLOCK // n_nodes)
    words, shares = np.empty((size, n_nodes), node_words.dtype), np.empty((size, n_nodes), node_words.dtype)
    total = 0.0
    sums[:] = 0
    for first in range(0, len(indptr) - 1, size):
        n = min(size, len(indptr) - 1 - first)
        for v in range(n_nodes):
            part = node_words[v, start + first : start + first + n]
            for w in range(n):
                words[w, v] = part[w]
        shares[:n] = 0
        for w in range(n):
            word, share = words[w], shares[w]
            for t in range(indptr[first + w], indptr[first + w + 1]):
                begin, end = paths.ends[indices[t]], paths.ends[indices[t] + 1]
                mixture = zero
                for p in range(begin, end):
                    mixture += paths.weights[p] * word[paths.nodes[p]]
                first_ratio, last_ratio = data[t, 0], data[t, last]
                if last_ratio > 0:
                    total += last_ratio * np.log(np.float64(max(mixture, smallest)))
                if mixture <= smallest:
                    continue
                first_ratio /= mixture
                last_ratio /= mixture
                for p in range(begin, end):
                    value = paths.weights[p] * word[paths.nodes[p]]
                    sums[p] += last_ratio * value
                    share[paths.nodes[p]] += first_ratio * value
        for v in range(n_nodes):
            part = out[v, start + first : start + first + n]
            for w in range(n):
                part[w] = shares[w, v]
    return total


@inline
def _update_weights(row, total, sizes, out):
    """Compute the next weights of the classes; return their total change and their sum."""
    change = norm = 0.0
    for k in range(len(row)):
        count = row[k] * total[k]
        out[k] = count * sizes[k] / (sizes[k] + count)
        change += abs(out[k] - row[k])
        norm += out[k]
    return change, norm


@jit
def categorise(indptr, indices, data, row_factor, column_factor, sizes, folding):
    """(K2): optimise the class weights of each document in ``row_factor``, in place."""
    width = row_factor.shape[1]
    max_length = 0
    for d in range(len(row_factor)):
        max_length = max(max_length, indptr[d + 1] - indptr[d])
    run, row, mixture = (
        np.empty(width, row_factor.dtype),
        np.empty(width, row_factor.dtype),
        np.empty(max_length, row_factor.dtype),
    )
    total, first_step, second_step = np.empty(width), np.empty(width), np.empty(width)
    for d in range(len(row_factor)):
        span = (indptr[d], indptr[d + 1])
        max_leap, last_change = 4.0, np.inf
        for step in range(0, folding.max_steps, 2):
            row[:] = row_factor[d]
            _add_ratios(indices, data, span, row, column_factor, run, total, mixture)
            change, norm = _update_weights(row, total, sizes, first_step)
            if norm == 0.0:
                break
            if change < folding.tolerance * norm or step + 1 >= folding.max_steps:
                row_factor[d] = first_step
                break
            max_leap = max(1.0, max_leap / 4.0) if change > last_change else max_leap * 2.0
            last_change = change
            for k in range(width):
                row[k] = first_step[k]
            _add_ratios(indices, data, span, row, column_factor, run, total, mixture)
            change, norm = _update_weights(row, total, sizes, second_step)
            if change < folding.tolerance * norm or step + 2 >= folding.max_steps:
                row_factor[d] = second_step
                break
            first = bend = 0.0
            for k in range(width):
                first += (first_step[k] - row_factor[d, k]) ** 2
                bend += (second_step[k] - 2.0 * first_step[k] + row_factor[d, k]) ** 2
            leap = min(max(1.0, np.sqrt(first / bend)), max_leap) if bend > 0.0 else 1.0
            for k in range(width):
                next_row = row_factor[d, k] + 2.0 * leap * (first_step[k] - row_factor[d, k])
                next_row += leap * leap * (second_step[k] - 2.0 * first_step[k] + row_factor[d, k])
                row_factor[d, k] = max(next_row, MIN_LEAP_SHARE * second_step[k])


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision."""
    indptr, indices = np.array([0, 1], np.int32), np.array([0], np.int32)
    row_factor, data = np.ones((1, 1), dtype), np.ones(1, dtype)
    categorise(indptr, indices, data, row_factor, row_factor.copy(), np.ones(1), Folding())
    ends, places = np.array([0, 1]), np.array([0])
    paths = Paths(ends, places, data, ends.copy(), places.copy(), data.copy())
    propagate_down_paths(indptr, indices, row_factor, row_factor.copy(), paths, 0, row_factor.copy(), np.empty(1))
