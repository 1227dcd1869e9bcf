"""Words that look like a word nobody knows: by shared pairs of letters first, then letter by letter."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

CONSIDERED = 64  # words that share most pairs of letters
ALIKE = 0.7  # the least share of letters in common
LONGEST = 64  # letters that are looked at


class Spelling:
    """Near spellings among some words. The table of pairs is made when it is first needed."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    @cached_property
    def _pairs(self) -> tuple[dict[str, int], Any, Any]:
        known: dict[str, int] = {}
        places, ends = [], [0]
        for word in self.words:
            places += [known.setdefault(pair, len(known)) for pair in _pairs_of(word)]
            ends.append(len(places))
        table = csr_array((np.ones(len(places), np.float32), np.array(places, np.int32), np.array(ends)),
                          shape=(len(self.words), max(1, len(known))))  # fmt: skip
        return known, table, np.maximum(np.diff(ends), 1)

    def near(self, word: str, number: int = 3) -> tuple[str, ...]:
        """Up to ``number`` known words that look like this one, the nearest first."""
        known, table, sizes = self._pairs
        asked = _pairs_of(word[:LONGEST])
        query = np.zeros(table.shape[1], np.float32)
        query[[known[pair] for pair in asked if pair in known]] = 1
        shared = 2 * (table @ query) / (sizes + len(asked))
        best = np.argsort(-shared, kind="stable")[:CONSIDERED]
        candidates = [self.words[place] for place in best.tolist() if shared[place] > 0]
        ratios = [(SequenceMatcher(None, word[:LONGEST], other).ratio(), other) for other in candidates]
        close = sorted(((-ratio, other) for ratio, other in ratios if ratio >= ALIKE))
        return tuple(other for _, other in close[:number])


def _pairs_of(word: str) -> set[str]:
    """Neighbouring letters, with the beginning and the end of the word."""
    framed = f"^{word}$"
    return {framed[place : place + 2] for place in range(len(framed) - 1)}
