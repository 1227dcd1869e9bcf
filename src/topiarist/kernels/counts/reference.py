"""The verbs in NumPy: slow, obvious, and the specification of every other telling.

A sparse matrix comes as ``indptr, indices, data``. ``indptr`` may be a slice of a larger one: its first entry says
where in ``indices`` and ``data`` the first row begins, so a block of rows needs no copy. ``own`` has a row for each row
of the matrix, ``other`` one for each column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.kernels import FOLDING_STRIDE, LEAST_LEAP, Folding, Kernels, Paths
from topiarist.kernels.active import reference
from topiarist.kernels.ratios import SMALLEST_MIXTURE, Array, ratios


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


KERNELS = Kernels(
    "reference",
    document_counts,
    word_counts,
    mixtures,
    fold_in,
    look_ahead,
    normalise_rows,
    column_sums,
    scale_columns,
    sum_of_logs,
    weighted_sum,
    tally,
    transpose,
    row_products,
    word_products,
    climb,
    descend,
    power,
    logarithms,
    posteriors,
    reference.active_document_counts,
    reference.active_word_counts,
    reference.active_gains,
    reference.active_entrants,
    reference.normalise_active,
    reference.count_used,
    reference.keep_used,
    hand_down,
    categorise,
)
