"""Learning classes from labelled documents, and telling those of others: what the categorisers share, as functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Dtype, Floats, Ints
from topiarist.counts.validation import document_frequency, token_counts
from topiarist.counts.weighting import shortened
from topiarist.errors import InputError
from topiarist.estimators.category.given_labels import Labels
from topiarist.hierarchy.tree import Tree
from topiarist.models import categorisers, em
from topiarist.models.engine import Shard, Side, even_cuts
from topiarist.models.engine.host import Engine
from topiarist.scale.executors import Executor, tree_sum
from topiarist.store.array_files import opened

N_FOLDS, N_FOLDS_OF_MANY, MANY = 5, 3, 5000  # folds; of many labelled documents three say as much
FOLD_RULES = {"max_iter": 20, "tol": 1e-3}  # of deleted interpolation: P(ν|α) is a few numbers, settled to a percent
TILE_COLUMNS = 64
SMALLEST_CLASS = 1e-9  # tokens: a class that a fold has left without documents is next to impossible
FLOOR = 1e-9
ROUNDING = 1e-7  # tokens: what a difference leaves of nothing

Watch = Callable[[em.Loop], None]


@dataclass(frozen=True)
class Plan:
    """Everything that learning depends on but the documents."""

    tree: Tree
    class_nodes: tuple[int, ...]
    flat: bool  # classes have their own words alone
    shares: bool  # a document's tokens choose their classes one by one (K2); else it has one class (K3)
    topic_mix: str
    smoothing: float
    effective_length: float | None
    unlabelled_weight: float
    inverse_temperature: float
    rules: em.Rules
    dtype: Dtype
    seed: int

    @property
    def reading_length(self) -> float | None:
        """The effective length of a document that is categorised; its shares do not depend on it."""
        return None if self.shares else self.effective_length

    @property
    def path_mask(self) -> Bools:
        """Which topics a class speaks with."""
        mask = self.tree.path_mask(self.class_nodes)
        if not self.flat:
            return mask
        own = np.zeros_like(mask)
        own[np.arange(len(self.class_nodes)), self.class_nodes] = True
        return own


@dataclass(frozen=True)
class Learned:
    """What was learned, for all words of the counts; words that nobody used have no probability anywhere."""

    word_given_topic: Floats
    topic_given_class: Floats
    class_word_table: Floats  # (n_words, n_classes)
    class_tokens: Floats  # #α
    fit: em.Fit


@dataclass(frozen=True)
class Taught:
    """What documents whose classes are known teach: tables over the words to learn."""

    tables: list[Csr]  # (K1), of each fold
    interpolates: bool  # whether P(ν|α) comes from the folds (K5)
    documents: Floats  # of each class
    seen: Bools  # of all words, those to learn


@dataclass(frozen=True)
class Unlabelled:
    """Documents whose classes are not known, with the words to learn: blocks in memory, or handles."""

    blocks: tuple[Any, ...]
    local: tuple[Any, ...]  # of each a start, which says nothing
    tokens: float

    def with_table(self, table: Any, documents: Floats) -> list[categorisers.Block]:
        """The blocks of (K4): what labelled documents teach counts once."""
        rest = [categorisers.Block(None, np.zeros_like(documents), block) for block in self.blocks[1:]]
        return [categorisers.Block(table, documents, self.blocks[0]), *rest]

    def class_tokens(self, local: tuple[Any, ...]) -> Floats:
        """The tokens of each class, by P(class | document)."""
        return tree_sum(_tokens(block.rows) @ opened(rows) for block, rows in zip(self.blocks, local, strict=True))  # type: ignore[no-any-return]


def _tokens(side: Side) -> Floats:
    """Of each document."""
    return token_counts(csr_array((side.data, side.indices, side.indptr), shape=(side.n_rows, 1)))


def learn(engine: Engine, counts: Csr, labels: Labels, plan: Plan, watch: Watch | None = None) -> Learned:
    """(K1): topics of the classes from labelled documents, then, where there are any, with unlabelled ones (K4)."""
    if plan.unlabelled_weight == 0:
        labels = labels.only(np.flatnonzero(labels.of_row >= 0))
    entries, seen, smoothing = _entries(counts, labels, plan)
    labelled = labels.of_row >= 0
    known, of_known = entries[np.flatnonzero(labelled)], labels.of_row[labelled]
    folds = folds_of(labels, plan)
    taught = Taught(
        tables_of(known, one_hot(of_known, len(labels.classes)), folds),
        folds is not None,
        documents_of(labels),
        seen,
    )
    free = None
    if not labelled.all():
        rows = entries[np.flatnonzero(~labelled)]
        shard = Shard.of(rows, plan.dtype, TILE_COLUMNS)
        free = Unlabelled((shard,), (None,), float(rows.sum(dtype=np.float64)))
    return learned_from(engine, taught, free, replace(plan, smoothing=smoothing), watch)


def folds_of(labels: Labels, plan: Plan) -> Ints | None:
    """The fold of each labelled entry, where P(ν|α) comes from documents held out in turn; else None."""
    if plan.topic_mix != "heldout" or plan.flat:
        return None
    labelled = labels.of_row >= 0
    n_folds = N_FOLDS if np.count_nonzero(labelled) < MANY else N_FOLDS_OF_MANY
    return fold_numbers(labels, plan.seed, n_folds)[labelled]


def documents_of(labels: Labels) -> Floats:
    """How many documents have each class."""
    known = labels.of_row[labels.of_row >= 0]
    return np.bincount(known, minlength=len(labels.classes)).astype(np.float64)


def learned_from(
    engine: Engine,
    taught: Taught,
    free: Unlabelled | None,
    plan: Plan,
    watch: Watch | None,
    executor: Executor | None = None,
    kept: Callable[[Side], Any] = lambda table: table,
) -> Learned:
    """The same, from what labelled documents teach; ``kept`` is how a table lies where blocks are computed."""
    tables, documents, mask = taught.tables, taught.documents, plan.path_mask
    whole = csr_array(sum(tables[1:], tables[0])) if taught.interpolates else tables[0]
    table = Side.of(whole, plan.dtype)
    mix = None if plan.topic_mix == "ml" and not plan.flat else categorisers.even_mix(mask)
    if taught.interpolates:
        mix, words = interpolated(engine, whole, tables, plan)
    else:
        words = categorisers.pooled(engine, whole, mask, plan.smoothing, plan.dtype)
    model = categorisers.Hplc(
        engine, mask, "ml" if mix is None else "fixed", plan.smoothing, plan.unlabelled_weight, mix
    )
    start = categorisers.Params(
        words,
        categorisers.even_mix(mask) if mix is None else mix,
        documents / documents.sum(),
    )
    class_tokens = np.asarray(whole.sum(axis=0)).ravel()
    run = {"inverse_temperature": plan.inverse_temperature, "watch": watch}
    rules = replace(plan.rules, weight=float(class_tokens.sum()), accelerate=False)
    fit = em.run(model, [categorisers.Block(table, documents)], em.State(start, (None,)), rules, **run)  # type: ignore[arg-type]
    if free is not None and fit.reason != "interrupted":
        rules = replace(rules, weight=rules.weight + plan.unlabelled_weight * free.tokens)
        blocks, state = free.with_table(kept(table), documents), em.State(fit.state.shared, free.local)
        fit = em.run(model, blocks, state, rules, executor=executor, **run)  # type: ignore[arg-type]
        class_tokens = class_tokens + plan.unlabelled_weight * free.class_tokens(fit.state.local)
    return everywhere(model, fit, taught.seen, class_tokens, whole)


def _entries(counts: Csr, labels: Labels, plan: Plan) -> tuple[Any, Any, float]:
    """The documents of the labels in order, with the words to learn; which words those are; their smoothing."""
    counts = shortened(counts, plan.effective_length)
    if len(labels.rows) != counts.shape[0] or (labels.rows[:-1] >= labels.rows[1:]).any():
        counts = csr_array(counts[labels.rows])
    known = np.zeros(counts.shape[1], bool)
    labelled = np.repeat(labels.of_row >= 0, np.diff(counts.indptr))
    known[counts.indices[labelled]] = True
    seen, smoothing = words_to_learn(known, None if labelled.all() else document_frequency(counts), plan.smoothing)
    return narrowed(counts, seen, plan.dtype), seen, smoothing


def words_to_learn(known: Bools, having: Ints | None, smoothing: float) -> tuple[Bools, float]:
    """Which words to learn, and their smoothing, where ``having`` documents have each and labelled ones the ``known``.

    A word of one unlabelled document alone tells nothing about any other. Unlabelled documents bring words, but no more
    pseudo-counts: they are spread over more words. None: all documents have labels.
    """
    seen = known if having is None else known | (having > 1)
    return seen, smoothing * float(known.sum()) / max(1.0, float(seen.sum()))


def narrowed(counts: Csr, seen: Bools, dtype: Dtype) -> Csr:
    """Counts of some words alone."""
    places = np.cumsum(seen, dtype=counts.indices.dtype) - 1
    those, indptr = seen[counts.indices], counts.indptr
    kept: slice | Bools = slice(None)
    if not those.all():
        kept, indptr = those, np.append(0, np.cumsum(those))[indptr].astype(indptr.dtype)
    data, columns = counts.data[kept].astype(dtype, copy=False), places[counts.indices[kept]]
    return csr_array((data, columns, indptr), shape=(counts.shape[0], int(seen.sum())))


def fold_numbers(labels: Labels, seed: int, n_folds: int = N_FOLDS) -> Ints:
    """The fold of each entry: the documents of a class are dealt out evenly; a document is in one fold only."""
    rng = np.random.default_rng(seed)
    documents, first = np.unique(labels.rows, return_index=True)
    of_doc = np.zeros(int(labels.rows.max(initial=0)) + 1, np.int64)
    classes = labels.of_row[first]
    turn = 0
    for label in np.unique(classes):
        members = rng.permutation(documents[classes == label])
        of_doc[members] = (turn + np.arange(len(members))) % n_folds
        turn += len(members)
    return of_doc[labels.rows]


def tables_of(entries: Csr, shares: Csr, folds: Ints | None, n_folds: int | None = None) -> list[Csr]:
    """(K1): #(j,α), how often each word occurs in each class, words × classes; one table for each fold.

    ``shares`` are those of each document in each class (sparse): all of it in one where the class is known. Tables of
    several blocks of documents add up; ``n_folds`` is then that of all.
    """
    n_docs, n_classes = shares.shape
    rows = np.repeat(np.arange(n_docs), np.diff(shares.indptr))
    n_tables = 1 if folds is None else n_folds or int(folds.max()) + 1
    places = shares.indices if folds is None else folds[rows] * n_classes + shares.indices
    chosen = csr_array((shares.data, (places, rows)), shape=(n_tables * n_classes, n_docs))
    sums = csr_array(chosen @ entries)
    tables = [csr_array(sums[t * n_classes : (t + 1) * n_classes].T) for t in range(n_tables)]
    for table in tables:
        table.sort_indices()
    return tables


def one_hot(of_row: Array, n_classes: int) -> Any:
    """The shares of documents whose classes are known."""
    parts = (np.ones(len(of_row)), of_row, np.arange(len(of_row) + 1))
    return csr_array(parts, shape=(len(of_row), n_classes))


def interpolated(engine: Engine, whole: Csr, tables: list[Csr], plan: Plan) -> tuple[Floats, Floats]:
    """(K5): P(ν|α) by deleted interpolation, and the mean of the words without a fold: a start for those of all."""
    mask = plan.path_mask
    model = categorisers.Interpolation(engine, mask, plan.smoothing)
    folds, local, cells = [], [], _cells(whole)
    for part in tables:
        inside = np.zeros(whole.nnz)
        inside[np.searchsorted(cells, _cells(part))] = part.data
        outside = np.where(whole.data - inside > ROUNDING, whole.data - inside, 0.0)
        data = np.stack([outside, inside], axis=1).astype(plan.dtype)
        folds.append(Side(whole.indptr, whole.indices, data, even_cuts(whole.indptr)))
        rest = csr_array((outside, whole.indices, whole.indptr), shape=whole.shape)
        local.append(categorisers.pooled(engine, rest, mask, plan.smoothing, plan.dtype))
    rules = em.Rules(weight=float(whole.sum()), accelerate=False, **FOLD_RULES)  # type: ignore[arg-type]
    start = em.State(categorisers.even_mix(mask), tuple(local))
    del local
    state = em.run(model, folds, start, rules, inverse_temperature=plan.inverse_temperature).state
    words = state.local[0].copy()
    for others in state.local[1:]:
        words += others
    return state.shared, engine.normalise_rows(words, 0.0)


def _cells(table: Csr) -> Any:
    """The places of the non-zeros of a table, counted row after row."""
    rows = np.repeat(np.arange(table.shape[0], dtype=np.int64), np.diff(table.indptr))
    return rows * table.shape[1] + table.indices


def everywhere(model: categorisers.Hplc, fit: em.Fit, seen: Bools, class_tokens: Array, table: Csr) -> Learned:
    """Parameters for all words. A topic that no class speaks with has the words of all of them."""
    shared: categorisers.Params = fit.state.shared
    silent = ~model.path_mask.any(axis=0)
    words = shared.word_given_topic
    if silent.any():
        total = token_counts(table)
        words = words.copy()
        words[silent] = total / total.sum()
    by_word = model.class_word_table(shared)
    if not seen.all():
        everywhere = np.zeros((len(words), len(seen)), words.dtype)
        everywhere[:, seen] = words
        spread = np.zeros((len(seen), by_word.shape[1]), by_word.dtype)
        spread[seen] = by_word
        words, by_word = everywhere, spread
    return Learned(words, shared.topic_given_class, by_word, np.maximum(class_tokens, SMALLEST_CLASS), fit)


@dataclass(frozen=True)
class Categoriser:
    """P(class | document) as a function that may travel."""

    engine: Engine
    class_word_table: Floats  # (n_words, n_classes)
    class_tokens: Floats
    shares: bool
    effective_length: float | None = None
    sharpness: float = 1.0
    floor: float = FLOOR

    @property
    def dtype(self) -> Dtype:
        """The precision of the rows."""
        return self.class_word_table.dtype

    @property
    def n_components(self) -> int:
        """Classes."""
        return int(self.class_word_table.shape[1])

    def __call__(self, counts: Csr) -> Floats:
        """A row for each row of the counts; P(class) for a document without a known word."""
        counts, words = shortened(counts, self.effective_length), self.class_word_table
        folding = categorisers.patience(words.size, words.dtype)
        if counts.nnz < len(words) // 2:  # a few documents: the words that they have
            used = np.unique(counts.indices)
            places = np.searchsorted(used, counts.indices).astype(counts.indices.dtype)
            counts = csr_array((counts.data, places, counts.indptr), shape=(counts.shape[0], len(used)))
            words = np.ascontiguousarray(words[used])
        side = Side.of(counts, words.dtype)
        if self.shares:
            rows = categorisers.posterior_of_shares(self.engine, side, words, self.class_tokens, folding)
        else:
            prior = self.class_tokens / self.class_tokens.sum()
            rows = categorisers.posterior_of_one_class(self.engine, side, words, prior)[0]
        if self.sharpness == 1.0:
            return rows
        told = sharpened(rows, self.sharpness, self.floor)
        blank = counts @ (words.max(axis=1, initial=0) > 0).astype(np.float64) == 0
        told[blank] = rows[blank]  # the prior is how frequent classes are, and has nothing to be sharpened
        return told


def sharpened(rows: Floats, exponent: float, floor: float = FLOOR) -> Floats:
    """Probabilities with a floor, to a power: more certain above one, less below; the order of classes stays."""
    logs = exponent * np.log(rows.astype(np.float64) + floor)
    values = np.exp(logs - logs.max(axis=1, keepdims=True))
    out: Floats = (values / values.sum(axis=1, keepdims=True)).astype(rows.dtype)
    return out


def check_words(counts: Csr, labels: Labels) -> None:
    """Every class has a document with words."""
    lengths = np.diff(counts.indptr)[labels.rows]
    spoken = np.bincount(labels.of_row[(labels.of_row >= 0) & (lengths > 0)], minlength=len(labels.classes))
    check_spoken(labels.classes, spoken)


def check_spoken(classes: Array, spoken: Array) -> None:
    """The same, from the number of documents with words of each class."""
    if (spoken == 0).any():
        raise InputError(
            f"the class {classes.tolist()[int(spoken.argmin())]!r} has no document with words",
            hint="documents with words for it, or −1 in the place of its labels",
        )
