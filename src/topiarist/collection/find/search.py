"""Finding documents in a collection: by words and meaning together, by words alone (full text), or by meaning alone.

A ``Search`` is a query that was parsed once and is asked once: hits, rows, topics and remarks all come from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.copies import folded as folded_rows
from topiarist.collection.copies import number_of_copies
from topiarist.collection.describe.columns import undated_said
from topiarist.collection.find.default_ranking import DefaultQuestion
from topiarist.collection.find.empty_answer import SPELLED, emptied, few_words, not_all_words, unknown_words
from topiarist.collection.find.index import Answer, Explanation
from topiarist.collection.find.index.question import Question
from topiarist.collection.find.liked_question import LIKE, LikedQuestion, likeness_of
from topiarist.collection.passages import whole_of
from topiarist.errors import DamagedError, UsageError
from topiarist.hierarchy.levels import deepest_certain, node_posterior
from topiarist.measures.placed_documents import CERTAIN
from topiarist.store.fulltext import Hits, Index, Ranked
from topiarist.text.highlights import Pieces, Span, forms, joined, snippet, spots
from topiarist.text.query import LIKE as LIKED
from topiarist.text.query import NO_VALUE, Filter, Query, Term, parse
from topiarist.text.repeated import without

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

WAYS = ("words", "meaning", "both")
DEFAULT = "both"
FEW = 5  # hits by words: below, meaning is offered
NEAR = 100  # documents that are looked at to see where a meaning is at home
LEAD = 160  # characters of a text that was found by meaning
GONE = "The index of this state is not there any more, or damaged: found by words alone. Try topiarist check."
LONG = 12  # words beside phrases: a question with more is told in sentences
EARLIER = "Rare words and other forms are not looked for: grow the collection again, or add to it, to index them."
READ = 50_000  # characters of a text in which a snippet is looked for
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
    copies: int = 0  # other documents of the same kind


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
    all_words: int | None = None  # documents with all words in some form; None where that was not asked
    not_required: tuple[str, ...] = ()  # words that no document has beside the others
    folded: int = 0  # of the total, copies of other hits, which are not listed
    remarks: tuple[str, ...] = ()  # what was not understood, and how many documents a condition cannot know of

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
    lies under a topic, if one is given. Of copies a page lists the first that was found; ``rows`` has all of them.
    """

    def __init__(self, collection: Collection, query: Query | str, by: str = DEFAULT, *, near: int = NEAR) -> None:
        if by not in WAYS:
            raise UsageError(f"a search goes by {', '.join(WAYS)}; got {by!r}", hint="--by meaning")
        self.query = parse(query, collection.fields) if isinstance(query, str) else query
        self.collection, self.near = collection, near
        self.by = DEFAULT if self.query.likes and by == "words" else by
        self.by_words = (by == "words" or not self.query.meant) and not self.query.likes
        self.trouble = ""  # why the index could not be asked
        self._under: dict[str | int | None, Array | None] = {}

    @cached_property
    def ranked(self) -> Ranked:
        """By words: all documents that match, wherever they lie, the best first."""
        return self._index.ranked(self.query)

    @cached_property
    def question(self) -> Question:
        """By meaning: the words that count, asked of the index; and the documents that were pointed at."""
        like, unlike, _ = self.liked
        if not like and not unlike:
            return Question(self.collection.index, self.query.meant, self.by)
        if not self.query.meant and like:
            return likeness_of(self.collection, like, unlike)
        words = self.best or Question(self.collection.index, self.query.meant, self.by)
        sides = (likeness_of(self.collection, side) if side else None for side in (like, unlike))
        return LikedQuestion(words, *sides)

    @cached_property
    def liked(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]:
        """The rows of documents to be like, and unlike, and the ids that no document has.

        A document that was cut into passages has those of all of them.
        """
        known = {one: _rows_of(self.collection, one.value) for one in dict.fromkeys(self.query.likes)}
        like, unlike = (
            tuple(dict.fromkeys(row for one, rows in known.items() if one.exclude is side for row in rows))
            for side in (False, True)
        )
        both = set(like) & set(unlike)
        missing = tuple(one.value for one, rows in known.items() if not rows)
        return tuple(row for row in like if row not in both), tuple(row for row in unlike if row not in both), missing

    @cached_property
    def best(self) -> DefaultQuestion | None:
        """By both: the query in all its words; None where another way was chosen, or nothing of it is known.

        Collections that were written before all words were kept are asked as they were then.
        """
        try:
            words = self.collection.words if self.by == DEFAULT and not self.by_words else None
            if words is None or not self.query.meant:
                return None
            question = DefaultQuestion(self.collection, words, self.query.meant)
        except DamagedError:  # or of a state that is no more
            self.trouble = GONE
            return None
        return None if question.empty else question

    @cached_property
    def required(self) -> tuple[Term, ...]:
        """By both: what is written with a sign, and must be there; nothing where no document has it.

        In a question of many words quotation marks are those of its sentences: that is said.
        """
        required = self.query.required if self.best is not None and not self._loose else ()
        return required if required and self._index.search(Query(required), limit=1, enough=1).total else ()

    @property
    def _loose(self) -> bool:
        return len(self.query.terms) - len(self.query.required) > LONG

    @property
    def nearest(self) -> bool:
        """Whether every document is an answer, more or less; or else only those that match."""
        return not self._as_words and not self.required

    @cached_property
    def _as_words(self) -> bool:
        """Whether nothing but the full text can answer: no word of the query is known to the other indexes."""
        if self.by_words or self.by != DEFAULT or self.best is not None or self.query.likes:
            return self.by_words
        return bool(self.trouble) or self.collection.words is not None

    @cached_property
    def conditions(self) -> Array | None:
        """By meaning: which documents have what else the query asks for, beside topics; None for all.

        By both, phrases, beginnings and alternatives are conditions as well: what is written with a sign is exact.
        """
        others = [item for item in self.query.filters if item.kind not in ("topic", LIKED)]
        excluded = [term for term in self.query.terms if term.exclude]
        like, unlike, _ = self.liked
        if not others and not excluded and not self.required and not like and not unlike:
            return None
        asked = Query((*others, *self.required, *excluded))
        kept: Array = (
            self._index.matching(asked, len(self.collection)) if asked else np.ones(len(self.collection), bool)
        )
        kept[[*like, *unlike]] = False
        return kept

    def page(self, n: int = 10, offset: int = 0, *, topic: str | int | None = None, why: bool = False) -> Found:
        """The ``n`` best hits after the ``offset`` best; ``why`` says why, where they were found by meaning."""
        return replace(self._page(n, offset, topic=topic, why=why), remarks=self.remarks)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What was not understood, and how many documents have no date where one was asked for."""
        asked = [item for item in self.query.filters if item.kind in ("before", "after", "date") and not item.column]
        dated = any(item.value.casefold() != NO_VALUE for item in asked)
        undated = undated_said(self.collection.generation.database) if dated else ""
        return (*self.query.notes, *([undated] if undated else []), *self._of_likes)

    @property
    def _of_likes(self) -> Iterator[str]:
        """What is to be said of documents that were pointed at."""
        if not self.query.likes:
            return
        like, unlike, missing = self.liked
        if missing:
            yield f"No document is called {', '.join(map(repr, missing[:SPELLED]))}: that says nothing here."
        pointed = {row for one in self.query.likes for row in _rows_of(self.collection, one.value)}
        if not pointed.issubset((*like, *unlike)):
            yield "A document that is both wanted and not wanted says nothing."

    def _page(self, n: int, offset: int, *, topic: str | int | None, why: bool) -> Found:
        if self._pointed:
            return self._by_likes(n, offset, topic, why=why)
        if self.best is not None:
            return self._by_default(self.best, n, offset, topic, why=why)
        if not self._as_words:
            shown, folded = self._folded(self._left(topic))
            found = self._by_meaning(self.question.page(n, offset, allowed=shown, why=why))
            return replace(found, total=found.total + folded, folded=folded) if folded and found.exact else found
        answer, folded = self._by_words(n, offset, topic)
        rows, snippets = [hit.row for hit in answer.hits], [hit.snippet for hit in answer.hits]
        hits = listed(self.collection, rows, snippets, scores=[hit.score for hit in answer.hits])
        found = Found(hits, answer.total + folded, answer.exact, self.query.read_as, self.trouble, folded=folded)
        if self.trouble or answer.total >= FEW or not (self.query.terms or not answer.total):
            return found

        def finds(other: Query) -> bool:
            within = _within(_lying_under(self.collection, other, topic))
            return self._index.search(other, limit=1, within=within, enough=1).total > 0

        return replace(found, **vars(few_words(self._index, self.query, answer.total, finds, self._suggest)))

    def rows(self, topic: str | int | None = None) -> Array:
        """All documents that match: by words in their order, by meaning the best first."""
        if self._as_words:
            return np.sort(self._ranked_under(topic).rows)
        if self.best is not None and not self._pointed:
            some = self.near if self.nearest else len(self.collection)
            hits = self.best.page(some, allowed=self._left(topic), exact=not self.nearest).hits
        else:
            some = self.near if self.nearest else len(self.collection)
            hits = self.question.page(some, allowed=self._left(topic)).hits
        return np.array([hit.number for hit in hits], np.int64)

    def under(self, topic: str | int | None) -> Array | None:
        """Which documents lie under the topics that the query asks for, and under this one; None for all."""
        if topic not in self._under:
            self._under[topic] = _lying_under(self.collection, self.query, topic)
        return self._under[topic]

    @property
    def _index(self) -> Index:
        return Index(self.collection.generation.database)

    def _suggest(self, word: str) -> Sequence[str]:
        """Words that are spelt nearly so; by the full text where all words are not kept, or their index is gone."""
        try:
            words = self.collection.words
        except DamagedError:
            words = None
        return self._index.suggest(word) if words is None else words.suggest(word)

    def _by_words(self, n: int, offset: int, topic: str | int | None) -> tuple[Hits, int]:
        """A page of hits, and how many copies are not among all of them."""
        copies = self.collection.copies
        if "ranked" not in vars(self) and not len(copies):
            return self._index.search(self.query, limit=n, offset=offset, within=_within(self.under(topic))), 0
        ranked = self._ranked_under(topic)
        if not len(copies):
            return self._index.page(self.query, ranked, n, offset), 0
        shown = folded_rows(copies, ranked.rows, len(self.collection.documents))
        few = Ranked(ranked.rows[shown], ranked.scores[shown])
        return self._index.page(self.query, few, n, offset), len(ranked.rows) - len(few.rows)

    def _folded(self, allowed: Array | None) -> tuple[Array | None, int]:
        """By meaning: those of the allowed documents that are listed, of copies the first; and how many are not."""
        copies, number = self.collection.copies, len(self.collection)
        if not len(copies):
            return allowed, 0
        rows = np.arange(number) if allowed is None else np.flatnonzero(allowed)
        shown = np.zeros(number, bool)
        shown[rows[folded_rows(copies, rows, number)]] = True
        return shown, len(rows) - int(shown.sum())

    def _ranked_under(self, topic: str | int | None) -> Ranked:
        under = self.under(topic)
        return self.ranked if under is None else self.ranked.among(under)

    def _left(self, topic: str | int | None) -> Array | None:
        """By meaning: which documents the conditions of the query and the topic leave; None for all."""
        under, conditions = self.under(topic), self.conditions
        return under if conditions is None else conditions if under is None else under & conditions

    def _by_default(self, best: DefaultQuestion, n: int, offset: int, topic: str | int | None, *, why: bool) -> Found:
        """Hits by words and meaning, with the words in their forms marked, and which words were not required."""
        allowed = self._left(topic)
        shown, _ = self._folded(allowed)
        answer = best.page(n, offset, allowed=shown, why=why, exact=not self.nearest)
        rows = [hit.number for hit in answer.hits]
        documents = self.collection.documents.many(rows)
        snippets = [snippet(one.text, self.marked(one.text[:READ])) for one in documents]
        hits = listed(
            self.collection, rows, snippets, scores=[hit.score for hit in answer.hits],
            reasons=[hit.why for hit in answer.hits],
        )  # fmt: skip
        all_words, missing = best.with_all_words(allowed)
        near = {word: self._suggest(word) for word in answer.unknown[:SPELLED]}
        signs = () if self.required else tuple(map(str, self.query.required))
        unknown = answer.unknown if self._loose else (*signs, *answer.unknown)
        said = not_all_words(self.query, unknown, missing, near, signs if self._loose else ())
        if not answer.total:
            said = emptied(self._index, self.query, lambda other: self._finds(other, topic)) or said
        return Found(
            hits, answer.total, answer.exact, self.query.read_as, said.message, said.suggestions,
            said.without, all_words=all_words, not_required=(*signs, *answer.unknown, *missing),
        )  # fmt: skip

    @property
    def _pointed(self) -> bool:
        """Whether documents were pointed at that are here."""
        return bool(self.query.likes) and any(self.liked[:2])

    def _by_likes(self, n: int, offset: int, topic: str | int | None, *, why: bool) -> Found:
        """Hits by what they are like, beside words where there are any."""
        shown, folded = self._folded(self._left(topic))
        answer = self.question.page(n, offset, allowed=shown, why=why)
        found = self._shown(answer)
        if self.query.meant:
            texts = self.collection.documents.many([hit.row for hit in found.hits])
            marked = [snippet(one.text, self.marked(one.text[:READ])) for one in texts]
            found = replace(
                found, hits=tuple(replace(hit, snippet=text) for hit, text in zip(found.hits, marked, strict=True))
            )
        elif not self.liked[0]:
            found = replace(found, message="Only what is not wanted was told: add words, or like: and a document.")
        folded = folded if found.exact else 0  # or nobody knows how many of those that were not looked at
        return replace(found, total=found.total + folded, folded=folded, read_as=self.query.read_as)

    def marked(self, text: str) -> list[Span]:
        """Where in a text the words of the query are: by default in every form, otherwise as they were typed."""
        if self.best is None:
            return spots(text, self.query)
        words = self.best.words
        found = forms(text, {word.stem for word in words.words}, words.index.keys)
        return joined([*found, *spots(text, Query(self.required))])

    def _finds(self, other: Query, topic: str | int | None) -> bool:
        return Search(self.collection, other, self.by).page(1, topic=topic).total > 0

    def _by_meaning(self, answer: Answer) -> Found:
        said = unknown_words(self.query, answer.unknown, answer.suggestions)
        if not answer.words:
            return Found((), 0, True, self.query.read_as, said.message or answer.message, said.suggestions)
        if self.by == DEFAULT:  # of a version that did not keep all words
            said = replace(said, message=" ".join(filter(None, (said.message, EARLIER))))
        return replace(self._shown(answer), read_as=self.query.read_as, **vars(said))

    def _shown(self, answer: Answer) -> Found:
        """Hits of the index by meaning, with what the collection knows of them."""
        rows, scores = [hit.number for hit in answer.hits], [hit.score for hit in answer.hits]
        hits = listed(self.collection, rows, scores=scores, reasons=[hit.why for hit in answer.hits])
        return Found(hits, answer.total, answer.exact)


class Likeness(Search):
    """What resembles a text, a document of the collection (given by its row) or several of both most.

    In words and in meaning. ``unlike`` are others that it should not resemble.
    """

    def __init__(
        self, collection: Collection, like: str | int | Sequence[str | int], unlike: Sequence[str | int] = ()
    ) -> None:
        super().__init__(collection, Query(), LIKE)
        self.by_words = False
        several = isinstance(like, Sequence) and not isinstance(like, str)
        self.like: tuple[str | int, ...] = tuple(like) if several else (like,)  # type: ignore[arg-type, assignment]
        self.unlike = tuple(unlike)
        if not self.like:
            raise UsageError("nothing is given that documents shall be like", hint="the id of a document")
        both = sorted({one for one in self.like if one in self.unlike}, key=str)
        if both:
            named = collection.documents.get(both[0]).id if isinstance(both[0], int) else "a text"
            raise UsageError(f"{named!r} is both wanted and not wanted", hint="one of both")
        self.best, self._as_words = None, False

    @cached_property
    def question(self) -> Question:
        """The texts, or the words of the documents, asked of the index by meaning."""
        return likeness_of(self.collection, self.like, self.unlike)

    @cached_property
    def conditions(self) -> Array | None:
        """All documents but those themselves."""
        rows = [one for one in (*self.like, *self.unlike) if not isinstance(one, str)]
        if not rows:
            return None
        others = np.ones(len(self.collection), bool)
        others[rows] = False
        return others

    def to_itself(self, row: int) -> float:
        """The likeness of the document and itself: the most that another can have."""
        return self.question.explained(row).score

    def _by_meaning(self, answer: Answer) -> Found:
        if not answer.words and all(isinstance(one, str) for one in self.like):
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
    forms = collection.counting.repeated.forms if snippets is None else frozenset()
    places, copies = places_of(collection, rows), number_of_copies(collection.copies, rows)
    return tuple(
        FoundDocument(
            row=row, id=document.id, title=document.title, score=scores[at] if scores else 0.0,
            snippet=snippets[at] if snippets else ((_lead(without(document.text, forms)), False),), place=places[at],
            labels=document.labels, date=document.date, why=reasons[at] if reasons else None, copies=copies[at],
        )
        for at, (row, document) in enumerate(zip(rows, documents, strict=True))
    )  # fmt: skip


def _rows_of(collection: Collection, id: str) -> list[int]:
    """The rows of a document, or of its passages; nothing where there is none."""
    whole = None if collection.documents.has(id) else whole_of(collection, id)
    if whole is not None:
        return list(whole.rows)
    return [collection.documents.row_of(id)] if collection.documents.has(id) else []


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
