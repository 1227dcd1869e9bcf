"""Passages of long documents: pages or sections, else about 300 words up to the end of a sentence.

A passage is a document of its own. Its id names a part of its parent document, as a link into a file does:
``report.pdf#page=12``, ``book.epub#section=3.2`` (the second passage of the third section), ``minutes.txt#passage=7``.
Its title is that of the parent with the same in words. The id of a passage leads back to its parent.

Short documents stay whole. A page of very few words joins the next one (``#page=1-2``), and a page or section of many
words is split again. Sections are numbered in the order of the file, whatever their titles are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from topiarist.text.documents import Document
from topiarist.text.titles import add_title

PASSAGE_WORDS = 300  # of a passage, approximately
MIN_SPLIT_WORDS = PASSAGE_WORDS * 3 // 2  # of a document or a section that is split
MAX_PAGE_WORDS = 3 * PASSAGE_WORDS  # of a page that is split
MIN_PAGE_WORDS = 30  # of a page or section that is a passage of its own
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
_UNSPACED_LETTER = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[^\sa-zà-ÿа-я])|(?<=[。！？])[」』”]*|\n\s*\n\s*")
_LINE_END, _SPACE = re.compile(r"\n\s*"), re.compile(r"\s+")
LETTERS_PER_WORD = 2  # in scripts without spaces
MAX_UNSPACED_LETTERS = 200  # length of a piece of a line without spaces


class Part(NamedTuple):
    """Part of a parent document that a passage holds: pages from ``first`` to ``last``, or a passage within one."""

    parent_id: str
    kind: str
    first: int
    last: int
    inner: int = 0

    @property
    def id(self) -> str:
        """Id of the passage."""
        last_number = f"-{self.last}" if self.last != self.first else ""
        return f"{self.parent_id}#{self.kind}={self.first}{last_number}{f'.{self.inner}' if self.inner else ''}"

    @property
    def label(self) -> str:
        """Name of the part: ``page 12``, ``pages 1–2``, ``section 3, passage 2``."""
        kind = self.kind if self.first == self.last else f"{self.kind}s"
        last_number = f"–{self.last}" if self.last != self.first else ""
        return f"{kind} {self.first}{last_number}{f', passage {self.inner}' if self.inner else ''}"


def parse_part(id: str) -> Part | None:
    """Return the part that an id names; None for the id of a parent document."""
    match = _PART.search(id)
    if match is None or not match.start():
        return None
    kind, first, last, inner = match.groups()
    return Part(id[: match.start()], kind, int(first), int(last or first), int(inner or 0))


def get_parent_id(id: str) -> str:
    """Return the id of the parent document; the id itself if it names no part."""
    part = parse_part(id)
    return id if part is None else part.parent_id


def is_passage(document: Document) -> bool:
    """Return whether a document is a passage: its id and its title name the same part."""
    part = parse_part(document.id)
    return part is not None and document.title.endswith(f", {part.label}")


def get_parent_title(title: str, part: Part) -> str:
    """Return the title of the parent document from the title of a passage."""
    return title.removesuffix(f", {part.label}")


@dataclass
class PassageSplitter:
    """Splitter of a stream of documents, with counts of documents and passages."""

    documents: int = 0
    long: int = 0
    passages: int = 0  # of the long ones

    def split(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield documents, long ones as passages, and count both; passages are not split again."""
        parent_ids = set[str]()
        for document in documents:
            part = parse_part(document.id) if is_passage(document) else None
            if part is not None:  # split by an earlier reading
                self.passages += 1
                if part.parent_id not in parent_ids:
                    parent_ids.add(part.parent_id)
                    self.documents, self.long = self.documents + 1, self.long + 1
                yield document
                continue
            self.documents += 1
            split = split_passages(document)
            if len(split) > 1:
                self.long, self.passages = self.long + 1, self.passages + len(split)
            yield from split

    @property
    def facts(self) -> dict[str, int]:
        """Counts as plain JSON data."""
        return {"documents": self.documents, "long": self.long, "passages": self.passages}


