"""Features of texts that counts lack: phrases, spelling of words, fragments of addresses, boilerplate and verbs.

The beginnings of a few documents of each leaf are read. Fragments of addresses touch dots and at-signs, those of TeX
backslashes. Dates have a number behind them, and ends of compounds a hyphen before them (*body* in *N-body*).
Boilerplate (signatures, tables, agency notes) is between the same two words in most documents. Verbs and
particles (*denote*, *told*, *laut*) are excluded from names: articles follow them and do not precede them. Articles
are recognised too: they come after other frequent words and before rare ones. All of this holds in any language with
spaces between words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.counts.corpus import LookupSequence

SAMPLE_LIMITS = (
    20,
    120,
)  # documents of each leaf that are read for phrases and the forms of words, at least and at most
SAMPLE_SHARE = 0.15  # of all documents are read, within these limits
MIN_READ_DOCUMENTS, MAX_READ_DOCUMENTS = (
    4_000,
    12_000,
)  # documents of all leaves together, but for the least of each leaf
MAX_CHARACTERS = 1500  # characters of each of them
MIN_OCCURRENCES = 3  # documents that make a phrase
MIN_CONTEXT_RATIO = 0.4  # different neighbours for each document with a word or phrase; with fewer it is boilerplate
MAX_FRAGMENT_SHARE = 0.5  # share of its occurrences that are part of an address: then a word is a fragment of one
MIN_LONGER_SHARE = 0.7  # of a phrase's documents have the same longer phrase: then it is a piece of that
N_FREQUENT_WORDS, ARTICLE_TEXTS = 30, 300  # words among which articles are, and texts in which they are looked for
AFTER_FREQUENT, BEFORE_FREQUENT = 0.35, 0.25  # of an article's occurrences, at least and at most
MIN_VERB_SHARE = 0.1  # of a word's documents have an article behind it, twice as many as before it: it is no noun
MIN_VERB_DOCUMENTS = 8  # documents with a word, to say so
MAX_ABBREVIATION = 5  # letters of a word that is written in capitals because it is an abbreviation
MAX_TITLE = 150  # characters of a first line that may be a title
MIN_RUNNING = 3  # times that a word is in running text, to be written as it is there
MIN_ALONE_SHARE = 0.1  # of them away from other capitals, to be written as it is there: *telescope*, *Space Telescope*
WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*", re.UNICODE)
SEPARATOR = (
    "\n"  # between a phrase and the words around it: one text for each place is no work for the collector of garbage
)
BLANK, HYPHEN = 1, 2
JOINS = {" ": BLANK, "\n": BLANK, "-": HYPHEN}  # between words that follow each other directly
JOINTS = frozenset("@./\\_:%=&~")
SENTENCE_ENDS = frozenset('.!?:;…"“”„«»•')
MIN_HYPHEN_SHARE = 0.5  # of a word's or phrase's documents have a hyphen before it: then it is a part of a compound
MIN_NUMBER_SHARE = 0.5  # of a word's documents have a number behind it: then it is a part of a date
COMMAND = re.compile(r"\\(?:[^\w\s]\{?(?:\w\})?)?$")  # before \left in TeX, and what an accent cuts off, Schr\"odinger


@dataclass(frozen=True)
class TextFeatures:
    """Phrases by leaf, spelling of words, fragments and verbs of the sampled texts.

    ``phrases``: for each phrase its share of the sampled documents of each leaf that has it. ``phrase_words``: the
    same for the outer words of phrases. ``forms``: spelling of words and phrases. ``fragments``: parts of addresses,
    boilerplate and dates. ``hyphenated``: words that are ends of compounds. ``pieces``: fragments that are pieces of
    words in scripts without spaces.
    """

    phrases: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    phrase_words: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    fragments: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    n_leaves: int = 0
    hyphenated: frozenset[str] = frozenset()
    pieces: frozenset[str] = frozenset()


def sample_documents(shares: Any) -> list[list[int]]:
    """Return evenly spaced rows of each class; each document belongs to its largest class."""
    shares = csr_array(shares)
    class_of = find_largest_classes(shares)
    rows = []
    max_documents = int(
        np.clip(
            np.clip(SAMPLE_SHARE * shares.shape[0], MIN_READ_DOCUMENTS, MAX_READ_DOCUMENTS) / max(shares.shape[1], 1),
            *SAMPLE_LIMITS,
        )
    )
    for number in range(shares.shape[1]):
        members = np.flatnonzero(class_of == number)
        if len(members) > max_documents:
            members = members[np.linspace(0, len(members) - 1, max_documents).astype(np.int64)]
        rows.append(members.tolist())
    return rows


def find_largest_classes(shares: Any) -> Array:
    """Return the class of each document with the largest share, of equal ones the first; −1 for none."""
    class_of = np.full(shares.shape[0], -1, np.int64)
    filled = np.flatnonzero(lengths := np.diff(shares.indptr))
    if len(filled):
        starts = shares.indptr[filled]
        best = np.repeat(np.maximum.reduceat(shares.data, starts), lengths[filled]) == shares.data
        class_of[filled] = shares.indices[np.minimum.reduceat(np.where(best, np.arange(len(best)), len(best)), starts)]
    return class_of


def extract_features(texts: Sequence[str], rows: Sequence[Sequence[int]], words: Iterable[str]) -> TextFeatures:
    """Extract features from the documents sampled from each leaf; ``words`` are those that names may contain.

    Words and phrases between the same two words in most documents are boilerplate: signatures, tables, agency notes.
    They are no phrases, and are added to ``fragments``.
    """
    words_of_names = frozenset(word for word in words if " " not in word)
    sample = _load_texts(texts, _thin_out([row for members in rows for row in members]))
    statistics = _WordStatistics(find_articles([text[:MAX_CHARACTERS] for text in sample]))
    phrases: dict[str, dict[int, float]] = {}
    of_words: dict[str, dict[int, float]] = {}
    for leaf, members in enumerate(rows):
        times, word_times = Counter[str](), Counter[str]()
        for text in _load_texts(texts, members):
            words_here, phrases_here = _collect_words_and_phrases(
                _scan_words(text[:MAX_CHARACTERS], words_of_names, statistics), words_of_names, statistics
            )
            times.update(phrases_here)
            word_times.update(words_here)
        for phrase, number in sorted(times.items()):
            if number >= min(MIN_OCCURRENCES, max(2, len(members) // 8)):
                phrases.setdefault(phrase, {})[leaf] = number / len(members)
        for word, number in word_times.items():
            of_words.setdefault(word, {})[leaf] = number / len(members)
    verbs = frozenset(filter(statistics.is_verb, words_of_names))
    phrases = {
        phrase: by_leaf
        for phrase, by_leaf in phrases.items()
        if not statistics.is_boilerplate(phrase) and not statistics.is_hyphenated(phrase)
    }
    phrases = _remove_partial_phrases(
        {phrase: by_leaf for phrase, by_leaf in phrases.items() if verbs.isdisjoint(_get_outer_words(phrase))}
    )
    outer = dict.fromkeys(word for phrase in phrases for word in _get_outer_words(phrase))
    forms = statistics.choose_forms(words_of_names.union(phrases))
    hyphenated = frozenset(filter(statistics.is_hyphenated, words_of_names))
    parts = {
        word
        for word, number in statistics.occurrences.items()
        if statistics.fragments[word] > MAX_FRAGMENT_SHARE * number
    }
    fragments = frozenset(
        parts | {word for word in words_of_names if statistics.is_boilerplate(word) or statistics.is_date(word)}
    )
    return TextFeatures(
        phrases, {word: of_words[word] for word in outer}, forms, fragments, verbs, len(rows), hyphenated
    )


def _load_texts(texts: Sequence[str], rows: Sequence[int]) -> Iterable[str]:
    """Return the texts of some rows, in one call if the source supports it."""
    loaded: Iterable[str] = texts.of(rows) if isinstance(texts, LookupSequence) else (texts[row] for row in rows)
    return loaded


def find_written_forms(texts: Iterable[str], words: Iterable[str]) -> dict[str, str]:
    """Return the most frequent spelling of words that differ from their counted form (*GeV*, *LHC*, *Haus*).

    A capital may be due to the beginning of a sentence, so that a few occurrences are required.
    """
    words_to_find, statistics = frozenset(part for word in words for part in word.split()), _WordStatistics()
    for text in texts:
        _scan_words(text[:MAX_CHARACTERS], words_to_find, statistics)
    forms = statistics.choose_forms(words_to_find)
    return {
        word: form for word, form in forms.items()
        if form != word and (form != form.capitalize() or statistics.all_forms[form] >= MIN_OCCURRENCES)
    }  # fmt: skip


def _thin_out(rows: list[int]) -> list[int]:
    return rows[:: max(1, len(rows) // ARTICLE_TEXTS)][:ARTICLE_TEXTS]


def _get_outer_words(phrase: str) -> tuple[str, str]:
    words = phrase.split()
    return words[0], words[-1]


def find_articles(texts: Iterable[str]) -> frozenset[str]:
    """Return articles and similar words (*the*, *an*, *dem*, *this*).

    Of the most frequent words they are those that come after other frequent ones (*of the*, *in einem*), and seldom
    before them: the words behind articles are rare.
    """
    scanned_texts = [_scan_words(text, frozenset(), None) for text in texts]
    times = Counter(word for text in scanned_texts for word, _, _ in text)
    frequent = frozenset(word for word, _ in times.most_common(N_FREQUENT_WORDS))
    times_after, times_before = Counter[str](), Counter[str]()
    for text in scanned_texts:
        for (last, _, _), (word, follows, _) in pairwise(text):
            if follows and word in frequent and last in frequent:
                times_after[word] += 1
                times_before[last] += 1
    candidates = {word for word in frequent if word.isalpha() and times_after[word] > AFTER_FREQUENT * times[word]}
    return frozenset(word for word in candidates if times_before[word] < BEFORE_FREQUENT * times[word])


class _WordStatistics:
    """Statistics of words from reading: forms, occurrences in addresses, and neighbouring words."""

    def __init__(self, articles: frozenset[str] = frozenset()) -> None:
        self.articles = articles
        self.after_article, self.before_article = (
            defaultdict[str, int](int),
            defaultdict[str, int](int),
        )  # by one, and one
        self.all_forms = defaultdict[str, int](int)  # times of each form
        self.running_forms = defaultdict[str, int](int)  # the same in running text, of phrases too
        self.isolated_forms = defaultdict[str, int](int)  # the same where no other capital stands beside a capital
        self.after_hyphen, self.before_number = defaultdict[str, int](int), defaultdict[str, int](int)
        self.occurrences, self.fragments = defaultdict[str, int](int), defaultdict[str, int](int)
        self.positions = list[
            str
        ]()  # of a word or phrase in each document, and the words before and behind it; see ``AT``

    @cached_property
    def documents(self) -> Counter[str]:
        """Number of documents with each word or phrase."""
        return Counter(map(_get_text, self.positions))

    @cached_property
    def contexts(self) -> Counter[str]:
        """Number of different pairs of neighbours of each word or phrase."""
        return Counter(map(_get_text, set(self.positions)))

    def choose_forms(self, texts: Collection[str]) -> dict[str, str]:
        """Return the usual spelling of words and phrases that occurred.

        Running text decides, away from the beginning of sentences and titles, if it has a few occurrences. Of these,
        the ones away from other capitals are preferred: *Space Telescope* is a name, *telescope* is not.
        """
        all_forms, running_forms, isolated_forms = map(
            _group_by_lower_case, (self.all_forms, self.running_forms, self.isolated_forms)
        )
        forms_of = dict[str, str]()
        for text in texts:
            forms = running_forms.get(text, {})
            if (total := sum(forms.values())) < MIN_RUNNING:
                forms = all_forms.get(text, {})
            elif sum(isolated_forms.get(text, {}).values()) >= max(MIN_RUNNING, MIN_ALONE_SHARE * total):
                forms = isolated_forms[text]
            if forms:
                forms_of[text] = _choose_form(forms)
        return forms_of

    def is_boilerplate(self, text: str) -> bool:
        """Return whether a text is between the same words in most documents."""
        number = self.documents[text]
        return number >= MIN_OCCURRENCES and self.contexts[text] < MIN_CONTEXT_RATIO * number

    def is_hyphenated(self, text: str) -> bool:
        """Return whether a word or phrase is the end of compounds: *body simulations* in *N-body simulations*."""
        return self.after_hyphen[text] > MIN_HYPHEN_SHARE * self.documents[text]

    def is_date(self, word: str) -> bool:
        """Return whether a number is mostly behind a word, as behind months: *April 15*, *Section 4*."""
        number = self.documents[word]
        return number >= MIN_OCCURRENCES and self.before_number[word] > MIN_NUMBER_SHARE * number

    def is_verb(self, word: str) -> bool:
        """Return whether articles come behind a word, and not before it."""
        number, n_before_article = self.documents[word], self.before_article.get(word, 0)
        return (
            number >= MIN_VERB_DOCUMENTS
            and n_before_article >= MIN_VERB_SHARE * number
            and n_before_article > 2 * self.after_article.get(word, 0)
        )


def _group_by_lower_case(times: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the forms of each word with their numbers of occurrences."""
    forms_of = dict[str, dict[str, int]]()
    for form, number in times.items():
        forms_of.setdefault(form.lower(), {})[form] = number
    return forms_of


