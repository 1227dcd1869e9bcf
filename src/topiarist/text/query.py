"""What people type into a search field: words and conditions (topic, date, tag, label, type), parsed without failing.

    bail hearing      both words            topic:oil  tag:"to do"      under a topic, with a tag
    "bail hearing"    the words in a row    type:pdf  label:law         by kind of file, by given category
    hear*             words that begin so   before:2004  after:2004-03  by date: until then, from then on
    -football         without the word; a minus turns anything round
    bail OR surety    one of them at least

Whatever makes no sense is left out, and ``read_as`` says how the rest was read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from topiarist.text.readers.making import storable

FILTERS = ("topic", "tag", "type", "label", "before", "after")
LONGEST = 2_000  # characters of a query that are read
MOST = 100  # things to look for at once

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_CONDITION = re.compile(r"([A-Za-z]+):(?!//)")
_KIND = re.compile(rf"(?:{'|'.join(FILTERS)}):", re.IGNORECASE)
_PIECE = re.compile(
    r"""(?P<minus>-?)
        (?:(?P<kind>"""
    + "|".join(FILTERS)
    + r"""):)?
        (?: "(?P<phrase>[^"]*)(?P<close>"?)(?P<star>\*?) | (?P<word>[^\s"]+) )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Term:
    """A word or a phrase, perhaps only its beginning, that must or must not be there."""

    words: str
    phrase: bool = False
    prefix: bool = False
    exclude: bool = False
    either: bool = False  # it will do in the place of the term before

    def __str__(self) -> str:
        words = f'"{self.words}"' if self.phrase else self.words
        return f"{'OR ' * self.either}{'-' * self.exclude}{words}{'*' * self.prefix}"

    @property
    def match(self) -> str:
        """As FTS5 reads it: quoted, so that nothing in it is taken for an operator."""
        return f'"{self.words}"{"*" * self.prefix}'


def phrase(words: str) -> str:
    """A word, or several in a row, as they are typed."""
    return str(Term(words, phrase=" " in words))


@dataclass(frozen=True)
class Filter:
    """A condition on something other than the words."""

    kind: str  # one of FILTERS
    value: str
    exclude: bool = False

    def __str__(self) -> str:
        return f"{'-' * self.exclude}{self.kind}:{phrase(self.value)}"


