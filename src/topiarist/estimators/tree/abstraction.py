"""Posteriors of nodes, word levels, absent words and typical documents of a fitted tree.

All functions process many documents at once. ``posterior`` is P(c|d) (documents × classes). ``depths`` is the level of
each node, 0 for the root; other depths are possible if another tree is displayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from topiarist.arrays import TINY, Array, Csr, Floats, Matrix
from topiarist.counts.validation import count_tokens
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.tree.document_levels import (
    find_places,
    fit_levels,
    iterate_clusters,
    mix_nodes,
    normalise_rows,
)
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.trees.tree_model import TreeTopics

MAX_CELLS = 1 << 24  # of a dense block of documents × words
MAX_WAITING = 1 << 22  # shares of documents in nodes that are added up together


def node_given_doc(counts: Csr, model: TreeTopics, posterior: Array) -> Array:
    """Return P(a|d): the mean of P(a|d,w) over a document's tokens; without words, P(a|c) of its classes."""
    out = np.zeros((counts.shape[0], model.node_given_class.shape[1]))
    for rows, path, shares in _iterate_contributions(counts, model, posterior):
        out[np.ix_(rows, path)] += shares
    return out


def sparse_node_given_doc(counts: Csr, model: TreeTopics, posterior: Any) -> Any:
    """Return P(a|d) as a sparse matrix by node; the posterior may be sparse."""
    total, parts, n_waiting = csc_array((counts.shape[0], model.node_given_class.shape[1])), list[Any](), 0
    for rows, path, shares in _iterate_contributions(counts, model, posterior):
        parts.append((shares.ravel(), np.repeat(rows, len(path)), np.tile(path, len(rows))))
        n_waiting += shares.size
        if n_waiting > MAX_WAITING:  # documents that many clusters speak for
            total, parts, n_waiting = total + _sum_parts(parts, total.shape), [], 0
    return total + _sum_parts(parts, total.shape) if parts else total


def _sum_parts(parts: Sequence[Any], shape: tuple[int, int]) -> Any:
    values, rows, nodes = (np.concatenate([part[place] for part in parts]) for place in range(3))
    return csc_array((values, (rows, nodes)), shape=shape)


