"""Words that are spelt nearly as another: all words of a collection compared at once, in a few milliseconds.

Of each word its length and a mark for each of its letters are known: an edit changes at most two of the marks. The few
words that are near by both are compared letter by letter, side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array
from topiarist.text.query import folded, has_words
from topiarist.text.spelling import FARTHEST, RARE, RARER
from topiarist.text.tokens import has_unspaced

AT_ONCE = 1 << 16  # words whose letters are looked at together
LONGEST = 60  # letters: nobody misspells what is longer
_MARKS = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))


@dataclass(frozen=True, eq=False)
class NearSpellings:
    """Words, their lengths and letters, and how many documents have each."""

    words: Sequence[str]
    documents: Array
    lengths: Array
    letters: Array  # 64 marks: the letters that a word has, by their codes

    @classmethod
    def of(cls, words: Sequence[str], documents: Array) -> NearSpellings:
        """Look at all words once."""
        lengths, letters = np.zeros(len(words), np.int32), np.zeros(len(words), np.uint64)
        for start in range(0, len(words), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            lengths[some], letters[some] = _marked(_plain(words[some]))
        return cls(words, documents, lengths, letters)

    def near(self, word: str) -> dict[str, tuple[int, int]]:
        """Words with at most two letters otherwise: how many are, and the number of documents. Never the word itself.

        ``word`` is without case and accents; those of the known words do not count.
        """
        edits = min(FARTHEST, max(len(word) - 1, 1))
        (length,), (letters,) = _marked([word])
        changed = np.bitwise_count(self.letters ^ letters)
        likely = np.flatnonzero((np.abs(self.lengths - length) <= edits) & (changed <= 2 * edits))
        some = [self.words[place] for place in likely.tolist()]
        away = distances(word, _plain(some), edits)
        return {
            some[at]: (int(away[at]), int(self.documents[likely[at]]))
            for at in np.flatnonzero((away > 0) & (away <= edits)).tolist()
        }


def suggested(word: str, parts: Iterable[NearSpellings], limit: int = 3) -> list[str]:
    """The words that somebody may have meant, of all parts of a collection: the nearest and most frequent first.

    A word two letters away comes before one that is one letter away if it is a thousand times as frequent; it begins
    with the same letter, which people seldom get wrong. What hardly a document has is most often misspelt itself: it is
    offered only where nothing else is near.
    """
    word = folded(word)
    if not has_words(word) or has_unspaced(word) or len(word) > LONGEST:
        return []
    found: dict[str, tuple[int, int]] = {}
    for part in parts:
        for other, (away, number) in part.near(word).items():
            if away > 1 and folded(other[:1]) != word[:1]:
                continue
            found[other] = (away, number + found.get(other, (0, 0))[1])
    usual = {other: known for other, known in found.items() if known[1] > RARE} or found
    return sorted(usual, key=lambda other: (-usual[other][1] / RARER ** usual[other][0], other))[:limit]


def distances(word: str, others: Sequence[str], most: int = FARTHEST) -> Array:
    """How many letters must be changed, added, left out or swapped with their neighbour, for each of the others.

    Where that is more than ``most``, so is the number, which may be too large.
    """
    wide = max(map(len, others), default=0)
    text = "".join(other.ljust(wide, "\0") for other in others)
    rows = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).reshape(len(others), wide).T
    lengths = np.fromiter(map(len, others), np.int64, len(others))
    before = np.repeat(np.arange(wide + 1, dtype=np.int16)[:, None], len(others), axis=1)
    swapped, same = before, np.zeros_like(rows, bool)
    for at, letter in enumerate(map(ord, word)):
        now = np.full_like(before, len(word) + wide)  # what lies farther from the diagonal is too much
        now[0] = at + 1
        turned, same = same, rows == letter
        for column in range(max(at - most, 0), min(at + most + 1, wide)):
            cost = np.minimum(np.minimum(before[column + 1], now[column]) + 1, before[column] + ~same[column])
            if at and column:
                here = same[column - 1] & turned[column]
                cost = np.where(here, np.minimum(cost, swapped[column - 1] + 1), cost)
            now[column + 1] = cost
        swapped, before = before, now
    found: Array = before[lengths, np.arange(len(others))]
    return found


def _plain(words: Sequence[str]) -> list[str]:
    """Words without case and accents."""
    return [word if word.isascii() else folded(word) for word in words]


def _marked(words: Sequence[str]) -> tuple[Array, Array]:
    """The lengths of words, none of which is empty, and their letters."""
    text = "\n".join(words)
    codes = np.frombuffer(text.encode(), np.uint8) if text.isascii() else np.frombuffer(
        text.encode("utf-32-le", "surrogatepass"), np.uint32
    )  # fmt: skip
    ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    starts = np.append(0, ends[:-1] + 1)
    marks = np.append(_MARKS[codes & 63] * (codes != ord("\n")), np.uint64(0))
    return (ends - starts).astype(np.int32), np.bitwise_or.reduceat(marks, starts)
