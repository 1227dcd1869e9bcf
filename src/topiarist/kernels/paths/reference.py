"""The verbs of paths in NumPy: counts times rows, sums along the paths of a tree, posteriors of classes."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE, Held, Paths, ratios, verbs


def row_products(indptr: Array, indices: Array, data: Array, other: Array, out: Array) -> None:
    """``out[i] = Σ_j n(i,j) other[j]``, added in double precision."""
    for d in range(len(out)):
        here = slice(indptr[d], indptr[d + 1])
        out[d] = data[here].astype(np.float64) @ other[indices[here]].astype(np.float64)


def word_products(indptr: Array, starts: Array, indices: Array, data: Array, other: Array, out: Array) -> None:
    """``out[j] = Σ_i n(i,j) other[i]``, tile after tile of documents as in ``word_counts``."""
    out[:] = 0
    for t in range(len(indptr)):
        tile = other[starts[t] : starts[t + 1]]
        for w in range(len(out)):
            here = slice(indptr[t, w], indptr[t, w + 1])
            out[w] += (data[here].astype(np.float64) @ tile[indices[here]].astype(np.float64)).astype(out.dtype)


def count_held(rows: Array, least: float, sizes: Array) -> None:
    """How many classes hold at least ``least`` of each document."""
    sizes[:] = (rows >= least).sum(axis=1)


def keep_held(rows: Array, least: float, held: Held) -> None:
    """Those of ``count_held`` into ``held``, in their order."""
    for d in range(len(rows)):
        here = slice(held.ends[d], held.ends[d + 1])
        held.classes[here] = np.flatnonzero(rows[d] >= least)
        held.values[here] = rows[d, held.classes[here]]


def held_word_products(indptr: Array, starts: Array, indices: Array, data: Array, held: Held, out: Array) -> None:
    """``word_products`` of rows that are lists: each word's documents in their order, added in double precision."""
    total = np.zeros(out.shape)
    for t in range(len(indptr)):
        for w in range(len(out)):
            for place in range(indptr[t, w], indptr[t, w + 1]):
                d = starts[t] + indices[place]
                here = slice(held.ends[d], held.ends[d + 1])
                total[w, held.classes[here]] += np.float64(data[place]) * held.values[here]
    out[:] = total


def climb(own: Array, paths: Paths, start: int, out: Array) -> None:
    """(H3): ``out[w, c] = Σ_v weight(c,v) own[v, start + w]`` over the nodes v on the path of class c."""
    for c in range(out.shape[1]):
        here = slice(paths.ends[c], paths.ends[c + 1])
        out[:, c] = paths.weights[here] @ own[paths.nodes[here], start : start + len(out)]


def descend(own: Array, words: Array, counts: Array, paths: Paths, start: int, out: Array, sums: Array) -> None:
    """(H4), (H6): what each class has of each word goes to the nodes on its path, in proportion to their parts.

    ``counts`` and ``words`` (what ``climb`` gave) have a row for each word from ``start``. The share of the pair (c,v)
    is ``counts[w, c] weight(c,v) own[v, start + w] / words[w, c]``. ``out[v, start + w]`` is the sum of shares over
    classes, ``sums`` that over words, listed by node. An ``out`` without rows says that only ``sums`` are wanted.
    """
    here = slice(start, start + len(counts))
    ratio = ratios(counts, words)
    out[:, here] = 0
    for v in range(len(own)):
        for place in range(paths.node_ends[v], paths.node_ends[v + 1]):
            share = paths.node_weights[place] * ratio[:, paths.classes[place]] * own[v, here]
            sums[place] = share.sum(dtype=np.float64)
            if len(out):
                out[v, here] += share


def power(array: Array, exponent: float, out: Array) -> None:
    """``array ** exponent``."""
    np.power(array, exponent, out=out)


def logarithms(array: Array, out: Array) -> None:
    """The logarithm, finite everywhere: nothing counts as less than ``SMALLEST_MIXTURE``."""
    np.log(np.maximum(array, SMALLEST_MIXTURE, out=out), out=out)


def posteriors(scores: Array, prior: Array, inverse_temperature: float) -> float:
    """(C1): each row of log-probabilities, tempered, plus the log-prior, to probabilities in place; Σ log of totals."""
    values = scores.astype(np.float64) * inverse_temperature + prior
    top = values.max(axis=1, keepdims=True)
    np.exp(values - top, out=values)
    total = values.sum(axis=1, keepdims=True)
    scores[:] = values / total
    return float((np.log(total) + top).sum())


VERBS = verbs(
    row_products, word_products, count_held, keep_held, held_word_products, climb, descend, power, logarithms,
    posteriors,
)  # fmt: skip
