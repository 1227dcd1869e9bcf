"""What do the words mean, and which keys are there?"""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, link
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import all_worded, worded

KEYS = {
    "/": "search field",
    "j k": "next, previous item or document",
    "Enter": "open",
    "u": "up: document, list, topic, parent",
    "[ ]": "previous, next neighbour of a topic",
    "← → ↑ ↓": "in the tree: close, open, move",
    "1 … 9": "show the tree to that level; on the overview, in that detail",
    "t": "tag",
    "m": "in a document: note something on the passage that is selected",
    "x": "mark read and go on to the next; in the tree of the overview, choose",
    "s": "put on the reading list",
    "w": "why is it here? on and off",
    "F2": "in the tree of the overview: rename",
    "r": "mark read, or not; in a list the chosen one",
    "o": "text as a file",
    "c": "another colouring",
    "n p": "next, previous special word of a text",
    "y n s u": "in a review: relevant, not, skip, undo",
    "g h, g m, g n": "home, model, new",
    "?": "these keys",
    "Esc": "close, clear, leave",
}
TERMS = {
    "topic": "topic",
    "own words": "own words",
    "share": "share",
    "level": "level",
    "hard to place": "hard to place",
    "meaning": "meaning",
    "category": "category",
    "fit": "fit",
}
WORDS = {
    "topic": (
        "a place in the tree, with words of its own and documents. Until somebody names it, it is called by its first "
        "words, with a dot between them; a heading is a topic right below Everything, a last topic has none below."
    ),
    "own words": "words that are frequent in a topic, and that neither topics above nor those below explain better.",
    "share": (
        "how much of a document lies under a topic. The shares of a document add up to 100 %, so that sizes of "
        "topics add up too; most documents lie in one last topic."
    ),
    "level": (
        "how far from Everything the topic lies that explains a word in its document best: 0 is the general "
        "language of the collection, and the higher, the more special."
    ),
    "hard to place": "a document of which no last topic has more than half. It is counted wherever its shares are.",
    "meaning": (
        "a search by meaning compares topics and words in their sense, not letters: documents are found that "
        "have none of the words."
    ),
    "category": "a label that documents came with, or that people gave; the model learns to give it to others.",
    "fit": (
        "the computer adapts words and shares to the tree as you have shaped it. Until then, pages show numbers "
        "from before; every edit and every fit can be undone."
    ),
}


@dataclass(frozen=True)
class Ask:
    """Nothing may be asked of the page."""


@dataclass(frozen=True, kw_only=True)
class HelpPage:
    """Words and keys."""

    words: tuple[tuple[str, str], ...]
    questions: tuple[Choice, ...]
    keys: tuple[tuple[str, str], ...]


def load(view: View, ask: Ask) -> HelpPage:
    """Fill the page."""
    questions = (
        link(
            worded("What is in here?"),
            addresses.HOME,
            worded("The overview: headings, their words and typical documents."),
        ),
        link(
            worded("Where is it?"),
            addresses.search(),
            worded("Search by words or by meaning, and see where in the tree it is."),
        ),
        link(
            worded("Is all of it found?"),
            addresses.REVIEW,
            worded("Read what is relevant to the end, and know when you may stop."),
        ),
        link(
            worded("Where would this go?"),
            addresses.NEW,
            worded("Paste a text, and see its place and the words that decide."),
        ),
        link(worded("Can I trust it?"), addresses.MODEL, worded("How the tree came about, and what speaks for it.")),
        link(
            worded("How do I hand it over?"),
            f"{addresses.HOME}#hand-over",
            worded("One page to send, or tables of documents."),
        ),
    )
    return HelpPage(
        words=tuple(zip(all_worded(TERMS).values(), all_worded(WORDS).values(), strict=True)),
        questions=questions,
        keys=tuple(all_worded(KEYS).items()),
    )
