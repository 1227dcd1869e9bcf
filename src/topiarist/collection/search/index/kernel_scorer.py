"""Scorers of documents, and the scorer of a search index: a query seen through the models, with explanations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.search.index.query_counts import QueryCounts
from topiarist.collection.search.index.ranking import Ranking
from topiarist.collection.search.index.segments import K1, B, Segment, attach_postings, gather_documents
from topiarist.collection.search.index.topics import list_words
from topiarist.collection.search.results import Explanation, TopicReason, WordReason
from topiarist.collection.search.segment_rows import locate_row
from topiarist.collection.search.words.near_spellings import suggest_words
from topiarist.errors import UsageError
from topiarist.estimators.common import options
from topiarist.models.engine import QueryVectors
from topiarist.models.fisher import matrix, scores
from topiarist.models.fisher.scores import KernelView

if TYPE_CHECKING:
    from topiarist.collection.search.index.search_index import SearchIndex

METHODS = ("meaning", "words", "both")
SCORES_PER_BLOCK = 1 << 15  # scores read together for the deviation; they stay in a core's cache
# Weights of the kernel (two parts of one model) and of BM25, each as a share of its maximum.
SHARE_OF_MEANING, SHARE_OF_WORDS = 2.0, 1.25
MAX_SPELLED = 5  # unknown words for which near spellings are looked up
VECTOR_SHARE = 2.0  # beside words and kernel, each as a share of its maximum
UNLIKE_WEIGHT = 0.5  # weight of the similarity to unlike documents


class Scorer(ABC):
    """Base of all scorers: scores of documents for one query, each computed once, with explanations."""

    index: SearchIndex

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether the query has no known content."""

    @abstractmethod
    def score_all(self) -> Floats:
        """Return the scores of all documents."""

    @abstractmethod
    def score(self, rows: Array) -> Floats:
        """Return the scores of some documents, by their rising rows."""

    @abstractmethod
    def choose_candidates(self, allowed: Any = None) -> Array:
        """Return the rows of the documents that are scored if there are too many to score all."""

    @abstractmethod
    def explain(self, row: int) -> Explanation:
        """Return the explanation of the score of a document."""

    def explain_rows(self, rows: Sequence[int], ranking: Ranking) -> list[Explanation | None]:
        """Return the explanations of ranked documents; None for a document that was not scored in full."""
        return [self.explain(row) for row in rows]

    @cached_property
    def scores(self) -> Floats:
        """Scores of all documents, in their order; 0 for documents that are not candidates."""
        return self.rank().scores

    def rank(self, allowed: Any = None) -> Ranking:
        """Return the ranking of all documents, or of candidates among the allowed in a large collection."""
        if self.index.shortlist is None:
            return self._ranking
        if self._last is None or self._last[0] is not allowed:
            self._last = allowed, self.rank_candidates(allowed)
        return self._last[1]

    _last: tuple[Any, Ranking] | None = None  # the last mask, and its ranking

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self.score_all())

    def rank_candidates(self, allowed: Any) -> Ranking:
        """Return the ranking of candidates among the allowed documents."""
        rows, total = self.choose_candidates(allowed), np.zeros(len(self.index))
        total[rows] = self.score(rows)
        return Ranking(total, rows)

    @cached_property
    def standardising_factor(self) -> float:
        """Factor by which scores have a standard deviation of one over the collection."""
        shortlist = self.index.shortlist
        return standardising_factor(self.scores if shortlist is None else self.score(shortlist.everywhere))


