"""Path of a query down the tree, and sentences on unknown words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from topiarist.collection.search.index.query_counts import QueryCounts


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


def _describe_unknown(query: QueryCounts, spellings: Mapping[str, tuple[str, ...]]) -> str:
    names = ", ".join(repr(name) for name in query.unknown[:MAX_SPELLED])
    rest = f" and {len(query.unknown) - MAX_SPELLED:,} more" if len(query.unknown) > MAX_SPELLED else ""
    verb = "is" if len(query.unknown) == 1 else "are"
    suggestions = ", ".join(name for names_of in spellings.values() for name in names_of)
    return f"{names}{rest} {verb} {UNKNOWN_WORDS}." + (f" Did you mean {suggestions}?" if suggestions else "")
