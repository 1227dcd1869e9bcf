"""More like these, not like those: documents that somebody has pointed at, beside words or alone.

``like:ID`` in a query wants documents that are like one of the collection, ``-like:ID`` such as are not. Where there
are words too, what both score is added, each divided by its spread over the collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.default_ranking import DefaultQuestion
from topiarist.collection.find.index.answers import Explanation, TopicReason, WordReason
from topiarist.collection.find.index.question import Question
from topiarist.collection.find.set_question import SetQuestion
from topiarist.collection.find.vector_voice import PointedQuestion, cosines, direction_of

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

LIKE = "both"  # documents are alike in words and in meaning: more often of one label than by either alone
POINTED_AT, UNLIKE = 0.5, 0.5  # what likeness counts beside words and their meaning, and of that unlikeness


def likeness_of(collection: Collection, like: Sequence[str | int], unlike: Sequence[str | int] = ()) -> Question:
    """What is like some documents (by their rows) or texts, and unlike others, asked of the index and of vectors."""
    question, vectors = _by_index(collection, like, unlike), collection.vectors
    direction = direction_of(collection, like, unlike)
    if vectors is None or direction is None:
        return question
    return PointedQuestion(question, cosines(vectors, direction, collection.index.threads))


def _by_index(collection: Collection, like: Sequence[str | int], unlike: Sequence[str | int]) -> Question:
    index = collection.index

    def asked(one: str | int) -> Any:
        return one if isinstance(one, str) else collection.counts[[one]]

    if len(like) == 1 and not unlike:
        return Question(index, asked(like[0]), LIKE)
    wanted, unwanted = ([index.read(asked(one)) for one in side] for side in (like, unlike))
    return SetQuestion(index, wanted, unwanted, LIKE)


class LikedQuestion(Question):
    """Words and documents that were pointed at, as one question; reasons are those of both likenesses."""

    def __init__(self, words: DefaultQuestion | Question, likeness: Question | None, unlike: Question | None) -> None:
        self.words, self.likeness, self.unlike = words, likeness, unlike
        known = likeness or unlike
        assert known is not None  # noqa: S101
        self.index, self.by, self.counts = known.index, known.by, known.counts

    @cached_property
    def _whole(self) -> Floats:
        return self._added([one.scores for one in self._parts])

    def looked_at(self, allowed: Any = None) -> Array:
        """The rows of the documents that are looked at for the words, or for the likeness."""
        return reduce(np.union1d, (one.looked_at(allowed) for one in self._parts if one is not self.unlike))

    def scores_of(self, rows: Array) -> Floats:
        """The scores of some documents."""
        return self._added([one.scores_of(rows) for one in self._parts])

    @property
    def _parts(self) -> list[DefaultQuestion | Question]:
        return [one for one in (self.words, self.likeness, self.unlike) if one is not None]

    def _added(self, scores: Sequence[Floats]) -> Floats:
        """What the parts score, together."""
        total = np.zeros(len(scores[0]))
        for one, own in zip(self._parts, scores, strict=True):
            weight = 1.0 if one is self.words else POINTED_AT if one is self.likeness else -UNLIKE * POINTED_AT
            total += weight * one.per_spread * own
        return total

    @property
    def _share(self) -> float:
        return 0.0 if self.likeness is None else POINTED_AT * self.likeness.per_spread

    def explained(self, number: int) -> Explanation:
        """Why a document is found: the amounts of both; what speaks against it is in none of them."""
        first = _scaled(self.words.explained(number), self.words.per_spread)
        if self.likeness is None:
            return first
        return _joined(first, _scaled(self.likeness.explained(number), self._share))


def _scaled(why: Explanation, by: float) -> Explanation:
    numbers = ("score", "of_all", "by_meaning", "by_words", "alike", "vectors")
    return replace(
        why,
        words=tuple(replace(one, amount=by * one.amount) for one in why.words),
        topics=tuple(replace(one, amount=by * one.amount) for one in why.topics),
        **{name: by * getattr(why, name) for name in numbers},
    )


def _joined(one: Explanation, other: Explanation) -> Explanation:
    words: dict[str, WordReason] = {}
    for reason in (*one.words, *other.words):
        known = words.get(reason.word)
        words[reason.word] = reason if known is None else replace(reason, amount=reason.amount + known.amount)
    topics: dict[tuple[int, int], TopicReason] = {}
    for topic in (*one.topics, *other.topics):
        same = topics.get((topic.model, topic.topic))
        topics[topic.model, topic.topic] = topic if same is None else replace(topic, amount=topic.amount + same.amount)
    numbers = ("score", "of_all", "by_meaning", "by_words", "alike", "vectors")
    return Explanation(
        words=tuple(sorted(words.values(), key=lambda reason: (-reason.amount, reason.word))),
        topics=tuple(sorted(topics.values(), key=lambda topic: -topic.amount)),
        **{name: getattr(one, name) + getattr(other, name) for name in numbers},
    )