def split_passages(document: Document) -> list[Document]:
    """Return the passages of a document in order; the document itself if it is short."""
    text = document.text
    if count_words(text) <= MIN_SPLIT_WORDS:
        return [document]
    document = add_title(document)
    kind, sections = _split_sections(document)
    passages = [
        (Part(document.id, kind, first, last, inner), passage)
        for first, last, section in _join_short(sections)
        for inner, passage in _split_text(section, MAX_PAGE_WORDS if kind == PAGE else MIN_SPLIT_WORDS)
    ]
    if kind == PASSAGE:  # a text without sections: passages are numbered from one
        passages = [
            (Part(document.id, kind, number, number), passage) for number, (_, passage) in enumerate(passages, 1)
        ]
    if len(passages) < 2:
        return [document]
    return [
        replace(document, id=part.id, text=passage, title=f"{document.title}, {part.label}")
        for part, passage in passages
    ]


def count_words(text: str) -> int:
    """Return the number of words of a text; two letters of a script without spaces are one word."""
    letters = 0 if text.isascii() else len(_UNSPACED_LETTER.findall(text))
    return len(text.split()) + letters // LETTERS_PER_WORD


def _split_sections(document: Document) -> tuple[str, list[str]]:
    """Return the kind of the sections of a document and their texts; the whole text if there are none."""
    text, name = document.text, (document.source or document.id).lower()
    if _PAGE_END in text:
        return (SECTION if name.endswith(_BOOKS) else PAGE), text.split(_PAGE_END)
    heading = _MARKDOWN_HEADING if name.endswith(_MARKDOWN) else _HEADING
    starts = [match.start() for match in heading.finditer(text)]
    if len(starts) < 2:
        return PASSAGE, [text]
    ends = [*starts[1:], len(text)]
    intro = [text[: starts[0]]] if text[: starts[0]].strip() else []
    return SECTION, [*intro, *(text[start:end] for start, end in zip(starts, ends, strict=True))]


def _join_short(parts: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the first and last number and the text of sections; short ones join the next, or the last the previous."""
    joined: list[tuple[int, int, str]] = []
    first, text = 0, ""
    for number, part in enumerate(parts, 1):
        if not part.strip():
            continue
        first, text = first or number, f"{text}\n\n{part.strip()}" if text else part.strip()
        if count_words(text) >= MIN_PAGE_WORDS:
            joined.append((first, number, text))
            first, text = 0, ""
    if text:
        start, _, previous = joined.pop() if joined else (first, 0, "")
        joined.append((start, len(parts), f"{previous}\n\n{text}" if previous else text))
    yield from joined


def _split_text(text: str, longest: int) -> Iterator[tuple[int, str]]:
    """Yield numbered passages of about ``PASSAGE_WORDS`` words, up to sentence ends; number 0 for the whole text."""
    total = count_words(text)
    if total <= longest:
        yield 0, text
        return
    n_passages = max(2, round(total / PASSAGE_WORDS))
    size = total / n_passages
    number, start, words = 1, 0, 0.0
    for end, n_words in _iterate_cut_places(text, size):
        words += n_words
        if number < n_passages and words >= size * number - n_words / 2:
            if passage := text[start:end].strip():
                yield number, passage
            start, number = end, number + 1
    if passage := text[start:].strip():
        yield number, passage


def _iterate_cut_places(text: str, size: float) -> Iterator[tuple[int, int]]:
    """Yield character positions where a text can be cut, with the number of words before each."""
    start = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        if end <= start:
            continue
        words = count_words(text[start:end])
        if words <= size:
            yield end, words
        else:  # a table, a list or a text without punctuation
            yield from _iterate_short_cut_places(text, start, end)
        start = end


def _iterate_short_cut_places(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of lines, else of words; in scripts without spaces every ``MAX_UNSPACED_LETTERS``."""
    place, boundary = start, _LINE_END if "\n" in text[start:end] else _SPACE
    for place_end in [*(match.end() for match in boundary.finditer(text, start, end)), end]:
        step = (
            MAX_UNSPACED_LETTERS if boundary is _SPACE and count_words(text[place:place_end]) > 1 else place_end - place
        )
        while place < place_end:
            stop = min(place_end, place + step)
            yield stop, count_words(text[place:stop])
            place = stop
