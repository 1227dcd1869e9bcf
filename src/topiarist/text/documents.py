"""A document as it comes from a reader, and a document that could not be read."""

from __future__ import annotations

from dataclasses import dataclass


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
