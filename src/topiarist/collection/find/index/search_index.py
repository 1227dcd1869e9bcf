"""The search index: a Fisher kernel over all documents of a collection, answered in milliseconds, with reasons.

An index is a value. ``add`` gives one with more documents; an index that lies in a folder keeps them there too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.find.index import compaction, ranking, sentences, sources
from topiarist.collection.find.index.answers import Answer, Explanation, Step
from topiarist.collection.find.index.descent import Shape, no_tree, walk
from topiarist.collection.find.index.index_folder import Kept, append, open_index, write_index
from topiarist.collection.find.index.near_words import Spelling
from topiarist.collection.find.index.query_counts import Query, TextReader, query_of
from topiarist.collection.find.index.reasons import explained
from topiarist.collection.find.index.segments import Documents, Segment, segment_of
from topiarist.collection.find.index.topic_words import Words, named
from topiarist.collection.find.index.views import View, views
from topiarist.counts.settings import CountSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options
from topiarist.estimators.similarity.lenses import kernel_sets
from topiarist.models.engine import load_kernels, load_search_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.fisher.scores import Lens
from topiarist.scale.blocks import BlockStore
from topiarist.scale.threads import Threads

WAYS = ("meaning", "words", "both")
SHOWN = 20  # words of a query that an answer repeats


@dataclass(frozen=True, eq=False)
class SearchIndex:
    """Documents to search by meaning (Fisher kernel), by words (BM25) or both. Made by ``build``, ``open`` or ``add``.

    ``search`` answers a text, a mapping from words to counts, or a row of counts; ``similar`` a document of the index.
    Every document is scored: there is no approximation.
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

    @classmethod
    def build(cls, kernel: Any, documents: Any, *, dtype: Any = None, n_threads: int | None = None) -> SearchIndex:
        """Index documents for a ``FisherKernel`` that is fitted, or whose models are.

        ``documents`` is a ``Corpus``, a ``BlockStore`` or a matrix of counts (then queries are counts as well).
        ``dtype``: "float64", "float32" (half the memory; documents are read to a thousandth), or None: by size.
        """
        if not callable(getattr(kernel, "prepared", None)):
            raise UsageError(f"expected a FisherKernel, got {type(kernel).__name__}", hint="FisherKernel().fit(counts)")
        index: SearchIndex = sources.empty(cls, kernel.prepared(), documents, dtype, n_threads)
        if isinstance(documents, BlockStore):
            ids = list(documents.ids()) or [str(row) for row in range(len(documents))]
            for block in documents.blocks():
                start = len(index)
                made = index._segment(block.counts(), Documents(tuple(ids[start : start + block.shape[0]])))
                index = replace(index, segments=(*index.segments, made))
            return index
        return index.add(documents)

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
        found = sources.counted(documents, self.vocabulary, self.settings, self.n_words, len(self))
        if found is None:
            return self
        made = self._segment(*found)
        stay = compaction.kept([len(segment) for segment in self.segments], len(made))
        tail = compaction.joined([*self.segments[stay:], made])
        longer = replace(self, segments=(*self.segments[:stay], tail))
        if self.kept is None:
            return longer
        return replace(longer, kept=append(self.kept, stay, tail))

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
        made = segment_of(
            self._engine,
            load_search_kernels(),
            self.lenses,
            counts,
            known,
            self.parts,
            self.normalise,
            np.dtype(self.dtype),
        )
        return made if self.shape is None else replace(made, nodes=self.shape.places(made.rows[self.shape.model]))

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

    @cached_property
    def _engine(self) -> Engine:
        for dtype in ("float64", self.dtype):  # queries are read in double precision, whatever the documents are in
            prepare_kernels(dtype, *kernel_sets(self.lenses))
        return Engine(load_kernels(), Threads(self.n_threads))

    @cached_property
    def _reader(self) -> TextReader | None:
        return None if self.vocabulary is None else TextReader(self.vocabulary, self.settings)

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self.vocabulary.words if self.vocabulary else ())

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
        options.check_one_of("by", by, WAYS)
        asked = self.read(query)
        near = sentences.suggestions(asked.unknown, self._spelling)
        words = named(self.vocabulary, asked.columns[:SHOWN].tolist())
        if not len(asked.columns):
            return Answer((), sentences.nothing(asked, near), words, asked.unknown, near)
        seen = self._views(asked) if by != "words" else []
        scores = self._scores(asked, seen, by)
        hits = ranking.best(scores, self.segments, allowed, n, offset)
        if why:
            hits = tuple(replace(hit, why=self._explained(asked, seen, hit.number, by)) for hit in hits)
        total = int(np.count_nonzero(scores > 0 if allowed is None else (scores > 0) & allowed))
        message = sentences.sentence(len(hits), len(self), asked, by, near)
        return Answer(hits, message, words, asked.unknown, near, total)

    def read(self, query: Any) -> Query:
        """The columns and counts that a text, a mapping or a row of counts stands for."""
        return query_of(query, self.n_words, self._reader)

    def scores(self, query: Any, *, by: str = "meaning") -> Floats:
        """The score of every document, in their order: nothing for a query that holds no known word."""
        options.check_one_of("by", by, WAYS)
        asked = self.read(query)
        return self._scores(asked, self._views(asked) if by != "words" else [], by)

    def _scores(self, asked: Query, seen: list[View], by: str) -> Floats:
        kernels, threads = load_search_kernels(), self._engine.threads
        total = np.zeros(len(self))
        of_kernel, of_words = self._weights(asked, by)
        if not len(asked.columns):
            return total
        if seen:
            wanted = [view.wanted for view in seen]
            total += of_kernel * np.concatenate([part.by_meaning(kernels, wanted, threads) for part in self.segments])
        if of_words is not None:
            average, weights = of_words
            parts = [part.by_words(kernels, asked.columns, weights, average, threads) for part in self.segments]
            total += np.concatenate(parts)
        return total

    def explain(self, query: Any, document: str | int, *, by: str = "meaning") -> Explanation:
        """Why a document is similar to a query: the words in their sense and the topics, which add up to the score."""
        options.check_one_of("by", by, WAYS)
        asked = self.read(query)
        return self._explained(asked, self._views(asked) if by != "words" else [], self.number(document), by)

    def _explained(self, asked: Query, seen: list[View], number: int, by: str) -> Explanation:
        segment, row = ranking.located(self.segments, number)
        words = named(self.vocabulary, asked.columns.tolist())
        weights = self._weights(asked, by)
        return explained(asked, seen, segment, row, words, self.topic_words, self.class_words, weights)

    def descend(self, query: Any, node: Any = None) -> tuple[Step, ...]:
        """The way of a query down the tree, level by level: each step shows the branches with words and probabilities.

        With ``node`` (number, name or path) only the step at that node: for a person who chooses the way. A query that
        holds no known word has no way down.
        """
        if self.shape is None:
            raise no_tree()
        asked = self.read(query)
        if not len(asked.columns):
            raise InputError(sentences.nothing(asked, sentences.suggestions(asked.unknown, self._spelling)))
        row = self._views(asked)[self.shape.model].row
        return walk(self.shape, row, [segment.nodes for segment in self.segments], node)

    def number(self, document: str | int) -> int:
        """The number of a document, given by its id or by its number."""
        return ranking.number_of(self.segments, document)

    def query_like(self, document: str | int) -> Query:
        """A document of the index as a query."""
        segment, row = ranking.located(self.segments, self.number(document))
        return Query(*segment.words_of(row))

    def _views(self, query: Query) -> list[View]:
        return views(
            self._engine, load_search_kernels(), self.lenses, query, self.parts, self.normalise, np.dtype(self.dtype)
        )

    def _weights(self, query: Query, by: str) -> tuple[float, Any]:
        most = {"parts": float(sum(map(len, self.parts))), "total": 1.0, None: None}
        return self._bm25.weights(query, by, most[self.normalise])

    def _allowed(self, under: Any, label: Any) -> Any:
        if under is not None and self.shape is None:
            raise no_tree()
        below = None if under is None or self.shape is None else self.shape.below(under)
        return ranking.allowed(self.segments, below, label)
