"""The cluster-abstraction model: one cluster for a document, a level of abstraction for each word. (C1)-(C5):
docs/models/cam.md

Documents *d*, words *w*, clusters *c*, nodes *a*: a document belongs to one cluster, and each of its words comes from a
node on the cluster's path, P(w|c) = Σ_{a↑c} P(a|c) P(w|a). The model knows no tree, only a mask: which nodes are on the
path of which cluster.

**Computing it.** The log-posteriors (C1) are one product of the counts with log P(w|c), the sums over documents
another; what remains is handed down the paths. Rows hold P(c|d), which follow from the shared parameters in every
E-step.

**Prior.** P(w|a) is drawn towards the words of the collection by ``prior_tokens[a]`` pseudo-tokens. At the root they
keep every word possible in every cluster; elsewhere a few tokens guard against words never seen there. Words that
people want at a node are prior tokens too (``seeds``).

**Vectors.** Where documents come with vectors a cluster has a mean direction, too, and both decide together: see
``directions``. Without them, or with a concentration of zero, nothing here knows of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from topiarist.arrays import Floats, Ints, Move
from topiarist.kernels import Paths
from topiarist.kernels.shard import Shard, Side
from topiarist.models.directions import Directions, add_agreement, sums_of
from topiarist.models.em import State
from topiarist.models.engine.host import TINY, Engine, Pairs
from topiarist.models.seeds import Seeds

NodeMix = Literal["heldout", "ml", "fixed"]


class Block(NamedTuple):
    """Documents, with tokens of theirs that are held out to fit P(a|c) on (C4)."""

    training: Shard
    heldout: Shard | None = None
    vectors: Floats | None = None  # (n_docs, n_dimensions), rows of length one, or zero


@dataclass(frozen=True)
class Params:
    """What the model knows about words, paths and clusters."""

    word_given_node: Floats  # P(w|a)  (n_nodes, n_words), C-contiguous
    node_given_cluster: Floats  # P(a|c)  (n_clusters, n_nodes), zero off the path of c
    cluster_prior: Floats  # P(c)  (n_clusters,)
    directions: Floats | None = None  # μ_c  (n_clusters, n_dimensions), rows of length one

    def __post_init__(self) -> None:
        n_clusters, n_nodes = self.node_given_cluster.shape
        if self.word_given_node.ndim != 2 or not self.word_given_node.flags.c_contiguous:
            raise ValueError("word_given_node must be a C-contiguous (nodes, words) array")
        if len(self.word_given_node) != n_nodes or self.cluster_prior.shape != (n_clusters,):
            raise ValueError(f"expected parameters of {n_clusters} clusters and {n_nodes} nodes")
        if self.directions is not None and len(self.directions) != n_clusters:
            raise ValueError(f"expected a direction for each of {n_clusters} clusters, got {len(self.directions)}")

    @property
    def n_components(self) -> int:
        """How many clusters there are."""
        return len(self.cluster_prior)

    def of_words(self, columns: Ints) -> Params:
        """What is known of some words alone: enough for documents that have no others, to the same bits."""
        return replace(self, word_given_node=np.ascontiguousarray(self.word_given_node[:, columns]))

    def moved(self, move: Move) -> Params:
        """The same elsewhere: on a device, or back. What belongs to paths and clusters is small and stays."""
        return Params(move(self.word_given_node), self.node_given_cluster, self.cluster_prior, self.directions)


@dataclass(frozen=True)
class Stats:
    """Expected counts of a block, additive over blocks."""

    node_word_count: Floats  # (n_nodes, n_words)
    cluster_node_count: Floats  # (n_clusters, n_nodes)
    cluster_count: Floats  # (n_clusters,) documents
    objective: float  # T Σ_d log Σ_c P(c) Π_w P(w|c)^(n/T): per token as the log-prior is, at any temperature
    direction_sum: Floats | None = None  # (n_clusters, n_dimensions)

    def __add__(self, other: Stats) -> Stats:
        return Stats(
            self.node_word_count + other.node_word_count,
            self.cluster_node_count + other.cluster_node_count,
            self.cluster_count + other.cluster_count,
            self.objective + other.objective,
            other.direction_sum if self.direction_sum is None else _added(self.direction_sum, other.direction_sum),
        )


def _added(one: Floats, other: Floats | None) -> Floats:
    return one if other is None else one + other


@dataclass(frozen=True)
class Cam:
    """The model as the EM loop sees it.

    ``node_mix`` says where P(a|c) comes from: "heldout" tokens (C4), the training tokens ("ml", which tends to flat
    clustering) or nowhere ("fixed"). With "heldout" the objective of the training tokens need not rise.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]  # (n_clusters, n_nodes)
    node_mix: NodeMix = "heldout"
    collection: Floats | None = None  # P(w), where words are drawn to
    prior_tokens: Floats | None = None  # (n_nodes,)
    fixed_mix: Floats | None = None  # P(a|c) when it is fixed
    seeds: Seeds | None = None  # words that people want at nodes
    joined: Directions | None = None  # how vectors weigh beside words; None: words alone
    keeps_rows: bool = True  # False: an E-step hands on no P(c|d), which nobody needs for the next one

    def __post_init__(self) -> None:
        if self.path_mask.ndim != 2 or self.path_mask.dtype != bool or not self.path_mask.any(axis=1).all():
            raise ValueError("path_mask must be a boolean (clusters, nodes) array with a node on every path")
        if self.node_mix == "fixed" and (self.fixed_mix is None or self.fixed_mix.shape != self.path_mask.shape):
            raise ValueError(f"node_mix='fixed' needs fixed_mix, P(a|c) of shape {self.path_mask.shape}")

    @property
    def monotone(self) -> bool:
        """True when no step lowers the objective."""
        return self.node_mix != "heldout"

    def e_step(
        self, shared: Params, block: Block, local: Floats | None = None, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats | None]:
        """(C1), (C2) and the sums of (C3), (C4); the temperature is that of the posterior of clusters alone."""
        training, heldout, vectors = block
        paths = self._paths(shared)
        words = self.engine.climb(shared.word_given_node, paths)
        posterior, objective = self._posterior(shared, words, training.rows, inverse_temperature, vectors)
        if self.node_mix == "heldout" and heldout is None:
            raise ValueError("node_mix='heldout' needs blocks with held-out counts: Block(training, heldout)")
        teaches = heldout is not None and self.node_mix == "heldout"
        class_words = self.engine.class_words(posterior, *((training, heldout) if teaches else (training,)))
        word_count = next(class_words)
        node_count, mix_count = self.engine.descend(shared.word_given_node, words, word_count, paths)
        if teaches:
            word_count = next(class_words)
            mix_count = self.engine.path_counts(shared.word_given_node, words, word_count, paths)
        cluster_count = self.engine.column_totals(posterior)
        directions = None if vectors is None or self.joined is None else sums_of(self.engine, posterior, vectors)
        stats = Stats(node_count, mix_count, cluster_count, objective / inverse_temperature, directions)
        return stats, posterior if self.keeps_rows else None

    def m_step(self, stats: Stats) -> Params:
        """(C3) with the prior, and (C4); (V3) where there are vectors."""
        words = stats.node_word_count
        if self.collection is not None and self.prior_tokens is not None:
            words = self.engine.add_outer(words, self.prior_tokens, self.collection)
        if self.seeds is not None:
            words = self.seeds.added(self.engine, words)
        words = self.engine.normalise_rows(words, 0.0)
        mix = stats.cluster_node_count
        total = mix.sum(axis=1, keepdims=True)
        even = self.path_mask / self.path_mask.sum(axis=1, keepdims=True)
        mix = np.where(total > 0, mix / np.where(total > 0, total, 1.0), even)
        if self.node_mix == "fixed" and self.fixed_mix is not None:
            mix = self.fixed_mix
        prior, sums = stats.cluster_count / max(stats.cluster_count.sum(), TINY), stats.direction_sum
        return Params(words, mix, prior, None if self.joined is None or sums is None else self.joined.means(sums))

    def log_prior(self, shared: Params) -> float:
        """Σ_a tokens(a) Σ_w P(w) log P(w|a), and that of the seeds."""
        total = 0.0
        if self.collection is not None and self.prior_tokens is not None:
            total += self.engine.weighted_logs(shared.word_given_node, self.prior_tokens, self.collection)
        if self.seeds is not None:
            total += self.seeds.log_prior(self.engine, shared.word_given_node)
        if self.joined is not None and shared.directions is not None:
            total += self.joined.log_prior(shared.directions)
        return total

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """No looking ahead: the steps are few, and clusters settle quickly."""
        return new

    def fold_in(
        self, shared: Params, rows: Side, inverse_temperature: float = 1.0, vectors: Floats | None = None
    ) -> Floats:
        """(C1), with (V1) where there are vectors: P(c|d) of each document, each by itself."""
        words = self.class_word_table(shared)
        return self._posterior(shared, words, rows, inverse_temperature, vectors)[0]

    def _posterior(
        self, shared: Params, words: Floats, rows: Side, inverse_temperature: float, vectors: Floats | None
    ) -> tuple[Floats, float]:
        scores = self.engine.row_products(rows, self.engine.logarithms(words))
        if vectors is not None and self.joined is not None and shared.directions is not None:
            scores = add_agreement(self.engine, scores, vectors, shared.directions, self.joined.concentration)
        prior = np.log(np.maximum(shared.cluster_prior, TINY))
        return self.engine.posteriors(scores, prior, inverse_temperature)

    def class_word_table(self, shared: Params) -> Floats:
        """P(w|c) = Σ_a P(a|c) P(w|a), (n_words, n_clusters)."""
        return self.engine.climb(shared.word_given_node, self._paths(shared))

    def log_likelihood(self, shared: Params, rows: Side, posterior: Floats) -> float:
        """(C5): Σ n log Σ_c P(c|d) P(w|c)."""
        return self.engine.log_likelihood(rows, posterior, self.class_word_table(shared))

    def log_likelihoods(self, shared: Params, rows: Side, posterior: Floats) -> Floats:
        """The same of each document by itself."""
        return self.engine.log_likelihoods(rows, posterior, self.class_word_table(shared))

    def judged(
        self, shared: Params, block: Block, local: Floats | None = None, inverse_temperature: float = 1.0
    ) -> tuple[Floats, Floats]:
        """P(c|d) of the documents of a block, and what each adds to the log-likelihood of its held-out tokens."""
        if block.heldout is None:
            raise ValueError("nothing can be judged without held-out counts: Block(training, heldout)")
        words = self.class_word_table(shared)
        rows, _ = self._posterior(shared, words, block.training.rows, inverse_temperature, block.vectors)
        return rows, self.engine.log_likelihoods(block.heldout.rows, rows, words)

    def stream_stats(self, shared: Params, block: Block) -> Stats:
        """See ``online.Learner``."""
        return self.e_step(shared, block)[0]

    def _paths(self, shared: Params) -> Paths:
        return self._pairs.paths(shared.node_given_cluster, shared.word_given_node.dtype)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs.of(self.path_mask)
