"""Text of an HTML page, by the lexbor parser: what a browser would show, one line per block."""

from __future__ import annotations

import codecs
import re

from topiarist.text.extract.decoding import decode, decode_as
from topiarist.text.extract.limits import Extracted, Limits, Source, source_bytes

_INVISIBLE = "script, style, noscript, template, svg, iframe, object, select, textarea"
_BLOCKS = (
    "address, article, aside, blockquote, br, caption, center, dd, details, dialog, div, dl, dt, fieldset, "
    "figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, option, p, "
    "pre, section, summary, table, tbody, td, tfoot, th, thead, tr, ul"
)
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_HEAD_BYTES = 4096
_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r" ?\n[ \n]*")


def extract(source: Source, limits: Limits) -> Extracted:
    """The visible text and the title of a page."""
    data, more = source_bytes(source, limits)
    title, text = page_text(page_source(data))
    return Extracted(text, title=title, note=f"only the first {len(data):,} bytes were read" if more else "")


def page_text(html: str) -> tuple[str, str]:
    """Title and visible text. Blocks are kept apart by line breaks; words in inline tags stay whole."""
    from selectolax.lexbor import LexborHTMLParser

    # U+0000 would end the document early for the parser.
    page = LexborHTMLParser(html.replace("\0", " "))
    heading = page.css_first("title")
    title = _one_line(heading.text()) if heading is not None else ""
    for node in page.css(_INVISIBLE):
        node.decompose()
    for node in page.css(_BLOCKS):
        node.insert_before("\n")
        node.insert_after("\n")
    text = page.body.text(separator="") if page.body is not None else ""
    return title, _EMPTY_LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def page_source(data: bytes) -> str:
    """The signs of a page, in the encoding that it declares."""
    declared = _DECLARED.search(data[:_HEAD_BYTES])
    if declared is None:
        return decode(data)
    try:
        name = codecs.lookup(declared.group(1).decode("ascii")).name
    except LookupError:
        return decode(data)
    return decode_as(data, name)
