"""Phrases: pairs of adjacent words that occur together more often than chance would have it.

Normalised pointwise mutual information of the pair (a, b), with N tokens in all:
npmi = log(n(ab) N / (n(a) n(b))) / log(N / n(ab)). Pairs never cross documents, and never hold a word that is
not counted (a stop word, a number, a character pair of a script without spaces). Where phrases overlap in a
text, the one further left wins. A phrase is written with a space, which no word contains: "machine learning".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from topiarist.counts.chunks import Int64s, TokenChunk
from topiarist.counts.settings import PhraseSettings
from topiarist.text.tokens import is_unspaced

Floats = np.ndarray[Any, np.dtype[np.float64]]


def find_phrases(
    chunks: Sequence[TokenChunk], settings: PhraseSettings, keeps: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the phrases of the collection, sorted."""
    words = sorted(set(chain.from_iterable(chunk.numbers for chunk in chunks)))
    columns = {word: column for column, word in enumerate(words)}
    numbers = [_numbers(chunk, columns) for chunk in chunks]
    totals = np.zeros(len(words), dtype=np.int64)
    for chunk, number in zip(chunks, numbers, strict=True):
        totals[number] += np.bincount(chunk.tokens, minlength=len(number))
    frequent = np.flatnonzero(totals >= settings.min_count)
    usable = [column for column in frequent.tolist() if keeps(words[column]) and not is_unspaced(words[column])]
    if not usable:
        return ()
    rank = np.full(len(words), -1, dtype=np.int64)
    rank[usable] = np.arange(len(usable))
    pairs, times = _pair_counts(chunks, [rank[number] for number in numbers], len(usable))
    often = times >= settings.min_count
    pairs, times = pairs[often], times[often]
    first, second = np.divmod(pairs, len(usable))
    n_tokens = int(totals.sum())
    occurs = totals[usable]
    chosen = _npmi(times, occurs[first], occurs[second], n_tokens) >= settings.threshold
    names = [words[column] for column in usable]
    return tuple(sorted(f"{names[a]} {names[b]}" for a, b in zip(first[chosen], second[chosen], strict=True)))


def _numbers(chunk: TokenChunk, columns: Mapping[str, int]) -> Int64s:
    """Return the column of each word of the chunk, in the order of the chunk's own numbers."""
    return np.fromiter(map(columns.__getitem__, chunk.numbers), np.int64, len(chunk.numbers))


def _npmi(both: Int64s, first: Int64s, second: Int64s, n_tokens: int) -> Floats:
    """Return the normalised pointwise mutual information of pairs."""
    if n_tokens == 0 or both.size == 0:
        return np.zeros(both.size)
    surprise = np.log(n_tokens / both)
    information = np.log(both * (n_tokens / first) / second)
    return np.where(surprise > 0, information / np.where(surprise > 0, surprise, 1.0), 1.0)


def _pair_counts(chunks: Iterable[TokenChunk], ranks: Iterable[Int64s], n_usable: int) -> tuple[Int64s, Int64s]:
    """Return the adjacent pairs of usable words (first · n_usable + second) and how often each occurs."""
    found: list[Int64s] = [np.empty(0, np.int64)]
    times: list[Int64s] = [np.empty(0, np.int64)]
    for chunk, rank in zip(chunks, ranks, strict=True):
        inside = _followed(chunk)
        first, second = rank[chunk.tokens[:-1][inside]], rank[chunk.tokens[1:][inside]]
        usable = (first >= 0) & (second >= 0)
        pairs, occur = np.unique(first[usable] * n_usable + second[usable], return_counts=True)
        found.append(pairs)
        times.append(occur)
    pairs, where = np.unique(np.concatenate(found), return_inverse=True)
    totals = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(totals, where, np.concatenate(times))
    return pairs, totals


def _followed(chunk: TokenChunk) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for all tokens but the last whether the next token belongs to the same text."""
    inside = np.ones(max(len(chunk.tokens) - 1, 0), dtype=np.bool_)
    ends = np.cumsum(chunk.lengths)[:-1] - 1
    inside[ends[(ends >= 0) & (ends < len(inside))]] = False
    return inside


def join_phrases(chunk: TokenChunk, phrases: Sequence[str]) -> TokenChunk:
    """Return the chunk with each occurrence of a phrase as one token."""
    columns = chunk.numbers
    pairs: dict[int, str] = {}
    for phrase in phrases:
        first, second = map(columns.get, phrase.split(" "))
        if first is not None and second is not None:
            pairs[first * len(columns) + second] = phrase
    if not pairs:
        return chunk
    keys = np.array(sorted(pairs), dtype=np.int64)
    starts, ends = np.zeros(len(columns), np.bool_), np.zeros(len(columns), np.bool_)
    starts[keys // len(columns)] = True
    ends[keys % len(columns)] = True
    tokens = chunk.tokens
    maybe = np.flatnonzero(starts[tokens[:-1]] & ends[tokens[1:]] & _followed(chunk))
    here = tokens[maybe].astype(np.int64) * len(columns) + tokens[maybe + 1]
    slot = np.minimum(np.searchsorted(keys, here), len(keys) - 1)
    hit = keys[slot] == here
    places, slot = _leftmost(maybe[hit], slot[hit])
    joined = tokens.copy()
    joined[places] = len(columns) + slot
    keep = np.ones(len(tokens), np.bool_)
    keep[places + 1] = False
    row = np.repeat(np.arange(len(chunk.lengths)), chunk.lengths)
    lengths = chunk.lengths - np.bincount(row[places], minlength=len(chunk.lengths))
    phrase_numbers = {pairs[key]: number for number, key in enumerate(keys.tolist(), start=len(columns))}
    return TokenChunk(columns | phrase_numbers, joined[keep], lengths)


def _leftmost(places: Int64s, slot: Int64s) -> tuple[Int64s, Int64s]:
    """Return the places without those that overlap a place kept before them: every other one of each run."""
    if places.size == 0:
        return places, slot
    opens = np.concatenate([[True], np.diff(places) > 1])
    run_start = np.maximum.accumulate(np.where(opens, np.arange(len(places)), 0))
    kept = (np.arange(len(places)) - run_start) % 2 == 0
    return places[kept], slot[kept]
