"""Queries as users type them: words and filters (topic, date, tag, column …), parsed without errors.

    bail hearing      both words            topic:oil  tag:"to do"      under a topic, with a tag
    "bail hearing"    the phrase            type:pdf  label:law         by file type, by label
    hear*             words with a prefix   before:2004  after:2004-03  by date: both without the named date
    -football         without the word          since:2004  until:2004-03  by date: both with the named date
    date:2004-03..2005  from a date until another
    bail OR surety    one of them at least      status:open  price:10..20  by a column of the documents
    like:inbox/1.txt  similar to a document, by its id; -like:inbox/2.txt  different from it

A minus inverts each of them. Invalid parts are left out, and ``read_as`` is the query as it was read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from topiarist.errors import UsageError
from topiarist.text.characters import to_storable
from topiarist.text.dates import read_date
from topiarist.text.fields import DATE, NUMBER, Field, parse_span
from topiarist.text.spelling import find_likeliest_name
from topiarist.text.tokens import is_unspaced, separate_unspaced_letters

NO_VALUE = "none"  # value of a date or column filter for documents without one
UNSORTED = "unsorted"  # value of a topic filter for documents without a topic
LIKE = "like"  # changes the order of documents, and excludes none
SIDES = ("before", "after", "since", "until")  # date filters: the first two exclude the date, the others include it
FILTERS = ("topic", "tag", "type", "label", *SIDES, "date", LIKE)
COLUMN = "column."  # prefix of a column with the name of a filter
MAX_QUERY_CHARACTERS = 2_000  # characters of a query that are read
MAX_SHORT_LETTERS = 4  # of a script without spaces: a word, not a sentence
MAX_ITEMS = 100  # terms and filters of a query

_VALUE_EXAMPLES = {NUMBER: "10, 10..20, >=10 or <20", DATE: "2004, 2004-03, 2004..2006 or >=2004-03-15"}
_MAX_NAMES = 20
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_CONDITION = re.compile(r"([^\W\d][\w.-]*):(?!//)")
_KIND = re.compile(rf"(?:{'|'.join(FILTERS)}):", re.IGNORECASE)


@lru_cache(maxsize=64)
def _compile_pattern(fields: tuple[Field, ...]) -> re.Pattern[str]:
    """Return the pattern of one part of a query with these columns."""
    names = {*FILTERS, *(name for field in fields for name in (field_key(field), field.name))}
    kinds = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if not re.search(r'[\s":]', name))
    return re.compile(
        rf"""(?P<minus>-?)
            (?:(?P<kind>{kinds}):(?!//))?
            (?: "(?P<phrase>[^"]*)(?P<close>"?)(?P<star>\*?) | (?P<word>[^\s"]+) )""",
        re.VERBOSE | re.IGNORECASE,
    )


def field_key(field: Field) -> str:
    """Return the key of a column in queries: ``column.type`` if ``type`` is also a filter."""
    return f"{COLUMN}{field.key}" if field.key in FILTERS else field.key


@dataclass(frozen=True)
class Term:
    """Word, phrase or prefix that documents must have, or must not have."""

    words: str
    phrase: bool = False
    prefix: bool = False
    exclude: bool = False
    either: bool = False  # alternative to the term before

    def __str__(self) -> str:
        words = f'"{self.words}"' if self.phrase else self.words
        return f"{'OR ' * self.either}{'-' * self.exclude}{words}{'*' * self.prefix}"

    @property
    def exact(self) -> bool:
        """Whether the term is exact: a phrase, a prefix, or a few letters of a script without spaces."""
        short = not self.words.isascii() and is_unspaced(self.words) and len(self.words) <= MAX_SHORT_LETTERS
        return self.phrase or self.prefix or short

    @property
    def match(self) -> str:
        """Term in the syntax of FTS5, quoted against operators."""
        return f'"{self.words}"{"*" * self.prefix}'


def format_like_terms(ids: Iterable[str], exclude: bool = False) -> list[str]:
    """Return like: filters for ids; raise ``UsageError`` for an id that cannot be typed."""
    texts = []
    for id in ids:
        text = str(Filter(LIKE, id, exclude))
        if parse(text).items != (Filter(LIKE, id, exclude),):
            raise UsageError(f"the id {id!r} cannot be part of a query", hint="Choose another document.")
        texts.append(text)
    return texts


def format_phrase(words: str) -> str:
    """Return a word or a phrase in the syntax of a query."""
    return str(Term(words, phrase=" " in words))


@dataclass(frozen=True)
class Filter:
    """Filter on a topic, date, tag, label, type, column or example."""

    kind: str  # one of FILTERS, or the key of a column
    value: str
    exclude: bool = False
    column: str = ""  # the name of a column of the documents
    of: str = ""  # its kind

    def __str__(self) -> str:
        return f"{'-' * self.exclude}{self.kind}:{format_phrase(self.value)}"


@dataclass(frozen=True)
class Query:
    """Parsed query: terms and filters in the order in which they were typed."""

    items: tuple[Term | Filter, ...] = ()
    read_as: str = ""  # empty if everything was taken as it was typed
    notes: tuple[str, ...] = field(default=(), compare=False)  # sentences on invalid parts
    fields: tuple[Field, ...] = field(default=(), compare=False, repr=False)  # columns of the documents

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Words, phrases and prefixes of the query."""
        return tuple(item for item in self.items if isinstance(item, Term))

    @cached_property
    def filters(self) -> tuple[Filter, ...]:
        return tuple(item for item in self.items if isinstance(item, Filter))

    @cached_property
    def topics(self) -> tuple[Filter, ...]:
        """Filters on topics, which only the caller can look up."""
        return tuple(item for item in self.filters if item.kind == "topic")

    @cached_property
    def likes(self) -> tuple[Filter, ...]:
        """Filters for example documents by their ids, which only the caller can look up."""
        return tuple(item for item in self.filters if item.kind == LIKE)

    @cached_property
    def signed(self) -> tuple[Term, ...]:
        """Phrases, prefixes and alternatives, which every match must have."""
        groups = self._groups
        signed = (group for group in groups if len(group) > 1 or group[0].phrase or group[0].prefix)
        return tuple(term for group in signed for term in group)

    @cached_property
    def required(self) -> tuple[Term, ...]:
        """Signed terms, and short words of a script without spaces, which are exact without a sign."""
        return tuple(term for group in self._groups if len(group) > 1 or group[0].exact for term in group)

    @cached_property
    def _groups(self) -> tuple[tuple[Term, ...], ...]:
        """Groups of alternatives among the terms that are not excluded."""
        groups: list[list[Term]] = []
        for term in self.terms:
            if term.either and groups:
                groups[-1].append(term)
            elif not term.exclude:
                groups.append([term])
        return tuple(map(tuple, groups))

    @cached_property
    def widened(self) -> Query:
        """Same query without quotes, stars and OR."""
        items: list[Term | Filter] = []
        for item in self.items:
            if isinstance(item, Filter) or item.exclude:
                items.append(item)
            else:
                items += (Term(word) for word in map(_simplify_word, item.words.split()) if word)
        return Query(tuple(items), fields=self.fields)

    @cached_property
    def with_letters_apart(self) -> Query:
        """Same query for an index of single letters of scripts without spaces."""
        items = [
            replace(item, words=separate_unspaced_letters(item.words)) if isinstance(item, Term) else item
            for item in self.items
        ]
        return Query(tuple(items), self.read_as, self.notes)

    @cached_property
    def wanted_terms(self) -> tuple[Term, ...]:
        """Words and phrases that are not excluded."""
        return tuple(term for term in self.terms if not term.exclude)

    @property
    def meaning_text(self) -> str:
        """Words of the query for a search by meaning."""
        return " ".join(term.words for term in self.wanted_terms)

    @cached_property
    def fts_expression(self) -> str:
        """Expression of required and excluded terms for FTS5; empty without a required term."""
        matches = [[term.match for term in group] for group in self._groups]
        expression = " AND ".join(group[0] if len(group) == 1 else f"({' OR '.join(group)})" for group in matches)
        return f"({expression}) NOT ({self.fts_exclusions})" if expression and self.fts_exclusions else expression

    @cached_property
    def fts_exclusions(self) -> str:
        """Expression of excluded terms for FTS5."""
        return " OR ".join(term.match for term in self.terms if term.exclude)

    def with_words(self, other: Callable[[str], str]) -> Query:
        """Return the query with each word mapped by ``other``; a term without words is removed."""
        items: list[Term | Filter | None] = []
        for item in self.items:
            if isinstance(item, Term) and not item.exclude:
                words = " ".join(filter(None, map(other, item.words.split())))
                items.append(replace(item, words=words) if words else None)
            else:
                items.append(item)
        return Query(keep_terms(items), fields=self.fields)

    def __str__(self) -> str:
        return " ".join(map(str, self.items))

    def __bool__(self) -> bool:
        return bool(self.items)


