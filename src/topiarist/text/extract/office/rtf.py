"""Text of a Rich Text file (.rtf), by striprtf."""

from __future__ import annotations

import re

from topiarist.text.extract.limits import Extracted, ExtractError, Limits, Source, source_bytes

_CODE_PAGE = re.compile(rb"\\ansicpg(\d+)")
_TITLE = re.compile(r"\{\\title ([^{}]{0,2000})\}")
_MADE = re.compile(r"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_PICTURE = re.compile(rb"[0-9a-fA-F\r\n]{4096,}")  # bytes of pictures, which hold no text


def extract(source: Source, limits: Limits) -> Extracted:
    """The text, the title and the date of creation."""
    data, more = source_bytes(source, limits)
    if not data.lstrip().startswith(b"{\\rtf"):
        raise ExtractError("not a Rich Text file: it does not begin with {\\rtf")
    page = _CODE_PAGE.search(data[:4096])
    coding = f"cp{page.group(1).decode()}" if page else "cp1252"
    rich = _PICTURE.sub(b"", data).decode("latin-1")
    try:
        text = _words(rich, coding)
    except LookupError:
        text = _words(rich, "cp1252")
    title, made = _TITLE.search(rich), _MADE.search(rich)
    named = " ".join(_words(f"{{\\rtf1 {title.group(1)}}}", "cp1252").split()) if title else ""
    date = "{}-{:0>2}-{:0>2}".format(*made.groups()) if made else ""
    cut = f"only the first {len(data):,} bytes were read" if more else ""
    return Extracted(text, title=named, date=date, note=cut)


def _words(rich: str, coding: str) -> str:
    from striprtf.striprtf import rtf_to_text

    return str(rtf_to_text(rich, encoding=coding, errors="replace"))  # type: ignore[no-untyped-call]
