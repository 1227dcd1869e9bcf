"""Text of office documents and electronic books: each file is a zip file of XML."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zlib import error as ZlibError  # noqa: N812

from topiarist.text.parsers.html import decode_page, get_page_text
from topiarist.text.parsers.limits import PAGE_END, Extracted, ExtractError, Limits, Source, read_start

if TYPE_CHECKING:
    from lxml.etree import _Element

_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_MAX_PARTS = 10_000
_PROLOG_BYTES = 65_536


Relations = dict[str, tuple[str, str]]  # type and path by id


@dataclass(frozen=True, slots=True)
class OfficeFormat:
    """Document format: its name, a required part, and the explanation of an old container format."""

    name: str
    required_part: str
    old_format: str = "an older format under a new name"


@contextmanager
def open_package(source: Source, limits: Limits, format: OfficeFormat, *, times: int = 1) -> Iterator[zipfile.ZipFile]:
    """Open a zip file within the limits and without XML entities."""
    if isinstance(source, io.BytesIO):
        source.seek(0)
    max_size = times * limits.unpacked_bytes
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
            # zipfile never unpacks more of a part than is declared here, so the sizes can be trusted.
            size = sum(part.file_size for part in parts)
            if size > max_size or len(parts) > _MAX_PARTS:
                raise ExtractError(
                    f"unpacks to {size >> 20:,} MB in {len(parts):,} parts; "
                    f"at most {max_size >> 20:,} MB in {_MAX_PARTS:,} are allowed"
                )
            for part in parts:  # some programs write word\document.xml
                archive.NameToInfo.setdefault(part.filename.replace("\\", "/").lstrip("/"), part)
            if format.required_part not in archive.NameToInfo:
                raise ExtractError(f"a zip file, but not {format.name}")
            if any(part.flag_bits & 1 for part in parts):
                raise ExtractError("needs a password")
            for part in parts:
                if part.filename.endswith((".xml", ".rels", ".opf", ".ncx")):
                    _refuse_entities(archive, part, format)
            yield archive
    except (zipfile.BadZipFile, ZlibError, EOFError, NotImplementedError) as error:
        raise ExtractError(_explain_bad_zip(source, format)) from error


def parse_xml(archive: zipfile.ZipFile, name: str) -> _Element | None:
    """Return a part as an element tree; None if it is missing or not XML."""
    return parse_data(archive.read(name)) if name in archive.NameToInfo else None


def parse_data(data: bytes) -> _Element | None:
    """Return XML as an element tree, with faults such as undeclared prefixes; None for anything else."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None


