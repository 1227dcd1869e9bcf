"""Text of an OpenDocument file (.odt, .odp): paragraphs and headings in order, without what was struck out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.text.extract.limits import Extracted, ExtractError, Limits, Source
from topiarist.text.extract.office.packages import Sort, first_text, local, opened, xml_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_OPEN = Sort("an OpenDocument file", "content.xml")
_LEFT_OUT = ("tracked-changes", "annotation", "annotation-end")
_REPEATED = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}c"
_MOST_BLANKS = 100


def extract(source: Source, limits: Limits) -> Extracted:
    """The text of the body, the title and the date of creation."""
    with opened(source, limits, _OPEN) as archive:
        manifest = xml_of(archive, "META-INF/manifest.xml")
        if manifest is not None and any(local(one) == "encryption-data" for one in manifest.iter()):
            raise ExtractError("needs a password")
        content, facts = xml_of(archive, "content.xml"), xml_of(archive, "meta.xml")
    if content is None:
        raise ExtractError("not an OpenDocument file, or a damaged one")
    for element in [one for one in content.iter() if local(one) in _LEFT_OUT]:
        _remove(element)
    lines = ["".join(_pieces(one)) for one in content.iter() if local(one) in ("p", "h") and not _inside_another(one)]
    return Extracted(
        "\n".join(lines), title=first_text(facts, "title"), date=first_text(facts, "creation-date", "date")
    )


def _pieces(element: _Element) -> Iterator[str]:
    """The text of a paragraph; what stands in a frame within it begins on a line of its own."""
    for event, one in _walked(element):
        name = local(one)
        if event == "start":
            if name in ("p", "h") and one is not element:
                yield "\n"
            if name == "s":
                number = one.get(_REPEATED) or "1"
                yield " " * min(_MOST_BLANKS, int(number) if number.isdecimal() else 1)
            elif name == "tab":
                yield "\t"
            elif name == "line-break":
                yield "\n"
            elif name:
                yield one.text or ""
        elif one is not element:
            yield one.tail or ""


def _walked(element: _Element) -> Iterator[tuple[str, _Element]]:
    from lxml import etree

    yield from etree.iterwalk(element, events=("start", "end", "comment"))


def _inside_another(element: _Element) -> bool:
    """Whether a paragraph belongs to one that has it already."""
    return any(local(one) in ("p", "h") for one in element.iterancestors())


def _remove(element: _Element) -> None:
    """Take an element out, and leave what follows it."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)
