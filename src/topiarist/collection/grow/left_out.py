"""What a grow leaves out of counting, as it is told and kept: lines that many documents share, and copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Some
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from topiarist.collection.passages import unit
from topiarist.counts.copies import Copies
from topiarist.store.document_table import Documents
from topiarist.text.documents import Document, Problem
from topiarist.text.language import language_name
from topiarist.text.passages import part_of, whole_title
from topiarist.text.repeated import Repeated, plain_line, spans, without
from topiarist.text.titles import title_of, titled

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

REPEATED, COPIES = "repeated", "copies"  # what the settings of a collection call them
ADDED = "added"  # of the repeated lines: those of documents that were added since are counted in


@dataclass
class LeftOut:
    """Documents without the lines that many of them share, and how much that was; or would have been (``kept``)."""

    kept: bool = False
    lines: int = 0
    documents: int = 0
    words: int = 0
    _titles: dict[int, str] = field(default_factory=dict)

    def look(self, documents: Documents, repeated: Repeated) -> None:
        """See how much is repeated, and leave it where it is."""
        for _ in LeftOut.passing(self, documents, repeated):
            pass

    def passing(self, documents: Documents, repeated: Repeated) -> Iterator[Document]:
        """The documents of a new collection as they are counted; a title that is a repeated line becomes another."""
        self.lines, forms = len(repeated.lines), repeated.forms
        heads = PageHeads(documents, forms)
        for row, document in enumerate(documents.iterate()):
            found, named = spans(document.text, forms), heads.titled(document)
            if found:
                self.documents += 1
                self.words += sum(len(document.text[start:end].split()) for start, end in found)
                named = titled(named, forms)
            if named.title != document.title and not self.kept:
                self._titles[row] = named.title
            yield replace(named, text=without(document.text, forms)) if found else named
        documents.retitle(self._titles)

    def told(self, unit: str) -> str:
        """What was left out, in a sentence; nothing where nothing was."""
        return told_repeated(self.facts, unit)

    @property
    def facts(self) -> dict[str, int]:
        """As plain JSON data."""
        return {"lines": self.lines, "documents": self.documents, "words": self.words, "kept": int(self.kept), ADDED: 1}


class PageHeads:
    """Titles of cut documents that are the head of their pages, where several documents have the same head.

    The head of the pages of one document alone may well be its title. Each such document is called by the first line of
    its own, and its passages with it.
    """

    def __init__(self, documents: Documents, forms: Some[str]) -> None:
        self.forms, self.titles = forms, dict[str, str]()  # of whole documents, by their ids
        wholes = dict[str, str]()
        for id, title in zip(documents.ids(), documents.titles(), strict=True) if forms else ():
            part = part_of(id)
            if part is not None and title.endswith(f", {part.label}"):
                wholes.setdefault(part.whole, whole_title(title, part))
        shared = Counter(wholes.values())  # with their numbers: Report 1 and Report 2 are two titles
        self.wholes = {one for one, title in wholes.items() if shared[title] > 1 and plain_line(title) in forms}

    def titled(self, document: Document) -> Document:
        """A passage by the first line of its document; the first passage of each comes first."""
        part = part_of(document.id)
        if part is None or part.whole not in self.wholes:
            return document
        if part.whole not in self.titles:
            self.titles[part.whole] = title_of("", without(document.text, self.forms), part.whole)
        return replace(document, title=f"{self.titles[part.whole]}, {part.label}")


@dataclass
class OtherLanguages:
    """Documents of the language that is grown, and how many there were of others; what is too short to tell stays."""

    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    undecided: str = ""  # that several languages have as many documents

    def without(self, documents: Iterable[tuple[str, Document]], code: str) -> Iterator[Document]:
        """The documents of a language, of documents with the language of each."""
        for own, document in documents:
            if not own or not code or own == code:
                yield document
                continue
            self.left_out[own] += 1
            self.problems.append(Problem(document.id, f"in {language_name(own)}: left out by --languages one"))

    def said(self, code: str) -> str:
        """How many were left out, in a sentence; nothing where none was."""
        number = self.left_out.total()
        if not number:
            return ""
        told = ", ".join(f"{language_name(own)} {size:,}" for own, size in self.left_out.most_common())
        verb = "document is" if number == 1 else "documents are"
        return f"{self.undecided}{number:,} {verb} not in {language_name(code)} and left out: {told}"


def told_repeated(facts: dict[str, Any], unit: str = "document") -> str:
    """A sentence about the lines that were not counted; nothing where there are none. ``unit``: what has them."""
    lines, documents = int(facts.get("lines", 0)), int(facts.get("documents", 0))
    if not lines:
        return ""
    what = f"1 line that {unit}s share is" if lines == 1 else f"{lines:,} lines that {unit}s share are"
    how = "counted as any other, and shape the tree," if facts.get("kept") else "not counted,"
    return f"{what} {how} in {documents:,} {unit}{'s' * (documents != 1)} ({facts.get('words', 0):,} words)"


def repeated_in(texts: Iterable[str], repeated: Repeated) -> tuple[int, int]:
    """How many of some texts have lines that many share, and how many words these are."""
    number = words = 0
    for text in texts:
        found = spans(text, repeated.forms)
        number += bool(found)
        words += sum(len(text[start:end].split()) for start, end in found)
    return number, words


def with_repeated(known: dict[str, Any], number: int, words: int) -> dict[str, Any]:
    """What is told of repeated lines, with so many documents and words more."""
    return {**known, "documents": known.get("documents", 0) + number, "words": known.get("words", 0) + words}


def told_copies(copies: Copies, unit: str = "document") -> str:
    """A sentence about copies; nothing where there are none."""
    return told_numbers(len(copies), copies.n_originals, unit)


def told_numbers(copies: int, originals: int, unit: str = "document") -> str:
    """A sentence about so many copies of so many documents, or passages."""
    if not copies:
        return ""
    verb = f"{unit} is a copy or near-copy" if copies == 1 else f"{unit}s are copies or near-copies"
    return f"{copies:,} {verb} of {originals:,} {'other' if originals == 1 else 'others'}"


def left_out(collection: Collection) -> LeftOutFacts:
    """What a collection does not count, or counts once, as it is now."""
    known, copies, what = collection.settings.get(REPEATED) or {}, collection.copies, unit(collection)
    return LeftOutFacts(
        int(known.get("documents", 0)), told_repeated(known, what), len(copies), told_copies(copies, what),
        collection.counting.repeated.lines,
    )  # fmt: skip


@dataclass(frozen=True)
class LeftOutFacts:
    """Repeated lines and copies: how many documents they are in or are, a sentence for each, and the lines."""

    repeated_documents: int
    repeated_said: str
    n_copies: int
    copies_said: str
    lines: tuple[tuple[str, int], ...]
