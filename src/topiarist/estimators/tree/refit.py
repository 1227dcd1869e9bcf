"""Fitting a tree again that people have shaped: documents they pinned have their classes, the others only had them.

The shares that documents had before tell where to begin: topics and levels come from them as from labels, by deleted
interpolation (K5). Then EM goes on as with labelled and unlabelled documents (K4), on a tree that does not change.

All that documents tell adds up over runs of them. So they may be files: each block is told and learned from by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Bools, Csr, Dtype, Floats, Ints
from topiarist.counts.validation import document_frequency, token_counts
from topiarist.counts.weighting import shortened
from topiarist.estimators.category import class_learning
from topiarist.estimators.category.categorisers import HPLC
from topiarist.estimators.category.given_labels import Labels
from topiarist.estimators.category.stored_training import StoredTeaching
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.progress import Watching, fitting, watched
from topiarist.estimators.tree.chosen_words import seeds_of
from topiarist.hierarchy.tree import Tree
from topiarist.models import categorisers, em
from topiarist.models.engine import Shard, Side
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.blocks import BlockStore
from topiarist.scale.executors import Executor, tree_sum

LEAST_SHARE = 1e-3  # of a document in a class that has a part in the start
N_FOLDS = 3
EMPTIEST = 1e-6  # tokens of a class that has lost all documents: it may come back


@dataclass(frozen=True)
class Heard:
    """What documents tell of words and classes, in numbers that add up."""

    having: Ints  # documents that have each word
    word_tokens: Floats
    class_tokens: Floats  # by the shares at the start
    sizes: Floats  # documents of each class, where seed words have drawn them
    tokens: float
    tables: tuple[Csr, ...]  # (K1) by these shares, of each fold; and that of the pinned documents

    def __add__(self, other: Heard) -> Heard:
        tables = tuple(csr_array(one + two) for one, two in zip(self.tables, other.tables, strict=True))
        return Heard(
            self.having + other.having, self.word_tokens + other.word_tokens, self.class_tokens + other.class_tokens,
            self.sizes + other.sizes, self.tokens + other.tokens, tables,
        )  # fmt: skip


@dataclass(frozen=True)
class Hear:
    """What the documents of a block tell, as a function that may travel."""

    length: float | None
    dtype: str
    path_mask: Bools
    seeds: Mapping[int, Sequence[int]]
    sizes: Floats  # of all documents, by their shares at the start

    def __call__(self, counts: Csr, own: tuple[Array, ...]) -> tuple[Heard, None]:
        """``own`` are the shares of the documents at the start (sparse), their pins and their folds."""
        data, indices, indptr, pins, folds = own
        entries: Any = csr_array(shortened(counts, self.length)).astype(self.dtype, copy=False)
        n_classes = len(self.path_mask)
        held = _held(csr_array((data, indices, indptr), shape=(len(pins), n_classes)), pins)
        drawn = _drawn(held, entries, self.seeds, self.path_mask, pins, self.sizes)
        pinned = np.flatnonzero(pins >= 0)
        own_table = class_learning.tables_of(entries[pinned], class_learning.one_hot(pins[pinned], n_classes), None)
        heard = Heard(
            document_frequency(entries), token_counts(csr_array(entries.T)), token_counts(entries) @ held,
            np.asarray(drawn.sum(axis=0), np.float64).ravel(), float(entries.sum(dtype=np.float64)),
            (*class_learning.tables_of(entries, drawn, folds, N_FOLDS), *own_table),
        )  # fmt: skip
        return heard, None


def refit(
    model: HPLC,
    counts: Csr | BlockStore,
    nodes: tuple[int, ...],
    start: Csr,
    pins: Array,
    watching: Watching | None = None,
    *,
    seeds: Mapping[int, Sequence[int]] | None = None,
) -> HPLC:
    """Fit a categoriser to its ``tree`` from where the documents were.

    ``nodes`` are those of the classes, ``start`` has the share of each document in each class, ``pins`` the number of
    the class that a document belongs to, −1 for one that may move. Classes are called by the numbers of their nodes.
    ``seeds`` are columns of words that belong to nodes: prior tokens, by the size of the nodes at the start. A word
    that no document has and nobody wants has no probability anywhere.

    A ``BlockStore`` is fitted block by block, where the ``executor`` of the model computes.
    """
    with _known(model, counts) as known:
        dtype = _precision(model, known, len(nodes))
        prepare_kernels(dtype, "paths", "classes")
        labels = Labels(np.array(nodes), np.arange(known.shape[0]), np.asarray(pins))
        plan = class_learning.Plan(
            cast(Tree, model.tree), nodes, False, model._shares, "heldout", float(model.smoothing),
            model.effective_length, 1.0, 1.0, em.Rules(model.max_iter, model.tol), dtype, seed=0,
        )  # fmt: skip
        with options.running(model) as engine, threadpool_limits(limits=1, user_api="blas"):
            documents = _documents(engine, known, model.executor)
            sizes = _sizes(start, labels.of_row, documents.runs) if seeds else np.zeros(len(nodes))
            hear = Hear(plan.effective_length, dtype.name, plan.path_mask, seeds or {}, sizes)
            heard = documents.heard(hear, start, labels.of_row, _folds(len(pins), plan.seed))
            rules = replace(plan.rules, weight=max(1.0, heard.tokens), accelerate=False)
            with fitting("Fitting the shaped tree", rules, show=bool(model.verbose)) as shown:
                plan = replace(plan, rules=rules)
                watch = watched(watching, rules, shown)
                learned = _learned(engine, documents, heard, labels.of_row, plan, watch, seeds or {})
    model.sharpness_, model.floor_ = 1.0, 0.0
    model._keep(labels, plan, learned)
    return model


def _known(model: HPLC, counts: Csr | BlockStore) -> AbstractContextManager[Csr | BlockStore]:
    """The counts, which the model remembers the columns of."""
    if isinstance(counts, BlockStore):
        return stored_counts.as_store(model, counts)
    return nullcontext(model._counts(counts, reset=True))


def _precision(model: HPLC, counts: Csr | BlockStore, n_classes: int) -> Dtype:
    if isinstance(counts, BlockStore):
        return options.precision(model.dtype, counts.nnz, counts.largest, n_classes)
    return options.working_dtype(model.dtype, counts, n_classes)


def _documents(engine: Engine, counts: Csr | BlockStore, executor: Executor | None) -> _InMemory | _InFiles:
    if isinstance(counts, BlockStore):
        return _InFiles(StoredTeaching.of(engine, counts, executor))
    return _InMemory(counts)


@dataclass(frozen=True)
class _InMemory:
    """Documents as one block in memory."""

    counts: Csr
    executor: Executor | None = None

    @property
    def runs(self) -> list[slice]:
        """Of rows that are one block."""
        return [slice(None)]

    def heard(self, hear: Hear, start: Csr, pins: Array, folds: Ints) -> Heard:
        """What they tell."""
        return hear(self.counts, _own(start, pins, folds, slice(None)))[0]

    def free(self, pins: Array, seen: Bools, plan: class_learning.Plan) -> class_learning.Unlabelled | None:
        """Those that may move."""
        if (pins >= 0).all():
            return None
        entries = csr_array(shortened(self.counts, plan.effective_length)[np.flatnonzero(pins < 0)])
        rows = class_learning.narrowed(entries, seen, plan.dtype)
        return class_learning.Unlabelled((Shard.of(rows, plan.dtype, class_learning.TILE_COLUMNS),), (None,), 0.0)

    def kept(self, table: Side) -> Side:
        """A table where it is computed with."""
        return table


@dataclass(frozen=True)
class _InFiles:
    """Documents as blocks in files."""

    teaching: StoredTeaching

    @property
    def executor(self) -> Executor:
        """Where they are computed."""
        return self.teaching.executor

    @property
    def runs(self) -> list[slice]:
        """Of rows that are one block."""
        ends = np.cumsum([block.documents for block in self.teaching.store.manifest.blocks]).tolist()
        return [slice(*pair) for pair in pairwise([0, *ends])]

    def heard(self, hear: Hear, start: Csr, pins: Array, folds: Ints) -> Heard:
        """What they tell."""
        heard: Heard = self.teaching.told(hear, (_own(start, pins, folds, run) for run in self.runs))
        return heard

    def free(self, pins: Array, seen: Bools, plan: class_learning.Plan) -> class_learning.Unlabelled | None:
        """Those that may move."""
        return self.teaching.unlabelled([np.flatnonzero(pins[run] < 0) for run in self.runs], seen, plan)

    def kept(self, table: Side) -> Any:
        """A table where it is computed with."""
        return self.teaching.kept(table)


def _own(start: Csr, pins: Array, folds: Ints, run: slice) -> tuple[Array, ...]:
    """What is known of some documents: see ``Hear``."""
    part = csr_array(start[run])
    return part.data, part.indices, part.indptr, pins[run], folds[run].astype(np.int64)


def _sizes(start: Csr, pins: Array, runs: list[slice]) -> Floats:
    """Documents of each class at the start."""
    sizes: Floats = tree_sum(np.asarray(_held(start[run], pins[run]).sum(axis=0), np.float64).ravel() for run in runs)
    return sizes


def _folds(n_docs: int, seed: int) -> Ints:
    """The fold of each document."""
    return (np.random.default_rng(seed).permutation(n_docs) % N_FOLDS).astype(np.int8)


def paths_from_shares(engine: Engine, counts: Csr, shares: Csr, plan: class_learning.Plan) -> categorisers.Params:
    """The words of nodes and the nodes of paths of documents whose shares in classes are known (K5)."""
    folds = _folds(counts.shape[0], plan.seed).astype(np.int64)
    tables = class_learning.tables_of(shortened(counts, plan.effective_length), shares, folds)
    return _begun(engine, tables, np.asarray(shares.sum(axis=0), np.float64).ravel(), plan)


def _held(start: Csr, pins: Array) -> Csr:
    """The start without what is negligible, and with pinned documents where they belong."""
    free = csr_array(start)
    lengths = np.diff(free.indptr)
    kept = (free.data >= LEAST_SHARE) & np.repeat(pins < 0, lengths)
    rows = np.concatenate([np.repeat(np.arange(len(pins)), lengths)[kept], np.flatnonzero(pins >= 0)])
    columns = np.concatenate([free.indices[kept], pins[pins >= 0]])
    data = np.concatenate([free.data[kept], np.ones(int((pins >= 0).sum()))])
    return csr_array((data, (rows, columns)), shape=start.shape)


def _drawn(
    shares: Csr, entries: Csr, seeds: Mapping[int, Sequence[int]], mask: Bools, pins: Array, sizes: Floats
) -> Csr:
    """The start with a part of each document that has seed words under their node: of one that has t of them t/(t + 1).

    From where documents lie EM seldom finds its way to another place, however much more likely it has become: so they
    begin there, and their other words decide whether they stay. Pinned documents do not move.
    """
    if not seeds:
        return shares
    spoken = np.stack([entries[:, sorted(set(columns))].sum(axis=1) for columns in seeds.values()], axis=1)
    spoken = np.where(pins[:, None] < 0, np.ceil(np.asarray(spoken, np.float64)), 0.0)
    rows = np.flatnonzero(spoken.any(axis=1))
    sizes = sizes + EMPTIEST
    old, drawn = shares[rows].toarray().astype(np.float64), np.zeros((len(rows), len(sizes)))
    for place, node in enumerate(seeds):
        inside = mask[:, node] * (old + 1e-3 * sizes / sizes.sum())
        drawn += spoken[rows, place, None] * inside / np.maximum(inside.sum(axis=1, keepdims=True), 1e-300)
    moved = (old + drawn) / (1.0 + spoken[rows].sum(axis=1, keepdims=True))
    where = np.zeros(shares.shape[0], bool)
    where[rows] = True
    columns = np.tile(np.arange(len(sizes)), len(rows))
    put = csr_array((moved.ravel(), (np.repeat(rows, len(sizes)), columns)), shape=shares.shape)
    return csr_array(shares.multiply(~where[:, None]) + put)


def _begun(engine: Engine, tables: list[Csr], sizes: Floats, plan: class_learning.Plan) -> categorisers.Params:
    """Parameters to begin with: words, levels and P(class) of documents by their shares."""
    whole = csr_array(sum(tables[1:], tables[0]))
    mix, words = class_learning.interpolated(engine, whole, tables, plan)
    size = sizes + EMPTIEST
    return categorisers.Params(words, mix, size / size.sum())


def _learned(
    engine: Engine,
    documents: _InMemory | _InFiles,
    heard: Heard,
    pins: Array,
    plan: class_learning.Plan,
    watch: Callable[[em.Loop], None] | None,
    seeds: Mapping[int, Sequence[int]],
) -> class_learning.Learned:
    """EM with pinned and free documents, from what they tell of the start, over words that somebody has or wants."""
    seen = heard.having > 0
    for columns in seeds.values():
        seen[list(columns)] = True
    places, words = np.cumsum(seen) - 1, np.flatnonzero(seen)
    *tables, table = (csr_array(table[words]) for table in heard.tables)
    start = _begun(engine, tables, heard.sizes, plan)
    wanted = seeds_of(
        {node: places[list(columns)].tolist() for node, columns in seeds.items()}, plan.path_mask, heard.class_tokens
    )
    pinned = np.bincount(pins[pins >= 0], minlength=len(plan.class_nodes)).astype(np.float64)
    model = categorisers.Hplc(engine, plan.path_mask, "fixed", plan.smoothing, 1.0, start.topic_given_class, wanted)
    free, side = documents.free(pins, seen, plan), Side.of(table, plan.dtype)
    blocks, local = [categorisers.Block(side, pinned)], (None,)
    if free is not None:
        blocks, local = free.with_table(documents.kept(side), pinned), free.local
    executor = documents.executor if free is not None else None
    fit = em.run(model, blocks, em.State(start, local), plan.rules, watch=watch, executor=executor)
    tokens = np.asarray(table.sum(axis=0), np.float64).ravel()
    if free is not None:
        tokens = tokens + free.class_tokens(fit.state.local)
    return class_learning.everywhere(model, fit, seen, tokens, csr_array(heard.word_tokens[seen, None]))
