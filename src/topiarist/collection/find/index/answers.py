"""What an index answers: hits, reasons, the way down the tree, and sentences about what could not be understood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from topiarist.collection.find.index.query_counts import QueryCounts


@dataclass(frozen=True)
class WordReason:
    """A word that query and document share: how much it adds, and the topic in whose sense both use it."""

    word: str
    amount: float
    sense: tuple[str, ...] = ()  # words of that topic; none where words were compared without topics
    model: int = -1
    topic: int = -1


@dataclass(frozen=True)
class TopicReason:
    """A topic that query and document share, told by its words."""

    words: tuple[str, ...]
    amount: float
    model: int
    topic: int


@dataclass(frozen=True)
class Explanation:
    """Why a document is similar: all amounts add up to the score. Both lists begin with the largest.

    ``of_all`` is what every document has: the only topic of a model of one. ``by_meaning`` and ``by_words`` are what
    the kernel and BM25 bring; they too add up to the score. ``alike`` is for words that are used like the query's,
    ``vectors`` for documents that lie near: both are among what meaning brings.
    """

    score: float
    words: tuple[WordReason, ...]
    topics: tuple[TopicReason, ...]
    of_all: float = 0.0
    by_meaning: float = 0.0
    by_words: float = 0.0
    alike: float = 0.0
    vectors: float = 0.0

    def __str__(self) -> str:
        lines = [f"similarity {self.score:.3f}"]
        if self.by_meaning and self.by_words:
            lines[0] += f": {self.by_meaning:.3f} in meaning, {self.by_words:.3f} by words"
        for reason in self.words[:5]:
            sense = f"   in the sense of {', '.join(reason.sense[:4])}" if reason.sense else ""
            lines.append(f"  {reason.amount:.3f}  the word {reason.word!r}{sense}")
        lines += [f"  {reason.amount:.3f}  the topic {', '.join(reason.words[:5])}" for reason in self.topics[:3]]
        if self.vectors:
            lies = "near each other" if self.vectors > 0 else "farther apart than most"
            lines.append(f"  {self.vectors:.3f}  their vectors lie {lies}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Hit:
    """A document that was found."""

    number: int  # its row, counted over everything that was ever added
    id: str
    score: float
    title: str = ""
    labels: tuple[str, ...] = ()
    node: int = -1  # of the tree, where there is one
    why: Explanation | None = None  # if asked for


@dataclass(frozen=True)
class Answer:
    """The hits, best first, and a sentence about them. ``words`` are those of the query that the index knows.

    ``total`` counts all documents that have anything of the query and were allowed, shown or not; where not all were
    looked at (``exact`` is false), there may be more.
    """

    hits: tuple[Hit, ...]
    message: str
    words: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    suggestions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    total: int = 0
    exact: bool = True

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True)
class Branch:
    """A node that a query may lead to: its words, P(node|query), its documents, and what lies one level below."""

    node: int
    name: str
    words: tuple[str, ...]
    probability: float
    documents: int
    below: tuple[Branch, ...] = ()


@dataclass(frozen=True)
class Step:
    """One level of the way down: where we stand, and where it goes on; the most probable branch comes first."""

    here: Branch
    branches: tuple[Branch, ...]


SPELLED = 5  # unknown words for which near spellings are looked up
UNKNOWN = "not in the vocabulary: too rare, a stop word, or new since the models were fitted"


def nothing(query: QueryCounts, near: Mapping[str, tuple[str, ...]]) -> str:
    """Why there is nothing to look for."""
    if not query.unknown:
        return "The query holds no words to look for. Try: one or more words of the subject."
    return _unknown(query, near)


def sentence(n_hits: int, n_docs: int, query: QueryCounts, by: str, near: Mapping[str, tuple[str, ...]]) -> str:
    """One or two sentences about an answer."""
    ways = {"meaning": "in meaning", "words": "by words", "both": "in meaning and by words"}
    some = "document" if n_hits == 1 else f"{n_hits:,} documents"
    said = f"The {some} of {n_docs:,} most similar {ways[by]}." if n_hits else "No document matches."
    return f"{said} {_unknown(query, near)}" if query.unknown else said


def _unknown(query: QueryCounts, near: Mapping[str, tuple[str, ...]]) -> str:
    names = ", ".join(repr(name) for name in query.unknown[:SPELLED])
    more = f" and {len(query.unknown) - SPELLED:,} more" if len(query.unknown) > SPELLED else ""
    verb = "is" if len(query.unknown) == 1 else "are"
    meant = ", ".join(name for names_of in near.values() for name in names_of)
    return f"{names}{more} {verb} {UNKNOWN}." + (f" Did you mean {meant}?" if meant else "")
