"""Documents that do not fit: in another language, or with words that the collection does not know.

A certainty compares the existing topics only. It says nothing about a text without known words, however high it is.
Such a document stays at the root, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from topiarist.arrays import Array
from topiarist.counts.counting import CountedTexts
from topiarist.text.documents import Document
from topiarist.text.language import detect_text_language, language_name

MIN_KNOWN_SHARE = 0.5  # share of known words below which a document does not fit


def explain_misfits(
    documents: Sequence[Document], text_counts: CountedTexts, unusual: Array, languages: Sequence[str]
) -> list[str]:
    """Return the reason why each unusual document does not fit; empty for other documents.

    ``languages`` are the languages of the collection; if empty, only the words are checked.
    """
    return [
        _explain_misfit(document, float(text_counts.known_tokens[row]), float(text_counts.tokens[row]), languages)
        if unusual[row]
        else ""
        for row, document in enumerate(documents)
    ]


def _explain_misfit(document: Document, known_tokens: float, tokens: float, languages: Sequence[str]) -> str:
    code = detect_text_language(document.text) if languages else ""
    if code and code not in languages:
        expected = " and ".join(map(language_name, languages[:2]))
        rest = " and others" if len(languages) > 2 else ""
        return f"it is in {language_name(code)}, and this collection in {expected}{rest}"
    if known_tokens < MIN_KNOWN_SHARE * tokens:
        return f"{known_tokens:,.0f} of its {tokens:,.0f} words are known here"
    return ""
