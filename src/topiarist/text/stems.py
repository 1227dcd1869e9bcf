"""Snowball stems, for those who ask for them. They merge words; what is shown is a word, never a stem."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from topiarist.errors import UsageError
from topiarist.text.language import NAMES, known_code, language_code


@cache
def stem_languages() -> tuple[str, ...]:
    """Return the codes of the languages that have a stemmer."""
    import Stemmer

    known = set(Stemmer.algorithms())
    return tuple(sorted(code for code, name in NAMES.items() if name in known))


def has_stemmer(language: str) -> bool:
    """Tell whether there is a stemmer for a language, such as a detected one; of an unknown one there is none."""
    return known_code(language) in stem_languages()


def stems(words: Sequence[str], language: str) -> list[str]:
    """Return the stem of each word (of a phrase: the stems of its words, in order)."""
    import Stemmer

    name = NAMES[language_code(language)]
    if name not in Stemmer.algorithms():
        raise UsageError(
            f"there is no stemmer for {name}",
            hint=f"leave stemming out, or use one of {', '.join(stem_languages())}",
        )
    stemmer = Stemmer.Stemmer(name)
    found: list[str] = stemmer.stemWords(list(words))
    for position, word in enumerate(words):
        if " " in word:
            found[position] = " ".join(stemmer.stemWords(word.split(" ")))
    return found
