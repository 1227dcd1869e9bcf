"""The verbs of similarity in NumPy: slow, obvious, and the specification of the compiled ones."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE, verbs
from topiarist.kernels.search import Postings, Runs, Wanted

ROWS = 1 << 13  # of vectors that are wide at a time


def lexical_lengths(
    indptr: Array, indices: Array, data: Array, own: Array, other: Array, squares: Array, out: Array
) -> None:
    """(F3): squared length of the lexical part, ``Σ_j (n(d,j) / own[d]·other[j])² Σ_k own[d,k]² squares[j,k]``."""
    for d in range(len(own)):
        here = slice(indptr[d], indptr[d + 1])
        mixture = (other[indices[here]] @ own[d]).astype(np.float64)
        possible = mixture > SMALLEST_MIXTURE
        ratio = np.where(possible, data[here] / np.where(possible, mixture, 1), 0)
        weights = own[d].astype(np.float64) ** 2
        out[d] = ratio**2 @ (squares[indices[here]].astype(np.float64) @ weights)


def path_lengths(
    indptr: Array, indices: Array, data: Array, rows: Array, classes: Array, mix: Array, squares: Array, out: Array
) -> None:
    """(F3) where a document has one class: ``Σ_j n(d,j)² Σ_v (Σ_c rows[d,c] mix[c,v] / classes[j,c])² squares[j,v]``.

    A class that holds less than ``LEAST_HELD`` of a document may be left out: it changes no P(v|d,j) by more.
    """
    for d in range(len(rows)):
        here = slice(indptr[d], indptr[d + 1])
        own = classes[indices[here]].astype(np.float64)
        possible = own > SMALLEST_MIXTURE
        share = np.where(possible, rows[d] / np.where(possible, own, 1), 0) @ mix.astype(np.float64)
        out[d] = data[here].astype(np.float64) ** 2 @ (share**2 * squares[indices[here]]).sum(axis=1)


def score_meaning(
    postings: Postings, wanted: Wanted, rows: Array, topical: Array, scales: Array, start: int, out: Array
) -> None:
    """(F1), (F2): add to ``out`` what the documents from ``start`` on share with a query.

    ``rows``, ``topical``, ``scales`` (for topics and for words) and ``out`` belong to those documents.
    """
    if len(wanted.topics):
        out += scales[:, 0] * (topical @ wanted.topics)
    for place, word in enumerate(wanted.words):
        here = _within(postings, word, start, start + len(out))
        docs = postings.docs[here] - start
        mixture = (rows[docs] @ wanted.mixture[place]).astype(np.float64)
        possible = mixture > SMALLEST_MIXTURE
        share = np.where(possible, (rows[docs] @ wanted.meet[place]) / np.where(possible, mixture, 1), 0)
        out[docs] += scales[docs, 1] * postings.counts[here] * share


def score_words(postings: Postings, words: Array, weights: Array, norms: Array, start: int, out: Array) -> None:
    """(F7): BM25. Add ``weight n / (n + norm)`` for each word of the query that a document from ``start`` on holds."""
    for word, weight in zip(words, weights, strict=True):
        here = _within(postings, word, start, start + len(out))
        docs, counts = postings.docs[here] - start, postings.counts[here]
        out[docs] += weight * counts / (counts + norms[docs])


def add_words(
    runs: Runs,
    weights: Array,
    norms: Array,
    first: int,
    before: Array,
    stretch: int,
    out: Array,
    peaks: Array,
    sums: Array,
) -> None:
    """BM25 of words with their forms: ``out = before + Σ weight n / (n + norm)``, n over all forms of a word.

    ``norms``, ``before`` (or nothing) and ``out`` are of the documents from ``first`` on. ``peaks`` has the highest of
    each ``stretch`` of them, ``sums`` how many are above nothing, their sum, the sum of their squares, and how many
    places of runs were read: over all documents all of them, or some name documents that are none.
    """
    brought = np.zeros(len(out), np.float32)
    read = 0
    for word, weight in enumerate(weights):
        often, places = _often(runs, word, first, len(out))
        some = often > 0
        brought[some] += np.float32(weight) * often[some] / (often[some] + norms[some])
        read += places
    out[:] = before + brought if len(before) else brought
    for place, start in enumerate(range(0, len(out), stretch)):
        peaks[place] = out[start : start + stretch].max()
    wide = out.astype(np.float64)
    sums[:] = np.count_nonzero(out > 0), wide.sum(), (wide**2).sum(), read


def hold_words(runs: Runs, weights: Array, first: int, allowed: Array, least: float, found: Array) -> None:
    """How many allowed documents from ``first`` on hold words of ``least`` weight, the most weight, and who has it.

    The earliest of those that have it, -1 where nobody is allowed.
    """
    held = np.zeros(len(allowed), np.float32)
    for word, weight in enumerate(weights):
        held[_often(runs, word, first, len(allowed))[0] > 0] += np.float32(weight)
    held[~allowed] = -1
    best = int(held.argmax()) if allowed.any() else -1
    found[:] = np.count_nonzero(held >= least), held[best] if best >= 0 else -1, first + best if best >= 0 else -1


def score_vectors(halves: Array, direction: Array, out: Array) -> None:
    """Inner products of rows with a direction, in single precision; ``halves``: the bits of their half precision."""
    for start in range(0, len(halves), ROWS):
        out[start : start + ROWS] = halves[start : start + ROWS].view(np.float16).astype(np.float32) @ direction


def score_places(places: Array, direction: Array, out: Array) -> None:
    """Inner products of rows, a byte for each number, with a direction, in single precision."""
    for start in range(0, len(places), ROWS):
        out[start : start + ROWS] = places[start : start + ROWS].astype(np.float32) @ direction


def meetings(ends: Array, docs: Array, words: Array, n_docs: int, out: Array) -> None:
    """How many documents have both of two words, for all pairs of ``words``; of a word and itself, that have it."""
    has = np.zeros((n_docs, len(words)), bool)
    for place, word in enumerate(words):
        has[docs[ends[word] : ends[word + 1]], place] = True
    out[:] = has.T.astype(np.float64) @ has


def open_rows(packed: Array, out: Array) -> None:
    """Squares of bytes, each row divided by its sum; a row of nothing stays so."""
    squares = packed.astype(np.float32) ** 2
    out[:] = squares / np.maximum(squares.sum(axis=1, keepdims=True), np.float32(1))


def pick_counts(postings: Postings, places: Array, rows: Array, out: Array) -> None:
    """How often some documents, by their rising rows, have some words, by their places; a place below 0 is none."""
    for number, place in enumerate(places):
        if place >= 0:
            here = slice(int(postings.ends[place]), int(postings.ends[place + 1]))
            often = dict(zip(postings.docs[here].tolist(), postings.counts[here].tolist(), strict=True))
            out[:, number] = [often.get(row, 0) for row in rows.tolist()]


def _often(runs: Runs, word: int, first: int, number: int) -> tuple[Array, int]:
    """How often so many documents from ``first`` on have a word in all its forms, and how many places that are."""
    often, read = np.zeros(number, np.float32), 0
    for run in np.flatnonzero(runs.words == word):
        here = slice(int(runs.starts[run]), int(runs.stops[run]))
        docs = runs.docs[here].astype(np.int64) - first
        inside = (docs >= 0) & (docs < number)
        np.add.at(often, docs[inside], runs.times[here][inside])
        read += int(np.count_nonzero(inside))
    return often, read


def _within(postings: Postings, word: int, start: int, stop: int) -> slice:
    """The places of a word's documents from ``start`` to before ``stop``."""
    first, last = int(postings.ends[word]), int(postings.ends[word + 1])
    low, high = np.searchsorted(postings.docs[first:last], (start, stop))
    return slice(first + int(low), first + int(high))


VERBS = verbs(
    lexical_lengths,
    path_lengths,
    score_meaning,
    score_words,
    add_words,
    hold_words,
    score_vectors,
    score_places,
    meetings,
    open_rows,
    pick_counts,
)
