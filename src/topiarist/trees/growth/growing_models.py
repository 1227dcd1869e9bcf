"""The cluster-abstraction model as a growing model, and what all growing models share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.execution.executors import Executor, InProcess
from topiarist.models import cam, em
from topiarist.models.directions import Directions, sum_vectors, vector_log_likelihood
from topiarist.models.engine import CountsView, tables
from topiarist.models.engine.host import Engine
from topiarist.models.path_models import Seeds
from topiarist.trees.growth.loop import Stage
from topiarist.trees.growth.parts import GrowthState, Split, create_single_node, divide
from topiarist.trees.growth.stored_documents import StoredDocuments
from topiarist.trees.tree_model import TreeModel

PERTURBATION = 0.1
LARGE_TREE = 32  # classes


@dataclass(frozen=True)
class Steps:
    """Limits of EM steps during and after growth.

    In a large tree a split moves few documents, and more steps only let leaves drift away from their documents: with
    two of them held-out tokens are predicted better than with eight.
    """

    growing: int = 8
    last: int = 20
    growing_tol: float = 5e-4  # nats per token: loose, because the next split changes everything again
    tol: float = 1e-5
    large: int = 2  # replaces ``growing`` above ``LARGE_TREE`` classes
    last_large: int = 20  # limit of ``last`` above ``LARGE_TREE`` classes, where documents hardly move any more

    def get_limits(self, n_classes: int, *, last: bool = False) -> tuple[int, float]:
        """Return the maximum number of steps, and the gain below which they end."""
        if last:
            return (min(self.last, self.last_large) if n_classes > LARGE_TREE else self.last), self.tol
        return (self.large if n_classes > LARGE_TREE else self.growing), self.growing_tol


class TrainingDocuments:
    """Documents of a growing model: a block in memory, or a sample of documents in files."""

    engine: Engine
    block: Any
    executor: Any
    collection: Array  # P(w)
    stored: StoredDocuments | None  # all documents, in files, where those of the block are drawn from them

    @cached_property
    def tokens(self) -> float:
        """Number of training tokens of all documents."""
        return _count_tokens(self.block.training) if self.stored is None else self.stored.tokens

    @cached_property
    def heldout_tokens(self) -> float:
        """Number of held-out tokens of all documents."""
        return _count_tokens(self.block.heldout) if self.stored is None else self.stored.heldout_tokens

    def charge(self, parts: GrowthState) -> float:
        """Return the charge per held-out token; see ``compute_charge``."""
        return compute_charge(self.heldout_tokens, parts)

    @property
    def documents_per_row(self) -> float:
        """Number of documents that each document of the block represents."""
        return 1.0 if self.stored is None else self.stored.documents_per_row

    @property
    def blocks(self) -> list[Any]:
        """Blocks of all documents."""
        return [self.block] if self.stored is None else list(self.stored.blocks)

    def create_single_node(self) -> GrowthState:
        """Return all documents in one class with the words of the collection."""
        rows = self.block.training.rows
        return create_single_node(self.collection.astype(rows.data.dtype), rows.n_rows, self.documents_per_row)

    def class_tables(self, parts: GrowthState) -> tuple[Any, Any]:
        """Return word counts and document frequencies of the classes; see ``Engine.class_tables``."""
        return self.engine.class_tables(self.block.training, parts.class_given_doc)

    def count_start_tokens(self) -> float:
        """Return the tokens of the collection's words that each half has at the start, so that none is impossible."""
        return 3.0

    def estimate_words(self, documents: Array) -> Array:
        """Return P(w) in some documents, smoothed by the collection."""
        words: Array = tables.to_numpy(self.estimate_group_words([documents]))[0]
        return words

    def estimate_group_words(self, groups: Sequence[Array]) -> Any:
        """Return P(w) of several groups of documents, one row per group."""
        return self.engine.group_words(self.block.training, groups, self.collection, self.count_start_tokens())

    @property
    def block_executor(self) -> Executor:
        """Executor that computes the blocks."""
        return self.executor or (self.engine.executor if self.stored is None else InProcess())

    def to_device(self, state: em.State) -> em.State:
        """Move start parameters to the device, unless documents are files, whose blocks are moved one by one."""
        return self.engine.to_device(state) if self.stored is None else state


