"""Text of PDF pages, by PDFium; text of scanned pages, by rapidocr."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.text.parsers.limits import PAGE_END, Extracted, ExtractError, Limits, Options, Part, Source

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage
    from rapidocr import RapidOCR

# PDFium marks a hyphen at the end of a line, inside a word, with this sign.
_SOFT_HYPHEN = "\x02"
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")


def extract_pdf(source: Source, limits: Limits) -> Extracted:
    """Return the text of all pages, the title and the date of creation."""
    document = open_pdf(source)
    pages, n_broken, length, n_images = [], 0, 0, 0
    for number in range(len(document)):
        text = get_page_text(document, number)
        if text is None:
            n_broken += 1
            pages.append("")
            continue
        pages.append(text)
        n_images += not text.strip() and _has_image(document, number)
        length += len(text)
        if length > limits.characters:
            break
    text = PAGE_END.join(pages)
    facts = document.get_metadata_dict()
    note = f"{n_broken} of {len(document)} pages could not be read" if n_broken else ""
    if not text.strip() and not n_broken:
        note = "no text in this PDF (scanned pages?); pip install 'topiarist[ocr]' to have them read"
    scanned = n_images if text.strip() else len(pages) - n_broken  # a page may also be empty, or drawn
    date = _iso_date(facts.get("CreationDate", ""))
    return Extracted(text, title=facts.get("Title", ""), file_date=date, note=note, scanned=scanned)


def open_pdf(source: Source) -> PdfDocument:
    """Open a PDF file; raise ExtractError if it needs a password or cannot be parsed."""
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ExtractError("needs a password") from error
        raise ExtractError("not a PDF file, or a damaged one") from error


def get_page_text(document: PdfDocument, number: int) -> str | None:
    """Return the text of a page; None if it cannot be read."""
    import pypdfium2

    try:
        return _clean_text(document[number].get_textpage().get_text_bounded())
    except pypdfium2.PdfiumError:
        return None


def _has_image(document: PdfDocument, number: int) -> bool:
    """Return whether a page of the document has an image; False if the page cannot be parsed."""
    import pypdfium2

    try:
        return any(True for _ in document[number].get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]))
    except pypdfium2.PdfiumError:
        return False


def _clean_text(text: str) -> str:
    return text.replace("\r\n", "\n").replace(_SOFT_HYPHEN, "")


def _iso_date(value: str) -> str:
    match = _DATE.match(value)
    return "-".join(part for part in match.groups() if part) if match else ""


_DOTS_PER_INCH, _POINTS_PER_INCH = 200, 72
_MAX_DOTS = 3000  # of the longer side
_MIN_SCORE = 0.5  # lines below this are guesses


def read_page_images(source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield each page with its own text, else with the text of its image."""
    document = open_pdf(source)
    reader: RapidOCR | None = None
    length = 0
    for number in range(len(document)):
        text = get_page_text(document, number) or ""
        is_image = not text.strip()
        if is_image:
            reader = reader or _create_reader()
            text = _read_page_image(reader, document[number])
        length += len(text)
        yield Part({"page": number + 1, "recognised": int(is_image and bool(text))}, text.encode("utf-8", "replace"))
        if length > limits.characters:
            return


def _create_reader() -> RapidOCR:
    """Create a text recogniser that uses one thread and sends no telemetry."""
    import onnxruntime
    from rapidocr import RapidOCR

    onnxruntime.disable_telemetry_events()  # on Windows it would tell its maker what it runs
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,  # workers are the threads here
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _read_page_image(reader: RapidOCR, page: PdfPage) -> str:
    """Return the lines of an image, from top to bottom."""
    longer_side = max(page.get_width(), page.get_height(), 1.0)
    scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, _MAX_DOTS / longer_side)
    result = reader(page.render(scale=scale).to_numpy())
    lines, scores = getattr(result, "txts", None) or (), getattr(result, "scores", None) or ()
    return "\n".join(line for line, score in zip(lines, scores, strict=True) if score >= _MIN_SCORE)
