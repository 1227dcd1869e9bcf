"""New documents in a tree: where they belong, how sure that is, which words decided, and whether they fit at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.counts.validation import token_counts
from topiarist.estimators.tree.fitted_tree import crown_of, posterior
from topiarist.hierarchy import levels
from topiarist.hierarchy.branches import Crown
from topiarist.hierarchy.tree import Tree
from topiarist.models.engine import SMALLEST_MIXTURE, Side, load_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.threads import Threads

Array = np.ndarray[Any, Any]
UNUSUAL = 0.01  # the share of the collection's own documents that would be called unusual
LENGTHS = 12  # classes of length, by powers of two: short documents vary more
FEWEST = 200  # documents of a length whose likelihoods tell what is usual
SAMPLE = 2_000
KEPT = 0.1  # tokens of a node that its prior has spread over the words, and nobody can take away


@dataclass(frozen=True)
class Places:
    """What the tree makes of some documents, row by row."""

    posterior: Floats  # P(class|document)
    nodes: Array  # the deepest that is certain enough
    certainty: Floats  # P(node|document)
    likelihood: Floats  # log-likelihood per known word; NaN without one
    words: tuple[tuple[int, ...], ...]  # the columns of the words that decided, the strongest first
    unusual: Array


@dataclass(frozen=True)
class Usual:
    """The value below which a document of some length is unusual, for each class of length.

    The value is the likelihood per word that is known, or the share of words that are: a text in another language may
    have one usual word, and nothing else that anybody has counted.
    """

    limits: tuple[float, ...]
    ANYTHING: ClassVar[tuple[float, ...]] = (-1e9,) * LENGTHS  # where nobody has measured

    @classmethod
    def of(cls, likelihood: Floats, tokens: Floats) -> Usual:
        """What is usual among these documents; a length of which there are few is judged by all."""
        known = np.isfinite(likelihood)
        everyone = float(np.quantile(likelihood[known], UNUSUAL)) if known.any() else -np.inf
        limits, kinds = [], _lengths(tokens)
        for kind in range(LENGTHS):
            own = likelihood[known & (kinds == kind)]
            limits.append(float(np.quantile(own, UNUSUAL)) if len(own) >= FEWEST else everyone)
        return cls(tuple(limit if np.isfinite(limit) else cls.ANYTHING[0] for limit in limits))

    def unusual(self, likelihood: Floats, tokens: Floats) -> Array:
        """Which documents fit worse than nearly all others of their length, or have no word."""
        below: Array = likelihood < np.array(self.limits)[_lengths(tokens)]
        return below | ~np.isfinite(likelihood)


def _lengths(tokens: Floats) -> Array:
    kinds: Array = np.log2(np.maximum(tokens, 1.0)).astype(np.int64)
    return np.minimum(kinds, LENGTHS - 1)


class Placer:
    """A model as it files documents; what it needs of the model's arrays is worked out once."""

    def __init__(self, model: Any, tree: Tree, class_nodes: Sequence[int], n_threads: int | None = None) -> None:
        """``tree`` and ``class_nodes`` are those that people see, which edits may have changed."""
        self.model, self.tree, self.class_nodes = model, tree, tuple(class_nodes)
        self.n_threads = n_threads
        self.by_word = words_by_class(crown_of(model))
        prior = crown_of(model).class_prior.astype(np.float64)
        everywhere = self.by_word @ (prior / prior.sum())
        self.lift = np.log(np.maximum(self.by_word, SMALLEST_MIXTURE))
        self.lift -= np.log(np.maximum(everywhere, SMALLEST_MIXTURE)).astype(self.lift.dtype)[:, None]

    def place(self, counts: Csr, rho: float, usual: Usual | None = None, n_words: int = 5) -> Places:
        """Place documents at the deepest node whose posterior exceeds ``rho``."""
        rows = np.ascontiguousarray(posterior(self.model, counts), self.by_word.dtype)
        nodes = levels.node_posterior(self.tree, self.class_nodes, rows)
        chosen = levels.deepest_certain(self.tree, nodes, rho)
        likelihood = log_likelihood(counts, rows, self.by_word, self.n_threads)
        tokens = token_counts(counts)
        unusual = np.zeros(len(rows), bool) if usual is None else usual.unusual(likelihood, tokens)
        decided = _deciding(counts, self.lift, rows.argmax(axis=1), n_words)
        return Places(rows, chosen, nodes[np.arange(len(rows)), chosen], likelihood, decided, unusual)


