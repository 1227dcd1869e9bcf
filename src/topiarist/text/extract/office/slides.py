"""Text of a presentation (.pptx): the slides in their order, each with its notes."""

from __future__ import annotations

import posixpath
import zipfile
from typing import TYPE_CHECKING

from topiarist.text.extract.limits import PAGE_END, Extracted, Limits, Source
from topiarist.text.extract.office.packages import Sort, first_text, local, opened, xml_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_SLIDES = Sort("a presentation", "ppt/presentation.xml", "an old .ppt under a new name")
_MAIN = "ppt/presentation.xml"


def extract(source: Source, limits: Limits) -> Extracted:
    """The text of the slides and of their notes; the title of the file, else of its first slide."""
    with opened(source, limits, _SLIDES) as archive:
        related = _related(archive, _MAIN)
        texts, broken, title = [], 0, ""
        for name in _slides(archive, related):
            slide = xml_of(archive, name)
            if slide is None:
                broken += 1
                texts.append("")
                continue
            title = title or _title(slide)
            notes = [
                xml_of(archive, path) for kind, path in _related(archive, name).values() if kind.endswith("/notesSlide")
            ]
            lines = [line for part in (slide, *notes) if part is not None for line in _lines(part)]
            texts.append("\n".join(lines))
        facts = xml_of(archive, "docProps/core.xml")
    text = PAGE_END.join(texts)
    note = f"{broken} of {len(texts)} slides could not be read" if broken else ""
    return Extracted(text, title=first_text(facts, "title") or title, date=first_text(facts, "created"), note=note)


def _slides(archive: zipfile.ZipFile, related: dict[str, tuple[str, str]]) -> list[str]:
    """The parts of the slides, in the order in which they are shown."""
    main = xml_of(archive, _MAIN)
    shown = [element for element in ([] if main is None else main.iter()) if local(element) == "sldId"]
    ids = [next((value for key, value in one.attrib.items() if key.endswith("}id")), "") for one in shown]
    return [related[id][1] for id in ids if id in related]


def _related(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """What a part refers to: the kind and the path of each, by its id."""
    folder, name = posixpath.split(part)
    relations = xml_of(archive, f"{folder}/_rels/{name}.rels")
    if relations is None:
        return {}
    return {
        str(one.get("Id")): (str(one.get("Type")), posixpath.normpath(posixpath.join(folder, str(one.get("Target")))))
        for one in relations
        if local(one) == "Relationship" and one.get("TargetMode") != "External"
    }


def _lines(part: _Element) -> list[str]:
    """The paragraphs of a slide."""
    return [line for element in part.iter() if local(element) == "p" and (line := _line(element))]


def _line(paragraph: _Element) -> str:
    words = ["\n" if local(one) == "br" else one.text or "" for one in paragraph.iter() if local(one) in ("t", "br")]
    return "".join(words).strip()


def _title(slide: _Element) -> str:
    """What stands in the place of the title."""
    for shape in slide.iter():
        if local(shape) == "sp" and any(
            local(one) == "ph" and one.get("type") in ("title", "ctrTitle") for one in shape.iter()
        ):
            return " ".join(" ".join(_lines(shape)).split())
    return ""