@dataclass(frozen=True)
class Query:
    """What was understood, in the order in which it was typed."""

    items: tuple[Term | Filter, ...] = ()
    read_as: str = ""  # empty if everything was taken as it was typed
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was not understood, in words

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Words and phrases."""
        return tuple(item for item in self.items if isinstance(item, Term))

    @cached_property
    def filters(self) -> tuple[Filter, ...]:
        """Conditions."""
        return tuple(item for item in self.items if isinstance(item, Filter))

    @cached_property
    def topics(self) -> tuple[Filter, ...]:
        """Conditions on topics, which only the caller can look up."""
        return tuple(item for item in self.filters if item.kind == "topic")

    @cached_property
    def required(self) -> tuple[Term, ...]:
        """Phrases, beginnings and alternatives: what is written with a sign must be there, whatever the ranking."""
        groups: list[list[Term]] = []
        for term in self.terms:
            if term.either and groups:
                groups[-1].append(term)
            elif not term.exclude:
                groups.append([term])
        return tuple(term for group in groups if len(group) > 1 or group[0].phrase or group[0].prefix for term in group)

    @property
    def meant(self) -> str:
        """The words whose meaning counts."""
        return " ".join(term.words for term in self.terms if not term.exclude)

    @cached_property
    def wanted(self) -> str:
        """For FTS5: what must be there and what must not; empty if nothing must."""
        groups: list[list[str]] = []
        for term in self.terms:
            if term.either and groups:
                groups[-1].append(term.match)
            elif not term.exclude:
                groups.append([term.match])
        wanted = " AND ".join(group[0] if len(group) == 1 else f"({' OR '.join(group)})" for group in groups)
        return f"({wanted}) NOT ({self.unwanted})" if wanted and self.unwanted else wanted

    @cached_property
    def unwanted(self) -> str:
        """For FTS5: what must not be there."""
        return " OR ".join(term.match for term in self.terms if term.exclude)

    def with_words(self, other: Callable[[str], str]) -> Query:
        """The same query with other words; a word that becomes nothing is left out."""
        items: list[Term | Filter | None] = []
        for item in self.items:
            if isinstance(item, Term) and not item.exclude:
                words = " ".join(filter(None, map(other, item.words.split())))
                items.append(replace(item, words=words) if words else None)
            else:
                items.append(item)
        return Query(kept(items))

    def __str__(self) -> str:
        return " ".join(map(str, self.items))

    def __bool__(self) -> bool:
        return bool(self.items)


def kept(items: Iterable[Term | Filter | None]) -> tuple[Term | Filter, ...]:
    """The items that are left; one that would do in the place of another that is gone stands in its place."""
    found: list[Term | Filter] = []
    first = False  # the first of several that will do is gone
    for item in items:
        if item is None:
            first = True
            continue
        either = isinstance(item, Term) and item.either
        found.append(replace(item, either=False) if isinstance(item, Term) and first and either else item)
        first = False
    return tuple(found)


def parse(text: str) -> Query:
    """Understand what somebody typed."""
    typed = storable(text).translate(_QUOTES)
    items: list[Term | Filter] = []
    notes: list[str] = []
    changed, either = len(typed) > LONGEST, False
    for found in _PIECE.finditer(typed[:LONGEST]):
        if found[0] == "OR":
            changed |= either
            either = True
            continue
        item = _filter(found) if found["kind"] else _term(found)
        notes += _notes(found, item)
        if item is None or len(items) == MOST:
            changed = True
            continue
        if either:
            joined = all(isinstance(one, Term) and not one.exclude for one in (*items[-1:], item)) and bool(items)
            item = replace(item, either=True) if isinstance(item, Term) and joined else item
            changed |= not joined
        either = False
        items.append(item)
        changed |= found["phrase"] is not None and not found["close"]
        changed |= found["word"] is not None and isinstance(item, Term) and item.words != found["word"].rstrip("*")
    changed |= either
    return Query(tuple(items), " ".join(map(str, items)) if changed else "", tuple(notes))


def _notes(found: re.Match[str], item: Term | Filter | None) -> list[str]:
    """What somebody should know who typed it."""
    kind = (found["kind"] or "").lower()
    if kind in ("before", "after") and item is None:
        return [f"“{found['word'] or found['phrase']}” is no date: a year, 2004-03 or 2004-03-15 is."]
    unknown = _CONDITION.match(found["word"] or "") if not kind else None
    if unknown and unknown[1].lower() not in FILTERS:
        known = ", ".join(f"{one}:" for one in FILTERS)
        return [f"“{unknown[0]}” is no condition: it is looked for as a word. Conditions are {known}."]
    return []


def has_words(text: str) -> bool:
    """Whether there is anything in it that the index knows: letters, or digits."""
    return any(character.isalnum() for character in text)


def folded(word: str) -> str:
    """A word as the full-text index keeps it: without case and accents."""
    apart = unicodedata.normalize("NFKD", storable(word).lower())
    return "".join(character for character in apart if not unicodedata.combining(character))


def _term(found: re.Match[str]) -> Term | None:
    exclude = bool(found["minus"])
    if found["phrase"] is not None:
        words, prefix = " ".join(found["phrase"].split()), bool(found["star"])
        return Term(words, True, prefix, exclude) if has_words(words) else None
    word, prefix = found["word"].rstrip("*"), found["word"].endswith("*")
    if not has_words(word) or word.lower() in {f"{kind}:" for kind in FILTERS}:
        return None
    return Term(_bare(word), False, prefix, exclude)


def _bare(word: str) -> str:
    """A word without the signs around it, which the index does not see: what is looked for is said."""
    start, end = 0, len(word)
    while _is_sign(word[end - 1]):
        end -= 1
    while _is_sign(word[start]):
        start += 1
    bare = word[start:end]
    if bare == "OR":
        return word
    return word[:end] if _KIND.match(bare) else bare  # what was no condition does not become one


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _filter(found: re.Match[str]) -> Filter | None:
    value = found["word"] if found["phrase"] is None else " ".join(found["phrase"].split())
    kind = found["kind"].lower()
    if kind in ("before", "after"):
        value = _date(value)
    return Filter(kind, value, bool(found["minus"])) if value else None


def _date(text: str) -> str:
    """A year, a month or a day as documents have it, or nothing."""
    found = _DATE.fullmatch(text)
    if found is None:
        return ""
    year, *rest = (part for part in found.groups() if part)
    try:
        date(int(year), *(int(part) for part in (*rest, "1", "1")[:2]))
    except ValueError:
        return ""
    return "-".join([year, *(part.zfill(2) for part in rest)])
