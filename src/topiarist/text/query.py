"""What people type into a search field: words and conditions (topic, date, tag, column …), parsed without failing.

    bail hearing      both words            topic:oil  tag:"to do"      under a topic, with a tag
    "bail hearing"    the words in a row    type:pdf  label:law         by kind of file, by given category
    hear*             words that begin so   before:2004  after:2004-03  by date: until then, from then on
    -football         without the word          date:2004-03..2005         from one until another
    bail OR surety    one of them at least      status:open  price:10..20  by a column of the documents
    like:inbox/1.txt  like that document, by its id; -like:inbox/2.txt  and not like that one

A minus turns anything round. Whatever makes no sense is left out, and ``read_as`` says how the rest was read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from topiarist.errors import UsageError
from topiarist.text.dates import read_date
from topiarist.text.fields import DATE, NUMBER, Field, span_of
from topiarist.text.readers.making import storable
from topiarist.text.spelling import likeliest
from topiarist.text.tokens import is_unspaced, letters_apart

NO_VALUE = "none"  # of a date or a column: documents that have none
LIKE = "like"  # no condition that documents meet or not: it changes their order
FILTERS = ("topic", "tag", "type", "label", "before", "after", "date", LIKE)
COLUMN = "column."  # before the name of a column that is called like a condition
LONGEST = 2_000  # characters of a query that are read
FEW_LETTERS = 4  # of a script without spaces: a word, not a sentence
MOST = 100  # things to look for at once

_TAKEN = {NUMBER: "10, 10..20, >=10 or <20", DATE: "2004, 2004-03, 2004..2006 or >=2004-03-15"}
_SHOWN_NAMES = 20
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_CONDITION = re.compile(r"([^\W\d][\w.-]*):(?!//)")
_KIND = re.compile(rf"(?:{'|'.join(FILTERS)}):", re.IGNORECASE)


@lru_cache(maxsize=64)
def _pattern(fields: tuple[Field, ...]) -> re.Pattern[str]:
    """A piece of a query, where these columns are known."""
    names = {*FILTERS, *(name for field in fields for name in (field_key(field), field.name))}
    kinds = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if not re.search(r'[\s":]', name))
    return re.compile(
        rf"""(?P<minus>-?)
            (?:(?P<kind>{kinds}):(?!//))?
            (?: "(?P<phrase>[^"]*)(?P<close>"?)(?P<star>\*?) | (?P<word>[^\s"]+) )""",
        re.VERBOSE | re.IGNORECASE,
    )


def field_key(field: Field) -> str:
    """What a column is called in a query: ``column.type`` where ``type`` is a condition of its own."""
    return f"{COLUMN}{field.key}" if field.key in FILTERS else field.key


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
    def exact(self) -> bool:
        """Whether it is meant as it stands: a phrase, a beginning, or a few letters of a script without spaces."""
        short = not self.words.isascii() and is_unspaced(self.words) and len(self.words) <= FEW_LETTERS
        return self.phrase or self.prefix or short

    @property
    def match(self) -> str:
        """As FTS5 reads it: quoted, so that nothing in it is taken for an operator."""
        return f'"{self.words}"{"*" * self.prefix}'


def liking(ids: Iterable[str], exclude: bool = False) -> list[str]:
    """Documents to be like, or unlike, as they are typed; an id that cannot be typed is an error."""
    found = []
    for id in ids:
        said = str(Filter(LIKE, id, exclude))
        if parse(said).items != (Filter(LIKE, id, exclude),):
            raise UsageError(f"the id {id!r} cannot be part of a query", hint="another document")
        found.append(said)
    return found


def phrase(words: str) -> str:
    """A word, or several in a row, as they are typed."""
    return str(Term(words, phrase=" " in words))


@dataclass(frozen=True)
class Filter:
    """A condition on something other than the words."""

    kind: str  # one of FILTERS, or what a column is called
    value: str
    exclude: bool = False
    column: str = ""  # the name of a column of the documents
    of: str = ""  # its kind

    def __str__(self) -> str:
        return f"{'-' * self.exclude}{self.kind}:{phrase(self.value)}"


@dataclass(frozen=True)
class Query:
    """What was understood, in the order in which it was typed."""

    items: tuple[Term | Filter, ...] = ()
    read_as: str = ""  # empty if everything was taken as it was typed
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was not understood, in words
    fields: tuple[Field, ...] = field(default=(), compare=False, repr=False)  # the columns that were known

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
    def likes(self) -> tuple[Filter, ...]:
        """Documents that the answer should be like, or unlike, by their ids; only the caller can look them up."""
        return tuple(item for item in self.filters if item.kind == LIKE)

    @cached_property
    def required(self) -> tuple[Term, ...]:
        """Phrases, beginnings and alternatives: what is written with a sign must be there, whatever the ranking."""
        groups: list[list[Term]] = []
        for term in self.terms:
            if term.either and groups:
                groups[-1].append(term)
            elif not term.exclude:
                groups.append([term])
        return tuple(term for group in groups if len(group) > 1 or group[0].exact for term in group)

    @cached_property
    def with_letters_apart(self) -> Query:
        """The same query for an index that keeps the letters of scripts without spaces one by one."""
        items = [
            replace(item, words=letters_apart(item.words)) if isinstance(item, Term) else item for item in self.items
        ]
        return Query(tuple(items), self.read_as, self.notes)

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
        return Query(kept(items), fields=self.fields)

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


def parse(text: str, fields: tuple[Field, ...] = ()) -> Query:
    """Understand what somebody typed; ``fields`` are the columns of the documents."""
    typed = storable(text).translate(_QUOTES)
    items: list[Term | Filter] = []
    notes: list[str] = []
    changed, either = len(typed) > LONGEST, False
    known = {name.lower(): one for one in fields for name in (one.name, field_key(one))}
    for found in _pattern(fields).finditer(typed[:LONGEST]):
        if found[0] == "OR":
            changed |= either
            either = True
            continue
        item = _filter(found, known) if found["kind"] else _term(found)
        notes += _notes(found, item, known)
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
    return Query(tuple(items), " ".join(map(str, items)) if changed else "", tuple(notes), fields)


def _notes(found: re.Match[str], item: Term | Filter | None, known: dict[str, Field]) -> list[str]:
    """What somebody should know who typed it."""
    kind, typed = (found["kind"] or "").lower(), found["word"] or found["phrase"]
    if kind and item is None:
        if kind in ("before", "after", "date"):
            return [f"“{typed}” is no date: a year, 2004-03 or 2004-03-15 is."]
        if kind in known:
            return [f"“{typed}” is no {known[kind].kind}: {kind}: takes {_TAKEN.get(known[kind].kind, 'a word')}."]
    unknown = _CONDITION.match(found["word"] or "") if not kind else None
    if unknown and unknown[1].lower() not in FILTERS:
        names = [*FILTERS, *(field_key(one) for one in known.values())]
        near = likeliest(unknown[1], dict.fromkeys(names))
        said = ", ".join(f"{one}:" for one in dict.fromkeys(names[:_SHOWN_NAMES]))
        more = f" and {len(set(names)) - _SHOWN_NAMES:,} more" if len(set(names)) > _SHOWN_NAMES else ""
        meant = f" Did you mean {near}:?" if near else ""
        what = "no condition and no column" if known else "no condition"
        return [f"“{unknown[0]}” is {what}: it is looked for as a word.{meant} Conditions are {said}{more}."]
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


def _filter(found: re.Match[str], known: dict[str, Field]) -> Filter | None:
    value = found["word"] if found["phrase"] is None else " ".join(found["phrase"].split())
    kind, exclude = found["kind"].lower(), bool(found["minus"])
    if kind in FILTERS:
        if kind in ("before", "after"):
            value = read_date(value, typed=True).iso[:10]
        if kind == "date" and span_of(value, DATE) is None and value.casefold() != NO_VALUE:
            return None
        return Filter(kind, value, exclude) if value else None
    field = known[kind]
    if value.casefold() == NO_VALUE:
        return Filter(field_key(field), value, exclude, field.name, field.kind)
    if not value or (field.kind in (NUMBER, DATE) and span_of(value, field.kind) is None):
        return None
    return Filter(field_key(field), value, exclude, field.name, field.kind)
