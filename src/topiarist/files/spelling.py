"""What somebody who misspelt a word may have meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

FARTHEST = 2  # edits
MOST = 5_000  # words to compare letter by letter; beyond that, whoever asked has waited long enough

Known = Sequence[tuple[str, int]]


def nearest(word: str, known: Known, limit: int = 3) -> list[str]:
    """The nearest of the known words, which come with how frequent they are: fewest edits first, then most frequent."""
    for edits in range(1, min(FARTHEST, max(len(word) - 1, 1)) + 1):
        found = []
        for place, (other, frequency) in enumerate(_likely(word, known, edits)):
            if place == MOST:
                break
            if other != word and distance(word, other, edits) <= edits:
                found.append((-frequency, other))
        if found:
            return [other for _, other in sorted(found)[:limit]]
    return []


def _likely(word: str, known: Known, edits: int) -> Iterator[tuple[str, int]]:
    """Words of about the same length with a piece of the word in about the same place.

    Whatever is so many edits away keeps one of ``edits + 1`` pieces whole. A swap of neighbours may break two, so that
    it is one edit to the eye but two here: words of three letters and fewer are all looked at.
    """
    size = max(len(word) // (2 * edits + 1), 1)
    starts = range(0, len(word), size)
    whole = [(word[start : start + size], max(start - edits, 0), start + size + edits) for start in starts]
    for other, frequency in known:
        if abs(len(other) - len(word)) <= edits and any(other.find(*piece) >= 0 for piece in whole):
            yield other, frequency


def distance(one: str, other: str, most: int = FARTHEST) -> int:
    """How many letters must be changed, added, left out or swapped with their neighbour; ``most + 1`` if more."""
    start, end = 0, min(len(one), len(other))
    while start < end and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        now = [i]
        for j, counterpart in enumerate(other, 1):
            cost = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (letter != counterpart))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == counterpart:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        if min(now) > most and min(last) > most:
            return most + 1
        before, last = last, now
    return min(last[-1], most + 1)
