"""Language of each document, determined by its script or else by its function words.

Scores of function words are one product of sparse matrices. A function word of several languages (*die*, *in*) counts
for each of them with an equal part. A document with too few function words, in a script of many languages, has no
language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr
from topiarist.counts.scratch import iterate_rows
from topiarist.text.language import NAMES, SCRIPT_LANGUAGES, detect_script_language
from topiarist.text.stop_words import function_words, has_stop_words

MIN_WORDS = 3  # function words that determine the language of a document
MIN_DOCUMENTS, MIN_SHARE = 3, 0.002  # of a language in a collection; fewer documents are mistakes
MAX_FREQUENCY_RATIO = 4  # of documents of another and this language with a word; above, the word is not of this one
TIE_TOLERANCE = 1e-4  # function words; smaller differences are ties
BLOCK = 1 << 15  # documents that are processed together


@dataclass(frozen=True, eq=False)
class Languages:
    """Languages of a collection, the most frequent first, and the place of each document's language among them.

    The place is −1 for documents with too few function words.
    """

    codes: tuple[str, ...]
    places: Array  # (n_docs,) int8

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of documents of each language."""
        return tuple(np.bincount(self.places[self.places >= 0], minlength=len(self.codes)).tolist())

    @property
    def n_unknown(self) -> int:
        """Number of documents without a detected language."""
        return int((self.places < 0).sum())

    def of(self, row: int) -> str:
        """Return the language of a document, or an empty string."""
        place = int(self.places[row])
        return self.codes[place] if place >= 0 else ""


class ScriptLanguages:
    """Languages of documents that their scripts determine, in one byte per document."""

    def __init__(self) -> None:
        self._numbers = bytearray()

    def add(self, text: str) -> None:
        """Add the text of the next document."""
        code = detect_script_language(text)
        self._numbers.append(SCRIPT_LANGUAGES.index(code) + 1 if code else 0)

    def places(self, codes: Sequence[str]) -> Array:
        """Return the index in ``codes`` of each document's language; −1 if its script leaves it open."""
        numbers = np.array([-1, *map(codes.index, SCRIPT_LANGUAGES)], np.int64)
        return numbers[np.frombuffer(self._numbers, np.uint8)]


def detect_languages(counts: Csr, words: Sequence[str], scripts: ScriptLanguages | None = None) -> Languages:
    """Return the language of each document by its script, else by its function words.

    Languages with too few documents by function words are mistakes, and these documents are assigned again. Presence
    of a language is decided by distinct words, so that one repeated word does not make a language.
    """
    codes, weights = _weigh_words(words)
    script_places = np.full(counts.shape[0], -1, np.int64) if scripts is None else scripts.places(codes)
    sizes = np.zeros(len(codes), np.int64)
    all_languages = np.ones(len(codes), bool)
    weights = _drop_words_of_others(weights, counts, _judge_documents(counts, weights, all_languages, sizes))
    places = _judge_documents(counts, weights, all_languages, sizes, repeats=False)
    sizes = np.bincount(places[(places >= 0) & (script_places < 0)], minlength=len(codes))
    is_present = sizes >= max(MIN_DOCUMENTS, MIN_SHARE * max(counts.shape[0], 1))
    if not is_present.any() and sizes.any():
        is_present[sizes.argmax()] = True
    places = np.where(script_places >= 0, script_places, _judge_documents(counts, weights, is_present, sizes))
    sizes = np.bincount(places[places >= 0], minlength=len(codes))
    order = [place for place in np.argsort(-sizes, kind="stable").tolist() if sizes[place]]
    number = np.full(len(codes) + 1, -1, np.int8)
    number[order] = np.arange(len(order))
    return Languages(tuple(codes[place] for place in order), number[places])


def _drop_words_of_others(weights: Csr, counts: Csr, places: Array) -> Csr:
    """Return ``weights`` without words of a language that many more documents of another language have.

    Lists of stop words contain such words. *Net* is in the Dutch list and in every line of English reports of
    profits.
    """
    listed_words = np.flatnonzero(np.diff(weights.indptr))
    documents = np.zeros((len(listed_words), weights.shape[1]))
    for span, rows in iterate_rows(counts, BLOCK):
        judged_rows = np.flatnonzero(places[span] >= 0)
        language = csr_array(
            (np.ones(len(judged_rows)), (judged_rows, places[span][judged_rows])), (rows.shape[0], weights.shape[1])
        )
        documents += ((rows[:, listed_words] > 0).T @ language).toarray()
    entries = weights[listed_words].tocoo()
    words, languages = entries.coords
    is_kept = MAX_FREQUENCY_RATIO * documents[words, languages] >= documents[words].max(axis=1)
    return csr_array((entries.data[is_kept], (listed_words[words[is_kept]], languages[is_kept])), shape=weights.shape)


def _judge_documents(counts: Csr, weights: Csr, is_present: Array, sizes: Array, repeats: bool = True) -> Array:
    """Return the place of the language with most function words in each document; −1 for too few, or for a tie.

    Among languages with equal scores, the language with more documents wins. Without ``repeats`` each distinct word
    of a document counts once.
    """
    places = np.full(counts.shape[0], -1, np.int64)
    for span, rows in iterate_rows(counts, BLOCK):
        scores = ((rows if repeats else rows > 0) @ weights).toarray() * is_present
        best_score = scores.max(axis=1, initial=0.0)
        tied = scores >= best_score[:, None] - TIE_TOLERANCE
        rank = np.where(tied, sizes + 1, 0)
        best = rank.argmax(axis=1)
        is_unique = (rank == rank.max(axis=1, initial=0)[:, None]).sum(axis=1) == 1
        is_certain = (best_score >= MIN_WORDS * 0.5) & is_unique
        places[span] = np.where(is_certain, best, -1)
    return places


def _weigh_words(words: Sequence[str]) -> tuple[tuple[str, ...], Csr]:
    """Return the languages, and the weight of each word for each language (words × languages)."""
    codes, parts = _load_function_words()
    place = {code: number for number, code in enumerate(codes)}
    rows, columns, values = list[int](), list[int](), list[float]()
    for row, word in enumerate(words):
        for code, part in parts.get(word, {}).items():
            rows.append(row)
            columns.append(place[code])
            values.append(part)
    shape = (len(words), len(codes))
    return codes, csr_array((np.array(values, np.float32), (rows, columns)), shape=shape)


@cache
def _load_function_words() -> tuple[tuple[str, ...], dict[str, dict[str, float]]]:
    """Return the detectable languages, and the weight of each function word in its languages."""
    codes = tuple(code for code in sorted(NAMES) if has_stop_words(code) or code in SCRIPT_LANGUAGES)
    holders: dict[str, list[str]] = {}
    listed_codes = [code for code in codes if has_stop_words(code)]
    for code in listed_codes:
        for word in function_words(code):
            holders.setdefault(word, []).append(code)
    max_languages = len(listed_codes) // 2  # words of most languages are markup
    parts = {word: {code: 1 / len(has) for code in has} for word, has in holders.items() if len(has) < max_languages}
    return codes, parts
