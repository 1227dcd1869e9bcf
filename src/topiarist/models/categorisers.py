"""Hierarchical classifiers: the topics of a given tree from labelled documents, and the class of new documents.

Equations (K1)-(K5): docs/models/hplc.md

Words *j*, classes *α*, topics *ν*: a class has the words of its path, P(j|α) = Σ_{ν↑α} P(ν|α) P(j|ν), as in ``hplsa``.
A label is the class of every token of a document, so labelled documents enter only through a sparse table: the count of
each word in each class. A step costs non-zeros of the table × depth, for any number of documents.

A block has that table and, if there are any, documents without a label. Each of these has one unknown class. Their
tokens are divided among the classes by P(α|d) of (K3) with weight λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from topiarist.arrays import TINY, Bools, Csr, DTypeLike, Floats
from topiarist.kernels import SMALLEST_MIXTURE, Folding, Paths
from topiarist.kernels.shard import CountsView, Shard, allocate_aligned
from topiarist.models.em import AdditiveStats, State
from topiarist.models.engine.host import Engine, make_paths
from topiarist.models.path_models import PathModel, Seeds, make_uniform_mix, normalise_mix

TopicMix = Literal["ml", "fixed"]
START_BACKGROUND = 1e-3  # share of uniform words in the start with smoothing, which excludes zero
MAX_EXACT_PARAMETERS = 20_000  # words × classes of a model that is fitted exactly


class Block(NamedTuple):
    """Labelled documents as a table, and unlabelled documents.

    If unlabelled documents are in several blocks, the first has the table and the others None.
    """

    table: CountsView | None  # #(j,α), words by classes
    class_count: Floats  # labelled documents of each class
    unlabelled: Shard | None = None


@dataclass(frozen=True)
class Params:
    """Parameters of words, paths and classes."""

    word_given_topic: Floats  # P(j|ν)  (n_nodes, n_words), C-contiguous
    topic_given_class: Floats  # P(ν|α)  (n_classes, n_nodes), zero off the path of α
    class_prior: Floats  # P(α) of a document  (n_classes,)

    def __post_init__(self) -> None:
        n_classes, n_nodes = self.topic_given_class.shape
        if self.word_given_topic.ndim != 2 or not self.word_given_topic.flags.c_contiguous:
            raise ValueError("word_given_topic must be a C-contiguous (topics, words) array")
        if len(self.word_given_topic) != n_nodes or self.class_prior.shape != (n_classes,):
            raise ValueError(f"expected parameters of {n_classes} classes and {n_nodes} topics")


@dataclass(frozen=True)
class Stats(AdditiveStats):
    """Expected counts of a block, additive over blocks."""

    topic_word_count: Floats  # (n_nodes, n_words)
    class_topic_count: Floats  # (n_classes, n_nodes)
    class_count: Floats  # (n_classes,) documents
    objective: float


@dataclass(frozen=True)
class Hplc(PathModel):
    """Hierarchical classifier for the EM loop. A smoothing parameter is a Dirichlet concentration minus one (P4).

    P(ν|α) is learned from the same tokens ("ml") or "fixed": uniform, or from ``Interpolation``.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]  # (n_classes, n_nodes)
    topic_mix: TopicMix = "fixed"
    smoothing: float = 0.0
    unlabelled_weight: float = 1.0  # λ
    fixed_mix: Floats | None = None
    seeds: Seeds | None = None  # seed words of topics

    def __post_init__(self) -> None:
        self._check_mask()
        if (self.topic_mix == "fixed") != (self.fixed_mix is not None):
            raise ValueError("expected fixed_mix for topic_mix='fixed', and only for it")

    def e_step(
        self, shared: Params, block: Block, local: Floats | None = None, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Any]:
        """Compute (H4) with known classes, tempered, and (K4); rows are P(α|d) of unlabelled documents."""
        paths = self._paths(shared, inverse_temperature)
        topics = self.engine.power(shared.word_given_topic, inverse_temperature)
        prior = float(block.class_count @ np.log(np.maximum(shared.class_prior, TINY)))
        if block.unlabelled is None and block.table is not None:
            topic_count, mix_count, total = distribute_table(self.engine, block.table, topics, paths)
            return Stats(topic_count, mix_count, np.array(block.class_count), total / inverse_temperature + prior), None
        assert block.unlabelled is not None  # noqa: S101  a block has a table or documents
        words = self.engine.sum_along_paths(topics, paths)
        free_words = self.engine.power(words, 1.0 / inverse_temperature)
        rows, free_likelihood = compute_class_posterior(
            self.engine, block.unlabelled.rows, free_words, shared.class_prior
        )
        count = self.engine.word_products(block.unlabelled, rows)
        count *= count.dtype.type(self.unlabelled_weight)
        total = 0.0
        if block.table is not None:
            cells = np.repeat(np.arange(block.table.n_rows), np.diff(block.table.indptr)), block.table.indices
            count[cells] += block.table.data
            total = float(block.table.data.astype(np.float64) @ np.log(np.maximum(words[cells], SMALLEST_MIXTURE)))
        topic_count, mix_count = self.engine.distribute_along_paths(topics, words, count, paths)
        class_count = block.class_count + self.unlabelled_weight * rows.sum(axis=0, dtype=np.float64)
        objective = total / inverse_temperature + prior + self.unlabelled_weight * free_likelihood
        return Stats(topic_count, mix_count, class_count, objective), rows

    def m_step(self, stats: Stats) -> Params:
        """Compute (H6) with the prior of (P4), and P(α) by documents."""
        words = self.engine.normalise_rows(self._add_seeds(stats.topic_word_count), self.smoothing)
        prior = stats.class_count / max(float(stats.class_count.sum()), TINY)
        if self.fixed_mix is not None:
            return Params(words, self.fixed_mix, prior)
        return Params(words, normalise_mix(stats.class_topic_count, make_uniform_mix(self.path_mask)), prior)

    def log_prior(self, shared: Params) -> float:
        """Return the log-prior (P4), plus that of the seeds."""
        return self._word_prior(shared.word_given_topic, self.smoothing)

    def class_word_table(self, shared: Params) -> Floats:
        """Return P(j|α), (n_words, n_classes)."""
        return self.engine.sum_along_paths(shared.word_given_topic, self._paths(shared, 1.0))

    def _paths(self, shared: Params, inverse_temperature: float) -> Paths:
        mix = shared.topic_given_class**inverse_temperature * self.path_mask
        return make_paths(self.path_mask, mix, shared.word_given_topic.dtype)


