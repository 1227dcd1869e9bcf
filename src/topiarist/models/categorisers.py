"""Classes that are known in training: topics of a given tree from labelled documents, the class of new ones.

Equations (K1)-(K5): docs/models/hplc.md

Words *j*, classes *α*, topics *ν*: a class speaks with the words of its path, P(j|α) = Σ_{ν↑α} P(ν|α) P(j|ν), as in
``hplsa``. A label tells the class of every token of a document, so that labelled documents enter through one table
alone: how often each word occurs in each class, a sparse one. A step costs its non-zeros × depth, however many
documents there are.

A block is that table and, where there are any, documents without a label. Those have one class each, which is not
known: their tokens go to the classes by P(α|d) of (K3) and count λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from topiarist.arrays import Bools, Csr, DTypeLike, Floats
from topiarist.kernels import SMALLEST_MIXTURE, Folding, Paths
from topiarist.kernels.shard import Shard, Side, aligned_empty
from topiarist.models.em import State
from topiarist.models.engine.host import Engine, paths_of, row_pieces
from topiarist.models.seeds import Seeds

TopicMix = Literal["ml", "fixed"]
START_BACKGROUND = 1e-3  # of even words in the start, where smoothing forbids that any word be impossible
TINY = 1e-300
EXACT = 20_000  # words × classes of a model that is small enough to be exact


class Block(NamedTuple):
    """Labelled documents as a table, and unlabelled ones as they are.

    Where unlabelled ones are in several blocks, the first has the table, and the others None.
    """

    table: Side | None  # #(j,α), words by classes
    class_count: Floats  # labelled documents of each class
    unlabelled: Shard | None = None


@dataclass(frozen=True)
class Params:
    """What the model knows about words, paths and classes."""

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
class Stats:
    """Expected counts of a block, additive over blocks."""

    topic_word_count: Floats  # (n_nodes, n_words)
    class_topic_count: Floats  # (n_classes, n_nodes)
    class_count: Floats  # (n_classes,) documents
    objective: float

    def __add__(self, other: Stats) -> Stats:
        return Stats(
            self.topic_word_count + other.topic_word_count,
            self.class_topic_count + other.class_topic_count,
            self.class_count + other.class_count,
            self.objective + other.objective,
        )


@dataclass(frozen=True)
class Hplc:
    """The model as the EM loop sees it. Smoothing is a Dirichlet concentration minus one (P4).

    P(ν|α) is learned from the same tokens ("ml") or stays what it is ("fixed"): even, or from ``Interpolation``.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]  # (n_classes, n_nodes)
    topic_mix: TopicMix = "fixed"
    smoothing: float = 0.0
    unlabelled_weight: float = 1.0  # λ
    fixed_mix: Floats | None = None
    seeds: Seeds | None = None  # words that people want at topics

    def __post_init__(self) -> None:
        if self.path_mask.ndim != 2 or self.path_mask.dtype != bool or not self.path_mask.any(axis=1).all():
            raise ValueError("path_mask must be a boolean (classes, nodes) array with a node on every path")
        if (self.topic_mix == "fixed") != (self.fixed_mix is not None):
            raise ValueError("topic_mix='fixed' needs fixed_mix, and nothing else does")

    def e_step(
        self, shared: Params, block: Block, local: Floats | None = None, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Any]:
        """(H4) with the class known, tempered; and (K4): P(α|d) of unlabelled documents, which are their rows."""
        paths = self._paths(shared, inverse_temperature)
        topics = self.engine.power(shared.word_given_topic, inverse_temperature)
        prior = float(block.class_count @ np.log(np.maximum(shared.class_prior, TINY)))
        if block.unlabelled is None and block.table is not None:
            topic_count, mix_count, total = handed_down(self.engine, block.table, topics, paths)
            return Stats(topic_count, mix_count, block.class_count, total / inverse_temperature + prior), None
        assert block.unlabelled is not None  # noqa: S101  a block has one or the other
        words = self.engine.climb(topics, paths)
        free_words = self.engine.power(words, 1.0 / inverse_temperature)
        rows, free = posterior_of_one_class(self.engine, block.unlabelled.rows, free_words, shared.class_prior)
        count = self.engine.word_products(block.unlabelled, rows)
        count *= count.dtype.type(self.unlabelled_weight)
        total = 0.0
        if block.table is not None:
            cells = np.repeat(np.arange(block.table.n_rows), np.diff(block.table.indptr)), block.table.indices
            count[cells] += block.table.data
            total = float(block.table.data.astype(np.float64) @ np.log(np.maximum(words[cells], SMALLEST_MIXTURE)))
        topic_count, mix_count = self.engine.descend(topics, words, count, paths)
        class_count = block.class_count + self.unlabelled_weight * rows.sum(axis=0, dtype=np.float64)
        objective = total / inverse_temperature + prior + self.unlabelled_weight * free
        return Stats(topic_count, mix_count, class_count, objective), rows

    def m_step(self, stats: Stats) -> Params:
        """(H6), with the prior of (P4); P(α) by documents."""
        words = stats.topic_word_count
        if self.seeds is not None:
            words = self.seeds.added(self.engine, words)
        words = self.engine.normalise_rows(words, self.smoothing)
        prior = stats.class_count / max(float(stats.class_count.sum()), TINY)
        if self.fixed_mix is not None:
            return Params(words, self.fixed_mix, prior)
        return Params(words, mix_of(stats.class_topic_count, self.path_mask), prior)

    def log_prior(self, shared: Params) -> float:
        """(P4), and that of the seeds."""
        seeded = self.seeds.log_prior(self.engine, shared.word_given_topic) if self.seeds is not None else 0.0
        return seeded + (self.smoothing * self.engine.sum_of_logs(shared.word_given_topic) if self.smoothing else 0.0)

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """No looking ahead: the steps are few and cheap."""
        return new

    def class_word_table(self, shared: Params) -> Floats:
        """P(j|α), (n_words, n_classes)."""
        return self.engine.climb(shared.word_given_topic, self._paths(shared, 1.0))

    def _paths(self, shared: Params, inverse_temperature: float) -> Paths:
        mix = shared.topic_given_class**inverse_temperature * self.path_mask
        return paths_of(self.path_mask, mix, shared.word_given_topic.dtype)


