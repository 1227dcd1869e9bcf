"""Sentences about an answer: how many were found, what could not be understood, what may have been meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from topiarist.collection.find.index.near_words import Spelling
from topiarist.collection.find.index.query_counts import Query

SPELLED = 5  # unknown words for which near spellings are looked up
UNKNOWN = "not in the vocabulary: too rare, a stop word, or new since the models were fitted"


def suggestions(unknown: Iterable[str], spelling: Spelling) -> dict[str, tuple[str, ...]]:
    """Near spellings of the first unknown words, where there are any."""
    found = {name: spelling.near(name) for name in list(unknown)[:SPELLED]} if spelling.words else {}
    return {name: near for name, near in found.items() if near}


def nothing(query: Query, near: Mapping[str, tuple[str, ...]]) -> str:
    """Why there is nothing to look for."""
    if not query.unknown:
        return "The query holds no words to look for. Try: one or more words of the subject."
    return _unknown(query, near)


def sentence(n_hits: int, n_docs: int, query: Query, by: str, near: Mapping[str, tuple[str, ...]]) -> str:
    """One or two sentences about an answer."""
    ways = {"meaning": "in meaning", "words": "by words", "both": "in meaning and by words"}
    some = "document" if n_hits == 1 else f"{n_hits:,} documents"
    said = f"The {some} of {n_docs:,} most similar {ways[by]}." if n_hits else "No document matches."
    return f"{said} {_unknown(query, near)}" if query.unknown else said


def _unknown(query: Query, near: Mapping[str, tuple[str, ...]]) -> str:
    names = ", ".join(repr(name) for name in query.unknown[:SPELLED])
    more = f" and {len(query.unknown) - SPELLED:,} more" if len(query.unknown) > SPELLED else ""
    verb = "is" if len(query.unknown) == 1 else "are"
    meant = ", ".join(name for names_of in near.values() for name in names_of)
    return f"{names}{more} {verb} {UNKNOWN}." + (f" Did you mean {meant}?" if meant else "")


def nearest(name: str, names: Iterable[str]) -> str:
    """Names that look like this one, or the first there are."""
    known = list(names)
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    return ", ".join(map(repr, near))
