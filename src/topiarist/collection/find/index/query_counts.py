"""A query as an index counts it: a text, a mapping or a row of counts as columns of words and their counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Floats
from topiarist.counts.counting import count_in
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import LARGEST_TOTAL, check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.text.stems import stems
from topiarist.text.stop_words import resolve_stop_words

NO_WORDS = "this index was made of counts without their words: give counts, or build it from a Corpus"


@dataclass(frozen=True)
class QueryCounts:
    """The columns of its words and how often they occur; words that nobody knows."""

    columns: Any
    counts: Any
    unknown: tuple[str, ...] = ()

    @property
    def matrix(self) -> Any:
        """One row, of these words alone."""
        n = len(self.columns)
        return csr_array((self.counts, np.arange(n, dtype=np.int32), np.array([0, n], np.int32)), shape=(1, n))

    @property
    def shares(self) -> Floats:
        """p̂(j|q)."""
        shares: Floats = self.counts / max(float(self.counts.sum()), 1e-300)
        return shares


class TextReader:
    """Texts to queries, counted as the documents were. Looks words up, one table for all queries."""

    def __init__(self, vocabulary: Vocabulary, settings: CountSettings) -> None:
        self.vocabulary, self.settings = vocabulary, settings

    @cached_property
    def _stop_words(self) -> Any:
        return resolve_stop_words(self.settings.stop_words)

    @cached_property
    def _column(self) -> Callable[[str], int | None]:
        columns = self.vocabulary.columns
        language = self.settings.stem
        if language is None:
            return columns.get
        by_stem = {stem: column for column, stem in enumerate(stems(self.vocabulary.words, language))}
        return lambda word: columns.get(word, by_stem.get(stems([word], language)[0]))

    def __call__(self, text: str) -> QueryCounts:
        """The query that a text stands for."""
        times = Counter(word for word in self.settings.tokenizer(text) if word not in self._stop_words)
        found: Counter[int] = Counter()
        unknown = []
        for word, number in times.items():
            column = self._column(word)
            if column is None:
                unknown.append(word)
            else:
                found[column] += number
        if self.vocabulary.phrases:
            row = count_in([text], self.vocabulary, self.settings)
            joined = {part for column in row.indices.tolist() for part in self.vocabulary[column].split()}
            unknown = [word for word in unknown if word not in joined]
            found = Counter(dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)))
        return _in_order(found, unknown)


def query_of(given: Any, n_words: int, reader: TextReader | None) -> QueryCounts:
    """The query that something stands for: a text, a mapping from words to counts, or one row of counts.

    A word that does not count is no word of the query; a query may be left with none, and then is like nothing.
    """
    if isinstance(given, QueryCounts):
        return given
    if isinstance(given, str | Mapping):
        if reader is None:
            raise UsageError(f"a query in words needs the words of the index: {NO_WORDS}", hint="Corpus.from_documents")
        return reader(given) if isinstance(given, str) else _of_mapping(given, reader)
    counts = check_counts(_row(given), name="the query")
    if counts.shape != (1, n_words):
        raise InputError(
            f"a query must be one row of counts of the {n_words} words of this index, got {counts.shape[0]} rows of "
            f"{counts.shape[1]}",
            hint="count it with the vocabulary of the index, or give a text",
        )
    return QueryCounts(counts.indices.astype(np.int64), counts.data.astype(np.float64))


def _of_mapping(given: Mapping[Any, Any], reader: TextReader) -> QueryCounts:
    """Each key is read as a text is; keys that meet in one word add up."""
    found: dict[int, float] = {}
    unknown: list[str] = []
    for word, number in given.items():
        if not isinstance(word, str):
            raise InputError(f"a query maps words to counts; {word!r} is no word", hint="{'bank': 2, 'river': 1}")
        times = math.nan if isinstance(number, bool) or not isinstance(number, Real) else float(number)
        if not 0 <= times <= LARGEST_TOTAL:
            raise InputError(
                f"{word!r} cannot occur {number!r} times: a count is finite, at least 0 and at most {LARGEST_TOTAL:g}",
                hint="{'bank': 2, 'river': 1}",
            )
        if not times:
            continue
        column = reader.vocabulary.column(word)
        read = QueryCounts(np.array([column]), np.ones(1)) if column is not None else reader(word)
        for place, often in zip(read.columns.tolist(), read.counts.tolist(), strict=True):
            found[place] = found.get(place, 0.0) + times * often
        unknown += read.unknown if len(read.columns) or read.unknown else (word,)
    return _in_order(found, dict.fromkeys(unknown))


def _in_order(found: Mapping[int, float], unknown: Iterable[str]) -> QueryCounts:
    """The query of some columns and how often each occurs."""
    columns = sorted(found)
    counts = np.array([found[column] for column in columns], np.float64)
    return QueryCounts(np.array(columns, np.int64), counts, tuple(unknown))


def _row(given: Any) -> Any:
    """Counts as a matrix of one row; anything that is no row of numbers is named."""
    if issparse(given):
        return given
    if not hasattr(given, "dtype") and not isinstance(given, list | tuple) and not hasattr(given, "to_numpy"):
        raise _no_query(given)
    try:
        row = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise _no_query(given) from error
    if row.dtype.kind not in "iufb" or row.ndim not in (1, 2) or not row.size:
        raise _no_query(given)
    return row[None, :] if row.ndim == 1 else row


def _no_query(given: Any) -> UsageError:
    return UsageError(
        f"a query is a text, a mapping from words to counts or one row of counts; got {type(given).__name__}",
        hint="search('dark matter')",
    )
