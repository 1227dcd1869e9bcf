"""What a fitted tree says about documents: which nodes they speak from, word by word, and what they might have said.

Functions of a fitted tree, for many documents at once. ``posterior`` is P(c|d) (documents × classes); ``depths`` has
the level of each node, the root's is 0: those of the tree, unless another tree is shown in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.validation import token_counts
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.hierarchy.tree_model import TreeTopics

NEGLIGIBLE = 1e-12  # a cluster less probable than this does not speak for a document
SMALLEST = 1e-300
CELLS = 1 << 24  # of a dense block of documents × words
WAITING = 1 << 22  # shares of documents in nodes that are added up together


def node_given_doc(counts: Csr, model: TreeTopics, posterior: Array) -> Array:
    """P(a|d): the mean over a document's tokens of P(a|d,w) (C2); without words, P(a|c) of its clusters."""
    out = np.zeros((counts.shape[0], model.node_given_class.shape[1]))
    for rows, path, shares in _spoken(counts, model, posterior):
        out[np.ix_(rows, path)] += shares
    return out


def sparse_node_given_doc(counts: Csr, model: TreeTopics, posterior: Any) -> Any:
    """The same by node, without the nodes that no document speaks from; the posterior may be sparse too."""
    found, parts, waiting = csc_array((counts.shape[0], model.node_given_class.shape[1])), list[Any](), 0
    for rows, path, shares in _spoken(counts, model, posterior):
        parts.append((shares.ravel(), np.repeat(rows, len(path)), np.tile(path, len(rows))))
        waiting += shares.size
        if waiting > WAITING:  # documents that many clusters speak for
            found, parts, waiting = found + _added_up(parts, found.shape), [], 0
    return found + _added_up(parts, found.shape) if parts else found


def _added_up(parts: Sequence[Any], shape: tuple[int, int]) -> Any:
    values, rows, nodes = (np.concatenate([part[place] for part in parts]) for place in range(3))
    return csc_array((values, (rows, nodes)), shape=shape)


def _spoken(counts: Csr, model: TreeTopics, posterior: Any) -> Iterator[tuple[Array, Array, Array]]:
    """What each cluster adds to P(a|d): its documents, the nodes of its path, and documents × nodes."""
    mix, words = model.node_given_class, model.word_given_node
    lengths = token_counts(counts)
    for rows, weight, cluster in _speaking(posterior):
        path = np.flatnonzero(mix[cluster])
        ratio = _node_shares(mix[cluster, path], words[path])
        share = np.asarray(counts[rows] @ ratio.T)
        empty = lengths[rows] == 0
        share[~empty] /= share[~empty].sum(axis=1, keepdims=True).clip(SMALLEST)
        share[empty] = mix[cluster, path]
        yield rows, path, weight[:, None] * share


def _speaking(posterior: Any) -> Iterator[tuple[Array, Array, int]]:
    """Each cluster with the documents that it may speak for, and how much."""
    by_cluster = csc_array(posterior)
    by_cluster.sort_indices()
    for cluster in range(by_cluster.shape[1]):
        here = slice(by_cluster.indptr[cluster], by_cluster.indptr[cluster + 1])
        speaks = by_cluster.data[here] > NEGLIGIBLE
        if speaks.any():
            yield by_cluster.indices[here][speaks], by_cluster.data[here][speaks], cluster


def _node_shares(weights: Array, words: Array) -> Array:
    """(C2): P(a|w,c) for the nodes of one path, (nodes of the path, n_words); even where the path has no such word."""
    joint = weights[:, None].astype(np.float64) * words
    total = joint.sum(axis=0)
    even = np.full(len(weights), 1.0 / len(weights))[:, None]
    return np.where(total > 0, joint / np.maximum(total, SMALLEST), even)


@dataclass(frozen=True)
class WordLevels:
    """The level of every word of every document: document d has the places ``starts[d]:starts[d + 1]``."""

    starts: Array
    words: Array
    levels: Array  # the most probable one
    probabilities: Array  # (words, levels)

    def document(self, index: int) -> tuple[Array, Array, Array]:
        """Words, levels and probabilities of one document."""
        here = slice(self.starts[index], self.starts[index + 1])
        return self.words[here], self.levels[here], self.probabilities[here]


