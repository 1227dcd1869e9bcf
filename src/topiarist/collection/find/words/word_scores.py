"""What words bring to every document of a collection, added up in one look, with what is asked of all scores later.

The highest score of each stretch of documents is noted on the way, how many have any, and how scores are spread: so the
best of ten million are found without another look at all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.index.ranking import largest_rows, nth_largest
from topiarist.collection.find.words.posting_lists import PostingLists
from topiarist.collection.find.words.word_index import WordIndex
from topiarist.counts.room import expect
from topiarist.errors import DamagedError
from topiarist.models.engine import STRETCH, Runs, load_search_kernels
from topiarist.scale.threads import Threads

PIECE = 1 << 18  # documents that a thread adds words to before it takes others; whole stretches
ROUNDING = 1e-12  # of the mean square: a variance below it may be nothing


class Weighed(NamedTuple):
    """A stem, or one form of it, and what it counts."""

    stem: str
    form: str  # or nothing: all of them
    weight: float


@dataclass(frozen=True, eq=False)
class WordScores:
    """Scores of documents, the highest of each stretch of them, and where stretches begin."""

    values: Floats
    peaks: Floats
    starts: Array
    above: int  # documents that have any score
    sums: tuple[float, float]  # of scores, and of their squares

    @cached_property
    def per_spread(self) -> float:
        """By what scores are multiplied so that their spread over the collection is one; 0 where there is none."""
        number = max(len(self.values), 1)
        mean, square = self.sums[0] / number, self.sums[1] / number
        variance = square - mean * mean
        if variance <= max(ROUNDING * square, 1e-24):  # all the same, but for what adding them up has cut off
            return 0.0
        return 1.0 / float(np.sqrt(variance))

    @property
    def most(self) -> float:
        """The highest score."""
        return float(self.peaks.max(initial=0.0))

    def largest(self, n: int, allowed: Array | None = None) -> Array:
        """The rows of the ``n`` highest scores above zero, and of those as high as the last of them; they rise."""
        if allowed is not None or not 0 < n <= len(self.peaks) or (least := nth_largest(self.peaks, n)) <= 0:
            rows: Array = largest_rows(self.values, n, allowed)
            return rows
        stretches = np.flatnonzero(self.peaks >= least)  # n of them have such a score
        rows = self.starts[stretches][:, None] + np.arange(STRETCH)
        rows = rows[rows < self.starts[stretches + 1][:, None]]
        scores = self.values[rows]
        if len(rows) > n:
            rows = rows[scores >= nth_largest(scores, n)]
        return rows


def added_up(
    index: WordIndex, words: Sequence[Weighed], threads: Threads, before: WordScores | None = None
) -> WordScores:
    """What words bring to every document: a weight times n / (n + norm) each, after what they had ``before``."""
    values, number = np.empty(len(index), np.float32), 0
    peaks, starts, sums = list[Floats](), list[Array](), np.zeros(3)
    for lists, norms in zip(index.segments, index.norms, strict=True):
        here = slice(number, number + len(lists))
        had = np.empty(0, np.float32) if before is None else before.values[here]
        found = _of_segment(lists, words, norms, had, values[here], threads)
        peaks.append(found[0])
        starts.append(number + np.arange(len(found[0])) * STRETCH)
        sums, number = sums + found[1], here.stop
    begins = np.append(np.concatenate(starts), number)
    return WordScores(values, np.concatenate(peaks), begins, int(sums[0]), (float(sums[1]), float(sums[2])))


def _of_segment(
    lists: PostingLists, words: Sequence[Weighed], norms: Floats, before: Floats, out: Floats, threads: Threads
) -> tuple[Floats, Array]:
    """The peaks and the sums of one segment, whose scores are written to ``out``."""
    runs, weights = runs_of(lists, words)
    add, peaks = load_search_kernels().add_words, np.zeros(-(-len(out) // STRETCH), np.float32)

    def piece(start: int) -> Array:
        here, sums = slice(start, start + PIECE), np.zeros(4)
        own = slice(start // STRETCH, (start + PIECE) // STRETCH)
        add(runs, weights, norms[here], start, before[here], STRETCH, out[here], peaks[own], sums)
        return sums

    sums = np.sum([np.zeros(4), *threads.map(piece, range(0, len(out), PIECE))], axis=0)
    if sums[3] != np.sum(runs.stops - runs.starts):
        raise DamagedError("the index of words names documents that are not there", hint="topiarist check")
    return peaks, sums[:3]


def most_held(
    index: WordIndex, words: Sequence[Weighed], least: float, allowed: Array | None, threads: Threads
) -> tuple[int, int]:
    """How many (allowed) documents have words of ``least`` weight together, and the first of those with most; or -1."""
    hold, number, answers = load_search_kernels().hold_words, 0, list[Array]()
    for lists in index.segments:
        runs, weights = runs_of(lists, words)
        may = np.ones(len(lists), np.bool_) if allowed is None else allowed[number : number + len(lists)]

        def piece(start: int, runs: Runs = runs, weights: Array = weights, may: Array = may) -> Array:
            found = np.zeros(3)
            hold(runs, weights, start, may[start : start + PIECE], least, found)
            return found

        found = np.array(threads.map(piece, range(0, len(lists), PIECE))).reshape(-1, 3)
        found[found[:, 2] >= 0, 2] += number
        answers.append(found)
        number += len(lists)
    every = np.concatenate(answers)
    return int(every[:, 0].sum()), int(every[every[:, 1].argmax(), 2]) if len(every) else -1


def runs_of(lists: PostingLists, words: Sequence[Weighed]) -> tuple[Runs, Array]:
    """Where the documents of words are in lists, and the weights of those that are there."""
    starts, stops, numbers, weights = list[int](), list[int](), list[int](), list[float]()
    for word in words:
        forms = lists.places_of(word.stem, word.form)
        if len(forms):
            starts += [int(lists.ends[form]) for form in forms]
            stops += [int(lists.ends[form + 1]) for form in forms]
            numbers += [len(weights)] * len(forms)
            weights.append(word.weight)
    for start, stop in zip(starts, stops, strict=True):
        expect(lists.docs, start, stop)
        expect(lists.times, start, stop)
    places = (np.array(one, np.int64) for one in (starts, stops, numbers))
    return Runs(lists.docs, lists.times, *places), np.array(weights, np.float64)
