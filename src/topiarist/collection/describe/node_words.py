"""Words of nodes against averages: how much more special the words of a node are than the frequent words below it.

A node explains only what its path above leaves open, so that its frequent words differ from the average of its branch
(Hofmann's cluster-abstraction model, figure 3). The mean inverse document frequency of both measures the difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.describe.statistics import Figures

WORDS = 10  # frequent words of each node, and of the average of its branch
MAX_NODES = 60  # of a level, the largest


@dataclass(frozen=True)
class LevelWords:
    """Mean idf of the frequent words of the nodes of a level, and of the averages of their branches."""

    level: int
    topics: int
    node_idf: float
    average_idf: float
    example: str  # name of the largest topic of the level
    node_words: tuple[str, ...]
    average_words: tuple[str, ...]


def compare_node_words(figures: Figures) -> tuple[LevelWords, ...]:
    """Return the comparison for each level of the tree that the model knows."""
    vocabulary, tree, model = figures.collection.counting.vocabulary, figures.tree, figures.collection.tree_model
    idf = np.log(figures.n_docs / np.maximum(np.asarray(vocabulary.document_frequency), 1))
    mixes = (model.class_prior.astype(np.float64) * figures.mask.T) @ model.node_given_class  # of every branch
    result = []
    for level in range(tree.depth + 1):
        level_nodes = [node for node in range(len(tree)) if tree.depths[node] == level and figures.model_nodes(node)]
        nodes = sorted(level_nodes, key=lambda node: (-figures.sizes[node], node))[:MAX_NODES]
        nodes = [node for node in nodes if mixes[node].any()]
        if not nodes:
            continue
        own = np.array([_find_frequent_words(figures.word_shares(node)) for node in nodes])
        below = mixes[nodes].astype(model.word_given_node.dtype) @ model.word_given_node
        averages = np.array([_find_frequent_words(shares) for shares in below])
        words = [tuple(vocabulary.words[column] for column in group[0].tolist()) for group in (own, averages)]
        means = float(idf[own].mean()), float(idf[averages].mean())
        result.append(LevelWords(level, len(level_nodes), *means, figures.names[nodes[0]], *words))
    return tuple(result)


def _find_frequent_words(shares: Array | None) -> Array:
    assert shares is not None  # noqa: S101  the model knows these nodes
    columns = np.argpartition(-shares, WORDS)[:WORDS] if len(shares) > WORDS else np.arange(len(shares))
    frequent: Array = columns[np.argsort(-shares[columns], kind="stable")]
    return frequent
