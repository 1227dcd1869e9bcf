"""Fitting a tree again that people have shaped: documents they pinned have their classes, the others only had them.

The shares that documents had before tell where to begin: topics and levels come from them as from labels, by deleted
interpolation (K5). Then EM goes on as with labelled and unlabelled documents (K4), on a tree that does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Bools, Csr, Dtype, Floats
from topiarist.counts.validation import token_counts
from topiarist.counts.weighting import shortened
from topiarist.estimators.category import class_learning
from topiarist.estimators.category.categorisers import HPLC
from topiarist.estimators.category.given_labels import Labels
from topiarist.estimators.common import options
from topiarist.estimators.common.progress import Watching, fitting, watched
from topiarist.estimators.tree.chosen_words import seeds_of
from topiarist.hierarchy.tree import Tree
from topiarist.models import categorisers, em
from topiarist.models.engine import Shard, Side
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.seeds import Seeds

LEAST_SHARE = 1e-3  # of a document in a class that has a part in the start
N_FOLDS = 3
EMPTIEST = 1e-6  # tokens of a class that has lost all documents: it may come back


def refit(
    model: HPLC,
    counts: Csr,
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
    """
    entries = shortened(model._counts(counts, reset=True), model.effective_length)
    dtype = options.working_dtype(model.dtype, counts, len(nodes))
    prepare_kernels(dtype, "paths", "classes")
    labels = Labels(np.array(nodes), np.arange(counts.shape[0]), np.asarray(pins))
    plan = class_learning.Plan(
        cast(Tree, model.tree), nodes, False, model._shares, "heldout", float(model.smoothing), model.effective_length,
        1.0, 1.0, em.Rules(model.max_iter, model.tol), dtype, seed=0,
    )  # fmt: skip
    entries, seen, words = _seen(entries, seeds or {}, dtype)
    with options.running(model) as engine, threadpool_limits(limits=1, user_api="blas"):
        held = _held(start, labels.of_row)
        wanted = seeds_of(words, plan.path_mask, token_counts(entries) @ held)
        begun = _begun(engine, entries, _drawn(held, entries, words, plan.path_mask, labels.of_row), plan)
        rules = replace(plan.rules, weight=max(1.0, float(entries.sum(dtype=np.float64))), accelerate=False)
        with fitting("Fitting the shaped tree", rules, show=bool(model.verbose)) as shown:
            plan = replace(plan, rules=rules)
            watch = watched(watching, rules, shown)
            learned = _learned(engine, entries, labels.of_row, plan, begun, watch, wanted, seen)
    model.sharpness_, model.floor_ = 1.0, 0.0
    model._keep(labels, plan, learned)
    return model


def _seen(entries: Csr, seeds: Mapping[int, Sequence[int]], dtype: Dtype) -> tuple[Csr, Bools, dict[int, list[int]]]:
    """The counts of words that a document has or somebody wants, which words those are, and where the seeds are."""
    seen = np.zeros(entries.shape[1], bool)
    seen[entries.indices] = True
    for columns in seeds.values():
        seen[list(columns)] = True
    places = np.cumsum(seen, dtype=entries.indices.dtype) - 1
    shape = (entries.shape[0], int(seen.sum()))
    kept = csr_array((entries.data.astype(dtype), places[entries.indices], entries.indptr), shape=shape)
    return kept, seen, {node: places[list(columns)].tolist() for node, columns in seeds.items()}


def paths_from_shares(engine: Engine, counts: Csr, shares: Csr, plan: class_learning.Plan) -> categorisers.Params:
    """The words of nodes and the nodes of paths of documents whose shares in classes are known (K5)."""
    return _begun(engine, shortened(counts, plan.effective_length), shares, plan)


def _held(start: Csr, pins: Array) -> Csr:
    """The start without what is negligible, and with pinned documents where they belong."""
    free = csr_array(start)
    lengths = np.diff(free.indptr)
    kept = (free.data >= LEAST_SHARE) & np.repeat(pins < 0, lengths)
    rows = np.concatenate([np.repeat(np.arange(len(pins)), lengths)[kept], np.flatnonzero(pins >= 0)])
    columns = np.concatenate([free.indices[kept], pins[pins >= 0]])
    data = np.concatenate([free.data[kept], np.ones(int((pins >= 0).sum()))])
    return csr_array((data, (rows, columns)), shape=start.shape)


def _drawn(shares: Csr, entries: Csr, seeds: Mapping[int, Sequence[int]], mask: Bools, pins: Array) -> Csr:
    """The start with a part of each document that has seed words under their node: of one that has t of them t/(t + 1).

    From where documents lie EM seldom finds its way to another place, however much more likely it has become: so they
    begin there, and their other words decide whether they stay. Pinned documents do not move.
    """
    if not seeds:
        return shares
    spoken = np.stack([entries[:, sorted(set(columns))].sum(axis=1) for columns in seeds.values()], axis=1)
    spoken = np.where(pins[:, None] < 0, np.ceil(np.asarray(spoken, np.float64)), 0.0)
    rows = np.flatnonzero(spoken.any(axis=1))
    sizes = np.asarray(shares.sum(axis=0), np.float64).ravel() + EMPTIEST
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


def _begun(engine: Engine, entries: Csr, shares: Csr, plan: class_learning.Plan) -> categorisers.Params:
    """Parameters to begin with: words, levels and P(class) of documents by their shares."""
    folds = np.random.default_rng(plan.seed).permutation(entries.shape[0]) % N_FOLDS
    tables = class_learning.tables_of(entries, shares, folds)
    whole = csr_array(sum(tables[1:], tables[0]))
    mix, words = class_learning.interpolated(engine, whole, tables, plan)
    size: Floats = np.asarray(shares.sum(axis=0), np.float64).ravel() + EMPTIEST
    return categorisers.Params(words, mix, size / size.sum())


def _learned(
    engine: Engine,
    entries: Csr,
    pins: Array,
    plan: class_learning.Plan,
    start: categorisers.Params,
    watch: Callable[[em.Loop], None] | None,
    seeds: Seeds | None,
    seen: Bools,
) -> class_learning.Learned:
    """EM with pinned and free documents, from the start."""
    pinned = np.flatnonzero(pins >= 0)
    n_classes, free = len(plan.class_nodes), entries[np.flatnonzero(pins < 0)]
    ones = csr_array((np.ones(len(pinned)), (np.arange(len(pinned)), pins[pinned])), shape=(len(pinned), n_classes))
    table = class_learning.tables_of(entries[pinned], ones, None)[0]
    documents = np.bincount(pins[pinned], minlength=n_classes).astype(np.float64)
    model = categorisers.Hplc(engine, plan.path_mask, "fixed", plan.smoothing, 1.0, start.topic_given_class, seeds)
    shard = Shard.of(csr_array(free), plan.dtype, class_learning.TILE_COLUMNS) if free.shape[0] else None
    block = categorisers.Block(Side.of(table, plan.dtype), documents, shard)
    fit = em.run(model, [block], em.State(start, (None,)), plan.rules, watch=watch)
    tokens = np.asarray(table.sum(axis=0), np.float64).ravel()
    if shard is not None:
        tokens = tokens + token_counts(free) @ fit.state.local[0]
    return class_learning.everywhere(model, fit, seen, tokens, csr_array(entries.T))
