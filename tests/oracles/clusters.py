"""One cluster per document, words at the nodes of its path, as on the blackboard: a loop over everything."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    posterior: np.ndarray  # P(c|d)
    node_word: np.ndarray  # Σ_dc n P(c|d) P(a|d,w,c)
    cluster_node: np.ndarray  # Σ_dw n P(c|d) P(a|d,w,c), on the tokens for (C4)
    free_energy: float  # F_T = Σ_d log Σ_c P(c) Π_w P(w|c)^(n/T)
    direction_sum: np.ndarray | None = None  # Σ_d P(c|d) v_d


def word_given_cluster(node_given_cluster, word_given_node):
    """Σ_{a↑c} P(a|c) P(w|a)."""
    (n_clusters, n_nodes), n_words = node_given_cluster.shape, word_given_node.shape[1]
    words = np.zeros((n_clusters, n_words))
    for c in range(n_clusters):
        for a in range(n_nodes):
            for w in range(n_words):
                words[c, w] += node_given_cluster[c, a] * word_given_node[a, w]
    return words


def sums(counts, mix_counts, cluster_prior, node_given_cluster, word_given_node, temperature=1.0, joined=None):
    """(C1), (C2) summed as in (C3), and as in (C4) over ``mix_counts``, with nothing rearranged.

    ``joined``: vectors, directions and concentration of (V1), whose sums are those of (V2).
    """
    (n_docs, n_words), (n_clusters, n_nodes) = counts.shape, node_given_cluster.shape
    words = word_given_cluster(node_given_cluster, word_given_node)
    posterior, free_energy = np.zeros((n_docs, n_clusters)), 0.0
    node_word, cluster_node = np.zeros((n_nodes, n_words)), np.zeros((n_clusters, n_nodes))
    for d in range(n_docs):
        for c in range(n_clusters):
            posterior[d, c] = cluster_prior[c]
            for w in range(n_words):
                posterior[d, c] *= words[c, w] ** (counts[d, w] / temperature)
            if joined is not None:
                agreement = sum(joined[0][d, i] * joined[1][c, i] for i in range(joined[0].shape[1]))
                posterior[d, c] *= math.exp(joined[2] * agreement / temperature)
        total = posterior[d].sum()
        free_energy += math.log(total)
        posterior[d] /= total
        for w in range(n_words):
            for c in range(n_clusters):
                for a in range(n_nodes):
                    level = word_given_node[a, w] * node_given_cluster[c, a] / words[c, w]
                    node_word[a, w] += counts[d, w] * posterior[d, c] * level
                    cluster_node[c, a] += mix_counts[d, w] * posterior[d, c] * level
    direction_sum = None
    if joined is not None:
        direction_sum = np.zeros(joined[1].shape)
        for d in range(n_docs):
            for c in range(n_clusters):
                direction_sum[c] += posterior[d, c] * joined[0][d]
    return Sums(posterior, node_word, cluster_node, free_energy, direction_sum)


def node_given_doc(counts, posterior, node_given_cluster, word_given_node):
    """P(a|d): the mean over the tokens of d of P(a|d,w) = Σ_c P(c|d) P(a|d,w,c)."""
    words = word_given_cluster(node_given_cluster, word_given_node)
    result = np.zeros((len(counts), len(word_given_node)))
    for d, row in enumerate(counts):
        for w in np.flatnonzero(row):
            for c in range(len(node_given_cluster)):
                level = node_given_cluster[c] * word_given_node[:, w] / words[c, w]
                result[d] += row[w] / row.sum() * posterior[d, c] * level
    return result


def multinomial_mixture_step(counts, cluster_prior, word_given_cluster):
    """Distributional clustering in closed form: P(c|d), then the next P(c) and P(w|c)."""
    joint = np.log(cluster_prior) + counts @ np.log(word_given_cluster).T
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    words = posterior.T @ counts
    return posterior, posterior.mean(axis=0), words / words.sum(axis=1, keepdims=True)


def document_levels(row, mix, words, tokens, steps):
    """P(a|c,d) of one document of a cluster: steps of EM with prior tokens around P(a|c), word by word."""
    levels = [share / sum(mix) for share in mix]
    for _ in range(steps):
        expected = [tokens * share for share in mix]
        for w, count in enumerate(row):
            total = sum(levels[a] * words[a][w] for a in range(len(mix)))
            if count and total > 0:
                for a in range(len(mix)):
                    expected[a] += count * levels[a] * words[a][w] / total
        levels = [value / sum(expected) for value in expected]
    return levels
