"""The verbs of known classes in numba: words handed down paths (K1), classes of new documents (K2)."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import LEAST_LEAP, SMALLEST_MIXTURE, Folding, Paths, verbs
from topiarist.kernels.counts.compiled import _add_ratios
from topiarist.kernels.jit import inline, jit

BLOCK = 1 << 12  # numbers: a block of words, node by node, stays in a core's first cache


@jit
def hand_down(indptr, indices, data, own, paths, start, out, sums):
    """(K1), (H4): see ``reference.hand_down``. A few words at a time are turned to lie node by node."""
    smallest, zero = own.dtype.type(SMALLEST_MIXTURE), own.dtype.type(0)
    n_nodes, last = len(own), data.shape[1] - 1
    size = max(16, BLOCK // n_nodes)
    words, shares = np.empty((size, n_nodes), own.dtype), np.empty((size, n_nodes), own.dtype)
    total = 0.0
    sums[:] = 0
    for first in range(0, len(indptr) - 1, size):
        n = min(size, len(indptr) - 1 - first)
        for v in range(n_nodes):
            part = own[v, start + first : start + first + n]
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
                told, taught = data[t, 0], data[t, last]
                if taught > 0:
                    total += taught * np.log(np.float64(max(mixture, smallest)))
                if mixture <= smallest:
                    continue
                told /= mixture
                taught /= mixture
                for p in range(begin, end):
                    value = paths.weights[p] * word[paths.nodes[p]]
                    sums[p] += taught * value
                    share[paths.nodes[p]] += told * value
        for v in range(n_nodes):
            part = out[v, start + first : start + first + n]
            for w in range(n):
                part[w] = shares[w, v]
    return total


@inline
def _weighed(row, total, sizes, out):
    """``out`` = the next weights of the classes; how much they moved, and their sum."""
    moved = norm = 0.0
    for k in range(len(row)):
        count = row[k] * total[k]
        out[k] = count * sizes[k] / (sizes[k] + count)
        moved += abs(out[k] - row[k])
        norm += out[k]
    return moved, norm


@jit
def categorise(indptr, indices, data, own, other, sizes, folding):
    """(K2): see ``reference.categorise``."""
    width = own.shape[1]
    longest = 0
    for d in range(len(own)):
        longest = max(longest, indptr[d + 1] - indptr[d])
    run, row, mixture = np.empty(width, own.dtype), np.empty(width, own.dtype), np.empty(longest, own.dtype)
    total, one, two = np.empty(width), np.empty(width), np.empty(width)
    for d in range(len(own)):
        span = (indptr[d], indptr[d + 1])
        longest_leap, before = 4.0, np.inf
        for step in range(0, folding.max_steps, 2):
            row[:] = own[d]
            _add_ratios(indices, data, span, row, other, run, total, mixture)
            moved, norm = _weighed(row, total, sizes, one)
            if norm == 0.0:
                break
            if moved < folding.tolerance * norm or step + 1 >= folding.max_steps:
                own[d] = one
                break
            longest_leap = max(1.0, longest_leap / 4.0) if moved > before else longest_leap * 2.0
            before = moved
            for k in range(width):
                row[k] = one[k]
            _add_ratios(indices, data, span, row, other, run, total, mixture)
            moved, norm = _weighed(row, total, sizes, two)
            if moved < folding.tolerance * norm or step + 2 >= folding.max_steps:
                own[d] = two
                break
            first = bend = 0.0
            for k in range(width):
                first += (one[k] - own[d, k]) ** 2
                bend += (two[k] - 2.0 * one[k] + own[d, k]) ** 2
            leap = min(max(1.0, np.sqrt(first / bend)), longest_leap) if bend > 0.0 else 1.0
            for k in range(width):
                ahead = own[d, k] + 2.0 * leap * (one[k] - own[d, k])
                ahead += leap * leap * (two[k] - 2.0 * one[k] + own[d, k])
                own[d, k] = max(ahead, LEAST_LEAP * two[k])


VERBS = verbs(hand_down, categorise)


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision."""
    indptr, indices = np.array([0, 1], np.int32), np.array([0], np.int32)
    own, data = np.ones((1, 1), dtype), np.ones(1, dtype)
    categorise(indptr, indices, data, own, own.copy(), np.ones(1), Folding())
    ends, places = np.array([0, 1]), np.array([0])
    paths = Paths(ends, places, data, ends.copy(), places.copy(), data.copy())
    hand_down(indptr, indices, own, own.copy(), paths, 0, own.copy(), np.empty(1))
