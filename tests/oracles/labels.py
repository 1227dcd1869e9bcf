"""Several labels a document, as on the blackboard: sums over all ordered pairs of labels, nothing collapsed."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def phi(theta, alpha, y):
    """(M2) word by word and pair by pair; with all biases ½ this is (M1)."""
    n_labels, n_words = theta.shape
    h = y / y.sum()
    result = np.zeros(n_words)
    for i in range(n_words):
        for first in range(n_labels):
            for m in range(n_labels):
                pair = alpha[first, m] * theta[first, i] + alpha[m, first] * theta[m, i]
                result[i] += h[first] * h[m] * pair
    return result


def log_likelihood(x, theta, alpha, y):
    return sum(x[i] * math.log(p) for i, p in enumerate(phi(theta, alpha, y)) if x[i])


def objective(counts, labels, theta, alpha, xi=2.0, zeta=None):
    """(M3)."""
    total = sum(log_likelihood(x, theta, alpha, y) for x, y in zip(counts, labels, strict=True))
    total += (xi - 1) * np.log(theta).sum()
    return total + (0.0 if zeta is None else (zeta - 1) * np.log(alpha).sum())


def step(counts, labels, theta, alpha, xi=2.0, zeta=None):
    """(M5) from responsibilities of every ordered pair; with ``zeta=None`` biases stay, which is (M4)."""
    n_labels, n_words = theta.shape
    word_sum = np.zeros_like(theta)
    pair_sum = np.zeros_like(alpha)
    for x, y in zip(counts, labels, strict=True):
        h, mixture = y / y.sum(), phi(theta, alpha, y)
        for i in range(n_words):
            for first in range(n_labels):
                for m in range(n_labels):
                    own = h[first] * h[m] * alpha[first, m] * theta[first, i] / mixture[i]
                    other = h[first] * h[m] * alpha[m, first] * theta[m, i] / mixture[i]
                    word_sum[first, i] += x[i] * own
                    word_sum[m, i] += x[i] * other
                    pair_sum[first, m] += x[i] * own
    words = word_sum + xi - 1
    words /= words.sum(axis=1, keepdims=True)
    if zeta is None:
        return words, alpha
    bias = (pair_sum + (zeta - 1) / 2) / (pair_sum + pair_sum.T + zeta - 1)
    return words, bias


def exhaustive(x, theta, alpha):
    """The best of all non-empty sets of labels."""
    n_labels = len(theta)
    sets = [subset for size in range(1, n_labels + 1) for subset in combinations(range(n_labels), size)]
    return max((indicator(subset, n_labels) for subset in sets), key=lambda y: log_likelihood(x, theta, alpha, y))


def greedy(x, theta, alpha):
    """(M6)."""
    selected, best = [], -math.inf
    while len(selected) < len(theta):
        values = {
            label: log_likelihood(x, theta, alpha, indicator([*selected, label], len(theta)))
            for label in range(len(theta))
            if label not in selected
        }
        label = max(values, key=values.get)
        if selected and not values[label] > best + 1e-10:
            break
        selected.append(label)
        best = values[label]
    return indicator(selected, len(theta))


def indicator(subset, n_labels):
    y = np.zeros(n_labels)
    y[list(subset)] = 1
    return y


def planted(rng, n_docs=300, n_words=60, n_labels=5, length=80, several=0.5):
    """Counts drawn from mixtures of labels that hardly overlap, with their labels and the truth."""
    theta = rng.dirichlet(np.full(n_words, 0.1), n_labels) * 0.9 + 0.1 / n_words
    labels = np.zeros((n_docs, n_labels), int)
    for row in labels:
        row[rng.choice(n_labels, 1 + (rng.random() < several) + (rng.random() < several / 3), replace=False)] = 1
    counts = np.array([rng.multinomial(length, y / y.sum() @ theta) for y in labels])
    return counts.astype(float), labels, theta
