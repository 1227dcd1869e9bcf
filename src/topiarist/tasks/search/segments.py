"""Documents laid out for search: postings, the rows of every model, scales. Written once, added to by more of them.

A segment never changes. Scoring goes over blocks of documents whose rows stay in a core's cache while the postings of
the query's words are looked up; a block owns its documents, so that any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.counts.validation import Csr, token_counts
from topiarist.errors import InputError
from topiarist.kernels.search import Postings, SearchKernels, Wanted
from topiarist.models import fisher, fisher_matrix
from topiarist.models.engine import Engine, Floats
from topiarist.models.fisher import Lens
from topiarist.scale.threads import Threads

BLOCK = 4096  # documents
K1, B = 1.2, 0.75  # of BM25, as in most programs


@dataclass(frozen=True)
class Documents:
    """What is known of the documents of a segment; empty where nothing is."""

    ids: tuple[str, ...]
    titles: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Segment:
    """Documents as the search reads them; per model in the order of the lenses."""

    documents: Documents
    postings: Postings
    lengths: Any  # tokens of each document
    rows: tuple[Any, ...]  # P(α|d)
    topical: tuple[Any, ...]  # the scores of topics, where they are more than rows times a constant; else the rows
    scales: tuple[Any, ...]  # (documents, 2): of topics, and of words for each token
    nodes: Any = field(default_factory=lambda: np.empty(0, np.int32))  # of the tree, if there is one

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def frequency(self) -> Any:
        """In how many documents each word occurs."""
        return np.diff(self.postings.ends)

    @cached_property
    def label_rows(self) -> dict[str, Any]:
        """The documents of each label."""
        found: dict[str, list[int]] = {}
        for row, labels in enumerate(self.documents.labels):
            for label in labels:
                found.setdefault(label, []).append(row)
        return {label: np.array(rows) for label, rows in found.items()}

    @property
    def blocks(self) -> list[slice]:
        """Runs of documents."""
        return [slice(start, min(start + BLOCK, len(self))) for start in range(0, len(self), BLOCK)]

    def by_meaning(self, kernels: SearchKernels, wanted: Sequence[Wanted], threads: Threads) -> Floats:
        """The kernel of every document with a query."""
        out = np.zeros(len(self))

        def block(here: slice) -> None:
            for want, rows, topical, scales in zip(wanted, self.rows, self.topical, self.scales, strict=True):
                kernels.score_meaning(
                    self.postings, want, rows[here], topical[here], scales[here], here.start, out[here]
                )

        threads.map(block, self.blocks)
        return out

    def by_words(
        self, kernels: SearchKernels, columns: Any, weights: Floats, average: float, threads: Threads
    ) -> Floats:
        """BM25 of every document (F7); ``weights`` are those of the query's words."""
        out = np.zeros(len(self))

        def block(here: slice) -> None:
            norms = K1 * (1 - B + B * self.lengths[here] / average)
            kernels.score_words(self.postings, columns, weights, norms, here.start, out[here])

        threads.map(block, self.blocks)
        return out

    def counts_of(self, row: int, columns: Any) -> Floats:
        """How often a document has some words."""
        found = np.zeros(len(columns))
        for place, column in enumerate(columns):
            first, last = self.postings.ends[column], self.postings.ends[column + 1]
            at = first + np.searchsorted(self.postings.docs[first:last], row)
            if at < last and self.postings.docs[at] == row:
                found[place] = self.postings.counts[at]
        return found

    def words_of(self, row: int) -> tuple[Any, Floats]:
        """The columns of a document's words, and how often it has them: one look at all postings."""
        places = np.flatnonzero(self.postings.docs == row)
        columns = np.searchsorted(self.postings.ends, places, side="right") - 1
        return columns.astype(np.int64), self.postings.counts[places].astype(np.float64)


def check_words(known: int, counted: int) -> None:
    """Models and counts must be of one vocabulary."""
    if counted != known:
        raise InputError(
            f"the models know {known} words, the documents were counted with {counted}",
            hint="count them with the vocabulary of the index: corpus.vectorise(texts)",
        )


def segment_of(
    engine: Engine, kernels: SearchKernels, lenses: Sequence[Lens], counts: Csr, documents: Documents,
    parts: Sequence[Sequence[str]], normalise: str | None, dtype: Any,
) -> Segment:  # fmt: skip
    """Read documents through all lenses, and lay them out."""
    check_words(len(lenses[0].by_word), counts.shape[1])
    rows, topical, lengths = [], [], []
    for lens, of_lens in zip(lenses, parts, strict=True):
        own = np.ascontiguousarray(fisher.read(engine, lens, counts), dtype)
        scores = fisher.topical(engine, lens, counts, own)
        rows.append(own)
        topical.append(own if lens.class_information is None else np.ascontiguousarray(scores, dtype))
        of_topics: Floats = (scores**2).sum(axis=1) if "topical" in of_lens else np.zeros(len(own))
        of_words: Floats = np.zeros(len(own))
        if "lexical" in of_lens:
            of_words = fisher.lexical_lengths(engine, kernels, lens, counts, own)
        lengths.append((of_topics, of_words))
    whole = np.sum([of_topics + of_words for of_topics, of_words in lengths], axis=0)
    tokens = token_counts(counts)
    scales = []
    for pair in lengths:
        both = [_scale(length, normalise, whole) for length in pair]
        scales.append(np.column_stack([both[0], fisher.divided(both[1], tokens)]))
    index = fisher_matrix.postings(counts, dtype)
    return Segment(documents, index, tokens, tuple(rows), tuple(topical), tuple(scales))


def _scale(lengths: Floats, normalise: str | None, whole: Floats) -> Floats:
    if normalise is None:
        return np.ones(len(lengths))
    return fisher.divided(np.ones(len(lengths)), np.sqrt(lengths if normalise == "parts" else whole))
