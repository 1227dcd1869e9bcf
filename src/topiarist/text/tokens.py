"""From a text to its words, in every script.

A word is a run of at least two word characters (letters, digits, underscore, with the marks that belong to
them) of the NFKC-normalised, lower-cased text: the tokens of scikit-learn's ``CountVectorizer`` where both
apply. By default words without any letter are left out. Apostrophes and hyphens separate words, as they do
there: *don't* gives *don*, *l'eau* gives *eau*, *well-known* gives *well* and *known*.

Text in scripts that put no spaces between words becomes overlapping pairs of characters, or words where a segmenter
is asked for; a character standing alone is kept.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from topiarist.text.characters import alignment, normalised, patterns
from topiarist.text.segmenters import segmenter

_SIGNS = "\ue000"  # stands for signs between runs of letters: a private character, a word to the full-text index
# ASCII text needs no regular expression: this table lower-cases letters and turns separators into spaces.
_ASCII = "".join(chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
# Nor does text of western Europe with quotes and dashes of any kind: as one byte a character it is cut in the same way.
_LATIN = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256))


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Splits texts into words; call it with a text.

    ``numbers`` keeps tokens that hold no letter, such as *1984*. ``words`` names what knows the words of a script
    without spaces ("chinese", "japanese", "thai"); pairs of letters otherwise.
    """

    numbers: bool = False
    words: str = ""

    def __call__(self, text: str) -> list[str]:
        """Return the words of ``text`` in order."""
        return list(filter(self.keeps, self.pieces(text)))

    def pieces(self, text: str) -> list[str]:
        """Return all candidates of ``text``: its words, and tokens that ``keeps`` would refuse.

        Asking ``keeps`` once per different candidate is much cheaper than once per occurrence; a counter uses
        the two separately, everyone else calls the tokeniser.
        """
        if text.isascii():
            return text.translate(_ASCII).split()
        text = normalised(text)
        if text.isascii():
            return text.translate(_ASCII).split()
        if not patterns().beyond_latin.search(text):
            return text.encode("latin-1", "replace").translate(_LATIN).decode("latin-1").split()
        if patterns().unusual.search(text):
            return [text[start:end] for start, end in _spans(text, self.words)]
        return patterns().word.findall(text)

    def keeps(self, piece: str) -> bool:
        """Tell whether a candidate counts as a word."""
        if piece.isascii():
            return len(piece) > 1 and (self.numbers or piece.islower())
        if len(piece) == 1:
            return is_unspaced(piece) and (self.numbers or piece.isalpha())
        return self.numbers or any(map(str.isalpha, piece))

    def offsets(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each word with the slice of the *original* text it stands for: (word, start, end).

        Pairs of characters from scripts without spaces overlap, and so do their slices.
        """
        form = normalised(text)
        source = None if text.isascii() else alignment(text)
        for start, end in _spans(form, self.words):
            word = form[start:end]
            if not self.keeps(word):
                continue
            if source is None:
                yield word, start, end
            else:
                yield word, source[start][0], source[end - 1][1]


def has_unspaced(text: str) -> bool:
    """Tell whether a text holds letters of a script without spaces between words."""
    return not text.isascii() and patterns().unspaced_run.search(text) is not None


def letters_apart(text: str) -> str:
    """Return a text with a space around each letter of a script without spaces; other texts as they are.

    So the full-text index keeps them: a run of letters is found wherever it stands, as a phrase of its letters. Signs
    between two runs become a word of their own, so that no run is found across them.
    """
    if not has_unspaced(text):
        return text
    form, pieces, here = unicodedata.normalize("NFKC", text), [], 0
    for run in patterns().unspaced_run.finditer(form):
        between = form[here : run.start()]
        apart = here and between and not any(map(str.isalnum, between))
        pieces += [_SIGNS if apart else between, *patterns().unspaced_character.findall(run[0])]
        here = run.end()
    return " ".join([*pieces, form[here:]])


def is_unspaced(word: str) -> bool:
    """Tell whether ``word`` is a pair of characters from a script without spaces between words."""
    return not word.isascii() and patterns().unspaced_run.match(word) is not None


def _spans(text: str, words: str = "") -> Iterator[tuple[int, int]]:
    """Yield the slices of the candidates in normalised text, whatever characters it holds."""
    runs = patterns().unspaced_run
    for word in patterns().any_word.finditer(text):
        here, end = word.span()
        for run in runs.finditer(text, here, end):
            if here < run.start():
                yield here, run.start()
            yield from _words(text, *run.span(), words) if words else _pairs(text, *run.span())
            here = run.end()
        if here < end:
            yield here, end


def _words(text: str, start: int, end: int, extra: str) -> Iterator[tuple[int, int]]:
    """Yield the words of a run, as a segmenter cuts it; pairs of characters where it changes what it is given.

    Of Chinese words of three letters and more the pairs count as well: they are words most often, and trees of words
    alone are worse (NMI of headlines .49 against .52 with either).
    """
    found = list(segmenter(extra)(text[start:end]))
    if "".join(found) != text[start:end]:
        yield from _pairs(text, start, end)
        return
    for word in found:
        if extra == "chinese" and len(word) > 2:
            yield from _pairs(text, start, start + len(word))
        yield start, start + len(word)
        start += len(word)


def _pairs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield overlapping pairs of characters (each with its marks), or the only character."""
    characters = [found.span() for found in patterns().unspaced_character.finditer(text, start, end)]
    if len(characters) == 1:
        yield characters[0]
    for (first, _), (_, last) in pairwise(characters):
        yield first, last
