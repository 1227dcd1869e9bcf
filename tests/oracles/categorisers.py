"""Categorising as on the blackboard: a loop over everything, one document at a time."""

from __future__ import annotations

import math

import numpy as np


def training_step(table, topic_given_class, word_given_topic, smoothing=0.0, learn_mix=False, beta=1.0):
    """(H4), (H6) with the class of every token known: the next P(j|ν) and P(ν|α). ``table`` is classes × words."""
    (n_classes, n_words), n_nodes = table.shape, topic_given_class.shape[1]
    words, mix = np.zeros((n_nodes, n_words)), np.zeros((n_classes, n_nodes))
    for a in range(n_classes):
        for j in range(n_words):
            total = sum((topic_given_class[a, v] * word_given_topic[v, j]) ** beta for v in range(n_nodes))
            for v in range(n_nodes):
                if topic_given_class[a, v] == 0 or total == 0:
                    continue
                share = (topic_given_class[a, v] * word_given_topic[v, j]) ** beta / total
                words[v, j] += table[a, j] * share
                mix[a, v] += table[a, j] * share
    used = table.sum(axis=0) > 0
    words[:, used] += smoothing
    words /= words.sum(axis=1, keepdims=True)
    mix /= mix.sum(axis=1, keepdims=True)
    return words, mix if learn_mix else topic_given_class


def share_step(counts, doc_given_class, class_tokens, word_given_class):
    """One step of (K2) for one document: the next P(d|α)."""
    n_classes = len(class_tokens)
    prior = class_tokens / class_tokens.sum()
    total = np.zeros(n_classes)
    for j, n in enumerate(counts):
        mixture = sum(prior[a] * doc_given_class[a] * word_given_class[a, j] for a in range(n_classes))
        if n == 0 or mixture == 0:
            continue
        for a in range(n_classes):
            total[a] += n * prior[a] * doc_given_class[a] * word_given_class[a, j] / mixture
    return total / (class_tokens + total)


def share_objective(counts, doc_given_class, class_tokens, word_given_class):
    """What (K2) climbs: L(d) + Σ_α #α log(1 − P(d|α))."""
    prior = class_tokens / class_tokens.sum()
    value = 0.0
    for j, n in enumerate(counts):
        mixture = sum(p * d * w for p, d, w in zip(prior, doc_given_class, word_given_class[:, j], strict=True))
        if n and mixture:
            value += n * math.log(mixture)
    return value + sum(n * math.log(1 - p) for n, p in zip(class_tokens, doc_given_class, strict=True))


def one_class(counts, prior, word_given_class):
    """(K3): P(α|d) ∝ P(α) Π_j P(j|α)^n."""
    joint = np.array([p * np.prod(row**counts) for p, row in zip(prior, word_given_class, strict=True)])
    return joint / joint.sum()
