"""Remarks on empty results: unknown words, near spellings, and the filter that left nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from topiarist.storage.fulltext import Index
from topiarist.text.query import Filter, Query, Term, fold_word
from topiarist.text.spelling import find_similar_names

MAX_NAMED = 5  # words, or values of a filter, in a remark
MAX_SPELLED = 5  # unknown words for which near spellings are looked up
_FILTER_PHRASES = {
    "topic": "lies under “{}”", "tag": "is tagged “{}”", "label": "has the label “{}”", "type": "is of type “{}”",
    "before": "is from before {}", "after": "is from after {}", "since": "is from {} or later",
    "until": "is from {} or earlier", "date": "is from {}",
}  # fmt: skip


@dataclass(frozen=True)
class Remark:
    """Remark on a result, with proposed queries and the query without the filter that left nothing."""

    message: str = ""
    suggestions: tuple[str, ...] = ()
    without: str = ""


def explain_few_matches(
    index: Index,
    query: Query,
    total: int,
    finds: Callable[[Query], bool],
    suggest: Callable[[str], Sequence[str]],
) -> Remark:
    """Return the remark on few or no matches by words.

    ``finds`` returns whether a query has matches, ``suggest`` the near spellings of a word.
    """
    missing = index.find_missing(query)
    unknown = dict.fromkeys(word for term in missing for word in term.split())
    misspelt = (word for word in unknown if word in missing or index.find_missing(Query((Term(word),))))
    spellings = {word: suggest(word) for word in islice(misspelt, MAX_SPELLED)}
    if not query.terms:
        message = ""
    elif missing:
        message = f"No document contains {', '.join(repr(word) for word in missing[:3])}."
    elif total:
        message = f"Only {total} document{'s' if total > 1 else ''} contain{'s' if total == 1 else ''} these words."
    else:
        message = "No document contains all words."
    remark = Remark(message, _correct_query(query, spellings))
    return remark if total or remark.suggestions else find_excess_filter(index, query, finds) or remark


def describe_unknown_words(query: Query, unknown: Sequence[str], spellings: Mapping[str, Sequence[str]]) -> Remark:
    """Return a remark on the words that no document of the collection has."""
    return Remark(f"No document has {_list_words(unknown)}." if unknown else "", _correct_query(query, spellings))


def _list_words(words: Sequence[str]) -> str:
    names = (word if '"' in word else repr(word) for word in words[:MAX_NAMED])
    return ", ".join(names) + (", …" if len(words) > MAX_NAMED else "")


def describe_uncounted_words(query: Query, unknown: Sequence[str], spellings: Mapping[str, Sequence[str]]) -> Remark:
    """Return a remark on the words of a query that the models do not know."""
    corrected = _correct_query(query, {word: spellings.get(word, ()) for word in unknown})
    if not unknown:
        return Remark("", corrected)
    names = ", ".join(map(repr, unknown[:3])) + (", …" if len(unknown) > 3 else "")
    is_single = len(unknown) == 1
    return Remark(
        f"The word{'' if is_single else 's'} {names} {'is' if is_single else 'are'} not known here.", corrected
    )


def _correct_query(query: Query, spellings: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the query with near spellings in place of unknown words; unknown words without any are left out.

    Where only one word is unknown, there are as many such queries as words that it may have been meant for.
    """
    if not any(spellings.values()):
        return ()
    n_queries = max(map(len, spellings.values())) if len(spellings) == 1 else 1
    replacements = [
        {fold_word(word): words[place] if words else "" for word, words in spellings.items()}
        for place in range(n_queries)
    ]
    return tuple(str(query.with_words(partial(_replace_word, replacement))) for replacement in replacements)


def _replace_word(replacement: Mapping[str, str], word: str) -> str:
    return replacement.get(fold_word(word), word)


def find_excess_filter(index: Index, query: Query, finds: Callable[[Query], bool]) -> Remark | None:
    """Return a remark on the first filter without which a query has matches; None without such a filter."""
    for item in (entry for entry in query.filters if entry not in query.likes):
        rest = Query(tuple(entry for entry in query.items if entry != item))
        if not rest or finds(rest):
            return _describe_filter(index, query, item, rest)
    return None


def _describe_filter(index: Index, query: Query, item: Filter, rest: Query) -> Remark:
    """Return a remark on a filter without matches, with similar values as suggestions."""
    phrase = f"has {item.kind} “{item.value}”" if item.column else _FILTER_PHRASES[item.kind].format(item.value)
    scope = "of the documents that match the rest " if rest else ""
    if item.exclude:
        return Remark(f"Every one {scope}{phrase}.", without=str(rest))
    values = {value.lower(): value for value in index.values(item.kind, item.column)}
    message = f"None {scope}{phrase}." if rest else f"No document {phrase}."
    if item.value.lower().lstrip(".") in values or not values:
        return Remark(message, without=str(rest))
    if item.kind == "type" and len(values) <= MAX_NAMED:
        message += f" Known types: {', '.join(sorted(values))}."
    suggestions = tuple(
        str(Query(tuple(replace(item, value=values[value]) if entry == item else entry for entry in query.items)))
        for value in find_similar_names(item.value.lower(), values, 1, 0.6)
    )
    return Remark(f"No document {phrase}." if item.kind != "type" else message, suggestions, str(rest))
