"""Scores of documents by the words of a query: BM25 over stems, with words that the best documents add.

Every word counts by its inverse document frequency, and no word is required. The typed form counts slightly more than
its inflections. Then the characteristic words of the few best documents are added to the query (Rocchio's feedback).
This finds documents with the same meaning in other words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from topiarist.arrays import Array, Bools, Floats
from topiarist.collection.search.index.ranking import compute_information
from topiarist.collection.search.index.segments import K1, B
from topiarist.collection.search.segment_rows import split_rows
from topiarist.collection.search.words.posting_lists import PostingLists
from topiarist.collection.search.words.term_scores import TermScores, WeightedTerm, sum_weights, sum_words
from topiarist.collection.search.words.word_index import WordIndex
from topiarist.execution.threads import Threads

TYPED_FORM = 0.1  # weight of the typed form beside that of its stem
# Documents that add words, words that they add, and the weight of these words relative to the query.
FEEDBACK_DOCUMENTS, FEEDBACK_WORDS, FEEDBACK_WEIGHT = 5, 40, 1.0
MIN_SCORE = 1e-12  # a smaller score is none
MIN_INFORMATION = 0.1  # of the most information that a document has: a match if no document has all words
NEARLY_ALL = 0.6  # of the information of four or more words, if a document has all: the title of one has some others
# Coverage of the best document from which the words of a query are trusted, and fully trusted; fewer words never are.
MIN_TRUSTED, TRUSTED, MIN_TRUSTED_WORDS = 0.7, 0.9, 4
ROUNDING = 1e-4  # error of information that is summed in single precision
MAX_CHARACTERS = 20_000  # of each of the best documents that are read
MANY_DOCUMENTS, MAX_POSTINGS = 1 << 20, 1 << 20  # of more documents, only so many postings of added words are read
Texts = Callable[[Sequence[int]], Sequence[str]]
Amount = tuple[str, float, bool]  # word, part of the score, and whether the query has it


@dataclass(frozen=True)
class QueryTerm:
    """Stem of a query: typed forms, number of occurrences, document frequency and inverse document frequency."""

    stem: str
    forms: tuple[str, ...]
    times: int
    documents: int
    weight: float


@dataclass(frozen=True)
class Match:
    """Mask of the documents that match, the typed words that were not required, and the documents with all words."""

    documents: Bools
    missing: tuple[str, ...] = ()
    complete: Bools | None = None  # None: all that match, or none if words are missing


class WordScorer:
    """Scores by the tokens of a query over all words of a collection. ``texts`` returns texts of documents by rows."""

    def __init__(self, index: WordIndex, tokens: Sequence[str], texts: Texts, threads: Threads | None = None) -> None:
        self.index, self.texts, self.threads = index, texts, threads or Threads(1)
        self.tokens = [word for word in tokens if word not in index.stop_words] or list(tokens)
        forms: dict[str, list[str]] = {}
        for word, stem in zip(self.tokens, index.keys(self.tokens), strict=True):
            forms.setdefault(stem, []).append(word)
        self.terms = tuple(
            QueryTerm(
                stem, tuple(dict.fromkeys(typed)), len(typed), index.n_documents(stem),
                index.inverse_document_frequency(stem),
            )
            for stem, typed in forms.items()
        )  # fmt: skip

    @property
    def known(self) -> tuple[QueryTerm, ...]:
        """Terms that some document has."""
        return tuple(term for term in self.terms if term.documents)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Typed words without any document."""
        return tuple(term.forms[0] for term in self.terms if not term.documents)

    @property
    def times(self) -> dict[str, float]:
        """Number of occurrences of each stem in the query."""
        return {term.stem: float(term.times) for term in self.terms}

    def match(self, stems: Collection[str], among: Bools | None = None) -> Match:
        """Return the documents that match the terms of the query with one of these stems.

        A document matches if it has all of them, in any form, or ``NEARLY_ALL`` of the information of four or more. If
        no document has all, those match that have at least ``MIN_INFORMATION`` of the information of the document with
        the most. Only documents in ``among`` decide this.
        If none of them has any of the words, no document matches.
        """
        terms = [term for term in self.known if term.stem in stems]
        information = self.information if len(terms) == len(self.known) else self._sum_information(terms)
        decide = information if among is None else np.where(among, information, np.float32(-1))
        fullest = int(decide.argmax())
        highest, total = float(decide[fullest]), sum(term.weight for term in terms)
        if highest <= 0:
            return Match(np.zeros(len(information), bool), tuple(term.forms[0] for term in terms))
        if highest >= total - ROUNDING:
            complete = information >= total - ROUNDING
            if len(terms) < MIN_TRUSTED_WORDS:
                return Match(complete)
            return Match(information >= NEARLY_ALL * total - ROUNDING, complete=complete)
        words_in_best = {word for word, _, is_query_word in self.explain(fullest) if is_query_word}
        missing = tuple(term.forms[0] for term in terms if term.forms[0] not in words_in_best)
        return Match(information >= MIN_INFORMATION * highest - ROUNDING, missing)

    def _sum_information(self, terms: Sequence[QueryTerm]) -> Floats:
        return sum_weights(self.index, [WeightedTerm(term.stem, "", term.weight) for term in terms], self.threads)

    @cached_property
    def information(self) -> Floats:
        """Sum of the weights of the known terms that each document has."""
        return self._sum_information(self.known)

    def coverage(self, rows: Array | slice) -> Floats:
        """Return the part of the information of the query, from 0 to 1, that some documents have."""
        total = sum(term.weight for term in self.known)
        coverage: Floats = self.information[rows] / np.float32(max(total, MIN_SCORE))
        return coverage

    @cached_property
    def highest_coverage(self) -> float:
        """Highest coverage of all documents."""
        return float(self.coverage(slice(None)).max(initial=0.0))

    @cached_property
    def trust(self) -> float:
        """Degree, from 0 to 1, to which some document has nearly all words of a query of four or more known words."""
        if len(self.known) < MIN_TRUSTED_WORDS:
            return 0.0
        return min(1.0, max(0.0, (self.highest_coverage - MIN_TRUSTED) / (TRUSTED - MIN_TRUSTED)))

    @cached_property
    def query_scores(self) -> TermScores:
        """BM25 of all documents with the words of the query."""
        weights, frequency = self.weights, self.index.inverse_document_frequency
        terms = [WeightedTerm(stem, "", (K1 + 1) * weight * frequency(stem)) for stem, weight in weights.items()]
        for term in self.known:
            weight = (K1 + 1) * TYPED_FORM * weights[term.stem] * term.weight
            terms += [WeightedTerm(term.stem, form, weight) for form in term.forms]
        return sum_words(self.index, terms, self.threads)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Share of each known stem in the query."""
        total = max(sum(term.times for term in self.known), 1)
        return {term.stem: term.times / total for term in self.known}

    @cached_property
    def added(self) -> dict[str, tuple[str, float]]:
        """Stems that the best documents add, with a word and a weight for each."""
        best = self._best_rows()
        if not best:
            return {}
        index, scores = self.index, self.query_scores.values[best]
        share = scores / max(float(scores.sum()), 1e-300)
        feedback: Counter[str] = Counter()
        word_of_stem: dict[str, str] = {}
        for part, text in zip(share.tolist(), self.texts(best), strict=True):
            pieces = Counter(index.tokenizer.split_candidates(text[:MAX_CHARACTERS]))
            keeps, stop_words = index.tokenizer.is_word, index.stop_words
            times = Counter(
                {
                    candidate: number
                    for candidate, number in pieces.items()
                    if candidate not in stop_words and keeps(candidate)
                }
            )
            stems: Counter[str] = Counter()
            for (word, times_in_text), stem in zip(times.items(), index.keys(times), strict=True):
                stems[stem] += times_in_text
                word_of_stem.setdefault(stem, word)
            norm = K1 * (1 - B + B * times.total() / index.average)
            for stem, times_in_text in stems.items():
                feedback[stem] += part * times_in_text / (times_in_text + norm)
        numbers = {stem: number for stem in feedback if (number := index.n_documents(stem))}
        frequencies = compute_information(len(index), np.array([*numbers.values()], np.float64)).tolist()
        stem_weights = {stem: feedback[stem] * frequency for stem, frequency in zip(numbers, frequencies, strict=True)}
        chosen_stems = sorted(stem_weights, key=lambda stem: (-stem_weights[stem], stem))[:FEEDBACK_WORDS]
        if len(index) > MANY_DOCUMENTS:  # lists of frequent words are long, and other scorers find the same documents
            read = np.cumsum([numbers[stem] for stem in chosen_stems])
            chosen_stems = chosen_stems[: max(1, int(np.searchsorted(read, MAX_POSTINGS, "right")))]
        total = sum(stem_weights[stem] for stem in chosen_stems)
        return {stem: (word_of_stem[stem], FEEDBACK_WEIGHT * stem_weights[stem] / total) for stem in chosen_stems}

    def _best_rows(self) -> list[int]:
        scores, rows = self.query_scores.values, self.query_scores.largest(FEEDBACK_DOCUMENTS)
        rows = rows[scores[rows] >= MIN_SCORE]
        order = np.lexsort((rows, -scores[rows]))[:FEEDBACK_DOCUMENTS]
        return [int(row) for row in rows[order]]

    @cached_property
    def scores(self) -> TermScores:
        """BM25 of all documents with the words of the query and the added words."""
        if not self.added:
            return self.query_scores
        frequency = self.index.inverse_document_frequency
        terms = [
            WeightedTerm(stem, "", (K1 + 1) * weight * frequency(stem)) for stem, (_, weight) in self.added.items()
        ]
        return sum_words(self.index, terms, self.threads, self.query_scores)

    def explain(self, row: int) -> list[Amount]:
        """Return the part of each word in the score of a document."""
        return self.explain_rows([row])[row]

    def explain_rows(self, rows: Sequence[int]) -> dict[int, list[Amount]]:
        """Return the part of each word in the scores of documents; the list of a word is read once for all."""
        amounts_by_row: dict[int, list[Amount]] = {row: [] for row in sorted(rows)}
        names = iter(amounts_by_row)
        for lists, segment_rows in split_rows(self.index.segments, np.array([*amounts_by_row], np.int64)):
            here = list(islice(names, len(segment_rows)))
            for word, amounts, is_query_word in self._iter_amounts(lists, segment_rows):
                for row, amount in zip(here, amounts.tolist(), strict=True):
                    if amount > 0:
                        amounts_by_row[row].append((word, amount, is_query_word))
        return amounts_by_row

    def _iter_amounts(self, lists: PostingLists, rows: Array) -> Iterator[tuple[str, Floats, bool]]:
        """Yield for each word its part in the scores of some documents of a segment; added words come last."""
        norms = K1 * (1 - B + B * lists.lengths[rows].astype(np.float64) / self.index.average)

        def amount(stem: str, form: str = "") -> Floats:
            times = lists.times_of(lists.places_of(stem, form), rows)
            amounts: Floats = (K1 + 1) * times / (times + norms)
            return amounts

        for term in self.known:
            term_amounts = amount(term.stem) + TYPED_FORM * sum(amount(term.stem, form) for form in term.forms)
            yield term.forms[0], self.weights[term.stem] * term.weight * term_amounts, True
        for stem, (word, weight) in self.added.items():
            yield word, weight * self.index.inverse_document_frequency(stem) * amount(stem), False

    def score_rows(self, rows: Array) -> Floats:
        """Return BM25 of some documents, by their rising rows, with the words of the query; needs no compiled kernel."""
        scores, start = np.zeros(len(rows)), 0
        for lists, segment_rows in split_rows(self.index.segments, rows):
            here = slice(start, start + len(segment_rows))
            for _, amounts, _ in islice(self._iter_amounts(lists, segment_rows), len(self.known)):
                scores[here] += amounts
            start = here.stop
        return scores


def score_forms(index: WordIndex, forms: Sequence[str], rows: Array) -> Floats:
    """Return BM25 of some documents, by their rising rows, with words that count as one, such as those of a prefix."""
    stems = list(dict.fromkeys(index.keys(forms)))
    n_documents = min(len(index), sum(map(index.n_documents, stems)))
    weight = float(compute_information(len(index), np.array(n_documents, np.float64)))
    scores = []
    for lists, segment_rows in split_rows(index.segments, rows):
        times = sum(
            (lists.times_of(lists.places_of(stem), segment_rows) for stem in stems), np.zeros(len(segment_rows))
        )
        norms = K1 * (1 - B + B * lists.lengths[segment_rows].astype(np.float64) / index.average)
        scores.append(weight * (K1 + 1) * times / (times + norms))
    return np.concatenate([np.empty(0), *scores])
