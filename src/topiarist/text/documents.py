"""Documents as readers yield them, and documents that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from topiarist.errors import InputError


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its id, title, labels, source, date and columns."""

    id: str
    text: str
    title: str = ""
    labels: tuple[str, ...] = ()
    source: str = ""  # path of its file, as the user typed it
    date: str = ""  # in ISO 8601 if this document alone decides it, else as in the source
    given_date: str = ""  # the text of the source, if it differs from ``date``
    columns: tuple[tuple[str, str], ...] = ()  # names and values
    has_file_date: bool = False  # ``date`` is that of the file, because the text has none


@dataclass(frozen=True, slots=True)
class Problem:
    """Skipped file, row or message, with the reason."""

    source: str
    reason: str


def as_documents(items: Iterable[Document | str], first_number: int = 1) -> Iterator[Document]:
    """Yield documents unchanged, and texts as documents with numbers as ids."""
    for number, item in enumerate(items, first_number):
        if isinstance(item, str):
            yield Document(str(number), item)
        elif isinstance(item, Document):
            yield item
        else:
            raise InputError(
                f"expected texts or documents, got {type(item).__name__} as number {number - first_number + 1}",
                hint="Pass a list of strings, a column of strings, or Document(id, text).",
            )
