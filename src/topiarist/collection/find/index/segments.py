"""Documents laid out for search: postings, the rows of every model, scales; small segments become one.

A segment never changes. Scoring goes over blocks of documents whose rows stay in a core's cache while the postings of
the query's words are looked up; a block owns its documents, so that any number of threads gives the same bits. A new
segment takes in those before it that are not larger than twice itself, as long as the whole stays small: there are few
of them, and a document is written again only as often as the collection doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.collection.find.index.packed_rows import PACKED, opened, packed
from topiarist.collection.find.index.topics import Shape
from topiarist.counts.validation import token_counts
from topiarist.errors import InputError
from topiarist.models.engine import Postings, SearchKernels, Wanted, load_search_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.fisher import matrix
from topiarist.models.fisher import scores as fisher
from topiarist.models.fisher.scores import Lens
from topiarist.scale.threads import Threads

BLOCK = 4096  # documents
SHORT, MOST = 1 << 16, 255  # documents that are numbered in two bytes, and counts that are kept in one
DENSE = 1 << 21  # counts of some documents and words that are laid out together, most of them nothing
K1, B = 1.2, 0.75  # of BM25, as in most programs


NO_WORDS = np.empty(0, np.int64)
NO_POSTINGS = Postings(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))


@dataclass(frozen=True)
class Documents:
    """What is known of the documents of a segment; empty where nothing is, or where whoever asks knows it."""

    ids: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Segment:
    """Documents as the search reads them; per model in the order of the lenses."""

    documents: Documents
    postings: Postings
    lengths: Any  # tokens of each document
    rows: tuple[Any, ...]  # P(α|d), or the bytes that ``packed_rows`` makes of them
    topical: tuple[Any, ...]  # the scores of topics, where they are more than rows times a constant; else the rows
    scales: tuple[Any, ...]  # (documents, 2): of topics, and of words for each token
    nodes: Any = field(default_factory=lambda: np.empty(0, np.int32))  # of the tree, if there is one
    words: Any = None  # the columns that the postings are of, rising; None: all

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The row of each document, by its id."""
        return {name: row for row, name in enumerate(self.documents.ids)}

    def places(self, columns: Any) -> tuple[Any, Any]:
        """Where the postings of some words are, and which of the words have any place here."""
        if self.words is None:
            return columns, np.ones(len(columns), bool)
        if not len(self.words):
            return columns[:0], np.zeros(len(columns), bool)
        places = np.minimum(np.searchsorted(self.words, columns), len(self.words) - 1)
        known = np.asarray(self.words[places] == columns)
        return places[known], known

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
        local = [self._local(want) for want in wanted]

        def block(here: slice) -> None:
            for number, (want, scales) in enumerate(zip(local, self.scales, strict=True)):
                own, topical = self.shares(number, here)
                wide = scales[here].astype(np.float64, copy=False)
                kernels.score_meaning(self.postings, want, own, topical, wide, here.start, out[here])

        threads.map(block, self.blocks)
        return out

    def shares(self, number: int, here: Any) -> tuple[Floats, Floats]:
        """P(α|d) of some documents in a model, and the scores of its topics."""
        rows, topical = self.rows[number], self.topical[number]
        own = opened(rows[here])
        return own, own if topical is rows else topical[here]

    def by_words(
        self, kernels: SearchKernels, columns: Any, weights: Floats, average: float, threads: Threads
    ) -> Floats:
        """BM25 of every document (F7); ``weights`` are those of the query's words."""
        out = np.zeros(len(self))
        places, known = self.places(columns)
        weights = weights[known]

        def block(here: slice) -> None:
            norms = K1 * (1 - B + B * self.lengths[here].astype(np.float64, copy=False) / average)
            kernels.score_words(self.postings, places, weights, norms, here.start, out[here])

        threads.map(block, self.blocks)
        return out

    def _local(self, wanted: Wanted) -> Wanted:
        """A query's words as places of these postings; words that nobody here has are left out."""
        if self.words is None:
            return wanted
        places, known = self.places(wanted.words)
        return Wanted(places, wanted.meet[known], wanted.mixture[known], wanted.topics)

    def some(self, rows: Any) -> Segment:
        """Some documents, by their rows, without words. Who waits for the disk holds up no other thread."""
        own = tuple(one.take(rows, axis=0) for one in self.rows)
        topical = tuple(
            new if other is was else other.take(rows, axis=0)
            for was, new, other in zip(self.rows, own, self.topical, strict=True)
        )
        scales = tuple(one.take(rows, axis=0) for one in self.scales)
        return Segment(Documents(), NO_POSTINGS, self.lengths.take(rows), own, topical, scales, words=NO_WORDS)

    def counts_of(self, rows: Any, columns: Any) -> Floats:
        """How often some documents, by their rising rows, have some words."""
        places, known = self.places(columns)
        every: Any = np.full(len(columns), -1)
        every[known] = places
        found = np.zeros((len(rows), len(columns)))
        load_search_kernels().pick_counts(self.postings, every, rows, found)
        return found

    def words_of(self, row: int) -> tuple[Any, Floats]:
        """The columns of a document's words, and how often it has them: one look at all postings."""
        places = np.flatnonzero(self.postings.docs == row)
        columns = np.searchsorted(self.postings.ends, places, side="right") - 1
        columns = columns if self.words is None else np.asarray(self.words)[columns]
        return columns.astype(np.int64), self.postings.counts[places].astype(np.float64)


