"""Word with its topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.storage.fulltext import count_documents_with
from topiarist.text.query import format_phrase
from topiarist.web import addresses
from topiarist.web.view import View

HOMES = 10


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    word: Annotated[str, Query(max_length=200)] = ""


@dataclass(frozen=True)
class TopicShare:
    """Topic with its share of the occurrences of a word."""

    topic: int
    name: str
    address: str
    share: float  # of the word's occurrences that this topic explains


@dataclass(frozen=True)
class WordRule:
    """Word edit as a sentence, with its topic."""

    text: str
    topic: str = ""
    address: str = ""


@dataclass(frozen=True)
class Way:
    """Link to an edit of a word."""

    text: str
    address: str


@dataclass(frozen=True, kw_only=True)
class WordPage:
    """Word with its topics, its edits and the address of its documents."""

    word: str
    sentence: str
    documents: int
    homes: tuple[TopicShare, ...]
    search: str
    said: tuple[WordRule, ...]
    ways: tuple[Way, ...]  # to change the tree by it


def load(view: View, ask: Ask) -> WordPage:
    """Return the page of a word with its topics and edits; general and rare words have none."""
    word = " ".join(ask.word.casefold().split())
    column = view.columns.get(word)
    counting, shape = view.collection.counting, view.shape
    counted_word = word if column is None else counting.vocabulary.words[column]
    counted_as, ignored = shape.word(counted_word), shape.word(counted_word) in shape.ignored
    if column is not None:
        documents = int(counting.vocabulary.document_frequency[column])
        sentence = translate("{documents} contain “{word}”.", documents=CountedNoun(documents, "document"), word=word)
        sentence += "" if ignored else translate(" Its topics:")
    elif word in view.general:
        documents = count_documents_with(view.collection.generation.database, word)
        sentence = translate(
            "“{word}” is a general word, in more than half of the documents.",
            word=word,
        )
    else:
        documents = 0
        sentence = translate("“{word}” is not counted, because it is too rare or absent.", word=word)
    homes = tuple(
        TopicShare(topic, view.names[node], addresses.overview() if column is None else addresses.topic(topic), share)
        for node, share in (
            () if ignored else view.find_nodes_of_word(counted_as if column is not None else word, HOMES)
        )
        for topic in [view.shape.topics[node]]
    )
    text = _list_rules(view, counted_word, counted_as)
    return WordPage(
        word=word, sentence=sentence, documents=documents, homes=homes, search=addresses.search(format_phrase(word)),
        said=text, ways=_list_ways(counted_word, counted_as, ignored, bool(text)) if column is not None else (),
    )  # fmt: skip


def _list_rules(view: View, word: str, counted_as: str) -> tuple[WordRule, ...]:
    """Return the edits that concern a word, in words."""
    shape = view.shape
    result = (
        [WordRule(translate("“{word}” is counted as “{other}”.", word=word, other=counted_as))]
        if word != counted_as
        else []
    )
    others = [spelling for spelling, item in shape.united.items() if item == word]
    if others:
        spellings = ", ".join(f"“{item}”" for item in others)
        text = translate("{words} is counted as “{word}”.", words=spellings, word=word)
        if len(others) > 1:
            text = translate("{words} are counted as “{word}”.", words=spellings, word=word)
        result.append(WordRule(text))
    if counted_as in shape.ignored:
        result.append(WordRule(translate("Ignored by the tree and in topic names.")))
    for topic, words in shape.seeds.items():
        if counted_as in words:
            name = view.names[shape.node(topic)]
            result.append(WordRule(translate("Seed word of"), name, addresses.topic(topic)))
    return tuple(result)


def _list_ways(word: str, counted_as: str, ignored: bool, has_rules: bool) -> tuple[Way, ...]:
    """Return links to possible edits of a word."""
    ways = []
    if not ignored:
        ways.append(Way(translate("Seed word of…"), addresses.shape("seed", words=counted_as)))
        ways.append(Way(translate("Merge spellings…"), addresses.shape("unite", words=f"{counted_as}, ")))
        ways.append(Way(translate("Ignore…"), addresses.shape("ignore", words=counted_as)))
    if has_rules:
        ways.append(Way(translate("Remove edits…"), addresses.shape("forget", words=word)))
    return tuple(ways)
