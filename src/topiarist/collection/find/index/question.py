"""A query that is asked of an index: seen through the models, every document scored once, hits explained."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.index import answers, ranking
from topiarist.collection.find.index.answers import Answer, Explanation, TopicReason, WordReason
from topiarist.collection.find.index.query_counts import QueryCounts
from topiarist.collection.find.index.segments import K1, B, Segment, gathered, with_words
from topiarist.collection.find.index.topics import named
from topiarist.estimators.common import options
from topiarist.models.engine import Wanted, load_search_kernels
from topiarist.models.fisher import matrix, scores
from topiarist.models.fisher.scores import Lens
from topiarist.text.spelling import corrections

if TYPE_CHECKING:
    from topiarist.collection.find.index.search_index import SearchIndex

WAYS = ("meaning", "words", "both")
PIECE = 1 << 15  # scores whose spread is looked at together: they stay in a core's cache
SHOWN = 20  # words of a query that an answer repeats


class Question:
    """A query that is asked of an index once: read once, every document scored once; pages and reasons come from it."""

    def __init__(self, index: SearchIndex, query: Any, by: str = "meaning") -> None:
        options.check_one_of("by", by, WAYS)
        self.index, self.by = index, by
        self.counts = index.read(query)

    @cached_property
    def views(self) -> list[View]:
        """The query through the models; nothing where only words count."""
        return views(self) if self.by != "words" else []

    @cached_property
    def near(self) -> dict[str, tuple[str, ...]]:
        """Near spellings of the first unknown words, where there are any."""
        known = self.index.vocabulary
        if known is None or not self.counts.unknown:
            return {}
        words, frequency = known.words, known.document_frequency

        def looked_up(letter: str, others: list[str]) -> list[tuple[str, int]]:
            columns = [*range(bisect_left(words, letter), bisect_left(words, chr(ord(letter) + 1)))]
            places = [(other, bisect_left(words, other)) for other in others]
            columns += [column for other, column in places if words[column : column + 1] == (other,)]
            return [(words[column], int(frequency[column])) for column in columns]

        found = {name: tuple(corrections(name, looked_up)) for name in self.counts.unknown[: answers.SPELLED]}
        return {name: near for name, near in found.items() if near}

    @cached_property
    def weights(self) -> tuple[float, Any]:
        """What the kernel and the words count for."""
        most = {"parts": float(sum(map(len, self.index.parts))), "total": 1.0, None: None}
        return self.index._bm25.weights(self.counts, self.by, most[self.index.normalise])

    @cached_property
    def scores(self) -> Floats:
        """The score of every document, in their order; nothing for one that is not looked at."""
        return self.scored()

    def scored(self, allowed: Any = None) -> Floats:
        """The same for a question that some documents may answer: of very many, it looks at others."""
        if self.index.shortlist is None:
            return self._whole
        if self._last is None or self._last[0] is not allowed:
            self._last = allowed, self._looked(allowed)
        return self._last[1]

    _last: tuple[Any, Floats] | None = None  # who was allowed last, and all scores

    def _looked(self, allowed: Any) -> Floats:
        rows, total = self.looked_at(allowed), np.zeros(len(self.index))
        total[rows] = self.scores_of(rows)
        return total

    def looked_at(self, allowed: Any = None) -> Array:
        """The rows of the documents that are looked at, where these are very many."""
        if not len(self.counts.columns):
            return np.zeros(0, np.int64)
        rows: Array = self.index.shortlist.of_counts(self.counts, allowed)
        return rows

    @cached_property
    def _whole(self) -> Floats:
        return self._scores(self.index.segments)

    def _scores(self, segments: Sequence[Segment]) -> Floats:
        kernels, threads = load_search_kernels(), self.index.threads
        total = np.zeros(sum(map(len, segments)))
        of_kernel, of_words = self.weights
        if not len(self.counts.columns):
            return total
        if self.views:
            wanted = [view.wanted for view in self.views]
            total += of_kernel * np.concatenate([part.by_meaning(kernels, wanted, threads) for part in segments])
        if of_words is not None:
            average, weights = of_words
            columns = self.counts.columns
            total += np.concatenate([part.by_words(kernels, columns, weights, average, threads) for part in segments])
        return total

    def scores_of(self, rows: Array) -> Floats:
        """The scores of some documents, by their rising rows."""
        segments, some = self.index.segments, self.index.shortlist
        threads = self.index.threads if some is None else some.readers
        known = some is not None and rows is some.everywhere
        found = some.gathered if known else gathered(segments, rows, threads)
        return self._scores((with_words(found, segments, rows, self._columns, threads),))

    @property
    def _columns(self) -> Any:
        """The words that documents are scored by."""
        return self.counts.columns

    @cached_property
    def per_spread(self) -> float:
        """By what scores are multiplied so that their spread over the collection is one."""
        some = self.index.shortlist
        return over_spread(self.scores if some is None else self.scores_of(some.everywhere))

    def page(self, n: int, offset: int = 0, *, allowed: Any = None, why: bool = False) -> Answer:
        """The ``n`` best documents after the ``offset`` best; ``allowed`` says of each document whether it may be."""
        index, asked = self.index, self.counts
        words = named(index.vocabulary, asked.columns[:SHOWN].tolist())
        if not len(asked.columns):
            return Answer((), answers.nothing(asked, self.near), words, asked.unknown, self.near)
        scores = self.scored(allowed)
        hits = ranking.best(scores, index.segments, allowed, n, offset)
        if why:
            hits = tuple(replace(hit, why=self.explained(hit.number)) for hit in hits)
        total = int(np.count_nonzero(scores > 0 if allowed is None else (scores > 0) & allowed))
        message = answers.sentence(len(hits), len(index), asked, self.by, self.near)
        return Answer(hits, message, words, asked.unknown, self.near, total, exact=index.shortlist is None)

    def explained(self, number: int) -> Explanation:
        """Why a document is similar: all amounts add up to its score."""
        return explained(self, *ranking.located(self.index.segments, number))


def over_spread(scores: Floats) -> float:
    """By what scores are multiplied so that their spread over the collection is one; 0 where there is none."""
    if not len(scores):
        return 0.0
    mean, total = float(scores.mean(dtype=np.float64)), 0.0
    for start in range(0, len(scores), PIECE):
        away = scores[start : start + PIECE].astype(np.float64)
        away -= mean
        away *= away  # and no product of vectors: that would wake the threads of BLAS
        total += float(away.sum())
    spread = float(np.sqrt(total / len(scores)))
    return 1.0 / spread if spread > 1e-12 else 0.0


@dataclass(frozen=True)
class View:
    """A query through one lens: P(α|q), what it wants, and the scales of its parts."""

    lens: Lens  # of the query's words alone
    row: Floats
    topical: Floats  # unscaled features
    scales: tuple[float, float]
    wanted: Wanted


def views(question: Question) -> list[View]:
    """A query through every lens. Nothing where it holds no words."""
    index, query, kernels = question.index, question.counts, load_search_kernels()
    if not len(query.columns):
        return []
    counts, found, lengths = query.matrix, [], []
    for lens, of_lens in zip(index.lenses, index.parts, strict=True):
        own = lens.narrowed(query.columns)
        row = scores.read(index._engine, own, counts)
        topical = scores.topical(index._engine, own, counts, row)
        lengths.append((topical**2).sum(axis=1) * ("topical" in of_lens))
        lengths.append(scores.lexical_lengths(index._engine, kernels, own, counts, row) * ("lexical" in of_lens))
        found.append((own, row, topical[0]))
    scales = [float(scale[0]) for scale in matrix.scales(lengths, query.counts[:1], index.normalise)]
    return [
        _view(query, *seen, of_lens, scales=(scales[2 * place], scales[2 * place + 1]), dtype=np.dtype(index.dtype))
        for place, (of_lens, seen) in enumerate(zip(index.parts, found, strict=True))
    ]


def _view(
    query: QueryCounts, own: Lens, row: Floats, topical: Floats, of_lens: Sequence[str],
    *, scales: tuple[float, float], dtype: Any,
) -> View:  # fmt: skip
    words = np.arange(len(query.columns))
    meet, mixture = scores.meeting(own, words, np.broadcast_to(row, (len(words), row.shape[1])))
    meet = meet * (scales[1] * query.shares)[:, None]
    topics = scales[0] * topical
    if own.class_information is None:
        topics = scores.per_root(topics, np.asarray(own.class_prior, np.float64))
    columns = query.columns if "lexical" in of_lens else query.columns[:0]
    wanted = Wanted(
        columns,
        np.ascontiguousarray(meet[: len(columns)], dtype),
        np.ascontiguousarray(mixture[: len(columns)], dtype),
        topics.astype(dtype) if "topical" in of_lens else np.empty(0, dtype),
    )
    return View(own, row[0], topical, scales, wanted)


def explained(question: Question, segment: Segment, row: int) -> Explanation:
    """Take the score of a document apart: the words that it shares with the query, in which sense, and the topics."""
    query, index, (of_kernel, of_words) = question.counts, question.index, question.weights
    words = named(index.vocabulary, query.columns.tolist())
    counts = segment.counts_of(np.array([row]), query.columns)[0]
    amounts = np.zeros(len(query.columns))
    best, sense = np.zeros(len(query.columns)), [(-1, -1)] * len(query.columns)
    topics, of_all = [], 0.0
    for model, view in enumerate(question.views if of_kernel else ()):
        own, topical = (part[0].astype(np.float64) for part in segment.shares(model, slice(row, row + 1)))
        scales = segment.scales[model][row].astype(np.float64)
        if len(view.wanted.words):
            share = of_kernel * view.scales[1] * scales[1] * query.shares * counts
            parts = share[:, None] * _together(view.lens, view.row, own)
            amounts += parts.sum(axis=1)
            for place in np.flatnonzero(parts.max(axis=1) > best) if parts.shape[1] > 1 else ():
                best[place], sense[place] = parts[place].max(), (model, int(parts[place].argmax()))
        if len(view.wanted.topics) > 1:
            by_class = of_kernel * scales[0] * view.wanted.topics * topical
            topics += [
                TopicReason(index.class_words[model][int(number)], float(by_class[number]), model, int(number))
                for number in np.flatnonzero(by_class > 0)
            ]
        elif len(view.wanted.topics):
            of_all += float(of_kernel * scales[0] * view.wanted.topics[0] * topical[0])
    by_words = 0.0
    if of_words is not None:
        average, worth = of_words
        norm = K1 * (1 - B + B * float(segment.lengths[row]) / average)
        brought = worth * counts / (counts + norm)
        amounts, by_words = amounts + brought, float(brought.sum())
    found = [
        WordReason(
            words[int(place)], float(amounts[place]),
            index.topic_words[sense[place][0]][sense[place][1]] if sense[place][0] >= 0 else (), *sense[place],
        )
        for place in np.flatnonzero(amounts > 0)
    ]  # fmt: skip
    score = float(amounts.sum()) + sum(reason.amount for reason in topics) + of_all
    return Explanation(
        score,
        tuple(sorted(found, key=lambda reason: (-reason.amount, reason.word))),
        tuple(sorted(topics, key=lambda reason: (-reason.amount, reason.model, reason.topic))),
        of_all,
        score - by_words,
        by_words,
    )


def _together(lens: Lens, row: Any, other: Any) -> Any:
    """P(ν|q,j) P(ν|d,j) / P(j|ν) for the words of a query, (words, topics)."""
    columns = np.arange(len(lens.by_word))
    ours, theirs = (
        scores.token_posteriors(lens, np.broadcast_to(own, (len(columns), len(own))), columns) for own in (row, other)
    )
    return scores.divided(ours * theirs, lens.word_scale(columns))