def get_local_name(element: _Element) -> str:
    """Return the name of an element without its namespace; an empty string for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""  # an undeclared prefix stays


def get_relation_id(element: _Element) -> str:
    """Return the id of a relation; the plain attribute ``id`` is another one."""
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith(("}id", ":id"))), "")


def find_elements(root: _Element | None, *names: str) -> list[_Element]:
    """Return the elements with one of the names, in document order; empty without a root."""
    return [] if root is None else [element for element in root.iter() if get_local_name(element) in names]


def get_first_text(root: _Element | None, *names: str) -> str:
    """Return the text of the first element with one of the names."""
    texts = (element.text or "" for element in find_elements(root, *names))
    return next((" ".join(text.split()) for text in texts if text.strip()), "")


def _refuse_entities(archive: zipfile.ZipFile, part: zipfile.ZipInfo, format: OfficeFormat) -> None:
    with archive.open(part) as stream:
        prolog = stream.read(_PROLOG_BYTES).replace(b"\0", b"")  # also when it is UTF-16
    if b"<!ENTITY" in prolog or (b"<!DOCTYPE" in prolog and not part.filename.endswith(".ncx")):
        raise ExtractError(f"declares XML entities, which no {format.name.split(' ', 1)[1]} does")


def _explain_bad_zip(source: Source, format: OfficeFormat) -> str:
    if read_start(source, len(_OLE_MAGIC)) == _OLE_MAGIC:
        return f"needs a password, or is {format.old_format}"
    return f"not {format.name}, or a damaged one"


_SLIDES = OfficeFormat("a presentation", "ppt/presentation.xml", "an old .ppt under a new name")
_PRESENTATION = "ppt/presentation.xml"


def extract_slides(source: Source, limits: Limits) -> Extracted:
    """Return the text of slides and notes; the title of the file, else of its first slide."""
    with open_package(source, limits, _SLIDES) as archive:
        relations = read_relations(archive, _PRESENTATION)
        texts, n_broken, title = [], 0, ""
        for name in _list_slides(archive, relations):
            slide = parse_xml(archive, name)
            if slide is None:
                n_broken += 1
                texts.append("")
                continue
            title = title or _find_title(slide)
            notes = [
                parse_xml(archive, path)
                for kind, path in read_relations(archive, name).values()
                if kind.endswith("/notesSlide")
            ]
            lines = [line for part in (slide, *notes) if part is not None for line in _read_paragraphs(part)]
            texts.append("\n".join(lines))
        facts = parse_xml(archive, "docProps/core.xml")
    text = PAGE_END.join(texts)
    note = f"{n_broken} of {len(texts)} slides could not be read" if n_broken else ""
    created = get_first_text(facts, "created")
    return Extracted(text, title=get_first_text(facts, "title") or title, file_date=created, note=note)


def _list_slides(archive: zipfile.ZipFile, relations: Relations) -> list[str]:
    """Return the names of the slides in presentation order."""
    elements = find_elements(parse_xml(archive, _PRESENTATION), "sldId")
    return [relations[id][1] for id in map(get_relation_id, elements) if id in relations]


def read_relations(archive: zipfile.ZipFile, part: str) -> Relations:
    """Return type and path of each relation of a part by id; without a part, of the whole file."""
    folder, name = posixpath.split(part)
    relations = parse_xml(archive, posixpath.join(folder, "_rels", f"{name}.rels"))
    if relations is None:
        return {}
    return {
        str(relation.get("Id")): (
            str(relation.get("Type")),
            posixpath.normpath(posixpath.join("/", folder, str(relation.get("Target")))).lstrip("/"),
        )
        for relation in relations
        if get_local_name(relation) == "Relationship" and relation.get("TargetMode") != "External"
    }


def _read_paragraphs(part: _Element) -> list[str]:
    return list(filter(None, map(_read_paragraph, find_elements(part, "p"))))


def _read_paragraph(paragraph: _Element) -> str:
    elements = find_elements(paragraph, "t", "br")
    return "".join("\n" if get_local_name(one) == "br" else one.text or "" for one in elements).strip()


def _find_title(slide: _Element) -> str:
    for shape in find_elements(slide, "sp"):
        if any(element.get("type") in ("title", "ctrTitle") for element in find_elements(shape, "ph")):
            return " ".join(" ".join(_read_paragraphs(shape)).split())
    return ""


_OPENDOCUMENT = OfficeFormat("an OpenDocument file", "content.xml")
_EXCLUDED = ("tracked-changes", "annotation", "annotation-end")
_COUNT_ATTRIBUTE = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}c"
_MAX_BLANKS = 100


def extract_opendocument(source: Source, limits: Limits) -> Extracted:
    """Return the text of the body without tracked changes, the title and the date of creation."""
    with open_package(source, limits, _OPENDOCUMENT) as archive:
        if find_elements(parse_xml(archive, "META-INF/manifest.xml"), "encryption-data"):
            raise ExtractError("needs a password")
        content, metadata = parse_xml(archive, "content.xml"), parse_xml(archive, "meta.xml")
    if content is None:
        raise ExtractError("not an OpenDocument file, or a damaged one")
    for element in find_elements(content, *_EXCLUDED):
        _remove_element(element)
    lines = ["".join(_walk_text(one)) for one in find_elements(content, "p", "h") if not _is_nested(one)]
    return Extracted(
        "\n".join(lines),
        title=get_first_text(metadata, "title"),
        file_date=get_first_text(metadata, "creation-date", "date"),
    )


def _walk_text(element: _Element) -> Iterator[str]:
    """Yield the text of a paragraph; text of a frame within it begins on a new line."""
    for event, child in _walk_elements(element):
        name = get_local_name(child)
        if event == "start":
            if name in ("p", "h") and child is not element:
                yield "\n"
            if name == "s":
                number = child.get(_COUNT_ATTRIBUTE) or "1"
                yield " " * min(_MAX_BLANKS, int(number) if number.isdecimal() else 1)
            elif name == "tab":
                yield "\t"
            elif name == "line-break":
                yield "\n"
            elif name:
                yield child.text or ""
        elif child is not element:
            yield child.tail or ""


def _walk_elements(element: _Element) -> Iterator[tuple[str, _Element]]:
    from lxml import etree

    yield from etree.iterwalk(element, events=("start", "end", "comment"))


def _is_nested(element: _Element) -> bool:
    """Return whether a paragraph is part of another paragraph."""
    return any(get_local_name(ancestor) in ("p", "h") for ancestor in element.iterancestors())


def _remove_element(element: _Element) -> None:
    """Remove an element and keep the text after it."""
    parent, previous = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and previous is not None:
        previous.tail = (previous.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


_BOOK = OfficeFormat("an electronic book", "META-INF/container.xml")


def extract_epub(source: Source, limits: Limits) -> Extracted:
    """Return the text of all chapters in reading order, the title and the date of the book."""
    with open_package(source, limits, _BOOK) as archive:
        roots = find_elements(parse_xml(archive, "META-INF/container.xml"), "rootfile")
        path = str(roots[0].get("full-path")) if roots else ""
        package = parse_xml(archive, path) if path else None
        if package is None:
            raise ExtractError("not an electronic book, or a damaged one")
        folder = posixpath.dirname(path)
        paths = {
            str(element.get("id")): posixpath.normpath(posixpath.join(folder, unquote(str(element.get("href")))))
            for element in find_elements(package, "item")
        }
        chapters = [paths.get(str(element.get("idref")), "") for element in find_elements(package, "itemref")]
        encryption = parse_xml(archive, "META-INF/encryption.xml")
        encrypted = set() if encryption is None else {unquote(str(element.get("URI"))) for element in encryption.iter()}
        if encrypted & set(chapters):
            raise ExtractError("needs a password: its chapters are encrypted (copy protection)")
        texts, n_missing, length = [], 0, 0
        for chapter in chapters:
            try:
                data = archive.read(chapter)
            except KeyError:
                n_missing += 1
                texts.append("")
                continue
            texts.append(get_page_text(decode_page(data))[1])
            length += len(texts[-1])
            if length > limits.characters:
                break
    note = f"{n_missing} of {len(chapters)} chapters are not there" if n_missing else ""
    text = PAGE_END.join(texts)
    return Extracted(text, title=get_first_text(package, "title"), date=get_first_text(package, "date"), note=note)