def keep_terms(items: Iterable[Term | Filter | None]) -> tuple[Term | Filter, ...]:
    """Return the remaining terms; an alternative replaces a missing first term."""
    remaining: list[Term | Filter] = []
    at_start = False  # the first of several alternatives is missing
    for item in items:
        if item is None:
            at_start = True
            continue
        is_alternative = isinstance(item, Term) and item.either
        remaining.append(
            replace(item, either=False) if isinstance(item, Term) and at_start and is_alternative else item
        )
        at_start = False
    return tuple(remaining)


def parse(text: str, fields: tuple[Field, ...] = ()) -> Query:
    """Parse a query; ``fields`` are the columns of the documents."""
    typed = to_storable(text).translate(_QUOTES)
    items: list[Term | Filter] = []
    notes: list[str] = []
    is_changed, is_alternative = len(typed) > MAX_QUERY_CHARACTERS, False
    fields_by_name = {name.lower(): field for field in fields for name in (field.name, field_key(field))}
    for match in _compile_pattern(fields).finditer(typed[:MAX_QUERY_CHARACTERS]):
        if match[0] == "OR":
            is_changed |= is_alternative
            is_alternative = True
            continue
        item = _read_filter(match, fields_by_name) if match["kind"] else _read_term(match)
        notes += _describe_problems(match, item, fields_by_name)
        if item is None or len(items) == MAX_ITEMS:
            is_changed = True
            continue
        if is_alternative:
            joins = all(isinstance(entry, Term) and not entry.exclude for entry in (*items[-1:], item)) and bool(items)
            item = replace(item, either=True) if isinstance(item, Term) and joins else item
            is_changed |= not joins
        is_alternative = False
        items.append(item)
        is_changed |= match["phrase"] is not None and not match["close"]
        is_changed |= match["word"] is not None and isinstance(item, Term) and item.words != match["word"].rstrip("*")
    is_changed |= is_alternative
    return Query(tuple(items), " ".join(map(str, items)) if is_changed else "", tuple(notes), fields)


