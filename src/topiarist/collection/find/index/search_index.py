"""The search index: a Fisher kernel over all documents of a collection, answered in milliseconds, with reasons.

An index is a value. ``add`` gives one with more documents; an index that lies in a folder keeps them there too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.find.index import answers, ranking
from topiarist.collection.find.index.answers import Answer, Explanation, Step
from topiarist.collection.find.index.index_folder import (
    Kept,
    Written,
    add_written,
    append,
    open_index,
    write_beside,
    write_index,
)
from topiarist.collection.find.index.query_counts import NO_WORDS, QueryCounts, TextReader, query_of
from topiarist.collection.find.index.question import Question
from topiarist.collection.find.index.segments import (
    SHORT,
    Documents,
    Segment,
    check_words,
    joined,
    kept,
    n_staying,
    segment_of,
)
from topiarist.collection.find.index.topics import Shape, Words, no_tree, told, walk
from topiarist.counts.corpus import Corpus, text_of
from topiarist.counts.counting import count_in
from topiarist.counts.room import row_runs, runs
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.estimators.common import options
from topiarist.estimators.similarity.lenses import kernel_sets, lens_of, tree_of
from topiarist.models.engine import load_kernels, load_search_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.fisher.matrix import plain_lens
from topiarist.models.fisher.scores import Lens
from topiarist.scale.blocks import BlockStore
from topiarist.scale.threads import Threads
from topiarist.text.documents import Document

PARTS = ("topical", "lexical", "plain")
RUN = SHORT  # documents of a segment that is written


@dataclass(frozen=True, eq=False)
class SearchIndex:
    """Documents to search by meaning (Fisher kernel), by words (BM25) or both. Made by ``build``, ``open`` or ``add``.

    ``search`` answers a text, a mapping from words to counts, or a row of counts; ``similar`` a document of the index.
    Every document is scored: there is no approximation, unless a ``shortlist`` says whom to look at.
    """

    lenses: tuple[Lens, ...]
    segments: tuple[Segment, ...]
    parts: tuple[tuple[str, ...], ...]  # of each lens
    normalise: str | None = "parts"
    dtype: str = "float64"
    vocabulary: Vocabulary | None = None
    settings: CountSettings = field(default_factory=CountSettings)
    shape: Shape | None = None
    topic_words: tuple[Words, ...] = ()  # of each lens
    class_words: tuple[Words, ...] = ()
    kept: Kept | None = None
    n_threads: int | None = None
    shortlist: Any = None  # which documents a question looks at, see ``find.shortlist``; None: all

    @classmethod
    def build(cls, kernel: Any, documents: Any, *, dtype: Any = None, n_threads: int | None = None) -> SearchIndex:
        """Index documents for a ``FisherKernel`` that is fitted, or whose models are.

        ``documents`` is a ``Corpus``, a ``BlockStore`` or a matrix of counts (then queries are counts as well).
        ``dtype``: "float64", "float32" (an eighth of the memory: of a document's shares, half of its largest is read to
        half a percent, a hundredth of that to four, less than a four-millionth not at all), or None: by size.
        """
        if not callable(getattr(kernel, "prepared", None)):
            raise UsageError(f"expected a FisherKernel, got {type(kernel).__name__}", hint="FisherKernel().fit(counts)")
        index = _without_documents(kernel.prepared(), documents, dtype, n_threads)
        if isinstance(documents, BlockStore):
            ids = list(documents.ids()) or [str(row) for row in range(len(documents))]
            for block in documents.blocks():
                start = len(index)
                made = index._segment(block.counts(), Documents(tuple(ids[start : start + block.shape[0]])))
                index = replace(index, segments=(*index.segments, made))
            return index
        return index.add(documents)

    @classmethod
    def write(
        cls, kernel: Any, corpus: Corpus, folder: str | Path, *, n_threads: int | None = None,
        elsewhere: Callable[[Iterable[slice]], Iterable[Written]] | None = None,
    ) -> None:  # fmt: skip
        """Index a corpus in a new folder, a run of documents in memory at a time.

        Its documents are known by their rows alone: whoever writes it knows what they are called. ``elsewhere`` has
        others write all runs but the first: given their rows, what ``write_run`` returned for each, in their order.
        """
        index, place = _without_documents(kernel.prepared(), corpus, None, n_threads), Path(folder)
        made = (index._segment(counts, Documents()) for _, counts in row_runs(corpus.counts, RUN))
        write_index(index, place, made if elsewhere is None else islice(made, 1))
        if elsewhere is not None:
            there = add_written(place, elsewhere(islice(runs(corpus.n_docs, RUN), 1, None)))
            if there != max(corpus.n_docs - RUN, 0):
                raise DamagedError(
                    f"others have indexed {there:,} documents and not {corpus.n_docs - RUN:,}", hint="grow again"
                )

    def write_run(self, counts: Any) -> Written:
        """Write some documents into the folder of an index that is being written: see ``write``."""
        if self.kept is None:
            raise UsageError("an index in memory has no folder to write to", hint="SearchIndex.open")
        return write_beside(self.kept.folder, self._segment(counts, Documents()))

    @classmethod
    def open(cls, folder: str | Path, *, check: bool = True, n_threads: int | None = None) -> SearchIndex:
        """Open an index that ``save`` wrote, memory-mapped.

        ``check=False`` neither compares checksums nor looks at every number first; what would lead astray in memory is
        looked for in any case.
        """
        index: SearchIndex = open_index(cls, Path(folder), check=check)
        return replace(index, n_threads=n_threads)

    def save(self, folder: str | Path) -> SearchIndex:
        """Write the index to a new folder, and return it as it lies there."""
        write_index(self, Path(folder))
        return self.open(folder, check=False, n_threads=self.n_threads)

    def add(self, documents: Any) -> SearchIndex:
        """The index with more documents, read by the models as they are; kept in its folder, if it has one.

        ``documents`` are ``Document`` objects (such as readers give), which are counted as the others were, a
        ``Corpus`` of the same words, or counts. Where another has added to the folder meanwhile, nothing is written
        and that is said.
        """
        found = _counted(documents, self.vocabulary, self.settings, self.n_words, len(self))
        if found is None:
            return self
        counts, known = found
        made = self._segment(counts, known if self._named else Documents())
        stay = n_staying([len(segment) for segment in self.segments], len(made))
        tail = joined([*self.segments[stay:], made])
        longer = replace(self, segments=(*self.segments[:stay], tail), shortlist=None)
        if self.kept is None:
            return longer
        return replace(longer, kept=append(self.kept, stay, tail))

    def among(self, keep: Any) -> SearchIndex:
        """An index of some of the documents, in no folder yet; ``keep`` says for each row whether it stays."""
        ends = np.cumsum([0, *map(len, self.segments)])
        parts = [kept(one, keep[start:end]) for one, start, end in zip(self.segments, ends, ends[1:], strict=False)]
        some = tuple(one for one in parts if len(one)) or (parts[0],)
        return replace(self, segments=some, kept=None, shortlist=None)

    def _segment(self, counts: Any, known: Documents) -> Segment:
        """Documents laid out; their ids must be new."""
        times = Counter(known.ids)
        twice = sorted(name for name, number in times.items() if number > 1)
        if twice:
            raise InputError(f"{len(twice)} ids come twice, {twice[0]!r} among them", hint="one id for each document")
        there = sorted(name for name in times if any(name in segment.numbers for segment in self.segments))
        if there:
            raise InputError(
                f"{len(there)} documents are in the index already, {there[0]!r} among them",
                hint="other ids, or leave them out",
            )
        return segment_of(
            self._engine, load_search_kernels(), self.lenses, counts, known,
            parts=self.parts, normalise=self.normalise, dtype=np.dtype(self.dtype), shape=self.shape,
        )  # fmt: skip

    @property
    def _named(self) -> bool:
        """Whether its documents have ids."""
        return all(segment.documents.ids or not len(segment) for segment in self.segments)

    @property
    def folder(self) -> Path | None:
        """Where it lies, if it was saved."""
        return None if self.kept is None else self.kept.folder

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    def __repr__(self) -> str:
        sizes = ", ".join(str(lens.n_classes) for lens in self.lenses)
        return f"<SearchIndex of {len(self):,} documents, {self.n_words:,} words, models of {sizes} classes>"

    @property
    def n_words(self) -> int:
        """How many words the models know."""
        return len(self.lenses[0].by_word)

    @property
    def threads(self) -> Threads:
        """Those that answer a question."""
        return self._engine.threads

    @cached_property
    def _engine(self) -> Engine:
        for dtype in ("float64", self.dtype):  # queries are read in double precision, whatever the documents are in
            prepare_kernels(dtype, *kernel_sets(self.lenses))
        return Engine(load_kernels(), Threads(self.n_threads))

    @cached_property
    def _reader(self) -> TextReader | None:
        return None if self.vocabulary is None else TextReader(self.vocabulary, self.settings)

    @cached_property
    def _bm25(self) -> ranking.Bm25:
        return ranking.Bm25.of(self.segments, self.n_words)

    def search(
        self, query: Any, n: int = 10, *, by: str = "meaning", under: Any = None,
        label: str | Iterable[str] | None = None, why: bool = False,
    ) -> Answer:  # fmt: skip
        """The ``n`` documents most similar to a query, best first.

        ``by``: "meaning", "words" (BM25) or "both". ``under``: only documents at or under this node of the tree.
        ``label``: only documents with this label, or one of these. ``why``: each hit with its reasons. A query that
        holds no known word has no hits; the answer says so and suggests near spellings.
        """
        options.check_integer("n", n, 1)
        return self.page(query, n, by=by, allowed=self._allowed(under, label), why=why)

    def similar(
        self, document: str | int, n: int = 10, *, by: str = "meaning", under: Any = None,
        label: str | Iterable[str] | None = None, why: bool = False,
    ) -> Answer:  # fmt: skip
        """The documents most like one of the index, given by its id or its number; it is not among them."""
        options.check_integer("n", n, 1)
        number = self.number(document)
        found = self._allowed(under, label)
        others = np.ones(len(self), bool) if found is None else found
        others[number] = False
        return self.page(self.query_like(number), n, by=by, allowed=others, why=why)

    def page(
        self, query: Any, n: int, offset: int = 0, *, by: str = "meaning", allowed: Any = None, why: bool = False
    ) -> Answer:
        """The ``n`` best documents after the ``offset`` best; ``allowed`` says of each document whether it may be."""
        return Question(self, query, by).page(n, offset, allowed=allowed, why=why)

    def read(self, query: Any) -> QueryCounts:
        """The columns and counts that a text, a mapping or a row of counts stands for."""
        return query_of(query, self.n_words, self._reader)

    def scores(self, query: Any, *, by: str = "meaning") -> Floats:
        """The score of every document, in their order: nothing for a query that holds no known word."""
        return Question(self, query, by).scores

    def explain(self, query: Any, document: str | int, *, by: str = "meaning") -> Explanation:
        """Why a document is similar to a query: the words in their sense and the topics, which add up to the score."""
        return Question(self, query, by).explained(self.number(document))

    def descend(self, query: Any, node: Any = None) -> tuple[Step, ...]:
        """The way of a query down the tree, level by level: each step shows the branches with words and probabilities.

        With ``node`` (number, name or path) only the step at that node: for a person who chooses the way. A query that
        holds no known word has no way down.
        """
        if self.shape is None:
            raise no_tree()
        question = Question(self, query)
        if not len(question.counts.columns):
            raise InputError(answers.nothing(question.counts, question.near))
        row = question.views[self.shape.model].row
        return walk(self.shape, row, [segment.nodes for segment in self.segments], node)

    def number(self, document: str | int) -> int:
        """The number of a document, given by its id or by its number."""
        return ranking.number_of(self.segments, document)

    def query_like(self, document: str | int) -> QueryCounts:
        """A document of the index as a query."""
        segment, row = ranking.located(self.segments, self.number(document))
        return QueryCounts(*segment.words_of(row))

    def _allowed(self, under: Any, label: Any) -> Any:
        if under is not None and self.shape is None:
            raise no_tree()
        below = None if under is None or self.shape is None else self.shape.below(under)
        return ranking.allowed(self.segments, below, label)


def _without_documents(kernel: Any, documents: Any, dtype: Any, n_threads: int | None) -> SearchIndex:
    """An index without documents: models, words and settings."""
    wrong = [part for part in kernel._parts if part not in PARTS]
    if wrong:
        raise UsageError(f"an index cannot search by {wrong[0]!r}", hint=f"parts from {PARTS}")
    lenses, shape = kernel.lenses_, None
    vocabulary = getattr(documents, "vocabulary", None)
    if vocabulary is not None:
        check_words(len(lenses[0].by_word), len(vocabulary))
    words = vocabulary.words if vocabulary is not None else None
    chosen = _precision(documents, dtype, sum(lens.n_classes for lens in lenses))
    topic_words, class_words = [], []
    for number, (model, lens) in enumerate(zip(kernel.models_, lenses, strict=True)):
        found = tree_of(model)
        of_topics, of_classes = told(lens, found, words)
        if found is not None and shape is None:
            shape = Shape(found[0], found[1], number, of_topics)
        topic_words.append(of_topics)
        class_words.append(of_classes)
    if chosen != np.float64:
        lenses = [_light(lens_of(model, chosen), lens) for model, lens in zip(kernel.models_, lenses, strict=True)]
    parts = [tuple(part for part in kernel._parts if part != "plain")] * len(lenses)
    if "plain" in kernel._parts:
        parts.append(("lexical",))
        lenses.append(plain_lens(len(lenses[0].by_word)))
        topic_words.append(((),))
        class_words.append(((),))
    settings = getattr(documents, "settings", None)
    return SearchIndex(
        lenses=tuple(lenses), segments=(), parts=tuple(parts), normalise=kernel.normalise, dtype=chosen.name,
        vocabulary=vocabulary, **({} if settings is None else {"settings": settings}), shape=shape,
        topic_words=tuple(topic_words), class_words=tuple(class_words), n_threads=n_threads,
    )  # fmt: skip


def _precision(documents: Any, dtype: Any, width: int) -> Any:
    if isinstance(documents, BlockStore):
        return options.precision(dtype, int(documents.nnz), float(documents.largest), width)
    counts = documents.counts if isinstance(documents, Corpus) else documents
    nnz = counts.nnz if hasattr(counts, "nnz") else np.asarray(counts).size
    return options.precision(dtype, int(nnz), 1.0, width)


def _light(single: Lens, lens: Lens) -> Lens:
    """A lens in single precision, with the information of another."""
    kept = ("word_information", "class_information", "row_scores")
    return replace(single, **{name: getattr(lens, name) for name in kept})


def _counted(documents: Any, vocabulary: Any, settings: CountSettings, n_words: int, start: int) -> Any:
    """Documents of any kind as counts of the known words and what is known of them; None where there are none."""
    if isinstance(documents, Corpus):
        if vocabulary is None or documents.vocabulary.words != vocabulary.words:
            raise InputError(
                f"the documents were counted with other words ({len(documents.vocabulary):,} of them) than the index "
                f"has ({n_words:,})",
                hint="add the documents themselves: they are counted as the others were",
            )
        return documents.counts, Documents(tuple(documents.ids), tuple(documents.titles), tuple(documents.labels))
    if isinstance(documents, str | bytes | Document) or not (hasattr(documents, "shape") or np.iterable(documents)):
        raise UsageError(
            f"expected documents, a Corpus or counts, got {type(documents).__name__}",
            hint="a list of Document objects, such as readers give",
        )
    if hasattr(documents, "shape"):
        return (*_rows(documents, start),) if documents.shape[0] else None
    given = list(documents)
    if not given:
        return None
    if not all(isinstance(one, Document) for one in given):
        strange = next((one for one in given if isinstance(one, str | bytes | Document | dict)), None)
        if strange is not None:
            raise UsageError(
                f"expected Document objects or counts, got {type(strange).__name__} among them",
                hint="Document(id, text)",
            )
        return _rows(given, start)
    if vocabulary is None:
        raise UsageError(f"documents cannot be counted: {NO_WORDS}", hint="counts")
    counts = count_in((text_of(one, settings.titles) for one in given), vocabulary, settings)
    known = Documents(
        tuple(one.id for one in given), tuple(one.title for one in given), tuple(one.labels for one in given)
    )
    return check_counts(counts), known


def _rows(documents: Any, start: int) -> tuple[Any, Documents]:
    counts = check_counts(documents, name="the documents")
    return counts, Documents(tuple(str(start + row) for row in range(counts.shape[0])))
