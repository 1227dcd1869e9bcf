"""The one speller: what somebody who misspelt a word or a name may have meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice

FARTHEST = 2  # edits
RARER = 1_000  # times as frequent a word must be to come before one that is an edit nearer
MOST = 5_000  # words to compare letter by letter; beyond that, whoever asked has waited long enough
RARE = 2  # documents
PROPOSED = 5  # names

Known = Sequence[tuple[str, int]]  # words, and how frequent they are


def corrections(word: str, looked_up: Callable[[str, list[str]], Known], limit: int = 3) -> list[str]:
    """Words of a collection that are spelt nearly so: at most two letters otherwise, frequent ones first.

    ``looked_up`` gives the known words with a first letter, and those of some others that are known, with the number of
    their documents. What hardly a document has is most often misspelt itself: it is offered only where nothing else is
    near.
    """
    known = looked_up(word[0], _other_beginnings(word))
    usual = [one for one in known if one[1] > RARE]
    return nearest(word, usual, limit, eager=False) or nearest(word, known, limit, eager=False)


def alike(name: str, names: Iterable[str], limit: int = PROPOSED, least: float = 0.5) -> list[str]:
    """The names, of which there are few, that share most letters with one: at least so great a part of them."""
    return get_close_matches(name, list(names), limit, least)


def likeliest(name: str, names: Iterable[str]) -> str:
    """The one of a few names that was probably meant; empty where none is near enough to say so.

    Spelt nearly so, else beginning alike or containing it, else sharing most letters: never simply the first there is.
    """
    by_lower = {known.casefold(): known for known in reversed(list(names))}
    asked = name.casefold().strip()
    if asked in by_lower or not asked:
        return by_lower.get(asked, "")
    near = [one for one in nearest(asked, [(known, 1) for known in by_lower]) if distance(asked, one) <= len(asked) / 3]
    inside = sorted((one for one in by_lower if one.startswith(asked) or (asked.startswith(one) and one)), key=len)
    inside += sorted((one for one in by_lower if asked in one and one not in inside), key=len)
    shortened = [one for one in by_lower if one[:1] == asked[:1] and _within(asked, one)]
    found = [*near, *inside, *shortened, *alike(asked, by_lower, 1, 0.7)]
    return by_lower[found[0]] if found else ""


def _within(short: str, long: str) -> bool:
    """Whether the letters of one word come in another in their order: *msg* in *message*."""
    letters = iter(long)
    return len(short) > 2 and all(letter in letters for letter in short)


def proposed(name: str, names: Iterable[str], limit: int = PROPOSED) -> str:
    """A hint for somebody who named what is not there: names like it, or else the first ones there are."""
    known = list(names)
    return ", ".join(map(repr, alike(name, known, limit) or [one for one in known if one][:limit]))


def nearest(word: str, known: Known, limit: int = 3, *, eager: bool = True) -> list[str]:
    """The nearest of the known words, which come with how frequent they are.

    ``eager``: look no farther when something is one edit away. Otherwise frequent words two edits away may come before
    rare ones (which are often misspelt themselves) that are one edit away.
    """
    found: dict[str, float] = {}
    for edits in range(1, min(FARTHEST, max(len(word) - 1, 1)) + 1):
        for other, frequency in islice(_likely(word, known, edits), MOST):
            if other != word and other not in found and distance(word, other, edits) <= edits:
                found[other] = -frequency / RARER**edits
        if found and eager:
            break
    return sorted(found, key=lambda other: (found[other], other))[:limit]


def _other_beginnings(word: str) -> list[str]:
    """Words that differ from this one at the first letter, where a walk through the index cannot find them."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    swapped = word[1:2] + word[:1] + word[2:]
    others = {word[1:], swapped, *(letter + word for letter in letters), *(letter + word[1:] for letter in letters)}
    return sorted(other for other in others if other and other[0] != word[0])


def _likely(word: str, known: Known, edits: int) -> Iterator[tuple[str, int]]:
    """Words of about the same length with a piece of the word in about the same place.

    An edit breaks one piece of the word or, if it swaps neighbours, two: of 2 · edits + 1 pieces one stays whole.
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
