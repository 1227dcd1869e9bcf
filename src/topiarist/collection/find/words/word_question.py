"""A query in words: BM25 over stems, and the words that its best documents add.

Every word counts for what it tells, and none is required: a document with all of them has most of the information. The
form that was typed counts a little more than its inflections. Then the words that set the few best documents apart are
asked for as well, which finds what says the same in other words (Rocchio's feedback, nobody asked).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.index.segments import K1
from topiarist.collection.find.words.posting_lists import PostingLists
from topiarist.collection.find.words.word_index import WordIndex
from topiarist.collection.find.words.word_scores import Weighed, WordScores, added_up, most_held
from topiarist.scale.threads import Threads

EXACT = 0.1  # what the form that was typed adds to what its stem counts for
BEST, ADDED, BESIDE = 5, 40, 1.0  # documents that add words, how many words, and their weight beside the query's
LEAST = 1e-12  # a score below it is none
LONGEST = 20_000  # characters of each of them that are read
MANY, POSTINGS = 1 << 20, 1 << 20  # of more documents so many places of added words are looked at, those that tell most
Texts = Callable[[Sequence[int]], Sequence[str]]
Amount = tuple[str, float, bool]  # a word, what it brings, whether it was asked for


@dataclass(frozen=True)
class Asked:
    """A word of a query: its stem, the forms that were typed, how often, how many documents have it, its worth."""

    stem: str
    forms: tuple[str, ...]
    times: int
    documents: int
    worth: float


class WordQuestion:
    """A query that is asked of all words of a collection. ``texts`` gives the texts of documents by their rows."""

    def __init__(self, index: WordIndex, query: str, texts: Texts, threads: Threads | None = None) -> None:
        self.index, self.texts, self.threads = index, texts, threads or Threads(1)
        typed = index.tokenizer(query)
        said = [word for word in typed if word not in index.unsaid] or typed
        forms: dict[str, list[str]] = {}
        for word, stem in zip(said, index.keys(said), strict=True):
            forms.setdefault(stem, []).append(word)
        self.words = tuple(
            Asked(stem, tuple(dict.fromkeys(typed)), len(typed), index.n_documents(stem), index.worth(stem))
            for stem, typed in forms.items()
        )
        self.meant = " ".join(said)

    @property
    def known(self) -> tuple[Asked, ...]:
        """The words that some document has."""
        return tuple(word for word in self.words if word.documents)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The words that no document has, as they were typed."""
        return tuple(word.forms[0] for word in self.words if not word.documents)

    @property
    def times(self) -> dict[str, float]:
        """How often the query has each stem."""
        return {word.stem: float(word.times) for word in self.words}

    def with_all(self, allowed: Array | None = None) -> tuple[int, int]:
        """How many (allowed) documents have all known words, and the first of those with most information; or -1."""
        words = [Weighed(word.stem, "", word.worth) for word in self.known]
        return most_held(self.index, words, self.whole - 1e-4, allowed, self.threads)

    @property
    def whole(self) -> float:
        """The information of all words that some document has."""
        return sum(word.worth for word in self.known)

    @property
    def asked(self) -> Floats:
        """BM25 of every document with the words of the query."""
        return self.by_asked.values

    @cached_property
    def by_asked(self) -> WordScores:
        """The same, with what is known of all."""
        weights = self.weights
        words = [Weighed(stem, "", (K1 + 1) * weight * self.index.worth(stem)) for stem, weight in weights.items()]
        for word in self.known:
            worth = (K1 + 1) * EXACT * weights[word.stem] * word.worth
            words += [Weighed(word.stem, form, worth) for form in word.forms]
        return added_up(self.index, words, self.threads)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Of each stem of the query its share."""
        total = max(sum(word.times for word in self.known), 1)
        return {word.stem: word.times / total for word in self.known}

    @cached_property
    def added(self) -> dict[str, tuple[str, float]]:
        """Stems that the best documents add, with a word for each, and their weights."""
        best = self._best()
        if not best:
            return {}
        index, share = self.index, self.asked[best] / max(float(self.asked[best].sum()), 1e-300)
        brought: Counter[str] = Counter()
        shown: dict[str, str] = {}
        for part, text in zip(share.tolist(), self.texts(best), strict=True):
            pieces = Counter(index.tokenizer.pieces(text[:LONGEST]))
            keeps, unsaid = index.tokenizer.keeps, index.unsaid
            times = Counter({one: number for one, number in pieces.items() if one not in unsaid and keeps(one)})
            stems: Counter[str] = Counter()
            for (word, often), stem in zip(times.items(), index.keys(times), strict=True):
                stems[stem] += often
                shown.setdefault(stem, word)
            norm = K1 * (0.25 + 0.75 * times.total() / index.average)
            for stem, often in stems.items():
                brought[stem] += part * often / (often + norm)
        numbers = {stem: number for stem in brought if (number := index.n_documents(stem))}
        told = zip(numbers, index.worths([*numbers.values()]).tolist(), strict=True)
        worth = {stem: brought[stem] * each for stem, each in told}
        chosen = sorted(worth, key=lambda stem: (-worth[stem], stem))[:ADDED]
        if len(index) > MANY:  # the list of a frequent word is long, and there are other voices for what it finds
            read = np.cumsum([numbers[stem] for stem in chosen])
            chosen = chosen[: max(1, int(np.searchsorted(read, POSTINGS, "right")))]
        whole = sum(worth[stem] for stem in chosen)
        return {stem: (shown[stem], BESIDE * worth[stem] / whole) for stem in chosen}

    def _best(self) -> list[int]:
        """The rows of the best documents, the best first."""
        scores, rows = self.asked, self.by_asked.largest(BEST)
        rows = rows[scores[rows] >= LEAST]
        order = np.lexsort((rows, -scores[rows]))[:BEST]
        return [int(row) for row in rows[order]]

    @property
    def scores(self) -> Floats:
        """BM25 of every document with the query and the words that were added."""
        return self.by_all.values

    @cached_property
    def by_all(self) -> WordScores:
        """The same, with what is known of all."""
        if not self.added:
            return self.by_asked
        added = self.added.items()
        words = [Weighed(stem, "", (K1 + 1) * weight * self.index.worth(stem)) for stem, (_, weight) in added]
        return added_up(self.index, words, self.threads, self.by_asked)

    def amounts(self, row: int) -> list[Amount]:
        """What each word brings to the score of a document: the word, the amount, whether it was asked for."""
        return self.amounts_of([row])[row]

    def amounts_of(self, rows: Sequence[int]) -> dict[int, list[Amount]]:
        """The same of several documents; the list of a word is looked through once for all of them."""
        found: dict[int, list[Amount]] = {row: [] for row in rows}
        for number, here in groupby(sorted((*self.index.located(row), row) for row in found), key=lambda one: one[0]):
            places, own = zip(*((place, row) for _, place, row in here), strict=True)
            norms = self.index.norms[number][list(places)].astype(np.float64)
            for word, amounts, asked in self._amounts(self.index.segments[number], np.array(places), norms):
                for row, amount in zip(own, amounts.tolist(), strict=True):
                    if amount > 0:
                        found[row].append((word, amount, asked))
        return found

    def _amounts(self, lists: PostingLists, rows: Array, norms: Floats) -> Iterator[tuple[str, Floats, bool]]:
        """Word by word, what it brings to some documents of a segment."""

        def amount(stem: str, form: str = "") -> Floats:
            times = lists.times_of(lists.places_of(stem, form), rows)
            found: Floats = (K1 + 1) * times / (times + norms)
            return found

        for word in self.known:
            whole = amount(word.stem) + EXACT * sum(amount(word.stem, form) for form in word.forms)
            yield word.forms[0], self.weights[word.stem] * word.worth * whole, True
        for stem, (shown, weight) in self.added.items():
            yield shown, weight * self.index.worth(stem) * amount(stem), False