def _describe_problems(match: re.Match[str], item: Term | Filter | None, fields_by_name: dict[str, Field]) -> list[str]:
    """Return notes on invalid parts of the query."""
    kind, typed = (match["kind"] or "").lower(), match["word"] or match["phrase"]
    column: list[str] = []
    if kind in SIDES and kind in fields_by_name:
        column = [f"{kind}: is a condition on dates: for the column write {field_key(fields_by_name[kind])}:."]
    if kind and item is None:
        if kind in (*SIDES, "date"):
            return [f"“{typed}” is no date: a year, 2004-03 or 2004-03-15 is.", *column]
        if kind in fields_by_name:
            field_kind = fields_by_name[kind].kind
            return [f"“{typed}” is no {field_kind}: {kind}: takes {_VALUE_EXAMPLES.get(field_kind, 'a word')}."]
    unknown = _CONDITION.match(match["word"] or "") if not kind else None
    if unknown and unknown[1].lower() not in FILTERS:
        names = [*FILTERS, *(field_key(field) for field in fields_by_name.values())]
        proposal = find_likeliest_name(unknown[1], dict.fromkeys(names))
        listing = ", ".join(f"{field}:" for field in dict.fromkeys(names[:_MAX_NAMES]))
        rest = f" and {len(set(names)) - _MAX_NAMES:,} more" if len(set(names)) > _MAX_NAMES else ""
        question = f" Did you mean {proposal}:?" if proposal else ""
        fault = "no condition and no column" if fields_by_name else "no condition"
        return [f"“{unknown[0]}” is {fault}: it is looked for as a word.{question} Conditions are {listing}{rest}."]
    return column


def has_words(text: str) -> bool:
    """Return whether a text has letters or digits."""
    return any(character.isalnum() for character in text)


def fold_word(word: str) -> str:
    """Return a word without case and accents, as the full-text index stores it."""
    decomposed = unicodedata.normalize("NFKD", to_storable(word).lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _read_term(match: re.Match[str]) -> Term | None:
    """Return the term of a matched word or phrase; None if it has no letters or is a filter name."""
    exclude = bool(match["minus"])
    if match["phrase"] is not None:
        words, prefix = " ".join(match["phrase"].split()), bool(match["star"])
        return Term(words, True, prefix, exclude) if has_words(words) else None
    word, prefix = match["word"].rstrip("*"), match["word"].endswith("*")
    if not has_words(word) or word.lower() in {f"{kind}:" for kind in FILTERS}:
        return None
    return Term(_strip_signs(word), False, prefix, exclude)


def _strip_signs(word: str) -> str:
    """Return a word without the signs around it, which the index ignores."""
    start, end = 0, len(word)
    while _is_sign(word[end - 1]):
        end -= 1
    while _is_sign(word[start]):
        start += 1
    stripped = word[start:end]
    if stripped == "OR":
        return word
    return word[:end] if _KIND.match(stripped) else stripped  # a word does not become a filter


def _simplify_word(word: str) -> str:
    """Return a word so that it can be typed without quotes; empty if it cannot."""
    stripped = _strip_signs(word).rstrip("*") if has_words(word) else ""
    stripped = stripped.lower() if stripped == "OR" else stripped
    return stripped if stripped and parse(stripped).items == (Term(stripped),) else ""


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _read_filter(match: re.Match[str], fields_by_name: dict[str, Field]) -> Filter | None:
    """Return the filter of a match such as ``date:2014``; None if its value is empty or invalid."""
    value = match["word"] if match["phrase"] is None else " ".join(match["phrase"].split())
    kind, exclude = match["kind"].lower(), bool(match["minus"])
    if kind in FILTERS:
        if kind in SIDES:
            value = read_date(value, typed=True).iso[:10]
        if kind == "date" and parse_span(value, DATE) is None and value.casefold() != NO_VALUE:
            return None
        return Filter(kind, value, exclude) if value else None
    field = fields_by_name[kind]
    if value.casefold() == NO_VALUE:
        return Filter(field_key(field), value, exclude, field.name, field.kind)
    if not value or (field.kind in (NUMBER, DATE) and parse_span(value, field.kind) is None):
        return None
    return Filter(field_key(field), value, exclude, field.name, field.kind)
