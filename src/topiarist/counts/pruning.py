"""Reduction of columns: words merged by stems, and stop words, rare words and too frequent words removed."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Bools, Csr, DTypeLike, Integers, Ints
from topiarist.counts.scratch import IN_MEMORY, ScratchSpace, iterate_arrays, release_pages, split_entries
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import compute_document_frequency, sum_columns, to_smallest_type
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError
from topiarist.text.stems import find_stems


def general_words(vocabulary: Vocabulary, n_docs: int, share: float = 0.5) -> Bools:
    """Return the mask of words in more than ``share`` of the documents, the general words."""
    return vocabulary.document_frequency > share * n_docs


def merge_stems(
    counts: Csr, vocabulary: Vocabulary, language: str, scratch: ScratchSpace = IN_MEMORY
) -> tuple[Csr, Vocabulary]:
    """Merge words with one stem into a column named by the most frequent word."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for column, stem in enumerate(find_stems(vocabulary.words, language)):
        groups[stem].append(column)
    totals = vocabulary.totals.tolist()
    ranked = (
        tuple(vocabulary.words[c] for c in sorted(group, key=lambda column: (-totals[column], column)))
        for group in groups.values()
    )
    forms = tuple(sorted(ranked))
    new_column = {form: column for column, group in enumerate(forms) for form in group}
    columns = np.fromiter((new_column[word] for word in vocabulary.words), np.int32, len(vocabulary))
    merged = move_columns(counts, columns, len(forms), scratch, meeting=True)
    words = tuple(group[0] for group in forms)
    return merged, build_vocabulary(merged, words, forms, vocabulary.phrases)


def prune(
    counts: Csr, vocabulary: Vocabulary, settings: CountSettings, scratch: ScratchSpace = IN_MEMORY
) -> tuple[Csr, Vocabulary]:
    """Remove words in too few or too many documents from counts and vocabulary."""
    return select_words(counts, vocabulary, find_kept_words(vocabulary, counts.shape[0], settings), scratch)


def find_kept_words(vocabulary: Vocabulary, n_docs: int, settings: CountSettings) -> Bools:
    """Mark the words in neither too few nor too many documents. Raise InputError if none remains."""
    frequency = vocabulary.document_frequency
    max_documents = settings.max_document_share * n_docs + 1e-9  # a share of k / n means k documents
    keep: Bools = (frequency >= settings.min_document_count(n_docs)) & (frequency <= max_documents)
    if settings.max_words is not None and keep.sum() > settings.max_words:
        rank = np.lexsort((np.arange(len(keep)), -vocabulary.totals, -frequency))
        last = rank[keep[rank]][settings.max_words :]
        keep[last] = False
    if not keep.any():
        raise _create_empty_error(n_docs, vocabulary, settings)
    return keep


def select_words(
    counts: Csr, vocabulary: Vocabulary, keep: Bools, scratch: ScratchSpace = IN_MEMORY
) -> tuple[Csr, Vocabulary]:
    """Return counts and vocabulary of the columns in the mask ``keep``."""
    if keep.all():
        return counts, vocabulary
    return move_columns(counts, number_kept_columns(keep), int(keep.sum()), scratch), vocabulary.select(keep)


class Entries(NamedTuple):
    """Entries of a matrix by rows, in any order, with the attributes of a CSR matrix."""

    data: Integers
    indices: Integers
    indptr: Ints


def number_kept_columns(keep: Bools) -> Integers:
    """Number the kept columns; −1 for the others."""
    return np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)


def move_columns(
    counts: Csr | Entries,
    columns: Integers,
    n_columns: int,
    scratch: ScratchSpace = IN_MEMORY,
    *,
    meeting: bool = False,
    dtype: DTypeLike | None = None,
) -> Csr:
    """Return counts with each column moved to ``columns`` (−1 drops it), in memory of the result and one run.

    Moved columns must keep rows sorted. With ``meeting``, several columns can have the same target: rows are then
    sorted and equal columns added.
    """
    ends, number = counts.indptr.astype(np.int64), len(counts.data)
    if not meeting and (columns < 0).any():
        number = sum(
            int(np.count_nonzero(columns[run_columns] >= 0)) for (run_columns,) in iterate_arrays(counts.indices)
        )
    data, indices = scratch.empty(number, dtype or counts.data.dtype), scratch.empty(number, np.int32)
    first, new_ends = 0, np.zeros(len(ends), np.int64)
    for rows, entries in split_entries(ends):
        new, values = columns[counts.indices[entries]], counts.data[entries]
        is_kept = new >= 0
        lengths = np.concatenate([[0], np.cumsum(is_kept)])[ends[rows.start : rows.stop + 1] - entries.start]
        new, values = new[is_kept], values[is_kept]
        if meeting:
            part: Csr = csr_array((values, new, lengths), shape=(len(lengths) - 1, n_columns))
            part.sum_duplicates()
            new, values, lengths = part.indices, part.data, part.indptr
        span = slice(first, first + len(new))
        data[span], indices[span] = values, new
        new_ends[rows.start + 1 : rows.stop + 1] = first + lengths[1:]
        first = span.stop
        release_pages(counts.data, counts.indices, data, indices)
    matrix: Csr = csr_array(
        (data[:first], indices[:first], to_smallest_type(new_ends)), shape=(len(ends) - 1, n_columns)
    )
    return matrix


def build_vocabulary(
    counts: Csr,
    words: tuple[str, ...],
    forms: tuple[tuple[str, ...], ...] = (),
    phrases: tuple[str, ...] = (),
) -> Vocabulary:
    """Return the vocabulary of counts whose columns are ``words``."""
    return Vocabulary(words, compute_document_frequency(counts), sum_columns(counts).astype(np.int64), forms, phrases)


def _create_empty_error(n_docs: int, vocabulary: Vocabulary, settings: CountSettings) -> InputError:
    """Create the error for documents without any word that passes the settings."""
    input_size = f"{n_docs} document{'s' * (n_docs != 1)} with {len(vocabulary)} different words"
    if len(vocabulary) == 0:
        fault = "no words to count" if n_docs else "no documents to count"
        return InputError(
            f"{fault}: {input_size}",
            hint="Check the column of the texts, keep numbers, or use fewer stop words.",
        )
    max_frequency = int(vocabulary.document_frequency.max())
    fewest = settings.min_document_count(n_docs)
    if max_frequency < fewest:
        return InputError(
            f"no word occurs in at least {fewest} documents; {input_size}, the most frequent word is in {max_frequency}",
            hint=f"Set min_documents to {max(1, max_frequency // 2)}, or add documents.",
        )
    return InputError(
        f"no word occurs in at least {fewest} documents and in at most "
        f"{settings.max_document_share:.0%} of all; {input_size}",
        hint="Set min_documents to 1, increase max_document_share, or add documents.",
    )
