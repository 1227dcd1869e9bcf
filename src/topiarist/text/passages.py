"""Passages of long documents: their pages or sections where the file has them, else about 300 words to a sentence end.

A passage is a document of its own. Its id says which part of which document it is, as a link into a file would:
``report.pdf#page=12``, ``book.epub#section=3.2`` (the second passage of the third section), ``minutes.txt#passage=7``;
its title is that of the whole with the same in words. So everything that is done with documents is done with passages,
and from the id of any of them the whole is found again.

Short documents stay whole. A page with hardly a word goes with the one after it (``#page=1-2``), a page or section of
many words is cut once more. Sections are numbered as they follow in the file, whatever they are called there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from topiarist.text.documents import Document
from topiarist.text.titles import titled

WORDS = 300  # of a passage, more or less
LONG = WORDS * 3 // 2  # words of a document that is cut, and of a section that is cut once more
LONGEST_PAGE = 3 * WORDS  # words of a page that is cut once more
FEWEST = 30  # words of a page or section that stands alone
PAGE, SECTION, PASSAGE = KINDS = ("page", "section", "passage")

_PAGE_END = "\f"
_BOOKS = (".epub",)  # whose pages are sections
_MARKDOWN = (".md", ".markdown")
_PART = re.compile(r"#(page|section|passage)=(\d+)(?:-(\d+))?(?:\.(\d+))?\Z")
_HEADING = re.compile(
    r"^[ \t]*(?:chapter|section|part|kapitel|abschnitt|teil|chapitre|partie|cap[ií]tulo|capitolo|hoofdstuk|глава)"
    r"(?:[ \t]+(?:\d{1,3}|[ivxlc]{1,8})\b[^\n]{0,80}|:[ \t][^\n]{1,80})$",
    re.IGNORECASE | re.MULTILINE,
)
_MARKDOWN_HEADING = re.compile(r"^#{1,2}[ \t]+\S", re.MULTILINE)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[^\sa-zà-ÿа-я])|(?<=[。！？])[」』”]*|\n\s*\n\s*")
_LINE, _SPACE = re.compile(r"\n\s*"), re.compile(r"\s+")
LETTERS_A_WORD = 2  # of scripts without spaces
LETTERS = 200  # after which a line without spaces may be cut


class Part(NamedTuple):
    """Which part of which document a passage is: pages from ``first`` to ``last``, or a passage ``within`` one."""

    whole: str
    kind: str
    first: int
    last: int
    within: int = 0

    @property
    def id(self) -> str:
        """The id of the passage."""
        until = f"-{self.last}" if self.last != self.first else ""
        return f"{self.whole}#{self.kind}={self.first}{until}{f'.{self.within}' if self.within else ''}"

    @property
    def label(self) -> str:
        """In words: ``page 12``, ``pages 1–2``, ``section 3, passage 2``."""
        kind = self.kind if self.first == self.last else f"{self.kind}s"
        until = f"–{self.last}" if self.last != self.first else ""
        return f"{kind} {self.first}{until}{f', passage {self.within}' if self.within else ''}"


def part_of(id: str) -> Part | None:
    """Which part of a document an id names; None for one that names a whole document."""
    found = _PART.search(id)
    if found is None or not found.start():
        return None
    kind, first, last, within = found.groups()
    return Part(id[: found.start()], kind, int(first), int(last or first), int(within or 0))


def whole_id(id: str) -> str:
    """The id of the document that an id names a part of, else the id itself."""
    part = part_of(id)
    return id if part is None else part.whole


def is_passage(document: Document) -> bool:
    """Whether a document is a passage of another one: its id and its title say the same of it."""
    part = part_of(document.id)
    return part is not None and document.title.endswith(f", {part.label}")


def whole_title(title: str, part: Part) -> str:
    """The title of the whole, from that of a passage."""
    return title.removesuffix(f", {part.label}")


@dataclass
class Cutter:
    """Documents cut into passages as they pass, and how many there were."""

    documents: int = 0
    long: int = 0
    passages: int = 0  # of the long ones

    def cut(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The passages of long documents, and the others as they are; passages of before are not cut again."""
        wholes = set[str]()
        for document in documents:
            part = part_of(document.id) if is_passage(document) else None
            if part is not None:  # of an earlier reading
                self.passages += 1
                if part.whole not in wholes:
                    wholes.add(part.whole)
                    self.documents, self.long = self.documents + 1, self.long + 1
                yield document
                continue
            self.documents += 1
            found = passages(document)
            if len(found) > 1:
                self.long, self.passages = self.long + 1, self.passages + len(found)
            yield from found

    @property
    def facts(self) -> dict[str, int]:
        """As plain JSON data."""
        return {"documents": self.documents, "long": self.long, "passages": self.passages}


