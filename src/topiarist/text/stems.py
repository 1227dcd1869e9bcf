"""Snowball stems of words. They merge words; pages show words, never stems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from topiarist.errors import UsageError
from topiarist.text.language import NAMES, find_language_code, get_language_code


@cache
def list_stem_languages() -> tuple[str, ...]:
    import Stemmer

    algorithms = set(Stemmer.algorithms())
    return tuple(sorted(code for code, name in NAMES.items() if name in algorithms))


def has_stemmer(language: str) -> bool:
    """Return whether a language has a stemmer; False for an unknown language."""
    return find_language_code(language) in list_stem_languages()


def find_stems(words: Sequence[str], language: str) -> list[str]:
    """Return the stem of each word and the stems of each phrase. Raise UsageError without a stemmer."""
    import Stemmer

    name = NAMES[get_language_code(language)]
    if name not in Stemmer.algorithms():
        raise UsageError(
            f"there is no stemmer for {name}",
            hint=f"Omit stemming, or use one of {', '.join(list_stem_languages())}.",
        )
    stemmer = Stemmer.Stemmer(name)
    stemmed: list[str] = stemmer.stemWords(list(words))
    for position, word in enumerate(words):
        if " " in word:
            stemmed[position] = " ".join(stemmer.stemWords(word.split(" ")))
    return stemmed
