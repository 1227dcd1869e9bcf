"""Duplicates and near-duplicates among texts, in time and memory linear in the texts.

A text is the set of its hashed pairs of adjacent words. Its signature are ``N_HASHES`` minima of that set under
random permutations (MinHash, Broder 1997). Signatures agree in the Jaccard share of their sets. Bands of ``ROWS``
minima are compared by sorting, and texts without an equal band are never compared. Remaining pairs are verified with
their texts: enough words and pairs of words of the longer text must occur in the other. A text with 15 of 100 words
changed is a duplicate. A reply that quotes a message is not.

The duplicates do not depend on chunks, processes or threads.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from topiarist.arrays import Array, Bools, Doubles, Ints
from topiarist.counts.chunks import TokenChunk, tokenise
from topiarist.counts.scratch import release_pages, split_range
from topiarist.counts.workers import split_texts
from topiarist.text.tokens import Tokenizer

N_BANDS, ROWS = 32, 3
N_HASHES = N_BANDS * ROWS
MIN_SHARED_WORDS, MIN_SHARED_PAIRS = (
    0.79,
    0.6,
)  # shares of the words and pairs of the longer text
MIN_WORDS_OF_FIRST = 0.75  # share of words in common with the original of the group
MIN_EQUAL_SHARE = 0.3  # of equal minima; pairs with fewer are not verified
MAX_NEAR_SHARE = 0.999  # of words in common of texts that are not equal
MIN_PAIRS = 20  # distinct pairs of words; of shorter texts only exact duplicates are found
MAX_ALL_PAIRS = 8  # texts with an equal band; of more, each is compared with the first and the previous
BLOCK = 1 << 12  # pairs whose minima are compared together
CHARACTERS = 4_000_000  # characters of texts that are hashed together
_EMPTY = np.uint32(0xFFFFFFFF)
_FACTORS, _SHIFTS = (np.random.default_rng(1997).integers(0, 1 << 32, (2, N_HASHES), np.uint64) | 1).astype(np.uint32)


@dataclass(frozen=True)
class Duplicates:
    """Duplicates by row, in order: each with its original and the share of words in both."""

    rows: Ints
    originals: Ints
    shared: Doubles  # share of the words of the longer text; 1: the same words in the same order

    @classmethod
    def none(cls) -> Duplicates:
        """Return an empty set of duplicates."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_originals(self) -> int:
        """Number of documents with duplicates."""
        return len(np.unique(self.originals))

    @cached_property
    def groups(self) -> dict[int, list[int]]:
        """Duplicates of each original."""
        rows_by_original: dict[int, list[int]] = {}
        for row, original in zip(self.rows.tolist(), self.originals.tolist(), strict=True):
            rows_by_original.setdefault(original, []).append(row)
        return rows_by_original

    def find_originals(self, n_docs: int) -> Ints:
        """Return the original of each document: mostly the document itself."""
        originals: Ints = np.arange(n_docs, dtype=np.int64)
        is_row = self.rows < n_docs
        originals[self.rows[is_row]] = self.originals[is_row]
        return originals

    def find_first_documents(self, n_docs: int) -> Bools:
        """Return which documents are not duplicates."""
        is_original: Bools = np.ones(n_docs, np.bool_)
        is_original[self.rows[self.rows < n_docs]] = False
        return is_original


def hash_word_pairs(chunk: TokenChunk) -> Array:
    """Return the hash of each word with the next word of its text; the last word is hashed alone."""
    return _hash_pairs(_hash_words(chunk), chunk.lengths)


def _hash_words(chunk: TokenChunk) -> Array:
    """Return the hash of each word, in the order of the texts."""
    hashes: Array = np.fromiter(map(_hash_word, chunk.numbers), np.uint64, len(chunk.numbers))[chunk.tokens]
    return hashes


def _hash_pairs(words: Array, lengths: Array) -> Array:
    """Return a hash of each word with the next; the last word of each text is hashed alone."""
    next_words = np.concatenate([words[1:], np.zeros(min(len(words), 1), np.uint64)])
    next_words[np.cumsum(lengths)[lengths > 0] - 1] = 0
    mixed = words * np.uint64(0x9E3779B97F4A7C15) ^ (next_words + np.uint64(0x7F4A7C15)) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    hashes: Array = (mixed >> np.uint64(32)).astype(np.uint32)
    return hashes


