"""Text of a LaTeX source, by pylatexenc: words without commands, formulas as they would be read."""

from __future__ import annotations

import re

from topiarist.text.extract.decoding import decode
from topiarist.text.extract.limits import Extracted, Limits, Source, source_bytes

_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_TITLE = re.compile(r"\\title\s*(?:\[[^\]]{0,500}\])?\s*\{((?:[^{}]|\{[^{}]{0,500}\}){0,1000})\}")
_REFERENCES = re.compile(
    r"\\(?:cite\w*|ref|eqref|label|pageref|autoref|cref)\*?\s*(?:\[[^\]]{0,200}\]){0,2}\{[^{}]{0,500}\}"
)


def extract(source: Source, limits: Limits) -> Extracted:
    """The text between ``\\begin{document}`` and its end, or all of it; nothing is included from other files."""
    data, more = source_bytes(source, limits)
    latex = decode(data).replace("\r\n", "\n")
    body = _BODY.search(latex)
    title = _TITLE.search(latex)
    text = _words(_REFERENCES.sub(" ", body.group(1) if body else latex))
    cut = f"only the first {len(data):,} bytes were read" if more else ""
    return Extracted(text, title=" ".join(_words(title.group(1)).split()) if title else "", note=cut)


def _words(latex: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    return str(LatexNodes2Text(math_mode="text", keep_comments=False).latex_to_text(latex, tolerant_parsing=True))
