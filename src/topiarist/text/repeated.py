"""Lines that many documents end with: footers, disclaimers, signatures of a mailing list.

They are noticed in one pass, with a bounded memory: of at most ``PLACES`` lines a count is kept, and when there is no
place left all counts go down by one (Misra and Gries). So a count is never too high, and too low by at most one in
``PLACES`` documents.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace

from topiarist.text.documents import Document

LEAST_WORDS = 10
LEAST_SHARE, LEAST_DOCUMENTS = 0.01, 20
LAST_LINES, LAST_CHARACTERS = 8, 4_000  # of a document that are looked at
PLACES = 1_000


@dataclass(frozen=True, slots=True)
class Repeated:
    """Lines at the end of many documents, and of how many at least."""

    lines: frozenset[str] = frozenset()
    n_documents: int = 0
    n_words: int = 0  # of the lines that so many documents share


@dataclass
class Endings:
    """Counts the lines that documents end with."""

    n_documents: int = 0
    _counts: dict[str, int] = field(default_factory=dict)

    def see(self, text: str) -> None:
        """One more document."""
        self.n_documents += 1
        for line in set(last_lines(text)):
            if line in self._counts or len(self._counts) < PLACES:
                self._counts[line] = self._counts.get(line, 0) + 1
            else:
                self._counts = {one: count - 1 for one, count in self._counts.items() if count > 1}

    def repeated(self) -> Repeated:
        """The lines that at least one in a hundred documents, and twenty, end with."""
        least = max(LEAST_DOCUMENTS, LEAST_SHARE * self.n_documents)
        found = {line: count for line, count in self._counts.items() if count >= least}
        if not found:
            return Repeated()
        most = max(found.values())
        together = [line for line, count in found.items() if count >= 0.9 * most]
        return Repeated(frozenset(found), most, sum(len(line.split()) for line in together))


def last_lines(text: str) -> list[str]:
    """The last lines of a document that are long enough to be a footer; never the whole of it."""
    lines = [" ".join(line.split()) for line in text[-LAST_CHARACTERS:].splitlines() if line.strip()]
    whole = len(lines) <= LAST_LINES and len(text) <= LAST_CHARACTERS
    return [line for line in lines[1 if whole else 0 :][-LAST_LINES:] if line.count(" ") >= LEAST_WORDS - 1]


def without(document: Document, lines: Container[str]) -> Document:
    """A document without these lines among its last ones."""
    every = document.text.splitlines(keepends=True)
    last = max(1, len(every) - 2 * LAST_LINES)
    kept = [line for number, line in enumerate(every) if number < last or " ".join(line.split()) not in lines]
    return document if len(kept) == len(every) else replace(document, text="".join(kept))


def find_repeated(documents: Iterable[Document]) -> Repeated:
    """The lines that many of these documents end with."""
    endings = Endings()
    for document in documents:
        endings.see(document.text)
    return endings.repeated()
