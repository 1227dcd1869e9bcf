"""Fisher kernels as on the blackboard: literal double sums over words and topics, one pair of documents at a time."""

from __future__ import annotations

import math

import numpy as np


def shares(document):
    """p̂(j|d)."""
    total = sum(document)
    return [n / total if total else 0.0 for n in document]


def word_given_class(mix, words):
    """P(j|α) = Σ_ν P(ν|α) P(j|ν)."""
    return np.array(
        [[sum(row[v] * words[v][j] for v in range(len(words))) for j in range(len(words[0]))] for row in mix]
    )


def sense(document, row, mix, words, one_class):
    """P(ν|d,j) for every word: (words, topics)."""
    classes, out = word_given_class(mix, words), np.zeros((len(document), len(words)))
    for j in range(len(document)):
        if one_class:
            for v in range(len(words)):
                out[j, v] = sum(
                    row[a] * mix[a][v] * words[v][j] / classes[a][j] for a in range(len(row)) if classes[a][j] > 0
                )
        else:
            total = sum(row[a] * mix[a][v] * words[v][j] for a in range(len(row)) for v in range(len(words)))
            for v in range(len(words)):
                joint = sum(row[a] * mix[a][v] * words[v][j] for a in range(len(row)))
                out[j, v] = joint / total if total else 0.0
    return out


def topical(row, other, prior):
    """(F1)."""
    return sum(row[a] * other[a] / prior[a] for a in range(len(row)) if prior[a] > 0)


def lexical(document, other, row, other_row, mix, words, one_class=False):
    """(F2)."""
    p, q = shares(document), shares(other)
    s, t = sense(document, row, mix, words, one_class), sense(other, other_row, mix, words, one_class)
    total = 0.0
    for j in range(len(p)):
        for v in range(len(words)):
            if words[v][j] > 0:
                total += p[j] * q[j] * s[j, v] * t[j, v] / words[v][j]
    return total


def levels(document, other, row, other_row, mix, words, one_class):
    """(F5): (21), and (23) with the factor P(ν|α) that the paper lost."""
    if not one_class:
        return sum(row[a] * other_row[a] for a in range(len(row)))
    p, q, classes, total = shares(document), shares(other), word_given_class(mix, words), 0.0
    for a in range(len(row)):
        for v in range(len(words)):
            first = sum(p[j] * words[v][j] / classes[a][j] for j in range(len(p)) if classes[a][j] > 0)
            second = sum(q[j] * words[v][j] / classes[a][j] for j in range(len(q)) if classes[a][j] > 0)
            total += row[a] * other_row[a] * mix[a][v] * first * second
    return total


def plain(document, other):
    """Σ_j p̂(j|d) p̂(j|d′)."""
    return sum(a * b for a, b in zip(shares(document), shares(other), strict=True))


def bm25(query, documents, k1=1.2, b=0.75):
    """The score of each document, as Robertson writes it, with the logarithm that is never negative."""
    n = len(documents)
    average = sum(map(sum, documents)) / n
    scores = []
    for document in documents:
        score = 0.0
        for j, times in enumerate(query):
            holding = sum(1 for other in documents if other[j] > 0)
            weight = math.log(1 + (n - holding + 0.5) / (holding + 0.5))
            norm = k1 * (1 - b + b * sum(document) / average)
            score += times * weight * document[j] * (k1 + 1) / (document[j] + norm) if document[j] else 0.0
        scores.append(score)
    return scores
