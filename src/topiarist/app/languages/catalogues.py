"""The catalogues of messages, which language a reader wants, and sentences in it.

A catalogue is a file of gettext (``catalogues/de.po``, compiled to ``de.mo`` by ``tools/messages.py``); English is what
stands in the source. A message that a catalogue lacks is said in English, as a whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations
from importlib.resources import files
from typing import TypeVar

from topiarist.app import words
from topiarist.app.languages.locales import LOCALES, Locale
from topiarist.errors import UsageError

ENGLISH = "en"
LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "français", "es": "español"}
COMPLETE = ("en", "de")  # what a browser may ask for; the others are begun, and shown where somebody chose them
AUTO = "auto"  # as the browser of whoever reads asks for
T = TypeVar("T", bound=Hashable)
_speaking: ContextVar[str] = ContextVar("language", default=ENGLISH)


@cache
def catalogue(language: str) -> dict[str, str]:
    """The messages of a language by what they are in English."""
    place = files("topiarist.app.languages").joinpath("catalogues", f"{language}.mo")
    if language == ENGLISH:
        return {}
    with place.open("rb") as file:
        known = GNUTranslations(file)
    return {message: said for message, said in known._catalog.items() if isinstance(message, str) and said}  # type: ignore[attr-defined]


def message(language: str, text: str) -> str:
    """A message in a language; in English where the catalogue lacks it."""
    return catalogue(language).get(text, text)


def checked(language: str) -> str:
    """A language that somebody asked for, or an error that names those there are."""
    if language != AUTO and language not in LANGUAGES:
        known = ", ".join((AUTO, *LANGUAGES))
        raise UsageError(f"there are no pages in the language {language!r}; there are: {known}", hint="--language auto")
    return language


def wanted(header: str) -> str:
    """The language that a browser asks for by ``Accept-Language``, of those that are complete; else English."""
    asked = []
    for place, part in enumerate(header[:1_000].split(",")):
        name, *rest = (one.strip() for one in part.split(";"))
        try:
            share = next((float(one[2:]) for one in rest if one[:2].lower() == "q="), 1.0)
        except ValueError:
            continue
        asked.append((-share, place, name.lower().partition("-")[0]))
    return next((name for share, _, name in sorted(asked) if name in COMPLETE and share < 0), ENGLISH)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Sentences are in this language within the block."""
    before = _speaking.set(language)
    try:
        yield
    finally:
        _speaking.reset(before)


def language() -> str:
    """The language that is spoken now."""
    return _speaking.get()


@dataclass(frozen=True)
class Counted:
    """So many of something: a value of a sentence, which has its own message for one and for several."""

    number: int
    one: str
    many: str = ""


@dataclass(frozen=True)
class Share:
    """A share as a value of a sentence, in percent with so many digits."""

    share: float
    digits: int = 0


Value = str | float | Counted | Share


def worded(text: str, /, **values: Value) -> str:
    """A sentence with its values, in the language that is spoken; numbers and what is counted as it says them.

    Where the catalogue lacks the sentence all of it is English: half a sentence in each would help nobody.
    """
    spoken = language()
    if spoken != ENGLISH and text not in catalogue(spoken):
        spoken = ENGLISH
    told = {name: _value(value, spoken, LOCALES[spoken]) for name, value in values.items()}
    return message(spoken, text).format(**told) if told else message(spoken, text)


def all_worded(table: Mapping[T, str]) -> dict[T, str]:
    """A table of messages in the language that is spoken."""
    return {name: worded(text) for name, text in table.items()}


def share_between(share: float, low: float, high: float) -> str:
    """A share in percent with the ends of its interval: 12 % (10–15)."""
    return LOCALES[language()].signs(words.share_between(share, low, high))


def times_between(number: float, low: float, high: float) -> str:
    """How many times as much, with the ends of its interval: 2.4 times (1.9–3.0); or more than 81 times."""
    if least := words.least_times(number, low):
        return worded("more than {number} times", number=least)
    return _times(words.times_between(number, low, high))


def times(number: float) -> str:
    """How many times as much: 2.4 times."""
    return _times(words.times(number))


def _times(text: str) -> str:
    """What the phrase book says of times, with the word and the signs of the language."""
    return LOCALES[language()].signs(text).replace("times", worded("times"))


def _value(value: Value, spoken: str, locale: Locale) -> str:
    if isinstance(value, Counted):
        thing = value.one if value.number == 1 else value.many or f"{value.one}s"
        return f"{locale.number(value.number)} {message(spoken, thing)}"
    if isinstance(value, Share):
        return locale.signs(f"{value.share:.{value.digits}%}").replace("%", locale.percent)
    return value if isinstance(value, str) else locale.number(value)
