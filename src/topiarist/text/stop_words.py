"""Stop words by language, from a file or as a list. None are used by default.

English uses scikit-learn's 318 words: longer English lists contain *system*, *computer* and *information* and
delete topics. Other languages use the lists of the stopwordsiso package.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from topiarist.errors import UsageError
from topiarist.text.language import NAMES, find_language_code, get_language_code
from topiarist.text.tokens import Tokenizer, is_unspaced

_TOKENS = Tokenizer(numbers=True)
_ENGLISH = """
a about above across after again against all almost along already also although always am among amongst an and another
any are aren around as at be became because become becomes been before being below beside besides between beyond both
but by can cannot could couldn did didn do does doesn doing don done down during each either else especially etc even
ever every few for from further furthermore get gets getting got had has hasn have having he hence her here hers
herself him himself his how however i if in indeed instead into is isn it its itself just latter least less let lets
lot made make makes making many may maybe me mere might mine more moreover most mostly much must my myself namely near
neither never nevertheless no none nor not nothing now of off often on once one ones only onto or other others
otherwise ought our ours ourselves out over own per perhaps quite rather re really regarding said same say says seem
seemed seems several shall she should shouldn since so some somehow something sometimes still such than that the their
theirs them themselves then there thereby therefore therein these they this those though through throughout thus to
together too toward towards under unless unlike until up upon us use used uses using usually various very via was wasn
we well were weren what whatever when whenever where whereas whereby wherein whether which while who whole whom whose
why will with within without won would wouldn yet you your yours yourself
"""
_MARKUP = """
mathbb mathcal mathrm mathfrak mathbf mathsf mathscr mathit frac sqrt ldots cdot cdots leq geq infty textit textbf emph
http https www html href nbsp amp quot
"""  # of TeX and of the web, in texts of every language


def has_stop_words(language: str) -> bool:
    """Return whether a language has a stop list; False for an unknown language."""
    import stopwordsiso

    code = find_language_code(language)
    return code == "en" or bool(stopwordsiso.has_lang(code))


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language (code or English name). Raise UsageError without a list."""
    code = get_language_code(language)
    if code == "en":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return as_tokens(ENGLISH_STOP_WORDS)
    import stopwordsiso

    if not has_stop_words(code):
        raise UsageError(
            f"there is no stop list for {NAMES[code]}",
            hint="Omit stop words, because general words are found without a list, or pass a file.",
        )
    return as_tokens(stopwordsiso.stopwords(code))


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the function words of a language, and words of markup.

    They are counted like all words and only excluded from topic names. English has a list of its own: its stop words
    contain *system*, *interest* and *fire*, which are good names.
    """
    code = find_language_code(language)
    if code == "en":
        return frozenset((_ENGLISH + _MARKUP).split())
    return frozenset(_MARKUP.split()) | (stop_words(code) if code and has_stop_words(code) else frozenset())


def stop_words_from_file(path: str | Path) -> frozenset[str]:
    """Return the stop words of a UTF-8 file, separated by white space; lines that begin with # are comments."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"expected a UTF-8 file of stop words at {path}: {error}",
            hint="Check the path, or save the file as UTF-8.",
        ) from error
    return as_tokens(word for line in lines if not line.startswith("#") for word in line.split())


def as_tokens(entries: Iterable[str]) -> frozenset[str]:
    """Return the tokens of a stop list.

    The parts of an entry that the tokeniser splits (*c'est*) are stop words, because only those occur in texts. An
    entry in a script without spaces is skipped if it is split: its pairs occur in other words too.
    """
    words: set[str] = set()
    for entry in entries:
        tokens = _TOKENS(entry)
        if len(tokens) == 1 or not any(map(is_unspaced, tokens)):
            words.update(tokens)
    return frozenset(words)


def resolve_stop_words(choice: str | Iterable[str] | None) -> frozenset[str]:
    """Return the stop words of a setting: a language, a list of words, or None."""
    if choice is None:
        return frozenset()
    if isinstance(choice, str):
        return stop_words(choice)
    return as_tokens(choice)
