"""The verbs of ``labels`` in NumPy: slow, obvious, and the specification of the compiled ones."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE, verbs
from topiarist.kernels.labels import FORBIDDEN, LEAST_GAIN, Sets, Taste


def set_ratios(
    sets: Sets, first: int, last: int, weights: Array, values: Array, mixtures: Array, ratios: Array, sums: Array
) -> None:
    """(M4), (M5): ``mixtures = φ``, ``ratios = x/φ`` and ``sums = A`` of the sets ``first`` to ``last``.

    ``weights`` holds c for each member, ``values`` θ at the places of labels and words seen together.
    """
    for s in range(first, last):
        here = slice(sets.ends[s], sets.ends[s + 1])
        members = range(sets.member_ends[s], sets.member_ends[s + 1])
        rows = {m: values[sets.places[sets.starts[m] : sets.starts[m] + here.stop - here.start]] for m in members}
        mixtures[here] = np.maximum(sum(weights[m] * rows[m] for m in members), SMALLEST_MIXTURE)
        ratios[here] = sets.data[here] / mixtures[here]
        for m in members:
            sums[m] = ratios[here] @ rows[m]


def label_counts(sets: Sets, first: int, last: int, weights: Array, values: Array, ratios: Array, out: Array) -> None:
    """(M4), (M5): ``out(l,i) = θ(l,i) Σ_s c_sl r_si`` for the labels ``first`` to ``last``, added to what is there."""
    for label in range(first, last):
        for m in sets.by_label[sets.label_ends[label] : sets.label_ends[label + 1]]:
            s = sets.owners[m]
            here = slice(sets.ends[s], sets.ends[s + 1])
            places = sets.places[sets.starts[m] : sets.starts[m] + here.stop - here.start]
            out[places] += weights[m] * ratios[here] * values[places]


def normalise_labels(ends: Array, first: int, last: int, seen: Array, unseen: Array, n_words: int) -> None:
    """(M4): the words of the labels ``first`` to ``last`` to sum one, in place; a label of nothing has all alike.

    Label l has θ at ``seen[ends[l]:ends[l + 1]]`` and ``unseen[l]`` for each other of the ``n_words`` words.
    """
    for label in range(first, last):
        here = slice(ends[label], ends[label + 1])
        total = seen[here].sum() + (n_words - (here.stop - here.start)) * unseen[label]
        if total > 0:
            seen[here] /= total
            unseen[label] /= total
        else:
            seen[here] = unseen[label] = 1 / n_words


def farthest(old: Array, new: Array, stride: float, out: Array) -> float:
    """How far the farthest entry went from old to new; and ``out`` as ``look_ahead`` has it, unless it is empty."""
    if len(out):
        np.maximum(new + (stride - 1) * (new - old), new / 2, out=out)
    return float(np.abs(new - old).max(initial=0.0))


def choose(
    indptr: Array, indices: Array, data: Array, words: Array, scale: Array, taste: Taste, ranks: Array, gains: Array
) -> None:
    """(M6): the labels of each document, greedily; ``ranks`` has 1, 2, … in the order of choice and 0 elsewhere.

    ``words`` is θ by word, (n_words, n_labels). ``gains``, if it has rows, says by how much a chosen label raised the
    value of the set when it came (the first: how far it was ahead of the second best, 1 if there is none), and how much
    any other label would add to the final set.
    """
    for d in range(len(ranks)):
        here = slice(indptr[d], indptr[d + 1])
        rows, x = words[indices[here]].astype(np.float64), data[here].astype(np.float64)
        least = LEAST_GAIN * max(scale[d] * x.sum(), 1.0)
        chosen: list[int] = []
        rest = list(range(words.shape[1]))
        value = -np.inf
        ranks[d] = 0
        while rest:
            values = np.array([_value(rows, x, [*chosen, label], scale[d], taste) for label in rest])
            best = int(values.argmax())
            if not chosen:
                second = np.sort(values)[-2] if len(rest) > 1 else -np.inf
                value = second if second > FORBIDDEN / 2 else values[best] - 1
            if len(gains):
                gains[d, rest] = values - value
            if chosen and not values[best] > value + least:
                break
            if len(gains):
                gains[d, rest[best]] = max(values[best] - value, least)
            value = values[best]
            chosen.append(rest.pop(best))
            ranks[d, chosen[-1]] = len(chosen)


def _value(rows: Array, x: Array, chosen: list[int], scale: float, taste: Taste) -> float:
    """The value of a set: scaled log-likelihood, labels, size."""
    size = len(chosen)
    if len(taste.bias):
        weights = 2 * taste.bias[np.ix_(chosen, chosen)].sum(axis=1) / size**2
    else:
        weights = np.full(size, 1 / size)
    mixture = np.maximum(rows[:, chosen] @ weights, SMALLEST_MIXTURE)
    total = scale * float(x @ np.log(mixture)) + float(taste.of_label[chosen].sum())
    return total + of_size(taste.of_size, size)


def of_size(table: Array, size: int) -> float:
    """What a number of labels is worth; beyond the table each further one as much as its last."""
    last = len(table) - 1
    return float(table[min(size, last)] + max(size - last, 0) * (table[last] - table[last - 1]))


VERBS = verbs(set_ratios, label_counts, normalise_labels, farthest, choose)