def compute_signatures(chunk: TokenChunk) -> Array:
    """Return the signatures (texts × ``N_HASHES``); texts without words have the largest numbers."""
    signatures: Array = np.full((len(chunk.lengths), N_HASHES), _EMPTY)
    has_tokens = chunk.lengths > 0
    if has_tokens.any():
        values, starts = hash_word_pairs(chunk), (np.cumsum(chunk.lengths) - chunk.lengths)[has_tokens]
        minima = np.empty((N_HASHES, len(starts)), np.uint32)
        for number, (factor, shift) in enumerate(zip(_FACTORS, _SHIFTS, strict=True)):
            np.minimum.reduceat(values * factor ^ shift, starts, out=minima[number])
        signatures[has_tokens] = minima.T
    return signatures


def compute_text_signatures(texts: Iterable[str]) -> Array:
    """Return the signatures of texts."""
    parts = [compute_signatures(tokenise(batch, Tokenizer())) for batch in split_texts(texts, CHARACTERS)]
    return np.concatenate([np.empty((0, N_HASHES), np.uint32), *parts])


def find_duplicates(minima: Array, texts_of: Callable[[Sequence[int]], Sequence[str]], first: int = 0) -> Duplicates:
    """Return the duplicates among texts with these signatures, from the row ``first`` on.

    ``texts_of`` returns the texts of given rows in order. Texts with enough common words form a group, if they also
    share enough words with the first text of the group, the original.
    """
    pairs = find_candidate_pairs(minima, first)
    if not len(pairs):
        return Duplicates.none()
    compared_rows = np.unique(pairs).tolist()
    sets = dict(zip(compared_rows, _iter_compared_texts(texts_of, compared_rows), strict=True))
    parent: dict[int, int] = {}
    shared: dict[int, float] = {}

    def top(row: int) -> int:
        while row in parent:
            row = parent[row]
        return row

    for first_row, second_row in pairs.tolist():
        low, high = sorted((top(first_row), top(second_row)))
        if low == high or (common := compute_shared_words(sets[first_row], sets[second_row])) < MIN_SHARED_WORDS:
            continue
        if (low, high) == (first_row, second_row) or compute_shared_words(sets[low], sets[high]) >= MIN_WORDS_OF_FIRST:
            parent[high] = low
            shared[high] = max(common, shared.get(high, 0.0))
    rows = sorted(row for row in parent if row >= first)
    columns = [np.array([of(row) for row in rows], kind) for of, kind in ((int, int), (top, int), (shared.get, float))]
    return Duplicates(*columns)


def find_candidate_pairs(minima: Array, first: int = 0) -> Array:
    """Return candidate pairs of duplicates, the earlier row first; the later rows are from ``first`` on."""
    keys, filled = _hash_rows(minima), np.flatnonzero(_has_words(minima))
    _, firsts, where = np.unique(keys[filled], return_index=True, return_inverse=True)
    earliest = filled[firsts[where.ravel()]]
    is_repeat = earliest != filled
    pair_parts = [_select_from(np.stack([earliest[is_repeat], filled[is_repeat]], axis=1), first)]
    distinct_rows = filled[np.sort(firsts)]  # distinct signatures only: a thousand copies of a text are not compared
    for band in range(N_BANDS):
        pairs = distinct_rows[
            _pair_equal_keys(_hash_rows(minima, slice(band * ROWS, (band + 1) * ROWS))[distinct_rows])
        ]
        pairs = _select_from(pairs, first)
        for start in range(0, len(pairs), BLOCK):
            part = pairs[start : start + BLOCK]
            agreeing = np.count_nonzero(minima[part[:, 0]] == minima[part[:, 1]], axis=1)
            pair_parts.append(part[agreeing >= MIN_EQUAL_SHARE * N_HASHES])
            release_pages(minima)  # reading a row of a file also maps its neighbours
    candidates = np.concatenate(pair_parts)
    return np.unique(candidates, axis=0) if len(candidates) else candidates


