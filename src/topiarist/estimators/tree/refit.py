"""Refit of an edited tree: pinned documents have known classes, the others start from their old shares.

Topics and levels start from the old shares as if these were labels, by deleted interpolation (K5). Then EM continues as
with labelled and unlabelled documents (K4), on a fixed tree. All statistics add up over blocks, which may be files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from topiarist.arrays import TINY, Array, Bools, Csr, Floats, Ints
from topiarist.counts.validation import compute_document_frequency, count_tokens
from topiarist.counts.weighting import shorten_documents
from topiarist.estimators.category import class_learning
from topiarist.estimators.category.categorisers import HPLC
from topiarist.estimators.category.given_labels import Labels
from topiarist.estimators.category.training_data import TrainingData, draw_choosing_sample
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.progress import show_fit, watch_steps
from topiarist.estimators.tree.chosen_words import make_seeds
from topiarist.execution.blocks import BlockStore
from topiarist.execution.executors import tree_sum
from topiarist.models import categorisers, em
from topiarist.models.engine import CountsView
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.progress import ProgressReporter
from topiarist.trees.tree import Tree

MIN_SHARE = 1e-3  # of a document in a class that has a part in the start
MAJORITY = 0.5  # of a document in a class at the start: then it speaks for the certainty of that class
N_FOLDS = 3
MIN_CLASS_SIZE = 1e-6  # tokens of a class that has lost all documents: it may come back


@dataclass(frozen=True)
class RefitStatistics:
    """Sufficient statistics of a block of documents; instances can be added."""

    having: Ints  # documents that have each word
    word_tokens: Floats
    class_tokens: Floats  # by the shares at the start
    sizes: Floats  # documents of each class, where seed words have drawn them
    tokens: float
    tables: tuple[Csr, ...]  # (K1) by these shares, of each fold; and that of the pinned documents

    def __add__(self, other: RefitStatistics) -> RefitStatistics:
        tables = tuple(
            csr_array(own_table + other_table) for own_table, other_table in zip(self.tables, other.tables, strict=True)
        )
        return RefitStatistics(
            self.having + other.having, self.word_tokens + other.word_tokens, self.class_tokens + other.class_tokens,
            self.sizes + other.sizes, self.tokens + other.tokens, tables,
        )  # fmt: skip


@dataclass(frozen=True)
class CollectRefitStatistics:
    """Function from a block of documents to its statistics; can be sent to workers."""

    length: float | None
    dtype: str
    path_mask: Bools
    seeds: Mapping[int, Sequence[int]]
    sizes: Floats  # of all documents, by their shares at the start

    def __call__(self, counts: Csr, documents: tuple[Array, ...]) -> tuple[RefitStatistics, None]:
        """Return the statistics; ``documents`` has their sparse start shares, pins and folds."""
        data, indices, indptr, pins, folds = documents
        entries: Any = csr_array(shorten_documents(counts, self.length)).astype(self.dtype, copy=False)
        n_classes = len(self.path_mask)
        shares = _select_shares(csr_array((data, indices, indptr), shape=(len(pins), n_classes)), pins)
        start_shares = _shift_to_seeds(shares, entries, self.seeds, self.path_mask, pins, self.sizes)
        pinned_rows = np.flatnonzero(pins >= 0)
        pinned_table = class_learning.count_class_words(
            entries[pinned_rows], class_learning.make_one_hot(pins[pinned_rows], n_classes), None
        )
        statistics = RefitStatistics(
            compute_document_frequency(entries), count_tokens(csr_array(entries.T)), count_tokens(entries) @ shares,
            np.asarray(start_shares.sum(axis=0), np.float64).ravel(), float(entries.sum(dtype=np.float64)),
            (*class_learning.count_class_words(entries, start_shares, folds, N_FOLDS), *pinned_table),
        )  # fmt: skip
        return statistics, None


def refit(
    model: HPLC,
    counts: Csr | BlockStore,
    nodes: tuple[int, ...],
    start: Csr,
    pins: Array,
    reporter: ProgressReporter | None = None,
    *,
    seeds: Mapping[int, Sequence[int]] | None = None,
) -> HPLC:
    """Fit a categoriser to its ``tree``, starting from the old shares of the documents.

    ``nodes`` are the nodes of the classes, and classes are named by their numbers. ``start`` is the share of each
    document in each class. ``pins`` is the class of a pinned document, −1 for others. ``seeds`` are columns of seed
    words by node; their prior tokens depend on the sizes of the nodes at the start. A word without documents and seeds
    has probability zero.

    A ``BlockStore`` is fitted block by block on the ``executor`` of the model. With ``calibrate`` the start shares
    serve as labels for the calibration.
    """
    training = stored_counts.check_input(model, counts, reset=True)
    dtype = options.working_dtype(model.dtype, training, len(nodes))
    prepare_kernels(dtype, "paths", "classes")
    labels = Labels(np.array(nodes), np.arange(training.shape[0]), np.asarray(pins))
    plan = class_learning.Plan(
        cast(Tree, model.tree), nodes, False, model._shares, "heldout", float(model.smoothing),
        model.effective_length, 1.0, 1.0, em.Rules(model.max_iter, model.tol), dtype, seed=0,
    )  # fmt: skip
    with options.open_engine(model) as engine, threadpool_limits(limits=1, user_api="blas"):
        data = TrainingData.from_counts(training, model.executor)
        sizes: Floats = np.zeros(len(nodes))
        if seeds:  # documents of each class at the start
            parts = (_select_shares(start[run], labels.of_row[run]) for run in data.runs)
            sizes = tree_sum(np.asarray(part.sum(axis=0), np.float64).ravel() for part in parts)
        collect = CollectRefitStatistics(plan.effective_length, dtype.name, plan.path_mask, seeds or {}, sizes)
        folds = _deal_folds(len(pins), plan.seed)
        blocks = ((csr_array(start[run]), run) for run in data.runs)
        documents = (
            (block.data, block.indices, block.indptr, labels.of_row[run], folds[run].astype(np.int64))
            for block, run in blocks
        )
        statistics: RefitStatistics = data.total(collect, documents)
        rules = replace(plan.rules, weight=max(1.0, statistics.tokens), accelerate=False)
        with show_fit("Fitting the shaped tree", rules, show=bool(model.verbose)) as show:
            plan = replace(plan, rules=rules)
            watch = watch_steps(reporter, rules, show)
            result = _run_em(engine, data, statistics, labels.of_row, plan, watch, seeds or {})
        homes = Labels(labels.classes, labels.rows, _assign_classes(start, labels.of_row))
        sample = draw_choosing_sample(training, homes, plan.seed) if model.calibrate else None
        model._calibrate(engine, sample, replace(plan, unlabelled_weight=0.0))
    model._store_result(labels, plan, result)
    return model


def _deal_folds(n_docs: int, seed: int) -> Ints:
    return (np.random.default_rng(seed).permutation(n_docs) % N_FOLDS).astype(np.int8)


def learn_paths(engine: Engine, counts: Csr, shares: Csr, plan: class_learning.Plan) -> categorisers.Params:
    """Return words of nodes and nodes of paths for documents with known shares in classes (K5)."""
    folds = _deal_folds(counts.shape[0], plan.seed).astype(np.int64)
    tables = class_learning.count_class_words(shorten_documents(counts, plan.effective_length), shares, folds)
    return _make_start(engine, tables, np.asarray(shares.sum(axis=0), np.float64).ravel(), plan)


def _select_shares(start: Csr, pins: Array) -> Csr:
    """Return the start shares without negligible ones, with pinned documents in their classes."""
    start_rows = csr_array(start)
    lengths = np.diff(start_rows.indptr)
    is_kept = (start_rows.data >= MIN_SHARE) & np.repeat(pins < 0, lengths)
    rows = np.concatenate([np.repeat(np.arange(len(pins)), lengths)[is_kept], np.flatnonzero(pins >= 0)])
    columns = np.concatenate([start_rows.indices[is_kept], pins[pins >= 0]])
    data = np.concatenate([start_rows.data[is_kept], np.ones(int((pins >= 0).sum()))])
    return csr_array((data, (rows, columns)), shape=start.shape)


def _assign_classes(start: Csr, pins: Array) -> Array:
    """Return the class of each document by its pin or by most of its start shares, −1 for none."""
    rows, is_majority = np.repeat(np.arange(start.shape[0]), np.diff(start.indptr)), start.data > MAJORITY
    assignments = np.full(start.shape[0], -1, np.int64)
    assignments[rows[is_majority]] = start.indices[is_majority]
    return np.where(pins >= 0, pins, assignments)


def _shift_to_seeds(
    shares: Csr, entries: Csr, seeds: Mapping[int, Sequence[int]], mask: Bools, pins: Array, sizes: Floats
) -> Csr:
    """Return start shares in which documents with t tokens of seed words move t/(t + 1) to the classes under that node.

    EM seldom moves documents to a distant class, even if it has become much more likely. So these documents start
    there, and their other words decide whether they stay. Pinned documents do not move.
    """
    if not seeds:
        return shares
    seed_tokens = np.stack([entries[:, sorted(set(columns))].sum(axis=1) for columns in seeds.values()], axis=1)
    seed_tokens = np.where(pins[:, None] < 0, np.ceil(np.asarray(seed_tokens, np.float64)), 0.0)
    rows = np.flatnonzero(seed_tokens.any(axis=1))
    sizes = sizes + MIN_CLASS_SIZE
    old, seed_shares = shares[rows].toarray().astype(np.float64), np.zeros((len(rows), len(sizes)))
    for place, node in enumerate(seeds):
        inside = mask[:, node] * (old + 1e-3 * sizes / sizes.sum())
        seed_shares += seed_tokens[rows, place, None] * inside / np.maximum(inside.sum(axis=1, keepdims=True), TINY)
    new_shares = (old + seed_shares) / (1.0 + seed_tokens[rows].sum(axis=1, keepdims=True))
    is_changed = np.zeros(shares.shape[0], bool)
    is_changed[rows] = True
    columns = np.tile(np.arange(len(sizes)), len(rows))
    changed_shares = csr_array((new_shares.ravel(), (np.repeat(rows, len(sizes)), columns)), shape=shares.shape)
    return csr_array(shares.multiply(~is_changed[:, None]) + changed_shares)


def _make_start(engine: Engine, tables: list[Csr], sizes: Floats, plan: class_learning.Plan) -> categorisers.Params:
    total = csr_array(sum(tables[1:], tables[0]))
    mix, words = class_learning.interpolate_levels(engine, total, tables, plan)
    size = sizes + MIN_CLASS_SIZE
    return categorisers.Params(words, mix, size / size.sum())


def _run_em(
    engine: Engine,
    data: TrainingData,
    statistics: RefitStatistics,
    pins: Array,
    plan: class_learning.Plan,
    watch: Callable[[em.Loop], None] | None,
    seeds: Mapping[int, Sequence[int]],
) -> class_learning.LearnedClasses:
    """Run EM with pinned and free documents from the start statistics, over words with documents or seeds."""
    is_learned = statistics.having > 0
    for columns in seeds.values():
        is_learned[list(columns)] = True
    places, words = np.cumsum(is_learned) - 1, np.flatnonzero(is_learned)
    *tables, table = (csr_array(table[words]) for table in statistics.tables)
    start = _make_start(engine, tables, statistics.sizes, plan)
    prior_seeds = make_seeds(
        {node: places[list(columns)].tolist() for node, columns in seeds.items()},
        plan.path_mask,
        statistics.class_tokens,
    )
    n_pinned = np.bincount(pins[pins >= 0], minlength=len(plan.class_nodes)).astype(np.float64)
    model = categorisers.Hplc(
        engine, plan.path_mask, "fixed", plan.smoothing, 1.0, start.topic_given_class, prior_seeds
    )
    free = data.unlabelled([np.flatnonzero(pins[run] < 0) for run in data.runs], is_learned, plan)
    side = CountsView.from_matrix(table, plan.dtype)
    blocks, local = [categorisers.Block(side, n_pinned)], (None,)
    if free is not None:
        blocks, local = free.with_table(data.keep_table(side), n_pinned), free.local
    executor = data.executor if free is not None else None
    fit = em.run(model, blocks, em.State(start, local), plan.rules, watch=watch, executor=executor)
    tokens = np.asarray(table.sum(axis=0), np.float64).ravel()
    if free is not None:
        tokens = tokens + free.class_tokens(fit.state.local)
    return class_learning.expand_to_all_words(
        model, fit, is_learned, tokens, csr_array(statistics.word_tokens[is_learned, None])
    )
