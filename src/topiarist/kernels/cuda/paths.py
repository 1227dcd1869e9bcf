"""Sums along the paths of a tree. All arrays together are small beside a sweep: one thread for a number will do."""

from __future__ import annotations

from numba import cuda

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.cuda.warp import LANES, kernel, warp_sum


@kernel
def climb(own, ends, nodes, weights, start, out):
    """(H3): see ``reference.climb``. Neighbouring threads have neighbouring words, as ``own`` has them."""
    n_words = out.shape[0]
    for n in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        c, w = n // n_words, n % n_words
        total = own.dtype.type(0)
        for place in range(ends[c], ends[c + 1]):
            total += weights[place] * own[nodes[place], start + w]
        out[w, c] = total


@kernel
def ratios(counts, words, out):
    """``counts / words``, zero where ``words`` says that it cannot be; class by class."""
    width = counts.shape[1]
    smallest = words.dtype.type(SMALLEST_MIXTURE)
    for n in range(cuda.grid(1), counts.size, cuda.gridsize(1)):
        w, c = n // width, n % width
        out[c, w] = counts[w, c] / words[w, c] if words[w, c] > smallest else out.dtype.type(0)


@kernel
def hand_down(own, ratio, node_ends, classes, node_weights, start, out):
    """(H4), (H6): ``out[v, w] = own[v, w] Σ_c weight(c,v) ratio[c, w]``."""
    n_words = ratio.shape[1]
    for n in range(cuda.grid(1), own.shape[0] * n_words, cuda.gridsize(1)):
        v, w = n // n_words, n % n_words
        total = own.dtype.type(0)
        for place in range(node_ends[v], node_ends[v + 1]):
            total += node_weights[place] * ratio[classes[place], w]
        out[v, start + w] = own[v, start + w] * total


@kernel
def pair_sums(own, ratio, node_ends, classes, node_weights, start, size, sums):
    """Σ_w of the shares of each pair, ``size`` words at a time: ``sums`` is (pieces, pairs). One warp for a piece."""
    lane, n_words, pairs = cuda.threadIdx.x & (LANES - 1), ratio.shape[1], classes.size
    for n in range(cuda.grid(1) // LANES, sums.size, cuda.gridsize(1) // LANES):
        piece, place = n // pairs, n % pairs
        v, beyond = 0, own.shape[0]
        while beyond - v > 1:  # the node that has this place
            middle = (v + beyond) // 2
            if node_ends[middle] <= place:
                v = middle
            else:
                beyond = middle
        end = (piece + 1) * size
        end = end if end < n_words else n_words
        c, weight, total = classes[place], node_weights[place], 0.0
        for w in range(piece * size + lane, end, LANES):
            total += weight * ratio[c, w] * own[v, start + w]
        total = warp_sum(total)
        if lane == 0:
            sums[piece, place] = total
