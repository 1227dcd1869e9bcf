"""From what a reader found to a document: cut to size, storable, with an id."""

from __future__ import annotations

from topiarist.text.documents import Document
from topiarist.text.readers.items import Raw

_LONGEST_TITLE = 1000


def document_from(raw: Raw, file_id: str, source: str, characters: int) -> Document | None:
    """The document with its first ``characters``; None when there is no text in it."""
    text = storable(raw.text[:characters])
    if not text.strip():
        return None
    id = storable(raw.id or (f"{file_id}:{raw.place}" if raw.place else file_id))
    title = " ".join(storable(raw.title[:_LONGEST_TITLE]).split())
    labels = tuple(map(storable, raw.labels))
    return Document(id, text, title, labels, storable(source), storable(raw.date))


def storable(text: str) -> str:
    """Text that any file or database takes: no NUL, no half of a surrogate pair."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
