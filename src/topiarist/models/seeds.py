"""Seed words: prior tokens of (C3) for words that a user assigns to a node. docs/models/cam.md

A seed adds ``tokens`` pseudo-counts of a word to the statistics of a node. The objective gets the log-prior Σ tokens
log P(w|a), so no step of EM lowers it. A seed word weighs as if one token in a hundred of the documents below its node
were this word, which is about the weight of the first word of a topic. Other words of a document can outweigh it. With
ten times as much, a node loses documents, because its other words become rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Floats, Ints
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
