"""The verbs of counts in NumPy: slow, obvious, and the specification of every other telling.

A sparse matrix comes as ``indptr, indices, data``. ``indptr`` may be a slice of a larger one: its first entry says
where in ``indices`` and ``data`` the first row begins, so a block of rows needs no copy. ``own`` has a row for each row
of the matrix, ``other`` one for each column.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import FOLDING_STRIDE, SMALLEST_MIXTURE, Folding, ratios, verbs


def document_counts(
    indptr: Array, indices: Array, data: Array, own: Array, other: Array, out: Array, mixture: Array
) -> None:
    """(P2), (P3), (H5): ``out[i] = own[i] ∘ Σ_j n(i,j)/(own[i]·other[j]) other[j]``, and the mixtures on the side."""
    for d in range(len(own)):
        here = slice(indptr[d], indptr[d + 1])
        rows = other[indices[here]]
        probability = rows @ own[d]
        out[d] = own[d] * (ratios(data[here], probability) @ rows)
        mixture[indptr[d] - indptr[0] : indptr[d + 1] - indptr[0]] = np.maximum(probability, SMALLEST_MIXTURE)


def word_counts(
    indptr: Array, starts: Array, indices: Array, data: Array, own: Array, other: Array, out: Array
) -> None:
    """(P3), (H6): the same by words, tile after tile of documents.

    Tile t holds the documents ``other[starts[t]:starts[t + 1]]``, numbered from zero in ``indices``; its part of word w
    is ``indptr[t, w]`` to ``indptr[t, w + 1]``.
    """
    out[:] = 0
    for t in range(len(indptr)):
        tile = other[starts[t] : starts[t + 1]]
        for w in range(len(own)):
            here = slice(indptr[t, w], indptr[t, w + 1])
            rows = tile[indices[here]]
            out[w] += own[w] * (ratios(data[here], rows @ own[w]) @ rows)


def mixtures(indptr: Array, indices: Array, own: Array, other: Array, mixture: Array) -> None:
    """(P1): ``mixture[t] = own[i] · other[j]`` for each non-zero, in order; zero where it is zero."""
    for d in range(len(own)):
        here = slice(indptr[d], indptr[d + 1])
        mixture[indptr[d] - indptr[0] : indptr[d + 1] - indptr[0]] = other[indices[here]] @ own[d]


def normalise_rows(counts: Array, smoothing: float) -> None:
    """(P3), (P4): each row + smoothing to sum one, in place; a row of nothing becomes uniform."""
    counts += smoothing
    total = counts.sum(axis=1, dtype=np.float64)
    nothing = total <= SMALLEST_MIXTURE
    counts[nothing] = 1 / counts.shape[1]
    counts /= np.where(nothing, 1.0, total)[:, None].astype(counts.dtype)


def column_sums(counts: Array, sums: Array) -> None:
    """The sum of each column, in double precision."""
    sums[:] = counts.sum(axis=0, dtype=np.float64)


def scale_columns(counts: Array, smoothing: float, scale: Array) -> None:
    """(P3), (P4): each column + smoothing times its scale, in place."""
    counts += smoothing
    counts *= scale


def sum_of_logs(array: Array) -> float:
    """Σ log of the entries, in double precision: a Dirichlet prior up to its weight (P4)."""
    with np.errstate(divide="ignore"):
        return float(np.log(array.astype(np.float64)).sum())


def weighted_sum(weights: Array, values: Array) -> float:
    """Σ weights · values in double precision, whatever theirs is."""
    return float(weights.astype(np.float64) @ values.astype(np.float64))


def look_ahead(old: Array, new: Array, stride: float, out: Array) -> None:
    """``old + stride (new - old)``, but nowhere less than half of ``new``: what is zero once stays zero for ever."""
    np.maximum(new + (stride - 1) * (new - old), new / 2, out=out)


def fold_in(indptr: Array, indices: Array, data: Array, own: Array, other: Array, folding: Folding) -> None:
    """(P5): over-relaxed EM on each row of ``own`` in place, until it stands still; ``other`` is fixed."""
    for d in range(len(own)):
        here = slice(indptr[d], indptr[d + 1])
        rows = other[indices[here]]
        for step in range(folding.max_steps):
            tempered = own[d] ** folding.inverse_temperature
            counts = tempered * (ratios(data[here], rows @ tempered) @ rows) + folding.smoothing
            total = counts.sum()
            if total == 0:  # an empty row, or only words the model cannot produce: leave it as it is
                break
            target = counts / total
            move = target - own[d]
            if np.abs(move).sum() < folding.tolerance or step == folding.max_steps - 1:
                own[d] = target
                break
            ahead = np.maximum(target + (FOLDING_STRIDE - 1) * move, target / 2)
            own[d] = ahead / ahead.sum()


def tally(indices: Array, counts: Array) -> None:
    """Add to ``counts`` how often each number occurs."""
    counts += np.bincount(indices, minlength=len(counts))


def transpose(indptr: Array, indices: Array, data: Array, places: Array, out_indices: Array, out_data: Array) -> None:
    """Rows to columns: ``places`` says where in the output each column begins, and is moved to where it ends."""
    for d in range(len(indptr) - 1):
        for t in range(indptr[d], indptr[d + 1]):
            place = places[indices[t]]
            out_indices[place], out_data[place] = d, data[t]
            places[indices[t]] = place + 1


VERBS = verbs(
    document_counts, word_counts, mixtures, fold_in, look_ahead, normalise_rows, column_sums, scale_columns,
    sum_of_logs, weighted_sum, tally, transpose,
)  # fmt: skip
