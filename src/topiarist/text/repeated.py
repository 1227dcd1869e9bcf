"""Repeated lines: navigation bars, disclaimers, signatures, the heads and feet of pages.

Lines are found by repetition alone, at any place of a document. They are compared without case, spacing and numbers:
``Page 3 of 9`` is ``page # of #``. Texts pass once. ``LineCounter`` counts their lines in bounded memory and writes the
hashes of all lines to a temporary file. It keeps a count of at most ``MAX_COUNTS`` lines (Misra and Gries): never too
high, and too low by at most the number of lines divided by ``MAX_COUNTS``. The file then shows how frequent lines lie
in their documents, and only a few texts are read again. A frequent line is repeated under these conditions:

- A short line needs a neighbour that is nearly always beside it, or must be at an end of its documents. A long line
  without either must be more frequent.
- A row of a table needs a neighbour that is not a row, because numbers are not compared. Subjects of messages stay.
- Lines of copies belong to one text: if the rest of their documents is equal too, nothing is repeated.
- Lines of one topic belong to their texts, too (*X is a …* in all descriptions of the parts of X). The documents of such
  a line share more of their rarer other words with each other than with the rest. A line at an end or with a neighbour
  can be the signature of a writer on one topic: its documents must share 12% of these words.
- A document of one line has no repeated lines.
"""

from __future__ import annotations

import re
import tempfile
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from statistics import mean, median

from topiarist.text.seen_keys import SeenKeys

MIN_DOCUMENTS, MIN_SHARE = 10, 0.002  # of the documents of a repeated line
MIN_SHARE_ALONE = 0.01  # of a long line without a neighbour that is not at an end
MAX_COUNTS = 1 << 18  # lines with a count
MAX_LINES = 4_000  # most frequent lines that are examined
LONG_WORDS, LONG_LETTERS, LONG_UNSPACED = 4, 15, 8  # words, letters and unspaced characters of a long line
TOGETHER = 0.6  # share of the documents with either of two lines that have them beside each other
AT_ENDS, ENDS = 0.9, 3  # share of documents in which a line comes before the third other line from an end
SHORT_SHARE, LONG_SHARE = 0.05, 0.005  # of all documents, for a short or long line at an end
SAMPLE, SKETCH, MIN_WORDS = 16, 512, 3  # compared documents of a line, words of each, words that can be compared
EQUAL_SHARE = 0.75  # of the other words of one document are in another: they are copies
BACKGROUND, MIN_BACKGROUND = 200, 20  # documents that stand for all, and those without a line that can be compared
GOLDEN = 2_654_435_769  # 2^32 divided by the golden ratio: its multiples choose rows without a period
MAX_WORD_SHARE = 0.05  # of the documents without a line that have a rarer word
# Rarer words that two documents of a line have in common, as a multiple of those of one and another document. A line that
# is spread over four collections: at most 1.6. A line of one category: 2 to 11 in 16 of 20 cases.
RELATED_RATIO = 2.0
# Share of the rarer words for a line at an end or with a neighbour, which can be a signature. Descriptions of packages with
# one topical line: .14 to .64, with a general one .03. Posts with one signature: .01 to .09.
RELATED_SHARE = 0.12
BATCH = 1_000  # texts that are read again together
SPOOL = 1 << 24  # bytes of hashes in memory before they go to a file

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SUBJECT = re.compile(r"(?:subject|title|betreff|titel|objet|titre|asunto|oggetto|onderwerp|re|aw|fwd?)\s*:")
_PAGE = re.compile(r"\W*(?:page|seite|página|pagina|sida|side|strona|стр\w*\.?|第)\s*#")
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
Span = tuple[int, int]


def plain_line(line: str) -> str:
    """Return the form by which lines are compared; an empty string for a line without letters."""
    form = " ".join(_NUMBER.sub("#", line).casefold().split())
    return form if _LETTER.search(form) else ""


def has_letters(line: str) -> bool:
    """Return whether a line has a letter, and so a form."""
    return _LETTER.search(line) is not None


