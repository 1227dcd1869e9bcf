"""Text of HTML pages, by the lexbor parser: the visible text with one line per block."""

from __future__ import annotations

import codecs
import re

from topiarist.text.parsers.decoding import decode, decode_as
from topiarist.text.parsers.limits import Extracted, Limits, Source, read_source

_INVISIBLE = "script, style, noscript, template, svg, iframe, object, select, textarea"
_BLOCKS = (
    "address, article, aside, blockquote, br, caption, center, dd, details, dialog, div, dl, dt, fieldset, "
    "figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, option, p, "
    "pre, section, summary, table, tbody, td, tfoot, th, thead, tr, ul"
)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_HEAD_BYTES = 4096
_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r" ?\n[ \n]*")


def extract_html(source: Source, limits: Limits) -> Extracted:
    """Return the visible text and the title of a page."""
    data, note = read_source(source, limits)
    title, text = get_page_text(decode_page(data))
    return Extracted(text, title=title, note=note)


def get_page_text(html: str) -> tuple[str, str]:
    """Return title and visible text. Blocks end with line breaks; words with inline tags are not split."""
    from selectolax.lexbor import LexborHTMLParser

    # U+0000 would end the document early for the parser.
    page = LexborHTMLParser(html.replace("\0", " "))
    heading = page.css_first("title")
    title = _join_lines(heading.text()) if heading is not None else ""
    for node in page.css(_INVISIBLE):
        node.decompose()
    for node in page.css(_BLOCKS):
        node.insert_before("\n")
        node.insert_after("\n")
    text = page.body.text(separator="") if page.body is not None else ""
    return title, _EMPTY_LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def decode_page(data: bytes) -> str:
    """Return the text of a page in the encoding that it declares."""
    match = _CHARSET.search(data[:_HEAD_BYTES])
    if match is None:
        return decode(data)
    try:
        name = codecs.lookup(match.group(1).decode("ascii")).name
    except LookupError:
        return decode(data)
    return decode_as(data, name)
