"""Text of Word documents as Word opens them, whatever program wrote them.

Elements are found by their names without a namespace, because programs declare other prefixes, or none. Files of other
types under the name of a Word document are read as what they are: Rich Text, web pages and OpenDocument.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from topiarist.text.parsers.decoding import decode
from topiarist.text.parsers.html import decode_page, extract_html, get_page_text
from topiarist.text.parsers.limits import Extracted, ExtractError, Limits, Source, read_start
from topiarist.text.parsers.markup import extract_rtf
from topiarist.text.parsers.office import (
    OfficeFormat,
    Relations,
    extract_opendocument,
    find_elements,
    get_first_text,
    get_local_name,
    get_relation_id,
    open_package,
    parse_data,
    parse_xml,
    read_relations,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

_WORD = OfficeFormat("a Word document", "[Content_Types].xml", "an old .doc under a new name")
_START_BYTES = 1024
_XML_STARTS = (b"<?xml", b"<pkg:package", b"<w:worddocument")
_MAIN_TYPES = ("wordprocessingml", "ms-word")  # in the content types of documents and templates
_AROUND = ("header", "body", "footer", "footnotes", "endnotes")  # parts in the order of the text
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Properties hold tab stops, moved and deleted text is at another place or gone, and a ruby text repeats its base.
_SKIPPED = frozenset(("pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr", "sdtPr", "del", "moveFrom", "rt", "instrText"))


def extract_docx(source: Source, limits: Limits) -> Extracted:
    """Return the text of a Word document, its title and the date of creation."""
    start = read_start(source, _START_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"{\\rtf"):
        return extract_rtf(source, limits)
    if start.startswith((b"<html", b"<!doctype html")):
        return extract_html(source, limits)
    if start.startswith(_XML_STARTS):
        return _read_single_file(source, limits)
    with open_package(source, limits, _WORD) as archive:
        if "content.xml" in archive.namelist():
            is_opendocument = True
        else:
            is_opendocument = False
            lines = list(_read_package(archive, limits.characters))
            facts = parse_xml(archive, "docProps/core.xml")
    if is_opendocument:
        return extract_opendocument(source, limits)
    text = "\n\n".join(lines)
    return Extracted(text, title=get_first_text(facts, "title"), file_date=get_first_text(facts, "created"))


def _read_single_file(source: Source, limits: Limits) -> Extracted:
    """Return the text of a Word document that is one XML file instead of a zip file."""
    data = source.getvalue() if isinstance(source, io.BytesIO) else read_start(source, limits.unpacked_bytes)
    root = parse_data(data)
    bodies = find_elements(root, "body")
    if not bodies:
        raise ExtractError("not a Word document, or a damaged one")
    lines = [line for body in bodies for line in _read_paragraphs(body)]
    return Extracted("\n\n".join(lines), title=get_first_text(root, "title"), file_date=get_first_text(root, "created"))


def _read_package(archive: zipfile.ZipFile, max_characters: int) -> Iterator[str]:
    """Yield the paragraphs of headers, body, footers and notes; equal headers once.

    A document can refer to one part many times. So a part is read once, and no paragraph follows too many characters.
    """
    name = _find_main_part(archive)
    relations = read_relations(archive, name)
    seen: set[tuple[str, ...]] = set()
    read_chunk = cache(partial(_read_chunk, archive))
    n_characters = 0
    for kind in _AROUND:
        paths = [name] if kind == "body" else [path for type, path in relations.values() if type.endswith(f"/{kind}")]
        for path in sorted(set(paths)):
            root = parse_xml(archive, path)
            if root is None and kind == "body":
                raise ExtractError("a Word document whose text is damaged")
            lines, size = list[str](), n_characters
            for line in () if root is None else _read_paragraphs(root, read_chunk, relations):
                lines.append(line)
                size += len(line)
                if size > max_characters:
                    break
            if kind == "body" or tuple(lines) not in seen:
                yield from lines
                n_characters = size
            if n_characters > max_characters:
                return
            seen.add(tuple(lines))


def _find_main_part(archive: zipfile.ZipFile) -> str:
    """Return the name of the part with the text: by the relations, the content types, or its usual name."""
    types = parse_xml(archive, "[Content_Types].xml")
    named = {
        str(one.get("PartName")).lstrip("/"): str(one.get("ContentType")) for one in ([] if types is None else types)
    }
    candidates = [path for type, path in read_relations(archive, "").values() if type.endswith("/officeDocument")]
    candidates += [path for path, type in named.items() if type.endswith(".main+xml")]
    candidates.append("word/document.xml")
    for path in candidates:
        type = named.get(path, _MAIN_TYPES[0])
        if path in archive.NameToInfo and any(word in type for word in _MAIN_TYPES):
            return path
    raise ExtractError("a zip file, but not a Word document")


def _read_paragraphs(
    root: _Element, read_chunk: Callable[[str], str] | None = None, relations: Relations | None = None
) -> Iterator[str]:
    """Yield the paragraphs of a part, cells of tables and text boxes among them."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end"))
    paragraphs: list[list[str]] = [[]]  # open ones: text boxes are within paragraphs; the first is outside of all
    for event, element in walk:
        name = get_local_name(element)
        if event == "start":
            if name in _SKIPPED or (name == "Fallback" and _follows_choice(element)):
                walk.skip_subtree()
            elif name == "p":
                paragraphs.append([])
            elif name == "t":
                paragraphs[-1].append(element.text or "")
            elif name in _SIGNS:
                paragraphs[-1].append(_SIGNS[name])
            elif name == "altChunk" and read_chunk is not None and relations is not None:
                yield from filter(None, [read_chunk(relations.get(get_relation_id(element), ("", ""))[1])])
        elif name == "p" and len(paragraphs) > 1 and (line := "".join(paragraphs.pop()).strip()):
            yield line
    if rest := "".join(paragraphs[0]).strip():
        yield rest


def _follows_choice(fallback: _Element) -> bool:
    """Return whether an alternative repeats the text of the one before it."""
    return any(get_local_name(one) == "Choice" for one in fallback.itersiblings(preceding=True))


def _read_chunk(archive: zipfile.ZipFile, path: str) -> str:
    """Return the text of a web page or a plain text that is a part of the document."""
    suffix = posixpath.splitext(path.lower())[1]
    if path not in archive.NameToInfo or suffix not in (".html", ".htm", ".xhtml", ".txt"):
        return ""
    data = archive.read(path)
    return decode(data).strip() if suffix == ".txt" else get_page_text(decode_page(data))[1].strip()
