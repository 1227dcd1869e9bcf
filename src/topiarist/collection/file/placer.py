"""New documents in a tree: where they belong, how sure that is, which words decided, and whether they fit at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.room import picked
from topiarist.counts.validation import grand_total, token_counts
from topiarist.estimators.category.explanation import deciding_words, word_lift
from topiarist.estimators.tree.fitted_tree import posterior, tree_model
from topiarist.hierarchy import levels
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.models.engine import SMALLEST_MIXTURE, load_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.misfits import Usual, scored
from topiarist.scale.threads import Threads

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


class Placer:
    """A model as it files documents; what it needs of the model's arrays is worked out once."""

    def __init__(self, model: Any, tree: Tree, class_nodes: Sequence[int], n_threads: int | None = None) -> None:
        """``tree`` and ``class_nodes`` are those that people see, which edits may have changed."""
        self.model, self.tree, self.class_nodes = model, tree, tuple(class_nodes)
        self.n_threads = n_threads
        self.by_word = tree_model(model).class_word_table()
        prior = tree_model(model).class_prior.astype(np.float64)
        self.lift = word_lift(self.by_word, prior)

    def homes(self, counts: Csr, rho: float) -> Array:
        """The deepest node of each document whose posterior exceeds ``rho``, and nothing else."""
        rows = np.ascontiguousarray(posterior(self.model, counts), self.by_word.dtype)
        return levels.deepest_certain(self.tree, levels.node_posterior(self.tree, self.class_nodes, rows), rho)

    def place(
        self,
        counts: Csr,
        rho: float,
        usual: Usual | None = None,
        n_words: int = 5,
        vectors: Floats | None = None,
    ) -> Places:
        """Place documents at the deepest node whose posterior exceeds ``rho``, by their words and vectors, if any."""
        rows = np.ascontiguousarray(posterior(self.model, counts, vectors), self.by_word.dtype)
        nodes = levels.node_posterior(self.tree, self.class_nodes, rows)
        chosen = levels.deepest_certain(self.tree, nodes, rho)
        likelihood = log_likelihood(counts, rows, self.by_word, self.n_threads)
        tokens = token_counts(counts)
        unusual = np.zeros(len(rows), bool) if usual is None else usual.unusual(likelihood, tokens)
        decided = deciding_words(counts, self.lift, rows.argmax(axis=1), n_words)
        return Places(rows, chosen, nodes[np.arange(len(rows)), chosen], likelihood, decided, unusual)


def sample_of(n_docs: int) -> Array:
    """Documents of a collection that tell what is usual in it."""
    chosen: Array = np.sort(np.random.default_rng(0).permutation(n_docs)[: min(SAMPLE, max(n_docs // 10, 1))])
    return chosen


def usual_of(fitted: TreeModel, counts: Csr, chosen: Array, rows: Floats, n_threads: int | None = None) -> Usual:
    """What is usual in a collection, by a sample of its documents, of which the words of the model forget their part.

    Otherwise a new document would look strange for every rare word that is not its own. ``rows`` has P(class|document)
    of the chosen ones.
    """
    sample = picked(counts, chosen)
    words = _without(fitted, sample, rows, grand_total(counts)).class_word_table()
    likelihood = log_likelihood(sample, np.ascontiguousarray(rows, words.dtype), words, n_threads)
    return Usual.of(likelihood, token_counts(sample))


def _without(fitted: TreeModel, counts: Csr, rows: Floats, tokens: float) -> TreeModel:
    """The tree as if some of its documents had not been there: their tokens are taken out of the words of each node."""
    words = fitted.word_given_node.astype(np.float64)
    held = fitted.node_weight() * tokens
    words *= np.maximum(held, 1.0)[:, None]
    for number, mix in enumerate(fitted.node_given_class):
        path = np.flatnonzero(mix)
        spoken = mix[path, None] * fitted.word_given_node[path]
        own = counts.T @ rows[:, number].astype(np.float64)
        words[path] -= spoken / np.maximum(spoken.sum(axis=0), SMALLEST_MIXTURE) * own
    np.maximum(words, KEPT * fitted.word_given_node, out=words)
    return replace(fitted, word_given_node=words / words.sum(axis=1, keepdims=True))


def log_likelihood(counts: Csr, rows: Floats, words: Floats, n_threads: int | None = None) -> Floats:
    """Of each document, per word, from its classes and P(word|class) by words; NaN for one without words."""
    prepare_kernels(words.dtype)
    with Threads(n_threads) as threads:
        return scored(Engine(load_kernels("compiled"), threads), counts, rows, words).log_likelihood
