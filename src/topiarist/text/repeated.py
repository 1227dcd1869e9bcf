"""Lines that many documents share: navigation bars, disclaimers, signatures, the heads and feet of pages.

They are found by repetition alone, wherever in a document they stand. A line is compared without case, spacing and
numbers (``Page 3 of 9`` is ``page # of #``). Documents pass twice: once to count lines, in a bounded memory (of at most
``PLACES`` lines a count is kept, as Misra and Gries do it: never too high, and too low by at most the number of lines
in a place), and once more to look at the few that are frequent. Not every one of them says nothing:

- a short line must have company, a neighbour that stands beside it nearly always, or stand at an end of documents;
  a word that happens to fill a line is no navigation bar. A long one without either must be more frequent;
- a row of a table must have company that is none, for numbers are not compared; and what a message is about (its
  subject) is never left out;
- the lines of copies are those of one text: where the rest of the documents is the same too, nothing is repeated;
- a document of one line is all content.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from statistics import median

from topiarist.text.seen_hashes import SeenHashes

LEAST_DOCUMENTS, LEAST_SHARE = 10, 0.002  # that have a line, for it to be repeated
ALONE_SHARE = 0.01  # of a long line that has no company and is not at an end
PLACES = 1 << 18  # lines of which a count is kept
MOST_LINES = 4_000  # that are looked at more closely: the most frequent ones
LONG_WORDS, LONG_LETTERS, UNSPACED = 4, 15, 8  # words and letters of a line that needs no company; signs without spaces
TOGETHER = 0.6  # of the documents with either of two lines that have them beside each other: a block
AT_ENDS, ENDS = 0.9, 3  # of its documents have a line before the third other one, from either side: at an end
SHORT_SHARE, LONG_SHARE = 0.05, 0.005  # of all documents have a short, or a long, line at an end
SAMPLE, SKETCH, FEWEST = 8, 512, 3  # documents of a line that are compared, words of each, words that say something
THE_SAME = 0.75  # of the other words of one document are in another: copies

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SUBJECT = re.compile(r"(?:subject|title|betreff|titel|objet|titre|asunto|oggetto|onderwerp|re|aw|fwd?)\s*:")
_PAGE = re.compile(r"\W*(?:page|seite|página|pagina|sida|side|strona|стр\w*\.?|第)\s*#")
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
Span = tuple[int, int]


def plain_line(line: str) -> str:
    """A line as lines are compared: without case, spacing and numbers; nothing for one without a letter."""
    form = " ".join(_NUMBER.sub("#", line).casefold().split())
    return form if _LETTER.search(form) else ""


def says_something(line: str) -> bool:
    """Whether a line has a letter: only then it has a form to be compared by."""
    return _LETTER.search(line) is not None


def plain_lines(text: str) -> list[str]:
    """The lines of a text that say something; none of a text that has only one."""
    if "\n" not in text and len(text.splitlines()) < 2:
        return []
    forms = [form for form in map(plain_line, text.splitlines()) if form]
    return forms if len(forms) > 1 else []


def spans(text: str, lines: Collection[str]) -> list[Span]:
    """Where in a text the repeated lines are, from the first letter of a line to its last; neighbours in one piece."""
    if not lines or len(plain_lines(text)) < 2:
        return []
    found: list[Span] = []
    here, follows = 0, False
    for line in text.splitlines(keepends=True):
        form = plain_line(line)
        if form and form in lines:
            start, end = here + len(line) - len(line.lstrip()), here + len(line.rstrip())
            found[-1:] = [(found[-1][0], end)] if follows else [*found[-1:], (start, end)]
            follows = True
        elif line.strip():
            follows = False
        here += len(line)
    return found


def without(text: str, lines: Collection[str]) -> str:
    """A text without the repeated lines: what is counted of it."""
    found = spans(text, lines)
    if not found:
        return text
    starts, ends = [0, *(end for _, end in found)], [*(start for start, _ in found), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))


@dataclass
class Frequent:
    """Counts of the most frequent of many things, in a bounded memory; a count is never too high."""

    places: int = PLACES
    counts: dict[int, int] = field(default_factory=dict)

    def see(self, things: Iterable[int]) -> None:
        """Each of them once more."""
        counts = self.counts
        for thing in things:
            counts[thing] = counts.get(thing, 0) + 1
        if len(counts) > 2 * self.places:
            fewest = sorted(counts.values(), reverse=True)[self.places]
            self.counts = {thing: count - fewest for thing, count in counts.items() if count > fewest}


@dataclass
class LineCounts:
    """The first look: in how many documents lines are; exact copies of a document are seen once."""

    n_documents: int = 0
    _lines: Frequent = field(default_factory=Frequent)
    _texts: SeenHashes = field(default_factory=SeenHashes)

    def see(self, text: str) -> None:
        """One more document."""
        self.n_documents += 1
        if (forms := plain_lines(text)) and self._texts.add(hash(text)):
            self._lines.see({hash(form) for form in forms})

    @property
    def least(self) -> int:
        """Documents that must have a line."""
        return max(LEAST_DOCUMENTS, int(LEAST_SHARE * self.n_documents))

    def frequent(self) -> dict[int, int]:
        """Lines, by their marks, that may be repeated; the most frequent ones."""
        found = [(count, mark) for mark, count in self._lines.counts.items() if count >= self.least]
        return {mark: count for count, mark in sorted(found, reverse=True)[:MOST_LINES]}


@dataclass(frozen=True, slots=True)
class Repeated:
    """Lines that many documents share, as ``plain_line`` writes them, with the number of documents of each."""

    lines: tuple[tuple[str, int], ...] = ()

    @property
    def forms(self) -> frozenset[str]:
        """The lines alone."""
        return frozenset(form for form, _ in self.lines)


@dataclass
class _Line:
    """What a second look sees of one line."""

    documents: int = 0  # of exact copies one
    copies: int = 0  # exact ones, besides
    at_ends: int = 0
    sample: list[int] = field(default_factory=list)


@dataclass
class SecondLook:
    """The second look, at the documents of frequent lines: neighbours, places, and what else is in the documents."""

    n_documents: int
    least: int
    frequent: dict[int, int]
    _lines: dict[str, _Line] = field(default_factory=dict)
    _pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _words: dict[int, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)
    _texts: set[int] = field(default_factory=set)
    _number: int = 0

    def see(self, text: str) -> None:
        """One more document, in the order of the first look."""
        forms = plain_lines(text)
        known = [form if hash(form) in self.frequent else "" for form in forms]
        mark = hash(text)
        if not any(known):
            return
        if mark in self._texts:
            for form in set(known) - {""}:
                self._lines[form].copies += 1
            return
        self._texts.add(mark)
        self._number += 1
        ends, sampled = {*_beginning(known), *_beginning(known[::-1])}, False
        for form in set(known) - {""}:
            line = self._lines.setdefault(form, _Line())
            if line.documents % max(1, self.frequent[hash(form)] // SAMPLE) == 0 and len(line.sample) < SAMPLE:
                line.sample.append(self._number)
                sampled = True
            line.documents += 1
            line.at_ends += form in ends
        self._pairs.update({pair for pair in pairwise(known) if all(pair) and pair[0] != pair[1]})
        if sampled:
            rest = (form for form, repeated in zip(forms, known, strict=True) if not repeated)
            self._words[self._number] = _sketch(forms), _sketch(rest)

    def repeated(self) -> Repeated:
        """The lines that are repeated."""
        found = {form: line for form, line in self._lines.items() if line.documents >= self.least and is_free(form)}
        company = self._in_company(found)
        chosen = [
            (form, line.documents + line.copies)
            for form, line in found.items()
            if (form in company or self._stands_alone(form, line)) and not self._of_copies(line)
        ]
        return Repeated(tuple(sorted(chosen, key=lambda one: (-one[1], one[0]))))

    def _in_company(self, found: Collection[str]) -> set[str]:
        """Lines beside which another one stands nearly always; rows of tables beside a line that is none."""
        company = set()
        for (first, second), count in self._pairs.items():
            if first in found and second in found and not (is_row(first) and is_row(second)):
                either = max(self._lines[first].documents, self._lines[second].documents)
                company |= {first, second} if count >= TOGETHER * either else set()
        return company

    def _stands_alone(self, form: str, line: _Line) -> bool:
        """Whether a line needs no company: for where it stands, or for what it says and how often."""
        if is_row(form):
            return False
        ends = line.at_ends >= AT_ENDS * line.documents
        share = line.documents / max(self.n_documents, 1)
        if is_long(form):
            return share >= (LONG_SHARE if ends else ALONE_SHARE)
        return ends and share >= SHORT_SHARE

    def _of_copies(self, line: _Line) -> bool:
        """Whether the documents of a line have everything else in common, too."""
        told = []
        for one, other in permutations(line.sample, 2):
            rest, whole = self._words[one][1], self._words[other][0]
            if len(whole) == SKETCH:  # only words up to the last of the sketch can be told
                last = max(whole)
                rest = frozenset(word for word in rest if word <= last)
            if len(rest) >= FEWEST:
                told.append(len(rest & whole) / len(rest))
        return not told or median(told) >= THE_SAME


def is_free(form: str) -> bool:
    """Whether a line may be left out at all: not what a message is about."""
    return _SUBJECT.match(form) is None


def is_row(form: str) -> bool:
    """Whether a line is like a row of a table: several numbers, and not those of a page."""
    return form.count("#") > 1 and _PAGE.match(form) is None


def is_long(form: str) -> bool:
    """Whether a line says so much that no two documents have it by chance, or is the number of a page."""
    if _PAGE.match(form):
        return True
    letters = sum(map(str.isalpha, form))
    words = sum(1 for word in form.split() if _LETTER.search(word))
    return (words >= LONG_WORDS and letters >= LONG_LETTERS) or len(_UNSPACED.findall(form)) >= UNSPACED


def find_repeated(texts: Iterable[str], again: Iterable[str] | None = None) -> Repeated:
    """The lines that many of these texts share; ``again``: the same texts, where they can be passed only once."""
    counts = LineCounts()
    for text in texts:
        counts.see(text)
    return look_again(counts, texts if again is None else again)


def look_again(counts: LineCounts, texts: Iterable[str]) -> Repeated:
    """From the first look to the second, which is not taken where no line is frequent."""
    frequent = counts.frequent()
    if not frequent:
        return Repeated()
    second = SecondLook(counts.n_documents, counts.least, frequent)
    for text in texts:
        second.see(text)
    return second.repeated()


def _beginning(known: list[str]) -> Iterator[str]:
    """The frequent lines at the beginning: before so many others, which are written as nothing."""
    others = 0
    for form in known:
        others += not form
        if others == ENDS:
            return
        yield form


def _sketch(forms: Iterable[str]) -> frozenset[int]:
    """The words of lines, by their checksums; of many the same few of every document."""
    words = {zlib.crc32(word.encode()) for form in forms for word in _words(form)}
    return frozenset(sorted(words)[:SKETCH])


def _words(form: str) -> Iterator[str]:
    """Words between spaces; pairs of signs where a script has none."""
    for word in form.split():
        yield from map("".join, pairwise(word)) if len(word) > 2 and _UNSPACED.match(word) else (word,)
