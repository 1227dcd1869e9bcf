"""Where is this word at home?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.topic_words import Home, homes_of
from topiarist.app.explorer.values import counted
from topiarist.app.explorer.view import View
from topiarist.text.query import folded, phrase


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    word: Annotated[str, Query(max_length=200)] = ""


@dataclass(frozen=True)
class WordPage:
    """A word, the topics that explain its occurrences, and a way to its documents."""

    word: str
    sentence: str
    documents: int
    homes: tuple[Home, ...]
    search: str


def load(view: View, ask: Ask) -> WordPage:
    """Fill the page."""
    word = " ".join(ask.word.casefold().split())
    homes = homes_of(view, word, 10)
    column = view.columns.get(word)
    if column is not None:
        documents = int(view.collection.counting.vocabulary.document_frequency[column])
        sentence = f"{counted(documents, 'document')} contain “{word}”. At these topics it is at home:"
    elif word in view.general:
        known = view.collection.generation.database.one("SELECT doc FROM vocabulary WHERE term = ?", (folded(word),))
        documents = int(known[0]) if known else 0
        sentence = (
            f"“{word}” belongs to the general language of this collection: more than half of the documents have it."
        )
    else:
        documents, sentence = 0, f"“{word}” is not counted here: too few documents have it, or none."
    return WordPage(word, sentence, documents, homes, addresses.search(phrase(word)))