def passages(document: Document) -> list[Document]:
    """The passages of a document in their order; the document itself where it is short."""
    text = document.text
    if n_words(text) <= LONG:
        return [document]
    document = titled(document)
    kind, parts = _parts(document)
    found = [
        (Part(document.id, kind, first, last, within), piece)
        for first, last, whole in _joined(parts)
        for within, piece in _cut(whole, LONGEST_PAGE if kind == PAGE else LONG)
    ]
    if kind == PASSAGE:  # of a text without pages: numbered from one
        found = [(Part(document.id, kind, number, number), piece) for number, (_, piece) in enumerate(found, 1)]
    if len(found) < 2:
        return [document]
    return [replace(document, id=part.id, text=piece, title=f"{document.title}, {part.label}") for part, piece in found]


def n_words(text: str) -> int:
    """How many words a text has; of scripts without spaces, two letters are one."""
    letters = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return len(text.split()) + letters // LETTERS_A_WORD


def _parts(document: Document) -> tuple[str, list[str]]:
    """The pages or sections of a document, and which of both they are; else all of it as one."""
    text, name = document.text, (document.source or document.id).lower()
    if _PAGE_END in text:
        return (SECTION if name.endswith(_BOOKS) else PAGE), text.split(_PAGE_END)
    heading = _MARKDOWN_HEADING if name.endswith(_MARKDOWN) else _HEADING
    starts = [found.start() for found in heading.finditer(text)]
    if len(starts) < 2:
        return PASSAGE, [text]
    ends = [*starts[1:], len(text)]
    before = [text[: starts[0]]] if text[: starts[0]].strip() else []
    return SECTION, [*before, *(text[start:end] for start, end in zip(starts, ends, strict=True))]


def _joined(parts: list[str]) -> Iterator[tuple[int, int, str]]:
    """The numbers of parts and their text: those of hardly a word go with the next, at the end with the one before."""
    waiting: list[tuple[int, int, str]] = []
    first, text = 0, ""
    for number, part in enumerate(parts, 1):
        if not part.strip():
            continue
        first, text = first or number, f"{text}\n\n{part.strip()}" if text else part.strip()
        if n_words(text) >= FEWEST:
            waiting.append((first, number, text))
            first, text = 0, ""
    if text:
        start, _, before = waiting.pop() if waiting else (first, 0, "")
        waiting.append((start, len(parts), f"{before}\n\n{text}" if before else text))
    yield from waiting


def _cut(text: str, longest: int) -> Iterator[tuple[int, str]]:
    """A text in numbered pieces of about as many words as a passage has, to the ends of sentences; 0: in one piece."""
    total = n_words(text)
    if total <= longest:
        yield 0, text
        return
    pieces = max(2, round(total / WORDS))
    size = total / pieces
    number, start, words = 1, 0, 0.0
    for end, seen in _steps(text, size):
        words += seen
        if number < pieces and words >= size * number - seen / 2:
            if piece := text[start:end].strip():
                yield number, piece
            start, number = end, number + 1
    if piece := text[start:].strip():
        yield number, piece


def _steps(text: str, size: float) -> Iterator[tuple[int, int]]:
    """Where a text may be cut, and how many words there are since the last place: ends of sentences, else of words."""
    here = 0
    for end in [*(found.end() for found in _END.finditer(text)), len(text)]:
        if end <= here:
            continue
        words = n_words(text[here:end])
        if words <= size:
            yield end, words
        else:  # no sentence, but a table, a list, or something without signs
            yield from _short_steps(text, here, end)
        here = end


def _short_steps(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ends of lines, else of words; every some letters of a script without spaces."""
    here, between = start, _LINE if "\n" in text[start:end] else _SPACE
    for found in [*(match.end() for match in between.finditer(text, start, end)), end]:
        step = LETTERS if between is _SPACE and n_words(text[here:found]) > 1 else found - here
        while here < found:
            stop = min(found, here + step)
            yield stop, n_words(text[here:stop])
            here = stop