def _has_words(minima: Array) -> Bools:
    """Return which texts have words."""
    has_words = np.empty(len(minima), np.bool_)
    for span in split_range(len(minima)):
        has_words[span] = (minima[span] != _EMPTY).any(axis=1)
        release_pages(minima)
    return has_words


class ComparedText(NamedTuple):
    """Text for comparison: its distinct pairs of words, and its words as often as they occur."""

    pairs: Array
    words: Array


def compute_shared_words(text: ComparedText, other_text: ComparedText) -> float:
    """Return the share of the longer text's words that are in the other; for short texts 0 or 1."""
    if np.array_equal(text.pairs, other_text.pairs):
        return 1.0
    if (
        min(len(text.pairs), len(other_text.pairs)) < MIN_PAIRS
        or _compute_overlap(text.pairs, other_text.pairs) < MIN_SHARED_PAIRS
    ):
        return 0.0
    return min(_compute_overlap(text.words, other_text.words), MAX_NEAR_SHARE)


def _compute_overlap(values: Array, other_values: Array) -> float:
    """Return the share of the larger set that is in the smaller one."""
    return len(np.intersect1d(values, other_values, assume_unique=True)) / max(len(values), len(other_values), 1)


def _iter_compared_texts(
    texts_of: Callable[[Sequence[int]], Sequence[str]], rows: Sequence[int]
) -> Iterator[ComparedText]:
    """Yield texts in the form for comparison."""
    for start in range(0, len(rows), 1_000):
        for batch in split_texts(texts_of(rows[start : start + 1_000]), CHARACTERS):
            chunk = tokenise(batch, Tokenizer())
            hashed, ends = _hash_words(chunk), np.cumsum(chunk.lengths)[:-1]
            parts = np.split(_hash_pairs(hashed, chunk.lengths), ends), np.split(hashed, ends)
            yield from (
                ComparedText(np.unique(pairs), _number_occurrences(words)) for pairs, words in zip(*parts, strict=True)
            )


def _number_occurrences(words: Array) -> Array:
    """Return distinct numbers for the first, second and third occurrence of each word, in order."""
    words = np.sort(words)
    begins = np.concatenate([np.ones(min(len(words), 1), np.bool_), words[1:] != words[:-1]])
    places = np.arange(len(words))
    times = places - np.maximum.accumulate(np.where(begins, places, 0))
    numbers: Array = (words << np.uint64(24)) + times.astype(np.uint64)
    return numbers


def _hash_word(word: str) -> int:
    """Return the hash of a word, from 1 on."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) + 1


def _hash_rows(minima: Array, columns: slice = slice(None)) -> Array:
    """Return one key per text from some of its minima, block by block, because they may be in a file."""
    keys = np.zeros(len(minima), np.uint64)
    for span in split_range(len(minima)):
        key = keys[span]
        for column in np.ascontiguousarray(minima[span, columns].T):
            key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(31)
        keys[span] = key
        release_pages(minima)
    return keys


def _pair_equal_keys(keys: Array) -> Array:
    """Return pairs of rows with equal keys: all pairs of small groups, else each with the first and the previous row."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(keys) else np.empty(0, int)
    sizes = np.diff(np.append(begins, len(keys)))
    pairs = [np.empty((0, 2), np.int64)]
    for size in range(2, MAX_ALL_PAIRS + 1):
        group_starts = begins[sizes == size]
        for offset in range(size):
            pairs += [
                np.stack([group_starts + offset, group_starts + other], axis=1) for other in range(offset + 1, size)
            ]
    for begin, size in zip(begins[sizes > MAX_ALL_PAIRS].tolist(), sizes[sizes > MAX_ALL_PAIRS].tolist(), strict=True):
        later = np.arange(begin + 1, begin + size)
        pairs += [np.stack([np.full(size - 1, begin), later], axis=1), np.stack([later - 1, later], axis=1)]
    row_pairs: Array = order[np.concatenate(pairs)]
    return row_pairs


def _select_from(pairs: Array, first: int) -> Array:
    return pairs[pairs[:, 1] >= first]
