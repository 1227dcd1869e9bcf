"""Tokeniser of texts in every script.

A word is a run of at least two word characters (letters, digits, underscore, with the marks that belong to
them) of the NFKC-normalised, lower-case text: the tokens of scikit-learn's ``CountVectorizer`` where both
apply. By default words without any letter are omitted. Apostrophes and hyphens separate words, as in
scikit-learn: *don't* becomes *don*, *l'eau* *eau*, *well-known* *well* and *known*.

Text in scripts without spaces between words becomes overlapping pairs of characters, or words if a segmenter
is chosen; a single character is kept.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from topiarist.text.characters import align_normalised, normalise, patterns
from topiarist.text.segmenters import get_segmenter

_SIGN_WORD = (
    "\ue000"  # replaces signs between runs of letters: a private character that the full-text index treats as a word
)
# ASCII text needs no regular expression: this table lower-cases letters and turns separators into spaces.
_ASCII = "".join(chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
# Western European text with quotes and dashes is split in the same way, as one byte per character.
_LATIN = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256))


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Splitter of texts into words; call it with a text.

    ``numbers`` keeps tokens without letters, such as *1984*. ``words`` names the segmenter of a script without spaces
    ("chinese", "japanese", "thai"); an empty string makes pairs of letters.
    """

    numbers: bool = False
    words: str = ""

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text in order."""
        return list(filter(self.is_word, self.split_candidates(text)))

    def split_candidates(self, text: str) -> list[str]:
        """Return all candidates of a text: its words, and tokens for which ``is_word`` is false.

        A call of ``is_word`` for each different candidate is much cheaper than one for each occurrence. Counters use
        the two methods separately; all other code calls the tokeniser.
        """
        if text.isascii():
            return text.translate(_ASCII).split()
        text = normalise(text)
        if text.isascii():
            return text.translate(_ASCII).split()
        if not patterns().beyond_latin.search(text):
            return text.encode("latin-1", "replace").translate(_LATIN).decode("latin-1").split()
        if patterns().unusual.search(text):
            return [text[start:end] for start, end in _iterate_spans(text, self.words)]
        return patterns().word.findall(text)

    def is_word(self, piece: str) -> bool:
        """Return whether a candidate counts as a word."""
        if piece.isascii():
            return len(piece) > 1 and (self.numbers or piece.islower())
        if len(piece) == 1:
            return is_unspaced(piece) and (self.numbers or piece.isalpha())
        return self.numbers or any(map(str.isalpha, piece))

    def offsets(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each word with its slice of the *original* text: (word, start, end).

        Pairs of characters from scripts without spaces overlap, and so do their slices.
        """
        form = normalise(text)
        source = None if text.isascii() else align_normalised(text)
        for start, end in _iterate_spans(form, self.words):
            word = form[start:end]
            if not self.is_word(word):
                continue
            if source is None:
                yield word, start, end
            else:
                yield word, source[start][0], source[end - 1][1]


def has_unspaced(text: str) -> bool:
    """Return whether a text holds letters of a script without spaces between words."""
    return not text.isascii() and patterns().unspaced_run.search(text) is not None


def separate_unspaced_letters(text: str) -> str:
    """Return a text with a space around each letter of a script without spaces.

    The full-text index stores such texts and finds a run of letters as a phrase. Signs between two runs become a word
    of their own, so that no phrase matches across them.
    """
    if not has_unspaced(text):
        return text
    form, pieces, place = unicodedata.normalize("NFKC", text), [], 0
    for run in patterns().unspaced_run.finditer(form):
        gap = form[place : run.start()]
        is_sign_only = place and gap and not any(map(str.isalnum, gap))
        pieces += [_SIGN_WORD if is_sign_only else gap, *patterns().unspaced_character.findall(run[0])]
        place = run.end()
    return " ".join([*pieces, form[place:]])


def is_unspaced(word: str) -> bool:
    """Return whether a word is a pair of characters from a script without spaces between words."""
    return not word.isascii() and patterns().unspaced_run.match(word) is not None


def _iterate_spans(text: str, words: str = "") -> Iterator[tuple[int, int]]:
    """Yield the slices of the candidates in normalised text."""
    runs = patterns().unspaced_run
    for word in patterns().any_word.finditer(text):
        place, end = word.span()
        for run in runs.finditer(text, place, end):
            if place < run.start():
                yield place, run.start()
            yield from (
                _iterate_segment_spans(text, *run.span(), words) if words else _iterate_pair_spans(text, *run.span())
            )
            place = run.end()
        if place < end:
            yield place, end


def _iterate_segment_spans(text: str, start: int, end: int, extra: str) -> Iterator[tuple[int, int]]:
    """Yield the words of a run as the segmenter splits it; pairs of characters if it changes the text.

    Pairs of Chinese words of three or more letters count as well, because they are mostly words: trees of words alone
    are worse (NMI of headlines .49, .52 with both).
    """
    segments = list(get_segmenter(extra)(text[start:end]))
    if "".join(segments) != text[start:end]:
        yield from _iterate_pair_spans(text, start, end)
        return
    for word in segments:
        if extra == "chinese" and len(word) > 2:
            yield from _iterate_pair_spans(text, start, start + len(word))
        yield start, start + len(word)
        start += len(word)


def _iterate_pair_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield overlapping pairs of characters (each with its marks), or the only character."""
    characters = [match.span() for match in patterns().unspaced_character.finditer(text, start, end)]
    if len(characters) == 1:
        yield characters[0]
    for (first, _), (_, last) in pairwise(characters):
        yield first, last
