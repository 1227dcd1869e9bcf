"""From scores to hits: filters, the best of many in a settled order, BM25 and its weight beside the kernel (F7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.find.index.answers import Hit
from topiarist.collection.find.index.query_counts import QueryCounts
from topiarist.collection.find.index.segments import K1, Segment
from topiarist.errors import InputError, UsageError
from topiarist.text.spelling import proposed

# Beside each other, each as a share of the most that it can be: the kernel's two parts of one model, and BM25.
SHARE_OF_MEANING, SHARE_OF_WORDS = 2.0, 1.25
MANY, EACH = 10_000, 16  # values of which a sample is looked at first, and each of how many is in it
SAMPLED = 1 << 16  # values that a sample has, about, of very many
NAMED = 3  # labels or documents that one may have meant


@dataclass(frozen=True)
class Bm25:
    """What BM25 knows of the whole collection."""

    worth: Floats  # of each word: log(1 + (N − n_j + ½)/(n_j + ½))
    average: float  # tokens in a document

    @classmethod
    def of(cls, segments: Sequence[Segment], n_words: int) -> Bm25:
        """From all documents."""
        number = sum(map(len, segments))
        holding = np.zeros(n_words)
        for segment in segments:
            holding[slice(None) if segment.words is None else segment.words] += np.diff(segment.postings.ends)
        tokens = sum(float(np.sum(segment.lengths, dtype=np.float64)) for segment in segments)
        return cls(np.log1p((number - holding + 0.5) / (holding + 0.5)), max(tokens / max(1, number), 1e-300))

    def weights(self, query: QueryCounts, by: str, most: float | None) -> tuple[float, tuple[float, Floats] | None]:
        """The weight of the kernel, and with the average length the weights of the words; None or 0 if not wanted.

        Together, both count as shares of what no document can exceed; ``most`` is that of the kernel, if there is such.
        """
        words = query.counts * self.worth[query.columns] * (K1 + 1)
        if by == "meaning":
            return 1.0, None
        if by == "words":
            return 0.0, (self.average, words)
        if most is None:
            raise UsageError(
                "by='both' adds shares of what a document can reach, and with normalise=None the kernel has no end",
                hint="normalise='parts', or by='meaning'",
            )
        return SHARE_OF_MEANING / most, (self.average, words * SHARE_OF_WORDS / max(float(words.sum()), 1e-300))


def allowed(segments: Sequence[Segment], below: Any, label: str | Iterable[str] | None) -> Any:
    """Which documents pass: those at some nodes, those with some labels; None where all do."""
    if below is None and label is None:
        return None
    wanted = None if label is None else {label} if isinstance(label, str) else set(label)
    if wanted is not None:
        _need_names(segments)
        known = {name for segment in segments for name in segment.label_rows}
        for name in sorted(wanted - known):
            raise InputError(f"no document has the label {name!r}", hint=proposed(name, sorted(known), NAMED))
    masks = []
    for segment in segments:
        mask = np.ones(len(segment), bool) if below is None else below[segment.nodes]
        if wanted is not None:
            has = np.zeros(len(segment), bool)
            for name in wanted & segment.label_rows.keys():
                has[segment.label_rows[name]] = True
            mask = mask & has
        masks.append(mask)
    return np.concatenate(masks)


def nth_largest(values: Floats, n: int) -> float:
    """The ``n``-th largest of values. Of many a sample tells first above what it must be: few are left to look at.

    Where most values are the same (no score at all), it is often just that one.
    """
    if len(values) > MANY:
        each = max(EACH, len(values) // SAMPLED)
        sample = values[::each]
        place = len(sample) - min(2 * n // each + 32, len(sample))
        least = np.partition(sample, place)[place]
        above = values[values > least]
        if len(above) < n <= np.count_nonzero(values >= least):
            return float(least)
        values = above if len(above) >= n else values
    return float(np.partition(values, len(values) - n)[len(values) - n])


def best(scores: Floats, segments: Sequence[Segment], mask: Any, n: int, offset: int = 0) -> tuple[Hit, ...]:
    """The ``n`` documents with the highest scores above zero, after the ``offset`` best; of equal ones the first.

    The order is settled whatever is asked for, so that one page after the other shows every document once.
    """
    wanted = offset + n
    numbers = largest_rows(scores, wanted, mask)
    values = scores[numbers]
    order = np.lexsort((numbers, -values))[offset:wanted]
    return tuple(hit(segments, int(numbers[place]), float(values[place])) for place in order)


def largest_rows(scores: Floats, n: int, mask: Any = None) -> Any:
    """The rows of the ``n`` highest scores above zero, and of those as high as the last of them; they rise."""
    if mask is None and 0 < n < len(scores) and (least := nth_largest(scores, n)) > 0:
        return np.flatnonzero(scores >= least)
    rows = np.flatnonzero(scores > 0 if mask is None else (scores > 0) & mask)
    if len(rows) > n > 0:
        values = scores[rows]
        rows = rows[values >= nth_largest(values, n)]
    return rows


def hit(segments: Sequence[Segment], number: int, score: float) -> Hit:
    """A document with all that is known of it."""
    segment, row = located(segments, number)
    known = segment.documents
    return Hit(
        number, known.ids[row] if known.ids else str(number), score,
        known.titles[row] if known.titles else "",
        known.labels[row] if known.labels else (),
        int(segment.nodes[row]) if len(segment.nodes) else -1,
    )  # fmt: skip


def number_of(segments: Sequence[Segment], document: Any) -> int:
    """The number of a document, given by its id or by its number."""
    if isinstance(document, str):
        _need_names(segments)
        start = 0
        for segment in segments:
            if document in segment.numbers:
                return start + segment.numbers[document]
            start += len(segment)
        names = (name for segment in segments for name in segment.documents.ids)
        raise UsageError(f"no document is called {document!r}", hint=proposed(document, names, NAMED))
    if isinstance(document, bool) or not isinstance(document, Integral):
        raise UsageError(f"a document is given by its id or its number, got {document!r}")
    last = sum(map(len, segments)) - 1
    if not 0 <= int(document) <= last:
        raise UsageError(f"documents have numbers from 0 to {last}, got {document}")
    return int(document)


def _need_names(segments: Sequence[Segment]) -> None:
    """The index of a collection knows its documents by rows."""
    if any(len(segment) and not segment.documents.ids for segment in segments):
        raise UsageError(
            "this index knows documents by their numbers, neither by ids nor by labels",
            hint="ask the collection: Collection.find, or the number of a document",
        )


def located(segments: Sequence[Segment], number: int) -> tuple[Segment, int]:
    """The segment that holds a document, and its row there."""
    for segment in segments:
        if number < len(segment):
            return segment, number
        number -= len(segment)
    raise IndexError(number)
