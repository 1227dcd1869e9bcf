"""Titles of documents: their own title, else the first line, else the name of the file."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import takewhile

from topiarist.text.documents import Document
from topiarist.text.repeated import has_letters, without

MAX_TITLE_LENGTH = 100  # characters of a title made from a line
SEARCHED_LENGTH = 4_000  # characters of a text that are searched for its first line
ELLIPSIS = " …"
_MARKUP, _CLOSING = "#*=-_~>|•\\/ \t\ufeff", "#*=-_~ \t"
_HEADER = re.compile(r"[A-Za-z][\w-]{1,30}:\s")
_SUBJECT = re.compile(r"(?:subject|title):\s+(\S.*)", re.IGNORECASE)


def get_first_line(text: str) -> str:
    """Return the first line with letters, cut to ``MAX_TITLE_LENGTH``; an empty string without such a line.

    If the text begins with the header of a message, return its subject.
    """
    lines = [line for line in text[:SEARCHED_LENGTH].splitlines() if has_letters(line)]
    if not lines:
        return ""
    line = next((match[1] for match in map(_SUBJECT.match, takewhile(_HEADER.match, lines)) if match), lines[0])
    words = " ".join(line.lstrip(_MARKUP).rstrip(_CLOSING).split())
    if len(words) <= MAX_TITLE_LENGTH:
        return words
    start = words[:MAX_TITLE_LENGTH]
    return (start.rsplit(" ", 1)[0] or start) + ELLIPSIS


def make_title(title: str, text: str, name: str) -> str:
    """Return the title of a document: its own, its first line, or the last part of its name or id."""
    return " ".join(title.split()) or get_first_line(text) or name.rstrip("/").rpartition("/")[2] or name


def add_title(document: Document, repeated: Collection[str] = ()) -> Document:
    """Return a document with a title; a title made from a repeated first line is replaced."""
    title = document.title
    if repeated and is_first_line(title, document.text):
        title = ""
    if title:
        return document
    text = without(document.text, repeated) if repeated else document.text
    return replace(document, title=make_title("", text, document.id))


def is_first_line(title: str, text: str) -> bool:
    """Return whether the text begins with the title."""
    return bool(title) and (text.startswith(title) or title == get_first_line(text))


def has_own_title(document: Document) -> bool:
    """Return whether the title adds words to the text: it is neither its beginning nor the name of the file."""
    title = document.title
    return bool(title) and not is_first_line(title, document.text) and not f"/{document.id}".endswith(f"/{title}")