@dataclass(frozen=True)
class MixStats(AdditiveStats):
    """Tokens of each class at each topic of its path, and the log-likelihood of the held-out tokens."""

    class_topic_count: Floats
    objective: float


@dataclass(frozen=True)
class Interpolation:
    """Deleted interpolation (K5): P(ν|α) explains documents of a fold that was excluded from the words.

    For the EM loop P(ν|α) is shared, and the words P(j|ν) learned without a fold are the rows of its block. The
    objective, the likelihood of the held-out tokens, can fall, because words follow the tokens outside the fold.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]
    smoothing: float = 0.0

    def e_step(
        self, shared: Floats, fold: CountsView, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[MixStats, Floats]:
        """Return the topics of the tokens inside the fold, and the next words from the tokens outside.

        ``fold`` is a table with two columns of data: tokens outside the fold, and inside.
        """
        paths = make_paths(self.path_mask, shared**inverse_temperature * self.path_mask, local.dtype)
        topics = self.engine.power(local, inverse_temperature)
        following, count, inside = distribute_table(self.engine, fold, topics, paths)
        stats = MixStats(count, inside / inverse_temperature)
        return stats, self.engine.normalise_rows(following, self.smoothing)

    def m_step(self, stats: MixStats) -> Floats:
        """Return P(ν|α) with one token spread over each path, so that few documents exclude no topic."""
        even = make_uniform_mix(self.path_mask)
        return normalise_mix(stats.class_topic_count + even, even)

    def log_prior(self, shared: Floats) -> float:
        """Return zero: there is no prior."""
        return 0.0

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """Return the new state without extrapolation."""
        return new


def distribute_table(engine: Engine, table: CountsView, topics: Floats, paths: Paths) -> tuple[Floats, Floats, float]:
    """(H4) for a table: return counts of words by topic and of topics by class, and Σ #(j,α) log P(j|α)."""
    counts = allocate_aligned(topics.shape, topics.dtype)
    data = table.data if table.data.ndim == 2 else table.data[:, None]

    def compute_slice(rows: slice) -> tuple[Floats, float]:
        """Add the expected counts of some words to ``counts``; return topic sums and likelihood."""
        sums = np.empty(len(paths.nodes))
        indptr = table.indptr[rows.start : rows.stop + 1]
        total = engine.kernels.propagate_down_paths(
            indptr, table.indices, data, topics, paths, rows.start, counts, sums
        )
        return sums, float(total)

    results = engine.threads.map(compute_slice, table.slices)
    mix = np.zeros((len(paths.ends) - 1, len(topics)))
    mix[np.repeat(np.arange(len(mix)), np.diff(paths.ends)), paths.nodes] = np.sum(
        [sums for sums, _ in results], axis=0
    )
    return counts, mix, sum(total for _, total in results)


