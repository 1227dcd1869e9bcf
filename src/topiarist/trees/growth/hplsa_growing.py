"""Hierarchical latent classes as a growing model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.models import em, hplsa
from topiarist.models.engine import tables
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.growing_models import (
    PERTURBATION,
    Steps,
    TrainingDocuments,
    compute_heldout_likelihoods,
    compute_lengths,
    make_seeds,
)
from topiarist.trees.growth.loop import Stage
from topiarist.trees.growth.parts import GrowthState, Split, StoredRows, divide
from topiarist.trees.growth.stored_documents import StoredDocuments
from topiarist.trees.tree_model import TreeTopics


def make_hplsa_params(tree: TreeTopics) -> hplsa.Params:
    """Return the parameters of a tree as the hierarchical model takes them."""
    return hplsa.Params(tree.word_given_node, tree.node_given_class)


@dataclass(frozen=True)
class HplsaGrowingModel(TrainingDocuments):
    """The hierarchical model with its documents; for ``topic_mix``, ``variant`` and smoothing see ``hplsa.Hplsa``.

    During growth, EM takes all its steps: at a fresh split its gain is too small to distinguish it from convergence.
    """

    engine: Engine
    block: hplsa.Block  # training and held-out tokens
    rng: np.random.Generator
    topic_mix: hplsa.TopicMix = "ml"
    variant: hplsa.Variant = "em"
    word_smoothing: float = 0.0
    class_smoothing: float = 0.0
    steps: Steps = field(default_factory=Steps)
    executor: Any = None
    watch: Callable[[em.Loop], None] | None = None
    seeds: Mapping[int, Sequence[int]] = field(default_factory=dict)  # columns of seed words by topic
    stored: StoredDocuments | None = None  # all documents in files, if the block is a sample of them

    @property
    def blocks(self) -> list[hplsa.Block]:
        """Blocks of all documents."""
        return [hplsa.Block(block.training, block.heldout) for block in super().blocks]

    def split(self, parts: GrowthState, splits: tuple[Split, ...]) -> GrowthState:
        """Return start parameters for halves: with the words of their documents, or perturbed copies of the parent.

        Without known halves, each gets half of P(α), and P(i|α) is perturbed.
        """
        words = np.concatenate(
            [parts.word_given_node[:0], *(self._estimate_half_words(parts, split) for split in splits)]
        )
        split_parts = divide(parts, splits, words)
        rows = split_parts.class_given_doc
        for number, split in enumerate(splits):
            if split.halves is None:
                classes = [split.index, parts.n_classes + number]
                rows[:, classes] = self._perturb_shares(rows[:, classes])
        total = rows.sum(axis=1, keepdims=True, dtype=np.float64)
        rows /= np.where(total > 0, total, 1.0).astype(rows.dtype)
        return split_parts

    def model(self, parts: GrowthState) -> hplsa.Hplsa:
        """Return the model on the tree of the state; without held-out tokens P(ν|α) stays fixed."""
        seed = int(self.rng.integers(2**31)) if self.variant == "sem" else 0
        fixed = self.topic_mix == "heldout" and self.blocks[0].heldout is None
        return hplsa.Hplsa(
            self.engine, parts.path_mask, self.word_smoothing, self.class_smoothing,
            "fixed" if fixed else self.topic_mix, self.variant, seed, parts.node_given_class if fixed else None,
            make_seeds(self.seeds, parts, self.block.training.rows),
        )  # fmt: skip

    def state(self, parts: GrowthState) -> em.State:
        """Return parameters as EM takes them."""
        rows = (parts.class_given_doc,) if self.stored is None else self.stored.rows(parts, self.block_executor)
        return em.State(make_hplsa_params(parts), rows)

    def fit(self, parts: GrowthState, inverse_temperature: float, *, last: bool = False) -> Stage:
        """Run EM over the whole tree and evaluate it; see ``loop.GrowingModel``."""
        model = self.model(parts)
        rules = em.Rules(self.steps.growing, -math.inf, self.tokens, accelerate=False)
        if last:
            rules = em.Rules(self.steps.last, self.steps.tol, self.tokens, accelerate=model.is_monotone)
        fit = em.run(
            model, self.blocks, self.to_device(self.state(parts)), rules, watch=self.watch,
            inverse_temperature=inverse_temperature, executor=self.block_executor,
        )  # fmt: skip
        state = self.engine.to_host(fit.state)
        parts = replace(
            parts, word_given_node=state.shared.word_given_topic, node_given_class=state.shared.topic_given_class
        )
        stage = self._evaluate_state(parts, state, inverse_temperature)
        return replace(stage, objectives=fit.objectives, stopped=fit.reason)

    def evaluate(self, parts: GrowthState, inverse_temperature: float) -> Stage:
        """Evaluate parameters without EM; see ``loop.GrowingModel``."""
        return self._evaluate_state(parts, self.state(parts), inverse_temperature)

    def _evaluate_state(self, parts: GrowthState, state: em.State, inverse_temperature: float) -> Stage:
        """Evaluate parameters whose posteriors are known for all documents."""
        model = self.model(parts)
        if self.stored is not None:
            score = self.stored.evaluate(model, state.shared, state.local, inverse_temperature, self.block_executor)
            rows, total, likelihoods = score.rows.astype(parts.word_given_node.dtype), score.total, score.by_document
            if self.documents_per_row != 1.0:  # otherwise all documents are drawn
                parts = replace(parts, stored=StoredRows.without_changes(state.local, parts.n_classes))
        else:
            (rows,) = state.local
            likelihoods = compute_heldout_likelihoods(
                self.block.heldout, lambda side: model.log_likelihoods(state.shared, side, rows)
            )
            total = float(likelihoods.sum())
        parts = replace(parts, class_given_doc=rows)
        charge = self.charge(parts) if model.topic_mix == "heldout" else 0.0
        return Stage(parts, total, charge, inverse_temperature, by_document=likelihoods)

    @cached_property
    def collection(self) -> Array:  # type: ignore[override]  # it is computed once
        """P(j) of the collection, above zero if the prior requires it."""
        count = (
            self.block.training.word_totals() if self.stored is None else self.stored.word_totals(self.block_executor)
        )
        count = count + max(self.word_smoothing, 1e-9)
        words: Array = count / count.sum()
        return words

    @cached_property
    def lengths(self) -> Array:
        """Number of tokens n(i) of each document."""
        return compute_lengths(self.block.training.rows)

    def _estimate_half_words(self, parts: GrowthState, split: Split) -> Array:
        """Return the words of the two halves, (2, n_words)."""
        if split.halves is None:
            node_words: Array = parts.word_given_node[[parts.class_nodes[split.index]] * 2]
            return node_words
        words: Array = tables.to_numpy(self.estimate_group_words(split.halves))
        return words

    def _perturb_shares(self, shares: Array) -> Array:
        """Perturb the shares of two halves, up to a factor for each document that does not affect (H3)."""
        noise = np.exp(PERTURBATION * self.rng.standard_normal(shares.shape))
        tokens = self.lengths[:, None] * shares
        perturbed_tokens = (tokens * noise).sum(axis=0)
        noise *= np.where(
            perturbed_tokens > 0, tokens.sum(axis=0) / np.where(perturbed_tokens > 0, perturbed_tokens, 1.0), 1.0
        )
        halves: Array = shares * noise.astype(shares.dtype)
        return halves
