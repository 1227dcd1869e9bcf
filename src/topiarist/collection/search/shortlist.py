"""Candidates of a large collection: the best documents by words, and the nearest in the word space.

Up to about a million documents, every document is scored by meaning within milliseconds. In larger collections only a
few thousand are: the best by words (BM25) and the nearest in the word space, among all allowed documents. A document
that both rank behind thousands of others is not found, whatever the topics of the tree say. If few documents are
allowed, all of them are scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.search.index import SearchIndex
from topiarist.collection.search.index.query_counts import QueryCounts
from topiarist.collection.search.index.ranking import largest_rows
from topiarist.collection.search.index.segments import Segment, gather_documents
from topiarist.collection.search.words.term_scores import TermScores
from topiarist.collection.search.words.word_index import WordIndex, select_nearest
from topiarist.collection.search.words.word_scorer import WordScorer
from topiarist.execution.threads import Threads

MAX_EXACT_DOCUMENTS = 1 << 20  # documents of a collection that are all scored
MAX_CANDIDATES = 2_048  # documents by words, and as many in the word space
MAX_UNRANKED = 1 << 14  # allowed documents that are all scored
MAX_QUERY_WORDS = 24  # words of a query that choose documents; a document as a query has many
SPREAD_SAMPLE = 4_096  # documents from which the standard deviation of scores is estimated
MIN_READERS = 4  # minimum number of threads for lookups, which wait for the disk

NearbyDocuments = list[tuple[Array, Floats]]  # of each segment, see ``WordIndex.around``


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Choice of candidates by the words of a collection; ``vocabulary`` has the words of its counts."""

    words: WordIndex
    vocabulary: Any
    threads: Threads
    segments: tuple[Segment, ...]
    readers: Threads  # at least ``MIN_READERS``: each waits for the disk

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def everywhere(self) -> Array:
        """Evenly spaced documents from which the spread of scores is estimated."""
        return np.arange(0, len(self), max(1, len(self) // SPREAD_SAMPLE))

    @cached_property
    def gathered(self) -> Segment:
        """Segment of the evenly spaced documents, which every query scores."""
        return gather_documents(self.segments, self.everywhere, self.readers)

    @cached_property
    def _places(self) -> Array:
        return self.words.places_of(self.everywhere, self.readers)

    def near(self, direction: Floats, rows: Array | None = None) -> Floats:
        """Return the cosines of the evenly spaced documents, or of rising ``rows``, with a direction."""
        if rows is None or rows is self.everywhere:
            return self.words.space.cosines(self._places, direction)
        return self.words.space.cosines(self.words.places_of(rows, self.readers), direction)

    def of_counts(self, counts: QueryCounts, allowed: Array | None = None) -> Array:
        """Return the rows to score for a query of counts: best by its words and nearest in the word space."""
        words = [self.vocabulary.words[column] for column in counts.columns]
        word_weights, stem_counts = dict[str, float](), Counter[str]()
        for word, stem, times in zip(words, self.words.keys(words), counts.counts.tolist(), strict=True):
            word_weights[word] = times * self.words.inverse_document_frequency(stem)
            stem_counts[stem] += times
        chosen_words = sorted(word_weights, key=lambda word: (-word_weights[word], word))[:MAX_QUERY_WORDS]
        scorer = WordScorer(self.words, self.words.tokenizer(" ".join(chosen_words)), lambda rows: [], self.threads)
        direction = self.words.space.direction(stem_counts)
        return self.rows(scorer.query_scores, None if direction is None else self.around(direction), allowed=allowed)

    def choose_largest(self, scores: Floats, allowed: Any) -> Array:
        """Return the rows of the largest scores above zero among the allowed; of equal scores the first rows."""
        return _select_largest(largest_rows(scores, MAX_CANDIDATES, allowed), scores)

    def around(self, direction: Floats) -> NearbyDocuments:
        """Return the documents that may be nearest to a direction."""
        return self.words.around(direction, self.threads)

    def rows(
        self,
        by_words: TermScores,
        nearby: NearbyDocuments | None,
        by_vectors: Floats | None = None,
        *,
        allowed: Any = None,
    ) -> Array:
        """Return the rising rows of the allowed documents that are best by words, in the space and by embeddings."""
        if allowed is not None and np.count_nonzero(allowed) <= MAX_UNRANKED:
            return np.flatnonzero(allowed)
        candidates = [_select_largest(by_words.largest(MAX_CANDIDATES, allowed), by_words.values)]
        if by_vectors is not None:
            candidates.append(self.choose_largest(by_vectors, allowed))
        if nearby is not None:
            candidates.append(select_nearest(nearby, MAX_CANDIDATES, allowed))
        return np.unique(np.concatenate(candidates))


def attach_shortlist(index: SearchIndex, words: Callable[[], WordIndex]) -> SearchIndex:
    """Return the index, with a shortlist if it has very many documents."""
    if len(index) <= MAX_EXACT_DOCUMENTS or index.vocabulary is None:
        return index
    readers = Threads(max(MIN_READERS, index.threads.n_threads))
    return replace(index, shortlist=Shortlist(words(), index.vocabulary, index.threads, index.segments, readers))


def _select_largest(rows: Array, scores: Floats) -> Array:
    """Return at most ``MAX_CANDIDATES`` rows of the largest scores; of equal scores the first rows."""
    if len(rows) <= MAX_CANDIDATES:
        return rows
    values = scores[rows]
    best = rows[values > (lowest := values.min())]
    return np.concatenate([best, rows[values == lowest][: MAX_CANDIDATES - len(best)]])
