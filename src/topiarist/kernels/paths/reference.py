"""Reference versions of the kernels of hierarchies in NumPy: products, sums along paths, posteriors of classes."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE, Paths, SparseRows, ratios


def row_products(indptr: Array, indices: Array, data: Array, other: Array, out: Array) -> None:
    """Compute ``out[i] = Σ_j n(i,j) other[j]`` in double precision."""
    for d in range(len(out)):
        span = slice(indptr[d], indptr[d + 1])
        out[d] = data[span].astype(np.float64) @ other[indices[span]].astype(np.float64)


def word_products(indptr: Array, starts: Array, indices: Array, data: Array, other: Array, out: Array) -> None:
    """Compute ``out[j] = Σ_i n(i,j) other[i]``, one tile of documents after another as in ``word_counts``."""
    out[:] = 0
    for t in range(len(indptr)):
        tile = other[starts[t] : starts[t + 1]]
        for w in range(len(out)):
            span = slice(indptr[t, w], indptr[t, w + 1])
            out[w] += (data[span].astype(np.float64) @ tile[indices[span]].astype(np.float64)).astype(out.dtype)


def count_kept_classes(rows: Array, min_share: float, sizes: Array) -> None:
    """Count the classes with a share of at least ``min_share`` of each document."""
    sizes[:] = (rows >= min_share).sum(axis=1)


def keep_classes(rows: Array, min_share: float, sparse_rows: SparseRows) -> None:
    """Write the classes that ``count_kept_classes`` counts into ``sparse_rows``, in order."""
    for d in range(len(rows)):
        span = slice(sparse_rows.ends[d], sparse_rows.ends[d + 1])
        sparse_rows.classes[span] = np.flatnonzero(rows[d] >= min_share)
        sparse_rows.values[span] = rows[d, sparse_rows.classes[span]]


def sparse_word_products(
    indptr: Array, starts: Array, indices: Array, data: Array, sparse_rows: SparseRows, out: Array
) -> None:
    """Compute ``word_products`` of sparse rows in double precision, documents in order."""
    total = np.zeros(out.shape)
    for t in range(len(indptr)):
        for w in range(len(out)):
            for place in range(indptr[t, w], indptr[t, w + 1]):
                d = starts[t] + indices[place]
                span = slice(sparse_rows.ends[d], sparse_rows.ends[d + 1])
                total[w, sparse_rows.classes[span]] += np.float64(data[place]) * sparse_rows.values[span]
    out[:] = total


def sum_along_paths(node_words: Array, paths: Paths, start: int, out: Array) -> None:
    """(H3): compute ``out[w, c] = Σ_v weight(c,v) node_words[v, start + w]`` over the path of class c."""
    for c in range(out.shape[1]):
        span = slice(paths.ends[c], paths.ends[c + 1])
        out[:, c] = paths.weights[span] @ node_words[paths.nodes[span], start : start + len(out)]


def distribute_along_paths(
    node_words: Array, words: Array, counts: Array, paths: Paths, start: int, out: Array, sums: Array
) -> None:
    """(H4), (H6): distribute the counts of each class to the nodes on its path, in proportion to their parts.

    ``counts`` and ``words`` (the result of ``sum_along_paths``) have a row for each word from ``start``. The share of
    the pair (c,v) is ``counts[w, c] weight(c,v) node_words[v, start + w] / words[w, c]``. ``out[v, start + w]`` is the
    sum of shares over classes, ``sums`` the sum over words, listed by node. Only ``sums`` are computed if ``out`` has
    no rows.
    """
    span = slice(start, start + len(counts))
    ratio = ratios(counts, words)
    out[:, span] = 0
    for v in range(len(node_words)):
        for place in range(paths.node_ends[v], paths.node_ends[v + 1]):
            share = paths.node_weights[place] * ratio[:, paths.classes[place]] * node_words[v, span]
            sums[place] = share.sum(dtype=np.float64)
            if len(out):
                out[v, span] += share


def power(array: Array, exponent: float, out: Array) -> None:
    """Compute ``out = array ** exponent``."""
    np.power(array, exponent, out=out)


def logarithms(array: Array, out: Array) -> None:
    """Compute ``out = log(array)``; smaller values count as ``SMALLEST_MIXTURE``."""
    np.log(np.maximum(array, SMALLEST_MIXTURE, out=out), out=out)


def posteriors(scores: Array, prior: Array, inverse_temperature: float) -> float:
    """(C1): convert rows of tempered log-probabilities plus the log-prior to probabilities in place.

    Returns the sum of the logarithms of the row totals.
    """
    values = scores.astype(np.float64) * inverse_temperature + prior
    top = values.max(axis=1, keepdims=True)
    np.exp(values - top, out=values)
    total = values.sum(axis=1, keepdims=True)
    scores[:] = values / total
    return float((np.log(total) + top).sum())
