"""Compiled kernels of labels in numba: the same sums as ``reference``, without temporary arrays.

In ``choose_labels`` nearly all time is spent on logarithms of sums. Most counts are small whole numbers, so the sums of
several words are multiplied first, each to the power of its count, and one logarithm is taken of the product.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.jit import inline, jit
from topiarist.kernels.labels import EXCLUDED_WEIGHT, MIN_GAIN, LabelSetCounts

MAX_POWER = 3  # a larger count takes its own logarithm
MAX_FACTORS = 6  # with the last count at most 8 factors of at least 1e-30, so no product underflows


@jit
def set_ratios(sets, first, last, weights, values, mixtures, ratios, sums):
    """(M4), (M5): set ``mixtures``, ``ratios`` and ``sums`` of the label sets ``first`` to ``last``."""
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
    """(M4), (M5): compute ``reference.label_counts``."""
    for label in range(first, last):
        for place in range(sets.label_ends[label], sets.label_ends[label + 1]):
            m = sets.by_label[place]
            s, weight = sets.owners[m], weights[m]
            begin, n = sets.ends[s], sets.ends[s + 1] - sets.ends[s]
            places = sets.places[sets.starts[m] : sets.starts[m] + n]
            for t in range(n):
                out[places[t]] += weight * ratios[begin + t] * values[places[t]]


@jit
def normalise_labels(ends, first, last, stored, default, n_words):
    """(M4): scale the words of labels ``first`` to ``last`` to sum one, in place; else uniform."""
    for label in range(first, last):
        total = (n_words - (ends[label + 1] - ends[label])) * default[label]
        for place in range(ends[label], ends[label + 1]):
            total += stored[place]
        scale, uniform = (1.0 / total, 0.0) if total > 0 else (0.0, 1.0 / n_words)
        default[label] = default[label] * scale + uniform
        for place in range(ends[label], ends[label + 1]):
            stored[place] = stored[place] * scale + uniform


@jit
def extrapolate_change(old, new, stride, out):
    """Return the largest change of an entry; unless ``out`` is empty, extrapolate into it."""
    max_change, factor = 0.0, stride - 1.0
    if len(out):
        for place in range(len(new)):
            out[place] = max(new[place] + factor * (new[place] - old[place]), 0.5 * new[place])
    for place in range(len(new)):
        max_change = max(max_change, abs(new[place] - old[place]))
    return max_change


@inline
def _multiply_powers(product, sums, power):
    """Compute ``product *= max(sums, smallest) ** power`` for a small whole power."""
    for label in range(len(sums)):
        v = max(sums[label], SMALLEST_MIXTURE)
        w = v
        for _ in range(power - 1):
            w *= v
        product[label] *= w


@inline
def _add_logarithms(product, value):
    """Add ``log(product)`` to ``value`` and reset the product to one."""
    for label in range(len(product)):
        value[label] += np.log(product[label])
        product[label] = 1.0


@inline
def _evaluate_sets(document, words, state, biases, work, value):
    """Compute the log-likelihood of the chosen labels with each other label in turn, except for common terms.

    ``state`` has the chosen labels, their sum for each word, and the weight that a new label would have.
    """
    indices, data = document
    labels, mixture, label_weight = state
    sums, product = work
    n_labels, tokens = words.shape[1], 0
    has_bias = len(biases) > 0
    value[:] = 0.0
    product[:] = 1.0
    for t in range(len(indices)):
        row, base, x = words[indices[t]], mixture[t], float(data[t])
        if has_bias:
            for label in range(n_labels):
                sums[label] = base + label_weight[label] * row[label]
            for place in range(len(labels)):
                other, bias = row[labels[place]], biases[labels[place]]
                for label in range(n_labels):
                    sums[label] += other * bias[label]
        else:
            for label in range(n_labels):
                sums[label] = base + row[label]
        power = int(x)
        if power == x and power <= MAX_POWER:
            _multiply_powers(product, sums, power)
            tokens += power
            if tokens >= MAX_FACTORS:
                _add_logarithms(product, value)
                tokens = 0
        else:
            for label in range(n_labels):
                value[label] += x * np.log(max(sums[label], SMALLEST_MIXTURE))
    if tokens:
        _add_logarithms(product, value)


@inline
def _add_label(document, words, state, biases, new):
    """Update the sum of the chosen labels for each word, and the weight of a further label, for a new label."""
    indices, _ = document
    labels, mixture, label_weight = state
    if len(biases):
        for t in range(len(indices)):
            row = words[indices[t]]
            mixture[t] += label_weight[new] * row[new]
            for place in range(len(labels)):
                mixture[t] += biases[labels[place], new] * row[labels[place]]
        for label in range(words.shape[1]):
            label_weight[label] += biases[label, new]
    else:
        for t in range(len(indices)):
            mixture[t] += words[indices[t], new]


@inline
def _best_two(value, rank):
    """Return the best label that is not chosen yet and the value of the next; ties go to the first."""
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
def choose_labels(indptr, indices, data, words, bias, label_weights, ranks, gains):
    """(M6): choose the labels of each document greedily; write ``ranks`` 1, 2, … and ``gains``."""
    n_labels = words.shape[1]
    value, label_weight = np.empty(n_labels), np.empty(n_labels)
    work = (np.empty(n_labels), np.empty(n_labels))
    labels, has_gains = np.empty(n_labels, np.int64), len(gains) > 0
    has_bias = len(bias) > 0
    for d in range(len(ranks)):
        document = (indices[indptr[d] : indptr[d + 1]], data[indptr[d] : indptr[d + 1]])
        tokens, mixture = 0.0, np.zeros(len(document[0]))
        for t in range(len(document[0])):
            tokens += document[1][t]
        min_gain = MIN_GAIN * max(tokens, 1.0)
        label_weight[:] = 0.5 if has_bias else 1.0
        ranks[d, :] = 0
        last_value, bonus = -np.inf, 0.0
        for size in range(1, n_labels + 1):
            state = (labels[: size - 1], mixture, label_weight)
            _evaluate_sets(document, words, state, bias, work, value)
            shares = size * size / 2.0 if has_bias else float(size)
            offset = bonus - tokens * np.log(shares)
            for label in range(n_labels):
                value[label] = value[label] + label_weights[label] + offset
            best, next_best = _best_two(value, ranks[d])
            if size == 1:
                last_value = next_best if next_best > EXCLUDED_WEIGHT / 2 else value[best] - 1.0
            if has_gains:
                for label in range(n_labels):
                    if ranks[d, label] == 0:
                        gains[d, label] = value[label] - last_value
            if size > 1 and not value[best] > last_value + min_gain:
                break
            if has_gains:
                gains[d, best] = max(value[best] - last_value, min_gain)
            last_value = value[best]
            bonus += label_weights[best]
            _add_label(document, words, state, bias, best)
            labels[size - 1] = best
            ranks[d, best] = size


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels; parameters are in double precision for both types of counts."""
    zero, ends, values = np.zeros(1, np.int64), np.array([0, 1], np.int64), np.ones(1)
    places = np.zeros(1, np.int32)
    sets = LabelSetCounts(ends, values, ends.copy(), zero, zero.copy(), zero.copy(), places, ends.copy(), zero.copy())
    set_ratios(sets, 0, 1, values.copy(), values.copy(), values.copy(), values.copy(), values.copy())
    label_counts(sets, 0, 1, values.copy(), values.copy(), values.copy(), values.copy())
    normalise_labels(ends, 0, 1, values.copy(), values.copy(), 1)
    extrapolate_change(values, values.copy(), 1.5, values.copy())
    indptr, indices, ranks = np.array([0, 1], np.int32), np.zeros(1, np.int32), np.zeros((1, 1), np.int32)
    no_bias, gains = np.empty((0, 0)), np.empty((0, 1))
    for kind in (np.float32, np.float64):
        choose_labels(indptr, indices, np.ones(1, kind), np.ones((1, 1)), no_bias, values.copy(), ranks, gains)
