"""The one language of a collection, for a grow that leaves the others out: that of most documents, of all of them.

Documents come once, and only the last of them tells which language is the most frequent. So they wait in a file that
nobody sees, a line each, with the language of each beside it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from topiarist.text.documents import Document
from topiarist.text.language import Language, Tally, language_name, language_of_text


class Waiting:
    """Documents that wait, and how many there are in each language."""

    def __init__(self, file: IO[str], documents: Iterable[Document]) -> None:
        self.file, self.tally = file, Tally()
        for document in documents:
            code = language_of_text(document.text)
            self.tally.see(code, document.text)
            file.write(json.dumps([code, asdict(document)]) + "\n")

    @property
    def language(self) -> Language:
        """The language of most of them."""
        return self.tally.most_frequent

    @property
    def undecided(self) -> str:
        """That several languages have as many documents, and which was taken; nothing where one has most."""
        tied = self.tally.tied
        if not tied:
            return ""
        named = " and ".join(map(language_name, sorted(tied)))
        number, chosen = self.tally.texts[tied[0]], language_name(self.language.code)
        some = f"{number:,} document{'s' * (number != 1)}"
        letters = sorted(self.tally.letters[code] for code in tied)
        why = "has more text" if letters[-1] > letters[-2] else "came first and none has more text"
        return f"{named} have {some} each; {chosen} is taken, for it {why} (--language CODE). "

    def __iter__(self) -> Iterator[tuple[str, Document]]:
        self.file.seek(0)
        for line in self.file:
            code, body = json.loads(line)
            columns = tuple((name, value) for name, value in body.pop("columns"))
            yield code, Document(**{**body, "labels": tuple(body["labels"])}, columns=columns)


@contextmanager
def waiting(documents: Iterable[Document], folder: Path) -> Iterator[Waiting]:
    """Documents that wait in a file of a folder until all of them are there."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=folder) as file:
        yield Waiting(file, documents)


def with_languages(documents: Iterable[Document]) -> Iterator[tuple[str, Document]]:
    """Documents with the language of each, where nobody has to wait for all."""
    return ((language_of_text(document.text), document) for document in documents)
