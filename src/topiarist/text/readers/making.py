"""Documents from the items of readers: cut to size and storable."""

from __future__ import annotations

import posixpath

from topiarist.text.characters import to_storable
from topiarist.text.dates import find_date_in_name, read_date
from topiarist.text.documents import Document
from topiarist.text.fields import is_missing
from topiarist.text.readers.items import Item, Raw
from topiarist.text.titles import make_title

_MAX_TITLE_LENGTH, _MAX_DATE_LENGTH = 1000, 200


def create_document(raw: Raw, file_id: str, source: str, characters: int) -> Document | None:
    """Return a document of the first ``characters``; None if it has no text or a word for a missing value."""
    text = to_storable(raw.text[:characters])
    if is_missing(text):
        return None
    id = to_storable(raw.id or file_id + format_place(raw))
    title = make_title(to_storable(raw.title[:_MAX_TITLE_LENGTH]), text, id)
    labels = tuple(map(to_storable, raw.labels))
    in_name = "" if raw.place else find_date_in_name(raw.file_name or posixpath.basename(file_id))
    date_text = to_storable((raw.date or in_name or raw.file_date)[:_MAX_DATE_LENGTH])
    parsed = read_date(date_text)
    date = date_text if parsed.has_short_year else parsed.iso or date_text  # the source reports the century
    has_file_date = bool(raw.file_date) and not (raw.date or in_name)
    own_columns = {"parent": raw.parent, "sheet": raw.sheet}
    named_columns = tuple((name, to_storable(value)) for name, value in own_columns.items() if value)
    columns = (*named_columns, *((to_storable(name), to_storable(value)) for name, value in raw.columns))
    source_date = date_text if date_text != date else ""
    return Document(
        id, text, title, labels, to_storable(source + raw.member), date, source_date, columns, has_file_date
    )


def format_place(item: Item) -> str:
    """Return where an item is in its file, as text: the member, sheet, and line, row or message."""
    sheet = f"/{item.sheet}" if item.sheet else ""
    return item.member + sheet + (f":{item.place}" if item.place else "")
