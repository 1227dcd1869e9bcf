"""Fewer columns: words merged by their stems, stop words left out, rare and too common words left out."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Bools, Csr, DTypeLike, Integers, Ints
from topiarist.counts.room import IN_MEMORY, Room, entry_runs, let_go, pieces
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import column_totals, document_frequency
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError
from topiarist.text.stems import stems


def general_words(vocabulary: Vocabulary, n_docs: int, share: float = 0.5) -> Bools:
    """Return which words occur in more than ``share`` of the documents: the collection's general words."""
    return vocabulary.document_frequency > share * n_docs


def merge_stems(counts: Csr, vocabulary: Vocabulary, language: str, room: Room = IN_MEMORY) -> tuple[Csr, Vocabulary]:
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
    new_column = {form: column for column, group in enumerate(forms) for form in group}
    columns = np.fromiter((new_column[word] for word in vocabulary.words), np.int32, len(vocabulary))
    merged = moved(counts, columns, len(forms), room, meeting=True)
    words = tuple(group[0] for group in forms)
    return merged, vocabulary_of(merged, words, forms, vocabulary.phrases)


def prune(
    counts: Csr, vocabulary: Vocabulary, settings: CountSettings, room: Room = IN_MEMORY
) -> tuple[Csr, Vocabulary]:
    """Return counts and vocabulary without words of too few or too many documents."""
    return select_words(counts, vocabulary, kept_words(vocabulary, counts.shape[0], settings), room)


def kept_words(vocabulary: Vocabulary, n_docs: int, settings: CountSettings) -> Bools:
    """Return which words are in neither too few nor too many of so many documents."""
    frequency = vocabulary.document_frequency
    most = settings.max_document_share * n_docs + 1e-9  # a share of k / n means k documents
    keep: Bools = (frequency >= settings.fewest(n_docs)) & (frequency <= most)
    if settings.max_words is not None and keep.sum() > settings.max_words:
        rank = np.lexsort((np.arange(len(keep)), -vocabulary.totals, -frequency))
        last = rank[keep[rank]][settings.max_words :]
        keep[last] = False
    if not keep.any():
        raise _nothing_left(n_docs, vocabulary, settings)
    return keep


def select_words(counts: Csr, vocabulary: Vocabulary, keep: Bools, room: Room = IN_MEMORY) -> tuple[Csr, Vocabulary]:
    """Return counts and vocabulary of the columns for which ``keep`` is true."""
    if keep.all():
        return counts, vocabulary
    return moved(counts, places_of(keep), int(keep.sum()), room), vocabulary.select(keep)


class Entries(NamedTuple):
    """The entries of a matrix by rows, as a matrix calls them, in whatever order they are."""

    data: Integers
    indices: Integers
    indptr: Ints


def places_of(keep: Bools) -> Integers:
    """Return the place of each column among those that are kept; -1 for the others."""
    return np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)


def moved(
    counts: Csr | Entries,
    columns: Integers,
    n_columns: int,
    room: Room = IN_MEMORY,
    *,
    meeting: bool = False,
    dtype: DTypeLike | None = None,
) -> Csr:
    """Return counts with every column at another place, -1 leaving it out, run by run: no more is made than the result.

    Rows must be in order at their new places; where columns are ``meeting`` they are put in order and added up.
    """
    ends, number = counts.indptr.astype(np.int64), len(counts.data)
    if not meeting and (columns < 0).any():
        number = sum(int(np.count_nonzero(columns[some] >= 0)) for (some,) in pieces(counts.indices))
    data, indices = room.empty(number, dtype or counts.data.dtype), room.empty(number, np.int32)
    first, new_ends = 0, np.zeros(len(ends), np.int64)
    for rows, own in entry_runs(ends):
        new, values = columns[counts.indices[own]], counts.data[own]
        kept = new >= 0
        lengths = np.concatenate([[0], np.cumsum(kept)])[ends[rows.start : rows.stop + 1] - own.start]
        new, values = new[kept], values[kept]
        if meeting:
            part: Csr = csr_array((values, new, lengths), shape=(len(lengths) - 1, n_columns))
            part.sum_duplicates()
            new, values, lengths = part.indices, part.data, part.indptr
        here = slice(first, first + len(new))
        data[here], indices[here] = values, new
        new_ends[rows.start + 1 : rows.stop + 1] = first + lengths[1:]
        first = here.stop
        let_go(counts.data, counts.indices, data, indices)
    chosen: Csr = csr_array((data[:first], indices[:first], _fitting(new_ends)), shape=(len(ends) - 1, n_columns))
    return chosen


def _fitting(ends: Ints) -> Integers:
    """Return row ends in 32 bits where they fit."""
    return ends.astype(np.int32) if ends[-1] <= np.iinfo(np.int32).max else ends


def vocabulary_of(
    counts: Csr,
    words: tuple[str, ...],
    forms: tuple[tuple[str, ...], ...] = (),
    phrases: tuple[str, ...] = (),
) -> Vocabulary:
    """Return the vocabulary of counts whose columns are ``words``."""
    return Vocabulary(words, document_frequency(counts), column_totals(counts).astype(np.int64), forms, phrases)


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
    fewest = settings.fewest(n_docs)
    if most < fewest:
        return InputError(
            f"no word occurs in at least {fewest} documents; {came}, the most frequent word is in {most}",
            hint=f"a smaller least number of documents (--min-documents {max(1, most // 2)}), or more documents",
        )
    return InputError(
        f"no word occurs in at least {fewest} documents and in at most "
        f"{settings.max_document_share:.0%} of them; {came}",
        hint="a smaller least number of documents (--min-documents 1), a larger greatest share, or more documents",
    )
