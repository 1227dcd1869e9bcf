"""Text of a PDF, page by page, by PDFium."""

from __future__ import annotations

import re

from topiarist.text.extract.limits import Extracted, ExtractError, Limits, Source

# PDFium marks a hyphen at the end of a line, inside a word, with this sign.
_SOFT_HYPHEN = "\x02"
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")


def extract(source: Source, limits: Limits) -> Extracted:
    """The text of all pages, the title and the date of creation."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ExtractError("needs a password") from error
        raise ExtractError("not a PDF file, or a damaged one") from error
    pages, broken, length = [], 0, 0
    for number in range(len(document)):
        try:
            text = document[number].get_textpage().get_text_bounded()
        except pypdfium2.PdfiumError:
            broken += 1
            continue
        pages.append(_tidy(text))
        length += len(text)
        if length > limits.characters:
            break
    text = "\n".join(pages)
    facts = document.get_metadata_dict()
    note = f"{broken} of {len(document)} pages could not be read" if broken else ""
    if not text.strip() and not broken:
        note = "no text in this PDF (scanned pages?); run OCR on it first, for example with ocrmypdf"
    return Extracted(text, title=facts.get("Title", ""), date=_iso_date(facts.get("CreationDate", "")), note=note)


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n").replace(_SOFT_HYPHEN, "")


def _iso_date(value: str) -> str:
    found = _DATE.match(value)
    return "-".join(part for part in found.groups() if part) if found else ""
