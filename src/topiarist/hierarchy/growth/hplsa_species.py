"""Hierarchical latent classes as a thing that grows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.loop import Stage
from topiarist.hierarchy.growth.parts import Parts, Split, divide, halved_shares, seedling
from topiarist.hierarchy.growth.species import (
    PERTURBATION,
    Steps,
    charged,
    heldout_likelihoods,
    lengths_of,
    seeds_under,
    sum_of_rows,
)
from topiarist.hierarchy.tree_model import TreeTopics
from topiarist.models import em, hplsa
from topiarist.models.engine.host import Engine

START_TOKENS = 3.0  # of the collection's words, so that no word is impossible in a half from the start


def hplsa_params(tree: TreeTopics) -> hplsa.Params:
    """A tree as the hierarchical model takes it."""
    return hplsa.Params(tree.word_given_node, tree.node_given_class)


@dataclass(frozen=True)
class HplsaSpecies:
    """The hierarchical model with its documents; for ``topic_mix``, ``variant`` and smoothing see ``hplsa.Hplsa``.

    While the tree grows EM takes all the steps it is given: at a fresh split it gains too little to tell that from
    convergence.
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
    seeds: Mapping[int, Sequence[int]] = field(default_factory=dict)  # columns of words that belong to topics

    def seedling(self) -> Parts:
        """All documents in one class, which speaks as the collection does."""
        rows = self.block.training.rows
        return seedling(self.collection.astype(rows.data.dtype), rows.n_rows)

    def divided(self, parts: Parts, splits: tuple[Split, ...]) -> Parts:
        """Each half speaks as its documents do; where chance decides, as its parent, and the documents are perturbed.

        Then P(α) goes to the halves in equal parts, P(i|α) is disturbed for each of them.
        """
        words = np.concatenate([parts.word_given_node[:0], *(self._half_words(parts, split) for split in splits)])
        shares = [self._half_shares(parts, split) for split in splits]
        divided = divide(parts, splits, words, np.concatenate([parts.class_given_doc[:, :0], *shares], axis=1))
        rows = divided.class_given_doc
        total = rows.sum(axis=1, keepdims=True, dtype=np.float64)
        rows /= np.where(total > 0, total, 1.0).astype(rows.dtype)
        return divided

    def model(self, parts: Parts) -> hplsa.Hplsa:
        """The model on the tree of these parameters; without held-out tokens P(ν|α) stays where those have put it."""
        seed = int(self.rng.integers(2**31)) if self.variant == "sem" else 0
        fixed = self.topic_mix == "heldout" and self.block.heldout is None
        return hplsa.Hplsa(
            self.engine, parts.path_mask, self.word_smoothing, self.class_smoothing,
            "fixed" if fixed else self.topic_mix, self.variant, seed, parts.node_given_class if fixed else None,
            seeds_under(self.seeds, parts, self.block.training.rows),
        )  # fmt: skip

    def state(self, parts: Parts) -> em.State:
        """Parameters as EM takes them."""
        return em.State(hplsa_params(parts), (parts.class_given_doc,))

    def words_of(self, documents: Array) -> Array:
        """P(j) in some documents, and a little of the collection."""
        rows = self.block.training.rows
        words = sum_of_rows(rows, documents, len(self.collection)) + START_TOKENS * self.collection
        scaled: Array = (words / words.sum()).astype(rows.data.dtype)
        return scaled

    def fitted(self, parts: Parts, inverse_temperature: float, *, last: bool = False) -> Stage:
        """See ``growth.Species``."""
        model = self.model(parts)
        tokens = float(self.block.training.rows.data.sum(dtype=np.float64))
        rules = em.Rules(self.steps.growing, -math.inf, tokens, accelerate=False)
        if last:
            rules = em.Rules(self.steps.last, self.steps.tol, tokens, accelerate=model.monotone)
        fit = em.run(
            model, [self.block], self.engine.to_device(self.state(parts)), rules, watch=self.watch,
            inverse_temperature=inverse_temperature, executor=self.executor or self.engine.executor,
        )  # fmt: skip
        shared = self.engine.to_host(fit.state.shared)
        parts = replace(
            parts,
            word_given_node=shared.word_given_topic,
            node_given_class=shared.topic_given_class,
            class_given_doc=self.engine.to_host(fit.state.local[0]),
        )
        stage = self.judged(parts, inverse_temperature)
        return replace(stage, objectives=fit.objectives, stopped=fit.reason)

    def judged(self, parts: Parts, inverse_temperature: float) -> Stage:
        """See ``growth.Species``."""
        model, state = self.model(parts), self.state(parts)
        likelihoods = heldout_likelihoods(
            self.block.heldout, lambda side: model.log_likelihoods(state.shared, side, parts.class_given_doc)
        )
        charge = charged(self.block.heldout, parts) if model.topic_mix == "heldout" else 0.0
        return Stage(parts, float(likelihoods.sum()), charge, inverse_temperature, by_document=likelihoods)

    @cached_property
    def collection(self) -> Array:
        """P(j); nowhere zero where the prior forbids it."""
        count = self.block.training.word_totals() + max(self.word_smoothing, 1e-9)
        words: Array = count / count.sum()
        return words

    @cached_property
    def lengths(self) -> Array:
        """n(i), the tokens of each document."""
        return lengths_of(self.block.training.rows)

    def _half_words(self, parts: Parts, split: Split) -> Array:
        """The words of the two halves, (2, n_words)."""
        if split.halves is None:
            own: Array = parts.word_given_node[[parts.class_nodes[split.index]] * 2]
            return own
        return np.stack([self.words_of(half) for half in split.halves])

    def _half_shares(self, parts: Parts, split: Split) -> Array:
        """The share of each document in the two halves, up to a factor for each document, which (H3) does not see."""
        shares = halved_shares(parts, split)
        if split.halves is not None:
            return shares
        noise = np.exp(PERTURBATION * self.rng.standard_normal(shares.shape))
        tokens = self.lengths[:, None] * shares
        disturbed = (tokens * noise).sum(axis=0)
        noise *= np.where(disturbed > 0, tokens.sum(axis=0) / np.where(disturbed > 0, disturbed, 1.0), 1.0)
        halves: Array = shares * noise.astype(shares.dtype)
        return halves
