"""Duplicates and near-duplicates among texts, in time and memory linear in the texts.

A text is the set of its hashed pairs of adjacent words. Its signature are ``N_HASHES`` minima of that set under
random permutations (MinHash, Broder 1997). Signatures agree in the Jaccard share of their sets. Bands of ``ROWS``
minima are compared by sorting, and texts without an equal band are never compared. Remaining pairs are verified with
their texts. A duplicate has the same words and numbers in the same order. A near-duplicate has 95 of 100 words of the
longer text in common, and no number, date or name differs. So two letters of one form to two people are two documents.

The duplicates do not depend on chunks, processes or threads.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from topiarist.arrays import Array, Bools, Doubles, Ints
from topiarist.counts.chunks import TokenChunk, tokenise
from topiarist.counts.scratch import release_pages, split_range
from topiarist.counts.workers import split_texts
from topiarist.text.characters import patterns
from topiarist.text.dates import is_month
from topiarist.text.tokens import Tokenizer

N_BANDS, ROWS = 32, 3
N_HASHES = N_BANDS * ROWS
MIN_SHARED_WORDS, MIN_SHARED_PAIRS = 0.95, 0.6  # shares of the words and pairs of the longer text
MIN_EQUAL_SHARE = 0.3  # of equal minima; pairs with fewer are not verified
MAX_NEAR_SHARE = 0.999  # of words in common of texts that are not equal
MIN_PAIRS = 20  # distinct pairs of words; of shorter texts only exact duplicates are found
MAX_EARLIER = 10_000  # texts from before with the signature of a new one that are read again
MAX_ALL_PAIRS = 8  # texts with an equal band; of more, each is compared with the first and the previous
BLOCK = 1 << 12  # pairs whose minima are compared together
CHARACTERS = 4_000_000  # characters of texts that are hashed together
_ASCII_TOKEN = re.compile(r"\w+")
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

    ``texts_of`` returns the texts of given rows in order. Every duplicate is compared with its original itself.
    """
    pairs = find_candidate_pairs(minima, first)
    if not len(pairs):
        return Duplicates.none()
    compared_rows = np.unique(pairs).tolist()
    texts = dict(zip(compared_rows, _iter_compared_texts(texts_of, compared_rows), strict=True))
    earlier_rows: dict[int, list[int]] = {}
    for earlier, row in pairs.tolist():
        earlier_rows.setdefault(row, []).append(earlier)
    parent: dict[int, int] = {}
    shared: dict[int, float] = {}
    row_by_digest: dict[bytes, int] = {}
    for row in compared_rows:
        same = row_by_digest.setdefault(texts[row].digest, row)
        if same != row:
            parent[row], shared[row] = parent.get(same, same), shared.get(same, 1.0)
            continue
        for original in sorted({parent.get(earlier, earlier) for earlier in earlier_rows.get(row, ())}):
            if (share := compute_shared_words(texts[original], texts[row])) > 0:
                parent[row], shared[row] = original, share
                break
    rows = [row for row in parent if row >= first]
    originals, shares = [parent[row] for row in rows], [shared[row] for row in rows]
    return Duplicates(np.array(rows, np.int64), np.array(originals, np.int64), np.array(shares, np.float64))


def find_candidate_pairs(minima: Array, first: int = 0) -> Array:
    """Return candidate pairs of duplicates, the earlier row first; the later rows are from ``first`` on."""
    keys, filled = _hash_rows(minima), np.flatnonzero(_has_words(minima))
    _, firsts, where = np.unique(keys[filled], return_index=True, return_inverse=True)
    earliest = filled[firsts[where.ravel()]]
    is_repeat = earliest != filled
    repeats = np.stack([earliest[is_repeat], filled[is_repeat]], axis=1)
    # Texts that differ in their numbers have one signature: a new one can be the duplicate of any of them.
    has_new = np.isin(repeats[:, 0], earliest[filled >= first])
    pair_parts = [_select_from(repeats, first), repeats[has_new & (repeats[:, 1] < first)][:MAX_EARLIER]]
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
    """Return for each document whether its MinHash values show any words."""
    has_words = np.empty(len(minima), np.bool_)
    for span in split_range(len(minima)):
        has_words[span] = (minima[span] != _EMPTY).any(axis=1)
        release_pages(minima)
    return has_words


