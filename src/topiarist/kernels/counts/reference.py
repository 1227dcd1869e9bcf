"""Reference versions of the kernels of counts in NumPy, the specification of every other backend.

A sparse matrix is passed as ``indptr, indices, data``. ``indptr`` may be a slice of a larger one: its first entry is
the place in ``indices`` and ``data`` where the first row begins, so a block of rows needs no copy. ``row_factor`` has a
row for each row of the matrix, ``column_factor`` a row for each column.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import FOLDING_STRIDE, SMALLEST_MIXTURE, Folding, ratios


def document_counts(
    indptr: Array, indices: Array, data: Array, row_factor: Array, column_factor: Array, out: Array, mixture: Array
) -> None:
    """(P2), (P3), (H5): compute expected counts by document, and the mixtures.

    ``out[i] = row_factor[i] ∘ Σ_j n(i,j)/(row_factor[i]·column_factor[j]) column_factor[j]``
    """
    for d in range(len(row_factor)):
        span = slice(indptr[d], indptr[d + 1])
        rows = column_factor[indices[span]]
        probability = rows @ row_factor[d]
        out[d] = row_factor[d] * (ratios(data[span], probability) @ rows)
        mixture[indptr[d] - indptr[0] : indptr[d + 1] - indptr[0]] = np.maximum(probability, SMALLEST_MIXTURE)


def word_counts(
    indptr: Array, starts: Array, indices: Array, data: Array, row_factor: Array, column_factor: Array, out: Array
) -> None:
    """(P3), (H6): compute expected counts by word, one tile of documents after another.

    Tile t holds the documents ``column_factor[starts[t]:starts[t + 1]]``, numbered from zero in ``indices``. The
    non-zeros of word w in tile t are ``indptr[t, w]`` to ``indptr[t, w + 1]``.
    """
    out[:] = 0
    for t in range(len(indptr)):
        tile = column_factor[starts[t] : starts[t + 1]]
        for w in range(len(row_factor)):
            span = slice(indptr[t, w], indptr[t, w + 1])
            rows = tile[indices[span]]
            out[w] += row_factor[w] * (ratios(data[span], rows @ row_factor[w]) @ rows)


def mixtures(indptr: Array, indices: Array, row_factor: Array, column_factor: Array, mixture: Array) -> None:
    """(P1): set ``mixture[t] = row_factor[i] · column_factor[j]`` for each non-zero t at (i, j).

    For a run of rows, ``indptr`` is a slice of the whole, ``indices`` is whole, and the factors are those of the run.
    """
    for d in range(len(row_factor)):
        span = slice(indptr[d], indptr[d + 1])
        mixture[indptr[d] - indptr[0] : indptr[d + 1] - indptr[0]] = column_factor[indices[span]] @ row_factor[d]


def normalise_rows(counts: Array, smoothing: float) -> None:
    """(P3), (P4): add the smoothing and scale each row to sum one, in place; an empty row becomes uniform."""
    counts += smoothing
    total = counts.sum(axis=1, dtype=np.float64)
    is_empty = total <= SMALLEST_MIXTURE
    counts[is_empty] = 1 / counts.shape[1]
    counts /= np.where(is_empty, 1.0, total)[:, None].astype(counts.dtype)


def column_sums(counts: Array, sums: Array) -> None:
    """Set ``sums`` to the sum of each column of a dense array, in double precision."""
    sums[:] = counts.sum(axis=0, dtype=np.float64)


def scale_columns(counts: Array, smoothing: float, scale: Array) -> None:
    """(P3), (P4): add the smoothing and multiply each column by its scale, in place."""
    counts += smoothing
    counts *= scale


def sum_of_logs(array: Array) -> float:
    """Return Σ log of the entries in double precision, a Dirichlet prior up to its weight (P4)."""
    with np.errstate(divide="ignore"):
        return float(np.log(array.astype(np.float64)).sum())


def weighted_sum(weights: Array, values: Array) -> float:
    """Return Σ weights · values in double precision."""
    return float(weights.astype(np.float64) @ values.astype(np.float64))


def extrapolate(old: Array, new: Array, stride: float, out: Array) -> None:
    """Compute ``out = old + stride (new - old)``, at least half of ``new``; zeros stay zero."""
    np.maximum(new + (stride - 1) * (new - old), new / 2, out=out)


def fold_in(
    indptr: Array, indices: Array, data: Array, row_factor: Array, column_factor: Array, folding: Folding
) -> None:
    """(P5): run over-relaxed EM on each row of ``row_factor`` in place until convergence."""
    for d in range(len(row_factor)):
        span = slice(indptr[d], indptr[d + 1])
        rows = column_factor[indices[span]]
        for step in range(folding.max_steps):
            tempered_row = row_factor[d] ** folding.inverse_temperature
            counts = tempered_row * (ratios(data[span], rows @ tempered_row) @ rows) + folding.smoothing
            total = counts.sum()
            if total == 0:  # an empty row, or only words the model cannot produce, stays unchanged
                break
            target = counts / total
            move = target - row_factor[d]
            if np.abs(move).sum() < folding.tolerance or step == folding.max_steps - 1:
                row_factor[d] = target
                break
            next_row = np.maximum(target + (FOLDING_STRIDE - 1) * move, target / 2)
            row_factor[d] = next_row / next_row.sum()


def tally(indices: Array, counts: Array) -> None:
    """Add the number of occurrences of each index to ``counts``."""
    counts += np.bincount(indices, minlength=len(counts))


def transpose(indptr: Array, indices: Array, data: Array, places: Array, out_indices: Array, out_data: Array) -> None:
    """Convert rows to columns; ``places`` is the next output place of each column and is advanced."""
    for d in range(len(indptr) - 1):
        for t in range(indptr[d], indptr[d + 1]):
            place = places[indices[t]]
            out_indices[place], out_data[place] = d, data[t]
            places[indices[t]] = place + 1