def _iterate_contributions(counts: Csr, model: TreeTopics, posterior: Any) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the contribution of each class to P(a|d): document rows, nodes of its path, and documents × nodes."""
    mix, words = model.node_given_class, model.word_given_node
    lengths, mixture = count_tokens(counts), _compute_mixture(counts, model, posterior)
    for rows, weight, cluster in iterate_clusters(posterior, _count_entries(counts, model)):
        path = np.flatnonzero(mix[cluster])
        empty, block = lengths[rows] == 0, counts[rows]
        if model.level_tokens is not None:
            token_shares = _compute_token_levels(block, mix[cluster, path], words[path], model.level_tokens)
            share = (
                csr_array((block.data, np.arange(block.nnz), block.indptr), shape=(len(rows), block.nnz)) @ token_shares
            )
        else:
            if mixture is not None:
                likelihood = (mix[cluster, path] @ words[path])[block.indices]
                values = block.data * _divide(likelihood, mixture[find_places(counts, rows)])
                block = csr_array((values, block.indices, block.indptr), shape=block.shape)
            share = np.asarray(block @ _compute_node_shares(mix[cluster, path], words[path]).T)
        total = share.sum(axis=1) if mixture is None else lengths[rows]
        share[~empty] /= total[~empty, None].clip(TINY)
        share[empty] = mix[cluster, path]
        yield rows, path, weight[:, None] * share


def _compute_mixture(counts: Csr, model: TreeTopics, posterior: Any) -> Array | None:
    """Return P(w|d) = Σ_c P(c|d) P(w|c) of each non-zero if documents mix classes, else None."""
    if not model.mixes_classes:
        return None
    mix, words, mixture = model.node_given_class, model.word_given_node, np.zeros(counts.nnz)
    for rows, weights, cluster in iterate_clusters(posterior):
        places = find_places(counts, rows)
        path = np.flatnonzero(mix[cluster])
        word_shares = mix[cluster, path] @ words[path]
        mixture[places] += np.repeat(weights, np.diff(counts.indptr)[rows]) * word_shares[counts.indices[places]]
    return mixture


def _divide(likelihood: Array, mixture: Array) -> Array:
    return np.where(mixture > 0, likelihood / np.where(mixture > 0, mixture, 1.0), 1.0)


def _count_entries(counts: Csr, model: TreeTopics) -> Array | None:
    """Return the non-zeros of each document; None if no table of non-zeros × levels is needed."""
    return None if model.level_tokens is None else np.diff(counts.indptr)


def _compute_token_levels(counts: Csr, weights: Array, words: Array, level_tokens: float) -> Array:
    """Return P(a|w,c,d) of each non-zero for the nodes of one path, (non-zeros, nodes of the path)."""
    levels = fit_levels(counts, weights, words, level_tokens)
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    shares = normalise_rows(levels[rows] * words[:, counts.indices].T)
    return np.where(shares.sum(axis=1, keepdims=True) > 0, shares, 1.0 / len(weights))


def _compute_node_shares(weights: Array, words: Array) -> Array:
    """Return P(a|w,c) (C2) for the nodes of one path, (nodes of the path, n_words); also for unknown words."""
    joint = weights[:, None].astype(np.float64) * words
    total = joint.sum(axis=0)
    even = np.full(len(weights), 1.0 / len(weights))[:, None]
    return np.where(total > 0, joint / np.maximum(total, TINY), even)


@dataclass(frozen=True)
class WordLevels:
    """Level of every word of every document; document d has the entries ``starts[d]:starts[d + 1]``."""

    starts: Array
    words: Array
    levels: Array  # the most probable one
    probabilities: Array  # (words, levels)

    def document(self, index: int) -> tuple[Array, Array, Array]:
        entries = slice(self.starts[index], self.starts[index + 1])
        return self.words[entries], self.levels[entries], self.probabilities[entries]


def word_levels(counts: Csr, model: TreeTopics, posterior: Array, depths: Array | None = None) -> WordLevels:
    """Return P(level|d,w) for each word of each document: Σ_c P(c|d,w) P(a|w,c) over the nodes a of that level.

    P(c|d,w) is P(c|d) if a document has one class, and ∝ P(c|d) P(w|c) if each of its tokens has one.
    """
    mix, words = model.node_given_class, model.word_given_node
    depths = np.array(model.tree.depths) if depths is None else depths
    n_levels = int(depths.max()) + 1
    probabilities, mixture = np.zeros((counts.nnz, n_levels)), _compute_mixture(counts, model, posterior)
    for rows, weights, cluster in iterate_clusters(posterior, _count_entries(counts, model)):
        path = np.flatnonzero(mix[cluster])
        places = find_places(counts, rows)
        weight = np.repeat(weights, np.diff(counts.indptr)[rows]).astype(np.float64)
        if mixture is not None:
            likelihood = (mix[cluster, path] @ words[path])[counts.indices[places]]
            weight *= _divide(likelihood, mixture[places])
        if model.level_tokens is not None:
            shares = _compute_token_levels(counts[rows], mix[cluster, path], words[path], model.level_tokens)
        else:
            shares = _compute_node_shares(mix[cluster, path], words[path])[:, counts.indices[places]].T
        shares = weight[:, None] * shares
        for level in np.unique(depths[path]):
            probabilities[places, level] += shares[:, depths[path] == level].sum(axis=1)
    return WordLevels(counts.indptr.astype(np.int64), counts.indices, probabilities.argmax(axis=1), probabilities)


def ghost_words(
    counts: Csr, model: TreeTopics, posterior: Array, n_words: int, depths: Array | None = None
) -> tuple[Array, Array]:
    """Return absent words: those not in d with the largest Σ_c P(c|d)P(a|c)P(w|a), for the nodes a of each level.

    Two arrays (documents, levels, n_words): the words, best first and −1 for none, and their probabilities.
    """
    words = model.word_given_node
    depths = np.array(model.tree.depths) if depths is None else depths
    n_docs, n_levels = counts.shape[0], int(depths.max()) + 1
    n_words = min(n_words, words.shape[1])
    word_numbers = np.full((n_docs, n_levels, n_words), -1, np.int64)
    scores = np.zeros((n_docs, n_levels, n_words))
    step = max(1, MAX_CELLS // words.shape[1])
    for first in range(0, n_docs, step):
        rows_here = slice(first, min(first + step, n_docs))
        block = counts[rows_here]
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        mix = mix_nodes(block, model, posterior[rows_here])
        for level in range(n_levels):
            nodes = np.flatnonzero(depths == level)
            weight = mix[:, nodes]
            is_used = weight.any(axis=0)  # of hundreds of nodes a document has those of a few paths
            probabilities = weight[:, is_used] @ words[nodes[is_used]]
            probabilities[rows, block.indices] = -1.0
            top = np.argpartition(-probabilities, n_words - 1, axis=1)[:, :n_words]
            value = np.take_along_axis(probabilities, top, axis=1)
            order = np.lexsort((top, -value), axis=1)
            top, value = np.take_along_axis(top, order, axis=1), np.take_along_axis(value, order, axis=1)
            word_numbers[rows_here, level] = np.where(value > 0, top, -1)
            scores[rows_here, level] = np.maximum(value, 0)
    return word_numbers, scores


def prototypes(share: Any, n_docs: int, lengths: Array | None = None, steadiness: float = 0.0) -> Array:
    """Return the documents with the largest P(a|d) for each node, (nodes, n_docs), best first; ties by row.

    Short documents easily have large shares. ``steadiness`` pseudo-tokens reduce them: P(a|d) n/(n + steadiness).
    """
    by_node, number = csc_array(share), min(n_docs, share.shape[0])
    by_node.sort_indices()
    steady = lengths / (lengths + steadiness) if steadiness and lengths is not None else np.ones(share.shape[0])
    best = np.empty((share.shape[1], number), np.int64)
    for node in range(share.shape[1] if number else 0):
        entries = slice(by_node.indptr[node], by_node.indptr[node + 1])
        rows, values = by_node.indices[entries], by_node.data[entries] * steady[by_node.indices[entries]]
        if len(rows) > number:
            top = np.flatnonzero(values >= np.partition(values, -number)[-number])
            rows, values = rows[top], values[top]
        first = rows[np.lexsort((rows, -values))][:number]
        best[node] = first if len(first) == number else _fill_up(first, number)
    return best


def _fill_up(rows: Array, number: int) -> Array:
    others = np.setdiff1d(np.arange(number), rows)
    return np.concatenate([rows, others[: number - len(rows)]])


@options.describe_arguments()
class ReadsDocuments(FilesDocuments):
    """Mixin for estimators with ``_read_documents`` and ``tree_model_`` that explains documents by nodes and words."""

    _read_documents: Callable[[Documents, str], tuple[Csr, Floats]]

    def node_given_doc(self, X: Matrix) -> Array:
        """Return P(node | document): the share of each document that each node explains, (documents, nodes)."""
        counts, posterior = self._read_documents(X, "node_given_doc")
        return node_given_doc(counts, self.tree_model_, posterior)

    def word_levels(self, X: Matrix) -> WordLevels:
        """Return the level of abstraction of every word of every document; 0 is the root."""
        counts, posterior = self._read_documents(X, "word_levels")
        return word_levels(counts, self.tree_model_, posterior)

    def ghost_words(self, X: Matrix, n: int = 10) -> Any:
        """Return absent words that each level predicts for each document, (documents, levels, n); −1 for none."""
        options.check_integer("n", n, 1)
        counts, posterior = self._read_documents(X, "ghost_words")
        return ghost_words(counts, self.tree_model_, posterior, n)[0]

    def prototypes(self, X: Matrix, n: int = 5, *, steadiness: float = 0.0) -> Any:
        """Return the typical documents of each node, (nodes, n); ``steadiness`` pseudo-tokens prefer long documents."""
        options.check_integer("n", n, 1)
        counts, posterior = self._read_documents(X, "prototypes")
        share = sparse_node_given_doc(counts, self.tree_model_, posterior)
        return prototypes(share, n, count_tokens(counts), steadiness)
