"""Documents that do not fit: of another language, or of words that the collection does not know.

A certainty is one among the topics that there are: of a text without known words it says nothing, however high it is.
Such a document stays at the root, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from topiarist.arrays import Array
from topiarist.counts.counting import Heard
from topiarist.text.documents import Document
from topiarist.text.language import language_name, language_of_text

KNOWN = 0.5  # of the words of a document: with fewer it does not fit, whatever they are


def misfits(documents: Sequence[Document], heard: Heard, unusual: Array, languages: Sequence[str]) -> list[str]:
    """Why documents do not fit, of those that are unusual; nothing for the others.

    ``languages`` are those of the collection; without any only words are asked.
    """
    return [
        _reason(document, float(heard.known[row]), float(heard.tokens[row]), languages) if unusual[row] else ""
        for row, document in enumerate(documents)
    ]


def _reason(document: Document, known: float, tokens: float, languages: Sequence[str]) -> str:
    code = language_of_text(document.text) if languages else ""
    if code and code not in languages:
        here = " and ".join(map(language_name, languages[:2]))
        more = " and others" if len(languages) > 2 else ""
        return f"it is in {language_name(code)}, and this collection in {here}{more}"
    if known < KNOWN * tokens:
        return f"{known:,.0f} of its {tokens:,.0f} words are known here"
    return ""
