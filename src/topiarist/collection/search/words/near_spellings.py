"""Near spellings of a word: all words of a collection are compared together, in a few milliseconds.

Each word has a length and a mark for each of its letters. An edit changes at most two of the marks. The few words that
are near by both are compared letter by letter, side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array
from topiarist.text.query import fold_word, has_words
from topiarist.text.spelling import MAX_EDITS
from topiarist.text.tokens import has_unspaced

WORDS_PER_BLOCK = 1 << 16  # words whose letters are looked at together
MAX_LETTERS = 60  # longer words are not compared
MAX_RARE_DOCUMENTS = 2  # documents: such words are often misspelt themselves
FREQUENCY_RATIO = 1_000  # of a word that comes before one at a smaller distance
_MARKS = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))


@dataclass(frozen=True, eq=False)
class NearSpellings:
    """Words with their lengths, letters and document frequencies; accents are ignored unless they are compared."""

    words: Sequence[str]
    documents: Array
    lengths: Array
    letters: Array  # 64 marks: the letters that a word has, by their codes
    accents: bool = False

    @classmethod
    def of(cls, words: Sequence[str], documents: Array, *, accents: bool = False) -> NearSpellings:
        """Mark the letters of all words; with ``accents``, words differ by accents as well."""
        lengths, letters = np.zeros(len(words), np.int32), np.zeros(len(words), np.uint64)
        for start in range(0, len(words), WORDS_PER_BLOCK):
            block = slice(start, start + WORDS_PER_BLOCK)
            lengths[block], letters[block] = _compute_letter_marks(
                words[block] if accents else _fold_words(words[block])
            )
        return cls(words, documents, lengths, letters, accents)

    def near(self, word: str) -> dict[str, tuple[int, int]]:
        """Return words within two edits, without the word itself, with their distances and document frequencies."""
        word = word.lower() if self.accents else fold_word(word)
        edits = min(MAX_EDITS, max(len(word) - 1, 1))
        (length,), (letters,) = _compute_letter_marks([word])
        n_changed = np.bitwise_count(self.letters ^ letters)
        candidate_rows = np.flatnonzero((np.abs(self.lengths - length) <= edits) & (n_changed <= 2 * edits))
        candidates = [self.words[place] for place in candidate_rows.tolist()]
        edit_distances = compute_edit_distances(word, candidates if self.accents else _fold_words(candidates), edits)
        return {
            candidates[at]: (int(edit_distances[at]), int(self.documents[candidate_rows[at]]))
            for at in np.flatnonzero((edit_distances > 0) & (edit_distances <= edits)).tolist()
        }


def suggest_words(word: str, parts: Iterable[NearSpellings], limit: int = 3) -> list[str]:
    """Return the words of all parts with the nearest spellings, frequent words first.

    A word at distance two comes before one at distance one if it is a thousand times as frequent. It must begin with
    the same letter, which is seldom wrong. Words of hardly any document are often misspelt themselves: they are
    returned only without other near words.
    """
    if not has_words(word) or has_unspaced(word) or len(word) > MAX_LETTERS:
        return []
    spellings: dict[str, tuple[int, int]] = {}
    for part in parts:
        for other, (edit_distance, number) in part.near(word).items():
            if edit_distance > 1 and fold_word(other[:1]) != fold_word(word[:1]):
                continue
            spellings[other] = (edit_distance, number + spellings.get(other, (0, 0))[1])
    frequent = {other: entry for other, entry in spellings.items() if entry[1] > MAX_RARE_DOCUMENTS} or spellings
    return sorted(frequent, key=lambda other: (-frequent[other][1] / FREQUENCY_RATIO ** frequent[other][0], other))[
        :limit
    ]


def compute_edit_distances(word: str, others: Sequence[str], max_edits: int = MAX_EDITS) -> Array:
    """Return the numbers of changed, added, missing or swapped letters; above ``max_edits`` it may be too large."""
    width = max(map(len, others), default=0)
    text = "".join(other.ljust(width, "\0") for other in others)
    rows = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).reshape(len(others), width).T
    lengths = np.fromiter(map(len, others), np.int64, len(others))
    previous = np.repeat(np.arange(width + 1, dtype=np.int16)[:, None], len(others), axis=1)
    second_previous, matches = previous, np.zeros_like(rows, bool)
    for at, letter in enumerate(map(ord, word)):
        now = np.full_like(previous, len(word) + width)  # what lies farther from the diagonal is too much
        now[0] = at + 1
        previous_matches, matches = matches, rows == letter
        for column in range(max(at - max_edits, 0), min(at + max_edits + 1, width)):
            cost = np.minimum(np.minimum(previous[column + 1], now[column]) + 1, previous[column] + ~matches[column])
            if at and column:
                swappable = matches[column - 1] & previous_matches[column]
                cost = np.where(swappable, np.minimum(cost, second_previous[column - 1] + 1), cost)
            now[column + 1] = cost
        second_previous, previous = previous, now
    edit_distances: Array = previous[lengths, np.arange(len(others))]
    return edit_distances


def _fold_words(words: Sequence[str]) -> list[str]:
    """Return words without case and accents."""
    return [word if word.isascii() else fold_word(word) for word in words]


def _compute_letter_marks(words: Sequence[str]) -> tuple[Array, Array]:
    """Return the lengths of words and the marks of their letters; words must not be empty."""
    text = "\n".join(words)
    codes = np.frombuffer(text.encode(), np.uint8) if text.isascii() else np.frombuffer(
        text.encode("utf-32-le", "surrogatepass"), np.uint32
    )  # fmt: skip
    ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    starts = np.append(0, ends[:-1] + 1)
    marks = np.append(_MARKS[codes & 63] * (codes != ord("\n")), np.uint64(0))
    return (ends - starts).astype(np.int32), np.bitwise_or.reduceat(marks, starts)