def pool_words(engine: Engine, table: Csr, path_mask: Bools, smoothing: float, dtype: DTypeLike) -> Floats:
    """Create a start: P(j|ν) pooled over the classes below ν; with smoothing a thousandth of it is uniform.

    ``table`` is a sparse matrix, words × classes.
    """
    words = allocate_aligned((path_mask.shape[1], table.shape[0]), dtype)
    words[:] = (table @ path_mask.astype(dtype)).T
    words = engine.normalise_rows(words, 0.0)
    return engine.normalise_rows(words, START_BACKGROUND / words.shape[1]) if smoothing else words


def compute_class_posterior(engine: Engine, rows: CountsView, words: Floats, prior: Floats) -> tuple[Floats, float]:
    """(K3): return P(α|d) ∝ P(α) Π_j P(j|α)^n for documents with one class, and Σ_d log of the normalisers."""
    logs = engine.logarithms(words)
    logs[words.max(axis=1) <= SMALLEST_MIXTURE] = 0  # an unknown word has no effect
    return engine.posteriors(engine.row_products(rows, logs), np.log(np.maximum(prior, TINY)), 1.0)


def compute_share_posterior(
    engine: Engine, rows: CountsView, words: Floats, class_tokens: Floats, folding: Folding | None = None
) -> Floats:
    """(K2): return P(α|d) ∝ P(α)P(d|α), the tokens of a document choosing their classes one by one; P(α) without words.

    The objective is concave: any start gives the same result. ``folding`` limits the steps; see ``choose_folding``.
    """
    folding = folding or choose_folding(words.size, words.dtype)
    out = allocate_aligned((rows.n_rows, len(class_tokens)), words.dtype)
    prior = class_tokens / class_tokens.sum()
    out[:] = prior

    def categorise(span: slice) -> None:
        """Write the class shares of a slice of documents into ``out``, or the prior without words."""
        engine.kernels.categorise(*rows.part(span), out[span], words, class_tokens, folding)
        total = out[span].sum(axis=1, keepdims=True)
        if total.all():
            out[span] /= total
        else:  # counts that underflow have no effect
            out[span] = np.where(total > 0, out[span] / np.where(total > 0, total, 1), prior)

    engine.threads.map(categorise, rows.slices)
    return out


def choose_folding(n_parameters: int, dtype: DTypeLike) -> Folding:
    """Return the stopping rule of (K2): a step that moves less than this share of the document's tokens is the last.

    Small models are exact. In single precision P(α|d) is off by less than a hundredth for nearly all documents. The
    rule depends on the model alone, so the result of a document does not depend on the other documents.
    """
    if dtype == np.float32:
        return Folding(max_steps=400, tolerance=1e-4)
    return (
        Folding(max_steps=4000, tolerance=1e-10)
        if n_parameters <= MAX_EXACT_PARAMETERS
        else Folding(max_steps=400, tolerance=1e-5)
    )
