"""The verbs of ``labels`` in numba: the same sums as ``reference``, without a temporary.

In ``choose`` nearly all time goes into logarithms of sums. Counts are small whole numbers mostly, so the sums of
several words are multiplied first, each as often as it counts, and one logarithm is taken of the product.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE, verbs
from topiarist.kernels.jit import inline, jit
from topiarist.kernels.labels import FORBIDDEN, LEAST_GAIN, Sets, Taste

LARGEST_POWER = 3  # a count above it takes a logarithm of its own
TOKENS_AT_ONCE = 6  # with the last count at most 8 factors of at least 1e-30: no product underflows


@jit
def set_ratios(sets, first, last, weights, values, mixtures, ratios, sums):
    """(M4), (M5): see ``reference.set_ratios``."""
    for s in range(first, last):
        begin, n = sets.ends[s], sets.ends[s + 1] - sets.ends[s]
        for t in range(n):
            mixtures[begin + t] = 0.0
        for m in range(sets.member_ends[s], sets.member_ends[s + 1]):
            weight, places = weights[m], sets.places[sets.starts[m] : sets.starts[m] + n]
            for t in range(n):
                mixtures[begin + t] += weight * values[places[t]]
        for t in range(n):
            mixtures[begin + t] = max(mixtures[begin + t], SMALLEST_MIXTURE)
            ratios[begin + t] = sets.data[begin + t] / mixtures[begin + t]
        for m in range(sets.member_ends[s], sets.member_ends[s + 1]):
            places = sets.places[sets.starts[m] : sets.starts[m] + n]
            part = 0.0
            for t in range(n):
                part += ratios[begin + t] * values[places[t]]
            sums[m] = part


@jit
def label_counts(sets, first, last, weights, values, ratios, out):
    """(M4), (M5): see ``reference.label_counts``."""
    for label in range(first, last):
        for place in range(sets.label_ends[label], sets.label_ends[label + 1]):
            m = sets.by_label[place]
            s, weight = sets.owners[m], weights[m]
            begin, n = sets.ends[s], sets.ends[s + 1] - sets.ends[s]
            places = sets.places[sets.starts[m] : sets.starts[m] + n]
            for t in range(n):
                out[places[t]] += weight * ratios[begin + t] * values[places[t]]


@jit
def normalise_labels(ends, first, last, seen, unseen, n_words):
    """(M4): see ``reference.normalise_labels``."""
    for label in range(first, last):
        total = (n_words - (ends[label + 1] - ends[label])) * unseen[label]
        for place in range(ends[label], ends[label + 1]):
            total += seen[place]
        scale, least = (1.0 / total, 0.0) if total > 0 else (0.0, 1.0 / n_words)
        unseen[label] = unseen[label] * scale + least
        for place in range(ends[label], ends[label + 1]):
            seen[place] = seen[place] * scale + least


@jit
def farthest(old, new, stride, out):
    """See ``reference.farthest``."""
    most, ahead = 0.0, stride - 1.0
    if len(out):
        for place in range(len(new)):
            out[place] = max(new[place] + ahead * (new[place] - old[place]), 0.5 * new[place])
    for place in range(len(new)):
        most = max(most, abs(new[place] - old[place]))
    return most


@inline
def _times(product, sums, power):
    """``product *= max(sums, smallest) ** power`` for a small whole power."""
    for label in range(len(sums)):
        v = max(sums[label], SMALLEST_MIXTURE)
        w = v
        for _ in range(power - 1):
            w *= v
        product[label] *= w


@inline
def _settle(product, value):
    """``value += log(product)``, and the product begins anew."""
    for label in range(len(product)):
        value[label] += np.log(product[label])
        product[label] = 1.0


@inline
def _values(here, words, state, taste, work, value):
    """Log-likelihood of the chosen labels with each other label in turn, but for what is the same for all of them.

    ``state`` has the chosen labels, the sum that they make of each word, and the weight that a new label would have.
    """
    indices, data = here
    chosen, said, own = state
    sums, product = work
    n_labels, tokens = words.shape[1], 0
    second = len(taste.bias) > 0
    value[:] = 0.0
    product[:] = 1.0
    for t in range(len(indices)):
        row, before, x = words[indices[t]], said[t], float(data[t])
        if second:
            for label in range(n_labels):
                sums[label] = before + own[label] * row[label]
            for place in range(len(chosen)):
                other, bias = row[chosen[place]], taste.bias[chosen[place]]
                for label in range(n_labels):
                    sums[label] += other * bias[label]
        else:
            for label in range(n_labels):
                sums[label] = before + row[label]
        power = int(x)
        if power == x and power <= LARGEST_POWER:
            _times(product, sums, power)
            tokens += power
            if tokens >= TOKENS_AT_ONCE:
                _settle(product, value)
                tokens = 0
        else:
            for label in range(n_labels):
                value[label] += x * np.log(max(sums[label], SMALLEST_MIXTURE))
    if tokens:
        _settle(product, value)


@inline
def _of_size(table, size):
    """See ``reference.of_size``."""
    last = len(table) - 1
    return table[min(size, last)] + max(size - last, 0) * (table[last] - table[last - 1])


@inline
def _add(here, words, state, taste, new):
    """What the chosen labels say of each word, and the weight of a further label, once ``new`` is among them."""
    indices, _ = here
    chosen, said, own = state
    if len(taste.bias):
        for t in range(len(indices)):
            row = words[indices[t]]
            said[t] += own[new] * row[new]
            for place in range(len(chosen)):
                said[t] += taste.bias[chosen[place], new] * row[chosen[place]]
        for label in range(words.shape[1]):
            own[label] += taste.bias[label, new]
    else:
        for t in range(len(indices)):
            said[t] += words[indices[t], new]


@inline
def _best_two(value, rank):
    """The best label that is not chosen yet, and the value of the next; of equal ones the first."""
    best, top, second = -1, -np.inf, -np.inf
    for label in range(len(value)):
        if rank[label] == 0:
            if best < 0 or value[label] > top:
                second = top
                best, top = label, value[label]
            elif value[label] > second:
                second = value[label]
    return best, second


@jit
def choose(indptr, indices, data, words, scale, taste, ranks, gains):
    """(M6): see ``reference.choose``."""
    n_labels = words.shape[1]
    value, own = np.empty(n_labels), np.empty(n_labels)
    work = (np.empty(n_labels), np.empty(n_labels))
    chosen, asked = np.empty(n_labels, np.int64), len(gains) > 0
    second = len(taste.bias) > 0
    for d in range(len(ranks)):
        here = (indices[indptr[d] : indptr[d + 1]], data[indptr[d] : indptr[d + 1]])
        tokens, said = 0.0, np.zeros(len(here[0]))
        for t in range(len(here[0])):
            tokens += here[1][t]
        least = LEAST_GAIN * max(scale[d] * tokens, 1.0)
        own[:] = 0.5 if second else 1.0
        ranks[d, :] = 0
        before, bonus = -np.inf, 0.0
        for size in range(1, n_labels + 1):
            state = (chosen[: size - 1], said, own)
            _values(here, words, state, taste, work, value)
            shares = size * size / 2.0 if second else float(size)
            same = bonus + _of_size(taste.of_size, size) - scale[d] * tokens * np.log(shares)
            for label in range(n_labels):
                value[label] = scale[d] * value[label] + taste.of_label[label] + same
            best, next_best = _best_two(value, ranks[d])
            if size == 1:
                before = next_best if next_best > FORBIDDEN / 2 else value[best] - 1.0
            if asked:
                for label in range(n_labels):
                    if ranks[d, label] == 0:
                        gains[d, label] = value[label] - before
            if size > 1 and not value[best] > before + least:
                break
            if asked:
                gains[d, best] = max(value[best] - before, least)
            before = value[best]
            bonus += taste.of_label[best]
            _add(here, words, state, taste, best)
            chosen[size - 1] = best
            ranks[d, best] = size


VERBS = verbs(set_ratios, label_counts, normalise_labels, farthest, choose)


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels: parameters are in double precision, whatever is asked for, and counts in either."""
    zero, one, ones = np.zeros(1, np.int64), np.array([0, 1], np.int64), np.ones(1)
    places = np.zeros(1, np.int32)
    sets = Sets(one, ones, one.copy(), zero, zero.copy(), zero.copy(), places, one.copy(), zero.copy())
    set_ratios(sets, 0, 1, ones.copy(), ones.copy(), ones.copy(), ones.copy(), ones.copy())
    label_counts(sets, 0, 1, ones.copy(), ones.copy(), ones.copy(), ones.copy())
    normalise_labels(one, 0, 1, ones.copy(), ones.copy(), 1)
    farthest(ones, ones.copy(), 1.5, ones.copy())
    indptr, indices, ranks = np.array([0, 1], np.int32), np.zeros(1, np.int32), np.zeros((1, 1), np.int32)
    taste = Taste(np.empty((0, 0)), np.zeros(1), np.zeros(2))
    for kind in (np.float32, np.float64):
        choose(indptr, indices, np.ones(1, kind), np.ones((1, 1)), ones.copy(), taste, ranks, np.empty((0, 1)))
