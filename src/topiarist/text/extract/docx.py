"""Text of a Word document: body, tables, headers, footers and notes, in order, by docx2python."""

from __future__ import annotations

import re

from topiarist.text.extract.limits import Extracted, Limits, Source
from topiarist.text.extract.office.packages import Sort, opened

_WORD = Sort("a Word document", "[Content_Types].xml", "an old .doc under a new name")

# docx2python writes these where a link, a picture or a note stands.
_LINK = re.compile(r'<a href="[^"]*">(.*?)</a>', re.DOTALL)
_PLACEHOLDER = re.compile(r"----(?:media/[^\n]*?|footnote\d+|endnote\d+|checkbox failed)----|----Image alt text---->")


def extract(source: Source, limits: Limits) -> Extracted:
    """The text of the document, its title and the date of creation."""
    from docx2python import docx2python

    with opened(source, limits, _WORD):
        pass  # looked at before anything is unpacked
    with docx2python(source, duplicate_merged_cells=False) as document:
        text = _PLACEHOLDER.sub(" ", _LINK.sub(r"\1", document.text))
        facts = document.core_properties
    return Extracted(text, title=facts.get("title") or "", date=facts.get("created") or "")
