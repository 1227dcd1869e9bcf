"""Words at the nodes of a tree, as on the blackboard: a loop over every document, word, class and topic."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


def path_mask(parent, class_node):
    """Which nodes are above each class, itself included; ``parent`` is -1 at a root."""
    mask = np.zeros((len(class_node), len(parent)), bool)
    for number, node in enumerate(class_node):
        while node >= 0:
            mask[number, node] = True
            node = parent[node]
    return mask


def balanced(depth, branches=2):
    """The mask of a balanced tree with its classes at the leaves."""
    parent = [-1]
    level = [0]
    for _ in range(depth):
        below = range(len(parent), len(parent) + branches * len(level))
        parent += [node for node in level for _ in range(branches)]
        level = list(below)
    return path_mask(parent, level)


def random_tree(rng, n_nodes, n_classes):
    """A mask of any tree or forest, with classes at any nodes."""
    parent = [-1] + [int(rng.integers(-1 if rng.random() < 0.2 else 0, node)) for node in range(1, n_nodes)]
    return path_mask(parent, rng.choice(n_nodes, min(n_classes, n_nodes), replace=False).tolist())


class Sums(NamedTuple):
    doc_class: np.ndarray  # Σ_j n <C_α>
    class_topic: np.ndarray  # Σ_ij n <T_αν>
    topic_word: np.ndarray  # Σ_iα n <T_αν>
    objective: float  # (1/β) Σ n log Σ [...]^β


def sums(counts, class_given_doc, topic_given_class, word_given_topic, beta=1.0):
    """(H3), (H4) summed as in (H5), (H6), with nothing rearranged."""
    (n_docs, n_words), (n_classes, n_topics) = counts.shape, topic_given_class.shape
    doc_class, class_topic = np.zeros((n_docs, n_classes)), np.zeros((n_classes, n_topics))
    topic_word, objective = np.zeros((n_topics, n_words)), 0.0
    for i in range(n_docs):
        for j in range(n_words):
            if counts[i, j] == 0:
                continue
            joint = np.zeros((n_classes, n_topics))
            for a in range(n_classes):
                for v in range(n_topics):
                    if topic_given_class[a, v] > 0:
                        joint[a, v] = (class_given_doc[i, a] * topic_given_class[a, v] * word_given_topic[v, j]) ** beta
            total = joint.sum()
            objective += counts[i, j] * math.log(total) / beta
            for a in range(n_classes):
                for v in range(n_topics):
                    expected = counts[i, j] * joint[a, v] / total
                    doc_class[i, a] += expected
                    class_topic[a, v] += expected
                    topic_word[v, j] += expected
    return Sums(doc_class, class_topic, topic_word, objective)


def planted(rng, mask, n_docs=400, own_words=8, length=150):
    """Documents of one class each, with words of its own at every node: counts, classes, P(j|ν)."""
    n_classes, n_nodes = mask.shape
    words = np.full((n_nodes, own_words * n_nodes), 0.1 / (own_words * n_nodes))
    for node in range(n_nodes):
        words[node, node * own_words : (node + 1) * own_words] += 0.9 * rng.dirichlet(np.full(own_words, 5.0))
    words /= words.sum(axis=1, keepdims=True)
    mix = mask / mask.sum(axis=1, keepdims=True)
    selected = rng.integers(n_classes, size=n_docs)
    return np.array([rng.multinomial(length, mix[c] @ words) for c in selected]), selected, words


def word_nodes(counts, class_given_doc, topic_given_class, word_given_topic):
    """P(ν|d,w) where each token has a class: for every document, word and node, Σ_α P(α|d) P(ν|α) P(w|ν) / P(w|d)."""
    result = np.zeros((*counts.shape, len(word_given_topic)))
    for d, w in zip(*np.nonzero(counts), strict=True):
        for v in range(len(word_given_topic)):
            for a in range(len(topic_given_class)):
                result[d, w, v] += class_given_doc[d, a] * topic_given_class[a, v] * word_given_topic[v, w]
        result[d, w] /= result[d, w].sum()
    return result
