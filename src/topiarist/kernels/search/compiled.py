"""Compiled kernels of search in numba: the same sums as ``reference``, document by document, without temporary arrays.

The order of every sum of a document depends on it and the query alone, so blocks and threads do not change bits.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import DTypeLike
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.jit import inline, jit
from topiarist.kernels.search import MIN_CLASS_SHARE, Postings, QueryVectors, Runs

ROWS_PER_PASS = 1 << 15  # documents to which words are added together; whole stretches
LISTED_DOCUMENTS = 1 << 10  # documents whose words are listed together: the lists stay in a core's cache


@inline
def _two_products(row, first, second):
    """Return ``row·first`` and ``row·second``; all entries are positive, so that no digits cancel."""
    first_product = second_product = row.dtype.type(0)
    for k in range(len(row)):
        first_product += row[k] * first[k]
        second_product += row[k] * second[k]
    return first_product, second_product


@jit
def lexical_lengths(indptr, indices, data, rows, other, squares, out):
    """(F3): write the squared lengths of the documents' lexical parts to ``out``."""
    width = rows.shape[1]
    for d in range(len(rows)):
        row, total = rows[d], 0.0
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
    """(F3): write squared lexical lengths to ``out``, for models with one class per document.

    Most documents have two or three classes.
    """
    classes_of_row, nodes = np.empty(rows.shape[1], np.int64), np.empty(mix.shape[1], np.int64)
    sums, is_listed = np.zeros(mix.shape[1]), np.zeros(mix.shape[1], np.bool_)
    for d in range(len(rows)):
        n_classes = n_nodes = 0
        for c in range(rows.shape[1]):
            if rows[d, c] >= MIN_CLASS_SHARE:
                classes_of_row[n_classes] = c
                n_classes += 1
                for v in range(mix.shape[1]):
                    if mix[c, v] > 0 and not is_listed[v]:
                        is_listed[v] = True
                        nodes[n_nodes] = v
                        n_nodes += 1
        total = 0.0
        for t in range(indptr[d], indptr[d + 1]):
            j, length = indices[t], 0.0
            for place_of_class in range(n_classes):
                c = classes_of_row[place_of_class]
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
            is_listed[nodes[place]] = False


@jit
def _first_from(docs, first, last, number):
    """Return the first place of a rising list with an entry of at least ``number``."""
    while first < last:
        middle = (first + last) // 2
        if docs[middle] < number:
            first = middle + 1
        else:
            last = middle
    return first


@jit
def score_by_kernel(postings, query, rows, topical, scales, start, out):
    """(F1), (F2): add the Fisher kernel of documents from ``start`` on and the query to ``out``."""
    stop = start + len(out)
    if len(query.topics):
        for d in range(len(out)):
            total = topical.dtype.type(0)
            for k in range(len(query.topics)):
                total += topical[d, k] * query.topics[k]
            out[d] += scales[d, 0] * total
    for w in range(len(query.words)):
        last = postings.ends[query.words[w] + 1]
        t = _first_from(postings.docs, postings.ends[query.words[w]], last, start)
        meet, mixture = query.meet[w], query.mixture[w]
        while t < last and postings.docs[t] < stop:
            d = postings.docs[t] - start
            if d >= 0:  # a damaged file can name an earlier document
                share, probability = _two_products(rows[d], meet, mixture)
                if probability > SMALLEST_MIXTURE:
                    out[d] += scales[d, 1] * postings.counts[t] * (share / probability)
            t += 1


@jit
def score_words(postings, words, weights, norms, start, out):
    """(F7): add the BM25 scores of the query words to ``out``, for documents from ``start`` on."""
    stop = start + len(out)
    for w in range(len(words)):
        last = postings.ends[words[w] + 1]
        t = _first_from(postings.docs, postings.ends[words[w]], last, start)
        while t < last and postings.docs[t] < stop:
            d = postings.docs[t] - start
            if d >= 0:  # a damaged file can name an earlier document
                out[d] += weights[w] * postings.counts[t] / (postings.counts[t] + norms[d])
            t += 1


