"""Documents that are zip files of XML: looked at before anything is unpacked, then part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import error as ZlibError  # noqa: N812

from topiarist.text.extract.limits import ExtractError, Limits, Source, first_bytes

if TYPE_CHECKING:
    from lxml.etree import _Element

_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_MOST_PARTS = 10_000
_PROLOG_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of document: what it is called, a part that it must have, and what else it may be in an old wrapping."""

    name: str
    needs: str
    old: str = "an older format under a new name"


@contextmanager
def opened(source: Source, limits: Limits, sort: Sort, *, times: int = 1) -> Iterator[zipfile.ZipFile]:
    """The zip file, if what it unpacks to is bounded and it declares no entities."""
    if isinstance(source, io.BytesIO):
        source.seek(0)
    most = times * limits.unpacked_bytes
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
            # zipfile never unpacks more of a part than is declared here, so the sizes can be trusted.
            size = sum(part.file_size for part in parts)
            if size > most or len(parts) > _MOST_PARTS:
                raise ExtractError(
                    f"unpacks to {size >> 20:,} MB in {len(parts):,} parts; "
                    f"at most {most >> 20:,} MB in {_MOST_PARTS:,} are allowed"
                )
            if sort.needs not in archive.namelist():
                raise ExtractError(f"a zip file, but not {sort.name}")
            if any(part.flag_bits & 1 for part in parts):
                raise ExtractError("needs a password")
            for part in parts:
                if part.filename.endswith((".xml", ".rels", ".opf", ".ncx")):
                    _refuse_entities(archive, part, sort)
            yield archive
    except (zipfile.BadZipFile, ZlibError, EOFError, NotImplementedError) as error:
        raise ExtractError(_why_not_a_zip(source, sort)) from error


def xml_of(archive: zipfile.ZipFile, name: str) -> _Element | None:
    """A part as a tree of elements; None if there is none, or if it is not XML."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=True)
    try:
        return etree.fromstring(archive.read(name), parser)
    except (KeyError, etree.XMLSyntaxError):
        return None


def local(element: _Element) -> str:
    """The name of an element without its namespace; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def first_text(root: _Element | None, *names: str) -> str:
    """The text of the first element of one of these names."""
    if root is None:
        return ""
    found = (element.text or "" for element in root.iter() if local(element) in names)
    return next((" ".join(text.split()) for text in found if text.strip()), "")


def _refuse_entities(archive: zipfile.ZipFile, part: zipfile.ZipInfo, sort: Sort) -> None:
    with archive.open(part) as stream:
        prolog = stream.read(_PROLOG_BYTES).replace(b"\0", b"")  # also when it is UTF-16
    if b"<!ENTITY" in prolog or (b"<!DOCTYPE" in prolog and not part.filename.endswith(".ncx")):
        raise ExtractError(f"declares XML entities, which no {sort.name.split(' ', 1)[1]} does")


def _why_not_a_zip(source: Source, sort: Sort) -> str:
    if first_bytes(source, len(_OLE_MAGIC)) == _OLE_MAGIC:
        return f"needs a password, or is {sort.old}"
    return f"not {sort.name}, or a damaged one"