@dataclass(frozen=True)
class MixStats:
    """How much of each class went to each topic of its path, and the log-likelihood of the held-out tokens."""

    class_topic_count: Floats
    objective: float

    def __add__(self, other: MixStats) -> MixStats:
        return MixStats(self.class_topic_count + other.class_topic_count, self.objective + other.objective)


@dataclass(frozen=True)
class Interpolation:
    """(K5), deleted interpolation: P(ν|α) explains documents whose fold had no part in the words.

    As the EM loop sees it: P(ν|α) is shared, the words P(j|ν) learned without a fold are the rows of its block. The
    objective, the likelihood of the held-out tokens, need not rise: words follow the tokens outside.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]
    smoothing: float = 0.0

    def e_step(
        self, shared: Floats, fold: Side, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[MixStats, Floats]:
        """The topics of the tokens inside the fold, and the next words from those outside.

        ``fold`` is a table with two columns of data: tokens outside the fold, and inside.
        """
        paths = paths_of(self.path_mask, shared**inverse_temperature * self.path_mask, local.dtype)
        topics = self.engine.power(local, inverse_temperature)
        following, count, inside = handed_down(self.engine, fold, topics, paths)
        stats = MixStats(count, inside / inverse_temperature)
        return stats, self.engine.normalise_rows(following, self.smoothing)

    def m_step(self, stats: MixStats) -> Floats:
        """P(ν|α), with one token spread evenly over each path: no topic is ruled out by a few documents."""
        return mix_of(stats.class_topic_count + even_mix(self.path_mask), self.path_mask)

    def log_prior(self, shared: Floats) -> float:
        """None that counts."""
        return 0.0

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """No looking ahead."""
        return new


def handed_down(engine: Engine, table: Side, topics: Floats, paths: Paths) -> tuple[Floats, Floats, float]:
    """(H4) for a table: counts of words by topic and of topics by class, and Σ #(j,α) log P(j|α)."""
    counts = aligned_empty(topics.shape, topics.dtype)
    data = table.data if table.data.ndim == 2 else table.data[:, None]

    def piece(rows: slice) -> tuple[Floats, float]:
        sums = np.empty(len(paths.nodes))
        indptr = table.indptr[rows.start : rows.stop + 1]
        total = engine.kernels.hand_down(indptr, table.indices, data, topics, paths, rows.start, counts, sums)
        return sums, float(total)

    done = engine.threads.map(piece, table.pieces)
    mix = np.zeros((len(paths.ends) - 1, len(topics)))
    mix[np.repeat(np.arange(len(mix)), np.diff(paths.ends)), paths.nodes] = np.sum([sums for sums, _ in done], axis=0)
    return counts, mix, sum(total for _, total in done)


