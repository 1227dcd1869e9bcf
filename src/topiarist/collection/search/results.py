"""Values of a search: hits, explanations, and the result that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topiarist.text.highlights import Pieces
from topiarist.text.passages import parse_part


@dataclass(frozen=True)
class WordReason:
    """Word that query and document share, with its part of the score and the topic in whose sense both use it."""

    word: str
    amount: float
    sense: tuple[str, ...] = ()  # words of that topic; empty if words were compared without topics
    model: int = -1
    topic: int = -1


@dataclass(frozen=True)
class TopicReason:
    """Topic that query and document share, with its words and its part of the score."""

    words: tuple[str, ...]
    amount: float
    model: int
    topic: int


@dataclass(frozen=True)
class Explanation:
    """Parts of a score, whose amounts add up to it. Both lists begin with the largest amount.

    ``of_all`` is the part that every document has: the only topic of a model with one topic. ``by_meaning`` and
    ``by_words`` are the parts of the kernel and of BM25. They too add up to the score. ``alike`` is the part of the
    word space, ``vectors`` that of the embeddings. Both belong to ``by_meaning``.
    """

    score: float
    words: tuple[WordReason, ...]
    topics: tuple[TopicReason, ...]
    of_all: float = 0.0
    by_meaning: float = 0.0
    by_words: float = 0.0
    alike: float = 0.0
    vectors: float = 0.0

    def scale(self, factor: float) -> Explanation:
        """Return the explanation of the score times a factor."""
        return replace(
            self,
            words=tuple(replace(reason, amount=factor * reason.amount) for reason in self.words),
            topics=tuple(replace(reason, amount=factor * reason.amount) for reason in self.topics),
            **{name: factor * getattr(self, name) for name in _PARTS},
        )

    @staticmethod
    def combine(explanations: Sequence[Explanation]) -> Explanation:
        """Return the explanation of a sum of scores; a word has the sense that the last explanation of it gives."""
        words: dict[str, WordReason] = {}
        topics: dict[tuple[int, int], TopicReason] = {}
        for explanation in explanations:
            for word in explanation.words:
                amount = words[word.word].amount if word.word in words else 0.0
                words[word.word] = replace(word, amount=word.amount + amount)
            for topic in explanation.topics:
                key = topic.model, topic.topic
                topics[key] = replace(topic, amount=topic.amount + (topics[key].amount if key in topics else 0.0))
        return Explanation(
            words=tuple(sorted(words.values(), key=lambda reason: (-reason.amount, reason.word))),
            topics=tuple(sorted(topics.values(), key=lambda topic: -topic.amount)),
            **{name: sum(getattr(explanation, name) for explanation in explanations) for name in _PARTS},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON data."""
        words = [
            {"word": reason.word, "amount": round(reason.amount, 6), "sense": list(reason.sense)}
            for reason in self.words
        ]
        return {
            "words": words,
            "topics": [{"words": list(reason.words), "amount": round(reason.amount, 6)} for reason in self.topics],
        }

    def __str__(self) -> str:
        lines = [f"similarity {self.score:.3f}"]
        if self.by_meaning and self.by_words:
            lines[0] += f": {self.by_meaning:.3f} in meaning, {self.by_words:.3f} by words"
        for reason in self.words[:5]:
            sense = f"   in the sense of {', '.join(reason.sense[:4])}" if reason.sense else ""
            lines.append(f"  {reason.amount:.3f}  the word {reason.word!r}{sense}")
        lines += [f"  {reason.amount:.3f}  the topic {', '.join(reason.words[:5])}" for reason in self.topics[:3]]
        if self.vectors:
            position = "near each other" if self.vectors > 0 else "farther apart than most"
            lines.append(f"  {self.vectors:.3f}  their vectors lie {position}")
        return "\n".join(lines)


_PARTS = ("score", "of_all", "by_meaning", "by_words", "alike", "vectors")  # of an explanation
MIN_PLACE_SHARE = 0.05  # certainty of a topic of a document, for the topic to be listed


@dataclass(frozen=True)
class Place:
    """Assignment of a document: the deepest topic that holds most of it."""

    topic: int
    path: tuple[str, ...] = ()  # names from below the root down
    share: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON data."""
        return {"topic": self.topic, "path": list(self.path), "share": round(self.share, 6)}


NO_PLACE = Place(-1)


@dataclass(frozen=True)
class Hit:
    """One document of a search result."""

    row: int
    id: str
    score: float
    title: str = ""
    labels: tuple[str, ...] = ()
    place: Place = NO_PLACE
    why: Explanation | None = None
    snippet: Pieces = ()
    date: str = ""
    copies: int = 0  # other documents with the same text
    related: bool = False  # near in words and meaning, but no match

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON data."""
        part = parse_part(self.id)
        part = part if part and self.title.endswith(f", {part.label}") else None
        return {
            "id": self.id, "title": self.title, "score": round(self.score, 6), "date": self.date,
            "labels": list(self.labels), "snippet": [{"text": text, "match": match} for text, match in self.snippet],
            **self.place.to_dict(), "why": None if self.why is None else self.why.to_dict(), "copies": self.copies,
            "related": self.related, "whole": part.parent_id if part else "", "passage": part.label if part else "",
        }  # fmt: skip


@dataclass(frozen=True)
class SearchResult:
    """Hits of a page, the number of documents that match, and notes on the query.

    Related documents follow the matches and are not in the total.
    """

    hits: tuple[Hit, ...]
    total: int
    exact: bool = True  # otherwise the total is a lower bound
    read_as: str = ""
    message: str = ""
    suggestions: tuple[str, ...] = ()
    without: str = ""  # the query without the filter that left nothing
    widened: str = ""  # the query without quotes, stars and OR, if they left nothing
    all_words: int | None = None  # documents with all words in some form; None if that was not counted
    not_required: tuple[str, ...] = ()  # words that no document has together with the others
    limited: bool = False  # filters or a topic left only a part of the documents
    folded: int = 0  # copies of other hits: part of the total, but not listed
    remarks: tuple[str, ...] = ()  # parts of the query that were not understood, and documents without a date

    @property
    def only_some_words(self) -> bool:
        """Whether no matching document has all words."""
        return self.total > 0 and self.all_words == 0

    def to_dict(self, topics: Sequence[TopicHits] = ()) -> dict[str, Any]:
        """Return the result as plain JSON data, with the topics of its hits."""
        return {
            "total": self.total, "exact": self.exact, "read_as": self.read_as, "message": self.message,
            "suggestions": list(self.suggestions), "widened": self.widened, "remarks": list(self.remarks),
            "all_words": self.all_words, "not_required": list(self.not_required), "folded": self.folded,
            "topics": [
                {"id": entry.topic, "path": list(entry.path), "matching": entry.documents, "documents": entry.all}
                for entry in topics
            ],
            "hits": [hit.to_dict() for hit in self.hits],
        }  # fmt: skip

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True)
class TopicHits:
    """Topic with the number of hits and of all documents under it."""

    topic: int
    path: tuple[str, ...]
    documents: int
    all: int
