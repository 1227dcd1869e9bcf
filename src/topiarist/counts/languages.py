"""The language of every document, judged by the function words that it has: one product of sparse matrices.

A function word of several languages (*die*, *in*) tells of each of them by its part; letters of one script tell more.
What has too few such words to judge by is of no language, and is said to be.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr
from topiarist.counts.room import row_runs
from topiarist.text.language import NAMES
from topiarist.text.stop_words import function_words, has_stop_words

FEWEST_WORDS = 3  # of function words, to judge a document by
FEWEST_DOCUMENTS, LEAST_SHARE = 3, 0.002  # of a language that a collection has: fewer are mistakes
SAME = 1e-4  # of function words: less is no difference
BLOCK = 1 << 15  # documents that are judged at once
_SCRIPTS = {  # languages whose letters no other of ours has: any word tells
    "HANGUL": "ko", "HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "zh", "THAI": "th", "GREEK": "el", "HEBREW": "he",
    "ARMENIAN": "hy", "GUJARATI": "gu", "BENGALI": "bn", "TAMIL": "ta",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Languages:
    """Which languages a collection has, the most frequent first, and which each document has: a place among them.

    −1 stands for documents that have too few function words to tell.
    """

    codes: tuple[str, ...]
    places: Array  # (n_docs,) int8

    @property
    def sizes(self) -> tuple[int, ...]:
        """Documents of each language."""
        return tuple(np.bincount(self.places[self.places >= 0], minlength=len(self.codes)).tolist())

    @property
    def n_unknown(self) -> int:
        """Documents that cannot be judged."""
        return int((self.places < 0).sum())

    def of(self, row: int) -> str:
        """The language of a document; nothing where it cannot be told."""
        place = int(self.places[row])
        return self.codes[place] if place >= 0 else ""


def languages_of(counts: Csr, words: Sequence[str]) -> Languages:
    """The language of each document by its counts; the mistakes of a few words are judged again among the others."""
    codes, telling = _telling(words)
    sizes = np.zeros(len(codes), np.int64)
    places = _judged(counts, telling, np.ones(len(codes), bool), sizes)
    sizes = np.bincount(places[places >= 0], minlength=len(codes))
    there = sizes >= max(FEWEST_DOCUMENTS, LEAST_SHARE * max(counts.shape[0], 1))
    if not there.any() and sizes.any():
        there[sizes.argmax()] = True
    places = _judged(counts, telling, there, sizes)
    sizes = np.bincount(places[places >= 0], minlength=len(codes))
    order = [place for place in np.argsort(-sizes, kind="stable").tolist() if sizes[place]]
    number = np.full(len(codes) + 1, -1, np.int8)
    number[order] = np.arange(len(order))
    return Languages(tuple(codes[place] for place in order), number[places])


def _judged(counts: Csr, telling: Csr, there: Array, sizes: Array) -> Array:
    """The place of the language with most function words in each document; −1 for too few of them, or a tie.

    Of languages that tell as much, the one that more documents of the collection have; of none more, it is a tie.
    """
    places = np.full(counts.shape[0], -1, np.int64)
    for here, rows in row_runs(counts, BLOCK):
        found = (rows @ telling).toarray() * there
        most = found.max(axis=1, initial=0.0)
        tied = found >= most[:, None] - SAME
        likely = np.where(tied, sizes + 1, 0)
        best = likely.argmax(axis=1)
        alone = (likely == likely.max(axis=1, initial=0)[:, None]).sum(axis=1) == 1
        sure = (most >= FEWEST_WORDS * 0.5) & alone
        places[here] = np.where(sure, best, -1)
    return places


def _telling(words: Sequence[str]) -> tuple[tuple[str, ...], Csr]:
    """Languages, and how much each word tells of each: words × languages."""
    codes, parts = _function_words()
    place = {code: number for number, code in enumerate(codes)}
    rows, columns, values = list[int](), list[int](), list[float]()
    for row, word in enumerate(words):
        found = parts.get(word)
        if found is None and not word.isascii():
            found = {code: 1.0} if (code := _by_script(word)) else None
        for code, part in (found or {}).items():
            rows.append(row)
            columns.append(place[code])
            values.append(part)
    shape = (len(words), len(codes))
    return codes, csr_array((np.array(values, np.float32), (rows, columns)), shape=shape)


def _by_script(word: str) -> str:
    """The language of letters that no other language has; nothing for others."""
    for letter in word:
        name = unicodedata.name(letter, "")
        for script, code in _SCRIPTS.items():
            if name.startswith(script):
                return code
    return ""


@cache
def _function_words() -> tuple[tuple[str, ...], dict[str, dict[str, float]]]:
    """For each function word the languages that have it, each with its part."""
    codes = tuple(code for code in sorted(NAMES) if has_stop_words(code))
    holders: dict[str, list[str]] = {}
    for code in codes:
        for word in function_words(code):
            holders.setdefault(word, []).append(code)
    most = len(codes) // 2  # what most languages have is markup
    parts = {word: {code: 1 / len(has) for code in has} for word, has in holders.items() if len(has) < most}
    return codes, parts
