"""Finding documents in a collection: by words (full text), by meaning (the Fisher kernel of its tree), or both.

A ``Search`` is a query that was parsed once and is asked once: hits, rows, topics and remarks all come from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.find.empty_answer import few_words, unknown_words
from topiarist.collection.find.index import Answer, Explanation
from topiarist.collection.find.index.question import Question
from topiarist.errors import UsageError
from topiarist.hierarchy.levels import deepest_certain, node_posterior
from topiarist.measures.placed_documents import CERTAIN
from topiarist.store.fulltext import Hits, Index, Ranked
from topiarist.text.highlights import Pieces
from topiarist.text.query import Filter, Query, parse

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

WAYS = ("words", "meaning", "both")
LIKE = "both"  # documents are alike in words and in meaning: more often of one label than by either alone
FEW = 5  # hits by words: below, meaning is offered
NEAR = 100  # documents that are looked at to see where a meaning is at home
LEAD = 160  # characters of a text that was found by meaning
NOTABLE = 0.25  # of the hits in a topic, for it to be shown below its parent
BLOCK = 1 << 14  # documents whose places are looked at in one go


@dataclass(frozen=True)
class Place:
    """Where a document lies: the deepest topic under which most of it is."""

    topic: int
    path: tuple[str, ...]  # names from below the root down
    share: float


@dataclass(frozen=True)
class FoundDocument:
    """A hit: what is known of the document, a piece of its text, where it lies, and why it was found."""

    row: int
    id: str
    title: str
    score: float
    snippet: Pieces
    place: Place
    labels: tuple[str, ...] = ()
    date: str = ""
    why: Explanation | None = None


@dataclass(frozen=True)
class Found:
    """An answer: hits, how many there are in all, how the query was read, and what is to be said about it."""

    hits: tuple[FoundDocument, ...]
    total: int
    exact: bool = True  # or there are at least as many
    read_as: str = ""
    message: str = ""
    suggestions: tuple[str, ...] = ()
    without: str = ""  # the query without the condition that left nothing

    def __iter__(self) -> Iterator[FoundDocument]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True)
class Held:
    """A topic, how many of the hits lie under it, and how many documents in all."""

    topic: int
    path: tuple[str, ...]
    documents: int
    all: int


class Search:
    """A query and what it finds in a collection, worked out once and only as far as it is asked for.

    ``page`` gives hits, ``rows`` all documents that match; by meaning, of which every document has some, the ``near``
    best ones. Whoever wants both asks for ``rows`` first: pages are then cut from the same answer. Either keeps to what
    lies under a topic, if one is given.
    """

    def __init__(self, collection: Collection, query: Query | str, by: str = "words", *, near: int = NEAR) -> None:
        if by not in WAYS:
            raise UsageError(f"a search goes by {', '.join(WAYS)}; got {by!r}", hint="--by meaning")
        self.collection, self.by, self.near = collection, by, near
        self.query = parse(query) if isinstance(query, str) else query
        self.by_words = by == "words" or not self.query.terms
        self._under: dict[str | int | None, Array | None] = {}

    @cached_property
    def ranked(self) -> Ranked:
        """By words: all documents that match, wherever they lie, the best first."""
        return self._index.ranked(self.query)

    @cached_property
    def question(self) -> Question:
        """By meaning: the words that count, asked of the index."""
        return Question(self.collection.index, self.query.meant, self.by)

    @cached_property
    def conditions(self) -> Array | None:
        """By meaning: which documents have what else the query asks for, beside topics; None for all."""
        others = [item for item in self.query.filters if item.kind != "topic"]
        excluded = [term for term in self.query.terms if term.exclude]
        if not others and not excluded:
            return None
        kept = np.zeros(len(self.collection), bool)
        kept[[row for row in self._index.rows(Query((*others, *excluded))) if row < len(kept)]] = True
        return kept

    def page(self, n: int = 10, offset: int = 0, *, topic: str | int | None = None, why: bool = False) -> Found:
        """The ``n`` best hits after the ``offset`` best; ``why`` says why, where they were found by meaning."""
        if not self.by_words:
            return self._by_meaning(self.question.page(n, offset, allowed=self._left(topic), why=why))
        answer = self._by_words(n, offset, topic)
        rows, snippets = [hit.row for hit in answer.hits], [hit.snippet for hit in answer.hits]
        hits = listed(self.collection, rows, snippets, scores=[hit.score for hit in answer.hits])
        found = Found(hits, answer.total, answer.exact, self.query.read_as)
        if answer.total >= FEW or not (self.query.terms or not answer.total):
            return found

        def finds(other: Query) -> bool:
            within = _within(_lying_under(self.collection, other, topic))
            return self._index.search(other, limit=1, within=within, enough=1).total > 0

        return replace(found, **vars(few_words(self._index, self.query, answer.total, finds)))

    def rows(self, topic: str | int | None = None) -> Array:
        """All documents that match: by words in their order, by meaning the best first."""
        if self.by_words:
            return np.sort(self._ranked_under(topic).rows)
        hits = self.question.page(self.near, allowed=self._left(topic)).hits
        return np.array([hit.number for hit in hits], np.int64)

    def under(self, topic: str | int | None) -> Array | None:
        """Which documents lie under the topics that the query asks for, and under this one; None for all."""
        if topic not in self._under:
            self._under[topic] = _lying_under(self.collection, self.query, topic)
        return self._under[topic]

    @property
    def _index(self) -> Index:
        return Index(self.collection.generation.database)

    def _by_words(self, n: int, offset: int, topic: str | int | None) -> Hits:
        if "ranked" in vars(self):
            return self._index.page(self.query, self._ranked_under(topic), n, offset)
        return self._index.search(self.query, limit=n, offset=offset, within=_within(self.under(topic)))

    def _ranked_under(self, topic: str | int | None) -> Ranked:
        under = self.under(topic)
        return self.ranked if under is None else self.ranked.among(under)

    def _left(self, topic: str | int | None) -> Array | None:
        """By meaning: which documents the conditions of the query and the topic leave; None for all."""
        under, conditions = self.under(topic), self.conditions
        return under if conditions is None else conditions if under is None else under & conditions

    def _by_meaning(self, answer: Answer) -> Found:
        said = unknown_words(self.query, answer.unknown, answer.suggestions)
        if not answer.words:
            return Found((), 0, True, self.query.read_as, said.message or answer.message, said.suggestions)
        return replace(self._shown(answer), read_as=self.query.read_as, **vars(said))

    def _shown(self, answer: Answer) -> Found:
        """Hits of the index by meaning, with what the collection knows of them."""
        rows, scores = [hit.number for hit in answer.hits], [hit.score for hit in answer.hits]
        hits = listed(self.collection, rows, scores=scores, reasons=[hit.why for hit in answer.hits])
        return Found(hits, answer.total)


class Likeness(Search):
    """What resembles a text, or a document of the collection given by its row, most: in words and in meaning."""

    def __init__(self, collection: Collection, like: str | int) -> None:
        super().__init__(collection, Query(), LIKE)
        self.by_words, self.like = False, like

    @cached_property
    def question(self) -> Question:
        """The text, or the words of the document, asked of the index by meaning."""
        asked = self.like if isinstance(self.like, str) else self.collection.counts[[self.like]]
        return Question(self.collection.index, asked, LIKE)

    @cached_property
    def conditions(self) -> Array | None:
        """All documents but the one itself."""
        if isinstance(self.like, str):
            return None
        others = np.ones(len(self.collection), bool)
        others[self.like] = False
        return others

    def to_itself(self, row: int) -> float:
        """The likeness of the document and itself: the most that another can have."""
        return self.question.explained(row).score

    def _by_meaning(self, answer: Answer) -> Found:
        if not answer.words and isinstance(self.like, str):
            return Found((), 0, message="None of its words is known in this collection.")
        return self._shown(answer)


def listed(
    collection: Collection,
    rows: Sequence[int],
    snippets: Sequence[Pieces] | None = None,
    *,
    scores: Sequence[float] | None = None,
    reasons: Sequence[Explanation | None] | None = None,
) -> tuple[FoundDocument, ...]:
    """Documents as hits; where there is no snippet, with the beginning of their text."""
    documents = collection.documents.many(rows) if snippets is None else collection.documents.many(rows, texts=False)
    places = places_of(collection, rows)
    return tuple(
        FoundDocument(
            row=row, id=document.id, title=document.title, score=scores[at] if scores else 0.0,
            snippet=snippets[at] if snippets else ((_lead(document.text), False),), place=places[at],
            labels=document.labels, date=document.date, why=reasons[at] if reasons else None,
        )
        for at, (row, document) in enumerate(zip(rows, documents, strict=True))
    )  # fmt: skip


def _within(allowed: Array | None) -> Any:
    return None if allowed is None else allowed.__getitem__


def _lead(text: str) -> str:
    words = " ".join(text[: 4 * LEAD].split())
    return words if len(words) <= LEAD else words[:LEAD].rsplit(" ", 1)[0] + " …"


def _lying_under(collection: Collection, query: Query, topic: str | int | None) -> Array | None:
    """Which documents lie under the topics that were asked for; None for all."""
    topics = (*query.topics, *([] if topic is None else [Filter("topic", str(topic))]))
    if not topics:
        return None
    allowed = np.ones(len(collection), bool)
    for condition in topics:
        there = collection.shares_under(collection.topic(condition.value)) >= CERTAIN
        allowed &= ~there if condition.exclude else there
    return allowed


def places_of(collection: Collection, rows: Sequence[int], certain: float = CERTAIN) -> list[Place]:
    """Where documents lie."""
    shape = collection.outline
    if not rows:
        return []
    nodes = node_posterior(shape.tree, shape.class_nodes, collection.shares[list(rows)].toarray())
    chosen = deepest_certain(shape.tree, nodes, certain)
    return [
        Place(shape.topics[node], shape.tree.path_names(int(node))[1:], float(nodes[place][node]))
        for place, node in enumerate(chosen)
    ]


def topics_of(collection: Collection, rows: Array) -> tuple[Held, ...]:
    """The topics that hold hits: headings with the most first, each followed by topics below with a good part of all.

    A document that is under no heading by half is counted nowhere.
    """
    outline, tree = collection.outline, collection.outline.tree
    if not len(rows):
        return ()
    mask = tree.path_mask(outline.class_nodes).astype(np.float64)
    count = np.zeros(len(tree), np.int64)
    for start in range(0, len(rows), BLOCK):
        count += ((collection.shares[rows[start : start + BLOCK]] @ mask) >= CERTAIN).sum(axis=0)
    found: list[Held] = []
    waiting = sorted(tree.children(tree.root), key=lambda node: count[node])
    while waiting:
        node = waiting.pop()
        if count[node] and (tree.depths[node] == 1 or count[node] >= NOTABLE * len(rows)):
            size = collection.tree.sizes[node]
            found.append(Held(outline.topics[node], tree.path_names(node)[1:], int(count[node]), size))
            waiting.extend(sorted(tree.children(node), key=lambda child: count[child]))
    return tuple(found)
