"""The verbs for rows that hold only the components a document uses, written to be believed."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE, Active, ratios, verbs


def active_document_counts(
    indptr: Array, indices: Array, data: Array, active: Active, other: Array, out: Array, mixture: Array
) -> None:
    """(P2), (P3): ``document_counts`` of one tile of documents, word by word, over the components that they use.

    ``indptr`` and ``indices`` are the tile's as in ``word_counts``; ``out`` has the shape of the active values.
    """
    out[active.ends[0] : active.ends[-1]] = 0
    for w in range(len(indptr) - 1):
        for t in range(indptr[w], indptr[w + 1]):
            lanes = slice(active.ends[indices[t]], active.ends[indices[t] + 1])
            shares = active.values[lanes] * other[w, active.components[lanes]]
            probability = shares.sum()
            out[lanes] += ratios(data[t], probability) * shares
            mixture[t] = max(probability, SMALLEST_MIXTURE)


def active_word_counts(
    indptr: Array, starts: Array, indices: Array, data: Array, mixture: Array, active: Active, own: Array, out: Array
) -> None:
    """(P3): ``word_counts`` over the components that documents use, from the mixtures that are known already."""
    out[:] = 0
    for t in range(len(indptr)):
        for w in range(len(own)):
            for j in range(indptr[t, w], indptr[t, w + 1]):
                d = starts[t] + indices[j]
                lanes = slice(active.ends[d], active.ends[d + 1])
                ratio = ratios(data[j], mixture[j])
                np.add.at(out[w], active.components[lanes], ratio * active.values[lanes])
    out *= own


def active_gains(indptr: Array, indices: Array, data: Array, active: Active, other: Array, out: Array) -> None:
    """(S3): ``out[i, k] = Σ_j n(i,j)/n(i) other[j,k]/mixture(i,j)``: above one, more of component k would do good."""
    for d in range(len(out)):
        here, lanes = slice(indptr[d], indptr[d + 1]), slice(active.ends[d], active.ends[d + 1])
        rows = other[indices[here]].astype(np.float64)
        probability = rows[:, active.components[lanes].ravel()] @ active.values[lanes].ravel()
        weight = np.where(probability > SMALLEST_MIXTURE, data[here], 0).sum()
        out[d] = ratios(data[here], probability) @ rows / max(weight, SMALLEST_MIXTURE)


def active_entrants(
    indptr: Array, indices: Array, data: Array, active: Active, other: Array, least: float, out: Array, gains: Array
) -> None:
    """(S3): up to eight components that each document does not use, with the largest gains, above ``least`` each.

    Largest first, the first of equals first; a gain of zero says that there is none.
    """
    every = np.empty((len(out), other.shape[1]))
    active_gains(indptr, indices, data, active, other, every)
    for d in range(len(out)):
        lanes = slice(active.ends[d], active.ends[d + 1])
        every[d, active.components[lanes][active.values[lanes] > 0]] = 0
        best = np.argsort(-every[d], kind="stable")[:8]
        out[d], gains[d] = 0, 0
        best = best[every[d, best] > least]
        out[d, : len(best)], gains[d, : len(best)] = best, every[d, best]


def normalise_active(ends: Array, counts: Array, otherwise: Array) -> None:
    """(P3): the lanes of each document to sum one, in place; a document of nothing gets the other ones."""
    for d in range(len(ends) - 1):
        lanes = slice(ends[d], ends[d + 1])
        total = counts[lanes].sum(dtype=np.float64)
        counts[lanes] = counts[lanes] / total if total > SMALLEST_MIXTURE else otherwise[lanes]


def count_used(active: Active, before: Array, least: Array, sizes: Array) -> None:
    """How many components of each document are at least its ``least``, or no smaller than they were before."""
    for d in range(len(sizes)):
        sizes[d] = _used(active, before, least, d).sum()


def _used(active: Active, before: Array, least: Array, d: int) -> Array:
    lanes = slice(active.ends[d], active.ends[d + 1])
    value = active.values[lanes].ravel()
    used: Array = (value > 0) & ((value >= least[d]) | (value >= before[lanes].ravel()))
    return used


def keep_used(active: Active, before: Array, least: Array, values: Array, out: Active) -> None:
    """Those of ``count_used`` into ``out``, in their order, with these values (the shape of the active ones)."""
    for d in range(len(least)):
        used = _used(active, before, least, d)
        lanes = slice(active.ends[d], active.ends[d + 1])
        kept, room = used.sum(), slice(8 * out.ends[d], 8 * out.ends[d + 1])
        components, wanted = np.zeros(room.stop - room.start, np.uint16), np.zeros(room.stop - room.start)
        components[:kept], wanted[:kept] = active.components[lanes].ravel()[used], values[lanes].ravel()[used]
        out.components.reshape(-1)[room], out.values.reshape(-1)[room] = components, wanted


VERBS = verbs(
    active_document_counts, active_word_counts, active_gains, active_entrants, normalise_active, count_used,
    keep_used,
)  # fmt: skip