@dataclass(frozen=True)
class CamGrowingModel(TrainingDocuments):
    """The cluster-abstraction model with its documents.

    ``prior_tokens`` pseudo-counts of the collection's words are added to each node, and at the root ``root_prior``
    times as many as the collection has tokens.
    """

    engine: Engine
    block: cam.Block  # training and held-out tokens, weighted
    collection: Array  # P(w)
    rng: np.random.Generator
    prior_tokens: float = 3.0
    root_prior: float = 0.1
    levels: bool = True  # False: all words come from the leaf (flat distributional clustering)
    steps: Steps = Steps()
    executor: Any = None
    watch: Callable[[em.Loop], None] | None = None
    seeds: Mapping[int, Sequence[int]] = field(default_factory=dict)  # columns of seed words by node
    joined: Directions | None = None  # weight of the vectors of the block, relative to words
    stored: StoredDocuments | None = None  # all documents, in files, where those of the block are drawn from them

    def count_start_tokens(self) -> float:
        """Return the prior tokens of a node, or a few."""
        return max(self.prior_tokens, 1e-3)

    def split(self, parts: GrowthState, splits: tuple[Split, ...]) -> GrowthState:
        """Return start parameters for halves: with the words of their documents, or perturbed copies of the parent."""
        halves = [half for split in splits for half in split.halves or ()]
        if splits and len(halves) == 2 * len(splits):
            words = self.estimate_group_words(halves)
        else:
            words = np.concatenate(
                [np.zeros((0, len(self.collection))), *(self._make_half_words(parts, s) for s in splits)]
            )
        split_parts = divide(parts, splits, words)
        return split_parts if self.levels else flatten_paths(split_parts)

    def _make_half_words(self, parts: GrowthState, split: Split) -> Array:
        """Return start words of both halves of a split: of their documents, or with random noise."""
        if split.halves is not None:
            return tables.to_numpy(self.estimate_group_words(split.halves))
        node_words = tables.to_numpy(tables.take_rows(parts.word_given_node, [parts.class_nodes[split.index]]))[0]
        words = node_words * np.exp(PERTURBATION * self.rng.standard_normal((2, len(node_words)), dtype=np.float32))
        scaled: Array = words / words.sum(axis=1, keepdims=True)
        return scaled

    def model(self, parts: GrowthState, node_mix: cam.NodeMix = "heldout") -> cam.Cam:
        """Return the model on the tree of the state."""
        prior = np.full(len(parts.tree), self.prior_tokens)
        prior[parts.tree.root] += self.root_prior * self.tokens
        node_mix = node_mix if self.levels else "fixed"
        seeds = make_seeds(self.seeds, parts, self.block.training.rows)
        return cam.Cam(
            self.engine, parts.path_mask, node_mix, self.collection, prior, parts.node_given_class, seeds, self.joined,
            keeps_rows=False,
        )  # fmt: skip

    def state(self, parts: GrowthState) -> em.State:
        """Return parameters as EM takes them; directions are means of the documents of each class.

        Rows follow from the parameters and are not stored.
        """
        shared = make_cam_params(parts)
        if self.joined is not None and self.block.vectors is not None:
            sums = sum_vectors(self.engine, parts.class_given_doc, self.block.vectors)
            shared = replace(shared, directions=self.joined.means(sums))
        rows = (None,) if self.stored is None else self.stored.new_rows(parts.n_classes)
        return em.State(shared, rows)

    def fit(self, parts: GrowthState, inverse_temperature: float, *, last: bool = False) -> Stage:
        """Run EM over the whole tree and evaluate it; see ``loop.GrowingModel``."""
        model = self.model(parts)
        steps, tol = self.steps.get_limits(parts.n_classes, last=last)
        rules = em.Rules(steps, tol, self.tokens, accelerate=False)
        fit = em.run(
            model, self.blocks, self.to_device(self.state(parts)), rules, watch=self.watch,
            inverse_temperature=inverse_temperature, executor=self.block_executor,
        )  # fmt: skip
        shared = fit.state.shared if self.stored is None else self.engine.to_host(fit.state.shared)
        parts = replace(parts, word_given_node=shared.word_given_node, node_given_class=shared.node_given_cluster)
        stage = self.evaluate(parts, inverse_temperature, shared)
        return replace(stage, objectives=fit.objectives, stopped=fit.reason)

    def evaluate(self, parts: GrowthState, inverse_temperature: float, shared: cam.Params | None = None) -> Stage:
        """Compute posteriors and the score for fixed parameters, without EM."""
        model, shared = self.model(parts), shared or self.state(parts).shared
        if self.stored is not None:
            none_kept = self.stored.new_rows(parts.n_classes)
            score = self.stored.evaluate(model, shared, none_kept, inverse_temperature, self.block_executor)
            charge = self.charge(parts) if self.levels else 0.0
            parts = replace(parts, class_given_doc=score.rows.astype(parts.word_given_node.dtype))
            return Stage(parts, score.total, charge, inverse_temperature, by_document=score.by_document)
        shared = self.engine.to_device(shared)
        if self.heldout_tokens:
            rows, likelihoods = model.evaluate_heldout(shared, self.block, None, inverse_temperature)
            likelihoods = likelihoods / self.heldout_tokens
        else:
            rows = model.fold_in(shared, self.block.training.rows, inverse_temperature, self.block.vectors)
            likelihoods = np.zeros(0)
        parts = replace(parts, word_given_node=shared.word_given_node, class_given_doc=rows)
        charge = self.charge(parts) if self.levels else 0.0
        score = self._vector_log_likelihood(rows, shared)
        return Stage(
            parts, float(likelihoods.sum()), charge, inverse_temperature,
            by_document=likelihoods + score if self.heldout_tokens else likelihoods, vectors=float(score.sum()),
        )  # fmt: skip

    def _vector_log_likelihood(self, rows: Array, shared: cam.Params) -> Any:
        """Return each document's log-likelihood of its vector, per token of the collection; 0 without vectors."""
        if self.joined is None or self.block.vectors is None or shared.directions is None:
            return np.float64(0.0)
        likelihoods = vector_log_likelihood(self.engine, rows, self.block.vectors, shared.directions, self.joined)
        return likelihoods / max(self.tokens, 1.0)


