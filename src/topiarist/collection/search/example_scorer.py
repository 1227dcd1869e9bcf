"""Scores by example documents: more like these, and not like those, with or without words.

``like:ID`` in a query asks for documents similar to a document, ``-like:ID`` for different ones. If the query
also has words, both scores are added, each divided by its standard deviation over the collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.search.index.kernel_scorer import UNLIKE_WEIGHT, KernelScorer, Scorer, pool_documents
from topiarist.collection.search.results import Explanation, TopicReason, WordReason
from topiarist.collection.search.vector_scores import cosines, find_direction, subtract_mean

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.search.index.query_counts import QueryCounts

EXAMPLE_METHOD = "both"  # words and meaning together find more documents of the same label than either alone
EXAMPLES = 0.5  # weight of the examples beside the words
_PARTS = ("score", "of_all", "by_meaning", "by_words", "alike", "vectors")  # of an explanation


def score_examples(collection: Collection, like: Sequence[str | int], unlike: Sequence[str | int] = ()) -> KernelScorer:
    """Return the scorer for documents similar to the ``like`` examples and different from the others."""
    index = collection.index

    def count(example: str | int) -> QueryCounts:
        return index.read(example if isinstance(example, str) else collection.counts[[example]])

    liked, disliked = [count(item) for item in like], [count(item) for item in unlike]
    direction, vectors = find_direction(collection, like, unlike), collection.encoder_vectors
    return KernelScorer(
        index,
        liked[0] if len(liked) == 1 and not disliked else pool_documents(liked),
        EXAMPLE_METHOD,
        unlike=pool_documents(disliked) if disliked else None,
        vectors=None
        if vectors is None or direction is None
        else subtract_mean(cosines(vectors, direction, index.threads)),
    )


class ExampleScorer(Scorer):
    """Scores by words and by examples together. Explanations leave out the unlike examples."""

    def __init__(self, words: Scorer, like: KernelScorer | None, unlike: KernelScorer | None) -> None:
        self.index, self.like = words.index, like
        self._main = like or unlike
        weights = ((words, 1.0), (like, EXAMPLES), (unlike, -UNLIKE_WEIGHT * EXAMPLES))
        self._parts = [(scorer, weight) for scorer, weight in weights if scorer is not None]
        self._positive_parts = [(scorer, weight) for scorer, weight in self._parts if weight > 0]

    @property
    def is_empty(self) -> bool:
        """Whether the examples have no word of the vocabulary."""
        return self._main is None or self._main.is_empty

    def score_all(self) -> Floats:
        """Return the scores of all documents."""
        return self._sum([scorer.scores for scorer, _ in self._parts])

    def score(self, rows: Array) -> Floats:
        """Return the scores of some documents."""
        return self._sum([scorer.score(rows) for scorer, _ in self._parts])

    def choose_candidates(self, allowed: Any = None) -> Array:
        """Return the candidates of the words and of the like examples."""
        return reduce(np.union1d, (scorer.choose_candidates(allowed) for scorer, _ in self._positive_parts))

    def _sum(self, scores: Sequence[Floats]) -> Floats:
        total = np.zeros(len(scores[0]))
        for (scorer, weight), part in zip(self._parts, scores, strict=True):
            total += weight * scorer.standardising_factor * part
        return total

    def explain(self, row: int) -> Explanation:
        """Return the explanation of the score of a document."""
        factors = [(scorer, weight * scorer.standardising_factor) for scorer, weight in self._positive_parts]
        return reduce(
            _add_explanations, (_scale_explanation(scorer.explain(row), factor) for scorer, factor in factors)
        )


def _scale_explanation(explanation: Explanation, factor: float) -> Explanation:
    return replace(
        explanation,
        words=tuple(replace(reason, amount=factor * reason.amount) for reason in explanation.words),
        topics=tuple(replace(reason, amount=factor * reason.amount) for reason in explanation.topics),
        **{name: factor * getattr(explanation, name) for name in _PARTS},
    )


def _add_explanations(first: Explanation, second: Explanation) -> Explanation:
    words: dict[str, WordReason] = {}
    for reason in (*first.words, *second.words):
        word_reason = words.get(reason.word)
        words[reason.word] = (
            reason if word_reason is None else replace(reason, amount=reason.amount + word_reason.amount)
        )
    topics: dict[tuple[int, int], TopicReason] = {}
    for topic in (*first.topics, *second.topics):
        topic_reason = topics.get((topic.model, topic.topic))
        topics[topic.model, topic.topic] = (
            topic if topic_reason is None else replace(topic, amount=topic.amount + topic_reason.amount)
        )
    return Explanation(
        words=tuple(sorted(words.values(), key=lambda reason: (-reason.amount, reason.word))),
        topics=tuple(sorted(topics.values(), key=lambda topic: -topic.amount)),
        **{name: getattr(first, name) + getattr(second, name) for name in _PARTS},
    )
