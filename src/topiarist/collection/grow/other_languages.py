"""Main language of a collection and documents in other languages, for a grow with ``languages = "one"``.

Only the last document decides which language is the most frequent. Until then documents wait in an unnamed file, each
with its language.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from topiarist.text.documents import Document, Problem
from topiarist.text.language import Language, LanguageCounts, detect_text_language, language_name


class WaitingDocuments:
    """Documents in a file, and the number of documents in each language."""

    def __init__(self, file: IO[str], documents: Iterable[Document]) -> None:
        self.file, self.tally = file, LanguageCounts()
        for document in documents:
            code = detect_text_language(document.text)
            self.tally.add(code, document.text)
            file.write(json.dumps([code, asdict(document)]) + "\n")

    @property
    def language(self) -> Language:
        """Language of most documents."""
        return self.tally.most_frequent

    @property
    def tie_note(self) -> str:
        """Sentence on languages with equally many documents and the reason for the choice; empty without a tie."""
        tied = self.tally.ties
        if not tied:
            return ""
        names = " and ".join(map(language_name, sorted(tied)))
        number, chosen_name = self.tally.texts[tied[0]], language_name(self.language.code)
        letters = sorted(self.tally.letters[code] for code in tied)
        reason = "has more text" if letters[-1] > letters[-2] else "came first and none has more text"
        documents = f"{number:,} document{'s' * (number != 1)}"
        return f'{names} have {documents} each; {chosen_name} is taken, for it {reason} (language = "CODE"). '

    def __iter__(self) -> Iterator[tuple[str, Document]]:
        self.file.seek(0)
        for line in self.file:
            code, body = json.loads(line)
            columns = tuple((name, value) for name, value in body.pop("columns"))
            yield code, Document(**{**body, "labels": tuple(body["labels"])}, columns=columns)


@contextmanager
def collect_documents(documents: Iterable[Document], folder: Path) -> Iterator[WaitingDocuments]:
    """Collect all documents in an unnamed file of a folder."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=folder) as file:
        yield WaitingDocuments(file, documents)


def add_languages(documents: Iterable[Document]) -> Iterator[tuple[str, Document]]:
    """Yield documents with the language of each."""
    return ((detect_text_language(document.text), document) for document in documents)


@dataclass
class OtherLanguages:
    """Documents in other languages than the main one, which are excluded; short texts without a language stay."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    tie_note: str = ""

    def exclude(self, documents: Iterable[tuple[str, Document]], code: str) -> Iterator[Document]:
        """Yield the documents of a language, from documents with their languages."""
        for language, document in documents:
            if not language or not code or language == code:
                yield document
                continue
            self.counts[language] += 1
            problem = f'in {language_name(language)}: left out by languages = "one"'
            self.problems.append(Problem(document.id, problem))

    def describe(self, code: str) -> str:
        """Return the numbers of excluded documents in a sentence; empty without any."""
        number = self.counts.total()
        if not number:
            return ""
        languages = ", ".join(f"{language_name(other)} {size:,}" for other, size in self.counts.most_common())
        verb = "document is" if number == 1 else "documents are"
        return f"{self.tie_note}{number:,} {verb} not in {language_name(code)} and left out: {languages}"
