"""Copies and near-copies among texts, in time and memory that grow with the texts and not with their pairs.

A text is the set of its pairs of neighbouring words, hashed. ``N_HASHES`` minima of that set under random permutations
(MinHash, Broder 1997) agree with those of another in the share that both sets have in common of all that is in either.
Bands of ``ROWS`` minima are compared by sorting: texts of which no band is the same are never looked at together. What
remains is verified with the texts themselves: of the longer one, so many words and pairs of words must be in the other.
So a text of which 15 in 100 words were changed is a copy, and a reply that quotes a message is none.

Nothing depends on how texts are cut into chunks, nor on processes or threads.
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
from topiarist.counts.room import let_go, runs
from topiarist.counts.workers import text_chunks
from topiarist.text.tokens import Tokenizer

N_BANDS, ROWS = 32, 3
N_HASHES = N_BANDS * ROWS
WORDS, PAIRS = 0.79, 0.6  # of the words, and of the pairs of words, of the longer text are in the other
WORDS_OF_FIRST = 0.75  # are in the first text of the same kind, where another one is nearer
PROMISING = 0.3  # of minima that agree: fewer are not verified
ALMOST = 0.999  # the most that texts share which are not the same
FEWEST = 20  # different pairs of words of a text: of a shorter one only exact copies are known
ALL_PAIRS = 8  # texts that share a band: of more, each is compared with the first and the one before
BLOCK = 1 << 12  # pairs whose minima are compared at once
CHARACTERS = 4_000_000  # of texts that are hashed together
_EMPTY = np.uint32(0xFFFFFFFF)
_FACTORS, _SHIFTS = (np.random.default_rng(1997).integers(0, 1 << 32, (2, N_HASHES), np.uint64) | 1).astype(np.uint32)


@dataclass(frozen=True)
class Copies:
    """Which documents are copies, by rows: each with the first of its kind and what both share; all in order."""

    rows: Ints
    originals: Ints
    shared: Doubles  # of the words of the longer one; 1: the same words in the same order

    @classmethod
    def none(cls) -> Copies:
        """No copies."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_originals(self) -> int:
        """Documents of which there are copies."""
        return len(np.unique(self.originals))

    @cached_property
    def groups(self) -> dict[int, list[int]]:
        """The copies of each original."""
        found: dict[int, list[int]] = {}
        for row, original in zip(self.rows.tolist(), self.originals.tolist(), strict=True):
            found.setdefault(original, []).append(row)
        return found

    def first_of(self, n_docs: int) -> Ints:
        """For each document the first of its kind: mostly itself."""
        found: Ints = np.arange(n_docs, dtype=np.int64)
        here = self.rows < n_docs
        found[self.rows[here]] = self.originals[here]
        return found

    def is_first(self, n_docs: int) -> Bools:
        """Which documents are no copies."""
        found: Bools = np.ones(n_docs, np.bool_)
        found[self.rows[self.rows < n_docs]] = False
        return found


def shingles(chunk: TokenChunk) -> Array:
    """The hash of each word of a chunk with the word after it in the same text; the last one of a text stands alone."""
    return _pairs(_word_hashes(chunk), chunk.lengths)


def _word_hashes(chunk: TokenChunk) -> Array:
    """The hash of each word, in the order of the texts."""
    found: Array = np.fromiter(map(_hashed, chunk.numbers), np.uint64, len(chunk.numbers))[chunk.tokens]
    return found


def _pairs(words: Array, lengths: Array) -> Array:
    """A hash for each word with the one after it; of the last one of each text alone."""
    after = np.concatenate([words[1:], np.zeros(min(len(words), 1), np.uint64)])
    after[np.cumsum(lengths)[lengths > 0] - 1] = 0
    mixed = words * np.uint64(0x9E3779B97F4A7C15) ^ (after + np.uint64(0x7F4A7C15)) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    found: Array = (mixed >> np.uint64(32)).astype(np.uint32)
    return found


def signatures(chunk: TokenChunk) -> Array:
    """The minima of each text, texts × ``N_HASHES``; the largest numbers for a text without words."""
    found: Array = np.full((len(chunk.lengths), N_HASHES), _EMPTY)
    some = chunk.lengths > 0
    if some.any():
        values, starts = shingles(chunk), (np.cumsum(chunk.lengths) - chunk.lengths)[some]
        minima = np.empty((N_HASHES, len(starts)), np.uint32)
        for number, (factor, shift) in enumerate(zip(_FACTORS, _SHIFTS, strict=True)):
            np.minimum.reduceat(values * factor ^ shift, starts, out=minima[number])
        found[some] = minima.T
    return found


def signatures_of(texts: Iterable[str]) -> Array:
    """The minima of texts."""
    parts = [signatures(tokenise(some, Tokenizer())) for some in text_chunks(texts, CHARACTERS)]
    return np.concatenate([np.empty((0, N_HASHES), np.uint32), *parts])


