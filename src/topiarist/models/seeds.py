"""Words that people say belong to a node: prior tokens of (C3), the same in every M-step. docs/models/cam.md

A seed adds ``tokens`` pseudo-counts of a word to the statistics of a node, so that the objective has a log-prior more,
Σ tokens log P(w|a), and no step of EM lowers it. A seed word weighs as if one token in a hundred of the documents under
its node were this word: about what the first word of a topic has. Other words of a document that speak for another node
outvote that. With ten times as much a node loses documents, for its other words have become rare there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Floats, Ints
from topiarist.models.engine.host import Engine

SHARE = 0.01  # of the tokens of the documents under a node that each of its seed words adds


@dataclass(frozen=True, eq=False)
class Seeds:
    """Pseudo-counts of words at nodes."""

    nodes: Ints
    columns: Ints
    tokens: Floats

    @classmethod
    def of(cls, words: Mapping[int, Sequence[int]], node_tokens: Floats) -> Seeds | None:
        """The seeds of columns by node; ``node_tokens`` has the tokens of the documents under each. None for none."""
        pairs = [(node, column) for node, columns in sorted(words.items()) for column in sorted(set(columns))]
        if not pairs:
            return None
        nodes, columns = np.array(pairs, np.int64).T
        return cls(nodes, columns, SHARE * np.asarray(node_tokens, np.float64)[nodes])

    def added(self, engine: Engine, counts: Floats) -> Floats:
        """Expected counts (nodes, words) with the seeds, in place."""
        return engine.add_at(counts, self.nodes, self.columns, self.tokens)

    def log_prior(self, engine: Engine, words: Floats) -> float:
        """Σ tokens log P(w|a)."""
        return engine.logs_at(words, self.nodes, self.columns, self.tokens)