def _get_text(stand: str) -> str:
    return stand[: stand.index(SEPARATOR)]


def _remove_partial_phrases(phrases: dict[str, dict[int, float]]) -> dict[str, dict[int, float]]:
    """Remove phrases that are nearly always part of a longer one."""
    total = {phrase: sum(by_leaf.values()) for phrase, by_leaf in phrases.items()}
    pieces = set[str]()
    for phrase in phrases:
        first, *rest = phrase.split()
        if len(rest) == 2:
            pieces |= {
                piece for piece in (f"{first} {rest[0]}", f"{rest[0]} {rest[1]}")
                if piece in total and total[phrase] >= MIN_LONGER_SHARE * total[piece]
            }  # fmt: skip
    return {phrase: by_leaf for phrase, by_leaf in phrases.items() if phrase not in pieces}


def _choose_form(forms: Mapping[str, int]) -> str:
    """Return the most frequent form of a word, without capitals of headlines."""
    form = max(forms, key=lambda candidate: (forms[candidate], candidate))
    if form.isupper() and len(form) > 1:
        others = {candidate: times for candidate, times in forms.items() if not candidate.isupper()}
        if len(form) > MAX_ABBREVIATION or sum(others.values()) >= forms[form]:
            return max(others, key=lambda candidate: (others[candidate], candidate), default=form.lower())
    return form


