"""Scanned pages: read from their pictures where that was asked for, or where a PDF has no text at all."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace

from topiarist.errors import ResourceError
from topiarist.text.extract import PAGE_END, ExtractError, Task
from topiarist.text.readers.items import File, Raw, Setting

_PACKAGES = ("rapidocr", "onnxruntime")
_SHOWN = 20


def is_there() -> bool:
    """Whether pictures can be read here."""
    return all(importlib.util.find_spec(name) is not None for name in _PACKAGES)


def check() -> None:
    """Refuse to promise what cannot be done."""
    if not is_there():
        raise ResourceError(
            "reading scanned pages needs rapidocr, which is not installed.", hint="pip install 'topiarist[ocr]'"
        )


def recognised(file: File, raw: Raw, setting: Setting) -> Raw:
    """A document with the text of its pictures, and which pages that is; the document itself where nothing is asked."""
    raw, scanned = replace(raw, scanned=0), raw.scanned  # so that nobody looks at them again
    wanted = bool(setting.ocr) or (setting.ocr is None and not raw.text.strip())
    if not wanted or file.packing or not is_there():
        told = raw.note or f"{scanned} of its pages have no text (scanned?); --ocr reads them"
        return raw if file.packing else replace(raw, note=told)
    texts, pages, last = [], [], 0
    try:
        for part in setting.pool.parts(Task("recognised", path=os.path.abspath(file.path))):
            last = int(part.facts["page"])
            texts.append(part.data.decode("utf-8", "replace"))
            if part.facts.get("recognised"):
                pages.append(str(last))
    except ExtractError as error:
        if not pages:
            return replace(raw, note=f"its pages could not be read from their pictures: {error}")
        return replace(raw, text=PAGE_END.join(texts), note=f"{_said(pages)}; page {last + 1} and later: {error}")
    if not pages:
        return replace(raw, note=raw.note and "no text in this PDF, and none in the pictures of its pages")
    return replace(raw, text=PAGE_END.join(texts), note=_said(pages))


def _said(pages: list[str]) -> str:
    rest = f" and {len(pages) - _SHOWN:,} more" if len(pages) > _SHOWN else ""
    what = "page" if len(pages) == 1 else "pages"
    return f"{what} {', '.join(pages[:_SHOWN])}{rest} read from pictures (OCR): expect errors"