def word_levels(counts: Csr, model: TreeTopics, posterior: Array, depths: Array | None = None) -> WordLevels:
    """For each word of each document P(level|d,w) = Σ_c P(c|d) P(a|w,c), a the node of the level on the path of c."""
    mix, words = model.node_given_class, model.word_given_node
    depths = np.array(model.tree.depths) if depths is None else depths
    n_levels = int(depths.max()) + 1
    probabilities = np.zeros((counts.nnz, n_levels))
    starts = counts.indptr.astype(np.int64)
    for rows, held, cluster in _speaking(posterior):
        path = np.flatnonzero(mix[cluster])
        ratio = _node_shares(mix[cluster, path], words[path])
        lengths = np.diff(starts)[rows]
        first = np.repeat(starts[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        places = first + np.arange(lengths.sum())
        weight = np.repeat(held, lengths)
        shares = weight[:, None] * ratio[:, counts.indices[places]].T
        for level in np.unique(depths[path]):
            probabilities[places, level] += shares[:, depths[path] == level].sum(axis=1)
    return WordLevels(starts, counts.indices, probabilities.argmax(axis=1), probabilities)


def ghost_words(
    counts: Csr, model: TreeTopics, posterior: Array, n_words: int, depths: Array | None = None
) -> tuple[Array, Array]:
    """Words that each level would add: those absent from d with the largest Σ_c P(c|d)P(a|c)P(w|a), a of that level.

    Two arrays (documents, levels, n_words): the words, best first and −1 where there is none, and their probabilities.
    """
    mix, words = model.node_given_class, model.word_given_node
    depths = np.array(model.tree.depths) if depths is None else depths
    n_docs, n_levels = counts.shape[0], int(depths.max()) + 1
    n_words = min(n_words, words.shape[1])
    chosen = np.full((n_docs, n_levels, n_words), -1, np.int64)
    scores = np.zeros((n_docs, n_levels, n_words))
    step = max(1, CELLS // words.shape[1])
    for first in range(0, n_docs, step):
        here = slice(first, min(first + step, n_docs))
        block = counts[here]
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        for level in range(n_levels):
            nodes = np.flatnonzero(depths == level)
            weight = posterior[here].astype(np.float64) @ mix[:, nodes]
            spoken = weight.any(axis=0)  # of hundreds of nodes a document has those of a few paths
            ghost = weight[:, spoken] @ words[nodes[spoken]]
            ghost[rows, block.indices] = -1.0
            top = np.argpartition(-ghost, n_words - 1, axis=1)[:, :n_words]
            value = np.take_along_axis(ghost, top, axis=1)
            order = np.lexsort((top, -value), axis=1)
            top, value = np.take_along_axis(top, order, axis=1), np.take_along_axis(value, order, axis=1)
            chosen[here, level] = np.where(value > 0, top, -1)
            scores[here, level] = np.maximum(value, 0)
    return chosen, scores


def prototypes(share: Any, n_docs: int, lengths: Array | None = None, steadiness: float = 0.0) -> Array:
    """The documents with the largest P(a|d) for each node, (nodes, n_docs), best first; of equal ones the first.

    A document of few words is easily pure. ``steadiness`` tokens of doubt are added to each: P(a|d) n/(n + steadiness).
    """
    by_node, number = csc_array(share), min(n_docs, share.shape[0])
    by_node.sort_indices()
    steady = lengths / (lengths + steadiness) if steadiness and lengths is not None else np.ones(share.shape[0])
    best = np.empty((share.shape[1], number), np.int64)
    for node in range(share.shape[1] if number else 0):
        here = slice(by_node.indptr[node], by_node.indptr[node + 1])
        rows, values = by_node.indices[here], by_node.data[here] * steady[by_node.indices[here]]
        if len(rows) > number:
            top = np.flatnonzero(values >= np.partition(values, -number)[-number])
            rows, values = rows[top], values[top]
        first = rows[np.lexsort((rows, -values))][:number]
        best[node] = first if len(first) == number else _filled_up(first, number)
    return best


def _filled_up(rows: Array, number: int) -> Array:
    """So many rows: where nobody else speaks from a node, the first of all stand for it."""
    others = np.setdiff1d(np.arange(number), rows)
    return np.concatenate([rows, others[: number - len(rows)]])


class ReadsDocuments(FilesDocuments):
    """The same for an estimator with ``_placed`` (counts and posterior of documents) and ``tree_model_``."""

    _placed: Callable[[Documents, str], tuple[Csr, Floats]]

    def node_given_doc(self, X: Documents) -> Array:
        """P(node | document): how much of each document every node of the tree explains, (documents, nodes)."""
        counts, posterior = self._placed(X, "node_given_doc")
        return node_given_doc(counts, self.tree_model_, posterior)

    def word_levels(self, X: Documents) -> WordLevels:
        """The level of abstraction of every word of every document; 0 is the root."""
        counts, posterior = self._placed(X, "word_levels")
        return word_levels(counts, self.tree_model_, posterior)

    def ghost_words(self, X: Documents, n: int = 10) -> Any:
        """Words that each level would add to each document, (documents, levels, n); −1 where there is none."""
        options.check_integer("n", n, 1)
        counts, posterior = self._placed(X, "ghost_words")
        return ghost_words(counts, self.tree_model_, posterior, n)[0]

    def prototypes(self, X: Documents, n: int = 5, *, steadiness: float = 0.0) -> Any:
        """The documents that speak most from each node, (nodes, n); ``steadiness`` tokens of doubt prefer long ones."""
        options.check_integer("n", n, 1)
        counts, posterior = self._placed(X, "prototypes")
        share = sparse_node_given_doc(counts, self.tree_model_, posterior)
        return prototypes(share, n, token_counts(counts), steadiness)