def words_by_class(crown: Crown) -> Floats:
    """P(word|class), words × classes."""
    mix = crown.node_given_class.astype(crown.word_given_node.dtype)
    words: Floats = np.ascontiguousarray((mix @ crown.word_given_node).T)
    return words


def usual_of(model: Any, counts: Csr, n_threads: int | None = None) -> Usual:
    """What is usual in a collection, by a sample of its documents, of which the words of the model forget their part.

    Otherwise a new document would look strange for every rare word that is not its own.
    """
    n_docs = counts.shape[0]
    chosen = np.sort(np.random.default_rng(0).permutation(n_docs)[: min(SAMPLE, max(n_docs // 10, 1))])
    sample, crown = counts[chosen], crown_of(model)
    rows = posterior(model, sample)
    words = words_by_class(_without(crown, sample, rows, float(counts.sum(dtype=np.float64))))
    likelihood = log_likelihood(sample, np.ascontiguousarray(rows, words.dtype), words, n_threads)
    return Usual.of(likelihood, token_counts(sample))


def _without(crown: Crown, counts: Csr, rows: Floats, tokens: float) -> Crown:
    """The tree as if some of its documents had not been there: their tokens are taken out of the words of each node."""
    words = crown.word_given_node.astype(np.float64)
    held = (crown.class_prior / crown.class_prior.sum()) @ crown.node_given_class * tokens
    words *= np.maximum(held, 1.0)[:, None]
    for number, mix in enumerate(crown.node_given_class):
        path = np.flatnonzero(mix)
        spoken = mix[path, None] * crown.word_given_node[path]
        own = counts.T @ rows[:, number].astype(np.float64)
        words[path] -= spoken / np.maximum(spoken.sum(axis=0), SMALLEST_MIXTURE) * own
    np.maximum(words, KEPT * crown.word_given_node, out=words)
    return replace(crown, word_given_node=words / words.sum(axis=1, keepdims=True))


def log_likelihood(counts: Csr, rows: Floats, words: Floats, n_threads: int | None = None) -> Floats:
    """Of each document, per word, from its classes and P(word|class); NaN for one without words."""
    side, kernels = Side.of(counts, words.dtype), load_kernels("compiled")
    prepare_kernels(words.dtype)
    mixture = np.empty(len(side.data), words.dtype)

    def piece(part: slice) -> None:
        indptr = side.indptr[part.start : part.stop + 1]
        kernels.mixtures(indptr, side.indices, rows[part], words, mixture[indptr[0] : indptr[-1]])

    with Threads(n_threads) as threads:
        Engine(kernels, threads).threads.map(piece, side.pieces)
    logs = side.data * np.log(np.maximum(mixture, SMALLEST_MIXTURE).astype(np.float64))
    total = np.diff(np.concatenate([[0.0], np.cumsum(logs)])[side.indptr])
    tokens = token_counts(counts)
    told: Floats = np.where(tokens > 0, total / np.where(tokens > 0, tokens, 1.0), np.nan)
    return told


def _deciding(counts: Csr, lift: Floats, classes: Array, number: int) -> tuple[tuple[int, ...], ...]:
    """The words of each document that speak most for its class: n log P(j|class)/P(j)."""
    lengths = np.diff(counts.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    worth = counts.data * lift[counts.indices, classes[rows]]
    order = np.lexsort((-worth, rows))
    place = np.arange(len(rows)) - counts.indptr[rows]
    kept = order[(place < number) & (worth[order] > 0)]
    ends = np.searchsorted(rows[kept], np.arange(len(lengths) + 1))
    columns = counts.indices[kept].tolist()
    return tuple(tuple(columns[start:stop]) for start, stop in pairwise(ends))
