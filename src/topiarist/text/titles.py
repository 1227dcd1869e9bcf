"""What a document is called, everywhere the same: its own title, else its first line, else the name of its file."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import takewhile

from topiarist.text.documents import Document
from topiarist.text.repeated import says_something, without

LONGEST = 100  # letters of a line that serves as a title
LOOKED_AT = 4_000  # letters of a text in which its first line is looked for
CUT = " …"
_MARKUP, _CLOSING = "#*=-_~>|•\\/ \t\ufeff", "#*=-_~ \t"
_HEADER = re.compile(r"[A-Za-z][\w-]{1,30}:\s")
_SUBJECT = re.compile(r"(?:subject|title):\s+(\S.*)", re.IGNORECASE)


def first_line(text: str) -> str:
    """The first line of a text that says something, in one piece and not too long; nothing where there is none.

    Where a text begins with the head of a message, as a file of one does, it is what the message is about.
    """
    lines = [line for line in text[:LOOKED_AT].splitlines() if says_something(line)]
    if not lines:
        return ""
    line = next((found[1] for found in map(_SUBJECT.match, takewhile(_HEADER.match, lines)) if found), lines[0])
    words = " ".join(line.lstrip(_MARKUP).rstrip(_CLOSING).split())
    return words if len(words) <= LONGEST else (words[:LONGEST].rsplit(" ", 1)[0] or words[:LONGEST]) + CUT


def title_of(own: str, text: str, name: str) -> str:
    """The title of a document: its own, or its first line, or the name of its file (or its id, which has it)."""
    return " ".join(own.split()) or first_line(text) or name.rstrip("/").rpartition("/")[2] or name


def titled(document: Document, repeated: Collection[str] = ()) -> Document:
    """A document with a title. One that is its first line is not one of the lines that are repeated everywhere."""
    title = document.title
    if repeated and is_first_line(title, document.text):
        title = ""
    if title:
        return document
    text = without(document.text, repeated) if repeated else document.text
    return replace(document, title=title_of("", text, document.id))


def is_first_line(title: str, text: str) -> bool:
    """Whether a title says nothing that the text does not begin with."""
    return bool(title) and (text.startswith(title) or title == first_line(text))


def is_own(document: Document) -> bool:
    """Whether a title adds words to the text: it is neither its beginning nor the name of the file."""
    title = document.title
    return bool(title) and not is_first_line(title, document.text) and not f"/{document.id}".endswith(f"/{title}")
