"""The verbs of similarity in numba: the same sums as ``reference``, one document after the other, without a temporary.

The order of every sum depends on the document and the query alone: blocks and threads cannot change a bit.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE, verbs
from topiarist.kernels.jit import inline, jit
from topiarist.kernels.search import Postings, Wanted


@inline
def _two_products(row, first, second):
    """``row·first`` and ``row·second``, the row read once; all entries are positive, so that no digits cancel."""
    one = two = row.dtype.type(0)
    for k in range(len(row)):
        one += row[k] * first[k]
        two += row[k] * second[k]
    return one, two


@jit
def lexical_lengths(indptr, indices, data, own, other, squares, out):
    """(F3): see ``reference.lexical_lengths``."""
    width = own.shape[1]
    for d in range(len(own)):
        row, total = own[d], 0.0
        for t in range(indptr[d], indptr[d + 1]):
            words, square = other[indices[t]], squares[indices[t]]
            mixture = length = row.dtype.type(0)
            for k in range(width):
                mixture += row[k] * words[k]
                length += row[k] * row[k] * square[k]
            if mixture > SMALLEST_MIXTURE:
                ratio = np.float64(data[t]) / mixture
                total += ratio * ratio * length
        out[d] = total


@jit
def _first_from(docs, first, last, number):
    """The first place of a rising list whose entry is not below ``number``."""
    while first < last:
        middle = (first + last) // 2
        if docs[middle] < number:
            first = middle + 1
        else:
            last = middle
    return first


@jit
def score_meaning(postings, wanted, rows, topical, scales, start, out):
    """(F1), (F2): see ``reference.score_meaning``."""
    stop = start + len(out)
    if len(wanted.topics):
        for d in range(len(out)):
            total = topical.dtype.type(0)
            for k in range(len(wanted.topics)):
                total += topical[d, k] * wanted.topics[k]
            out[d] += scales[d, 0] * total
    for w in range(len(wanted.words)):
        last = postings.ends[wanted.words[w] + 1]
        t = _first_from(postings.docs, postings.ends[wanted.words[w]], last, start)
        meet, mixture = wanted.meet[w], wanted.mixture[w]
        while t < last and postings.docs[t] < stop:
            d = postings.docs[t] - start
            if d >= 0:  # a damaged file may name a document before these
                share, probability = _two_products(rows[d], meet, mixture)
                if probability > SMALLEST_MIXTURE:
                    out[d] += scales[d, 1] * postings.counts[t] * (share / probability)
            t += 1


@jit
def score_words(postings, words, weights, norms, start, out):
    """(F7): see ``reference.score_words``."""
    stop = start + len(out)
    for w in range(len(words)):
        last = postings.ends[words[w] + 1]
        t = _first_from(postings.docs, postings.ends[words[w]], last, start)
        while t < last and postings.docs[t] < stop:
            d = postings.docs[t] - start
            if d >= 0:  # a damaged file may name a document before these
                out[d] += weights[w] * postings.counts[t] / (postings.counts[t] + norms[d])
            t += 1


@jit
def score_vectors(halves, direction, out):
    """See ``reference.score_vectors``.

    Bits of half precision that are moved to where single precision has them are the same number, times 2⁻¹¹².
    """
    width = len(direction)
    bits, weighed = np.empty(width, np.uint32), direction * np.float32(2.0**112)
    wide = bits.view(np.float32)
    sign, rest = np.uint32(0x8000), np.uint32(0x7FFF)
    for d in range(len(out)):
        for k in range(width):
            half = np.uint32(halves[d, k])
            bits[k] = ((half & sign) << np.uint32(16)) | ((half & rest) << np.uint32(13))
        total = np.float32(0)
        for k in range(width):
            total += wide[k] * weighed[k]
        out[d] = total


@jit
def score_places(places, direction, out):
    """See ``reference.score_places``."""
    for d in range(len(out)):
        total = np.float32(0)
        for k in range(len(direction)):
            total += np.float32(places[d, k]) * direction[k]
        out[d] = total


VERBS = verbs(lexical_lengths, score_meaning, score_words, score_vectors, score_places)


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision."""
    ends, docs, words = np.array([0, 1], np.int64), np.array([0], np.int32), np.array([0], np.int64)
    rows, numbers, out = np.ones((1, 1), dtype), np.ones(1, dtype), np.zeros(1)
    lexical_lengths(ends.astype(np.int32), docs, numbers, rows, rows.copy(), rows.copy(), out)
    postings = Postings(ends, docs, numbers)
    score_meaning(postings, Wanted(words, rows, rows.copy(), numbers), rows, rows.copy(), np.ones((1, 2)), 0, out)
    score_words(postings, words, np.ones(1), np.ones(1), 0, out)
    score_vectors(np.zeros((1, 1), np.uint16), np.ones(1, np.float32), np.zeros(1, np.float32))
    score_places(np.zeros((1, 1), np.int8), np.ones(1, np.float32), np.zeros(1, np.float32))
