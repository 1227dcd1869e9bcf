"""A document as it comes from a reader, and a document that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from topiarist.errors import InputError


@dataclass(frozen=True, slots=True)
class Document:
    """One text with what is known about it."""

    id: str
    text: str
    title: str = ""
    labels: tuple[str, ...] = ()
    source: str = ""  # the file it came from, as the user named it
    date: str = ""  # in ISO 8601 where it can be read from this document alone, else as it was given
    given_date: str = ""  # as it was given, where that is different
    columns: tuple[tuple[str, str], ...] = ()  # what else is known of it: names and values


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was left out, and why."""

    source: str
    reason: str


def as_documents(items: Iterable[Document | str], first: int = 1) -> Iterator[Document]:
    """Documents as they are, and texts as documents whose ids are their numbers, from ``first`` on."""
    for number, item in enumerate(items, first):
        if isinstance(item, str):
            yield Document(str(number), item)
        elif isinstance(item, Document):
            yield item
        else:
            raise InputError(
                f"expected texts or documents, got {type(item).__name__} as number {number - first + 1}",
                hint="a list of strings, a column of a table of them, or Document(id, text)",
            )
