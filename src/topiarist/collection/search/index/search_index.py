"""Search index: a Fisher kernel over all documents of a collection, answered in milliseconds, with explanations.

An index is a value. ``add`` returns one with more documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.search.index.index_folder import (
    IndexLocation,
    WrittenSegment,
    list_written_segments,
    open_index,
    write_index,
    write_unlisted_segment,
)
from topiarist.collection.search.index.kernel_scorer import KernelScorer
from topiarist.collection.search.index.query_counts import NO_WORDS, QueryCounts, TextReader, read_query
from topiarist.collection.search.index.ranking import compute_information
from topiarist.collection.search.index.segments import (
    MAX_SHORT_DOCUMENTS,
    Segment,
    build_segment,
    check_word_count,
    join_segments,
    select_from_segment,
)
from topiarist.collection.search.index.topics import Shape, Step, Words, descend_tree, list_topic_words
from topiarist.collection.search.results import Explanation
from topiarist.collection.search.segment_rows import count_unchanged_segments, select_documents
from topiarist.collection.search.words.near_spellings import NearSpellings
from topiarist.counts.corpus import Corpus, build_counted_text
from topiarist.counts.counting import count_in
from topiarist.counts.scratch import iterate_rows, split_range
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.estimators.common import options
from topiarist.estimators.similarity.lenses import list_kernel_sets, make_kernel_view, tree_of
from topiarist.execution.threads import Threads
from topiarist.models.engine import load_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.fisher.matrix import make_plain_view
from topiarist.models.fisher.scores import KernelView
from topiarist.text.documents import Document

PARTS = ("topical", "lexical", "plain")
NO_KNOWN_WORDS = "the query has no words to look for: all are too rare, stop words, or new since the models were fitted"
RUN = MAX_SHORT_DOCUMENTS  # documents of a segment that is written


@dataclass(frozen=True, eq=False)
class SearchIndex:
    """Documents to search by meaning (Fisher kernel), by words (BM25) or both. Made by ``build``, ``open`` or ``add``.

    ``search`` answers a text or a row of counts with rows of documents. Every document is scored: there is no
    approximation, unless a ``shortlist`` selects candidates.
    """

    lenses: tuple[KernelView, ...]
    segments: tuple[Segment, ...]
    parts: tuple[tuple[str, ...], ...]  # of each lens
    normalise: str | None = "parts"
    dtype: str = "float64"
    vocabulary: Vocabulary | None = None
    settings: CountSettings = field(default_factory=CountSettings)
    shape: Shape | None = None
    topic_words: tuple[Words, ...] = ()  # of each lens
    class_words: tuple[Words, ...] = ()
    location: IndexLocation | None = None
    n_threads: int | None = None
    shortlist: Any = None  # selects the documents to score; None: all

    @classmethod
    def build(cls, kernel: Any, documents: Any, *, dtype: Any = None, n_threads: int | None = None) -> SearchIndex:
        """Index documents for a ``FisherKernel`` that is fitted, or whose models are.

        ``documents`` is a ``Corpus`` or a matrix of counts (then queries are counts as well). ``dtype``: "float64",
        "float32" (an eighth of the memory, shares in one byte), or None: by size.
        """
        if not callable(getattr(kernel, "prepare", None)):
            raise UsageError(
                f"expected a FisherKernel, got {type(kernel).__name__}", hint="Pass FisherKernel().fit(counts)."
            )
        counts = documents.counts if isinstance(documents, Corpus) else check_counts(documents, name="the documents")
        index = _create_empty_index(kernel.prepare(), documents, counts, dtype, n_threads)
        return replace(index, segments=(index._segment(counts),))

    @classmethod
    def write(
        cls, kernel: Any, corpus: Corpus, folder: str | Path, *, n_threads: int | None = None,
        indexer: Callable[[Iterable[slice]], Iterable[WrittenSegment]] | None = None,
    ) -> None:  # fmt: skip
        """Index a corpus in a new folder, with a run of documents in memory at a time.

        Documents are identified by their rows only. ``indexer`` writes all runs but the first on cluster workers: it
        receives their rows and returns in order what ``write_run`` returned for each.
        """
        index, place = _create_empty_index(kernel.prepare(), corpus, corpus.counts, None, n_threads), Path(folder)
        segments = (index._segment(counts) for _, counts in iterate_rows(corpus.counts, RUN))
        write_index(index, place, segments if indexer is None else islice(segments, 1))
        if indexer is not None:
            n_indexed = list_written_segments(place, indexer(islice(split_range(corpus.n_docs, RUN), 1, None)))
            if n_indexed != max(corpus.n_docs - RUN, 0):
                raise DamagedError(
                    f"workers indexed {n_indexed:,} documents, expected {corpus.n_docs - RUN:,}", hint="Grow again."
                )

    def write_run(self, counts: Any) -> WrittenSegment:
        """Write counts as a new segment to the index folder; raise UsageError for an index in memory."""
        if self.location is None:
            raise UsageError(
                "an index in memory has no folder to write to", hint="Open the index with SearchIndex.open."
            )
        return write_unlisted_segment(self.location.folder, self._segment(counts))

    @classmethod
    def open(cls, folder: str | Path, *, check: bool = True, n_threads: int | None = None) -> SearchIndex:
        """Open an index that ``save`` wrote, memory-mapped.

        ``check=False`` skips checksums and the check of every number. Places in memory are checked in any case.
        """
        index: SearchIndex = open_index(cls, Path(folder), check=check)
        return replace(index, n_threads=n_threads)

    def save(self, folder: str | Path) -> SearchIndex:
        """Write the index to a new folder, and return it as opened from there."""
        write_index(self, Path(folder))
        return self.open(folder, check=False, n_threads=self.n_threads)

    def add(self, documents: Sequence[Document]) -> SearchIndex:
        """Return the index with more documents, read by the unchanged models; ``save`` writes it to a new folder.

        Raise UsageError for an index without a vocabulary.
        """
        if self.vocabulary is None:
            raise UsageError(
                f"documents cannot be counted: {NO_WORDS}", hint="Build the index from Corpus.from_documents(texts)."
            )
        if not documents:
            return self
        texts = (build_counted_text(document, self.settings.titles) for document in documents)
        made = self._segment(check_counts(count_in(texts, self.vocabulary, self.settings)))
        stay = count_unchanged_segments(self.segments, len(made))
        tail = join_segments([*self.segments[stay:], made])
        return replace(self, segments=(*self.segments[:stay], tail), location=None, shortlist=None)

    def among(self, keep: Any) -> SearchIndex:
        """Return an index of the documents in the mask ``keep``, without a folder."""
        segments = select_documents(self.segments, keep, select_from_segment)
        return replace(self, segments=segments, location=None, shortlist=None)

    def _segment(self, counts: Any) -> Segment:
        return build_segment(
            self._engine, self.lenses, counts,
            parts=self.parts, normalise=self.normalise, dtype=np.dtype(self.dtype), shape=self.shape,
        )  # fmt: skip

    @property
    def folder(self) -> Path | None:
        """Folder of a saved index."""
        return None if self.location is None else self.location.folder

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    def __repr__(self) -> str:
        sizes = ", ".join(str(lens.n_classes) for lens in self.lenses)
        return f"<SearchIndex of {len(self):,} documents, {self.n_words:,} words, models of {sizes} classes>"

    @property
    def n_words(self) -> int:
        """Number of words that the models know."""
        return len(self.lenses[0].by_word)

    @property
    def threads(self) -> Threads:
        """Threads that score documents."""
        return self._engine.threads

    @cached_property
    def _engine(self) -> Engine:
        for dtype in ("float64", self.dtype):  # queries are always read in double precision
            prepare_kernels(dtype, *list_kernel_sets(self.lenses))
        return Engine(load_kernels(), Threads(self.n_threads))

    @cached_property
    def _reader(self) -> TextReader | None:
        return None if self.vocabulary is None else TextReader(self.vocabulary, self.settings)

    @cached_property
    def spellings(self) -> NearSpellings:
        """Words of the vocabulary, for near spellings of unknown words."""
        assert self.vocabulary is not None  # noqa: S101
        return NearSpellings.of(self.vocabulary.words, self.vocabulary.document_frequency, accents=True)

    @cached_property
    def word_information(self) -> Floats:
        """Inverse document frequency of each word: log(1 + (N − n_j + ½)/(n_j + ½))."""
        holding = np.zeros(self.n_words)
        for segment in self.segments:
            holding[slice(None) if segment.words is None else segment.words] += np.diff(segment.postings.ends)
        return compute_information(len(self), holding)

    @cached_property
    def average_length(self) -> float:
        """Mean number of tokens of a document."""
        tokens = sum(float(np.sum(segment.lengths, dtype=np.float64)) for segment in self.segments)
        return max(tokens / max(1, len(self)), 1e-300)

    def search(self, query: Any, n: int = 10, *, by: str = "meaning") -> list[tuple[int, float]]:
        """Return rows and scores of the ``n`` documents most similar to a query, best first.

        ``by``: "meaning", "words" (BM25) or "both". Documents without a positive score are left out.
        """
        options.check_integer("n", n, 1)
        rows, scores = KernelScorer(self, query, by).rank().slice(n)
        return list(zip(rows.tolist(), scores.tolist(), strict=True))

    def read(self, query: Any) -> QueryCounts:
        """Return the columns and counts of a text, a mapping or a row of counts."""
        return read_query(query, self.n_words, self._reader)

    def count_tokens(self, tokens: Sequence[str]) -> QueryCounts:
        """Return the columns and counts of tokens; tokens that the models do not count are left out.

        Raise UsageError for an index without words.
        """
        if self._reader is None:
            raise UsageError(
                f"a query in words needs the words of the index: {NO_WORDS}",
                hint="Build the index from Corpus.from_documents(texts).",
            )
        return self._reader.count(tokens)

    def scores(self, query: Any, *, by: str = "meaning") -> Floats:
        """Return the scores of all documents; zeros for a query without known words."""
        return KernelScorer(self, query, by).scores

    def explain(self, query: Any, row: int, *, by: str = "meaning") -> Explanation:
        """Explain the score of a document by words in their sense and by topics, whose amounts add up to it."""
        return KernelScorer(self, query, by).explain(row)

    def descend(self, query: Any, node: Any = None) -> tuple[Step, ...]:
        """Return the path of a query down the tree: steps with branches, their words and probabilities.

        With ``node`` (number, name or path), return only the step at that node. Without known words there is no path.
        """
        if self.shape is None:
            raise UsageError(
                "none of the models of this index has a tree", hint="Use FisherKernel([1, 64, CAM().fit(counts)])."
            )
        scorer = KernelScorer(self, query)
        if scorer.is_empty:
            raise InputError(NO_KNOWN_WORDS, hint="Use one or more words of the subject.")
        row = scorer.views[self.shape.model].row
        return descend_tree(self.shape, row, [segment.nodes for segment in self.segments], node)


def _create_empty_index(
    kernel: Any, documents: Any, counts: Any, dtype: Any, n_threads: int | None
) -> SearchIndex:  # fmt: skip
    """Return an index without documents: models, words and settings."""
    wrong = [part for part in kernel._parts if part not in PARTS]
    if wrong:
        raise UsageError(f"an index cannot search by {wrong[0]!r}", hint=f"Use parts from {PARTS}.")
    lenses, shape = kernel.lenses_, None
    vocabulary = getattr(documents, "vocabulary", None)
    if vocabulary is not None:
        check_word_count(len(lenses[0].by_word), len(vocabulary))
    words = vocabulary.words if vocabulary is not None else None
    precision = options.choose_precision(dtype, int(counts.nnz), 1.0, sum(lens.n_classes for lens in lenses))
    topic_words, class_words = [], []
    for number, (model, lens) in enumerate(zip(kernel.models_, lenses, strict=True)):
        model_tree = tree_of(model)
        of_topics, of_classes = list_topic_words(lens, model_tree, words)
        if model_tree is not None and shape is None:
            shape = Shape(model_tree[0], model_tree[1], number, of_topics)
        topic_words.append(of_topics)
        class_words.append(of_classes)
    if precision != np.float64:
        lenses = [
            _to_single_precision(make_kernel_view(model, precision), lens)
            for model, lens in zip(kernel.models_, lenses, strict=True)
        ]
    parts = [tuple(part for part in kernel._parts if part != "plain")] * len(lenses)
    if "plain" in kernel._parts:
        parts.append(("lexical",))
        lenses.append(make_plain_view(len(lenses[0].by_word)))
        topic_words.append(((),))
        class_words.append(((),))
    settings = getattr(documents, "settings", None)
    return SearchIndex(
        lenses=tuple(lenses), segments=(), parts=tuple(parts), normalise=kernel.normalise, dtype=precision.name,
        vocabulary=vocabulary, **({} if settings is None else {"settings": settings}), shape=shape,
        topic_words=tuple(topic_words), class_words=tuple(class_words), n_threads=n_threads,
    )  # fmt: skip


def _to_single_precision(single: KernelView, lens: KernelView) -> KernelView:
    """Return a lens in single precision, with the information of another."""
    field_names = ("word_information", "class_information", "row_scores")
    return replace(single, **{name: getattr(lens, name) for name in field_names})