def plain_lines(text: str) -> list[str]:
    """Return the forms of the lines of a text; none for a text with a single form."""
    if "\n" not in text and len(text.splitlines()) < 2:
        return []
    forms = [form for form in map(plain_line, text.splitlines()) if form]
    return forms if len(forms) > 1 else []


def spans(text: str, lines: Collection[str]) -> list[Span]:
    """Return the slices of the repeated lines of a text; adjacent lines are one slice."""
    if not lines or len(plain_lines(text)) < 2:
        return []
    slices: list[Span] = []
    position, follows = 0, False
    for line in text.splitlines(keepends=True):
        form = plain_line(line)
        if form and form in lines:
            start, end = position + len(line) - len(line.lstrip()), position + len(line.rstrip())
            slices[-1:] = [(slices[-1][0], end)] if follows else [*slices[-1:], (start, end)]
            follows = True
        elif line.strip():
            follows = False
        position += len(line)
    return slices


def without(text: str, lines: Collection[str]) -> str:
    """Return a text without its repeated lines."""
    return cut_spans(text, spans(text, lines))


def cut_spans(text: str, slices: Sequence[Span]) -> str:
    """Return a text without some slices of it."""
    if not slices:
        return text
    starts, ends = [0, *(end for _, end in slices)], [*(start for start, _ in slices), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))


@dataclass(frozen=True, slots=True)
class Repeated:
    """Repeated lines as ``plain_line`` writes them, each with its number of documents."""

    lines: tuple[tuple[str, int], ...] = ()

    @property
    def forms(self) -> frozenset[str]:
        return frozenset(form for form, _ in self.lines)


@dataclass
class FrequencyCounter:
    """Counts of the most frequent of many hashes in bounded memory; a count is never too high."""

    max_counts: int = MAX_COUNTS
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, hashes: Iterable[int]) -> None:
        """Count each hash once more."""
        counts = self.counts
        for number in hashes:
            counts[number] = counts.get(number, 0) + 1
        if len(counts) > 2 * self.max_counts:
            fewest = sorted(counts.values(), reverse=True)[self.max_counts]
            self.counts = {number: count - fewest for number, count in counts.items() if count > fewest}


@dataclass
class _Line:
    """The examined occurrences of one frequent line."""

    documents: int = 0  # without exact copies
    copies: int = 0
    at_ends: int = 0
    sample: list[int] = field(default_factory=list)  # rows of documents


class LineCounter:
    """Counts of the lines of texts, and the hashes of all lines in a file that is deleted with the process."""

    def __init__(self, folder: str | None = None) -> None:
        self.n_documents = 0
        self._counts, self._texts = FrequencyCounter(), SeenKeys(folder)
        self._file = tempfile.SpooledTemporaryFile(SPOOL, dir=folder)  # noqa: SIM115 - closed with the counter

    def add(self, text: str) -> None:
        """Count the lines of the next text; of exact copies only the first counts."""
        row, self.n_documents = self.n_documents, self.n_documents + 1
        if forms := plain_lines(text):
            hashes, is_new = list(map(hash, forms)), self._texts.add(hash(text))
            if is_new:
                self._counts.add(set(hashes))
            self._file.write(array("q", [row, is_new, len(hashes), *hashes]).tobytes())

    def finish(self) -> None:
        """Delete the hashes of the texts: no text follows."""
        self._texts.close()

    def find_repeated(self, read_texts: Callable[[Sequence[int]], Sequence[str]]) -> Repeated:
        """Return the repeated lines; ``read_texts`` returns the texts of some rows."""
        self.finish()
        if not (frequent := self._select_frequent()):
            return Repeated()
        finder = RepeatedLineFinder(self.n_documents, self._min_documents, frequent)
        for row, is_new, hashes in self._iterate_stored_lines():
            finder.add(row, hashes, is_new=is_new)
        return finder.find(read_texts)

    @property
    def _min_documents(self) -> int:
        return max(MIN_DOCUMENTS, int(MIN_SHARE * self.n_documents))

    def _select_frequent(self) -> dict[int, int]:
        """Return the hashes and counts of the most frequent lines."""
        counts = [(count, number) for number, count in self._counts.counts.items() if count >= self._min_documents]
        return {number: count for count, number in sorted(counts, reverse=True)[:MAX_LINES]}

    def _iterate_stored_lines(self) -> Iterator[tuple[int, bool, array[int]]]:
        """Yield the row, whether the text is new, and the hashes of the lines of each text."""
        self._file.seek(0)
        while header := self._file.read(24):
            row, is_new, number = array("q", header)
            yield row, bool(is_new), array("q", self._file.read(8 * number))


