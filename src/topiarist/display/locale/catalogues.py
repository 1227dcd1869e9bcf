"""Message catalogues, the current language and translated sentences.

A catalogue is a gettext file (``catalogues/de.po``, compiled to ``de.mo`` by ``tools/messages.py``). The source is
English. A message that the catalogue lacks appears completely in English.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations
from importlib.resources import files
from typing import Any, TypeVar

from topiarist.display import formats as words
from topiarist.display.locale.locales import LOCALES, Locale
from topiarist.errors import UsageError

ENGLISH = "en"
LANGUAGES = {"en": "English", "de": "Deutsch"}
AUTO = "auto"  # the preferred language of the browser
T = TypeVar("T", bound=Hashable)
_speaking: ContextVar[str] = ContextVar("language", default=ENGLISH)


@cache
def catalogue(language: str) -> dict[str, str]:
    """Read the messages of a language by their English text; empty for English."""
    place = files("topiarist.display.locale").joinpath("catalogues", f"{language}.mo")
    if language == ENGLISH:
        return {}
    with place.open("rb") as file:
        catalog: dict[Any, str] = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return {message: text for message, text in catalog.items() if isinstance(message, str) and text}


def message(language: str, text: str) -> str:
    """Return a message in a language; in English if the catalogue lacks it."""
    return catalogue(language).get(text, text)


def check_language(language: str) -> str:
    """Return a supported language; raise UsageError for any other."""
    if language != AUTO and language not in LANGUAGES:
        languages = ", ".join((AUTO, *LANGUAGES))
        raise UsageError(f"Expected a language of {languages}, got {language!r}", hint="Pass --language auto.")
    return language


def preferred_language(header: str) -> str:
    """Return the preferred supported language of an ``Accept-Language`` header, by default English."""
    preferences = []
    for place, part in enumerate(header[:1_000].split(",")):
        name, *rest = (parameter.strip() for parameter in part.split(";"))
        try:
            share = next((float(parameter[2:]) for parameter in rest if parameter[:2].lower() == "q="), 1.0)
        except ValueError:
            continue
        preferences.append((-share, place, name.lower().partition("-")[0]))
    return next((name for share, _, name in sorted(preferences) if name in LANGUAGES and share < 0), ENGLISH)


@contextmanager
def use_language(language: str) -> Iterator[None]:
    """Set the current language within a block."""
    token = _speaking.set(language)
    try:
        yield
    finally:
        _speaking.reset(token)


def current_language() -> str:
    return _speaking.get()


@dataclass(frozen=True)
class CountedNoun:
    """Number with its noun as a value of a sentence; singular and plural are messages of their own."""

    number: int
    singular: str
    plural: str = ""


@dataclass(frozen=True)
class Share:
    """Share as a value of a sentence, in percent with ``digits`` decimals."""

    share: float
    digits: int = 0


Value = str | float | CountedNoun | Share


def translate(text: str, /, **values: Value) -> str:
    """Return a sentence with its values in the current language.

    If the catalogue lacks the sentence, numbers and nouns are English too, so that no sentence mixes two languages.
    """
    language_code = current_language()
    if language_code != ENGLISH and text not in catalogue(language_code):
        language_code = ENGLISH
    texts = {name: _value(value, language_code, LOCALES[language_code]) for name, value in values.items()}
    return message(language_code, text).format(**texts) if texts else message(language_code, text)


def translate_table(table: Mapping[T, str]) -> dict[T, str]:
    """Return the messages of a table in the current language."""
    return {name: translate(text) for name, text in table.items()}


def share_between(share: float, low: float, high: float) -> str:
    """Return a share in percent with its interval: 12% (10–15)."""
    return LOCALES[current_language()].signs(words.share_between(share, low, high))


def times_between(number: float, low: float, high: float) -> str:
    """Return a ratio with its interval: 2.4 times (1.9–3.0), or more than 81 times."""
    if lowest := words.min_times(number, low):
        return translate("more than {number} times", number=lowest)
    return _times(words.times_between(number, low, high))


def times(number: float) -> str:
    """Return a ratio: 2.4 times."""
    return _times(words.times(number))


def _times(text: str) -> str:
    return LOCALES[current_language()].signs(text).replace("times", translate("times"))


def _value(value: Value, language: str, locale: Locale) -> str:
    """Return a value of a sentence as text in a language; a text unchanged."""
    if isinstance(value, CountedNoun):
        thing = value.singular if value.number == 1 else value.plural or f"{value.singular}s"
        return f"{locale.number(value.number)} {message(language, thing)}"
    if isinstance(value, Share):
        return locale.signs(f"{value.share:.{value.digits}%}").replace("%", locale.percent)
    return value if isinstance(value, str) else locale.number(value)
