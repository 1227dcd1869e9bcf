"""Reference versions of the kernels of labels in NumPy, the specification of the compiled ones."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.labels import EXCLUDED_WEIGHT, MIN_GAIN, LabelSetCounts


def set_ratios(
    sets: LabelSetCounts,
    first: int,
    last: int,
    weights: Array,
    values: Array,
    mixtures: Array,
    ratios: Array,
    sums: Array,
) -> None:
    """(M4), (M5): compute ``mixtures = φ``, ``ratios = x/φ`` and ``sums = A`` of the sets ``first`` to ``last``.

    ``weights`` holds c for each member, ``values`` θ for the stored pairs of labels and words.
    """
    for s in range(first, last):
        span = slice(sets.ends[s], sets.ends[s + 1])
        members = range(sets.member_ends[s], sets.member_ends[s + 1])
        rows = {m: values[sets.places[sets.starts[m] : sets.starts[m] + span.stop - span.start]] for m in members}
        mixtures[span] = np.maximum(sum(weights[m] * rows[m] for m in members), SMALLEST_MIXTURE)
        ratios[span] = sets.data[span] / mixtures[span]
        for m in members:
            sums[m] = ratios[span] @ rows[m]


def label_counts(
    sets: LabelSetCounts, first: int, last: int, weights: Array, values: Array, ratios: Array, out: Array
) -> None:
    """(M4), (M5): add ``θ(l,i) Σ_s c_sl r_si`` to ``out(l,i)`` for the labels ``first`` to ``last``."""
    for label in range(first, last):
        for m in sets.by_label[sets.label_ends[label] : sets.label_ends[label + 1]]:
            s = sets.owners[m]
            span = slice(sets.ends[s], sets.ends[s + 1])
            places = sets.places[sets.starts[m] : sets.starts[m] + span.stop - span.start]
            out[places] += weights[m] * ratios[span] * values[places]


def normalise_labels(ends: Array, first: int, last: int, stored: Array, default: Array, n_words: int) -> None:
    """(M4): scale the words of the labels ``first`` to ``last`` to sum one, in place; an empty label becomes uniform.

    Label l has θ at ``stored[ends[l]:ends[l + 1]]`` and ``default[l]`` for each other of the ``n_words`` words.
    """
    for label in range(first, last):
        span = slice(ends[label], ends[label + 1])
        total = stored[span].sum() + (n_words - (span.stop - span.start)) * default[label]
        if total > 0:
            stored[span] /= total
            default[label] /= total
        else:
            stored[span] = default[label] = 1 / n_words


def extrapolate_change(old: Array, new: Array, stride: float, out: Array) -> float:
    """Return the largest change of an entry from old to new; unless ``out`` is empty, extrapolate into it."""
    if len(out):
        np.maximum(new + (stride - 1) * (new - old), new / 2, out=out)
    return float(np.abs(new - old).max(initial=0.0))


def choose_labels(
    indptr: Array,
    indices: Array,
    data: Array,
    words: Array,
    bias: Array,
    label_weights: Array,
    ranks: Array,
    gains: Array,
) -> None:
    """(M6): choose the labels of each document greedily; ``ranks`` has 1, 2, … in the order of choice and 0 elsewhere.

    ``words`` is θ by word, (n_words, n_labels). ``bias`` is α of (M2), or has no rows if all labels of a set have equal
    weight (M1). ``label_weights`` are added for each label of a set; ``EXCLUDED_WEIGHT`` excludes one. ``gains``, if it
    has rows, is the increase of the value by a chosen label when it was added. For the first label it is the distance
    to the second best, 1 if there is none. For other labels it is the increase that they would add to the final set.
    """
    for d in range(len(ranks)):
        span = slice(indptr[d], indptr[d + 1])
        rows, x = words[indices[span]].astype(np.float64), data[span].astype(np.float64)
        min_gain = MIN_GAIN * max(x.sum(), 1.0)
        labels: list[int] = []
        rest = list(range(words.shape[1]))
        value = -np.inf
        ranks[d] = 0
        while rest:
            values = np.array([_evaluate_set(rows, x, [*labels, label], bias, label_weights) for label in rest])
            best = int(values.argmax())
            if not labels:
                second = np.sort(values)[-2] if len(rest) > 1 else -np.inf
                value = second if second > EXCLUDED_WEIGHT / 2 else values[best] - 1
            if len(gains):
                gains[d, rest] = values - value
            if labels and not values[best] > value + min_gain:
                break
            if len(gains):
                gains[d, rest[best]] = max(values[best] - value, min_gain)
            value = values[best]
            labels.append(rest.pop(best))
            ranks[d, labels[-1]] = len(labels)


def _evaluate_set(rows: Array, x: Array, labels: list[int], bias: Array, label_weights: Array) -> float:
    """Return the value of a set: the log-likelihood, and weights of labels."""
    size = len(labels)
    shares = 2 * bias[np.ix_(labels, labels)].sum(axis=1) / size**2 if len(bias) else np.full(size, 1 / size)
    mixture = np.maximum(rows[:, labels] @ shares, SMALLEST_MIXTURE)
    return float(x @ np.log(mixture)) + float(label_weights[labels].sum())
