"""Words for topics and classes: what each is told by, in explanations and on the way down a tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.describe.flat_topics import distinctive
from topiarist.hierarchy.words import node_words
from topiarist.models.fisher.scores import Lens

N_WORDS = 8

Words = tuple[tuple[str, ...], ...]  # of each topic, or of each class


def told(lens: Lens, found: Any, words: Any) -> tuple[Words, Words]:
    """The words of the topics and of the classes of a model; ``found`` is its tree and the nodes of its classes."""
    if found is not None:
        tree, class_nodes = found
        chosen = node_words(tree, np.ascontiguousarray(lens.by_word.T), N_WORDS, words=words)
        of_nodes = tuple(_named(columns.tolist(), words) for columns in chosen)
        return of_nodes, tuple(of_nodes[node] for node in class_nodes)
    prior = np.asarray(lens.class_prior, np.float64)
    if lens.mix is None:
        of_topics = _flat(lens.by_word.T, prior, words)
        return of_topics, of_topics
    return _flat(lens.by_word.T, prior @ lens.mix, words), _flat(lens.class_word_table().T, prior, words)


def named(vocabulary: Any, columns: Iterable[int]) -> tuple[str, ...]:
    """Words by their columns; the columns themselves where words are not known."""
    return _named(columns, None if vocabulary is None else vocabulary.words)


def _named(columns: Iterable[int], words: Any) -> tuple[str, ...]:
    return tuple(str(column) if words is None else str(words[column]) for column in columns)


def _flat(probability: Any, prior: Floats, words: Any) -> Words:
    """The words that set each topic apart from the others; the most probable ones where nothing does."""
    probability = np.ascontiguousarray(probability)
    scores = distinctive(probability, prior) if len(probability) > 1 else probability
    return tuple(_named(np.argsort(-row, kind="stable")[:N_WORDS].tolist(), words) for row in scores)
