"""Text of an electronic book (.epub): its chapters in the order of reading, by the lexbor parser."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from topiarist.text.extract.html import page_source, page_text
from topiarist.text.extract.limits import PAGE_END, Extracted, ExtractError, Limits, Source
from topiarist.text.extract.office.packages import Sort, first_text, local, opened, xml_of

_BOOK = Sort("an electronic book", "META-INF/container.xml")


def extract(source: Source, limits: Limits) -> Extracted:
    """The text of all chapters, the title and the date of the book."""
    with opened(source, limits, _BOOK) as archive:
        container, locked = xml_of(archive, "META-INF/container.xml"), xml_of(archive, "META-INF/encryption.xml")
        roots = [] if container is None else [one for one in container.iter() if local(one) == "rootfile"]
        place = str(roots[0].get("full-path")) if roots else ""
        package = xml_of(archive, place) if place else None
        if package is None:
            raise ExtractError("not an electronic book, or a damaged one")
        folder = posixpath.dirname(place)
        paths = {
            str(one.get("id")): posixpath.normpath(posixpath.join(folder, unquote(str(one.get("href")))))
            for one in package.iter()
            if local(one) == "item"
        }
        chapters = [paths.get(str(one.get("idref")), "") for one in package.iter() if local(one) == "itemref"]
        secret = set() if locked is None else {unquote(str(one.get("URI"))) for one in locked.iter()}
        if secret & set(chapters):
            raise ExtractError("needs a password: its chapters are encrypted (copy protection)")
        texts, missing, length = [], 0, 0
        for chapter in chapters:
            try:
                data = archive.read(chapter)
            except KeyError:
                missing += 1
                texts.append("")
                continue
            texts.append(page_text(page_source(data))[1])
            length += len(texts[-1])
            if length > limits.characters:
                break
    note = f"{missing} of {len(chapters)} chapters are not there" if missing else ""
    text = PAGE_END.join(texts)
    return Extracted(text, title=first_text(package, "title"), date=first_text(package, "date"), note=note)
