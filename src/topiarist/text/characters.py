"""Characters of words in every script, and the form in which texts are compared.

Python's ``\\w`` omits combining marks, which would split a Hindi, Tamil or pointed Hebrew word. Here a word is ``\\w``
characters *and the marks and joiners that follow them*. Scripts without spaces between words (Han, kana, Thai, Lao,
Khmer, Burmese) are recognised by their blocks. The tables come from ``unicodedata`` and are built once, on the first
text that is not plain ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

# Invisible characters that may stand inside a word and carry no meaning: soft hyphen, word joiner, byte order
# mark, variation selectors. They are removed before anything else.
IGNORABLE = "\u00ad\u2060\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Zero-width (non-)joiners shape letters in Persian and the scripts of India: they belong to the word.
JOINERS = "\u200c\u200d"
# Control characters act on terminals (C0 without tab and line feed, delete, C1). Bidirectional controls reorder the
# letters around them, so that a name or a file can show something else than it holds.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Blocks written without spaces between words, without their digits: a number stays one word.
UNSPACED_SCRIPTS = (
    "\u0e01-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff"  # Thai, Lao
    "\u1000-\u103f\u104a-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9ff\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17df\u17ea-\u17ff"  # Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # signs that repeat or stand for characters
    "\u3041-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # Han, older kana
)
_MARKS_END = 0x1F000  # the last assigned block with combining marks ends below; variation selectors are ignorable
# The time of `unicodedata` to sort the marks of a letter grows with the square of their number. No language
# puts more than 30 on one letter (UAX #15, stream-safe text), so a run of 256 is cut to 30. The search for a run is
# cheap: of every 32nd character, eight in a row must be marks.
_MARKS_KEPT, _MARKS_STEP, _MARKS_SEEN = 30, 32, 8
_MARKS_IN_LETTERS = "\uff9e\uff9f"  # letters by category that normalise to marks
_JAMO_TAILS = range(0x1160, 0x1200)  # vowels and final consonants that fuse with the syllable before them


class Patterns(NamedTuple):
    """Regular expressions over normalised, non-ASCII text."""

    ignorable: re.Pattern[str]
    many_marks: re.Pattern[str]  # matches every 32nd character of a text with too long a run of marks
    mark_run: re.Pattern[str]  # too long a run of marks; the group is the part to keep
    beyond_latin: re.Pattern[str]  # a character that is neither in Latin-1 nor a quote, a dash or the like
    unusual: re.Pattern[str]  # a character that the fast pattern does not support
    word: re.Pattern[str]  # runs of word characters with marks of the basic plane
    any_word: re.Pattern[str]  # the same with the marks of all planes
    unspaced_run: re.Pattern[str]
    unspaced_character: re.Pattern[str]  # one letter with its marks


def _format_ranges(codes: Iterable[int]) -> str:
    """Return a character class body for sorted code points."""
    parts: list[list[int]] = []
    for code in codes:
        if parts and code == parts[-1][1] + 1:
            parts[-1][1] = code
        else:
            parts.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in parts)


@cache
def patterns() -> Patterns:
    """Return the compiled patterns (made on the first call)."""
    ignorable = re.compile(f"[{IGNORABLE}]")
    marks = [
        code
        for code in range(0x300, _MARKS_END)
        if unicodedata.category(chr(code))[0] == "M" and not ignorable.match(chr(code))
    ]
    basic_marks = _format_ranges(code for code in marks if code < 0x10000)
    basic = basic_marks + JOINERS
    all_marks = _format_ranges(marks) + JOINERS
    mark = f"[{_format_ranges(marks)}{_MARKS_IN_LETTERS}]"
    return Patterns(
        ignorable=ignorable,
        # Of the other planes any character will do: a class of many ranges in them is slow.
        many_marks=re.compile(f"[{basic_marks}{_MARKS_IN_LETTERS}\U00010000-\U0010ffff]{{{_MARKS_SEEN}}}"),
        mark_run=re.compile(f"({mark}{{{_MARKS_KEPT}}}){mark}{{{_MARKS_STEP * _MARKS_SEEN - _MARKS_KEPT},}}"),
        beyond_latin=re.compile("[^\\x00-\\xff\\u2010-\\u2027\\u2030-\\u205e]"),
        unusual=re.compile(f"[{UNSPACED_SCRIPTS}\U00010000-\U0010ffff]"),
        word=re.compile(rf"\w+(?:[{basic}]+\w*)*"),
        any_word=re.compile(rf"\w+(?:[{all_marks}]+\w*)*"),
        unspaced_run=re.compile(f"(?![{all_marks}])[{UNSPACED_SCRIPTS}][{UNSPACED_SCRIPTS}{all_marks}]*"),
        unspaced_character=re.compile(f".[{all_marks}]*"),
    )


def normalise(text: str) -> str:
    """Return a text in the form in which words are compared: compatible characters unified, lower case.

    That is NFKC, lower case, NFKC again (lower case can undo a composition), without invisible characters.
    """
    if text.isascii():
        return text.lower()
    text = patterns().ignorable.sub("", text)
    if patterns().many_marks.search(text[::_MARKS_STEP]):
        text = patterns().mark_run.sub(r"\1", text)
    lower_case = unicodedata.normalize("NFKC", text).lower()
    return unicodedata.normalize("NFKC", lower_case)


def remove_controls(text: str) -> str:
    """Return a text without control characters and bidirectional controls; tabs and line breaks stay."""
    if text.isprintable():
        return text
    return _DIRECTIONS.sub("", _CONTROLS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")))


def clean_name(text: str) -> str:
    """Return a name in one line, with single spaces, without control characters and bidirectional controls."""
    return " ".join(remove_controls(text).split())


def _can_fuse_with_previous(character: str) -> bool:
    """Return whether normalisation can fuse a character with the one before it."""
    first = unicodedata.normalize("NFKD", character)[0]
    return (
        unicodedata.category(first)[0] == "M"
        or ord(first) in _JAMO_TAILS
        or patterns().ignorable.match(character) is not None
    )


def align_normalised(text: str) -> list[tuple[int, int]]:
    """Return for every character of ``normalise(text)`` the slice of ``text`` that it comes from.

    Characters that normalise together (a letter and its accents) share one slice.
    """
    source_slices: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and not text[end].isascii() and _can_fuse_with_previous(text[end]):
            continue
        source_slices.extend([(start, end)] * len(normalise(text[start:end])))
        start = end
    return source_slices


def to_storable(text: str) -> str:
    """Return a text that any file or database can store: without NUL and surrogates."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
