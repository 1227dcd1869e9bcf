"""The verbs of known classes in NumPy: words handed down paths (K1), classes of new documents (K2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import LEAST_LEAP, SMALLEST_MIXTURE, Folding, Paths, ratios, verbs


def hand_down(
    indptr: Array, indices: Array, data: Array, own: Array, paths: Paths, start: int, out: Array, sums: Array
) -> float:
    """(K1), (H4): ``descend`` for a sparse table of words and classes, rows being words from ``start`` on.

    What class c has of word w goes to the nodes on its path in proportion to ``weight(c,v) own[v, start + w]``. There
    may be two columns of data: shares of the first add up to ``out[v, start + w]`` over classes, those of the last to
    ``sums`` over words, listed by class. Returns Σ n log Σ_v weight(c,v) own[v, start + w] for the last.
    """
    total = 0.0
    sums[:] = 0
    out[:, start : start + len(indptr) - 1] = 0
    for w in range(len(indptr) - 1):
        for t in range(indptr[w], indptr[w + 1]):
            here = slice(paths.ends[indices[t]], paths.ends[indices[t] + 1])
            part = paths.weights[here] * own[paths.nodes[here], start + w]
            mixture = part.sum()
            total += float(data[t, -1]) * np.log(max(float(mixture), SMALLEST_MIXTURE))
            told, taught = ratios(data[t, [0, -1]], mixture)
            sums[here] += taught * part
            out[paths.nodes[here], start + w] += told * part
    return total


def categorise(
    indptr: Array, indices: Array, data: Array, own: Array, other: Array, sizes: Array, folding: Folding
) -> None:
    """(K2): each row of ``own``, weights ∝ P(α)P(d|α), brought to its optimum in place; ``sizes`` are #α.

    A step is ``C = own ∘ Σ_j n(d,j)/(own·other[j]) other[j]``, then ``own = C #α/(#α + C)``. After every two steps the
    row leaps ahead along their curve (squared extrapolation); a leap that did not bring it nearer makes the next ones
    shorter, down to plain EM. A row without a word that any class can produce stays as it is.
    """
    for d in range(len(own)):
        here = slice(indptr[d], indptr[d + 1])
        rows = other[indices[here]]
        longest, before = 4.0, np.inf

        def step_from(row: Array, rows: Array = rows, here: slice = here) -> tuple[Array, Any, Any]:
            count = (row * (ratios(data[here], rows @ row) @ rows)).astype(np.float64)
            weights = count * sizes / (sizes + count)
            return weights, np.abs(weights - row).sum(), weights.sum()

        for step in range(0, folding.max_steps, 2):
            one, moved, norm = step_from(own[d])
            if norm == 0:
                break
            if moved < folding.tolerance * norm or step + 1 >= folding.max_steps:
                own[d] = one
                break
            longest = max(1.0, longest / 4) if moved > before else longest * 2
            before = moved
            two, moved, norm = step_from(one.astype(own.dtype))
            if moved < folding.tolerance * norm or step + 2 >= folding.max_steps:
                own[d] = two
                break
            first, bend = one - own[d], two - 2 * one + own[d]
            squares = float(bend @ bend)
            leap = min(max(1.0, np.sqrt(float(first @ first) / squares)), longest) if squares > 0 else 1.0
            own[d] = np.maximum(own[d] + 2 * leap * first + leap * leap * bend, LEAST_LEAP * two)


VERBS = verbs(hand_down, categorise)
