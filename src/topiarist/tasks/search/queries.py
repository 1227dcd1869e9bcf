"""A query: from a text, counts or a document to what each model wants to meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.counts.counting import count_in
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.kernels.search import SearchKernels, Wanted
from topiarist.models import fisher
from topiarist.models.engine import Engine, Floats
from topiarist.models.fisher import Lens
from topiarist.text.stems import stems
from topiarist.text.stop_words import resolve_stop_words

NO_WORDS = "this index was made of counts without their words: give counts, or build it from a Corpus"


@dataclass(frozen=True)
class Query:
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

    def __call__(self, text: str) -> Query:
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
        columns = np.array(sorted(found), np.int64)
        return Query(columns, np.array([found[column] for column in columns.tolist()], np.float64), tuple(unknown))


def query_of(given: Any, n_words: int, reader: TextReader | None) -> Query:
    """The query that something stands for: a text, a mapping from words to counts, or one row of counts."""
    if isinstance(given, Query):
        return given
    if isinstance(given, str | Mapping):
        if reader is None:
            raise UsageError(f"a query in words needs the words of the index: {NO_WORDS}", hint="Corpus.from_documents")
        if isinstance(given, str):
            return reader(given)
        columns = {word: reader.vocabulary.column(word) for word in given}
        known = {column: float(given[word]) for word, column in columns.items() if column is not None}
        order = np.array(sorted(known), np.int64)
        unknown = tuple(word for word, column in columns.items() if column is None)
        return Query(order, np.array([known[column] for column in order.tolist()]), unknown)
    row = given[None, :] if isinstance(given, np.ndarray) and given.ndim == 1 else given
    counts = check_counts(row, name="the query")
    if counts.shape != (1, n_words):
        raise InputError(
            f"a query must be one row of counts of the {n_words} words of this index, got {counts.shape[0]} rows of "
            f"{counts.shape[1]}",
            hint="count it with the vocabulary of the index, or give a text",
        )
    return Query(counts.indices.astype(np.int64), counts.data.astype(np.float64))


@dataclass(frozen=True)
class View:
    """A query through one lens: P(α|q), what it wants, and the scales of its parts."""

    lens: Lens  # of the query's words alone
    row: Floats
    topical: Floats  # unscaled features
    scales: tuple[float, float]
    wanted: Wanted


def views(
    engine: Engine, kernels: SearchKernels, lenses: Sequence[Lens], query: Query,
    parts: Sequence[Sequence[str]], normalise: str | None, dtype: Any,
) -> list[View]:  # fmt: skip
    """The query through every lens; ``parts`` are those of each of them."""
    counts, found = query.matrix, []
    for lens, of_lens in zip(lenses, parts, strict=True):
        own = lens.narrowed(query.columns)
        row = fisher.read(engine, own, counts)
        topical = fisher.topical(engine, own, counts, row)
        lengths = (
            float((topical**2).sum()) if "topical" in of_lens else 0.0,
            float(fisher.lexical_lengths(engine, kernels, own, counts, row)[0]) if "lexical" in of_lens else 0.0,
        )
        found.append((lens, own, row, topical[0], lengths))
    whole = sum(sum(lengths) for *_, lengths in found)
    result = []
    for of_lens, (lens, own, row, topical, lengths) in zip(parts, found, strict=True):
        scales = tuple(_scale(length, normalise, whole) * (length > 0) for length in lengths)
        words = np.arange(len(query.columns))
        meet, mixture = fisher.meeting(own, words, np.broadcast_to(row, (len(words), row.shape[1])))
        meet = meet * (scales[1] * query.shares)[:, None]
        topics = scales[0] * topical
        if lens.class_information is None:
            topics = fisher.divided(topics, np.sqrt(np.asarray(lens.class_prior, np.float64)))
        columns = query.columns if "lexical" in of_lens else query.columns[:0]
        wanted = Wanted(
            columns,
            np.ascontiguousarray(meet[: len(columns)], dtype),
            np.ascontiguousarray(mixture[: len(columns)], dtype),
            topics.astype(dtype) if "topical" in of_lens else np.empty(0, dtype),
        )
        result.append(View(own, row[0], topical, (scales[0], scales[1]), wanted))
    return result


def _scale(length: float, normalise: str | None, whole: float) -> float:
    if normalise is None:
        return 1.0
    square = length if normalise == "parts" else whole
    return 1.0 / float(np.sqrt(square)) if square > 0 else 0.0
