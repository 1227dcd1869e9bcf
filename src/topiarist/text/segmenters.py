"""Words of Chinese, Japanese and Thai, where a package that knows them is installed; pairs of letters otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec

from topiarist.errors import ResourceError
from topiarist.text.language import known_code

EXTRAS = {"zh": "chinese", "ja": "japanese", "th": "thai"}  # languages without spaces, and what brings their words
PACKAGES = {"chinese": "rjieba", "japanese": "janome", "thai": "pythainlp"}

_AM, _AM_APART = "\u0e33", "\u0e4d\u0e32"

Segmenter = Callable[[str], Iterable[str]]


def extra_of(language: str) -> str:
    """The extra that knows the words of a language; nothing where spaces do."""
    return EXTRAS.get(known_code(language) or language, "")


def is_installed(extra: str) -> bool:
    """Whether the package behind an extra is here."""
    return find_spec(PACKAGES[extra]) is not None


def installed_for(language: str) -> str:
    """The extra that knows the words of a language, if its package is here; else nothing."""
    extra = extra_of(language)
    return extra if extra and is_installed(extra) else ""


@cache
def segmenter(extra: str) -> Segmenter:
    """What cuts a run of letters into words."""
    if not is_installed(extra):
        raise ResourceError(
            f"these texts were counted by their words, which takes {PACKAGES[extra]}: it is not installed here",
            hint=f"pip install 'topiarist[{extra}]'",
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
        whole = run.replace(_AM_APART, _AM)  # as dictionaries spell it; normalised text has it in two
        return [word.replace(_AM, _AM_APART) for word in word_tokenize(whole, engine="newmm")]

    return thai
