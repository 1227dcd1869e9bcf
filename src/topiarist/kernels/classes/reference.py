"""Reference versions of the kernels of known classes in NumPy: paths (K1) and classes of documents (K2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import MIN_LEAP_SHARE, SMALLEST_MIXTURE, Folding, Paths, ratios


def propagate_down_paths(
    indptr: Array, indices: Array, data: Array, node_words: Array, paths: Paths, start: int, out: Array, sums: Array
) -> float:
    """(K1), (H4): distribute the counts of a sparse table of words and classes to the nodes on the classes' paths.

    Rows are words from ``start`` on. The count of word w in class c goes to the nodes on the path of c in proportion to
    ``weight(c,v) node_words[v, start + w]``. There can be two columns of data: the shares of the first are summed over
    classes into ``out[v, start + w]``, the shares of the last over words into ``sums``, listed by class. Returns Σ n
    log Σ_v weight(c,v) node_words[v, start + w] for the last column.
    """
    total = 0.0
    sums[:] = 0
    out[:, start : start + len(indptr) - 1] = 0
    for w in range(len(indptr) - 1):
        for t in range(indptr[w], indptr[w + 1]):
            span = slice(paths.ends[indices[t]], paths.ends[indices[t] + 1])
            part = paths.weights[span] * node_words[paths.nodes[span], start + w]
            mixture = part.sum()
            total += float(data[t, -1]) * np.log(max(float(mixture), SMALLEST_MIXTURE))
            first_ratio, last_ratio = ratios(data[t, [0, -1]], mixture)
            sums[span] += last_ratio * part
            out[paths.nodes[span], start + w] += first_ratio * part
    return total


def categorise(
    indptr: Array, indices: Array, data: Array, row_factor: Array, column_factor: Array, sizes: Array, folding: Folding
) -> None:
    """(K2): optimise each row of ``row_factor``, weights ∝ P(α)P(d|α), in place; ``sizes`` are #α.

    A step is ``C = row ∘ Σ_j n(d,j)/(row·column_factor[j]) column_factor[j]``, then ``row = C #α/(#α + C)``. After
    every two steps the row is extrapolated along their curve (squared extrapolation). An extrapolation that did not
    reduce the change makes the next ones shorter, down to plain EM. A row without a word that any class can produce
    stays unchanged.
    """
    for d in range(len(row_factor)):
        span = slice(indptr[d], indptr[d + 1])
        rows = column_factor[indices[span]]
        max_leap, last_change = 4.0, np.inf

        def step_from(row: Array, rows: Array = rows, span: slice = span) -> tuple[Array, Any, Any]:
            count = (row * (ratios(data[span], rows @ row) @ rows)).astype(np.float64)
            weights = count * sizes / (sizes + count)
            return weights, np.abs(weights - row).sum(), weights.sum()

        for step in range(0, folding.max_steps, 2):
            first_step, change, norm = step_from(row_factor[d])
            if norm == 0:
                break
            if change < folding.tolerance * norm or step + 1 >= folding.max_steps:
                row_factor[d] = first_step
                break
            max_leap = max(1.0, max_leap / 4) if change > last_change else max_leap * 2
            last_change = change
            second_step, change, norm = step_from(first_step.astype(row_factor.dtype))
            if change < folding.tolerance * norm or step + 2 >= folding.max_steps:
                row_factor[d] = second_step
                break
            first, bend = first_step - row_factor[d], second_step - 2 * first_step + row_factor[d]
            squares = float(bend @ bend)
            leap = min(max(1.0, np.sqrt(float(first @ first) / squares)), max_leap) if squares > 0 else 1.0
            row_factor[d] = np.maximum(
                row_factor[d] + 2 * leap * first + leap * leap * bend, MIN_LEAP_SHARE * second_step
            )
