"""A query in words: BM25 over stems, and the words that its best documents add.

Every word counts for what it tells, and none is required: a document with all of them has most of the information. The
form that was typed counts a little more than its inflections. Then the words that set the few best documents apart are
asked for as well, which finds what says the same in other words (Rocchio's feedback, nobody asked).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.index.ranking import nth_largest
from topiarist.collection.find.index.segments import K1
from topiarist.collection.find.words.word_index import WordIndex
from topiarist.models.engine import load_search_kernels
from topiarist.scale.threads import Threads

EXACT = 0.1  # what the form that was typed adds to what its stem counts for
BEST, ADDED, BESIDE = 5, 40, 1.0  # documents that add words, how many words, and their weight beside the query's
LONGEST = 20_000  # characters of each of them that are read
MANY, POSTINGS = 1 << 20, 1 << 20  # of more documents so many places of added words are looked at, those that tell most
BLOCK = 1 << 18  # documents to which words are added together
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
        self.index, self.texts, self.threads = index, texts, threads
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
        self._known: dict[tuple[int, str], tuple[Array, Floats] | None] = {}

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

    @cached_property
    def information(self) -> Floats:
        """How much of the query's information each document has: the worth of the words that are there."""
        nothing = [np.zeros(len(lists), np.float32) for lists in self.index.segments]
        return self._added_up([(word.stem, "", word.worth) for word in self.known], nothing)

    def _postings(self, segment: int, stem: str) -> tuple[Array, Floats] | None:
        """The documents of a segment with a stem, and how often; those of the query's own words are kept."""
        place = segment, stem
        if place not in self._known:
            found = self.index.segments[segment].of_stem(stem)
            if stem not in self.weights:
                return found
            self._known[place] = found
        return self._known[place]

    @property
    def whole(self) -> float:
        """The information of all words that some document has."""
        return sum(word.worth for word in self.known)

    @cached_property
    def asked(self) -> Floats:
        """BM25 of every document with the words of the query."""
        return self._scores(self.weights, forms=True)

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
        scores = self.asked
        some = min(BEST, len(scores))
        if not some or not scores.any():
            return []
        rows = np.flatnonzero(scores >= max(nth_largest(scores, some), 1e-12))
        order = np.lexsort((rows, -scores[rows]))[:some]
        return [int(row) for row in rows[order]]

    @cached_property
    def scores(self) -> Floats:
        """BM25 of every document with the query and the words that were added."""
        return self.asked + self._scores({stem: weight for stem, (_, weight) in self.added.items()})

    def amounts(self, row: int) -> list[Amount]:
        """What each word brings to the score of a document: the word, the amount, whether it was asked for."""
        return self.amounts_of([row])[row]

    def amounts_of(self, rows: Sequence[int]) -> dict[int, list[Amount]]:
        """The same of several documents; the list of a word is looked through once for all of them."""
        found: dict[int, list[Amount]] = {row: [] for row in rows}
        for number, here in groupby(sorted((*self.index.located(row), row) for row in found), key=lambda one: one[0]):
            places, own = zip(*((place, row) for _, place, row in here), strict=True)
            wanted = np.full(len(self.index.segments[number]), -1, np.int32)
            wanted[list(places)] = np.arange(len(places))
            norms = self.index.norms[number][list(places)].astype(np.float64)
            for word, amounts, asked in self._amounts(number, wanted, norms):
                for row, amount in zip(own, amounts.tolist(), strict=True):
                    if amount > 0:
                        found[row].append((word, amount, asked))
        return found

    def _amounts(self, segment: int, wanted: Array, norm: Floats) -> Iterator[tuple[str, Floats, bool]]:
        """Word by word, what it brings to the wanted documents of a segment: which of them each of its rows is."""
        lists = self.index.segments[segment]
        for word in self.known:
            amount = _amount(self._postings(segment, word.stem), wanted, norm)
            for form in word.forms:
                amount += EXACT * _amount(lists.of_form(word.stem, form), wanted, norm)
            yield word.forms[0], self.weights[word.stem] * word.worth * amount, True
        for stem, (shown, weight) in self.added.items():
            amount = _amount(lists.of_stem(stem), wanted, norm)
            yield shown, weight * self.index.worth(stem) * amount, False

    def _scores(self, weights: Mapping[str, float], *, forms: bool = False) -> Floats:
        runs = [(stem, "", weight * self.index.worth(stem)) for stem, weight in weights.items()]
        for word in self.known if forms else ():
            runs += [(word.stem, form, EXACT * weights[word.stem] * word.worth) for form in word.forms]
        return self._added_up([(stem, form, weight * (K1 + 1)) for stem, form, weight in runs], self.index.norms)

    def _added_up(self, runs: Sequence[tuple[str, str, float]], norms: Sequence[Floats]) -> Floats:
        """What stems, or single forms of them, bring to every document: a weight times n / (n + norm) each."""
        out, start = np.zeros(len(self.index), np.float32), 0
        for lists, norm in zip(self.index.segments, norms, strict=True):
            weighed = [(lists.runs_of(stem, form), weight) for stem, form, weight in runs]
            add_up([one for one in weighed if one[0]], norm, out[start : start + len(lists)], self.threads)
            start += len(lists)
        return out


def add_up(
    words: Sequence[tuple[Sequence[tuple[Array, Array]], float]], norm: Floats, out: Floats, threads: Threads | None
) -> None:
    """Add what words bring to documents: of each word its forms (documents that rise, and times) and its weight.

    Documents are taken a block at a time, so that what is added to stays in a core's cache for all words.
    """
    add, whole = load_search_kernels().add_word, np.zeros(len(out), np.float32)
    bounds = np.arange(0, len(out) + BLOCK, BLOCK, dtype=np.int32)  # of the kind of documents: none are made anew
    cuts = [[np.searchsorted(docs, bounds) for docs, _ in forms] for forms, _ in words]

    def block(number: int) -> None:
        for (forms, weight), own in zip(words, cuts, strict=True):
            here = [slice(cut[number], cut[number + 1]) for cut in own]
            docs = [docs[part] for (docs, _), part in zip(forms, here, strict=True)]
            times = [times[part] for (_, times), part in zip(forms, here, strict=True)]
            if len(docs) == 1:
                add(docs[0], times[0], norm, weight, whole, out)
            else:
                add(np.concatenate(docs), np.concatenate(times), norm, weight, whole, out)

    numbers = range(len(bounds) - 1)
    if threads is None:
        for number in numbers:
            block(number)
    else:
        threads.map(block, numbers)


def _amount(postings: tuple[Array, Floats] | None, wanted: Array, norm: Floats) -> Floats:
    """What a word brings to some documents; ``wanted`` has their places among these, and -1 for all others."""
    times = np.zeros(len(norm))
    if postings is not None:
        which = wanted[postings[0]]
        there = np.flatnonzero(which >= 0)
        times[which[there]] = postings[1][there]  # a document that comes twice has the same twice
    return (K1 + 1) * times / (times + norm)
