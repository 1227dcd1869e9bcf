"""Sums along the paths of a tree on a device; the arrays are small, so one thread computes one number."""

from __future__ import annotations

from numba import cuda

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.cuda.warp import LANES, kernel, warp_sum


@kernel
def sum_along_paths(node_words, ends, nodes, weights, out):
    """(H3): compute the word probabilities of classes, weighted sums over the nodes of each path."""
    n_words = out.shape[0]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        c, w = n // n_words, n % n_words
        total = node_words.dtype.type(0)
        for place in range(ends[c], ends[c + 1]):
            total += weights[place] * node_words[nodes[place], w]
        out[w, c] = total


@kernel
def ratios(counts, words, out):
    """Compute ``counts / words``, class by class, and zero for impossible words."""
    width = counts.shape[1]
    smallest = words.dtype.type(SMALLEST_MIXTURE)
    for n in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        w, c = n // width, n % width
        out[c, w] = counts[w, c] / words[w, c] if words[w, c] > smallest else out.dtype.type(0)


@kernel
def distribute_ratios(node_words, ratio, node_ends, classes, node_weights, out):
    """(H4), (H6): compute ``out[v, w] = node_words[v, w] Σ_c weight(c,v) ratio[c, w]``."""
    n_words = ratio.shape[1]
    for n in range(cuda.grid(1), node_words.shape[0] * n_words, cuda.gridsize(1)):
        v, w = n // n_words, n % n_words
        total = node_words.dtype.type(0)
        for place in range(node_ends[v], node_ends[v + 1]):
            total += node_weights[place] * ratio[classes[place], w]
        out[v, w] = node_words[v, w] * total


@kernel
def pair_sums(node_words, ratio, node_ends, classes, node_weights, size, sums):
    """Compute the sum over words of each pair's shares, ``size`` words at a time: ``sums`` is (parts, pairs)."""
    lane, n_words, pairs = cuda.threadIdx.x & (LANES - 1), ratio.shape[1], classes.size
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        piece, place = n // pairs, n % pairs
        v, last = 0, node_words.shape[0]
        while last - v > 1:  # search the node of this place
            middle = (v + last) // 2
            if node_ends[middle] <= place:
                v = middle
            else:
                last = middle
        end = (piece + 1) * size
        end = end if end < n_words else n_words
        c, weight, total = classes[place], node_weights[place], 0.0
        for w in range(piece * size + lane, end, LANES):
            total += weight * ratio[c, w] * node_words[v, w]
        total = warp_sum(total)
        if lane == 0:
            sums[piece, place] = total
