"""Plain text and Markdown: one document for each file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from topiarist.text.parsers.decoding import decode
from topiarist.text.readers.items import File, Item, Raw, Setting
from topiarist.text.readers.lines import open_file, read_bytes

_HEADING = re.compile(r"^#[^\S\n]+(\S.*)", re.MULTILINE)
_TOP = 2000


def read_plain(file: File, setting: Setting) -> Iterator[Item]:
    with open_file(file) as stream:
        data, failure = read_bytes(stream, setting.limits.raw_bytes + 1)
    text = decode(data).removeprefix("\ufeff").replace("\r\n", "\n")
    yield Raw(text, note=f"{failure}; the text before is kept" if failure else "")


def read_markdown(file: File, setting: Setting) -> Iterator[Item]:
    """Yield the text of a file, with its first top-level heading as title."""
    for item in read_plain(file, setting):
        if isinstance(item, Raw) and (heading := _HEADING.search(item.text[:_TOP])):
            # Hash signs can close a heading. A pattern for them would backtrack over blanks and signs.
            yield Raw(item.text, title=heading.group(1).rstrip().rstrip("#").rstrip(), note=item.note)
        else:
            yield item
