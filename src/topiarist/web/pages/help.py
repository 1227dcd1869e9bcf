"""Glossary and keyboard shortcuts."""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.display.locale.catalogues import translate, translate_table
from topiarist.web import addresses
from topiarist.web.values import Choice, link
from topiarist.web.view import View

KEYS = {
    "/": "search field",
    "j k": "next, previous item or document",
    "Enter": "open",
    "u": "up: document, list, topic, parent",
    "[ ]": "previous, next neighbour of a topic",
    "← → ↑ ↓": "in the tree: close, open, move",
    "1 … 9": "set the level of the tree or detail of the overview",
    "t": "tag",
    "m": "in a document: note on the selected passage",
    "x": "mark read and go to the next; in the overview: select",
    "s": "add to the reading list",
    "w": "show or hide the explanation",
    "F2": "in the overview: rename",
    "r": "mark the document or selected hit read or unread",
    "o": "text file",
    "c": "change the colours",
    "n p": "next, previous characteristic word of a text",
    "y n s u": "in a review: relevant, not, skip, undo",
    "g h, g m, g n": "home, model, new",
    "?": "these keys",
    "Esc": "close, clear, leave",
}
TERMS = {
    "topic": "topic",
    "characteristic words": "characteristic words",
    "share": "share",
    "level": "level",
    "unsorted": "unsorted",
    "meaning": "meaning",
    "category": "category",
    "fit": "fit",
}
WORDS = {
    "topic": (
        "A group of documents with characteristic words. Without a name, it shows its first words. A heading "
        "groups related topics."
    ),
    "characteristic words": "Words more probable in a topic than above or below it.",
    "share": ("Part of a document that belongs to a topic. Shares of a document add up to 100%."),
    "level": ("Distance of a topic from Everything. Words of level 0 are general, higher levels special."),
    "unsorted": "A document of which no topic holds half, with the reason. The group is below the topics.",
    "meaning": ("Search by meaning also finds documents without the words of the query."),
    "category": "A class learned from labels, which the model predicts for other documents.",
    "fit": (
        "Computes words and shares of the edited tree. Until then, pages show older numbers. Every fit can be undone."
    ),
}

COLUMNS = {  # of exported documents
    "id": "Id of the document: its file name, or the id of a row.",
    "title": "Title, or the first words of the text.",
    "date": "Date of the document.",
    "topic": "Topic of the document, with its headings.",
    "share": "Part of the document in this topic, from 0 to 1.",
    "labels": "Labels, with | between them.",
    "source": "File that the document is from.",
    "tags": "Tags of users, with | between them.",
    "read": "Whether a user marked it as read.",
    "date_given": "Date as the source writes it.",
    "passage_notes": "Notes of users on passages, with | between them.",
    "…": "All other columns are from the source.",
}


@dataclass(frozen=True)
class Ask:
    """Empty set of query parameters."""


@dataclass(frozen=True, kw_only=True)
class HelpPage:
    """Glossary and keyboard shortcuts."""

    words: tuple[tuple[str, str], ...]
    questions: tuple[Choice, ...]
    columns: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, str], ...]


def load(view: View, ask: Ask) -> HelpPage:
    """Return the page with terms, filters and keys in the current language."""
    questions = (
        link(
            translate("Overview"),
            addresses.OVERVIEW,
            translate("Headings with words and typical documents."),
        ),
        link(
            translate("Search"),
            addresses.search(),
            translate("Search by words or meaning, with topics of the hits."),
        ),
        link(
            translate("Review"),
            addresses.REVIEW,
            translate("Find nearly all relevant documents."),
        ),
        link(
            translate("New documents"),
            addresses.NEW,
            translate("Paste a text to see its topics and deciding words."),
        ),
        link(translate("Model"), addresses.MODEL, translate("Provenance and quality of the tree.")),
        link(
            translate("Export"),
            f"{addresses.OVERVIEW}#hand-over",
            translate("A report in one file, or tables of documents."),
        ),
    )
    return HelpPage(
        words=tuple(zip(translate_table(TERMS).values(), translate_table(WORDS).values(), strict=True)),
        questions=questions,
        columns=tuple(translate_table(COLUMNS).items()),
        keys=tuple(translate_table(KEYS).items()),
    )
