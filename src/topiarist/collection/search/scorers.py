"""Scorers of a collection: the default scorer, and scorers by example documents.

The default scorer knows words in every form, their meaning in the topic tree, and words that are used alike. A score
is the sum of three scores, each divided by its standard deviation over the collection: BM25 over stems with
feedback, the Fisher kernel of the models, and the cosine in the word space. The weight of the two kinds of meaning
depends on how far they agree with the words of the query about the best documents. If the models know nothing of the
query, words decide.

A document that has nearly all words of the query stays on top: BM25 of the words of the query alone is added, weighted
by the information of the query that the document has, and most in the document that is best by both. If some document
has nearly all of four or more words, the words that feedback adds count less, or not at all.

If the collection has embeddings and their encoder is installed, the cosine to the encoded query is added with twice the
weight of the words. It also knows words that the collection lacks. The other two kinds of meaning then count by half.

``like:ID`` in a query asks for documents similar to a document, ``-like:ID`` for different ones. If the query also has
words, both scores are added, each divided by its standard deviation over the collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topiarist.arrays import Array, Bools, Floats
from topiarist.collection.search.index.kernel_scorer import (
    UNLIKE_WEIGHT,
    KernelScorer,
    Scorer,
    pool_documents,
    standardising_factor,
)
from topiarist.collection.search.index.ranking import Ranking, nth_largest
from topiarist.collection.search.results import Explanation, WordReason
from topiarist.collection.search.vector_scores import cosines, find_direction, subtract_mean
from topiarist.collection.search.words.term_scores import TermScores
from topiarist.collection.search.words.word_scorer import MIN_SCORE, Amount, Match, WordScorer
from topiarist.counts.corpus import build_counted_text

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.search.index.query_counts import QueryCounts
    from topiarist.collection.search.shortlist import Shortlist

MAX_COMPARED, MIN_COMPARED = 50, 5  # best documents by words, and by meaning, in which both are compared
MEANING, AGREEMENT = 0.6, 0.8  # weight of meaning without agreement, and what full agreement adds
MIN_MEANING, MAX_MEANING = 0.2, 1.2
KERNEL_SHARE, SPACE_SHARE = 0.6, 1.2  # of that weight
COVERAGE, COVERAGE_POWER = 0.25, 4  # weight of the words of the query in a document that has all, and how it rises
BEST, BEST_POWER = 1.5, 8  # the same in the document that is best by BM25 and has most information of the query
EXAMPLE_METHOD = "both"  # words and meaning together find more documents of the same label than either alone
EXAMPLES = 0.5  # weight of the examples beside the words
VECTORS, BESIDE_VECTORS = 2.0, 0.5  # weight of embeddings, and the part of the weight of meaning that they leave


class _CandidateScores(NamedTuple):
    """Scores of candidates by each scorer; ``rows`` is None for all documents. Coverage is of the words of the query."""

    rows: Array | None
    query: Floats
    coverage: Floats
    words: Floats
    kernel: Floats
    space: Any
    vectors: Floats | None


class DefaultScorer(Scorer):
    """Scores by the words of a query and by their meaning."""

    def __init__(self, collection: Collection, query: str, tokens: Sequence[str]) -> None:
        self.collection, self.index, self.query = collection, collection.index, query
        self.words = WordScorer(collection.words, tokens, partial(_read_texts, collection), self.index.threads)
        self.kernel = KernelScorer(self.index, self.index.count_tokens(self.words.tokens), "meaning")

    @property
    def is_empty(self) -> bool:
        """Whether neither words, models nor embeddings know the query."""
        return not self.words.known and self.kernel.is_empty and self.vector_scores is None

    @cached_property
    def direction(self) -> Floats | None:
        """Direction of the query in the word space; None without a known word."""
        return self.words.index.space.direction(self.words.times)

    def space_cosines(self, rows: Array | None = None) -> Floats | None:
        """Return the cosines of documents with the query in the word space: of all, or of some rows."""
        if self.direction is None:
            return None
        if rows is None:
            return self._all_cosines
        if self._shortlist is not None:
            return self._shortlist.near(self.direction, rows)
        index = self.words.index
        return index.space.cosines(index.places_of(rows, self.words.threads), self.direction)

    @cached_property
    def _all_cosines(self) -> Floats | None:
        return self.words.index.near(self.words.times)

    @cached_property
    def vector_scores(self) -> Floats | None:
        """Similarities of documents to the encoded query; None without embeddings or their encoder."""
        direction = find_direction(self.collection, [self.query])
        vectors = self.collection.encoder_vectors
        if vectors is None or direction is None:
            return None
        return subtract_mean(cosines(vectors, direction, self.index.threads))

    @cached_property
    def vector_weight(self) -> float:
        """Weight of the vector scores."""
        return 0.0 if self.vector_scores is None else VECTORS * standardising_factor(self.vector_scores)

    @cached_property
    def _base_score(self) -> float:
        """Score that every document gets, so that a distant vector excludes no document with the words."""
        scores = self.vector_scores
        return 0.0 if scores is None else self.vector_weight * -min(float(scores.min(initial=0.0)), 0.0)

    @cached_property
    def weights(self) -> tuple[float, float, float]:
        """Weights of words, kernel and space."""
        shortlist = self._shortlist
        space = self.space_cosines() if shortlist is None or self.direction is None else shortlist.near(self.direction)
        of_words, of_kernel = self.words.scores.standardising_factor, self.kernel.standardising_factor
        of_space = 0.0 if space is None else standardising_factor(space)
        first = self._first_candidates
        weight = (
            _compute_meaning_weight(first.query, of_kernel * first.kernel + of_space * first.space) if of_words else 1.0
        )
        weight *= 1.0 if self.vector_scores is None else BESIDE_VECTORS
        return of_words, weight * KERNEL_SHARE * of_kernel, weight * SPACE_SHARE * of_space

    @property
    def _shortlist(self) -> Shortlist | None:
        shortlist: Shortlist | None = self.index.shortlist
        return shortlist

    @cached_property
    def _first_candidates(self) -> _CandidateScores:
        """Scores of the candidates without any filter."""
        return self._score_parts(None if self._shortlist is None else self.choose_candidates())

    def choose_candidates(self, allowed: Any = None) -> Array:
        """Return the rows of the best documents by words, in the word space and by embeddings."""
        assert self._shortlist is not None  # noqa: S101
        return self._shortlist.rows(self.words.scores, self._nearby_documents, self.vector_scores, allowed=allowed)

    @cached_property
    def _nearby_documents(self) -> Any:
        """Documents near the query in the word space, allowed or not; None without a direction."""
        if self._shortlist is None or self.direction is None:
            return None
        return self._shortlist.around(self.direction)

    def score(self, rows: Array) -> Floats:
        """Return the scores of some documents."""
        return self._sum_scores(self._score_parts(rows))

    def score_all(self) -> Floats:
        """Return the scores of all documents."""
        return self._sum_scores(self._first_candidates)

    def _score_parts(self, rows: Array | None) -> _CandidateScores:
        """Return the scores of documents by words, kernel, space and vectors; None: of all documents."""
        space, kernel = (self.space_cosines(), self.kernel.scores) if rows is None else self._look_up(rows)
        query, words, vectors = self.words.query_scores.values, self.words.scores.values, self.vector_scores
        return _CandidateScores(
            rows,
            query if rows is None else query[rows],
            self.words.coverage(slice(None) if rows is None else rows),
            words if rows is None else words[rows],
            kernel,
            0.0 if space is None else space,
            vectors if rows is None or vectors is None else vectors[rows],
        )

    def _look_up(self, rows: Array) -> tuple[Floats | None, Floats]:
        """Return cosines and kernel scores of documents by rising rows; each is computed once and cached."""
        cached_rows, cosines, kernel_scores = self._lookup_cache
        at = np.minimum(np.searchsorted(cached_rows, rows), max(len(cached_rows) - 1, 0))
        new = rows if not len(cached_rows) else rows[cached_rows[at] != rows]
        new_cosines, new_kernel_scores = self.space_cosines(new), self.kernel.score(new)
        all_rows = np.concatenate([cached_rows, new])
        order = np.argsort(all_rows, kind="stable")
        cosines = np.concatenate([cosines, np.zeros(len(new), np.float32) if new_cosines is None else new_cosines])[
            order
        ]
        all_rows, kernel_scores = all_rows[order], np.concatenate([kernel_scores, new_kernel_scores])[order]
        self._lookup_cache = all_rows, cosines, kernel_scores
        places = np.searchsorted(all_rows, rows)
        return None if new_cosines is None else cosines[places], kernel_scores[places]

    _lookup_cache: tuple[Array, Floats, Floats] = (np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0))

    def rank_candidates(self, allowed: Any) -> Ranking:
        """Return the ranking of candidates among the allowed; other documents with any word follow them."""
        parts = self._first_candidates if allowed is None else self._score_parts(self.choose_candidates(allowed))
        assert parts.rows is not None  # noqa: S101
        return CandidateRanking(parts.rows, self._sum_scores(parts).astype(np.float32), self.words.scores)

    def _sum_scores(self, parts: _CandidateScores) -> Floats:
        """Return the weighted sum of the separate scores."""
        of_words, of_kernel, of_space = self.weights
        trust = self.words.trust
        total = (1 - trust) * of_words * parts.words + of_kernel * parts.kernel
        total = total + self._weigh_query(parts.coverage, parts.query) * parts.query
        total = total if self.direction is None else total + of_space * parts.space
        if parts.vectors is None:
            return np.asarray(total)
        return np.asarray(total + (self.vector_weight * parts.vectors + self._base_score))

    def _weigh_query(self, coverage: Floats, query: Floats) -> Floats:
        """Return the weight of the words of the query without feedback, in documents with this coverage and BM25."""
        words = self.words
        scale = max(words.highest_coverage * words.query_scores.highest, MIN_SCORE)
        best = BEST * (coverage * query / scale) ** BEST_POWER
        weights: Floats = words.query_scores.standardising_factor * (
            words.trust + COVERAGE * coverage**COVERAGE_POWER + best
        )
        return weights

    def match(self, tokens: Sequence[str], allowed: Bools | None = None) -> Match:
        """Return the documents that match some tokens of the query; see ``WordScorer.match``."""
        return self.words.match(frozenset(self.words.index.keys(tokens)), allowed)

    def explain_rows(self, rows: Sequence[int], ranking: Ranking) -> list[Explanation | None]:
        """Return the explanations of ranked documents; None for a document that is no candidate."""
        candidates = None if ranking.candidates is None else frozenset(ranking.candidates.tolist())
        amounts = self.words.explain_rows([row for row in rows if candidates is None or row in candidates])
        return [self._explain(row, amounts[row]) if row in amounts else None for row in rows]

    def explain(self, row: int) -> Explanation:
        """Return the explanation of the score of a document."""
        return self._explain(row, self.words.explain(row))

    def _explain(self, row: int, word_amounts: Sequence[Amount]) -> Explanation:
        """Return the explanation of a score: amounts of words, space, vectors and kernel."""
        of_words, of_kernel, of_space = self.weights
        of_added = (1 - self.words.trust) * of_words
        at = np.array([row])
        of_query = of_added + float(self._weigh_query(self.words.coverage(at), self.words.query_scores.values[at])[0])
        reasons = [
            WordReason(word, float((of_query if asked else of_added) * part)) for word, part, asked in word_amounts
        ]
        by_words = sum(reason.amount for reason in reasons)
        space = self.space_cosines(at)
        alike = 0.0 if space is None else of_space * float(space[0])
        vectors = 0.0 if self.vector_scores is None else self.vector_weight * float(self.vector_scores[row])
        by_meaning = self._base_score + alike + vectors
        explanations = [
            Explanation(by_words, tuple(reasons), (), by_words=by_words),
            Explanation(by_meaning, (), (), self._base_score, by_meaning, alike=alike, vectors=vectors),
        ]
        if of_kernel and not self.kernel.is_empty:
            explanations.append(self.kernel.explain(row).scale(of_kernel))
        return Explanation.combine(explanations)


class CandidateRanking(Ranking):
    """Ranking of the candidates of a very large collection; other documents follow them by their words alone."""

    def __init__(self, rows: Array, totals: Floats, by_words: TermScores) -> None:
        self.candidates = self._rows = rows
        self._totals, self._by_words = totals, by_words

    @cached_property
    def scores(self) -> Floats:  # type: ignore[override]
        """Scores of all documents, with other documents below all candidates."""
        lowest = float(self._totals[self._totals > 0].min(initial=1.0))
        scores = self._by_words.values * np.float32(0.5 * lowest / max(self._by_words.highest, 1e-30))
        scores[self._rows] = self._totals
        return scores

    def slice(self, n: int, offset: int = 0, mask: Any = None, *, rank_all: bool = False) -> tuple[Array, Floats]:
        """Return rows and scores of ``n`` documents; enough candidates make the scores of all others unnecessary."""
        if offset + n > np.count_nonzero(self._totals > 0):
            return super().slice(n, offset, mask, rank_all=rank_all)
        order = np.lexsort((self._rows, -self._totals))[offset : offset + n]
        return self._rows[order], self._totals[order]


def score_examples(collection: Collection, like: Sequence[str | int], unlike: Sequence[str | int] = ()) -> KernelScorer:
    """Return the scorer for documents similar to the ``like`` examples and different from the ``unlike`` ones."""
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
        return Explanation.combine(
            [scorer.explain(row).scale(weight * scorer.standardising_factor) for scorer, weight in self._positive_parts]
        )


def _read_texts(collection: Collection, rows: Sequence[int]) -> list[str]:
    """Return texts of documents; a bound method would keep a scorer, with all its scores, in a reference cycle."""
    return [build_counted_text(document) for document in collection.documents.load_many(rows)]


def _compute_meaning_weight(by_words: Floats, by_meaning: Floats) -> float:
    """Return the weight of meaning, which is higher if words and meaning agree about the best documents."""
    n_compared = min(MAX_COMPARED, max(MIN_COMPARED, len(by_words) // 10), len(by_words))
    rows = np.union1d(*(_select_best_rows(scores, n_compared) for scores in (by_words, by_meaning)))
    words, meaning = by_words[rows].astype(np.float64), by_meaning[rows].astype(np.float64)
    if len(rows) < 3 or words.std() < 1e-12 or meaning.std() < 1e-12:
        return MEANING
    agreed = float(np.corrcoef(words, meaning)[0, 1])
    return float(np.clip(MEANING + AGREEMENT * agreed, MIN_MEANING, MAX_MEANING))


def _select_best_rows(scores: Floats, n: int) -> Array:
    """Return the rows of the ``n`` best scores; of equal scores the first rows."""
    threshold = nth_largest(scores, n)
    best = np.flatnonzero(scores > threshold)
    return np.concatenate([best, np.flatnonzero(scores == threshold)[: n - len(best)]])
