"""Items of a file, by its reader or by a parser in a worker; scanned pages by their pictures."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

from topiarist.errors import ResourceError, TopiaristError, describe_foreign_error
from topiarist.text.parsers import PAGE_END, Extracted, ExtractError, Task
from topiarist.text.parsers.decoding import NotTextError
from topiarist.text.readers.items import File, Item, Raw, ReadFailure, Setting, Unknown
from topiarist.text.readers.kinds import kind_of
from topiarist.text.readers.lines import READ_ERRORS, explain_error, open_file, read_bytes
from topiarist.text.readers.nested import read_parsed

_PACKAGES = ("rapidocr", "onnxruntime")
_MAX_LISTED_PAGES = 20


def has_ocr() -> bool:
    """Return whether the packages for scanned pages are installed."""
    return all(importlib.util.find_spec(name) is not None for name in _PACKAGES)


def check_ocr() -> None:
    """Raise an error if the packages for scanned pages are missing."""
    if not has_ocr():
        raise ResourceError(
            "reading scanned pages requires rapidocr, which is not installed.", hint="Run pip install 'topiarist[ocr]'."
        )


def read_scanned_pages(file: File, raw: Raw, setting: Setting) -> Raw:
    """Return a document with the text of its page images if that is enabled, with a note on these pages."""
    raw, scanned = replace(raw, scanned=0), raw.scanned  # pages are read once
    is_enabled = bool(setting.ocr) or (setting.ocr is None and not raw.text.strip())
    if not is_enabled or file.packing or not has_ocr():
        note = raw.note or f"{scanned} of its pages have no text (scanned?); the setting ocr reads them"
        return raw if file.packing else replace(raw, note=note)
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
        return replace(
            raw, text=PAGE_END.join(texts), note=f"{_describe_pages(pages)}; page {last + 1} and later: {error}"
        )
    if not pages:
        return replace(raw, note=raw.note and "no text in this PDF, and none in the pictures of its pages")
    return replace(raw, text=PAGE_END.join(texts), note=_describe_pages(pages))


def _describe_pages(pages: list[str]) -> str:
    rest = f" and {len(pages) - _MAX_LISTED_PAGES:,} more" if len(pages) > _MAX_LISTED_PAGES else ""
    noun = "page" if len(pages) == 1 else "pages"
    return f"{noun} {', '.join(pages[:_MAX_LISTED_PAGES])}{rest} read from pictures (OCR): expect errors"


def items_inside(file: File, setting: Setting) -> Iterator[Item]:
    """Yield the items of a file within a file, by its name."""
    kind, packing = kind_of(file.name)
    return items_of(replace(file, kind=kind, packing=packing), setting)


def items_of(file: File, setting: Setting, answer: Future[Extracted] | None = None) -> Iterator[Item]:
    """Yield the items of a file; ``answer`` is the pending result of a worker."""
    try:
        if file.kind is None:
            yield Unknown()
        elif file.kind.read is not None:
            yield from _ensure_item(file.kind.read(file, setting))
        else:
            for item in read_parsed(file, 0, answer or _submit(file, setting), setting):
                yield read_scanned_pages(file, item, setting) if isinstance(item, Raw) and item.scanned else item
    except TopiaristError as error:
        if file.named:
            raise
        yield ReadFailure(error.message.splitlines()[0], error=error)
    except NotTextError as error:
        # A named file with an unknown suffix was only tried as text.
        yield Unknown() if kind_of(file.name)[0] is None and file.stream is None else ReadFailure(str(error))
    except ExtractError as error:
        yield ReadFailure(str(error))
    except READ_ERRORS as error:
        yield ReadFailure(explain_error(error))
    except Exception as error:
        # An error of a reader on one file must not stop the reading of all others.
        yield ReadFailure(f"could not be read: {describe_foreign_error(error)}")


def _submit(file: File, setting: Setting) -> Future[Extracted]:
    """Submit a file to the pool of parsers; a packed file is unpacked into memory first."""
    parser = "" if file.kind is None else file.kind.parser
    if not file.packing:
        return setting.pool.submit(Task(parser, path=os.path.abspath(file.path)))
    with open_file(file) as stream:
        data, _ = read_bytes(stream, setting.limits.raw_bytes)
    return setting.pool.submit(Task(parser, data=data))


def _ensure_item(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of a file; one empty document if there are none."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        yield Raw("", note="no rows, messages or files in it")
