"""From what a reader found to a document: cut to size, storable, with an id."""

from __future__ import annotations

from topiarist.text.dates import read_date
from topiarist.text.documents import Document
from topiarist.text.fields import is_missing
from topiarist.text.readers.items import Raw, Remark, Trouble
from topiarist.text.titles import title_of

_LONGEST_TITLE, _LONGEST_DATE = 1000, 200


def document_from(raw: Raw, file_id: str, source: str, characters: int) -> Document | None:
    """The document with its first ``characters``; None when there is no text in it, or a word that stands for none."""
    text = storable(raw.text[:characters])
    if is_missing(text):
        return None
    id = storable(raw.id or file_id + place_of(raw))
    title = title_of(storable(raw.title[:_LONGEST_TITLE]), text, id)
    labels = tuple(map(storable, raw.labels))
    given = storable(raw.date[:_LONGEST_DATE])
    date = (read_date(given).iso or given) if given else ""
    known = {"parent": raw.parent, "sheet": raw.sheet}
    told = tuple((name, storable(value)) for name, value in known.items() if value)
    columns = (*told, *((storable(name), storable(value)) for name, value in raw.columns))
    as_given = given if given != date else ""
    return Document(id, text, title, labels, storable(source + raw.member), date, as_given, columns)


def place_of(item: Raw | Trouble | Remark) -> str:
    """Where in its file something is: the member, the sheet, and the line, row or message."""
    sheet = f"/{item.sheet}" if item.sheet else ""
    return item.member + sheet + (f":{item.place}" if item.place else "")


def storable(text: str) -> str:
    """Text that any file or database takes: no NUL, no half of a surrogate pair."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
