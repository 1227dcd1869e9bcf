"""A chunk of texts as numbers: what one worker makes, and how chunks are put together.

Each chunk numbers its own words. Because a chunk sorts its words, and the merged vocabulary is sorted too,
renumbering keeps every row in order: merging is a look-up, and does not depend on how the texts were cut.
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
from topiarist.text.tokens import Tokenizer


class TokenChunk(NamedTuple):
    """The tokens of some texts, in order, as the numbers of their words."""

    numbers: dict[str, int]  # of the words, in the order in which they first occurred
    tokens: Integers
    lengths: Ints  # tokens of each text


class CountChunk(NamedTuple):
    """The counts of some texts over ``words``, which are sorted; rows are sorted as well."""

    words: list[str]
    lengths: Ints  # different words of each text
    indices: Integers
    data: Integers


def tokenise(texts: Iterable[str], tokenizer: Tokenizer) -> TokenChunk:
    """Return the tokens of ``texts``, those that the tokeniser does not keep included."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new word gets the next number
    number, pieces, pack = numbers.__getitem__, tokenizer.pieces, struct.pack
    packed: list[bytes] = []
    lengths: list[int] = []
    for text in texts:
        found = pieces(text)
        packed.append(pack(f"{len(found)}i", *map(number, found)))
        lengths.append(len(found))
    tokens = np.frombuffer(b"".join(packed), dtype=np.intc).astype(np.int32, copy=False)
    return TokenChunk(dict(numbers), tokens, np.array(lengths, dtype=np.int64))


def tally(chunk: TokenChunk, keeps: Callable[[str], bool]) -> CountChunk:
    """Return the counts of a chunk over its words that are kept."""
    words = sorted(filter(keeps, chunk.numbers))
    order = np.fromiter(map(chunk.numbers.__getitem__, words), np.int64, len(words))
    new_number = np.full(len(chunk.numbers), len(words), dtype=np.int32)  # all others share one last column
    new_number[order] = np.arange(len(words), dtype=np.int32)
    ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
    matrix: Csr = csr_array(
        (np.ones(len(chunk.tokens), dtype=np.int32), new_number[chunk.tokens], _fitting(ends)),
        shape=(len(chunk.lengths), len(words) + 1),
    )
    matrix = matrix.tocsc().tocsr()  # sorts the rows in linear time
    matrix.sum_duplicates()
    return _without_last(matrix, words)


def count_texts(texts: Sequence[str], tokenizer: Tokenizer) -> CountChunk:
    """Return the counts of ``texts``: the whole work of one worker."""
    return tally(tokenise(texts, tokenizer), tokenizer.keeps)


def merged(chunks: list[CountChunk]) -> tuple[Csr, tuple[str, ...]]:
    """Return all chunks as one matrix over the sorted union of their words; the list is empty then.

    A chunk is let go as soon as it has its place: there is never more than the matrix and what is not in it yet.
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
        here = slice(start, start + len(chunk.data))
        np.take(
            np.fromiter(map(columns.get, chunk.words), np.int32, len(chunk.words)), chunk.indices, out=indices[here]
        )
        data[here] = chunk.data
        start = here.stop
    return csr_array((data, indices, _fitting(ends)), shape=(len(lengths), len(words))), words


def stacked(chunks: Iterable[CountChunk], columns: Mapping[str, int], n_columns: int) -> Csr:
    """Return all chunks as one matrix with the given column of each word; other words are left out."""
    indices: list[Integers] = [np.empty(0, np.int32)]
    data: list[Integers] = [np.empty(0, np.int32)]
    lengths = [np.empty(0, np.int64)]
    for chunk in chunks:
        new = np.fromiter(map(columns.get, chunk.words, repeat(-1)), np.int32, len(chunk.words))
        moved = new[chunk.indices]
        rows = chunk.lengths
        if (new < 0).any():
            known = moved >= 0
            rows = np.diff(np.concatenate([[0], np.cumsum(known)])[np.concatenate([[0], np.cumsum(rows)])])
            moved, chunk = moved[known], chunk._replace(data=chunk.data[known])
        indices.append(moved)
        data.append(chunk.data)
        lengths.append(rows)
    return _assembled(data, indices, lengths, n_columns)


def _assembled(data: Sequence[Integers], indices: Sequence[Integers], lengths: Sequence[Ints], n_columns: int) -> Csr:
    """Return one matrix from the parts of several, laid one below the other."""
    ends = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    shape = (len(ends) - 1, n_columns)
    return csr_array((np.concatenate(data), np.concatenate(indices), _fitting(ends)), shape=shape)


def _without_last(matrix: Csr, words: list[str]) -> CountChunk:
    """Return the matrix without its last column, in parts."""
    known = matrix.indices < len(words)
    lost = np.diff(matrix.indptr) - np.diff(np.concatenate([[0], np.cumsum(known)])[matrix.indptr])
    lengths = (np.diff(matrix.indptr) - lost).astype(np.int64)
    return CountChunk(words, lengths, matrix.indices[known].astype(np.int32), matrix.data[known])


def _fitting(ends: Ints) -> Integers | Ints:
    """Return row ends in 32 bits where they fit."""
    return ends.astype(np.int32) if ends[-1] <= np.iinfo(np.int32).max else ends