def _scan_words(text: str, words: frozenset[str], statistics: _WordStatistics | None) -> list[tuple[str, int, str]]:
    """Return the words of a text, each with whether it follows the one before directly, and its form in running text.

    Nothing but a blank or a hyphen is between words that follow directly. The form is empty where a capital says
    nothing: at the beginning of a sentence, in a title, among words in capitals.
    """
    scanned = list[tuple[str, int, str]]()
    end, headline, has_commands, last = 0, False, "\\" in text, len(text) - 1
    title, capital = _find_title_end(text), False
    for match in WORD.finditer(text):
        start, stop = match.span()
        form = text[start:stop]
        word, joins = form.lower(), JOINS.get(text[end:start], 0) if scanned else 0
        capitals = form.isupper()
        running = (
            start > title and not (capitals and headline) and (joins or not _begins_sentence(text[max(end, 0) : start]))
        )
        scanned.append((word, joins, form if running else ""))
        follows_capital, end = joins and capital, stop
        capital = form[0].isupper()
        if statistics is not None and word in words:
            statistics.occurrences[word] += 1
            if not (capitals and headline):  # among words in capitals these mean nothing
                statistics.all_forms[form] += 1
            if running:
                statistics.running_forms[form] += 1
                if not capital or not (
                    follows_capital or (text[end : end + 1] == " " and text[end + 1 : end + 2].isupper())
                ):
                    statistics.isolated_forms[form] += 1
            if (
                (start > 1 and text[start - 1] in JOINTS and not text[start - 2].isspace())
                or (end < last and text[end] in JOINTS and not text[end + 1].isspace())
                or (has_commands and COMMAND.search(text[max(start - 5, 0) : start]))
            ):
                statistics.fragments[word] += 1
        headline = capitals
    return scanned


