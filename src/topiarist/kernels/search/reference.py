"""Reference versions of the kernels of search in NumPy, the specification of the compiled ones."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.search import Postings, QueryVectors, Runs

MAX_ROWS = 1 << 13  # rows that are converted at a time


def lexical_lengths(
    indptr: Array, indices: Array, data: Array, rows: Array, other: Array, squares: Array, out: Array
) -> None:
    """(F3): compute the squared lengths of the lexical parts.

    ``out[d] = Σ_j (n(d,j) / rows[d]·other[j])² Σ_k rows[d,k]² squares[j,k]``
    """
    for d in range(len(rows)):
        span = slice(indptr[d], indptr[d + 1])
        mixture = (other[indices[span]] @ rows[d]).astype(np.float64)
        possible = mixture > SMALLEST_MIXTURE
        ratio = np.where(possible, data[span] / np.where(possible, mixture, 1), 0)
        weights = rows[d].astype(np.float64) ** 2
        out[d] = ratio**2 @ (squares[indices[span]].astype(np.float64) @ weights)


def path_lengths(
    indptr: Array, indices: Array, data: Array, rows: Array, classes: Array, mix: Array, squares: Array, out: Array
) -> None:
    """(F3) for models with one class per document: compute the squared lengths of the lexical parts.

    ``out[d] = Σ_j n(d,j)² Σ_v (Σ_c rows[d,c] mix[c,v] / classes[j,c])² squares[j,v]``. A class with less than
    ``MIN_CLASS_SHARE`` of a document can be omitted: it changes no P(v|d,j) by more.
    """
    for d in range(len(rows)):
        span = slice(indptr[d], indptr[d + 1])
        word_rows = classes[indices[span]].astype(np.float64)
        possible = word_rows > SMALLEST_MIXTURE
        share = np.where(possible, rows[d] / np.where(possible, word_rows, 1), 0) @ mix.astype(np.float64)
        out[d] = data[span].astype(np.float64) ** 2 @ (share**2 * squares[indices[span]]).sum(axis=1)


def score_by_kernel(
    postings: Postings, query: QueryVectors, rows: Array, topical: Array, scales: Array, start: int, out: Array
) -> None:
    """(F1), (F2): add the Fisher kernel of the documents from ``start`` on and the query to ``out``.

    ``rows``, ``topical``, ``scales`` (for topics and for words) and ``out`` belong to those documents.
    """
    if len(query.topics):
        out += scales[:, 0] * (topical @ query.topics)
    for place, word in enumerate(query.words):
        span = _find_span(postings, word, start, start + len(out))
        docs = postings.docs[span] - start
        mixture = (rows[docs] @ query.mixture[place]).astype(np.float64)
        possible = mixture > SMALLEST_MIXTURE
        share = np.where(possible, (rows[docs] @ query.meet[place]) / np.where(possible, mixture, 1), 0)
        out[docs] += scales[docs, 1] * postings.counts[span] * share


def score_words(postings: Postings, words: Array, weights: Array, norms: Array, start: int, out: Array) -> None:
    """(F7): add the BM25 term ``weight n / (n + norm)`` of each query word to the documents from ``start`` on."""
    for word, weight in zip(words, weights, strict=True):
        span = _find_span(postings, word, start, start + len(out))
        docs, counts = postings.docs[span] - start, postings.counts[span]
        out[docs] += weight * counts / (counts + norms[docs])


def add_word_scores(
    runs: Runs,
    weights: Array,
    norms: Array,
    first: int,
    base: Array,
    stretch: int,
    out: Array,
    peaks: Array,
    sums: Array,
) -> None:
    """Compute BM25 scores of words with their forms: ``out = base + Σ weight n / (n + norm)``.

    n is the count of all forms of a word. ``norms``, ``base`` (or an empty array) and ``out`` belong to the documents
    from ``first`` on. ``peaks`` has the maximum of each ``stretch`` documents. ``sums`` has the number of positive
    scores, their sum, the sum of their squares, and the number of places of runs that were read. Over all documents
    every place is read, unless some name invalid documents.
    """
    scores = np.zeros(len(out), np.float32)
    read = 0
    for word, weight in enumerate(weights):
        counts, places = _count_occurrences(runs, word, first, len(out))
        is_positive = counts > 0
        scores[is_positive] += np.float32(weight) * counts[is_positive] / (counts[is_positive] + norms[is_positive])
        read += places
    out[:] = base + scores if len(base) else scores
    for place, start in enumerate(range(0, len(out), stretch)):
        peaks[place] = out[start : start + stretch].max()
    wide = out.astype(np.float64)
    sums[:] = np.count_nonzero(out > 0), wide.sum(), (wide**2).sum(), read


def score_half_vectors(halves: Array, direction: Array, out: Array) -> None:
    """Write to ``out`` inner products of half-precision rows with a direction, in single precision."""
    for start in range(0, len(halves), MAX_ROWS):
        out[start : start + MAX_ROWS] = halves[start : start + MAX_ROWS].view(np.float16).astype(np.float32) @ direction


def score_byte_vectors(places: Array, direction: Array, out: Array) -> None:
    """Write to ``out`` inner products of rows of signed bytes with a direction, in single precision."""
    for start in range(0, len(places), MAX_ROWS):
        out[start : start + MAX_ROWS] = places[start : start + MAX_ROWS].astype(np.float32) @ direction


def count_cooccurrences(ends: Array, docs: Array, words: Array, n_docs: int, out: Array) -> None:
    """Count the documents that contain both words of each pair; on the diagonal, those with the word."""
    has = np.zeros((n_docs, len(words)), bool)
    for place, word in enumerate(words):
        has[docs[ends[word] : ends[word + 1]], place] = True
    out[:] = has.T.astype(np.float64) @ has


def unpack_rows(byte_rows: Array, out: Array) -> None:
    """Write to ``out`` the squares of bytes, each row divided by its sum; an empty row stays zero."""
    squares = byte_rows.astype(np.float32) ** 2
    out[:] = squares / np.maximum(squares.sum(axis=1, keepdims=True), np.float32(1))


def pick_counts(postings: Postings, places: Array, rows: Array, out: Array) -> None:
    """Write to ``out`` the counts of words in documents; ``places`` are word numbers, −1 for none."""
    for number, place in enumerate(places):
        if place >= 0:
            span = slice(int(postings.ends[place]), int(postings.ends[place + 1]))
            count_of_row = dict(zip(postings.docs[span].tolist(), postings.counts[span].tolist(), strict=True))
            out[:, number] = [count_of_row.get(row, 0) for row in rows.tolist()]


def _count_occurrences(runs: Runs, word: int, first: int, number: int) -> tuple[Array, int]:
    """Return counts of a word in all its forms in ``number`` documents, and the entries read."""
    counts, read = np.zeros(number, np.float32), 0
    for run in np.flatnonzero(runs.words == word):
        span = slice(int(runs.starts[run]), int(runs.stops[run]))
        docs = runs.docs[span].astype(np.int64) - first
        inside = (docs >= 0) & (docs < number)
        np.add.at(counts, docs[inside], runs.times[span][inside])
        read += int(np.count_nonzero(inside))
    return counts, read


def _find_span(postings: Postings, word: int, start: int, stop: int) -> slice:
    """Return the slice of a word's postings for documents from ``start`` to before ``stop``."""
    first, last = int(postings.ends[word]), int(postings.ends[word + 1])
    low, high = np.searchsorted(postings.docs[first:last], (start, stop))
    return slice(first + int(low), first + int(high))