class KernelScorer(Scorer):
    """Scores of an index: the Fisher kernel, BM25 over the counted words, or both.

    Scores of the ``unlike`` query are subtracted at half their weight. Documents more similar to it than to the query
    are not found. ``vectors`` are similarities by embeddings, which are added. Explanations leave out the unlike query.
    """

    def __init__(
        self, index: SearchIndex, query: Any, by: str = "meaning", *, unlike: Any = None, vectors: Floats | None = None
    ) -> None:
        options.check_one_of("by", by, METHODS)
        self.index, self.by = index, by
        self.counts = index.read(query)
        self._unlike_scorer = None if unlike is None else KernelScorer(index, unlike, by)
        self._vectors = None if vectors is None else VECTOR_SHARE * np.maximum(vectors.astype(np.float64), 0.0)

    @property
    def is_empty(self) -> bool:
        """Whether the query has no word of the vocabulary."""
        return not len(self.counts.columns)

    @cached_property
    def views(self) -> list[View]:
        """Views of the query through the models; empty if only words count."""
        return view_query(self) if self.by != "words" else []

    @cached_property
    def near_spellings(self) -> dict[str, tuple[str, ...]]:
        """Near spellings of the first unknown words that have any."""
        if self.index.vocabulary is None:
            return {}
        unknown = self.counts.unknown[:MAX_SPELLED]
        by_word = {name: tuple(suggest_words(name, [self.index.spellings])) for name in unknown}
        return {name: spellings for name, spellings in by_word.items() if spellings}

    @cached_property
    def weights(self) -> tuple[float, Floats | None]:
        """Weight of the kernel, and weights of the words for BM25 (F7); None without BM25.

        Together, both count as shares of the highest score that a document can have.
        """
        index, counts = self.index, self.counts
        if self.by == "meaning":
            return 1.0, None
        words = counts.counts * index.word_information[counts.columns] * (K1 + 1)
        if self.by == "words":
            return 0.0, words
        if index.normalise is None:
            raise UsageError(
                "by='both' requires scores with a maximum, got normalise=None",
                hint="Use normalise='parts' or by='meaning'.",
            )
        max_kernel = float(sum(map(len, index.parts))) if index.normalise == "parts" else 1.0
        return SHARE_OF_MEANING / max_kernel, words * SHARE_OF_WORDS / max(float(words.sum()), 1e-300)

    def score_all(self) -> Floats:
        """Return the scores of all documents."""
        total = self._score(self.index.segments)
        return total if self._vectors is None else total + self._vectors

    def score(self, rows: Array) -> Floats:
        """Return the scores of some documents, by their rising rows."""
        segments, shortlist = self.index.segments, self.index.shortlist
        threads = self.index.threads if shortlist is None else shortlist.readers
        is_sample = shortlist is not None and rows is shortlist.everywhere
        candidates = shortlist.gathered if is_sample else gather_documents(segments, rows, threads)
        columns = self.counts.columns
        if self._unlike_scorer is not None:
            columns = np.union1d(columns, self._unlike_scorer.counts.columns)
        total = self._score((attach_postings(candidates, segments, rows, columns, threads),))
        return total if self._vectors is None else total + self._vectors[rows]

    def choose_candidates(self, allowed: Any = None) -> Array:
        """Return the rows to score: best by words, nearest in the word space, and nearest by embeddings."""
        rows: Array = np.zeros(0, np.int64)
        if not self.is_empty:
            rows = self.index.shortlist.of_counts(self.counts, allowed)
        if self._vectors is None:
            return rows
        return np.union1d(rows, self.index.shortlist.choose_largest(self._vectors, allowed))

    def _score(self, segments: Sequence[Segment]) -> Floats:
        """Return the weighted sum of kernel and BM25, minus the scores of the unlike query."""
        engine, total = self.index._engine, np.zeros(sum(map(len, segments)))
        of_kernel, word_weights = self.weights
        if self.views:
            query_vectors = [view.wanted for view in self.views]
            total += of_kernel * np.concatenate([part.by_meaning(engine, query_vectors) for part in segments])
        if word_weights is not None and not self.is_empty:
            query = self.counts.columns, word_weights, self.index.average_length
            total += np.concatenate([part.by_words(engine, *query) for part in segments])
        return total if self._unlike_scorer is None else total - UNLIKE_WEIGHT * self._unlike_scorer._score(segments)

    def explain(self, row: int) -> Explanation:
        """Return the explanation of a score, without the part of the unlike query."""
        number, place = locate_row(self.index.segments, row)
        explanation = explain_score(self, self.index.segments[number], place)
        if self._vectors is None:
            return explanation
        vector_part = float(self._vectors[row])
        return replace(
            explanation,
            score=explanation.score + vector_part,
            by_meaning=explanation.by_meaning + vector_part,
            vectors=vector_part,
        )


def pool_documents(documents: Sequence[QueryCounts]) -> QueryCounts:
    """Return documents as one query of their mean length, to which each adds the same number of words (Rocchio)."""
    counted = [document for document in documents if len(document.columns)]
    unknown = tuple(dict.fromkeys(word for document in documents for word in document.unknown))
    if not counted:
        return QueryCounts(np.zeros(0, np.int64), np.zeros(0), unknown)
    columns, places = np.unique(np.concatenate([document.columns for document in counted]), return_inverse=True)
    length = float(np.mean([document.counts.sum() for document in counted]))
    shares = np.concatenate([document.shares for document in counted]) * (length / len(counted))
    return QueryCounts(columns, np.bincount(places, shares, len(columns)), unknown)


def standardising_factor(scores: Floats) -> float:
    """Return the factor by which scores have a standard deviation of one; 0 if all scores are equal."""
    if not len(scores):
        return 0.0
    mean, total = float(scores.mean(dtype=np.float64)), 0.0
    for start in range(0, len(scores), SCORES_PER_BLOCK):
        deviations = scores[start : start + SCORES_PER_BLOCK].astype(np.float64)
        deviations -= mean
        deviations *= deviations  # and no product of vectors: that would wake the threads of BLAS
        total += float(deviations.sum())
    spread = float(np.sqrt(total / len(scores)))
    return 1.0 / spread if spread > 1e-12 else 0.0


@dataclass(frozen=True)
class View:
    """Query as one lens reads it: P(α|q), its vectors for the kernel, and the scales of its parts."""

    lens: KernelView  # of the query's words alone
    row: Floats
    topical: Floats  # unscaled features
    scales: tuple[float, float]
    wanted: QueryVectors


