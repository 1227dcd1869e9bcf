"""Where is this word at home?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import View
from topiarist.app.words import counted
from topiarist.store.fulltext import documents_with
from topiarist.text.query import phrase

HOMES = 10


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    word: Annotated[str, Query(max_length=200)] = ""


@dataclass(frozen=True)
class Home:
    """A topic at which a word is at home."""

    topic: int
    name: str
    address: str
    share: float  # of the word's occurrences that this topic explains


@dataclass(frozen=True, kw_only=True)
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
    column = view.columns.get(word)
    if column is not None:
        documents = int(view.collection.counting.vocabulary.document_frequency[column])
        sentence = f"{counted(documents, 'document')} contain “{word}”. At these topics it is at home:"
    elif word in view.general:
        documents = documents_with(view.collection.generation.database, word)
        sentence = (
            f"“{word}” belongs to the general language of this collection: more than half of the documents have it."
        )
    else:
        documents, sentence = 0, f"“{word}” is not counted here: too few documents have it, or none."
    homes = tuple(
        Home(topic, view.names[node], addresses.home() if column is None else addresses.topic(topic), share)
        for node, share in view.word_homes(word, HOMES)
        for topic in [view.shape.topics[node]]
    )
    return WordPage(
        word=word, sentence=sentence, documents=documents, homes=homes, search=addresses.search(phrase(word))
    )
