"""Where is this word at home?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
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


@dataclass(frozen=True)
class Said:
    """What somebody has said of a word: a sentence, and the topic that it speaks of."""

    text: str
    topic: str = ""
    address: str = ""


@dataclass(frozen=True)
class Way:
    """An edit that speaks of a word."""

    text: str
    address: str


@dataclass(frozen=True, kw_only=True)
class WordPage:
    """A word, the topics that explain its occurrences, what people said of it, and a way to its documents."""

    word: str
    sentence: str
    documents: int
    homes: tuple[Home, ...]
    search: str
    said: tuple[Said, ...]
    ways: tuple[Way, ...]  # to change the tree by it


def load(view: View, ask: Ask) -> WordPage:
    """Fill the page."""
    word = " ".join(ask.word.casefold().split())
    column = view.columns.get(word)
    counting, shape = view.collection.counting, view.shape
    own = word if column is None else counting.vocabulary.words[column]
    counted_as, ignored = shape.word(own), shape.word(own) in shape.ignored
    if column is not None:
        documents = int(counting.vocabulary.document_frequency[column])
        sentence = worded("{documents} contain “{word}”.", documents=Counted(documents, "document"), word=word)
        sentence += "" if ignored else worded(" At these topics it is at home:")
    elif word in view.general:
        documents = documents_with(view.collection.generation.database, word)
        sentence = worded(
            "“{word}” belongs to the general language of this collection: more than half of the documents have it.",
            word=word,
        )
    else:
        documents = 0
        sentence = worded("“{word}” is not counted here: too few documents have it, or none.", word=word)
    homes = tuple(
        Home(topic, view.names[node], addresses.home() if column is None else addresses.topic(topic), share)
        for node, share in (() if ignored else view.word_homes(counted_as if column is not None else word, HOMES))
        for topic in [view.shape.topics[node]]
    )
    said = _said(view, own, counted_as)
    return WordPage(
        word=word, sentence=sentence, documents=documents, homes=homes, search=addresses.search(phrase(word)),
        said=said, ways=_ways(own, counted_as, ignored, bool(said)) if column is not None else (),
    )  # fmt: skip


def _said(view: View, word: str, counted_as: str) -> tuple[Said, ...]:
    """What people have said of a word, and of the one that it counts for."""
    shape = view.shape
    found = (
        [Said(worded("“{word}” is counted as “{other}”.", word=word, other=counted_as))] if word != counted_as else []
    )
    others = [spelling for spelling, one in shape.united.items() if one == word]
    if others:
        listed = ", ".join(f"“{one}”" for one in others)
        said = worded("{words} is counted as “{word}”.", words=listed, word=word)
        if len(others) > 1:
            said = worded("{words} are counted as “{word}”.", words=listed, word=word)
        found.append(Said(said))
    if counted_as in shape.ignored:
        found.append(Said(worded("It is ignored: the tree does not see it, and no topic is called by it.")))
    for topic, words in shape.seeds.items():
        if counted_as in words:
            name = view.names[shape.node(topic)]
            found.append(Said(worded("Somebody said that it belongs to"), name, addresses.topic(topic)))
    return tuple(found)


def _ways(word: str, counted_as: str, ignored: bool, said: bool) -> tuple[Way, ...]:
    """The edits that may be made of a word."""
    ways = []
    if not ignored:
        ways.append(Way(worded("It belongs to a topic…"), addresses.shape("seed", words=counted_as)))
        ways.append(Way(worded("Same word as…"), addresses.shape("unite", words=f"{counted_as}, ")))
        ways.append(Way(worded("Ignore it…"), addresses.shape("ignore", words=counted_as)))
    if said:
        ways.append(Way(worded("Forget what was said…"), addresses.shape("forget", words=word)))
    return tuple(ways)
