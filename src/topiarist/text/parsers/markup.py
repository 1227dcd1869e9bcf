"""Text of LaTeX and Rich Text files."""

from __future__ import annotations

import re

from topiarist.text.parsers.decoding import decode
from topiarist.text.parsers.limits import Extracted, ExtractError, Limits, Source, read_source

_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_TITLE = re.compile(r"\\title\s*(?:\[[^\]]{0,500}\])?\s*\{((?:[^{}]|\{[^{}]{0,500}\}){0,1000})\}")
_REFERENCES = re.compile(
    r"\\(?:cite\w*|ref|eqref|label|pageref|autoref|cref)\*?\s*(?:\[[^\]]{0,200}\]){0,2}\{[^{}]{0,500}\}"
)


def extract_latex(source: Source, limits: Limits) -> Extracted:
    """Return the text between ``\\begin{document}`` and its end, or all text; included files are not read."""
    data, note = read_source(source, limits)
    latex = decode(data).replace("\r\n", "\n")
    body = _BODY.search(latex)
    title = _TITLE.search(latex)
    text = _latex_to_text(_REFERENCES.sub(" ", body.group(1) if body else latex))
    return Extracted(text, title=" ".join(_latex_to_text(title.group(1)).split()) if title else "", note=note)


def _latex_to_text(latex: str) -> str:
    from topiarist.text.parsers.latex_walker import convert_latex

    return convert_latex(latex)


_CODE_PAGE = re.compile(rb"\\ansicpg(\d+)")
_RTF_TITLE = re.compile(r"\{\\title ([^{}]{0,2000})\}")
_CREATED = re.compile(r"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_UNICODE = re.compile(r"\\u(-?\d{1,10})")
_PICTURE_BYTES = re.compile(rb"[0-9a-fA-F\r\n]{4096,}")  # bytes of pictures, which hold no text


def extract_rtf(source: Source, limits: Limits) -> Extracted:
    """Return the text, the title and the date of creation."""
    data, note = read_source(source, limits)
    if not data.lstrip().startswith(b"{\\rtf"):
        raise ExtractError("not a Rich Text file: it does not begin with {\\rtf")
    page = _CODE_PAGE.search(data[:4096])
    coding = f"cp{page.group(1).decode()}" if page else "cp1252"
    rich = _PICTURE_BYTES.sub(b"", data).decode("latin-1")
    try:
        text = _rtf_to_text(rich, coding)
    except LookupError:
        text = _rtf_to_text(rich, "cp1252")
    title, created = _RTF_TITLE.search(rich), _CREATED.search(rich)
    title_text = " ".join(_rtf_to_text(f"{{\\rtf1 {title.group(1)}}}", "cp1252").split()) if title else ""
    date = "{}-{:0>2}-{:0>2}".format(*created.groups()) if created else ""
    return Extracted(text, title=title_text, file_date=date, note=note)


def _rtf_to_text(rich: str, coding: str) -> str:
    """Convert RTF markup in an encoding to plain text; impossible characters are replaced."""
    from striprtf.striprtf import rtf_to_text

    rich = _UNICODE.sub(_replace_impossible, rich)
    text = str(rtf_to_text(rich, encoding=coding, errors="replace"))  # type: ignore[no-untyped-call]
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # an emoji is two surrogates


def _replace_impossible(character: re.Match[str]) -> str:
    """Return a character of Rich Text; U+FFFD if its number is of no character."""
    return character[0] if -0x10000 <= int(character[1]) <= 0x10FFFF else "\\u65533"
