"""Sums of weighted terms for all documents, computed in one pass together with statistics of the scores.

The pass also yields the highest score of each stretch of documents, and the spread of all scores. So the best of ten
million documents are found without another pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.search.index.ranking import largest_rows, nth_largest
from topiarist.collection.search.words.posting_lists import PostingLists
from topiarist.collection.search.words.word_index import WordIndex
from topiarist.counts.scratch import prefetch_pages
from topiarist.errors import DamagedError
from topiarist.execution.threads import Threads
from topiarist.models.engine import STRETCH, Runs, load_kernels

DOCUMENTS_PER_TASK = 1 << 18  # documents that a thread adds words to before it takes others; whole stretches
ROUNDING = 1e-12  # of the mean square: a variance below it may be nothing


class WeightedTerm(NamedTuple):
    """Stem, or one of its forms, with its weight."""

    stem: str
    form: str  # empty: all forms
    weight: float


@dataclass(frozen=True, eq=False)
class TermScores:
    """Scores of documents, the highest score of each stretch, and the first rows of stretches."""

    values: Floats
    peaks: Floats
    starts: Array
    sums: tuple[float, float]  # of scores, and of their squares

    @cached_property
    def standardising_factor(self) -> float:
        """Factor by which scores have a standard deviation of one; 0 if all scores are equal."""
        number = max(len(self.values), 1)
        mean, square = self.sums[0] / number, self.sums[1] / number
        variance = square - mean * mean
        if variance <= max(ROUNDING * square, 1e-24):  # equal up to rounding
            return 0.0
        return 1.0 / float(np.sqrt(variance))

    @property
    def highest(self) -> float:
        """Highest score of all documents."""
        return float(self.peaks.max(initial=0.0))

    def largest(self, n: int, allowed: Array | None = None) -> Array:
        """Return the rising rows of the ``n`` highest positive scores, and of scores equal to the lowest of them."""
        if allowed is not None or not 0 < n <= len(self.peaks) or (threshold := nth_largest(self.peaks, n)) <= 0:
            rows: Array = largest_rows(self.values, n, allowed)
            return rows
        stretches = np.flatnonzero(self.peaks >= threshold)  # n of them have such a score
        rows = self.starts[stretches][:, None] + np.arange(STRETCH)
        rows = rows[rows < self.starts[stretches + 1][:, None]]
        scores = self.values[rows]
        if len(rows) > n:
            rows = rows[scores >= nth_largest(scores, n)]
        return rows


def sum_words(
    index: WordIndex, words: Sequence[WeightedTerm], threads: Threads, base_scores: TermScores | None = None
) -> TermScores:
    """Return for all documents the sum over terms of weight times n / (n + norm), added to ``base_scores``."""
    values, number = np.empty(len(index), np.float32), 0
    peaks, starts, sums = list[Floats](), list[Array](), np.zeros(2)
    for lists, norms in zip(index.segments, index.norms, strict=True):
        rows = slice(number, number + len(lists))
        segment_base = np.empty(0, np.float32) if base_scores is None else base_scores.values[rows]
        segment_scores = _score_segment(lists, words, norms, segment_base, values[rows], threads)
        peaks.append(segment_scores[0])
        starts.append(number + np.arange(len(segment_scores[0])) * STRETCH)
        sums, number = sums + segment_scores[1], rows.stop
    begins = np.append(np.concatenate(starts), number)
    return TermScores(values, np.concatenate(peaks), begins, (float(sums[0]), float(sums[1])))


def _score_segment(
    lists: PostingLists,
    words: Sequence[WeightedTerm],
    norms: Floats,
    base_scores: Floats,
    out: Floats,
    threads: Threads,
) -> tuple[Floats, Array]:
    """Write the scores of one segment to ``out``; return its peaks and sums."""
    runs, weights = find_runs(lists, words)
    add, peaks = load_kernels().add_word_scores, np.zeros(-(-len(out) // STRETCH), np.float32)

    def add_block(start: int) -> Array:
        here, sums = slice(start, start + DOCUMENTS_PER_TASK), np.zeros(4)
        own = slice(start // STRETCH, (start + DOCUMENTS_PER_TASK) // STRETCH)
        add(runs, weights, norms[here], start, base_scores[here], STRETCH, out[here], peaks[own], sums)
        return sums

    sums = np.sum([np.zeros(4), *threads.map(add_block, range(0, len(out), DOCUMENTS_PER_TASK))], axis=0)
    if sums[3] != np.sum(runs.stops - runs.starts):
        raise DamagedError("the word index names documents that do not exist", hint="Run topiarist check.")
    return peaks, sums[1:3]


def sum_weights(index: WordIndex, words: Sequence[WeightedTerm], threads: Threads) -> Floats:
    """Return for each document the sum of the weights of the terms that it has, at any frequency."""
    values, number = np.empty(len(index), np.float32), 0
    for lists in index.segments:
        rows = slice(number, number + len(lists))
        norms = np.zeros(len(lists), np.float32)  # n / (n + 0): a word counts once
        _score_segment(lists, words, norms, np.empty(0, np.float32), values[rows], threads)
        number = rows.stop
    return values


def find_runs(lists: PostingLists, words: Sequence[WeightedTerm]) -> tuple[Runs, Array]:
    """Return the runs of postings of terms, and the weights of the terms that have any."""
    starts, stops, numbers, weights = list[int](), list[int](), list[int](), list[float]()
    for word in words:
        forms = lists.places_of(word.stem, word.form)
        if len(forms):
            starts += [int(lists.ends[form]) for form in forms]
            stops += [int(lists.ends[form + 1]) for form in forms]
            numbers += [len(weights)] * len(forms)
            weights.append(word.weight)
    for start, stop in zip(starts, stops, strict=True):
        prefetch_pages(lists.docs, start, stop)
        prefetch_pages(lists.times, start, stop)
    places = (np.array(values, np.int64) for values in (starts, stops, numbers))
    return Runs(lists.docs, lists.times, *places), np.array(weights, np.float64)