def check_words(known: int, counted: int) -> None:
    """Models and counts must be of one vocabulary."""
    if counted != known:
        raise InputError(
            f"the models know {known} words, the documents were counted with {counted}",
            hint="count them with the vocabulary of the index: corpus.vectorise(texts)",
        )


def gathered(segments: Sequence[Segment], rows: Any, threads: Threads) -> Segment:
    """Some documents of all, by their rising rows, as one segment that has no words, its rows opened."""
    parts = threads.map(lambda part: part[0].some(part[1]), _by_segment(segments, rows))
    parts = parts or [segments[0].some(rows[:0])]
    if len({one.dtype for part in parts for one in part.rows}) == 1:
        own = tuple(map(opened, _stacked([part.rows for part in parts])))
    else:  # of several versions
        own = _stacked([tuple(map(opened, part.rows)) for part in parts])
    return Segment(
        Documents(), NO_POSTINGS, np.concatenate([part.lengths for part in parts]), own, _topical(parts, own),
        _stacked([part.scales for part in parts]), words=NO_WORDS,
    )  # fmt: skip


def with_words(
    found: Segment, segments: Sequence[Segment], rows: Any, columns: Any, threads: Threads
) -> Segment:  # fmt: skip
    """Gathered documents with the postings of some words, whose columns rise."""
    every, start = [(NO_WORDS, NO_WORDS, np.empty(0))], 0
    for some in np.array_split(columns, max(1, len(rows) * len(columns) // DENSE)):
        of_some = partial(_counts_of, columns=some)
        counts = np.concatenate([np.zeros((0, len(some))), *threads.map(of_some, _by_segment(segments, rows))]).T
        words, docs = np.nonzero(counts)
        every.append((words + start, docs, counts[words, docs]))
        start += len(some)
    words, docs, times = map(np.concatenate, zip(*every, strict=True))
    ends = np.searchsorted(words, np.arange(len(columns) + 1)).astype(np.int64)
    postings = Postings(ends, docs.astype(np.int32), times.astype(found.rows[0].dtype))
    return replace(found, postings=postings, words=columns)


def _counts_of(part: tuple[Segment, Any], columns: Any) -> Floats:
    return part[0].counts_of(part[1], columns)


def _by_segment(segments: Sequence[Segment], rows: Any) -> list[tuple[Segment, Any]]:
    """Rising rows of all documents as those of each segment that has any of them."""
    ends = np.cumsum([0, *map(len, segments)])
    cuts = np.searchsorted(rows, ends).tolist()
    return [
        (segment, rows[first:last] - start)
        for segment, first, last, start in zip(segments, cuts, cuts[1:], ends.tolist(), strict=False)
        if last > first
    ]


def segment_of(
    engine: Engine, kernels: SearchKernels, lenses: Sequence[Lens], counts: Csr, documents: Documents,
    *, parts: Sequence[Sequence[str]], normalise: str | None, dtype: Any, shape: Shape | None = None,
) -> Segment:  # fmt: skip
    """Read documents through all lenses, and lay them out: in single precision what is read of them in bytes.

    ``shape``: the tree that they have places in.
    """
    check_words(len(lenses[0].by_word), counts.shape[1])
    rows, topical, lengths, no, nodes = [], [], [], np.zeros(counts.shape[0]), np.empty(0, np.int32)
    for number, (lens, of_lens) in enumerate(zip(lenses, parts, strict=True)):
        kept = own = np.ascontiguousarray(fisher.read(engine, lens, counts), dtype)
        if shape is not None and number == shape.model:
            nodes = shape.places(own)
        if dtype == np.float32:
            own = opened(kept := packed(own))  # what is kept of them is what lengths are of
        scores = fisher.topical(engine, lens, counts, own)
        rows.append(kept)
        topical.append(kept if lens.class_information is None else np.ascontiguousarray(scores, dtype))
        lengths.append((scores**2).sum(axis=1) if "topical" in of_lens else no)
        with_words = "lexical" in of_lens
        lengths.append(fisher.lexical_lengths(engine, kernels, lens, counts, own) if with_words else no)
    tokens = token_counts(counts)
    each = matrix.scales(lengths, tokens, normalise)
    per_token = 1.0 / np.maximum(tokens, fisher.FEWEST_TOKENS)
    scales = [np.column_stack([each[place], each[place + 1] * per_token]) for place in range(0, len(each), 2)]
    index = narrow(matrix.postings(counts, dtype), counts.shape[0])
    light = tuple(scale.astype(dtype) for scale in scales)
    return compact(Segment(documents, index, tokens.astype(dtype), tuple(rows), tuple(topical), light, nodes))


def narrow(postings: Postings, n_docs: int) -> Postings:
    """The same postings in as few bytes as their numbers need: two for a document, one for a count."""
    docs, counts = postings.docs, postings.counts
    if n_docs <= SHORT:
        docs = docs.astype(np.uint16, copy=False)
    if counts.dtype.kind == "f" and not len(counts[(counts != np.rint(counts)) | (counts > MOST)]):
        counts = counts.astype(np.uint8)
    return postings._replace(docs=docs, counts=counts)


def compact(segment: Segment) -> Segment:
    """The segment with postings of the words that occur, where these are few: an addition costs what it holds."""
    ends = segment.postings.ends
    words = np.flatnonzero(np.diff(ends))
    if segment.words is not None or 2 * len(words) > len(ends):
        return segment
    postings = segment.postings._replace(ends=np.append(ends[words], ends[-1]))
    return replace(segment, postings=postings, words=words.astype(np.int64))


LARGEST = SHORT  # documents of a segment that was put together


def n_staying(sizes: Sequence[int], added: int) -> int:
    """How many of the segments stay as they are when so many documents are added; the others join them."""
    number = len(sizes)
    while number and sizes[number - 1] <= 2 * added and added + sizes[number - 1] <= LARGEST:
        number -= 1
        added += sizes[number]
    return number


def joined(segments: Sequence[Segment]) -> Segment:
    """One segment of the documents of several, in their order."""
    if len(segments) == 1:
        return segments[0]
    starts = np.cumsum([0, *map(len, segments)])
    words = np.concatenate([np.repeat(_words(segment), np.diff(segment.postings.ends)) for segment in segments])
    docs = np.concatenate([
        segment.postings.docs.astype(np.int32) + np.int32(start)
        for segment, start in zip(segments, starts[:-1], strict=True)
    ])  # fmt: skip
    counts = np.concatenate([segment.postings.counts for segment in segments])
    order = np.argsort(words, kind="stable")  # the documents of a word come in their order
    known, firsts = np.unique(words[order], return_index=True)
    postings = Postings(np.append(firsts, len(words)).astype(np.int64), docs[order].astype(np.int32), counts[order])
    rows = _stacked([_alike(segment.rows, segments) for segment in segments])
    return Segment(
        _documents(segments), narrow(postings, int(starts[-1])),
        np.concatenate([segment.lengths for segment in segments]), rows, _topical(segments, rows),
        _stacked([segment.scales for segment in segments]),
        np.concatenate([segment.nodes for segment in segments]), known.astype(np.int64),
    )  # fmt: skip


def kept(segment: Segment, keep: Any) -> Segment:
    """The segment with some of its documents, which ``keep`` says for each; as it is, if all of them stay."""
    if keep.all():
        return segment
    there = keep[segment.postings.docs]
    words = np.repeat(_words(segment), np.diff(segment.postings.ends))[there]
    places = np.cumsum(keep) - 1
    old_docs = segment.postings.docs
    docs, counts = places[old_docs[there]], np.asarray(segment.postings.counts[there])
    known, firsts = np.unique(words, return_index=True)
    postings = Postings(np.append(firsts, len(words)).astype(np.int64), docs.astype(old_docs.dtype), counts)
    old, stay = segment.documents, np.flatnonzero(keep).tolist()
    documents = Documents(
        tuple(old.ids[row] for row in stay) if old.ids else (),
        tuple(old.titles[row] for row in stay) if old.titles else (),
        tuple(old.labels[row] for row in stay) if old.labels else (),
    )
    nodes = segment.nodes[keep] if len(segment.nodes) == len(segment) else segment.nodes
    return replace(
        segment.some(np.flatnonzero(keep)), documents=documents, postings=postings, nodes=np.asarray(nodes),
        words=known.astype(np.int64),
    )  # fmt: skip


def _words(segment: Segment) -> Any:
    return np.arange(len(segment.postings.ends) - 1) if segment.words is None else np.asarray(segment.words)


def _alike(rows: Sequence[Any], segments: Sequence[Segment]) -> Sequence[Any]:
    """Rows in bytes, if some segment has them so."""
    some = any(one.dtype == PACKED for segment in segments for one in segment.rows)
    return [packed(one) for one in rows] if some else rows


def _topical(segments: Sequence[Segment], rows: Sequence[Any]) -> tuple[Any, ...]:
    """The scores of topics of the documents of several segments, whose rows were put together."""
    first = segments[0]
    return tuple(
        own if first.topical[number] is first.rows[number]
        else np.concatenate([segment.topical[number] for segment in segments])
        for number, own in enumerate(rows)
    )  # fmt: skip


def _stacked(arrays: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(of_model) for of_model in zip(*arrays, strict=True))


def _documents(segments: Sequence[Segment]) -> Documents:
    known = [segment.documents for segment in segments if len(segment)]
    if not all(one.ids for one in known):
        return Documents()
    ids = tuple(name for one in known for name in one.ids)
    titles = tuple(title for one in known for title in one.titles or ("",) * len(one.ids))
    labels = tuple(names for one in known for names in one.labels or ((),) * len(one.ids))
    return Documents(ids, titles if any(titles) else (), labels if any(labels) else ())
