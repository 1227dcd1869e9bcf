"""The verbs of similarity in numba: the same sums as ``reference``, one document after the other, without a temporary.

The order of every sum of a document depends on it and the query alone: blocks and threads cannot change a bit.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE, verbs
from topiarist.kernels.jit import inline, jit
from topiarist.kernels.search import LEAST_HELD, Postings, Runs, Wanted

TOGETHER = 1 << 15  # documents to which words are added together; whole stretches
AT_A_TIME = 1 << 10  # documents whose words are listed together: the lists stay in a core's cache


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
def path_lengths(indptr, indices, data, rows, classes, mix, squares, out):
    """(F3): see ``reference.path_lengths``. Most documents are held by two or three classes."""
    held, nodes = np.empty(rows.shape[1], np.int64), np.empty(mix.shape[1], np.int64)
    sums, seen = np.zeros(mix.shape[1]), np.zeros(mix.shape[1], np.bool_)
    for d in range(len(rows)):
        n_held = n_nodes = 0
        for c in range(rows.shape[1]):
            if rows[d, c] >= LEAST_HELD:
                held[n_held] = c
                n_held += 1
                for v in range(mix.shape[1]):
                    if mix[c, v] > 0 and not seen[v]:
                        seen[v] = True
                        nodes[n_nodes] = v
                        n_nodes += 1
        total = 0.0
        for t in range(indptr[d], indptr[d + 1]):
            j, length = indices[t], 0.0
            for at in range(n_held):
                c = held[at]
                if classes[j, c] > SMALLEST_MIXTURE:
                    share = np.float64(rows[d, c]) / np.float64(classes[j, c])
                    for place in range(n_nodes):
                        sums[nodes[place]] += share * mix[c, nodes[place]]
            for place in range(n_nodes):
                v = nodes[place]
                length += sums[v] * sums[v] * squares[j, v]
                sums[v] = 0.0
            total += np.float64(data[t]) * np.float64(data[t]) * length
        out[d] = total
        for place in range(n_nodes):
            seen[nodes[place]] = False


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


@inline
def _read_words(runs, reached, weights, norms, first, whole, own):
    """Add to ``own`` what words bring to the documents from ``first`` on; return how many places were read.

    Runs are read from where they were ``reached``. ``whole`` has nothing in it before and afterwards.
    """
    zero, stop, r, read = np.float32(0), first + len(own), 0, 0
    while r < len(runs.words):
        word, last = runs.words[r], r + 1
        while last < len(runs.words) and runs.words[last] == word:
            last += 1
        weight = np.float32(weights[word])
        for run in range(r, last):
            t = reached[run]
            while t < runs.stops[run] and runs.docs[t] < stop:
                d = runs.docs[t] - first
                if d >= 0:  # a damaged file may name a document before these
                    n = np.float32(runs.times[t])
                    if last == r + 1:  # a single form: no document comes twice
                        own[d] += weight * n / (n + norms[d])
                    else:
                        whole[d] += n
                    read += 1
                t += 1
            if last == r + 1:
                reached[run] = t
        for run in range(r, last if last > r + 1 else r):
            t = reached[run]
            while t < runs.stops[run] and runs.docs[t] < stop:
                d = runs.docs[t] - first
                if d >= 0 and whole[d] > zero:
                    own[d] += weight * whole[d] / (whole[d] + norms[d])
                    whole[d] = zero
                t += 1
            reached[run] = t
        r = last
    return read


@inline
def _begun(runs, first):
    """Where each run reaches the documents from ``first`` on."""
    reached = np.empty(len(runs.words), np.int64)
    for r in range(len(runs.words)):
        reached[r] = _first_from(runs.docs, runs.starts[r], runs.stops[r], first)
    return reached


@jit
def add_words(runs, weights, norms, first, before, stretch, out, peaks, sums):
    """See ``reference.add_words``. Some documents at a time: what is added to stays in a core's cache for all words."""
    reached = _begun(runs, first)
    whole, own = np.zeros(TOGETHER, np.float32), np.empty(TOGETHER, np.float32)
    above = read = np.int64(0)
    total = squares = 0.0
    for start in range(0, len(out), TOGETHER):
        size = min(TOGETHER, len(out) - start)
        own[:size] = 0
        read += _read_words(runs, reached, weights, norms[start : start + size], first + start, whole, own[:size])
        for place in range(start, start + size, stretch):
            peak = np.float32(0)
            for d in range(place, min(place + stretch, start + size)):
                value = before[d] + own[d - start] if len(before) else own[d - start]
                out[d] = value
                peak = max(peak, value)
                above += value > 0
                total += np.float64(value)
                squares += np.float64(value) * np.float64(value)
            peaks[place // stretch] = peak
    sums[0], sums[1], sums[2], sums[3] = above, total, squares, read


@jit
def hold_words(runs, weights, first, allowed, least, found):
    """See ``reference.hold_words``."""
    reached, norms = _begun(runs, first), np.zeros(TOGETHER, np.float32)
    whole, own = np.zeros(TOGETHER, np.float32), np.empty(TOGETHER, np.float32)
    number, most, who = np.int64(0), np.float32(-1), np.int64(-1)
    for start in range(0, len(allowed), TOGETHER):
        size = min(TOGETHER, len(allowed) - start)
        own[:size] = 0
        _read_words(runs, reached, weights, norms[:size], first + start, whole, own[:size])
        for d in range(size):
            if (own[d] > most or own[d] >= least) and allowed[start + d]:
                number += own[d] >= least
                if own[d] > most:
                    most, who = own[d], first + start + d
    found[0], found[1], found[2] = number, most, who


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


@jit
def meetings(ends, docs, words, n_docs, out):
    """See ``reference.meetings``. Of some documents at a time it is listed which of the words they hold."""
    held, number = np.empty((AT_A_TIME, len(words)), np.int32), np.zeros(AT_A_TIME, np.int32)
    reached = ends[words]
    out[:] = 0
    for start in range(0, n_docs, AT_A_TIME):
        stop = min(start + AT_A_TIME, n_docs)
        for place in range(len(words)):
            t, last = reached[place], ends[words[place] + 1]
            while t < last and docs[t] < stop:
                d = docs[t] - start
                held[d, number[d]] = place
                number[d] += 1
                t += 1
            reached[place] = t
        for d in range(stop - start):
            for a in range(number[d]):
                for b in range(a, number[d]):
                    out[held[d, a], held[d, b]] += 1
            number[d] = 0
    for a in range(len(words)):
        for b in range(a):
            out[a, b] = out[b, a]


@jit
def open_rows(packed, out):
    """See ``reference.open_rows``."""
    for d in range(len(out)):
        total = np.int64(0)
        for k in range(packed.shape[1]):
            total += np.int64(packed[d, k]) * np.int64(packed[d, k])
        share = np.float32(1) / np.float32(total) if total > 0 else np.float32(0)
        for k in range(packed.shape[1]):
            value = np.float32(packed[d, k])
            out[d, k] = value * value * share


@jit
def pick_counts(postings, places, rows, out):
    """See ``reference.pick_counts``."""
    for w in range(len(places)):
        if places[w] >= 0:
            t, last = postings.ends[places[w]], postings.ends[places[w] + 1]
            for d in range(len(rows)):
                t = _first_from(postings.docs, t, last, rows[d])
                if t < last and postings.docs[t] == rows[d]:
                    out[d, w] = postings.counts[t]


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


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision: for arrays in memory, and for those of files, which nobody may write."""
    ends, docs, words = np.array([0, 1], np.int64), np.array([0], np.int32), np.array([0], np.int64)
    rows, numbers, out, single = np.ones((1, 1), dtype), np.ones(1, dtype), np.zeros(1), np.ones(1, np.float32)
    few, byte, packed = docs.astype(np.uint16), np.ones(1, np.uint8), np.ones((1, 1), np.uint8)
    lexical_lengths(ends.astype(np.int32), docs, numbers, rows, rows.copy(), rows.copy(), out)
    path_lengths(ends.astype(np.int32), docs, numbers, rows, rows.copy(), rows.copy(), rows.copy(), out)
    wanted, scales = Wanted(words, rows, rows.copy(), numbers), np.ones((1, 2))
    gathered = Postings(ends, docs, numbers)
    score_meaning(gathered, wanted, rows, rows.copy(), scales, 0, out)  # all pairs
    score_words(gathered, words, np.ones(1), np.ones(1), 0, out)
    pick_counts(gathered, words, words, np.zeros((1, 1)))
    for kept in (np.copy, _of_file):
        postings = Postings(kept(ends), kept(few), kept(byte))
        own = rows if np.dtype(dtype) == np.float32 else kept(rows)  # what lies in bytes is opened
        wide = scales if np.dtype(dtype) == np.float32 else kept(scales)
        score_meaning(postings, wanted, own, own, wide, 0, out)
        score_words(postings, words, np.ones(1), np.ones(1), 0, out)
        pick_counts(postings, words, words, np.zeros((1, 1)))
        runs = Runs(kept(docs), kept(byte), words, words + 1, words)
        add_words(runs, np.ones(1), single, 0, single, 1, single.copy(), single.copy(), np.zeros(4))
        hold_words(runs, np.ones(1), 0, np.ones(1, np.bool_), 1.0, np.zeros(3))
        score_vectors(kept(np.zeros((1, 1), np.uint16)), single, np.zeros(1, np.float32))
        score_places(kept(np.zeros((1, 1), np.int8)), single, np.zeros(1, np.float32))
        open_rows(kept(packed), np.zeros((1, 1), np.float32))
    meetings(ends, docs, words, 1, np.zeros((1, 1), np.int64))


def _of_file(array):
    """A copy that cannot be written, as an array of a file."""
    copied = array.copy()
    copied.setflags(write=False)
    return copied
