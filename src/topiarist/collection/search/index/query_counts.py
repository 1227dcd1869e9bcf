"""Columns and counts of a query: a text, or a row of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Floats
from topiarist.counts.counting import count_in
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.text.stems import find_stems
from topiarist.text.stop_words import resolve_stop_words

NO_WORDS = "this index was made of counts without their words: give counts, or build it from a Corpus"


@dataclass(frozen=True)
class QueryCounts:
    """Columns and counts of the known words of a query, and its unknown words."""

    columns: Any
    counts: Any
    unknown: tuple[str, ...] = ()

    @property
    def matrix(self) -> Any:
        """Counts as a matrix of one row with these words only."""
        n = len(self.columns)
        return csr_array((self.counts, np.arange(n, dtype=np.int32), np.array([0, n], np.int32)), shape=(1, n))

    @property
    def shares(self) -> Floats:
        """Share of each word in the query: p̂(j|q)."""
        shares: Floats = self.counts / max(float(self.counts.sum()), 1e-300)
        return shares


class TextReader:
    """Reader of queries that counts texts as the documents were counted; one lookup table serves all queries."""

    def __init__(self, vocabulary: Vocabulary, settings: CountSettings) -> None:
        self.vocabulary, self.settings = vocabulary, settings

    @cached_property
    def _stop_words(self) -> Any:
        return resolve_stop_words(self.settings.stop_words)

    @cached_property
    def _column(self) -> Callable[[str], int | None]:
        """Function from a word to its column, by the word itself or by its stem."""
        columns = self.vocabulary.columns
        language = self.settings.stem
        if language is None:
            return columns.get
        by_stem = {stem: column for column, stem in enumerate(find_stems(self.vocabulary.words, language))}
        return lambda word: columns.get(word, by_stem.get(find_stems([word], language)[0]))

    def __call__(self, text: str) -> QueryCounts:
        """Return the counts of a text."""
        return self._count(self.settings.tokenizer(text), text)

    def count(self, tokens: Sequence[str]) -> QueryCounts:
        """Return the counts of tokens; the vocabulary may ignore tokens by its settings."""
        return self._count(filter(self.settings.tokenizer.is_word, tokens), " ".join(tokens))

    def _count(self, tokens: Iterable[str], text: str) -> QueryCounts:
        """Return the counts of known words and the unknown words; phrases are counted from ``text``."""
        times = Counter(word for word in tokens if word not in self._stop_words)
        column_counts: Counter[int] = Counter()
        unknown = []
        for word, number in times.items():
            column = self._column(word)
            if column is None:
                unknown.append(word)
            else:
                column_counts[column] += number
        if self.vocabulary.phrases:
            row = count_in([text], self.vocabulary, self.settings)
            joined = {part for column in row.indices.tolist() for part in self.vocabulary[column].split()}
            unknown = [word for word in unknown if word not in joined]
            column_counts = Counter(dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)))
        return _sort_counts(column_counts, unknown)


def read_query(query: Any, n_words: int, reader: TextReader | None) -> QueryCounts:
    """Return the counts of a query: a text, or one row of counts.

    Stop words and words outside the vocabulary are ignored. A query without other words resembles no document.
    """
    if isinstance(query, QueryCounts):
        return query
    if isinstance(query, str):
        if reader is None:
            raise UsageError(
                f"a query in words needs the words of the index: {NO_WORDS}",
                hint="Build the index from Corpus.from_documents(texts).",
            )
        return reader(query)
    if not hasattr(query, "shape"):
        raise UsageError(
            f"expected a text or one row of counts as query, got {type(query).__name__}",
            hint="Call search('dark matter').",
        )
    row: Any = query if issparse(query) else np.atleast_2d(query)
    counts = check_counts(row, name="the query")
    if counts.shape != (1, n_words):
        raise InputError(
            f"a query must be one row of counts of the {n_words} words of this index, got {counts.shape[0]} rows of "
            f"{counts.shape[1]}",
            hint="Count the query with the vocabulary of the index, or pass a text.",
        )
    return QueryCounts(counts.indices.astype(np.int64), counts.data.astype(np.float64))


def _sort_counts(counts_by_column: Mapping[int, float], unknown: Iterable[str]) -> QueryCounts:
    columns = sorted(counts_by_column)
    counts = np.array([counts_by_column[column] for column in columns], np.float64)
    return QueryCounts(np.array(columns, np.int64), counts, tuple(unknown))
