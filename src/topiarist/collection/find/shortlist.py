"""Which documents of a large collection a question looks at: those that are best by words, and those that lie nearest.

Every document of a collection is scored by its meaning as long as that takes milliseconds. Of more than a million it is
done for a few thousand: the best by words (BM25) and the nearest in the space of words, both among all documents that
are allowed. So what both of them place behind thousands of others is not found, however well the topics of the tree
would speak for it. Where few documents are allowed, all of them are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.index import SearchIndex
from topiarist.collection.find.index.query_counts import QueryCounts
from topiarist.collection.find.index.ranking import largest_rows
from topiarist.collection.find.index.segments import Segment, gathered
from topiarist.collection.find.words.word_index import WordIndex, nearest
from topiarist.collection.find.words.word_question import WordQuestion
from topiarist.collection.find.words.word_scores import WordScores
from topiarist.scale.threads import Threads

EXACT = 1 << 20  # documents of a collection that are all looked at
EACH = 2_048  # documents by words, and as many by where they lie
FEW = 1 << 14  # allowed documents that are all looked at
TELLING = 24  # words of a question that choose documents: a whole document as a question has many
SPREAD_OVER = 4_096  # documents that tell how scores are spread over the collection
READERS = 4  # threads that look documents up, at least

Around = list[tuple[Array, Floats]]  # of each segment, see ``WordIndex.around``


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Chooses documents by the words of a collection; ``vocabulary`` are those of its counts."""

    words: WordIndex
    vocabulary: Any
    threads: Threads
    segments: tuple[Segment, ...]
    readers: Threads  # some at least: each waits for the disk

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def everywhere(self) -> Array:
        """Documents that lie evenly among all, which tell how scores are spread."""
        return np.arange(0, len(self), max(1, len(self) // SPREAD_OVER))

    @cached_property
    def gathered(self) -> Segment:
        """These documents, which every question asks for."""
        return gathered(self.segments, self.everywhere, self.readers)

    @cached_property
    def _places(self) -> Array:
        return self.words.places_of(self.everywhere, self.readers)

    def near(self, direction: Floats, rows: Array | None = None) -> Floats:
        """The cosines of these documents, or of others by their rising rows, with a direction."""
        if rows is None or rows is self.everywhere:
            return self.words.space.cosines(self._places, direction)
        return self.words.space.cosines(self.words.places_of(rows, self.readers), direction)

    def of_counts(self, counts: QueryCounts, allowed: Array | None = None) -> Array:
        """The documents for a question that is given in counts."""
        words = [self.vocabulary.words[column] for column in counts.columns]
        worth, often = dict[str, float](), Counter[str]()
        for word, stem, times in zip(words, self.words.keys(words), counts.counts.tolist(), strict=True):
            worth[word] = times * self.words.worth(stem)
            often[stem] += times
        telling = sorted(worth, key=lambda word: (-worth[word], word))[:TELLING]
        question = WordQuestion(self.words, " ".join(telling), lambda rows: [], self.threads)
        direction = self.words.space.direction(often)
        return self.rows(question.by_asked, None if direction is None else self.around(direction), allowed=allowed)

    def around(self, direction: Floats) -> Around:
        """The documents that may lie nearest to a direction."""
        return self.words.around(direction, self.threads)

    def rows(
        self, by_words: WordScores, around: Around | None, by_vectors: Floats | None = None, *, allowed: Any = None
    ) -> Array:
        """The best by words, the nearest of those ``around`` a direction and by vectors, of the allowed; they rise."""
        if allowed is not None and np.count_nonzero(allowed) <= FEW:
            return np.flatnonzero(allowed)
        found = [_first(by_words.largest(EACH, allowed), by_words.values)]
        if by_vectors is not None:
            found.append(best_rows(by_vectors, allowed))
        if around is not None:
            found.append(nearest(around, EACH, allowed))
        return np.unique(np.concatenate(found))


def shortlisted(index: SearchIndex, words: Callable[[], WordIndex | None]) -> SearchIndex:
    """An index whose questions look at some documents, where these are very many and their words are kept."""
    if len(index) <= EXACT or index.vocabulary is None or (known := words()) is None:
        return index
    readers = Threads(max(READERS, index.threads.n_threads))
    return replace(index, shortlist=Shortlist(known, index.vocabulary, index.threads, index.segments, readers))


def best_rows(scores: Floats, allowed: Any) -> Array:
    """The rows of the largest scores above zero, of those that are allowed; of equal ones the first."""
    return _first(largest_rows(scores, EACH, allowed), scores)


def _first(rows: Array, scores: Floats) -> Array:
    """Of the rows of the largest scores no more than are looked at; of equal ones the first."""
    if len(rows) <= EACH:
        return rows
    values = scores[rows]
    most = rows[values > (least := values.min())]
    return np.concatenate([most, rows[values == least][: EACH - len(most)]])
