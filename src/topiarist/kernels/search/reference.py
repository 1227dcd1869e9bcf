"""The verbs of similarity in NumPy: slow, obvious, and the specification of the compiled ones."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE, verbs
from topiarist.kernels.search import Postings, Wanted

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


def add_word(docs: Array, times: Array, norms: Array, weight: float, whole: Array, out: Array) -> None:
    """BM25 of one word whose forms have documents each: add ``weight n / (n + norm)``, n over all forms.

    ``whole`` has a place for every document, with nothing in it before and afterwards.
    """
    np.add.at(whole, docs, times)
    once = np.unique(docs)
    out[once] += np.float32(weight) * whole[once] / (whole[once] + norms[once])
    whole[once] = 0


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
    add_word,
    score_vectors,
    score_places,
    meetings,
    open_rows,
)