def pooled(engine: Engine, table: Csr, path_mask: Bools, smoothing: float, dtype: DTypeLike) -> Floats:
    """The start: P(j|ν) pooled over the classes below ν; with smoothing a thousandth of it is even.

    ``table`` is a sparse matrix, words × classes.
    """
    words = aligned_empty((path_mask.shape[1], table.shape[0]), dtype)
    words[:] = (table @ path_mask.astype(dtype)).T
    words = engine.normalise_rows(words, 0.0)
    return engine.normalise_rows(words, START_BACKGROUND / words.shape[1]) if smoothing else words


def even_mix(path_mask: Bools) -> Floats:
    """P(ν|α) even over the path."""
    mix: Floats = path_mask / path_mask.sum(axis=1, keepdims=True)
    return mix


def mix_of(class_topic_count: Floats, path_mask: Bools) -> Floats:
    """(H6): P(ν|α) from counts; even for a class without any."""
    total = class_topic_count.sum(axis=1, keepdims=True)
    return np.where(total > 0, class_topic_count / np.where(total > 0, total, 1.0), even_mix(path_mask))


def posterior_of_one_class(engine: Engine, rows: Side, words: Floats, prior: Floats) -> tuple[Floats, float]:
    """(K3): P(α|d) ∝ P(α) Π_j P(j|α)^n, every document having one class; and Σ_d log of what it is divided by."""
    logs = aligned_empty(words.shape, words.dtype)

    def logarithms(piece: slice) -> None:
        np.log(np.maximum(words[piece], SMALLEST_MIXTURE, out=logs[piece]), out=logs[piece])
        logs[piece][words[piece].max(axis=1) <= SMALLEST_MIXTURE] = 0  # a word that nobody knows says nothing

    engine.threads.map(logarithms, row_pieces(words))
    scores = engine.row_products(rows, logs)
    start = np.log(np.maximum(prior, TINY))

    def normalised(piece: slice) -> float:
        values = scores[piece].astype(np.float64) + start
        top = values.max(axis=1, keepdims=True)
        np.exp(values - top, out=values)
        total = values.sum(axis=1, keepdims=True)
        scores[piece] = values / total
        return float((np.log(total) + top).sum())

    return scores, sum(engine.threads.map(normalised, row_pieces(scores)))


def posterior_of_shares(
    engine: Engine, rows: Side, words: Floats, class_tokens: Floats, folding: Folding | None = None
) -> Floats:
    """(K2): P(α|d) ∝ P(α)P(d|α), the tokens of a document choosing their classes one by one; P(α) without words.

    The objective is concave: the same answer from any start. ``folding`` says when to stop; see ``patience``.
    """
    folding = folding or patience(words.size, words.dtype)
    out = aligned_empty((rows.n_rows, len(class_tokens)), words.dtype)
    prior = class_tokens / class_tokens.sum()
    out[:] = prior

    def piece(here: slice) -> None:
        indptr = rows.indptr[here.start : here.stop + 1]
        engine.kernels.categorise(indptr, rows.indices, rows.data, out[here], words, class_tokens, folding)
        total = out[here].sum(axis=1, keepdims=True)
        if total.all():
            out[here] /= total
        else:  # counts so small that nothing is left of them: as good as no words
            out[here] = np.where(total > 0, out[here] / np.where(total > 0, total, 1), prior)

    engine.threads.map(piece, rows.pieces)
    return out


def patience(n_parameters: int, dtype: DTypeLike) -> Folding:
    """When (K2) may stop: where a step would move less of the document's tokens than this share.

    Small models are exact. In single precision P(α|d) is off by less than a hundredth for nearly all documents. It
    depends on the model alone, so that a document has one answer in any company.
    """
    if dtype == np.float32:
        return Folding(max_steps=400, tolerance=1e-4)
    return Folding(max_steps=4000, tolerance=1e-10) if n_parameters <= EXACT else Folding(max_steps=400, tolerance=1e-5)


def share_objective(weights: Floats, counts: Floats, words: Floats, class_tokens: Floats) -> float:
    """What (K2) climbs for one document: L(d) + Σ_α #α log(1 − P(d|α)), from weights P(α)P(d|α) and P(j|α) by word.

    ``weights`` are those that ``categorise`` keeps, #α P(d|α). The constant Σ n log L is left out.
    """
    used = counts > 0
    mixture = np.maximum(words[used] @ weights, SMALLEST_MIXTURE)
    rest = np.maximum(1.0 - weights / class_tokens, TINY)
    return float(counts[used] @ np.log(mixture) + class_tokens @ np.log(rest))
