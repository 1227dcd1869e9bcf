"""Near spellings of a word among few names, and names similar to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice

MAX_EDITS = 2
MAX_COMPARED = 5_000  # words that are compared letter by letter, which takes a second
MAX_PROPOSED = 5  # names in a hint

WordFrequencies = Sequence[tuple[str, int]]  # words and their frequencies


def find_similar_names(name: str, names: Iterable[str], limit: int = MAX_PROPOSED, cutoff: float = 0.5) -> list[str]:
    """Return the names that share at least ``cutoff`` of their letters with a name, the nearest first."""
    return get_close_matches(name, list(names), limit, cutoff)


def find_likeliest_name(name: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant; empty if none is near enough.

    Names with a near spelling come first, then names that begin alike or contain it, then names with the most letters
    in common.
    """
    by_lower = {candidate.casefold(): candidate for candidate in reversed(list(names))}
    folded_name = name.casefold().strip()
    if folded_name in by_lower or not folded_name:
        return by_lower.get(folded_name, "")
    near_names = [
        word
        for word in find_near_words(folded_name, [(candidate, 1) for candidate in by_lower])
        if compute_edit_distance(folded_name, word) <= len(folded_name) / 3
    ]
    inside = [other for other in by_lower if other.startswith(folded_name) or (folded_name.startswith(other) and other)]
    inside.sort(key=len)
    inside += sorted((other for other in by_lower if folded_name in other and other not in inside), key=len)
    abbreviated = [other for other in by_lower if other[:1] == folded_name[:1] and _is_abbreviation(folded_name, other)]
    ranked = [*near_names, *inside, *abbreviated, *find_similar_names(folded_name, by_lower, 1, 0.7)]
    return by_lower[ranked[0]] if ranked else ""


def _is_abbreviation(short: str, long: str) -> bool:
    """Return whether the letters of a word occur in another in the same order: *msg* in *message*."""
    letters = iter(long)
    return len(short) > 2 and all(letter in letters for letter in short)


def format_proposals(name: str, names: Iterable[str], limit: int = MAX_PROPOSED) -> str:
    """Return a hint with the names similar to an unknown one, or else with the first names."""
    candidates = list(names)
    proposals = find_similar_names(name, candidates, limit) or list(filter(None, candidates))[:limit]
    return f"Choose {', '.join(map(repr, proposals))}." if proposals else ""


def find_near_words(word: str, frequencies: WordFrequencies, limit: int = 3) -> list[str]:
    """Return the known words with the fewest edits, at most ``MAX_EDITS``; frequent words first."""
    for edits in range(1, min(MAX_EDITS, max(len(word) - 1, 1)) + 1):
        edits_found = {
            other: -frequency
            for other, frequency in islice(_iter_candidates(word, frequencies, edits), MAX_COMPARED)
            if other != word and compute_edit_distance(word, other, edits) <= edits
        }
        if edits_found:
            return sorted(edits_found, key=lambda other: (edits_found[other], other))[:limit]
    return []


def _iter_candidates(word: str, frequencies: WordFrequencies, edits: int) -> Iterator[tuple[str, int]]:
    """Yield words of similar length with a common part at nearly the same position.

    An edit changes one part of the word or, if it swaps neighbours, two: of 2 · edits + 1 parts one stays unchanged.
    """
    size = max(len(word) // (2 * edits + 1), 1)
    starts = range(0, len(word), size)
    parts = [(word[start : start + size], max(start - edits, 0), start + size + edits) for start in starts]
    for other, frequency in frequencies:
        if abs(len(other) - len(word)) <= edits and any(other.find(*piece) >= 0 for piece in parts):
            yield other, frequency


def compute_edit_distance(first: str, second: str, max_edits: int = MAX_EDITS) -> int:
    """Return the number of changed, added, missing or swapped letters, at most ``most + 1``."""
    start, end = 0, min(len(first), len(second))
    while start < end and first[start] == second[start]:
        start += 1
    first, second = first[start:], second[start:]
    while first and second and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    previous: list[int] = []
    last = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        now = [i]
        for j, counterpart in enumerate(second, 1):
            cost = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (letter != counterpart))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == counterpart:
                cost = min(cost, previous[j - 2] + 1)
            now.append(cost)
        if min(now) > max_edits and min(last) > max_edits:
            return max_edits + 1
        previous, last = last, now
    return min(last[-1], max_edits + 1)