@inline
def _read_words(runs, positions, weights, norms, first, frequencies, scores):
    """Add to ``own`` what words bring to the documents from ``first`` on; return how many places were read.

    Runs are read from where they were ``reached``. ``whole`` has nothing in it before and afterwards.
    """
    zero, stop, r, read = np.float32(0), first + len(scores), 0, 0
    while r < len(runs.words):
        word, last = runs.words[r], r + 1
        while last < len(runs.words) and runs.words[last] == word:
            last += 1
        weight = np.float32(weights[word])
        for run in range(r, last):
            t = positions[run]
            while t < runs.stops[run] and runs.docs[t] < stop:
                d = runs.docs[t] - first
                if d >= 0:  # a damaged file can name an earlier document
                    n = np.float32(runs.times[t])
                    if last == r + 1:  # a single form: no document comes twice
                        scores[d] += weight * n / (n + norms[d])
                    else:
                        frequencies[d] += n
                    read += 1
                t += 1
            if last == r + 1:
                positions[run] = t
        for run in range(r, last if last > r + 1 else r):
            t = positions[run]
            while t < runs.stops[run] and runs.docs[t] < stop:
                d = runs.docs[t] - first
                if d >= 0 and frequencies[d] > zero:
                    scores[d] += weight * frequencies[d] / (frequencies[d] + norms[d])
                    frequencies[d] = zero
                t += 1
            positions[run] = t
        r = last
    return read


@inline
def _find_run_starts(runs, first):
    """Return the place in each run of the first document from ``first`` on."""
    positions = np.empty(len(runs.words), np.int64)
    for r in range(len(runs.words)):
        positions[r] = _first_from(runs.docs, runs.starts[r], runs.stops[r], first)
    return positions


