"""Plain text and Markdown: one file, one document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from topiarist.text.extract.decoding import decode
from topiarist.text.readers.items import File, Item, Raw, Setting
from topiarist.text.readers.lines import opened, read_bytes

_HEADING = re.compile(r"^#[^\S\n]+(\S.*)", re.MULTILINE)
_TOP = 2000


def read_plain(file: File, setting: Setting) -> Iterator[Item]:
    """The text as it stands."""
    with opened(file) as stream:
        data, broken = read_bytes(stream, setting.limits.raw_bytes + 1)
    text = decode(data).removeprefix("\ufeff").replace("\r\n", "\n")
    yield Raw(text, note=f"{broken}; what came before is kept" if broken else "")


def read_markdown(file: File, setting: Setting) -> Iterator[Item]:
    """The text as it stands, with the first heading of the first rank as its title."""
    for item in read_plain(file, setting):
        if isinstance(item, Raw) and (heading := _HEADING.search(item.text[:_TOP])):
            # Hash signs may close a heading. No pattern for them: it would try every way to part blanks and signs.
            yield Raw(item.text, title=heading.group(1).rstrip().rstrip("#").rstrip(), note=item.note)
        else:
            yield item
