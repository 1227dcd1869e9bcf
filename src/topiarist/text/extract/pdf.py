"""Text of a PDF, page by page, by PDFium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiarist.text.extract.limits import PAGE_END, Extracted, ExtractError, Limits, Source

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

# PDFium marks a hyphen at the end of a line, inside a word, with this sign.
_SOFT_HYPHEN = "\x02"
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")


def extract(source: Source, limits: Limits) -> Extracted:
    """The text of all pages, the title and the date of creation."""
    document = opened(source)
    pages, broken, length, pictures = [], 0, 0, 0
    for number in range(len(document)):
        text = page_text(document, number)
        if text is None:
            broken += 1
            pages.append("")
            continue
        pages.append(text)
        pictures += not text.strip() and _has_picture(document, number)
        length += len(text)
        if length > limits.characters:
            break
    text = PAGE_END.join(pages)
    facts = document.get_metadata_dict()
    note = f"{broken} of {len(document)} pages could not be read" if broken else ""
    if not text.strip() and not broken:
        note = "no text in this PDF (scanned pages?); pip install 'topiarist[ocr]' to have them read"
    scanned = pictures if text.strip() else len(pages) - broken  # a page may also be empty, or drawn
    date = _iso_date(facts.get("CreationDate", ""))
    return Extracted(text, title=facts.get("Title", ""), date=date, note=note, scanned=scanned)


def opened(source: Source) -> PdfDocument:
    """The document, if it is one."""
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ExtractError("needs a password") from error
        raise ExtractError("not a PDF file, or a damaged one") from error


def page_text(document: PdfDocument, number: int) -> str | None:
    """The text of a page; None if it cannot be read."""
    import pypdfium2

    try:
        return _tidy(document[number].get_textpage().get_text_bounded())
    except pypdfium2.PdfiumError:
        return None


def _has_picture(document: PdfDocument, number: int) -> bool:
    import pypdfium2

    try:
        return any(True for _ in document[number].get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]))
    except pypdfium2.PdfiumError:
        return False


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n").replace(_SOFT_HYPHEN, "")


def _iso_date(value: str) -> str:
    found = _DATE.match(value)
    return "-".join(part for part in found.groups() if part) if found else ""
