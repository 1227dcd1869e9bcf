"""The search index: a Fisher kernel over all documents of a collection, answered in milliseconds, with reasons.

An index is a value. ``add`` gives one with more documents; an index that lies in a folder keeps them there too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.counts.settings import CountSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.kernels import load
from topiarist.kernels import search as verbs
from topiarist.models.engine import Engine, Floats
from topiarist.models.fisher import Lens
from topiarist.scale.blocks import BlockStore
from topiarist.scale.threads import Threads
from topiarist.tasks import options
from topiarist.tasks.lenses import kernel_sets
from topiarist.tasks.progress import prepare_kernels
from topiarist.tasks.search import describing, ranking
from topiarist.tasks.search.answers import Answer, Explanation, Step
from topiarist.tasks.search.descent import Shape, look, no_tree, walk
from topiarist.tasks.search.queries import Query, TextReader, View, query_of, views
from topiarist.tasks.search.reasons import explained
from topiarist.tasks.search.segments import Documents, Segment, segment_of
from topiarist.tasks.search.spelling import Spelling

WAYS = ("meaning", "words", "both")


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
    topic_words: tuple[tuple[tuple[str, ...], ...], ...] = ()
    folder: Path | None = None
    n_threads: int | None = None

    @classmethod
    def build(cls, kernel: Any, documents: Any, *, dtype: Any = None, n_threads: int | None = None) -> SearchIndex:
        """Index documents for a ``FisherKernel`` that is fitted, or whose models are.

        ``documents`` is a ``Corpus``, a ``BlockStore`` or a matrix of counts (then queries are counts as well).
        ``dtype``: "float64", "float32" (half the memory; documents are read to a thousandth), or None: by size.
        """
        index: SearchIndex = describing.empty(cls, kernel.prepared(), documents, dtype, n_threads)
        if isinstance(documents, BlockStore):
            ids = list(documents.ids()) or [str(row) for row in range(len(documents))]
            for block in documents.blocks():
                start = len(index)
                index = index._with(block.counts(), Documents(tuple(ids[start : start + block.shape[0]])))
            return index
        return index.add(documents)

    @classmethod
    def open(cls, folder: str | Path, *, check: bool = True, n_threads: int | None = None) -> SearchIndex:
        """Open an index that ``save`` wrote, memory-mapped. ``check=False`` does not look for damage first."""
        from topiarist.tasks.search import storing

        index: SearchIndex = storing.opened(cls, Path(folder), check=check)
        return replace(index, n_threads=n_threads)

    def save(self, folder: str | Path) -> SearchIndex:
        """Write the index to a new folder, and return it as it lies there."""
        from topiarist.tasks.search import storing

        storing.write(self, Path(folder))
        return self.open(folder, check=False, n_threads=self.n_threads)

    def add(self, documents: Any) -> SearchIndex:
        """The index with more documents, read by the models as they are; kept in its folder, if it has one.

        ``documents`` are ``Document`` objects (such as readers give), which are counted as the others were, a
        ``Corpus`` of the same words, or counts.
        """
        return self._with(*describing.counted(documents, self.vocabulary, self.settings, self.n_words, len(self)))

    def _with(self, counts: Any, known: Documents) -> SearchIndex:
        engine, kernels = self._engine, verbs.load()
        made = segment_of(engine, kernels, self.lenses, counts, known, self.parts, self.normalise, np.dtype(self.dtype))
        twice = set(known.ids) & {name for segment in self.segments for name in segment.documents.ids}
        if twice:
            raise InputError(
                f"{len(twice)} documents are in the index already, {sorted(twice)[0]!r} among them",
                hint="other ids, or leave them out",
            )
        if self.shape is not None:
            made = replace(made, nodes=self.shape.places(made.rows[self.shape.model]))
        longer = replace(self, segments=(*self.segments, made))
        if self.folder is not None:
            from topiarist.tasks.search import storing

            storing.append(longer)
        return longer

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
        return Engine(load(), Threads(self.n_threads))

    @cached_property
    def _reader(self) -> TextReader | None:
        return None if self.vocabulary is None else TextReader(self.vocabulary, self.settings)

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self.vocabulary.words if self.vocabulary else ())

    @cached_property
    def _bm25(self) -> ranking.Bm25:
        return ranking.Bm25.of(self.segments)

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
        options.check_one_of("by", by, WAYS)
        asked = query_of(query, self.n_words, self._reader)
        suggestions = describing.suggestions(asked.unknown, self._spelling)
        words = tuple(describing.word(self.vocabulary, column) for column in asked.columns[: describing.SHOWN].tolist())
        if not len(asked.columns) or not asked.counts.any():
            return Answer((), describing.nothing(asked, suggestions), words, asked.unknown, suggestions)
        hits = ranking.best(self.scores(asked, by=by), self.segments, self._allowed(under, label), n)
        if why:
            hits = tuple(replace(hit, why=self.explain(asked, hit.number, by=by)) for hit in hits)
        message = describing.sentence(len(hits), len(self), asked, by, suggestions)
        return Answer(hits, message, words, asked.unknown, suggestions)

    def similar(
        self, document: str | int, n: int = 10, *, by: str = "meaning", under: Any = None,
        label: str | Iterable[str] | None = None, why: bool = False,
    ) -> Answer:  # fmt: skip
        """The documents most like one of the index, given by its id or its number; it is not among them."""
        number = self.number(document)
        found = self.search(self.query_like(number), n + 1, by=by, under=under, label=label, why=why)
        hits = tuple(hit for hit in found.hits if hit.number != number)[:n]
        return replace(found, hits=hits)

    def scores(self, query: Any, *, by: str = "meaning") -> Floats:
        """The score of every document, in their order."""
        options.check_one_of("by", by, WAYS)
        asked = query_of(query, self.n_words, self._reader)
        kernels, threads = verbs.load(), self._engine.threads
        total = np.zeros(len(self))
        if by != "words":
            wanted = [view.wanted for view in self._views(asked)]
            parts = [segment.by_meaning(kernels, wanted, threads) for segment in self.segments]
            total += self._weights(asked, by)[0] * np.concatenate(parts)
        if by != "meaning":
            average, weights = self._weights(asked, by)[1]
            parts = [segment.by_words(kernels, asked.columns, weights, average, threads) for segment in self.segments]
            total += np.concatenate(parts)
        return total

    def explain(self, query: Any, document: str | int, *, by: str = "meaning") -> Explanation:
        """Why a document is similar to a query: the words in their sense and the topics, which add up to the score."""
        options.check_one_of("by", by, WAYS)
        asked = query_of(query, self.n_words, self._reader)
        segment, row = ranking.located(self.segments, self.number(document))
        seen = self._views(asked) if len(asked.columns) else []
        words = self.vocabulary.words if self.vocabulary else [str(column) for column in range(self.n_words)]
        return explained(
            asked, seen, segment, row, words, self.topic_words, self._class_words, self._weights(asked, by)
        )

    def descend(self, query: Any, node: Any = None) -> tuple[Step, ...]:
        """The way of a query down the tree, level by level: each step shows the branches with words and probabilities.

        With ``node`` (number, name or path) only the step at that node: for a person who chooses the way.
        """
        if self.shape is None:
            raise no_tree()
        asked = query_of(query, self.n_words, self._reader)
        if not len(asked.columns):
            raise InputError(describing.nothing(asked, describing.suggestions(asked.unknown, self._spelling)))
        row, nodes = self._views(asked)[self.shape.model].row, [segment.nodes for segment in self.segments]
        steps = walk(self.shape, row, nodes)
        if node is None:
            return steps
        tree = self.shape.tree
        reach = row @ tree.path_mask(self.shape.class_nodes)
        held = np.sum([np.bincount(part, minlength=len(tree)) for part in nodes], axis=0)
        return (look(self.shape, reach, held @ tree.path_mask(range(len(tree))), self.shape.number(node)),)

    def number(self, document: str | int) -> int:
        """The number of a document, given by its id or by its number."""
        if isinstance(document, str):
            if document in self._numbers:
                return self._numbers[document]
            raise UsageError(f"no document is called {document!r}", hint=describing.nearest(document, self._numbers))
        if not 0 <= int(document) < len(self):
            raise UsageError(f"documents have numbers from 0 to {len(self) - 1}, got {document}")
        return int(document)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        names = (name for segment in self.segments for name in segment.documents.ids)
        return {name: number for number, name in enumerate(names)}

    def query_like(self, document: str | int) -> Query:
        """A document of the index as a query."""
        segment, row = ranking.located(self.segments, self.number(document))
        return Query(*segment.words_of(row))

    def _views(self, query: Query) -> list[View]:
        return views(self._engine, verbs.load(), self.lenses, query, self.parts, self.normalise, np.dtype(self.dtype))

    def _weights(self, query: Query, by: str) -> tuple[float, Any]:
        return self._bm25.weights(query, by, len(self.lenses))

    @cached_property
    def _class_words(self) -> Sequence[Sequence[tuple[str, ...]]]:
        """The words of each class: in a tree those of its node."""
        of_classes = list(self.topic_words)
        if self.shape is not None:
            own = self.topic_words[self.shape.model]
            of_classes[self.shape.model] = tuple(own[node] for node in self.shape.class_nodes)
        return of_classes

    def _allowed(self, under: Any, label: Any) -> Any:
        if under is not None and self.shape is None:
            raise no_tree()
        below = None if under is None or self.shape is None else self.shape.below(under)
        return ranking.allowed(self.segments, below, label)
