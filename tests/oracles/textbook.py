"""PLSA as it stands on the blackboard: a loop over every document, word and component."""

from __future__ import annotations

import math

import numpy as np


def em_step(counts, component_given_doc, word_given_component, beta=1.0, word_smoothing=0.0, component_smoothing=0.0):
    """One tempered MAP step; returns new P(k|i), new P(j|k)."""
    n_docs, n_words = counts.shape
    n_components = len(word_given_component)
    doc_sum = np.zeros((n_docs, n_components))
    word_sum = np.zeros((n_components, n_words))
    for i in range(n_docs):
        for j in range(n_words):
            if counts[i, j] == 0:
                continue
            joint = [(component_given_doc[i, k] * word_given_component[k, j]) ** beta for k in range(n_components)]
            for k in range(n_components):
                responsibility = counts[i, j] * joint[k] / sum(joint)
                doc_sum[i, k] += responsibility
                word_sum[k, j] += responsibility
    doc_sum += component_smoothing
    word_sum += word_smoothing
    for i in range(n_docs):
        doc_sum[i] = doc_sum[i] / doc_sum[i].sum() if doc_sum[i].sum() > 0 else 1 / n_components
    return doc_sum, word_sum / word_sum.sum(axis=1, keepdims=True)


def objective(counts, component_given_doc, word_given_component, beta=1.0, word_smoothing=0.0, component_smoothing=0.0):
    """Tempered log-likelihood plus log-prior, token by token."""
    total = 0.0
    for i, j in zip(*np.nonzero(counts), strict=True):
        terms = (component_given_doc[i] * word_given_component[:, j]) ** beta
        total += counts[i, j] * math.log(terms.sum()) / beta
    if word_smoothing:
        total += word_smoothing * np.log(word_given_component).sum()
    if component_smoothing:
        total += component_smoothing * np.log(component_given_doc).sum()
    return total


def planted(rng, n_docs=300, n_words=40, n_components=4, length=200):
    """Counts drawn from components that hardly overlap, with the truth."""
    own = n_words // n_components
    words = np.full((n_components, n_words), 0.05 / n_words)
    for k in range(n_components):
        words[k, k * own : (k + 1) * own] += rng.dirichlet(np.full(own, 5.0)) * 0.95
    words /= words.sum(axis=1, keepdims=True)
    mixing = rng.dirichlet(np.full(n_components, 0.2), n_docs)
    counts = np.array([rng.multinomial(length, row @ words) for row in mixing])
    return counts, mixing, words