def make_seeds(words: Mapping[int, Sequence[int]], parts: GrowthState, rows: CountsView) -> Seeds | None:
    """Return pseudo-counts of seed words by node, in proportion to the tokens under each node; None without seeds."""
    if not words:
        return None
    tokens = compute_lengths(rows) @ tables.to_numpy(parts.class_given_doc).astype(np.float64) @ parts.path_mask
    return Seeds.from_words(words, tokens * parts.documents_per_row)


def compute_lengths(rows: CountsView) -> Array:
    """Return n(d), the tokens of each document."""
    running = np.concatenate([[0.0], np.cumsum(rows.data, dtype=np.float64)])
    lengths: Array = np.diff(running[rows.indptr])
    return lengths


def make_cam_params(tree: TreeModel | GrowthState) -> cam.Params:
    """Return the parameters of a tree as the cluster-abstraction model takes them."""
    return cam.Params(tree.word_given_node, tree.node_given_class, tree.class_prior)


def flatten_paths(parts: GrowthState) -> GrowthState:
    """Return the state with all weight of every path at its leaf."""
    mix = np.zeros_like(parts.node_given_class)
    mix[np.arange(parts.n_classes), parts.class_nodes] = 1.0
    return replace(parts, node_given_class=mix)


def compute_heldout_likelihoods(shard: Any, log_likelihoods: Callable[[CountsView], Array]) -> Array:
    """Return each document's contribution to the log-likelihood per held-out token; empty without these."""
    tokens = _count_tokens(shard)
    return log_likelihoods(shard.rows) / tokens if tokens else np.zeros(0)


def compute_charge(tokens: float, parts: GrowthState) -> float:
    """Return one nat for each free path weight, divided by the number of held-out tokens."""
    free = int(np.count_nonzero(parts.path_mask)) - parts.n_classes
    return free / tokens if tokens else 0.0


def _count_tokens(shard: Any) -> float:
    return float(shard.rows.data.sum(dtype=np.float64)) if shard is not None else 0.0