@dataclass
class RepeatedLineFinder:
    """Examination of frequent lines: their neighbours, their places, and the rest of their documents."""

    n_documents: int
    min_documents: int
    frequent: dict[int, int]  # documents by the hash of a line
    _background: dict[int, set[int]] = field(default_factory=dict)  # frequent lines of some documents, by row
    _lines: dict[int, _Line] = field(default_factory=dict)
    _pairs: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, row: int, hashes: Iterable[int], *, is_new: bool) -> None:
        """Count the frequent lines of a document; if it is not new, count it as a copy only."""
        lines = [number if number in self.frequent else None for number in hashes]
        distinct = {number for number in lines if number is not None}
        if is_new and row * GOLDEN % (1 << 32) * self.n_documents < BACKGROUND << 32:
            self._background[row] = distinct
        for number in distinct:
            line = self._lines.setdefault(number, _Line())
            if not is_new:
                line.copies += 1
                continue
            if line.documents % max(1, self.frequent[number] // SAMPLE) == 0 and len(line.sample) < SAMPLE:
                line.sample.append(row)
            line.documents += 1
        if distinct and is_new:
            for number in {*_select_first(lines), *_select_first(lines[::-1])}:
                self._lines[number].at_ends += 1
            self._pairs.update(
                (one, other) for one, other in pairwise(lines) if one is not None and other is not None and one != other
            )

    def find(self, read_texts: Callable[[Sequence[int]], Sequence[str]]) -> Repeated:
        """Return the lines that repeat without a topic, such as footers, with their document counts."""
        lines = {number: line for number, line in self._lines.items() if line.documents >= self.min_documents}
        rows = sorted({row for line in lines.values() for row in line.sample} | self._background.keys())
        forms: dict[int, str] = {}
        sketches: dict[int, tuple[frozenset[int], frozenset[int]]] = {}
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            for row, text in zip(batch, read_texts(batch), strict=True):
                hashes = {form: hash(form) for form in plain_lines(text)}
                forms.update((number, form) for form, number in hashes.items() if number in lines)
                rest = (form for form, number in hashes.items() if number not in self.frequent)
                sketches[row] = _sketch(hashes), _sketch(rest)
        forms = {number: form for number, form in forms.items() if _SUBJECT.match(form) is None}
        neighbours = self._find_with_neighbours(forms)
        counts = Counter(word for row in self._background for word in sketches[row][1])
        chosen = [
            (form, lines[number].documents + lines[number].copies)
            for number, form in forms.items()
            if (number in neighbours or self._can_stand_alone(form, lines[number]))
            and not _is_of_copies(lines[number].sample, sketches)
            and not self._has_topic(number, sketches, counts, in_block=number in neighbours)
        ]
        return Repeated(tuple(sorted(chosen, key=lambda entry: (-entry[1], entry[0]))))

    def _has_topic(
        self,
        number: int,
        sketches: dict[int, tuple[frozenset[int], frozenset[int]]],
        counts: Counter[int],
        *,
        in_block: bool,
    ) -> bool:
        """Return whether the documents of a line have more rarer words in common than with other documents.

        ``counts`` are the documents of the background with each word.
        """
        others = [row for row, lines in self._background.items() if number not in lines]
        if len(others) < MIN_BACKGROUND:
            return False
        of_line = Counter(word for row in self._background.keys() - set(others) for word in sketches[row][1])
        most = MAX_WORD_SHARE * len(others)

        def read_rarer_words(row: int) -> frozenset[int]:
            return frozenset(word for word in sketches[row][1] if counts[word] - of_line[word] <= most)

        documents = [words for words in map(read_rarer_words, self._lines[number].sample) if words]
        pairs = [_share_words(one, other) for place, one in enumerate(documents) for other in documents[:place]]
        line = self._lines[number]
        may_be_signature = in_block or line.at_ends >= AT_ENDS * line.documents
        if not pairs or (may_be_signature and mean(pairs) < RELATED_SHARE):
            return False
        far = [words for words in map(read_rarer_words, others[:: max(1, len(others) // MIN_BACKGROUND)]) if words]
        far_pairs = [_share_words(one, other) for one in documents for other in far]
        return not far_pairs or mean(pairs) > RELATED_RATIO * mean(far_pairs)

    def _find_with_neighbours(self, forms: dict[int, str]) -> set[int]:
        """Return the lines that nearly always have the same neighbour; rows of tables need one that is not a row."""
        lines: set[int] = set()
        for (first, second), count in self._pairs.items():
            if first in forms and second in forms and not (is_row(forms[first]) and is_row(forms[second])):
                either = max(self._lines[first].documents, self._lines[second].documents)
                lines |= {first, second} if count >= TOGETHER * either else set()
        return lines

    def _can_stand_alone(self, form: str, line: _Line) -> bool:
        """Return whether a repeated line may be dropped without repeated neighbours."""
        if is_row(form):
            return False
        at_ends = line.at_ends >= AT_ENDS * line.documents
        share = line.documents / max(self.n_documents, 1)
        if is_long(form):
            return share >= (LONG_SHARE if at_ends else MIN_SHARE_ALONE)
        return at_ends and share >= SHORT_SHARE


def is_row(form: str) -> bool:
    """Return whether a line looks like a row of a table: several numbers, and not those of a page."""
    return form.count("#") > 1 and _PAGE.match(form) is None


def is_long(form: str) -> bool:
    """Return whether a line is too long to be shared by chance, or the number of a page."""
    if _PAGE.match(form):
        return True
    letters = sum(map(str.isalpha, form))
    words = sum(1 for word in form.split() if _LETTER.search(word))
    return (words >= LONG_WORDS and letters >= LONG_LETTERS) or len(_UNSPACED.findall(form)) >= LONG_UNSPACED


def find_repeated(texts: Iterable[str]) -> Repeated:
    """Return the repeated lines of texts in memory."""
    texts, counter = list(texts), LineCounter()
    for text in texts:
        counter.add(text)
    return counter.find_repeated(lambda rows: [texts[row] for row in rows])


def _is_of_copies(rows: Sequence[int], sketches: dict[int, tuple[frozenset[int], frozenset[int]]]) -> bool:
    """Return whether sampled documents of a line have everything else in common, too."""
    shares = []
    for row, other in permutations(rows, 2):
        rest, words = sketches[row][1], sketches[other][0]
        if len(words) == SKETCH:  # a sketch holds only the smallest words
            last = max(words)
            rest = frozenset(word for word in rest if word <= last)
        if len(rest) >= MIN_WORDS:
            shares.append(len(rest & words) / len(rest))
    return not shares or median(shares) >= EQUAL_SHARE


def _share_words(one: frozenset[int], other: frozenset[int]) -> float:
    """Return the share of the words of the smaller sketch that are in the other."""
    return len(one & other) / min(len(one), len(other))


def _select_first(lines: list[int | None]) -> Iterator[int]:
    """Yield the frequent lines at the beginning: before ``ENDS`` other lines, which are None."""
    others = 0
    for number in lines:
        others += number is None
        if others == ENDS:
            return
        if number is not None:
            yield number


def _sketch(forms: Iterable[str]) -> frozenset[int]:
    """Return checksums of the words of lines; of many words the smallest checksums."""
    words = {zlib.crc32(word.encode()) for form in forms for word in _words(form)}
    return frozenset(sorted(words)[:SKETCH])


def _words(form: str) -> Iterator[str]:
    """Yield the words between spaces, and pairs of characters of scripts without spaces."""
    for word in form.split():
        yield from map("".join, pairwise(word)) if len(word) > 2 and _UNSPACED.match(word) else (word,)
