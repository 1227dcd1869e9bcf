"""Training and prediction of the categorisers, as functions of blocks of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Dtype, Floats, Ints
from topiarist.counts.validation import compute_document_frequency, count_tokens
from topiarist.counts.weighting import shorten_documents
from topiarist.errors import InputError
from topiarist.estimators.category.certainty_scale import CertaintyScale
from topiarist.estimators.category.given_labels import Labels
from topiarist.estimators.category.training_data import MANY_LABELLED, N_FOLDS, N_FOLDS_OF_MANY, TrainingData
from topiarist.models import categorisers, em
from topiarist.models.engine import CountsView, cut_evenly
from topiarist.models.engine.host import Engine
from topiarist.models.path_models import make_uniform_mix
from topiarist.trees.tree import Tree

FOLD_RULES = {"max_iter": 20, "tol": 1e-3}  # of deleted interpolation: P(ν|α) is a few numbers, settled to a percent
MIN_CLASS_TOKENS = 1e-9  # tokens: a class that a fold has left without documents is next to impossible
EQUAL_LENGTH = 40.0  # tokens, as training weighs documents: certainties hardly depend on it between 20 and 160
ROUNDING = 1e-7  # tokens: what a difference leaves of nothing

Watch = Callable[[em.Loop], None]


@dataclass(frozen=True)
class Plan:
    """Settings of the training of a categoriser."""

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
        """Effective length of documents to categorise; None for the model of shares, which does not depend on it."""
        return None if self.shares else self.effective_length

    @property
    def path_mask(self) -> Bools:
        """Topics that each class uses, (classes, nodes)."""
        mask = self.tree.path_mask(self.class_nodes)
        if not self.flat:
            return mask
        own_mask = np.zeros_like(mask)
        own_mask[np.arange(len(self.class_nodes)), self.class_nodes] = True
        return own_mask


@dataclass(frozen=True)
class LearnedClasses:
    """Learned parameters for all words of the counts; unused words have probability zero."""

    word_given_topic: Floats
    topic_given_class: Floats
    class_word_table: Floats  # (n_words, n_classes)
    class_tokens: Floats  # #α
    fit: em.Fit


@dataclass(frozen=True)
class BlockStatistics:
    """Statistics of labelled documents of a block; instances can be added."""

    labelled_frequency: Ints  # documents with a class that have each word
    document_frequency: Ints  # all documents that have it
    tables: tuple[Csr, ...]  # (K1), of each fold, over all words

    def __add__(self, other: BlockStatistics) -> BlockStatistics:
        tables = tuple(csr_array(first + second) for first, second in zip(self.tables, other.tables, strict=True))
        return BlockStatistics(
            self.labelled_frequency + other.labelled_frequency,
            self.document_frequency + other.document_frequency,
            tables,
        )


@dataclass(frozen=True)
class SummariseBlock:
    """Function from a block of documents to its statistics; can be sent to workers."""

    length: float | None
    dtype: str
    n_classes: int
    n_folds: int | None  # None: one table

    def __call__(self, counts: Csr, documents: tuple[Array, ...]) -> tuple[BlockStatistics, None]:
        """Return the statistics; ``documents`` has labelled rows, folds, sparse class shares and unlabelled rows."""
        rows, folds, data, indices, indptr, others = documents
        entries: Any = shorten_documents(csr_array(counts[rows]), self.length).astype(self.dtype, copy=False)
        shares = csr_array((data, indices, indptr), shape=(len(rows), self.n_classes))
        tables = count_class_words(entries, shares, None if self.n_folds is None else folds, self.n_folds)
        labelled_frequency = compute_document_frequency(entries)
        having = (
            labelled_frequency + compute_document_frequency(csr_array(counts[others]))
            if len(others)
            else labelled_frequency
        )
        return BlockStatistics(labelled_frequency, having, tuple(tables)), None


def learn(engine: Engine, data: TrainingData, labels: Labels, plan: Plan, watch: Watch | None = None) -> LearnedClasses:
    """Learn topics of the classes from labelled documents (K1), then with unlabelled ones (K4), if there are any."""
    if plan.unlabelled_weight == 0:
        labels = labels.select(np.flatnonzero(labels.of_row >= 0))
    is_labelled, folds, documents = labels.of_row >= 0, deal_labelled_folds(labels, plan), count_documents(labels)
    others = data.split(labels.rows[~is_labelled])[1]
    statistics = _collect_statistics(data, labels, folds, others, plan)
    having = None if is_labelled.all() else statistics.document_frequency
    is_learned, smoothing = words_to_learn(statistics.labelled_frequency > 0, having, plan.smoothing)
    plan, mask = replace(plan, smoothing=smoothing), plan.path_mask
    tables = [csr_array(table[np.flatnonzero(is_learned)]) for table in statistics.tables]
    del statistics
    total = tables[0] if folds is None else csr_array(sum(tables[1:], tables[0]))
    table = CountsView.from_matrix(total, plan.dtype)
    mix = None if plan.topic_mix == "ml" and not plan.flat else make_uniform_mix(mask)
    if folds is not None:
        mix, words = interpolate_levels(engine, total, tables, plan)
    else:
        words = categorisers.pool_words(engine, total, mask, plan.smoothing, plan.dtype)
    model = categorisers.Hplc(
        engine, mask, "ml" if mix is None else "fixed", plan.smoothing, plan.unlabelled_weight, mix
    )
    start = categorisers.Params(
        words,
        make_uniform_mix(mask) if mix is None else mix,
        documents / documents.sum(),
    )
    class_tokens = np.asarray(total.sum(axis=0)).ravel()
    run = {"inverse_temperature": plan.inverse_temperature, "watch": watch}
    rules = replace(plan.rules, weight=float(class_tokens.sum()), accelerate=False)
    fit = em.run(model, [categorisers.Block(table, documents)], em.State(start, (None,)), rules, **run)  # type: ignore[arg-type]
    free = data.unlabelled(others, is_learned, plan) if fit.reason != "interrupted" else None
    if free is not None:
        rules = replace(rules, weight=rules.weight + plan.unlabelled_weight * free.tokens)
        blocks, state = free.with_table(data.keep_table(table), documents), em.State(fit.state.shared, free.local)
        fit = em.run(model, blocks, state, rules, executor=data.executor, **run)  # type: ignore[arg-type]
        class_tokens = class_tokens + plan.unlabelled_weight * free.class_tokens(fit.state.local)
    return expand_to_all_words(model, fit, is_learned, class_tokens, total)


def _collect_statistics(
    data: TrainingData, labels: Labels, folds: Ints | None, others: list[Array], plan: Plan
) -> BlockStatistics:
    """Return the statistics of all blocks, in one pass; ``others`` are the unlabelled documents of each."""
    is_labelled, n_classes = labels.of_row >= 0, len(labels.classes)
    of_known, documents = labels.of_row[is_labelled], []
    for places, rows, rest in zip(*data.split(labels.rows[is_labelled]), others, strict=True):
        shares = make_one_hot(of_known[places], n_classes)
        parts = (shares.data, shares.indices, shares.indptr)
        documents.append((rows, rows if folds is None else folds[places], *parts, rest))
    n_folds = None if folds is None else int(folds.max()) + 1
    summarise = SummariseBlock(plan.effective_length, plan.dtype.name, n_classes, n_folds)
    statistics: BlockStatistics = data.total(summarise, documents)
    return statistics


def deal_labelled_folds(labels: Labels, plan: Plan) -> Ints | None:
    """Return the fold of each labelled entry if documents are held out in turn for P(ν|α), else None."""
    if plan.topic_mix != "heldout" or plan.flat:
        return None
    is_labelled = labels.of_row >= 0
    n_folds = N_FOLDS if np.count_nonzero(is_labelled) < MANY_LABELLED else N_FOLDS_OF_MANY
    return number_folds(labels, plan.seed, n_folds)[is_labelled]


def count_documents(labels: Labels) -> Floats:
    classes = labels.of_row[labels.of_row >= 0]
    return np.bincount(classes, minlength=len(labels.classes)).astype(np.float64)


def words_to_learn(is_labelled_word: Bools, having: Ints | None, smoothing: float) -> tuple[Bools, float]:
    """Return the words to learn and their smoothing; ``having`` is the document frequency of all words.

    A word of a single unlabelled document has no information about others. Unlabelled documents add words, but no
    pseudo-counts, so the smoothing for each word decreases.
    """
    is_learned = is_labelled_word if having is None else is_labelled_word | (having > 1)
    return is_learned, smoothing * float(is_labelled_word.sum()) / max(1.0, float(is_learned.sum()))


def number_folds(labels: Labels, seed: int, n_folds: int = N_FOLDS) -> Ints:
    """Return the fold of each entry; classes are dealt out evenly, and each document is in one fold only."""
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


def count_class_words(entries: Csr, shares: Csr, folds: Ints | None, n_folds: int | None = None) -> list[Csr]:
    """Return #(j,α) (K1), the count of each word in each class, words × classes, as one table for each fold.

    ``shares`` are the sparse shares of each document in the classes. Tables of several blocks add up; ``n_folds`` is
    the number of folds of all blocks.
    """
    n_docs, n_classes = shares.shape
    rows = np.repeat(np.arange(n_docs), np.diff(shares.indptr))
    n_tables = 1 if folds is None else n_folds or int(folds.max()) + 1
    places = shares.indices if folds is None else folds[rows] * n_classes + shares.indices
    selector = csr_array((shares.data, (places, rows)), shape=(n_tables * n_classes, n_docs))
    sums = csr_array(selector @ entries)
    tables = [csr_array(sums[t * n_classes : (t + 1) * n_classes].T) for t in range(n_tables)]
    for table in tables:
        table.sort_indices()
    return tables


def make_one_hot(of_row: Array, n_classes: int) -> Any:
    parts = (np.ones(len(of_row)), of_row, np.arange(len(of_row) + 1))
    return csr_array(parts, shape=(len(of_row), n_classes))


def interpolate_levels(engine: Engine, total: Csr, tables: list[Csr], plan: Plan) -> tuple[Floats, Floats]:
    """Return P(ν|α) by deleted interpolation (K5), and start words: the mean over the models without one fold."""
    mask = plan.path_mask
    model = categorisers.Interpolation(engine, mask, plan.smoothing)
    folds, local, cells = [], [], _number_cells(total)
    for part in tables:
        inside = np.zeros(total.nnz)
        inside[np.searchsorted(cells, _number_cells(part))] = part.data
        outside = np.where(total.data - inside > ROUNDING, total.data - inside, 0.0)
        data = np.stack([outside, inside], axis=1).astype(plan.dtype)
        folds.append(CountsView(total.indptr, total.indices, data, cut_evenly(total.indptr)))
        rest = csr_array((outside, total.indices, total.indptr), shape=total.shape)
        local.append(categorisers.pool_words(engine, rest, mask, plan.smoothing, plan.dtype))
    rules = em.Rules(weight=float(total.sum()), accelerate=False, **FOLD_RULES)  # type: ignore[arg-type]
    start = em.State(make_uniform_mix(mask), tuple(local))
    del local
    state = em.run(model, folds, start, rules, inverse_temperature=plan.inverse_temperature).state
    words = state.local[0].copy()
    for others in state.local[1:]:
        words += others
    return state.shared, engine.normalise_rows(words, 0.0)


def _number_cells(table: Csr) -> Any:
    rows = np.repeat(np.arange(table.shape[0], dtype=np.int64), np.diff(table.indptr))
    return rows * table.shape[1] + table.indices


def expand_to_all_words(
    model: categorisers.Hplc, fit: em.Fit, is_learned: Bools, class_tokens: Array, table: Csr
) -> LearnedClasses:
    """Return parameters for all words. A topic without classes gets the words of all documents."""
    shared: categorisers.Params = fit.state.shared
    is_unused = ~model.path_mask.any(axis=0)
    words = shared.word_given_topic
    if is_unused.any():
        total = count_tokens(table)
        words = words.copy()
        words[is_unused] = total / total.sum()
    by_word = model.class_word_table(shared)
    if not is_learned.all():
        all_words = np.zeros((len(words), len(is_learned)), words.dtype)
        all_words[:, is_learned] = words
        full_table = np.zeros((len(is_learned), by_word.shape[1]), by_word.dtype)
        full_table[is_learned] = by_word
        words, by_word = all_words, full_table
    return LearnedClasses(words, shared.topic_given_class, by_word, np.maximum(class_tokens, MIN_CLASS_TOKENS), fit)


@dataclass(frozen=True)
class Categoriser:
    """Function from counts to P(class | document); can be sent to workers."""

    engine: Engine
    class_word_table: Floats  # (n_words, n_classes)
    class_tokens: Floats
    shares: bool
    effective_length: float | None = None
    scale: CertaintyScale | None = None

    @property
    def dtype(self) -> Dtype:
        return self.class_word_table.dtype

    @property
    def n_components(self) -> int:
        return int(self.class_word_table.shape[1])

    def __call__(self, counts: Csr) -> Floats:
        """Return a row for each document; P(class) for a document without a known word."""
        if self.scale is None:
            return self._posterior(shorten_documents(counts, self.effective_length))
        rows, tokens = self.read_as_equally_long(counts)
        certain, blank = self.scale(rows, tokens), tokens == 0
        certain[blank] = rows[blank]  # the prior is how frequent classes are, and has nothing to be sharpened
        return certain

    def read_as_equally_long(self, counts: Csr) -> tuple[Floats, Floats]:
        """Return P(class | document) of documents scaled to equal length, and their numbers of known tokens.

        A document and its repetition give the same bits, because quotients of counts and length are equal.
        """
        tokens = self._count_known_tokens(counts)
        lengths = np.repeat(np.where(tokens > 0, tokens, 1.0), np.diff(counts.indptr))
        data = (counts.data / lengths * EQUAL_LENGTH).astype(self.dtype)
        return self._posterior(csr_array((data, counts.indices, counts.indptr), shape=counts.shape)), tokens

    def _count_known_tokens(self, counts: Csr) -> Floats:
        """Return the number of tokens of each document that are words of the training documents."""
        words, is_small = self.class_word_table, counts.nnz < len(self.class_word_table) // 2
        is_known = (
            words[counts.indices].max(axis=1, initial=0) > 0 if is_small else (words.max(axis=1) > 0)[counts.indices]
        )
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        weights = (counts.data * is_known).astype(np.float64)
        tokens: Floats = np.bincount(rows, weights, counts.shape[0]).astype(np.float64)
        return tokens

    def _posterior(self, counts: Csr) -> Floats:
        """Return P(class | document) without calibration, or shares of classes."""
        words = self.class_word_table
        folding = categorisers.choose_folding(words.size, words.dtype)
        if counts.nnz < len(words) // 2:  # a few documents: the words that they have
            used = np.unique(counts.indices)
            places = np.searchsorted(used, counts.indices).astype(counts.indices.dtype)
            counts = csr_array((counts.data, places, counts.indptr), shape=(counts.shape[0], len(used)))
            words = np.ascontiguousarray(words[used])
        side = CountsView.from_matrix(counts, words.dtype)
        if self.shares:
            return categorisers.compute_share_posterior(self.engine, side, words, self.class_tokens, folding)
        prior = self.class_tokens / self.class_tokens.sum()
        return categorisers.compute_class_posterior(self.engine, side, words, prior)[0]


def check_words(lengths: Ints, labels: Labels) -> None:
    """Raise InputError unless every class has a document with words; ``lengths`` are numbers of words."""
    has_words = lengths[labels.rows] > 0
    n_documents = np.bincount(labels.of_row[(labels.of_row >= 0) & has_words], minlength=len(labels.classes))
    if (n_documents == 0).any():
        raise InputError(
            f"the class {labels.classes.tolist()[int(n_documents.argmin())]!r} has no document with words",
            hint="Add documents with words for it, or replace its labels by −1.",
        )
