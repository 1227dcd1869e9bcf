"""What to say of an empty answer: words that nobody has, corrections, the condition that left nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from topiarist.store.fulltext import Index
from topiarist.text.query import Filter, Query, Term, folded
from topiarist.text.spelling import alike

SHOWN = 5  # values that a condition may have, where there are no more
SPELLED = 5  # unknown words for which near spellings are looked up
_SAID = {
    "topic": "lies under “{}”", "tag": "is tagged “{}”", "label": "has the label “{}”", "type": "is of type “{}”",
    "before": "is from before {}", "after": "is from {} or later", "date": "is from {}",
}  # fmt: skip


@dataclass(frozen=True)
class Remark:
    """What to say about an answer, queries that may have been meant, and the query without what left nothing."""

    message: str = ""
    suggestions: tuple[str, ...] = ()
    without: str = ""


def few_words(
    index: Index,
    query: Query,
    total: int,
    finds: Callable[[Query], bool],
    suggest: Callable[[str], Sequence[str]],
) -> Remark:
    """What to say of few or no documents that were found by words.

    ``finds`` says whether another query does, ``suggest`` which words are spelt nearly as one.
    """
    missing = index.missing(query)
    unknown = dict.fromkeys(word for term in missing for word in term.split())
    strange = (word for word in unknown if word in missing or index.missing(Query((Term(word),))))
    near = {word: suggest(word) for word in islice(strange, SPELLED)}
    if not query.terms:
        message = ""
    elif missing:
        message = f"No document contains {', '.join(repr(word) for word in missing[:3])}."
    elif total:
        message = f"Only {total} document{'s' if total > 1 else ''} contain{'s' if total == 1 else ''} these words."
    else:
        message = "No document contains all of these words."
    said = Remark(message, _corrected(query, near))
    return said if total or said.suggestions else emptied(index, query, finds) or said


def not_all_words(
    query: Query,
    unknown: Sequence[str],
    missing: Sequence[str],
    near: Mapping[str, Sequence[str]],
    loose: Sequence[str] = (),
) -> Remark:
    """Which words were not required: no document has them, or none has them beside the others; ``loose`` could be."""
    sentences = [f"No document has {_some(unknown)}."] if unknown else []
    if loose:
        sentences.append(f"In so long a question {_some(loose)} counts by its words: in a short one it is exact.")
    if missing:
        rest = "the other words" if unknown else "all of these words"
        were = "was" if len(missing) == 1 else "were"
        sentences.append(f"No document has {rest}; {_some(missing)} {were} not required.")
    return Remark(" ".join(sentences), _corrected(query, near))


def _some(words: Sequence[str]) -> str:
    shown = (word if '"' in word else repr(word) for word in words[:SHOWN])
    return ", ".join(shown) + (", …" if len(words) > SHOWN else "")


def unknown_words(query: Query, unknown: Sequence[str], near: Mapping[str, Sequence[str]]) -> Remark:
    """That some words of a query are not known to the index by meaning."""
    corrected = _corrected(query, {word: near.get(word, ()) for word in unknown})
    if not unknown:
        return Remark("", corrected)
    shown = ", ".join(map(repr, unknown[:3])) + (", …" if len(unknown) > 3 else "")
    one = len(unknown) == 1
    return Remark(f"The word{'' if one else 's'} {shown} {'is' if one else 'are'} not known here.", corrected)


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


def emptied(index: Index, query: Query, finds: Callable[[Query], bool]) -> Remark | None:
    """The first condition without which a query finds something; None where it is not one condition alone."""
    for item in (one for one in query.filters if one not in query.likes):
        rest = Query(tuple(one for one in query.items if one != item))
        if not rest or finds(rest):
            return _without(index, query, item, rest)
    return None


def _without(index: Index, query: Query, item: Filter, rest: Query) -> Remark:
    said = f"has {item.kind} “{item.value}”" if item.column else _SAID[item.kind].format(item.value)
    which = "of the documents that match the rest " if rest else ""
    if item.exclude:
        return Remark(f"Every one {which}{said}.", without=str(rest))
    known = {value.lower(): value for value in index.values(item.kind, item.column)}
    message = f"None {which}{said}." if rest else f"No document {said}."
    if item.value.lower().lstrip(".") in known or not known:
        return Remark(message, without=str(rest))
    if item.kind == "type" and len(known) <= SHOWN:
        message += f" Known types: {', '.join(sorted(known))}."
    meant = tuple(
        str(Query(tuple(replace(item, value=known[value]) if one == item else one for one in query.items)))
        for value in alike(item.value.lower(), known, 1, 0.6)
    )
    return Remark(f"No document {said}." if item.kind != "type" else message, meant, str(rest))