def _find_title_end(text: str) -> int:
    """Return where running text begins: behind a short first line and the first letter after it."""
    return text.find("\n", 0, MAX_TITLE) + 1


def _begins_sentence(gap: str) -> bool:
    """Return whether a sentence, a paragraph or a list item begins after the gap between two words."""
    return len(gap) > 1 and ("\n" in gap or not SENTENCE_ENDS.isdisjoint(gap))


def _collect_words_and_phrases(
    scanned: list[tuple[str, int, str]], words_of_names: frozenset[str], statistics: _WordStatistics
) -> tuple[set[str], set[str]]:
    """Return the words of a text that names may be made of, and phrases: two adjacent ones, or three with two of them.

    Of a word or phrase it is noted where it stands for the first time; of a word also whether an article stands before
    or behind it, with nothing between them; of a phrase how it is written there.
    """
    words, phrases, positions, articles = set[str](), set[str](), statistics.positions, statistics.articles
    padded = [("", 0, ""), *scanned, ("", 0, ""), ("", 0, ""), ("", 0, "")]
    for place, (word, joins, form) in enumerate(scanned, 1):
        if word not in words_of_names:
            continue
        previous, (second, follows, next_form) = padded[place - 1][0], padded[place + 1]
        third, goes_on, last_form = padded[place + 2]
        if word not in words:
            words.add(word)
            positions.append(f"{word}{SEPARATOR}{previous}{SEPARATOR}{second}")
            statistics.after_hyphen[word] += joins == HYPHEN
            statistics.before_number[word] += bool(follows) and second.isdigit()
            if joins and previous in articles:
                statistics.after_article[word] += 1
            if follows and second in articles:
                statistics.before_article[word] += 1
        has_third = follows and goes_on and word != third != second != word and third in words_of_names
        after = padded[place + 3][0]
        for is_phrase, parts, forms, next_word in (
            (follows and second != word and second in words_of_names, (word, second), (form, next_form), third),
            (has_third, (word, second, third), (form, next_form, last_form), after),
        ):
            phrase = " ".join(parts)
            if is_phrase and phrase not in phrases:
                phrases.add(phrase)
                statistics.after_hyphen[phrase] += joins == HYPHEN
                positions.append(f"{phrase}{SEPARATOR}{previous}{SEPARATOR}{next_word}")
                if all(forms):
                    statistics.running_forms[" ".join(forms)] += 1
    return words, phrases
