"""Counts of a chunk of texts, as computed by one worker, and the merging of chunks.

Each chunk numbers its own words. Words are sorted in a chunk and in the merged vocabulary, so renumbering keeps every
row in order. The merged counts do not depend on the sizes of the chunks.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Integers, Ints
from topiarist.counts.validation import to_smallest_type
from topiarist.text.tokens import Tokenizer


class TokenChunk(NamedTuple):
    """Tokens of several texts, in order, as numbers of words."""

    numbers: dict[str, int]  # of the words, in the order in which they first occurred
    tokens: Integers
    lengths: Ints  # tokens of each text


class CountChunk(NamedTuple):
    """Counts of several texts over sorted words, in sorted rows."""

    words: list[str]
    lengths: Ints  # different words of each text
    indices: Integers
    data: Integers


def tokenise(texts: Iterable[str], tokenizer: Tokenizer) -> TokenChunk:
    """Return the tokens of ``texts``, including candidates that the tokeniser rejects as words."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new word gets the next number
    number, pieces, pack = numbers.__getitem__, tokenizer.split_candidates, struct.pack
    number_bytes: list[bytes] = []
    lengths: list[int] = []
    for text in texts:
        word_list = pieces(text)
        number_bytes.append(pack(f"{len(word_list)}i", *map(number, word_list)))
        lengths.append(len(word_list))
    tokens = np.frombuffer(b"".join(number_bytes), dtype=np.intc).astype(np.int32, copy=False)
    return TokenChunk(dict(numbers), tokens, np.array(lengths, dtype=np.int64))


def tally(chunk: TokenChunk, keeps: Callable[[str], bool]) -> CountChunk:
    """Return the counts of a chunk over the words that ``keeps`` accepts."""
    words = sorted(filter(keeps, chunk.numbers))
    order = np.fromiter(map(chunk.numbers.__getitem__, words), np.int64, len(words))
    new_number = np.full(len(chunk.numbers), len(words), dtype=np.int32)  # all others share one last column
    new_number[order] = np.arange(len(words), dtype=np.int32)
    ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
    matrix: Csr = csr_array(
        (np.ones(len(chunk.tokens), dtype=np.int32), new_number[chunk.tokens], to_smallest_type(ends)),
        shape=(len(chunk.lengths), len(words) + 1),
    )
    matrix = matrix.tocsc().tocsr()  # sorts the rows in linear time
    matrix.sum_duplicates()
    return _drop_last_column(matrix, words)


def count_texts(texts: Sequence[str], tokenizer: Tokenizer) -> CountChunk:
    """Return the counts of ``texts``, the task of one worker."""
    return tally(tokenise(texts, tokenizer), tokenizer.is_word)


def merge_chunks(chunks: list[CountChunk]) -> tuple[Csr, tuple[str, ...]]:
    """Merge all chunks to one matrix over the sorted union of their words, and empty the list.

    Each chunk is freed when it is copied, so memory holds the matrix and the remaining chunks only.
    """
    words = tuple(sorted(set().union(*(chunk.words for chunk in chunks))))
    columns = {word: column for column, word in enumerate(words)}
    lengths = np.concatenate([np.empty(0, np.int64), *(chunk.lengths for chunk in chunks)])
    ends = np.concatenate([[0], np.cumsum(lengths)])
    indices, data = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int32)
    chunks.reverse()
    start = 0
    while chunks:
        chunk = chunks.pop()
        span = slice(start, start + len(chunk.data))
        np.take(
            np.fromiter(map(columns.get, chunk.words), np.int32, len(chunk.words)), chunk.indices, out=indices[span]
        )
        data[span] = chunk.data
        start = span.stop
    return csr_array((data, indices, to_smallest_type(ends)), shape=(len(lengths), len(words))), words


def stack_chunks(chunks: Iterable[CountChunk], columns: Mapping[str, int], n_columns: int) -> Csr:
    """Stack all chunks to one matrix with the column of each word in ``columns``; other words are dropped."""
    indices: list[Integers] = [np.empty(0, np.int32)]
    data: list[Integers] = [np.empty(0, np.int32)]
    lengths = [np.empty(0, np.int64)]
    for chunk in chunks:
        new = np.fromiter(map(columns.get, chunk.words, repeat(-1)), np.int32, len(chunk.words))
        moved = new[chunk.indices]
        rows = chunk.lengths
        if (new < 0).any():
            is_known = moved >= 0
            rows = np.diff(np.concatenate([[0], np.cumsum(is_known)])[np.concatenate([[0], np.cumsum(rows)])])
            moved, chunk = moved[is_known], chunk._replace(data=chunk.data[is_known])
        indices.append(moved)
        data.append(chunk.data)
        lengths.append(rows)
    ends = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    shape = (len(ends) - 1, n_columns)
    return csr_array((np.concatenate(data), np.concatenate(indices), to_smallest_type(ends)), shape=shape)


def _drop_last_column(matrix: Csr, words: list[str]) -> CountChunk:
    """Split the matrix without its last column into its arrays."""
    is_word = matrix.indices < len(words)
    n_lost = np.diff(matrix.indptr) - np.diff(np.concatenate([[0], np.cumsum(is_word)])[matrix.indptr])
    lengths = (np.diff(matrix.indptr) - n_lost).astype(np.int64)
    return CountChunk(words, lengths, matrix.indices[is_word].astype(np.int32), matrix.data[is_word])
