"""The cluster-abstraction model: one cluster for a document, one level for each word. (C1)-(C5): docs/models/cam.md

Documents *d*, words *w*, clusters *c*, nodes *a*: a document belongs to one cluster, and each of its words comes from a
node on the cluster's path, P(w|c) = Σ_{a↑c} P(a|c) P(w|a). The model knows no tree, only a mask of the nodes on the
path of each cluster.

**Computation.** The log-posteriors (C1) are one product of the counts with log P(w|c), the sums over documents another.
The result is distributed along the paths. Rows hold P(c|d), which follow from the shared parameters in every E-step.

**Prior.** P(w|a) is smoothed by ``prior_tokens[a]`` pseudo-tokens of the collection. At the root they keep every word
possible in every cluster; elsewhere a few tokens keep unobserved words possible. Seed words of a node are prior tokens
too (``seeds``).

**Vectors.** With document vectors a cluster also has a mean direction, and words and vectors decide together: see
``directions``. Without vectors, or with a concentration of zero, they are not used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from topiarist.arrays import TINY, Floats, Ints, Move
from topiarist.kernels import Paths
from topiarist.kernels.shard import CountsView, Shard
from topiarist.models.directions import Directions, add_agreement, sum_vectors
from topiarist.models.em import AdditiveStats
from topiarist.models.engine.host import Engine, PathPairs
from topiarist.models.path_models import PathModel, Seeds, make_uniform_mix, normalise_mix

NodeMix = Literal["heldout", "ml", "fixed"]


class Block(NamedTuple):
    """Documents, and their held-out tokens to which P(a|c) is fitted (C4)."""

    training: Shard
    heldout: Shard | None = None
    vectors: Floats | None = None  # (n_docs, n_dimensions), rows of length one, or zero


@dataclass(frozen=True)
class Params:
    """Parameters of words, paths and clusters."""

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
        """Number of clusters."""
        return len(self.cluster_prior)

    def select_words(self, columns: Ints) -> Params:
        """Return the parameters of some words; they suffice for documents without other words, to the same bits."""
        return replace(self, word_given_node=np.ascontiguousarray(self.word_given_node[:, columns]))

    def move_arrays(self, move: Move) -> Params:
        """Return the parameters with large arrays moved; small arrays of paths and clusters stay."""
        return Params(move(self.word_given_node), self.node_given_cluster, self.cluster_prior, self.directions)


@dataclass(frozen=True)
class Stats(AdditiveStats):
    """Expected counts of a block, additive over blocks."""

    node_word_count: Floats  # (n_nodes, n_words)
    cluster_node_count: Floats  # (n_clusters, n_nodes)
    cluster_count: Floats  # (n_clusters,) documents
    objective: float  # T Σ_d log Σ_c P(c) Π_w P(w|c)^(n/T): per token as the log-prior is, at any temperature
    direction_sum: Floats | None = None  # (n_clusters, n_dimensions)


@dataclass(frozen=True)
class Cam(PathModel):
    """Cluster-abstraction model for the EM loop.

    ``node_mix`` is the source of P(a|c): "heldout" tokens (C4), the training tokens ("ml", which tends to flat
    clustering), or given values ("fixed"). With "heldout" the objective of the training tokens can fall.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]  # (n_clusters, n_nodes)
    node_mix: NodeMix = "heldout"
    collection: Floats | None = None  # P(w) of the prior
    prior_tokens: Floats | None = None  # (n_nodes,)
    fixed_mix: Floats | None = None  # P(a|c) when it is fixed
    seeds: Seeds | None = None  # seed words of nodes
    vector_model: Directions | None = None  # None: words alone
    keeps_rows: bool = True  # False: the E-step returns no P(c|d)

    def __post_init__(self) -> None:
        self._check_mask()
        if self.node_mix == "fixed" and (self.fixed_mix is None or self.fixed_mix.shape != self.path_mask.shape):
            raise ValueError(f"node_mix='fixed' requires fixed_mix, P(a|c) of shape {self.path_mask.shape}")

    @property
    def is_monotone(self) -> bool:
        """True if no step lowers the objective."""
        return self.node_mix != "heldout"

    def e_step(
        self, shared: Params, block: Block, local: Floats | None = None, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats | None]:
        """Compute (C1), (C2) and the sums of (C3), (C4); the temperature applies to the posterior of clusters alone."""
        training, heldout, vectors = block
        paths = self._paths(shared)
        words = self.engine.sum_along_paths(shared.word_given_node, paths)
        posterior, objective = self._compute_posterior(shared, words, training.rows, inverse_temperature, vectors)
        if self.node_mix == "heldout" and heldout is None:
            raise ValueError("node_mix='heldout' requires blocks with held-out counts: Block(training, heldout)")
        fits_mix = heldout is not None and self.node_mix == "heldout"
        class_words = self.engine.class_words(posterior, *((training, heldout) if fits_mix else (training,)))
        word_count = next(class_words)
        node_count, mix_count = self.engine.distribute_along_paths(shared.word_given_node, words, word_count, paths)
        if fits_mix:
            word_count = next(class_words)
            mix_count = self.engine.path_counts(shared.word_given_node, words, word_count, paths)
        cluster_count = self.engine.column_totals(posterior)
        directions = (
            None if vectors is None or self.vector_model is None else sum_vectors(self.engine, posterior, vectors)
        )
        stats = Stats(node_count, mix_count, cluster_count, objective / inverse_temperature, directions)
        return stats, posterior if self.keeps_rows else None

    def m_step(self, stats: Stats) -> Params:
        """Compute (C3) with the prior, (C4), and (V3) with vectors."""
        words = stats.node_word_count
        if self.collection is not None and self.prior_tokens is not None:
            words = self.engine.add_outer(words, self.prior_tokens, self.collection)
        words = self.engine.normalise_rows(self._add_seeds(words), 0.0)
        mix = normalise_mix(stats.cluster_node_count, make_uniform_mix(self.path_mask))
        if self.node_mix == "fixed" and self.fixed_mix is not None:
            mix = self.fixed_mix
        prior, sums = stats.cluster_count / max(stats.cluster_count.sum(), TINY), stats.direction_sum
        means = None if self.vector_model is None or sums is None else self.vector_model.means(sums)
        return Params(words, mix, prior, means)

    def log_prior(self, shared: Params) -> float:
        """Return Σ_a tokens(a) Σ_w P(w) log P(w|a), plus the log-priors of seeds and directions."""
        total = 0.0
        if self.collection is not None and self.prior_tokens is not None:
            total += self.engine.weighted_logs(shared.word_given_node, self.prior_tokens, self.collection)
        total += self._word_prior(shared.word_given_node, 0.0)
        if self.vector_model is not None and shared.directions is not None:
            total += self.vector_model.log_prior(shared.directions)
        return total

    def fold_in(
        self, shared: Params, rows: CountsView, inverse_temperature: float = 1.0, vectors: Floats | None = None
    ) -> Floats:
        """(C1) and (V1): return P(c|d) of each document, independent of the others."""
        words = self.class_word_table(shared)
        return self._compute_posterior(shared, words, rows, inverse_temperature, vectors)[0]

    def _compute_posterior(
        self, shared: Params, words: Floats, rows: CountsView, inverse_temperature: float, vectors: Floats | None
    ) -> tuple[Floats, float]:
        """Return P(cluster | document) from words and vectors, and the log-likelihood."""
        scores = self.engine.row_products(rows, self.engine.logarithms(words))
        if vectors is not None and self.vector_model is not None and shared.directions is not None:
            scores = add_agreement(self.engine, scores, vectors, shared.directions, self.vector_model.concentration)
        prior = np.log(np.maximum(shared.cluster_prior, TINY))
        return self.engine.posteriors(scores, prior, inverse_temperature)

    def class_word_table(self, shared: Params) -> Floats:
        """Return P(w|c) = Σ_a P(a|c) P(w|a), (n_words, n_clusters)."""
        return self.engine.sum_along_paths(shared.word_given_node, self._paths(shared))

    def evaluate_heldout(
        self, shared: Params, block: Block, local: Floats | None = None, inverse_temperature: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Return P(c|d) of a block, and the log-likelihood of each document's held-out tokens."""
        if block.heldout is None:
            raise ValueError("evaluation requires held-out counts: Block(training, heldout)")
        words = self.class_word_table(shared)
        rows, _ = self._compute_posterior(shared, words, block.training.rows, inverse_temperature, block.vectors)
        return rows, self.engine.log_likelihoods(block.heldout.rows, rows, words)

    def stream_stats(self, shared: Params, block: Block) -> Stats:
        """Return the statistics of a batch, see ``online.Learner``."""
        return self.e_step(shared, block)[0]

    def _paths(self, shared: Params) -> Paths:
        return self._pairs.paths(shared.node_given_cluster, shared.word_given_node.dtype)

    @cached_property
    def _pairs(self) -> PathPairs:
        return PathPairs.from_mask(self.path_mask)
