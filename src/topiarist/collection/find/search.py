"""Finding documents in a collection: by words (full text), by meaning (the Fisher kernel of its tree), or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.find.empty_answer import emptied
from topiarist.collection.find.index import Answer, Explanation
from topiarist.errors import UsageError
from topiarist.hierarchy.levels import deepest_certain, node_posterior
from topiarist.measures.placed_documents import CERTAIN
from topiarist.store.fulltext import Index, Pieces, folded
from topiarist.text.query import Filter, Query, parse

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

WAYS = ("words", "meaning", "both")
LIKE = "both"  # documents are alike in words and in meaning: more often of one label than by either alone
FEW = 5  # hits by words: below, meaning is offered
NEAR = 100  # documents that are looked at to see where a meaning is at home
LEAD = 160  # characters of a text that was found by meaning


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


def search(
    collection: Collection,
    text: str,
    n: int = 10,
    *,
    offset: int = 0,
    by: str = "words",
    topic: str | int | None = None,
    why: bool = False,
) -> Found:
    """The documents that match a query, best first. See ``queries`` for what may be typed."""
    if by not in WAYS:
        raise UsageError(f"a search goes by {', '.join(WAYS)}; got {by!r}", hint="--by meaning")
    query = parse(text)
    under = [Filter("topic", str(topic))] if topic is not None else []
    allowed = _allowed(collection, (*query.topics, *under))
    if by == "words" or not query.terms:
        return _by_words(collection, query, under, allowed, n, offset)
    return _by_meaning(collection, query, allowed, n, offset, by, why)


def similar(
    collection: Collection, document: str, n: int = 10, *, topic: str | int | None = None, why: bool = False
) -> Found:
    """The documents most like one, given by its id."""
    row = collection.documents.row_of(document)
    allowed = _allowed(collection, [Filter("topic", str(topic))] if topic is not None else [])
    others = np.ones(len(collection), bool) if allowed is None else allowed.copy()
    others[row] = False
    return _shown(collection, collection.index.page(collection.counts[[row]], n, by=LIKE, allowed=others, why=why))


def likeness_to_itself(collection: Collection, row: int) -> float:
    """What ``similar`` would say of a document and the document itself: the most that another can have."""
    return collection.index.explain(collection.counts[[row]], row, by=LIKE).score


def like_text(
    collection: Collection, text: str, n: int = 10, *, topic: str | int | None = None, why: bool = False
) -> Found:
    """The documents most like a text that need not be in the collection."""
    allowed = _allowed(collection, [Filter("topic", str(topic))] if topic is not None else [])
    answer = collection.index.page(text, n, by=LIKE, allowed=allowed, why=why)
    if not answer.words:
        return Found((), 0, message="None of its words is known in this collection.")
    return _shown(collection, answer)


def _by_words(
    collection: Collection, query: Query, under: list[Filter], allowed: Array | None, n: int, offset: int
) -> Found:
    index = Index(collection.generation.database)
    within = None if allowed is None else allowed.__getitem__
    answer = index.search(query, limit=n, offset=offset, within=within)
    rows = [hit.row for hit in answer.hits]
    documents, places = collection.documents.many(rows, texts=False), places_of(collection, rows)
    hits = tuple(
        FoundDocument(
            hit.row, document.id, document.title, hit.score, hit.snippet, place, document.labels, document.date
        )
        for hit, document, place in zip(answer.hits, documents, places, strict=True)
    )
    found = Found(hits, answer.total, answer.exact, query.read_as)
    if answer.total >= FEW or not (query.terms or not answer.total):
        return found

    def finds(other: Query) -> bool:
        kept = _allowed(collection, (*other.topics, *under))
        return index.search(other, limit=1, within=None if kept is None else kept.__getitem__, enough=1).total > 0

    said = _said(index, query, answer.total)
    if not answer.total and not said["suggestions"]:
        why = emptied(collection.generation.database, query, finds)
        return replace(found, **(said if why is None else vars(why)))
    return replace(found, **said)


def _said(index: Index, query: Query, total: int) -> dict[str, Any]:
    """What to say where little or nothing was found."""
    missing = index.missing(query)
    unknown = dict.fromkeys(word for term in missing for word in term.split())
    near = {word: index.suggest(word) for word in unknown if word in missing or index.missing(parse(word))}
    if not query.terms:
        message = ""
    elif missing:
        message = f"No document contains {', '.join(repr(word) for word in missing[:3])}."
    elif total:
        message = f"Only {total} document{'s' if total > 1 else ''} contain{'s' if total == 1 else ''} these words."
    else:
        message = "No document contains all of these words."
    return {"message": message, "suggestions": _corrected(query, near)}


def _corrected(query: Query, near: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The whole query with known words in the place of unknown ones; those that resemble no known word are left out.

    Where only one word is unknown, there are as many such queries as words that it may have been meant for.
    """
    if not any(near.values()):
        return ()
    many = max(map(len, near.values())) if len(near) == 1 else 1
    meant = [{folded(word): words[place] if words else "" for word, words in near.items()} for place in range(many)]
    return tuple(str(query.with_words(partial(_instead, known))) for known in meant)


