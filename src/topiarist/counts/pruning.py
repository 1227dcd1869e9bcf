"""Fewer columns: words merged by their stems, stop words left out, rare and too common words left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Bools, Csr
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import document_frequency, word_totals
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError
from topiarist.text.stems import stems

ROWS = 1 << 16  # documents whose counts are chosen from together


def general_words(vocabulary: Vocabulary, n_docs: int, share: float = 0.5) -> Bools:
    """Return which words occur in more than ``share`` of the documents: the collection's general words."""
    return vocabulary.document_frequency > share * n_docs


def without_stop_words(counts: Csr, vocabulary: Vocabulary, stop_words: Set[str]) -> tuple[Csr, Vocabulary]:
    """Return counts and vocabulary without the given words."""
    keep = np.fromiter((word not in stop_words for word in vocabulary.words), np.bool_, len(vocabulary))
    return select_words(counts, vocabulary, keep)


def merge_stems(counts: Csr, vocabulary: Vocabulary, language: str) -> tuple[Csr, Vocabulary]:
    """Return counts in which words of one stem share a column, named by the most frequent of them."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for column, stem in enumerate(stems(vocabulary.words, language)):
        groups[stem].append(column)
    totals = vocabulary.totals.tolist()
    ranked = (
        tuple(vocabulary.words[c] for c in sorted(group, key=lambda column: (-totals[column], column)))
        for group in groups.values()
    )
    forms = tuple(sorted(ranked))
    moved = {form: column for column, group in enumerate(forms) for form in group}
    new_column = np.fromiter((moved[word] for word in vocabulary.words), np.int32, len(vocabulary))
    parts = (counts.data.copy(), new_column[counts.indices], counts.indptr.copy())
    merged: Csr = csr_array(parts, shape=(counts.shape[0], len(forms)))
    merged.sum_duplicates()
    words = tuple(group[0] for group in forms)
    return merged, vocabulary_of(merged, words, forms, vocabulary.phrases)


def prune(counts: Csr, vocabulary: Vocabulary, settings: CountSettings) -> tuple[Csr, Vocabulary]:
    """Return counts and vocabulary without words of too few or too many documents."""
    return select_words(counts, vocabulary, kept_words(vocabulary, counts.shape[0], settings))


def kept_words(vocabulary: Vocabulary, n_docs: int, settings: CountSettings) -> Bools:
    """Return which words are in neither too few nor too many of so many documents."""
    frequency = vocabulary.document_frequency
    most = settings.max_document_share * n_docs + 1e-9  # a share of k / n means k documents
    keep: Bools = (frequency >= settings.min_documents) & (frequency <= most)
    if settings.max_words is not None and keep.sum() > settings.max_words:
        rank = np.lexsort((np.arange(len(keep)), -vocabulary.totals, -frequency))
        last = rank[keep[rank]][settings.max_words :]
        keep[last] = False
    if not keep.any():
        raise _nothing_left(n_docs, vocabulary, settings)
    return keep


def select_words(counts: Csr, vocabulary: Vocabulary, keep: Bools) -> tuple[Csr, Vocabulary]:
    """Return counts and vocabulary of the columns for which ``keep`` is true."""
    if keep.all():
        return counts, vocabulary
    new_column = np.cumsum(keep, dtype=np.int32) - np.int32(1)
    pieces = [slice(start, start + ROWS) for start in range(0, counts.shape[0], ROWS)]
    number = sum(int(np.count_nonzero(keep[_within(counts, rows).indices])) for rows in pieces)
    data, indices, ends = np.empty(number, counts.data.dtype), np.empty(number, np.int32), counts.indptr.copy()
    first = 0
    for rows in pieces:  # nothing of the size of all counts is made but the result
        here = _within(counts, rows)
        kept = keep[here.indices]
        lengths = np.concatenate([[0], np.cumsum(kept)])[here.ends]
        last = first + int(lengths[-1])
        data[first:last], indices[first:last] = here.data[kept], new_column[here.indices[kept]]
        ends[rows.start : rows.start + len(lengths)] = first + lengths
        first = last
    chosen: Csr = csr_array((data, indices, ends), shape=(counts.shape[0], int(keep.sum())))
    return chosen, vocabulary.select(keep)


class _Rows(NamedTuple):
    """Some rows of counts: their entries, and where those of each row begin and end among them."""

    data: Any
    indices: Any
    ends: Any


def _within(counts: Csr, rows: slice) -> _Rows:
    ends = counts.indptr[rows.start : rows.stop + 1]
    here = slice(int(ends[0]), int(ends[-1]))
    return _Rows(counts.data[here], counts.indices[here], ends - ends[0])


def vocabulary_of(
    counts: Csr,
    words: tuple[str, ...],
    forms: tuple[tuple[str, ...], ...] = (),
    phrases: tuple[str, ...] = (),
) -> Vocabulary:
    """Return the vocabulary of counts whose columns are ``words``."""
    return Vocabulary(words, document_frequency(counts), word_totals(counts).astype(np.int64), forms, phrases)


def _nothing_left(n_docs: int, vocabulary: Vocabulary, settings: CountSettings) -> InputError:
    """Return the error that says why no word is left, and what to change."""
    came = f"{n_docs} document{'s' * (n_docs != 1)} with {len(vocabulary)} different words came"
    if len(vocabulary) == 0:
        what = "no words to count" if n_docs else "no documents to count"
        return InputError(
            f"{what}: {came}",
            hint="check that the texts were read from the right field, keep numbers, or use fewer stop words",
        )
    most = int(vocabulary.document_frequency.max())
    if most < settings.min_documents:
        return InputError(
            f"no word occurs in at least {settings.min_documents} documents; {came}, "
            f"the most frequent word is in {most}",
            hint=f"a smaller least number of documents (--min-documents {max(1, most // 2)}), or more documents",
        )
    return InputError(
        f"no word occurs in at least {settings.min_documents} documents and in at most "
        f"{settings.max_document_share:.0%} of them; {came}",
        hint="a smaller least number of documents (--min-documents 1), a larger greatest share, or more documents",
    )