def find_copies(minima: Array, texts_of: Callable[[Sequence[int]], Sequence[str]], first: int = 0) -> Copies:
    """The copies among texts that are known by their minima; ``texts_of`` gives the texts of some of them, in order.

    Only copies from the text ``first`` on are told: those before are known already. Texts that share enough with each
    other belong together, and so does what shares enough with one of them and is not far from the first, the original.
    """
    pairs = candidates(minima, first)
    if not len(pairs):
        return Copies.none()
    wanted = np.unique(pairs).tolist()
    sets = dict(zip(wanted, _sets(texts_of, wanted), strict=True))
    above: dict[int, int] = {}
    shared: dict[int, float] = {}

    def top(row: int) -> int:
        while row in above:
            row = above[row]
        return row

    for one, other in pairs.tolist():
        low, high = sorted((top(one), top(other)))
        if low == high or (common := shared_words(sets[one], sets[other])) < WORDS:
            continue
        if (low, high) == (one, other) or shared_words(sets[low], sets[high]) >= WORDS_OF_FIRST:
            above[high] = low
            shared[high] = max(common, shared.get(high, 0.0))
    rows = sorted(row for row in above if row >= first)
    found = [np.array([of(row) for row in rows], kind) for of, kind in ((int, int), (top, int), (shared.get, float))]
    return Copies(*found)


def candidates(minima: Array, first: int = 0) -> Array:
    """Pairs of texts that may be copies, the earlier one before; the later one is not before ``first``."""
    keys, filled = _keys(minima), np.flatnonzero(_has_words(minima))
    _, firsts, where = np.unique(keys[filled], return_index=True, return_inverse=True)
    earliest = filled[firsts[where.ravel()]]
    same = earliest != filled
    found = [_from(np.stack([earliest[same], filled[same]], axis=1), first)]
    unlike = filled[np.sort(firsts)]  # one of each: a thousand copies of a text are not compared with each other
    for band in range(N_BANDS):
        pairs = unlike[_in_runs(_keys(minima, slice(band * ROWS, (band + 1) * ROWS))[unlike])]
        pairs = _from(pairs, first)
        for start in range(0, len(pairs), BLOCK):
            part = pairs[start : start + BLOCK]
            agreeing = np.count_nonzero(minima[part[:, 0]] == minima[part[:, 1]], axis=1)
            found.append(part[agreeing >= PROMISING * N_HASHES])
            let_go(minima)  # of a file, each of them has brought its neighbours along
    every = np.concatenate(found)
    return np.unique(every, axis=0) if len(every) else every


def _has_words(minima: Array) -> Bools:
    """Which texts have any."""
    found = np.empty(len(minima), np.bool_)
    for here in runs(len(minima)):
        found[here] = (minima[here] != _EMPTY).any(axis=1)
        let_go(minima)
    return found


class Compared(NamedTuple):
    """A text as it is compared: its different pairs of words, and its words, each as often as it occurs."""

    pairs: Array
    words: Array


def shared_words(one: Compared, other: Compared) -> float:
    """How many words of the longer text are in the other, if enough pairs are; of short texts all or nothing."""
    if np.array_equal(one.pairs, other.pairs):
        return 1.0
    if min(len(one.pairs), len(other.pairs)) < FEWEST or _common(one.pairs, other.pairs) < PAIRS:
        return 0.0
    return min(_common(one.words, other.words), ALMOST)


def _common(one: Array, other: Array) -> float:
    """How much of the larger set is in the smaller one."""
    return len(np.intersect1d(one, other, assume_unique=True)) / max(len(one), len(other), 1)


def _sets(texts_of: Callable[[Sequence[int]], Sequence[str]], rows: Sequence[int]) -> Iterator[Compared]:
    """Some texts as they are compared."""
    for start in range(0, len(rows), 1_000):
        for some in text_chunks(texts_of(rows[start : start + 1_000]), CHARACTERS):
            chunk = tokenise(some, Tokenizer())
            hashed, ends = _word_hashes(chunk), np.cumsum(chunk.lengths)[:-1]
            parts = np.split(_pairs(hashed, chunk.lengths), ends), np.split(hashed, ends)
            yield from (Compared(np.unique(pairs), _occurrences(words)) for pairs, words in zip(*parts, strict=True))


def _occurrences(words: Array) -> Array:
    """A number for the first, the second, the third time of each word: different ones, in order."""
    words = np.sort(words)
    begins = np.concatenate([np.ones(min(len(words), 1), np.bool_), words[1:] != words[:-1]])
    places = np.arange(len(words))
    times = places - np.maximum.accumulate(np.where(begins, places, 0))
    found: Array = (words << np.uint64(24)) + times.astype(np.uint64)
    return found


def _hashed(word: str) -> int:
    """A number for a word, from 1 on."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) + 1


def _keys(minima: Array, columns: slice = slice(None)) -> Array:
    """One number for each text, by all of its minima or some; run by run, for they may lie in a file."""
    keys = np.zeros(len(minima), np.uint64)
    for here in runs(len(minima)):
        key = keys[here]
        for column in np.ascontiguousarray(minima[here, columns].T):
            key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(31)
        keys[here] = key
        let_go(minima)
    return keys


def _in_runs(keys: Array) -> Array:
    """Places of equal keys in pairs: all pairs of few, of many each with the first and with the one before."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(keys) else np.empty(0, int)
    sizes = np.diff(np.append(begins, len(keys)))
    pairs = [np.empty((0, 2), np.int64)]
    for size in range(2, ALL_PAIRS + 1):
        here = begins[sizes == size]
        for one in range(size):
            pairs += [np.stack([here + one, here + other], axis=1) for other in range(one + 1, size)]
    for begin, size in zip(begins[sizes > ALL_PAIRS].tolist(), sizes[sizes > ALL_PAIRS].tolist(), strict=True):
        later = np.arange(begin + 1, begin + size)
        pairs += [np.stack([np.full(size - 1, begin), later], axis=1), np.stack([later - 1, later], axis=1)]
    found: Array = order[np.concatenate(pairs)]
    return found


def _from(pairs: Array, first: int) -> Array:
    return pairs[pairs[:, 1] >= first]