def _instead(known: Mapping[str, str], word: str) -> str:
    return known.get(folded(word), word)


def _by_meaning(
    collection: Collection, query: Query, allowed: Array | None, n: int, offset: int, by: str, why: bool
) -> Found:
    words, allowed = _meant(collection, query, allowed)
    answer = collection.index.page(words, n, offset, by=by, allowed=allowed, why=why)
    near = _corrected(query, {word: answer.suggestions.get(word, ()) for word in answer.unknown})
    said = _unknown(answer.unknown)
    if not answer.words:
        return Found((), 0, True, query.read_as, said or answer.message, near)
    return replace(_shown(collection, answer), read_as=query.read_as, message=said, suggestions=near)


def _unknown(words: Sequence[str]) -> str:
    """That some words of a query are not known."""
    if not words:
        return ""
    shown = ", ".join(map(repr, words[:3])) + (", …" if len(words) > 3 else "")
    return f"The word {shown} is not known here." if len(words) == 1 else f"The words {shown} are not known here."


def _meant(collection: Collection, query: Query, allowed: Array | None) -> tuple[str, Array | None]:
    """The words of a query whose meaning counts, and the documents that its conditions leave."""
    words = " ".join(term.words for term in query.terms if not term.exclude)
    others = [item for item in query.filters if item.kind != "topic"]
    excluded = [term for term in query.terms if term.exclude]
    if others or excluded:
        rows = Index(collection.generation.database).rows(Query((*others, *excluded)))
        kept = np.zeros(len(collection), bool)
        kept[[row for row in rows if row < len(kept)]] = True
        allowed = kept if allowed is None else allowed & kept
    return words, allowed


def matching(
    collection: Collection, text: str, *, by: str = "words", topic: str | int | None = None, near: int = NEAR
) -> list[int]:
    """The rows of all documents that match a query; by meaning, of which every document has some, the best ones."""
    query = parse(text)
    under = [Filter("topic", str(topic))] if topic is not None else []
    allowed = _allowed(collection, (*query.topics, *under))
    if by == "words" or not query.terms:
        within = None if allowed is None else allowed.__getitem__
        return Index(collection.generation.database).rows(query, within=within)
    words, allowed = _meant(collection, query, allowed)
    return [hit.number for hit in collection.index.page(words, near, by=by, allowed=allowed).hits]


def _shown(collection: Collection, answer: Answer) -> Found:
    """Hits of the index by meaning, with what the collection knows of them."""
    rows = [hit.number for hit in answer.hits]
    documents, places = collection.documents.many(rows), places_of(collection, rows)
    hits = tuple(
        FoundDocument(
            hit.number, document.id, document.title, hit.score, ((_lead(document.text), False),), place,
            document.labels, document.date, hit.why,
        )
        for hit, document, place in zip(answer.hits, documents, places, strict=True)
    )  # fmt: skip
    return Found(hits, answer.total)


def _lead(text: str) -> str:
    words = " ".join(text[: 4 * LEAD].split())
    return words if len(words) <= LEAD else words[:LEAD].rsplit(" ", 1)[0] + " …"


def _allowed(collection: Collection, topics: Sequence[Filter]) -> Array | None:
    """Which documents lie under the topics that were asked for; None for all."""
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