class ComparedText(NamedTuple):
    """Text for comparison: its words and numbers as often as they occur, and the forms that must not differ."""

    pairs: Array  # distinct pairs of words
    words: Array
    facts: Array  # forms of numbers, months and possible names
    ordinary: Array  # forms that also occur in lower case
    digest: bytes  # of all words and numbers in order


def compute_shared_words(text: ComparedText, other_text: ComparedText) -> float:
    """Return the share of the longer text's words that are in the other; 0 for two texts of their own."""
    if text.digest == other_text.digest:
        return 1.0
    if (
        min(len(text.pairs), len(other_text.pairs)) < MIN_PAIRS
        or _compute_overlap(text.pairs, other_text.pairs) < MIN_SHARED_PAIRS
        or (shared := _compute_overlap(text.words, other_text.words)) < MIN_SHARED_WORDS
        or _has_other_facts(text, other_text)
        or _has_other_facts(other_text, text)
    ):
        return 0.0
    return min(shared, MAX_NEAR_SHARE)


def find_different_words(text: str, other_text: str) -> list[str]:
    """Return the words and numbers of a text that the other has less often, in order."""
    counts = Counter(map(str.casefold, _list_tokens(other_text)))
    words = []
    for word in _list_tokens(text):
        counts[word.casefold()] -= 1
        if counts[word.casefold()] < 0:
            words.append(word)
    return words


def _has_other_facts(text: ComparedText, other_text: ComparedText) -> bool:
    """Return whether a number, month or possible name occurs in a text more often than in the other."""
    forms = np.setdiff1d(text.words, other_text.words, assume_unique=True) >> np.uint64(24)
    return bool(np.setdiff1d(np.intersect1d(forms, text.facts), other_text.ordinary, assume_unique=True).size)


def _compute_overlap(values: Array, other_values: Array) -> float:
    """Return the share of the larger set that is in the smaller one."""
    return len(np.intersect1d(values, other_values, assume_unique=True)) / max(len(values), len(other_values), 1)


def _iter_compared_texts(
    texts_of: Callable[[Sequence[int]], Sequence[str]], rows: Sequence[int]
) -> Iterator[ComparedText]:
    """Read and yield the texts of the rows with their hashed word pairs, for comparison."""
    for start in range(0, len(rows), 1_000):
        for batch in split_texts(texts_of(rows[start : start + 1_000]), CHARACTERS):
            chunk = tokenise(batch, Tokenizer())
            hashed, ends = _hash_words(chunk), np.cumsum(chunk.lengths)[:-1]
            parts = np.split(_hash_pairs(hashed, chunk.lengths), ends)
            yield from (_compare(text, np.unique(pairs)) for text, pairs in zip(batch, parts, strict=True))


def _compare(text: str, pairs: Array) -> ComparedText:
    """Prepare a text for comparison: its word pairs, words, facts, ordinary forms and digest."""
    tokens = _list_tokens(text)
    forms = list(map(str.casefold, tokens))
    hashes = np.fromiter(map(_hash_word, forms), np.uint64, len(forms))
    is_ordinary = np.fromiter(map(_is_ordinary, tokens), np.bool_, len(tokens))
    is_name = np.zeros(len(tokens), np.bool_) if any(map(str.isupper, text)) else is_ordinary  # names are not known
    ordinary = np.unique(hashes[is_ordinary & ~is_name])
    facts = np.setdiff1d(hashes, ordinary)
    digest = hashlib.blake2b("\0".join(forms).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return ComparedText(pairs, _number_occurrences(hashes), facts, ordinary, digest)


def _list_tokens(text: str) -> list[str]:
    """Return the words and numbers of a text with their combining marks, which tell Hindi and Thai words apart."""
    return (_ASCII_TOKEN if text.isascii() else patterns().any_word).findall(text)


@lru_cache(maxsize=1 << 16)
def _is_ordinary(token: str) -> bool:
    """Return whether a token is no number, no month and, by its small letters, no name."""
    return token.islower() and not any(map(str.isdecimal, token)) and not is_month(token)


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
