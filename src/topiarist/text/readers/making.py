"""From what a reader found to a document: cut to size, storable, with an id."""

from __future__ import annotations

from topiarist.text.documents import Document
from topiarist.text.readers.items import Raw, Remark, Trouble
from topiarist.text.titles import title_of

_LONGEST_TITLE = 1000


def document_from(raw: Raw, file_id: str, source: str, characters: int) -> Document | None:
    """The document with its first ``characters``; None when there is no text in it."""
    text = storable(raw.text[:characters])
    if not text.strip():
        return None
    id = storable(raw.id or file_id + place_of(raw))
    title = title_of(storable(raw.title[:_LONGEST_TITLE]), text, id)
    labels = tuple(map(storable, raw.labels))
    known = {"parent": raw.parent, "sheet": raw.sheet}
    columns = tuple((name, storable(value)) for name, value in known.items() if value)
    return Document(id, text, title, labels, storable(source + raw.member), storable(raw.date), columns=columns)


def place_of(item: Raw | Trouble | Remark) -> str:
    """Where in its file something is: the member, the sheet, and the line, row or message."""
    sheet = f"/{item.sheet}" if item.sheet else ""
    return item.member + sheet + (f":{item.place}" if item.place else "")


def storable(text: str) -> str:
    """Text that any file or database takes: no NUL, no half of a surrogate pair."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
