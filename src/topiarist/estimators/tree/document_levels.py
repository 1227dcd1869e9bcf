"""Levels of single documents: P(a|c,d), the general form of the cluster-abstraction model. (C6): docs/models/cam.md

P(a|c) of all documents of a cluster is the prior, with the weight of some tokens. The cluster of a document is chosen
with P(a|c).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from topiarist.arrays import TINY, Array, Csr, Floats
from topiarist.counts.split import completion_split
from topiarist.trees.tree_model import TreeTopics

LEVEL_TOKENS = 20.0  # prior tokens; the lowest perplexity of eight collections is at 10 to 30
STEPS = 10  # of EM; twice as many change perplexities by less than 0.05%
MAX_ENTRIES = 1 << 18  # non-zeros of documents of one cluster whose levels are in memory at once
MAX_ROWS = 2048  # documents whose words are predicted at once
MIN_POSTERIOR = 1e-12  # a cluster less probable than this does not speak for a document


def iterate_clusters(posterior: Any, sizes: Array | None = None) -> Iterator[tuple[Array, Array, int]]:
    """Yield the document rows of each cluster, their posteriors and the cluster.

    With ``sizes``, the non-zeros of each document, a part has about ``MAX_ENTRIES`` non-zeros.
    """
    by_cluster = csc_array(posterior)
    by_cluster.sort_indices()
    for cluster in range(by_cluster.shape[1]):
        entries = slice(by_cluster.indptr[cluster], by_cluster.indptr[cluster + 1])
        is_relevant = by_cluster.data[entries] > MIN_POSTERIOR
        rows, weights = by_cluster.indices[entries][is_relevant], by_cluster.data[entries][is_relevant]
        numbers = np.zeros(len(rows), np.int64) if sizes is None else np.cumsum(sizes[rows]) // MAX_ENTRIES
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        for first, last in pairwise((*starts.tolist(), len(rows))):
            yield rows[first:last], weights[first:last], cluster


def find_places(counts: Csr, rows: Array) -> Array:
    starts = counts.indptr.astype(np.int64)
    lengths = np.diff(starts)[rows]
    first = np.repeat(starts[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return np.asarray(first + np.arange(lengths.sum()))


def fit_levels(counts: Csr, mix: Floats, words: Floats, level_tokens: float, steps: int = STEPS) -> Floats:
    """(C6): return P(a|c,d) of documents of one cluster, (documents, nodes of the path).

    ``mix`` is P(a|c) and ``words`` P(w|a), for the nodes of the path of the cluster.
    """
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    token_words = np.ascontiguousarray(words[:, counts.indices].T, np.float64)
    prior = level_tokens * np.asarray(mix, np.float64)
    levels = np.tile(prior / prior.sum(), (counts.shape[0], 1))
    by_document = csr_array(
        (counts.data.astype(np.float64), np.arange(counts.nnz), counts.indptr), shape=(counts.shape[0], counts.nnz)
    )
    for _ in range(steps if len(mix) > 1 else 0):
        levels = prior + by_document @ normalise_rows(levels[rows] * token_words)
        levels /= levels.sum(axis=1, keepdims=True)
    return levels


def normalise_rows(joint: Floats) -> Floats:
    """Return rows that sum to one; zeros stay zeros."""
    return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY))


def mix_nodes(counts: Csr, model: TreeTopics, posterior: Any) -> Floats:
    """Return Σ_c P(c|d) P(a|c), or P(a|c,d) with ``level_tokens``, (documents, nodes)."""
    if model.level_tokens is None:
        return np.asarray(posterior, np.float64) @ model.node_given_class
    out = np.zeros((counts.shape[0], model.node_given_class.shape[1]))
    for rows, weights, cluster in iterate_clusters(posterior, np.diff(counts.indptr)):
        path = np.flatnonzero(model.node_given_class[cluster])
        mix, words = model.node_given_class[cluster, path], model.word_given_node[path]
        out[np.ix_(rows, path)] += weights[:, None] * fit_levels(counts[rows], mix, words, model.level_tokens)
    return out


def predict_words(observed: Csr, scored: Csr, model: TreeTopics, posterior: Any) -> Floats:
    """Return P(w|d) of each non-zero of ``scored``, with P(c|d) and P(a|c,d) from the observed tokens."""
    nodes, out = mix_nodes(observed, model, posterior), np.zeros(scored.nnz)
    for first in range(0, scored.shape[0], MAX_ROWS):
        block, mix = scored[first : first + MAX_ROWS], nodes[first : first + MAX_ROWS]
        used = np.flatnonzero(mix.any(axis=0))
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        places = slice(scored.indptr[first], scored.indptr[first] + block.nnz)
        for node in used:
            out[places] += mix[rows, node] * model.word_given_node[node][block.indices]
    return out


def mean_log_likelihood(observed: Csr, scored: Csr, model: TreeTopics, posterior: Any) -> float:
    logs = np.log(np.maximum(predict_words(observed, scored, model, posterior), TINY))
    return float(scored.data @ logs) / max(float(scored.data.sum(dtype=np.float64)), 1.0)


def compute_perplexity(counts: Csr, model: TreeTopics, fold_in: Callable[[Csr], Floats]) -> float:
    """Return the perplexity by document completion, with the levels of each document from its observed half."""
    observed, hidden = completion_split(counts)
    return float(np.exp(-mean_log_likelihood(observed, hidden, model, fold_in(observed))))
