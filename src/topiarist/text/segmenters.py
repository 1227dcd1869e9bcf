"""Words of Chinese, Japanese and Thai, if a segmentation package is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec

from topiarist.errors import ResourceError
from topiarist.text.language import find_language_code

LANGUAGE_EXTRAS = {"zh": "chinese", "ja": "japanese", "th": "thai"}  # by language without spaces
PACKAGES = {"chinese": "rjieba", "japanese": "janome", "thai": "pythainlp"}

_AM, _AM_APART = "\u0e33", "\u0e4d\u0e32"

Segmenter = Callable[[str], Iterable[str]]


def get_extra(language: str) -> str:
    """Return the extra with the segmenter of a language; an empty string if the language has spaces."""
    return LANGUAGE_EXTRAS.get(find_language_code(language) or language, "")


def is_installed(extra: str) -> bool:
    return find_spec(PACKAGES[extra]) is not None


def find_installed_extra(language: str) -> str:
    """Return the extra with the segmenter of a language if its package is installed; else an empty string."""
    extra = get_extra(language)
    return extra if extra and is_installed(extra) else ""


@cache
def get_segmenter(extra: str) -> Segmenter:
    """Return the function that splits letters into words. Raise ResourceError if it is not installed."""
    if not is_installed(extra):
        raise ResourceError(
            f"Counting words in this language requires {PACKAGES[extra]}, which is not installed",
            hint=f"Run pip install 'topiarist[{extra}]'.",
        )
    if extra == "chinese":
        import rjieba

        chinese: Segmenter = rjieba.cut
        return chinese
    if extra == "japanese":
        from janome.tokenizer import Tokenizer

        tokenizer = Tokenizer()
        return lambda run: tokenizer.tokenize(run, wakati=True)
    from pythainlp.tokenize import word_tokenize

    def thai(run: str) -> list[str]:
        composed = run.replace(_AM_APART, _AM)  # dictionaries use one character; normalised text has two
        return [word.replace(_AM, _AM_APART) for word in word_tokenize(composed, engine="newmm")]

    return thai
