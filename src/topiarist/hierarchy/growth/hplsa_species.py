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
from topiarist.hierarchy.growth.parts import Parts, Split, divide, seedling
from topiarist.hierarchy.growth.species import (
    PERTURBATION,
    HasDocuments,
    Steps,
    heldout_likelihoods,
    lengths_of,
    seeds_under,
)
from topiarist.hierarchy.growth.stored_documents import StoredDocuments
from topiarist.hierarchy.growth.stored_rows import StoredRows
from topiarist.hierarchy.tree_model import TreeTopics
from topiarist.models import em, hplsa
from topiarist.models.engine import tables
from topiarist.models.engine.host import Engine

START_TOKENS = 3.0  # of the collection's words, so that no word is impossible in a half from the start


def hplsa_params(tree: TreeTopics) -> hplsa.Params:
    """A tree as the hierarchical model takes it."""
    return hplsa.Params(tree.word_given_node, tree.node_given_class)


@dataclass(frozen=True)
class HplsaSpecies(HasDocuments):
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
    stored: StoredDocuments | None = None  # all documents, in files, where those of the block are drawn from them

    @property
    def blocks(self) -> list[hplsa.Block]:
        """All documents."""
        if self.stored is None:
            return [self.block]
        return [hplsa.Block(block.training, block.heldout) for block in self.stored.blocks]

    def seedling(self) -> Parts:
        """All documents in one class, which speaks as the collection does."""
        rows = self.block.training.rows
        return seedling(self.collection.astype(rows.data.dtype), rows.n_rows, self.each)

    def class_tables(self, parts: Parts) -> tuple[Any, Any]:
        """See ``Engine.class_tables``."""
        return self.engine.class_tables(self.block.training, parts.class_given_doc)

    def divided(self, parts: Parts, splits: tuple[Split, ...]) -> Parts:
        """Each half speaks as its documents do; where chance decides, as its parent, and the documents are perturbed.

        Then P(α) goes to the halves in equal parts, P(i|α) is disturbed for each of them.
        """
        words = np.concatenate([parts.word_given_node[:0], *(self._half_words(parts, split) for split in splits)])
        divided = divide(parts, splits, words)
        rows = divided.class_given_doc
        for number, split in enumerate(splits):
            if split.halves is None:
                both = [split.index, parts.n_classes + number]
                rows[:, both] = self._disturbed(rows[:, both])
        total = rows.sum(axis=1, keepdims=True, dtype=np.float64)
        rows /= np.where(total > 0, total, 1.0).astype(rows.dtype)
        return divided

    def model(self, parts: Parts) -> hplsa.Hplsa:
        """The model on the tree of these parameters; without held-out tokens P(ν|α) stays where those have put it."""
        seed = int(self.rng.integers(2**31)) if self.variant == "sem" else 0
        fixed = self.topic_mix == "heldout" and self.blocks[0].heldout is None
        return hplsa.Hplsa(
            self.engine, parts.path_mask, self.word_smoothing, self.class_smoothing,
            "fixed" if fixed else self.topic_mix, self.variant, seed, parts.node_given_class if fixed else None,
            seeds_under(self.seeds, parts, self.block.training.rows),
        )  # fmt: skip

    def state(self, parts: Parts) -> em.State:
        """Parameters as EM takes them."""
        rows = (parts.class_given_doc,) if self.stored is None else self.stored.rows(parts, self.place)
        return em.State(hplsa_params(parts), rows)

    def words_of(self, documents: Array) -> Array:
        """P(j) in some documents, and a little of the collection."""
        return self._words_of([documents])[0]

    def _words_of(self, groups: Sequence[Array]) -> list[Array]:
        words = self.engine.group_words(self.block.training, groups, self.collection, START_TOKENS)
        return list(tables.at_home(words))

    def fitted(self, parts: Parts, inverse_temperature: float, *, last: bool = False) -> Stage:
        """See ``growth.Species``."""
        model = self.model(parts)
        rules = em.Rules(self.steps.growing, -math.inf, self.tokens, accelerate=False)
        if last:
            rules = em.Rules(self.steps.last, self.steps.tol, self.tokens, accelerate=model.monotone)
        fit = em.run(
            model, self.blocks, self.begun(self.state(parts)), rules, watch=self.watch,
            inverse_temperature=inverse_temperature, executor=self.place,
        )  # fmt: skip
        state = self.engine.to_host(fit.state)
        parts = replace(
            parts, word_given_node=state.shared.word_given_topic, node_given_class=state.shared.topic_given_class
        )
        stage = self._judged(parts, state, inverse_temperature)
        return replace(stage, objectives=fit.objectives, stopped=fit.reason)

    def judged(self, parts: Parts, inverse_temperature: float) -> Stage:
        """See ``growth.Species``."""
        return self._judged(parts, self.state(parts), inverse_temperature)

    def _judged(self, parts: Parts, state: em.State, inverse_temperature: float) -> Stage:
        """The same, where the rows of all documents are known."""
        model = self.model(parts)
        if self.stored is not None:
            told = self.stored.judged(model, state.shared, state.local, inverse_temperature, self.place)
            rows, total, likelihoods = told.rows.astype(parts.word_given_node.dtype), told.total, told.by_document
            if self.each != 1.0:  # else those of the drawn are all
                parts = replace(parts, stored=StoredRows.of(state.local, parts.n_classes))
        else:
            (rows,) = state.local
            likelihoods = heldout_likelihoods(
                self.block.heldout, lambda side: model.log_likelihoods(state.shared, side, rows)
            )
            total = float(likelihoods.sum())
        parts = replace(parts, class_given_doc=rows)
        charge = self.charge(parts) if model.topic_mix == "heldout" else 0.0
        return Stage(parts, total, charge, inverse_temperature, by_document=likelihoods)

    @cached_property
    def collection(self) -> Array:
        """P(j); nowhere zero where the prior forbids it."""
        count = self.block.training.word_totals() if self.stored is None else self.stored.word_totals(self.place)
        count = count + max(self.word_smoothing, 1e-9)
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
        return np.stack(self._words_of(split.halves))

    def _disturbed(self, shares: Array) -> Array:
        """The share of each document in two halves, up to a factor for each document, which (H3) does not see."""
        noise = np.exp(PERTURBATION * self.rng.standard_normal(shares.shape))
        tokens = self.lengths[:, None] * shares
        disturbed = (tokens * noise).sum(axis=0)
        noise *= np.where(disturbed > 0, tokens.sum(axis=0) / np.where(disturbed > 0, disturbed, 1.0), 1.0)
        halves: Array = shares * noise.astype(shares.dtype)
        return halves
