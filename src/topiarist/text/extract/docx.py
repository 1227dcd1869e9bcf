"""Text of a Word document: body, tables, headers, footers and notes, in order, by docx2python."""

from __future__ import annotations

import io
import re
import zipfile

from topiarist.text.extract.limits import Extracted, ExtractError, Limits, Source

_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_MOST_PARTS = 10_000
_PROLOG_BYTES = 65_536

# docx2python writes these where a link, a picture or a note stands.
_LINK = re.compile(r'<a href="[^"]*">(.*?)</a>', re.DOTALL)
_PLACEHOLDER = re.compile(r"----(?:media/[^\n]*?|footnote\d+|endnote\d+|checkbox failed)----|----Image alt text---->")


def extract(source: Source, limits: Limits) -> Extracted:
    """The text of the document, its title and the date of creation."""
    from docx2python import docx2python

    _refuse_unless_safe(source, limits)
    with docx2python(source, duplicate_merged_cells=False) as document:
        text = _PLACEHOLDER.sub(" ", _LINK.sub(r"\1", document.text))
        facts = document.core_properties
    return Extracted(text, title=facts.get("title") or "", date=facts.get("created") or "")


def _refuse_unless_safe(source: Source, limits: Limits) -> None:
    """Look at the zip folder before anything is unpacked."""
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
            # zipfile never unpacks more of a part than is declared here, so the sizes can be trusted.
            size = sum(part.file_size for part in parts)
            if size > limits.unpacked_bytes or len(parts) > _MOST_PARTS:
                raise ExtractError(
                    f"unpacks to {size >> 20:,} MB in {len(parts):,} parts; "
                    f"at most {limits.unpacked_bytes >> 20:,} MB in {_MOST_PARTS:,} are allowed"
                )
            if "[Content_Types].xml" not in archive.namelist():
                raise ExtractError("a zip file, but not a Word document")
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    _refuse_entities(archive, part)
    except zipfile.BadZipFile as error:
        raise ExtractError(_why_not_a_zip(source)) from error


def _refuse_entities(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    with archive.open(part) as stream:
        prolog = stream.read(_PROLOG_BYTES).replace(b"\0", b"")  # also when it is UTF-16
    if b"<!DOCTYPE" in prolog or b"<!ENTITY" in prolog:
        raise ExtractError("declares XML entities, which no Word document does")


def _why_not_a_zip(source: Source) -> str:
    if isinstance(source, io.BytesIO):
        source.seek(0)
        magic = source.read(len(_OLE_MAGIC))
    else:
        with open(source, "rb") as stream:
            magic = stream.read(len(_OLE_MAGIC))
    if magic == _OLE_MAGIC:
        return "needs a password, or is an old .doc under a new name"
    return "not a Word document, or a damaged one"
