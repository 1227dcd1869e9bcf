"""What texts tell that counts do not: phrases, how words are written, what is an address or a signature.

A few documents of each leaf are read, and only their beginnings. Fragments of addresses are glued to dots and at-signs,
those of TeX to backslashes; boilerplate (signatures, tables, notes of an agency) stands between the same two words in
most documents. Verbs and particles (*denote*, *told*, *laut*) are no names: articles follow them and do not precede
them; which words are articles is seen too, they come after other frequent words and before rare ones. All of it holds
in any language that puts spaces between words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array

SAMPLED = (20, 120)  # documents of each leaf that are read for phrases and the forms of words, at least and at most
PART = 0.15  # of all documents are read, within these limits
MOST_READ = 12_000  # documents of a large collection, but for the least of each leaf
READ = 1500  # characters of each of them
FEWEST_TIMES = 3  # documents that make a phrase
VARIED = 0.4  # different neighbours for each document with a word or phrase; with fewer it is boilerplate
GLUED = 0.5  # share of its occurrences that are part of an address: then a word is a fragment of one
CLOSED = 0.7  # of a phrase's documents have the same longer phrase: then it is a piece of that
FREQUENT, LISTENED = 30, 300  # words among which articles are, and texts in which they are looked for
AFTER_FREQUENT, BEFORE_FREQUENT = 0.35, 0.25  # of an article's occurrences, at least and at most
FOLLOWED = 0.1  # of a word's documents have an article behind it, twice as many as before it: it is no noun
FEWEST_HEARD = 8  # documents with a word, to say so
LONGEST_CAPITALS = 5  # letters of a word that is written in capitals because it is an abbreviation
WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*", re.UNICODE)
AT = "\n"  # between a phrase and the words around it: one text for each place is no work for the collector of garbage
JOINTS = frozenset("@./\\_:%=&~")
COMMAND = re.compile(r"\\(?:[^\w\s]\{?(?:\w\})?)?$")  # before \left in TeX, and what an accent cuts off, Schr\"odinger


@dataclass(frozen=True)
class Readings:
    """What texts tell that counts do not: phrases by leaf, how words are written, which are parts of addresses or
    verbs.

    ``phrases``: for each phrase the share of each leaf's documents that have it, less a standard error, for leaves
    where some have.
    """

    phrases: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)
    glued: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    n_leaves: int = 0


def sample_of(shares: Any) -> list[list[int]]:
    """Rows of documents that belong to a class more than to any other, for each class, evenly over the collection."""
    shares = csr_array(shares)
    own = largest_classes(shares)
    rows = []
    most = int(np.clip(min(PART * shares.shape[0], MOST_READ) / max(shares.shape[1], 1), *SAMPLED))
    for number in range(shares.shape[1]):
        members = np.flatnonzero(own == number)
        if len(members) > most:
            members = members[np.linspace(0, len(members) - 1, most).astype(np.int64)]
        rows.append(members.tolist())
    return rows


def largest_classes(shares: Any) -> Array:
    """The class of each document with the largest share, of equal ones the first; −1 for none."""
    own = np.full(shares.shape[0], -1, np.int64)
    filled = np.flatnonzero(lengths := np.diff(shares.indptr))
    if len(filled):
        starts = shares.indptr[filled]
        best = np.repeat(np.maximum.reduceat(shares.data, starts), lengths[filled]) == shares.data
        own[filled] = shares.indices[np.minimum.reduceat(np.where(best, np.arange(len(best)), len(best)), starts)]
    return own


def read(texts: Sequence[str], rows: Sequence[Sequence[int]], words: Iterable[str]) -> Readings:
    """Read the documents sampled from each leaf; ``words`` are those that names may be made of.

    Words and phrases that stand between the same two words in most documents are boilerplate: signatures, tables,
    notes of an agency. They are no phrases, and count as ``glued``.
    """
    known = frozenset(word for word in words if " " not in word)
    some = _those(texts, _some([row for members in rows for row in members]))
    notes = _Notes(articles([text[:READ] for text in some]))
    found: dict[str, dict[int, float]] = {}
    for leaf, members in enumerate(rows):
        times = Counter[str]()
        for text in _those(texts, members):
            times.update(_phrases(_spoken(text[:READ], known, notes), known, notes))
        for phrase, number in times.items():
            if number >= min(FEWEST_TIMES, max(2, len(members) // 8)):
                found.setdefault(phrase, {})[leaf] = (number - number**0.5) / len(members)
    verbs = frozenset(filter(notes.is_verb, known))
    found = {phrase: by_leaf for phrase, by_leaf in found.items() if not notes.is_boilerplate(phrase)}
    found = _closed({phrase: by_leaf for phrase, by_leaf in found.items() if verbs.isdisjoint(_ends(phrase))})
    written = {word: _usual(forms) for word, forms in notes.forms.items()}
    parts = {word for word, number in notes.seen.items() if notes.glued[word] > GLUED * number}
    return Readings(found, written, frozenset(parts | set(filter(notes.is_boilerplate, known))), verbs, len(rows))


def _those(texts: Sequence[str], rows: Sequence[int]) -> Iterable[str]:
    """The texts of some rows: all at once where they can be had so."""
    many = getattr(texts, "many", None)
    found: Iterable[str] = (texts[row] for row in rows) if many is None else many(rows)
    return found


def written_forms(texts: Iterable[str], words: Iterable[str]) -> dict[str, str]:
    """How words are written most often, of those that are not written as they are counted (*GeV*, *LHC*, *Haus*).

    A capital that begins a word may be that of a sentence: it is believed where it was seen a few times.
    """
    known, notes = frozenset(part for word in words for part in word.split()), _Notes()
    for text in texts:
        _spoken(text[:READ], known, notes)
    usual = {word: _usual(forms) for word, forms in notes.forms.items()}
    return {
        word: form for word, form in usual.items()
        if form != word and (form != form.capitalize() or notes.written[form] >= FEWEST_TIMES)
    }  # fmt: skip


def _some(rows: list[int]) -> list[int]:
    """A few hundred of many, evenly."""
    return rows[:: max(1, len(rows) // LISTENED)][:LISTENED]


def _ends(phrase: str) -> tuple[str, str]:
    """The outer words of a phrase."""
    words = phrase.split()
    return words[0], words[-1]


def articles(texts: Iterable[str]) -> frozenset[str]:
    """Articles and what stands in their place (*the*, *an*, *dem*, *this*).

    Of the most frequent words they are those that come after other frequent ones (*of the*, *in einem*), and seldom
    before them: what they announce is rare.
    """
    heard = [_spoken(text, frozenset(), None) for text in texts]
    times = Counter(word for text in heard for word, _ in text)
    frequent = frozenset(word for word, _ in times.most_common(FREQUENT))
    after, before = Counter[str](), Counter[str]()
    for text in heard:
        for (last, _), (word, together) in pairwise(text):
            if together and word in frequent and last in frequent:
                after[word] += 1
                before[last] += 1
    announced = {word for word in frequent if word.isalpha() and after[word] > AFTER_FREQUENT * times[word]}
    return frozenset(word for word in announced if before[word] < BEFORE_FREQUENT * times[word])


class _Notes:
    """What is noticed of words while reading: their forms, how often they are glued, between which words they stand."""

    def __init__(self, articles: frozenset[str] = frozenset()) -> None:
        self.articles = articles
        self.announced, self.announcing = defaultdict[str, int](int), defaultdict[str, int](int)  # by one, and one
        self.written = defaultdict[str, int](int)  # times of each form
        self.seen, self.glued = defaultdict[str, int](int), defaultdict[str, int](int)
        self.stands = list[
            str
        ]()  # of a word or phrase in each document, and the words before and behind it; see ``AT``

    @cached_property
    def documents(self) -> Counter[str]:
        """How many documents have each word or phrase, when all are read."""
        return Counter(map(_of_stand, self.stands))

    @cached_property
    def contexts(self) -> Counter[str]:
        """Between how many different words it stands there."""
        return Counter(map(_of_stand, set(self.stands)))

    @property
    def forms(self) -> dict[str, dict[str, int]]:
        """The forms of each word, and how often it has them."""
        found = dict[str, dict[str, int]]()
        for form, times in self.written.items():
            found.setdefault(form.lower(), {})[form] = times
        return found

    def is_boilerplate(self, text: str) -> bool:
        """Whether it stands between the same words in most documents."""
        number = self.documents[text]
        return number >= FEWEST_TIMES and self.contexts[text] < VARIED * number

    def is_verb(self, word: str) -> bool:
        """Whether articles stand behind it, and not before it."""
        number, behind = self.documents[word], self.announcing.get(word, 0)
        return number >= FEWEST_HEARD and behind >= FOLLOWED * number and behind > 2 * self.announced.get(word, 0)


def _of_stand(stand: str) -> str:
    """The word or phrase."""
    return stand[: stand.index(AT)]


def _closed(phrases: dict[str, dict[int, float]]) -> dict[str, dict[int, float]]:
    """Without phrases that are pieces of a longer one nearly everywhere."""
    total = {phrase: sum(by_leaf.values()) for phrase, by_leaf in phrases.items()}
    pieces = set[str]()
    for phrase in phrases:
        first, *rest = phrase.split()
        if len(rest) == 2:
            pieces |= {
                piece for piece in (f"{first} {rest[0]}", f"{rest[0]} {rest[1]}")
                if piece in total and total[phrase] >= CLOSED * total[piece]
            }  # fmt: skip
    return {phrase: by_leaf for phrase, by_leaf in phrases.items() if phrase not in pieces}


def _usual(forms: Mapping[str, int]) -> str:
    """How a word is written most often; capitals of a headline are not how it is written."""
    form = max(forms, key=lambda one: (forms[one], one))
    if form.isupper() and len(form) > 1:
        others = {one: times for one, times in forms.items() if not one.isupper()}
        if len(form) > LONGEST_CAPITALS or sum(others.values()) >= forms[form]:
            return max(others, key=lambda one: (others[one], one), default=form.lower())
    return form


def _spoken(text: str, known: frozenset[str], notes: _Notes | None) -> list[tuple[str, bool]]:
    """The words of a text, each with whether nothing but a blank or a hyphen parts it from the one before."""
    spoken = list[tuple[str, bool]]()
    end, headline, has_commands, last = -2, False, "\\" in text, len(text) - 1
    for match in WORD.finditer(text):
        start, stop = match.span()
        form = text[start:stop]
        word = form.lower()
        spoken.append((word, start - end == 1 and text[end] in " -\n"))
        end, capitals = stop, form.isupper()
        if notes is not None and word in known:
            notes.seen[word] += 1
            if not (capitals and headline):  # among words in capitals these mean nothing
                notes.written[form] += 1
            if (
                (start > 1 and text[start - 1] in JOINTS and not text[start - 2].isspace())
                or (end < last and text[end] in JOINTS and not text[end + 1].isspace())
                or (has_commands and COMMAND.search(text[max(start - 5, 0) : start]))
            ):
                notes.glued[word] += 1
        headline = capitals
    return spoken


def _phrases(spoken: list[tuple[str, bool]], known: frozenset[str], notes: _Notes) -> set[str]:
    """Two adjacent words of a text that names may be made of, or three of which the outer ones are.

    Of a word or phrase it is noted where it stands for the first time; of a word also whether an article stands before
    or behind it, with nothing between them.
    """
    words, found, stands, articles = set[str](), set[str](), notes.stands, notes.articles
    padded = [("", False), *spoken, ("", False), ("", False), ("", False)]
    for place, (word, joins) in enumerate(spoken, 1):
        if word not in known:
            continue
        before, (second, follows), (third, goes_on) = padded[place - 1][0], padded[place + 1], padded[place + 2]
        if word not in words:
            words.add(word)
            stands.append(f"{word}{AT}{before}{AT}{second}")
            if joins and before in articles:
                notes.announced[word] += 1
            if follows and second in articles:
                notes.announcing[word] += 1
        if not follows:
            continue
        if second != word and second in known and (phrase := f"{word} {second}") not in found:
            found.add(phrase)
            stands.append(f"{phrase}{AT}{before}{AT}{third}")
        if goes_on and third in known and word != third != second != word:
            phrase = f"{word} {second} {third}"
            if phrase not in found:
                found.add(phrase)
                stands.append(f"{phrase}{AT}{before}{AT}{padded[place + 3][0]}")
    return found