def view_query(scorer: KernelScorer) -> list[View]:
    """Return the views of a query through all lenses; empty for a query without words."""
    index, query = scorer.index, scorer.counts
    if not len(query.columns):
        return []
    counts, parts_by_lens, lengths = query.matrix, [], []
    for lens, of_lens in zip(index.lenses, index.parts, strict=True):
        narrowed = lens.select_words(query.columns)
        row = scores.read_rows(index._engine, narrowed, counts)
        topical = scores.score_topics(index._engine, narrowed, counts, row)
        lengths.append((topical**2).sum(axis=1) * ("topical" in of_lens))
        lexical = scores.compute_lexical_lengths(index._engine, narrowed, counts, row)
        lengths.append(lexical * ("lexical" in of_lens))
        parts_by_lens.append((narrowed, row, topical[0]))
    scales = [float(scale[0]) for scale in matrix.compute_scales(lengths, query.counts[:1], index.normalise)]
    return [
        _make_view(
            query, *view_parts, of_lens, scales=(scales[2 * place], scales[2 * place + 1]), dtype=np.dtype(index.dtype)
        )
        for place, (of_lens, view_parts) in enumerate(zip(index.parts, parts_by_lens, strict=True))
    ]


def _make_view(
    query: QueryCounts, narrowed: KernelView, row: Floats, topical: Floats, of_lens: Sequence[str],
    *, scales: tuple[float, float], dtype: Any,
) -> View:  # fmt: skip
    """Return the query through one model: its posteriors and the vectors that score documents."""
    words = np.arange(len(query.columns))
    meet, mixture = scores.compute_query_vectors(narrowed, words, np.broadcast_to(row, (len(words), row.shape[1])))
    meet = meet * (scales[1] * query.shares)[:, None]
    topics = scales[0] * topical
    if narrowed.class_information is None:
        topics = scores.divide_by_root(topics, np.asarray(narrowed.class_prior, np.float64))
    columns = query.columns if "lexical" in of_lens else query.columns[:0]
    query_vectors = QueryVectors(
        columns,
        np.ascontiguousarray(meet[: len(columns)], dtype),
        np.ascontiguousarray(mixture[: len(columns)], dtype),
        topics.astype(dtype) if "topical" in of_lens else np.empty(0, dtype),
    )
    return View(narrowed, row[0], topical, scales, query_vectors)


def explain_score(scorer: KernelScorer, segment: Segment, row: int) -> Explanation:
    """Return the words that a document shares with the query, with their senses, and the topics."""
    query, index, (of_kernel, word_weights) = scorer.counts, scorer.index, scorer.weights
    words = list_words(index.vocabulary, query.columns.tolist())
    counts = segment.counts_of(np.array([row]), query.columns)[0]
    amounts = np.zeros(len(query.columns))
    best, sense = np.zeros(len(query.columns)), [(-1, -1)] * len(query.columns)
    topics, of_all = [], 0.0
    for model, view in enumerate(scorer.views if of_kernel else ()):
        class_shares, topical = (part[0].astype(np.float64) for part in segment.shares(model, slice(row, row + 1)))
        scales = segment.scales[model][row].astype(np.float64)
        if len(view.wanted.words):
            share = of_kernel * view.scales[1] * scales[1] * query.shares * counts
            parts = share[:, None] * _multiply_posteriors(view.lens, view.row, class_shares)
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
    if word_weights is not None:
        norm = K1 * (1 - B + B * float(segment.lengths[row]) / index.average_length)
        word_scores = word_weights * counts / (counts + norm)
        amounts, by_words = amounts + word_scores, float(word_scores.sum())
    word_reasons = [
        WordReason(
            words[int(place)], float(amounts[place]),
            index.topic_words[sense[place][0]][sense[place][1]] if sense[place][0] >= 0 else (), *sense[place],
        )
        for place in np.flatnonzero(amounts > 0)
    ]  # fmt: skip
    score = float(amounts.sum()) + sum(reason.amount for reason in topics) + of_all
    return Explanation(
        score,
        tuple(sorted(word_reasons, key=lambda reason: (-reason.amount, reason.word))),
        tuple(sorted(topics, key=lambda reason: (-reason.amount, reason.model, reason.topic))),
        of_all,
        score - by_words,
        by_words,
    )


def _multiply_posteriors(lens: KernelView, row: Any, other: Any) -> Any:
    """Return P(ν|q,j) P(ν|d,j) / P(j|ν) for the words of a query, (words, topics)."""
    columns = np.arange(len(lens.by_word))
    query_posteriors, document_posteriors = (
        scores.token_posteriors(lens, np.broadcast_to(posterior, (len(columns), len(posterior))), columns)
        for posterior in (row, other)
    )
    return scores.divide(query_posteriors * document_posteriors, lens.word_scale(columns))
