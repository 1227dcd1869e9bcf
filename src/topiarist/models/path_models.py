"""Parts of CAM, HPLSA and HPLC, whose classes have the words of the nodes on their paths.

The models know no tree, only a mask of the nodes on the path of each class.

**Seed words.** A seed adds ``tokens`` pseudo-counts of a word to the statistics of a node (C3). The objective gets the
log-prior Σ tokens log P(w|a), so no step of EM lowers it. A seed word weighs as if one token in a hundred of the
documents below its node were this word, which is about the weight of the first word of a topic. Other words of a
document can outweigh it. With ten times as much, a node loses documents, because its other words become rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Bools, Floats, Ints
from topiarist.kernels.shard import CountsView
from topiarist.models.em import State
from topiarist.models.engine.host import Engine

TOKEN_SHARE = 0.01  # tokens of a seed word, as a share of the tokens of documents below its node


@dataclass(frozen=True, eq=False)
class Seeds:
    """Pseudo-counts of words at nodes."""

    nodes: Ints
    columns: Ints
    tokens: Floats

    @classmethod
    def from_words(cls, words: Mapping[int, Sequence[int]], node_tokens: Floats) -> Seeds | None:
        """Create the seeds of columns by node, or None; ``node_tokens`` are the tokens of documents below each node."""
        pairs = [(node, column) for node, columns in sorted(words.items()) for column in sorted(set(columns))]
        if not pairs:
            return None
        nodes, columns = np.array(pairs, np.int64).T
        return cls(nodes, columns, TOKEN_SHARE * np.asarray(node_tokens, np.float64)[nodes])

    def add_to(self, engine: Engine, counts: Floats) -> Floats:
        """Add the seeds to expected counts (nodes, words) in place."""
        return engine.add_at(counts, self.nodes, self.columns, self.tokens)

    def log_prior(self, engine: Engine, words: Floats) -> float:
        """Return Σ tokens log P(w|a)."""
        return engine.logs_at(words, self.nodes, self.columns, self.tokens)


class PathModel:
    """Base of the models with nodes on paths; their statistics are smoothed by seed words."""

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]  # (n_classes, n_nodes)
    seeds: Seeds | None

    def _check_mask(self) -> None:
        if self.path_mask.ndim != 2 or self.path_mask.dtype != bool or not self.path_mask.any(axis=1).all():
            raise ValueError("path_mask must be a boolean (classes, nodes) array with a node on every path")

    def _add_seeds(self, words: Floats) -> Floats:
        return words if self.seeds is None else self.seeds.add_to(self.engine, words)

    def _word_prior(self, words: Floats, smoothing: float) -> float:
        """Return the log-prior (P4) of P(w|node), plus that of the seeds."""
        seed_prior = 0.0 if self.seeds is None else self.seeds.log_prior(self.engine, words)
        return seed_prior + (smoothing * self.engine.sum_of_logs(words) if smoothing else 0.0)

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """Return the new state: steps are few and classes converge quickly, so nothing is extrapolated."""
        return new

    def class_word_table(self, shared: Any) -> Floats:
        """Return P(w|class), (n_words, n_classes)."""
        raise NotImplementedError

    def log_likelihood(self, shared: Any, rows: CountsView, local: Floats) -> float:
        """Return Σ n log Σ_c P(c|d) P(w|c), untempered."""
        return self.engine.log_likelihood(rows, local, self.class_word_table(shared))

    def log_likelihoods(self, shared: Any, rows: CountsView, local: Floats) -> Floats:
        """Return the log-likelihood of each document, untempered."""
        return self.engine.log_likelihoods(rows, local, self.class_word_table(shared))


def make_uniform_mix(path_mask: Bools) -> Floats:
    """Return P(node|class) that is uniform on the path."""
    mix: Floats = path_mask / path_mask.sum(axis=1, keepdims=True)
    return mix


def normalise_mix(counts: Floats, fallback: Floats) -> Floats:
    """(H6): scale rows to sum one; an empty row becomes that of the fallback."""
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), fallback)
