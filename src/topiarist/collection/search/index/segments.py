"""Documents in the layout of the search kernels: postings, rows of every model, and scales.

A segment never changes. Scoring goes over blocks of documents whose rows stay in a core's cache while the postings of
the query's words are read. A block owns its documents, so that any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection.search.index.topics import Shape
from topiarist.collection.search.segment_rows import split_rows
from topiarist.counts.validation import count_tokens
from topiarist.errors import InputError
from topiarist.execution.threads import Threads
from topiarist.models.engine import Postings, QueryVectors, load_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.fisher import matrix
from topiarist.models.fisher import scores as fisher
from topiarist.models.fisher.scores import KernelView

STEPS = 255
PACKED_DTYPE = np.dtype(np.uint8)


def pack_rows(rows: Array) -> Array:
    """Return rows as one byte per class."""
    roots = np.sqrt(np.asarray(rows, np.float32))
    largest = roots.max(axis=1, keepdims=True, initial=0.0)
    steps: Array = np.rint(roots * (STEPS / np.where(largest > 0, largest, 1))).astype(PACKED_DTYPE)
    return steps


def unpack_rows(rows: Any) -> Floats:
    """Return packed shares in single precision; return other rows unchanged."""
    if rows.dtype != PACKED_DTYPE:
        return np.asarray(rows)
    unpacked: Floats = np.empty(rows.shape, np.float32)
    load_kernels().unpack_rows(np.ascontiguousarray(rows), unpacked)
    return unpacked


BLOCK = 4096  # documents
MAX_SHORT_DOCUMENTS, MAX_COUNT = (
    1 << 16,
    255,
)  # documents that are numbered in two bytes, and counts that are kept in one
DENSE_CELLS = 1 << 21  # counts of some documents and words that are laid out together, most of them nothing
K1, B = 1.2, 0.75  # of BM25, as in most programs


NO_WORDS = np.empty(0, np.int64)
NO_POSTINGS = Postings(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))


@dataclass(frozen=True)
class Segment:
    """Documents in the layout of the kernels; values of models in the order of the lenses."""

    postings: Postings
    lengths: Any  # tokens of each document
    rows: tuple[Any, ...]  # P(α|d), or the bytes that ``packed_rows`` makes of them
    topical: tuple[Any, ...]  # the scores of topics, where they are more than rows times a constant; else the rows
    scales: tuple[Any, ...]  # (documents, 2): of topics, and of words for each token
    nodes: Any = field(default_factory=lambda: np.empty(0, np.int32))  # of the tree, if there is one
    words: Any = None  # the columns that the postings are of, rising; None: all

    def __len__(self) -> int:
        return len(self.lengths)

    def places(self, columns: Any) -> tuple[Any, Any]:
        """Return the indices of the posting lists of words, and the mask of the words that have one."""
        if self.words is None:
            return columns, np.ones(len(columns), bool)
        if not len(self.words):
            return columns[:0], np.zeros(len(columns), bool)
        places = np.minimum(np.searchsorted(self.words, columns), len(self.words) - 1)
        has_postings = np.asarray(self.words[places] == columns)
        return places[has_postings], has_postings

    @property
    def blocks(self) -> list[slice]:
        """Runs of documents."""
        return [slice(start, min(start + BLOCK, len(self))) for start in range(0, len(self), BLOCK)]

    def by_meaning(self, engine: Engine, queries: Sequence[QueryVectors]) -> Floats:
        """Return the kernel values of all documents with a query."""
        out = np.zeros(len(self))
        local = [self._local(query) for query in queries]

        def score_block(rows: slice) -> None:
            for number, (query, scales) in enumerate(zip(local, self.scales, strict=True)):
                class_shares, topical = self.shares(number, rows)
                wide = scales[rows].astype(np.float64, copy=False)
                part = (class_shares, topical, wide, rows.start, out[rows])
                engine.kernels.score_by_kernel(self.postings, query, *part)

        engine.threads.map(score_block, self.blocks)
        return out

    def shares(self, number: int, documents: Any) -> tuple[Floats, Floats]:
        """Return P(α|d) of documents in a model, and the scores of its topics."""
        rows, topical = self.rows[number], self.topical[number]
        unpacked = unpack_rows(rows[documents])
        return unpacked, unpacked if topical is rows else topical[documents]

    def by_words(self, engine: Engine, columns: Any, weights: Floats, average: float) -> Floats:
        """Return BM25 of all documents (F7) for the words in ``columns`` and their weights."""
        out = np.zeros(len(self))
        places, has_postings = self.places(columns)
        weights = weights[has_postings]

        def score_block(rows: slice) -> None:
            norms = K1 * (1 - B + B * self.lengths[rows].astype(np.float64, copy=False) / average)
            engine.kernels.score_words(self.postings, places, weights, norms, rows.start, out[rows])

        engine.threads.map(score_block, self.blocks)
        return out

    def _local(self, query: QueryVectors) -> QueryVectors:
        """Return the query with its words as places of these postings, without absent words."""
        if self.words is None:
            return query
        places, has_postings = self.places(query.words)
        return QueryVectors(places, query.meet[has_postings], query.mixture[has_postings], query.topics)

    def select_rows(self, rows: Any) -> Segment:
        """Return some documents, by their rows, without words."""
        rows_by_model = tuple(array.take(rows, axis=0) for array in self.rows)
        topical = tuple(
            new if other is old_rows else other.take(rows, axis=0)
            for old_rows, new, other in zip(self.rows, rows_by_model, self.topical, strict=True)
        )
        scales = tuple(array.take(rows, axis=0) for array in self.scales)
        return Segment(NO_POSTINGS, self.lengths.take(rows), rows_by_model, topical, scales, words=NO_WORDS)

    def counts_of(self, rows: Any, columns: Any) -> Floats:
        """Return the counts of words in some documents, by their rising rows."""
        places, has_postings = self.places(columns)
        all_places: Any = np.full(len(columns), -1)
        all_places[has_postings] = places
        counts = np.zeros((len(rows), len(columns)))
        load_kernels().pick_counts(self.postings, all_places, rows, counts)
        return counts


def check_word_count(n_model_words: int, n_counted_words: int) -> None:
    """Raise ``InputError`` unless models and counts have equally many words."""
    if n_counted_words != n_model_words:
        raise InputError(
            f"the models know {n_model_words} words, the documents were counted with {n_counted_words}",
            hint="Count them with the vocabulary of the index, by corpus.vectorise(texts).",
        )


def gather_documents(segments: Sequence[Segment], rows: Any, threads: Threads) -> Segment:
    """Return some documents, by their rising rows, as one segment without words, with unpacked rows."""
    parts = threads.map(lambda part: part[0].select_rows(part[1]), split_rows(segments, rows))
    parts = parts or [segments[0].select_rows(rows[:0])]
    rows_by_model = tuple(map(unpack_rows, _concatenate_by_model([part.rows for part in parts])))
    return Segment(
        NO_POSTINGS, np.concatenate([part.lengths for part in parts]), rows_by_model,
        _join_topical(parts, rows_by_model), _concatenate_by_model([part.scales for part in parts]), words=NO_WORDS,
    )  # fmt: skip


def attach_postings(
    segment: Segment, segments: Sequence[Segment], rows: Any, columns: Any, threads: Threads
) -> Segment:  # fmt: skip
    """Return gathered documents with the postings of words, whose columns rise."""
    entries, start = [(NO_WORDS, NO_WORDS, np.empty(0))], 0
    for chunk in np.array_split(columns, max(1, len(rows) * len(columns) // DENSE_CELLS)):
        count_chunk = partial(_counts_of, columns=chunk)
        counts = np.concatenate([np.zeros((0, len(chunk))), *threads.map(count_chunk, split_rows(segments, rows))]).T
        words, docs = np.nonzero(counts)
        entries.append((words + start, docs, counts[words, docs]))
        start += len(chunk)
    words, docs, times = map(np.concatenate, zip(*entries, strict=True))
    ends = np.searchsorted(words, np.arange(len(columns) + 1)).astype(np.int64)
    postings = Postings(ends, docs.astype(np.int32), times.astype(segment.rows[0].dtype))
    return replace(segment, postings=postings, words=columns)


def _counts_of(part: tuple[Segment, Any], columns: Any) -> Floats:
    return part[0].counts_of(part[1], columns)


def build_segment(
    engine: Engine, lenses: Sequence[KernelView], counts: Csr,
    *, parts: Sequence[Sequence[str]], normalise: str | None, dtype: Any, shape: Shape | None = None,
) -> Segment:  # fmt: skip
    """Read documents through all lenses and return their segment; single precision stores shares in bytes.

    ``shape`` is the tree whose nodes the documents are assigned to.
    """
    check_word_count(len(lenses[0].by_word), counts.shape[1])
    rows, topical, lengths, no, nodes = [], [], [], np.zeros(counts.shape[0]), np.empty(0, np.int32)
    for number, (lens, of_lens) in enumerate(zip(lenses, parts, strict=True)):
        stored_rows = class_rows = np.ascontiguousarray(fisher.read_rows(engine, lens, counts), dtype)
        if shape is not None and number == shape.model:
            nodes = shape.places(class_rows)
        if dtype == np.float32:
            class_rows = unpack_rows(
                stored_rows := pack_rows(class_rows)
            )  # what is kept of them is what lengths are of
        scores = fisher.score_topics(engine, lens, counts, class_rows)
        rows.append(stored_rows)
        topical.append(stored_rows if lens.class_information is None else np.ascontiguousarray(scores, dtype))
        lengths.append((scores**2).sum(axis=1) if "topical" in of_lens else no)
        with_words = "lexical" in of_lens
        lengths.append(fisher.compute_lexical_lengths(engine, lens, counts, class_rows) if with_words else no)
    tokens = count_tokens(counts)
    scale_factors = matrix.compute_scales(lengths, tokens, normalise)
    per_token = 1.0 / np.maximum(tokens, fisher.MIN_TOKENS)
    scales = [
        np.column_stack([scale_factors[place], scale_factors[place + 1] * per_token])
        for place in range(0, len(scale_factors), 2)
    ]
    index = narrow_postings(matrix.make_postings(counts, dtype), counts.shape[0])
    light = tuple(scale.astype(dtype) for scale in scales)
    return drop_absent_words(Segment(index, tokens.astype(dtype), tuple(rows), tuple(topical), light, nodes))


def narrow_postings(postings: Postings, n_docs: int) -> Postings:
    """Return the postings in as few bytes as their numbers need: two for a document, one for a count."""
    docs, counts = postings.docs, postings.counts
    if n_docs <= MAX_SHORT_DOCUMENTS:
        docs = docs.astype(np.uint16, copy=False)
    if counts.dtype.kind == "f" and not len(counts[(counts != np.rint(counts)) | (counts > MAX_COUNT)]):
        counts = counts.astype(np.uint8)
    return postings._replace(docs=docs, counts=counts)


def drop_absent_words(segment: Segment) -> Segment:
    """Return the segment with postings of the occurring words only, if these are at most half of all words."""
    ends = segment.postings.ends
    words = np.flatnonzero(np.diff(ends))
    if segment.words is not None or 2 * len(words) > len(ends):
        return segment
    postings = segment.postings._replace(ends=np.append(ends[words], ends[-1]))
    return replace(segment, postings=postings, words=words.astype(np.int64))


def join_segments(segments: Sequence[Segment]) -> Segment:
    """Join the documents of several segments, in their order."""
    if len(segments) == 1:
        return segments[0]
    starts = np.cumsum([0, *map(len, segments)])
    words = np.concatenate([np.repeat(_posting_words(segment), np.diff(segment.postings.ends)) for segment in segments])
    docs = np.concatenate([
        segment.postings.docs.astype(np.int32) + np.int32(start)
        for segment, start in zip(segments, starts[:-1], strict=True)
    ])  # fmt: skip
    counts = np.concatenate([segment.postings.counts for segment in segments])
    order = np.argsort(words, kind="stable")  # the documents of a word come in their order
    distinct_words, firsts = np.unique(words[order], return_index=True)
    postings = Postings(np.append(firsts, len(words)).astype(np.int64), docs[order].astype(np.int32), counts[order])
    rows = _concatenate_by_model([segment.rows for segment in segments])
    return Segment(
        narrow_postings(postings, int(starts[-1])),
        np.concatenate([segment.lengths for segment in segments]), rows, _join_topical(segments, rows),
        _concatenate_by_model([segment.scales for segment in segments]),
        np.concatenate([segment.nodes for segment in segments]), distinct_words.astype(np.int64),
    )  # fmt: skip


def select_from_segment(segment: Segment, keep: Any) -> Segment:
    """Return the segment with the documents in the mask ``keep``; itself if all stay."""
    if keep.all():
        return segment
    is_kept = keep[segment.postings.docs]
    words = np.repeat(_posting_words(segment), np.diff(segment.postings.ends))[is_kept]
    places = np.cumsum(keep) - 1
    old_docs = segment.postings.docs
    docs, counts = places[old_docs[is_kept]], np.asarray(segment.postings.counts[is_kept])
    distinct_words, firsts = np.unique(words, return_index=True)
    postings = Postings(np.append(firsts, len(words)).astype(np.int64), docs.astype(old_docs.dtype), counts)
    nodes = segment.nodes[keep] if len(segment.nodes) == len(segment) else segment.nodes
    return replace(
        segment.select_rows(np.flatnonzero(keep)), postings=postings, nodes=np.asarray(nodes),
        words=distinct_words.astype(np.int64),
    )  # fmt: skip


def _posting_words(segment: Segment) -> Any:
    return np.arange(len(segment.postings.ends) - 1) if segment.words is None else np.asarray(segment.words)


def _join_topical(segments: Sequence[Segment], rows: Sequence[Any]) -> tuple[Any, ...]:
    """Return the joined topic scores of segments; ``rows`` are joined class scores, reused if they are shared."""
    first = segments[0]
    return tuple(
        class_rows if first.topical[number] is first.rows[number]
        else np.concatenate([segment.topical[number] for segment in segments])
        for number, class_rows in enumerate(rows)
    )  # fmt: skip


def _concatenate_by_model(arrays: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(of_model) for of_model in zip(*arrays, strict=True))
