"""Answers of a search index: hits, the path of a query down the tree, and sentences on unknown words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from topiarist.collection.search.index.query_counts import QueryCounts
from topiarist.collection.search.results import Hit


@dataclass(frozen=True)
class Answer:
    """Hits, best first, with a sentence on them. ``words`` are the known words of the query.

    ``total`` counts the allowed documents with a positive score. It is a lower bound if ``exact`` is false.
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
    """Node that a query may lead to, with its words, probability, documents and children."""

    node: int
    name: str
    words: tuple[str, ...]
    probability: float
    documents: int
    below: tuple[Branch, ...] = ()


@dataclass(frozen=True)
class Step:
    """One level of the path of a query down the tree, with the most probable branch first."""

    branch: Branch
    branches: tuple[Branch, ...]


MAX_SPELLED = 5  # unknown words for which near spellings are looked up
UNKNOWN_WORDS = "not in the vocabulary: too rare, a stop word, or new since the models were fitted"


def explain_empty_query(query: QueryCounts, spellings: Mapping[str, tuple[str, ...]]) -> str:
    """Return a sentence on a query without known words."""
    if not query.unknown:
        return "The query holds no words to look for. Try: one or more words of the subject."
    return _describe_unknown(query, spellings)


def format_sentence(
    n_hits: int, n_docs: int, query: QueryCounts, by: str, spellings: Mapping[str, tuple[str, ...]]
) -> str:
    """Return one or two sentences on an answer."""
    phrases = {"meaning": "in meaning", "words": "by words", "both": "in meaning and by words"}
    hits = "document" if n_hits == 1 else f"{n_hits:,} documents"
    text = f"The {hits} of {n_docs:,} most similar {phrases[by]}." if n_hits else "No document matches."
    return f"{text} {_describe_unknown(query, spellings)}" if query.unknown else text


def _describe_unknown(query: QueryCounts, spellings: Mapping[str, tuple[str, ...]]) -> str:
    names = ", ".join(repr(name) for name in query.unknown[:MAX_SPELLED])
    rest = f" and {len(query.unknown) - MAX_SPELLED:,} more" if len(query.unknown) > MAX_SPELLED else ""
    verb = "is" if len(query.unknown) == 1 else "are"
    suggestions = ", ".join(name for names_of in spellings.values() for name in names_of)
    return f"{names}{rest} {verb} {UNKNOWN_WORDS}." + (f" Did you mean {suggestions}?" if suggestions else "")
