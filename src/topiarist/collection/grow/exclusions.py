"""Text that is not counted, or counted once: repeated lines and duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Container
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from topiarist.collection.passages import count_documents
from topiarist.plurals import count_noun
from topiarist.storage.document_table import Documents
from topiarist.text.documents import Document
from topiarist.text.passages import get_parent_title, parse_part
from topiarist.text.repeated import Repeated, cut_spans, plain_line, spans, without
from topiarist.text.titles import add_title, make_title

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

BATCH = 1_000  # documents whose titles are changed together
REPEATED, COPIES = "repeated", "copies"  # names among the settings of a collection


@dataclass
class RepeatedLineFilter:
    """Documents without their repeated lines, with the number of words in these lines; or with them if ``keep``."""

    repeated: Repeated
    keep: bool = False
    documents: int = 0
    words: int = 0

    def iter_documents(self, documents: Documents) -> Iterator[Document]:
        """Yield documents without repeated lines; count these lines, and store titles that replace one."""
        forms = self.repeated.forms
        if not forms:
            yield from documents.iterate()
            return
        heads, new_titles = PageHeads(documents, forms), dict[int, Document]()
        for row, document in enumerate(documents.iterate()):
            slices, stripped = spans(document.text, forms), heads.retitle(document)
            if slices:
                self.documents += 1
                self.words += sum(len(document.text[start:end].split()) for start, end in slices)
                stripped = replace(add_title(stripped, forms), text=cut_spans(document.text, slices))
            yield document if self.keep else stripped
            if stripped.title != document.title and not self.keep:
                new_titles[row] = replace(document, title=stripped.title)
            if len(new_titles) == BATCH:
                documents.retitle(new_titles)
                new_titles.clear()
        documents.retitle(new_titles)

    @property
    def facts(self) -> dict[str, int]:
        """Numbers of lines, documents and words as plain JSON data."""
        lines = len(self.repeated.lines)
        return {"lines": lines, "documents": self.documents, "words": self.words, "kept": int(self.keep)}


class PageHeads:
    """Titles of documents whose title is the head of their pages, if several documents have the same head.

    A head that only one document has can be its title. The other documents and their passages get their first line that
    is not repeated.
    """

    def __init__(self, documents: Documents, forms: Container[str]) -> None:
        self.forms, self.titles = forms, dict[str, str]()  # by the id of a parent document
        parents = dict[str, str]()
        for id, title in zip(documents.ids(), documents.titles(), strict=True):
            part = parse_part(id)
            if part is not None and title.endswith(f", {part.label}"):
                parents.setdefault(part.parent_id, get_parent_title(title, part))
        times = Counter(parents.values())  # with numbers: Report 1 and Report 2 are two titles
        self.parents = {id for id, title in parents.items() if times[title] > 1 and plain_line(title) in forms}

    def retitle(self, document: Document) -> Document:
        """Return a passage with the new title of its document, which is made from the first passage."""
        part = parse_part(document.id)
        if part is None or part.parent_id not in self.parents:
            return document
        if part.parent_id not in self.titles:
            self.titles[part.parent_id] = make_title("", without(document.text, self.forms), part.parent_id)
        return replace(document, title=f"{self.titles[part.parent_id]}, {part.label}")


def describe_repeated_lines(facts: dict[str, Any], unit: str = "document") -> str:
    """Return a sentence on the repeated lines; empty without any. ``unit``: document or passage."""
    lines, documents = int(facts.get("lines", 0)), int(facts.get("documents", 0))
    if not lines:
        return ""
    subject = count_noun(lines, f"line that {unit}s share is", f"lines that {unit}s share are")
    treatment = "counted as any other, and shape the tree," if facts.get("kept") else "not counted,"
    return f"{subject} {treatment} in {count_noun(documents, unit)} ({facts.get('words', 0):,} words)"


def count_repeated_lines(texts: Iterable[str], repeated: Repeated) -> tuple[int, int]:
    """Return how many texts have repeated lines, and how many words these lines have."""
    number = words = 0
    for text in texts:
        slices = spans(text, repeated.forms)
        number += bool(slices)
        words += sum(len(text[start:end].split()) for start, end in slices)
    return number, words


def add_repeated_lines(facts: dict[str, Any], number: int, words: int) -> dict[str, Any]:
    """Return the facts on repeated lines with more documents and words."""
    return {**facts, "documents": facts.get("documents", 0) + number, "words": facts.get("words", 0) + words}


def describe_duplicates(copies: int, originals: int, unit: str = "document") -> str:
    """Return a sentence on duplicates of documents or passages; empty without any."""
    if not copies:
        return ""
    subject = count_noun(copies, f"{unit} is a copy or near-copy", f"{unit}s are copies or near-copies")
    return f"{subject} of {count_noun(originals, 'other')}"


@dataclass(frozen=True)
class Exclusions:
    """Repeated lines and duplicates of a collection: numbers of documents, a sentence for each, and the lines."""

    repeated_documents: int
    repeated_said: str
    n_copies: int
    copies_said: str
    lines: tuple[tuple[str, int], ...]


def find_exclusions(collection: Collection) -> Exclusions:
    """Return the repeated lines and duplicates of a collection."""
    facts, copies, unit = collection.settings.get(REPEATED) or {}, collection.copies, count_documents(collection).noun
    return Exclusions(
        int(facts.get("documents", 0)), describe_repeated_lines(facts, unit), len(copies),
        describe_duplicates(len(copies), copies.n_originals, unit), collection.counting.repeated.lines,
    )  # fmt: skip