@jit
def add_word_scores(runs, weights, norms, first, base, stretch, out, peaks, sums):
    """Compute ``out = base + BM25`` of words with their forms, and ``peaks`` and ``sums`` of ``out``.

    A block of scores stays in a core's cache for all words.
    """
    positions = _find_run_starts(runs, first)
    frequencies, scores = np.zeros(ROWS_PER_PASS, np.float32), np.empty(ROWS_PER_PASS, np.float32)
    n_positive = read = np.int64(0)
    total = squares = 0.0
    for start in range(0, len(out), ROWS_PER_PASS):
        size = min(ROWS_PER_PASS, len(out) - start)
        scores[:size] = 0
        read += _read_words(
            runs, positions, weights, norms[start : start + size], first + start, frequencies, scores[:size]
        )
        for place in range(start, start + size, stretch):
            peak = np.float32(0)
            for d in range(place, min(place + stretch, start + size)):
                value = base[d] + scores[d - start] if len(base) else scores[d - start]
                out[d] = value
                peak = max(peak, value)
                n_positive += value > 0
                total += np.float64(value)
                squares += np.float64(value) * np.float64(value)
            peaks[place // stretch] = peak
    sums[0], sums[1], sums[2], sums[3] = n_positive, total, squares, read


@jit
def score_half_vectors(halves, direction, out):
    """Write to ``out`` inner products of half-precision rows with a direction.

    Bits of half precision, moved to their places in single precision, are the same number times 2⁻¹¹².
    """
    width = len(direction)
    bits, scaled = np.empty(width, np.uint32), direction * np.float32(2.0**112)
    wide = bits.view(np.float32)
    sign, rest = np.uint32(0x8000), np.uint32(0x7FFF)
    for d in range(len(out)):
        for k in range(width):
            half = np.uint32(halves[d, k])
            bits[k] = ((half & sign) << np.uint32(16)) | ((half & rest) << np.uint32(13))
        total = np.float32(0)
        for k in range(width):
            total += wide[k] * scaled[k]
        out[d] = total


@jit
def score_byte_vectors(places, direction, out):
    """Write to ``out`` inner products of rows of signed bytes with a direction."""
    for d in range(len(out)):
        total = np.float32(0)
        for k in range(len(direction)):
            total += np.float32(places[d, k]) * direction[k]
        out[d] = total


@jit
def count_cooccurrences(ends, docs, words, n_docs, out):
    """Count the documents with both words of each pair; on the diagonal, those with the word.

    The words of a block of documents are listed first.
    """
    word_lists, number = np.empty((LISTED_DOCUMENTS, len(words)), np.int32), np.zeros(LISTED_DOCUMENTS, np.int32)
    positions = ends[words]
    out[:] = 0
    for start in range(0, n_docs, LISTED_DOCUMENTS):
        stop = min(start + LISTED_DOCUMENTS, n_docs)
        for place in range(len(words)):
            t, last = positions[place], ends[words[place] + 1]
            while t < last and docs[t] < stop:
                d = docs[t] - start
                word_lists[d, number[d]] = place
                number[d] += 1
                t += 1
            positions[place] = t
        for d in range(stop - start):
            for a in range(number[d]):
                for b in range(a, number[d]):
                    out[word_lists[d, a], word_lists[d, b]] += 1
            number[d] = 0
    for a in range(len(words)):
        for b in range(a):
            out[a, b] = out[b, a]


@jit
def unpack_rows(byte_rows, out):
    """Write to ``out`` the squares of bytes, each row divided by its sum; an empty row stays zero."""
    for d in range(len(out)):
        total = np.int64(0)
        for k in range(byte_rows.shape[1]):
            total += np.int64(byte_rows[d, k]) * np.int64(byte_rows[d, k])
        share = np.float32(1) / np.float32(total) if total > 0 else np.float32(0)
        for k in range(byte_rows.shape[1]):
            value = np.float32(byte_rows[d, k])
            out[d, k] = value * value * share


@jit
def pick_counts(postings, places, rows, out):
    """Write to ``out`` the counts of words in documents; a negative entry of ``places`` is no word."""
    for w in range(len(places)):
        if places[w] >= 0:
            t, last = postings.ends[places[w]], postings.ends[places[w] + 1]
            for d in range(len(rows)):
                t = _first_from(postings.docs, t, last, rows[d])
                if t < last and postings.docs[t] == rows[d]:
                    out[d, w] = postings.counts[t]


def prepare(dtype: DTypeLike) -> None:
    """Compile these kernels in one precision, for arrays in memory and for read-only arrays of files."""
    ends, docs, words = np.array([0, 1], np.int64), np.array([0], np.int32), np.array([0], np.int64)
    rows, numbers, out, single = np.ones((1, 1), dtype), np.ones(1, dtype), np.zeros(1), np.ones(1, np.float32)
    short, byte, byte_rows = docs.astype(np.uint16), np.ones(1, np.uint8), np.ones((1, 1), np.uint8)
    lexical_lengths(ends.astype(np.int32), docs, numbers, rows, rows.copy(), rows.copy(), out)
    path_lengths(ends.astype(np.int32), docs, numbers, rows, rows.copy(), rows.copy(), rows.copy(), out)
    query, scales = QueryVectors(words, rows, rows.copy(), numbers), np.ones((1, 2))
    selected = Postings(ends, docs, numbers)
    score_by_kernel(selected, query, rows, rows.copy(), scales, 0, out)  # all pairs
    score_words(selected, words, np.ones(1), np.ones(1), 0, out)
    pick_counts(selected, words, words, np.zeros((1, 1)))
    for copy in (np.copy, _copy_read_only):
        postings = Postings(copy(ends), copy(short), copy(byte))
        query_rows = rows if np.dtype(dtype) == np.float32 else copy(rows)  # stored bytes are unpacked
        wide = scales if np.dtype(dtype) == np.float32 else copy(scales)
        score_by_kernel(postings, query, query_rows, query_rows, wide, 0, out)
        score_words(postings, words, np.ones(1), np.ones(1), 0, out)
        pick_counts(postings, words, words, np.zeros((1, 1)))
        runs = Runs(copy(docs), copy(byte), words, words + 1, words)
        add_word_scores(runs, np.ones(1), single, 0, single, 1, single.copy(), single.copy(), np.zeros(4))
        score_half_vectors(copy(np.zeros((1, 1), np.uint16)), single, np.zeros(1, np.float32))
        score_byte_vectors(copy(np.zeros((1, 1), np.int8)), single, np.zeros(1, np.float32))
        unpack_rows(copy(byte_rows), np.zeros((1, 1), np.float32))
    count_cooccurrences(ends, docs, words, 1, np.zeros((1, 1), np.int64))


def _copy_read_only(array):
    """Return a read-only copy, like an array of a file."""
    copied = array.copy()
    copied.setflags(write=False)
    return copied
