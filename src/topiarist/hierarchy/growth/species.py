"""The models as things that grow: start parameters for halves, EM over a tree, held-out likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.loop import Stage
from topiarist.hierarchy.growth.parts import Parts, Split, divide, seedling
from topiarist.hierarchy.growth.stored_documents import StoredDocuments
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.models import cam, em
from topiarist.models.directions import Directions, foretold, sums_of
from topiarist.models.engine import Side, tables
from topiarist.models.engine.host import Engine
from topiarist.models.seeds import Seeds
from topiarist.scale.executors import Executor, InProcess

PERTURBATION = 0.1
LARGE = 32  # classes


@dataclass(frozen=True)
class Steps:
    """How long EM runs while the tree grows, and at its end.

    In a large tree a split moves few documents, and more steps only let leaves wander from what they were made for:
    with two of them held-out tokens are predicted better than with eight.
    """

    growing: int = 8
    last: int = 20
    growing_tol: float = 5e-4  # nats a token: the next split will move everything again
    tol: float = 1e-5
    large: int = 2  # instead of ``growing``, where there are more than ``LARGE`` classes
    last_large: int = 20  # instead of a larger ``last``, there: documents have found their places by then

    def of(self, n_classes: int, *, last: bool = False) -> tuple[int, float]:
        """Steps at most, and the gain below which they end."""
        if last:
            return (min(self.last, self.last_large) if n_classes > LARGE else self.last), self.tol
        return (self.large if n_classes > LARGE else self.growing), self.growing_tol


class HasDocuments:
    """What models that grow share: their documents, which are a block in memory or drawn from files."""

    engine: Engine
    block: Any
    executor: Any
    stored: StoredDocuments | None  # all documents, in files, where those of the block are drawn from them

    @cached_property
    def tokens(self) -> float:
        """That all documents have to learn from."""
        return _tokens(self.block.training) if self.stored is None else self.stored.tokens

    @cached_property
    def heldout_tokens(self) -> float:
        """That judge, of all documents."""
        return _tokens(self.block.heldout) if self.stored is None else self.stored.heldout_tokens

    def charge(self, parts: Parts) -> float:
        """See ``charged``."""
        return charged(self.heldout_tokens, parts)

    @property
    def each(self) -> float:
        """Documents that each one of the block stands for."""
        return 1.0 if self.stored is None else self.stored.each

    @property
    def place(self) -> Executor:
        """Where blocks are computed."""
        return self.executor or (self.engine.executor if self.stored is None else InProcess())

    def begun(self, state: em.State) -> em.State:
        """Parameters where EM begins: on the device, unless documents are files that come there one by one."""
        return self.engine.to_device(state) if self.stored is None else state


@dataclass(frozen=True)
class CamSpecies(HasDocuments):
    """The cluster-abstraction model with its documents.

    ``prior_tokens`` pseudo-tokens of the collection's words are added to each node, and at the root ``root_prior``
    times as many as the collection has.
    """

    engine: Engine
    block: cam.Block  # training and held-out tokens, weighted
    collection: Array  # P(w)
    rng: np.random.Generator
    prior_tokens: float = 3.0
    root_prior: float = 0.1
    levels: bool = True  # False: every word comes from the leaf, which is flat distributional clustering
    steps: Steps = Steps()
    executor: Any = None
    watch: Callable[[em.Loop], None] | None = None
    seeds: Mapping[int, Sequence[int]] = field(default_factory=dict)  # columns of words that belong to nodes
    joined: Directions | None = None  # how the vectors of the block weigh beside words
    stored: StoredDocuments | None = None  # all documents, in files, where those of the block are drawn from them

    @property
    def blocks(self) -> list[cam.Block]:
        """All documents."""
        return [self.block] if self.stored is None else list(self.stored.blocks)

    def seedling(self) -> Parts:
        """All documents in one cluster, which speaks as the collection does."""
        rows = self.block.training.rows
        return seedling(self.collection.astype(rows.data.dtype), rows.n_rows, self.each)

    def class_tables(self, parts: Parts) -> tuple[Any, Any]:
        """See ``Engine.class_tables``."""
        return self.engine.class_tables(self.block.training, parts.class_given_doc)

    def divided(self, parts: Parts, splits: tuple[Split, ...]) -> Parts:
        """Each half speaks as its documents do; where chance decides, as its parent but for a perturbation."""
        halves = [half for split in splits for half in split.halves or ()]
        if splits and len(halves) == 2 * len(splits):
            words = self._words_of(halves)
        else:
            words = np.concatenate([np.zeros((0, len(self.collection))), *(self._guessed(parts, s) for s in splits)])
        divided = divide(parts, splits, words)
        return divided if self.levels else flattened(divided)

    def _guessed(self, parts: Parts, split: Split) -> Array:
        if split.halves is not None:
            return tables.at_home(self._words_of(split.halves))
        own = tables.at_home(tables.rows(parts.word_given_node, [parts.class_nodes[split.index]]))[0]
        words = own * np.exp(PERTURBATION * self.rng.standard_normal((2, len(own)), dtype=np.float32))
        scaled: Array = words / words.sum(axis=1, keepdims=True)
        return scaled

    def words_of(self, documents: Array) -> Array:
        """P(w) in some documents, with the prior."""
        words: Array = tables.at_home(self._words_of([documents]))[0]
        return words

    def _words_of(self, groups: Sequence[Array]) -> Any:
        """The same of some groups of documents, one below the other."""
        return self.engine.group_words(self.block.training, groups, self.collection, max(self.prior_tokens, 1e-3))

    def model(self, parts: Parts, node_mix: cam.NodeMix = "heldout") -> cam.Cam:
        """The model on the tree of these parameters."""
        prior = np.full(len(parts.tree), self.prior_tokens)
        prior[parts.tree.root] += self.root_prior * self.tokens
        node_mix = node_mix if self.levels else "fixed"
        seeds = seeds_under(self.seeds, parts, self.block.training.rows)
        return cam.Cam(
            self.engine, parts.path_mask, node_mix, self.collection, prior, parts.node_given_class, seeds, self.joined,
            keeps_rows=False,
        )  # fmt: skip

    def state(self, parts: Parts) -> em.State:
        """Parameters as EM takes them; directions are where the documents of each class are.

        Rows follow from the parameters, and nobody keeps them.
        """
        shared = cam_params(parts)
        if self.joined is not None and self.block.vectors is not None:
            sums = sums_of(self.engine, parts.class_given_doc, self.block.vectors)
            shared = replace(shared, directions=self.joined.means(sums))
        rows = (None,) if self.stored is None else self.stored.new_rows(parts.n_classes)
        return em.State(shared, rows)

    def fitted(self, parts: Parts, inverse_temperature: float, *, last: bool = False) -> Stage:
        """See ``growth.Species``."""
        model = self.model(parts)
        steps, tol = self.steps.of(parts.n_classes, last=last)
        rules = em.Rules(steps, tol, self.tokens, accelerate=False)
        fit = em.run(
            model, self.blocks, self.begun(self.state(parts)), rules, watch=self.watch,
            inverse_temperature=inverse_temperature, executor=self.place,
        )  # fmt: skip
        shared = fit.state.shared if self.stored is None else self.engine.to_host(fit.state.shared)
        parts = replace(parts, word_given_node=shared.word_given_node, node_given_class=shared.node_given_cluster)
        stage = self.judged(parts, inverse_temperature, shared)
        return replace(stage, objectives=fit.objectives, stopped=fit.reason)

    def judged(self, parts: Parts, inverse_temperature: float, shared: cam.Params | None = None) -> Stage:
        """See ``growth.Species``; posteriors follow from the parameters."""
        model, shared = self.model(parts), shared or self.state(parts).shared
        if self.stored is not None:
            none_kept = self.stored.new_rows(parts.n_classes)
            told = self.stored.judged(model, shared, none_kept, inverse_temperature, self.place)
            charge = self.charge(parts) if self.levels else 0.0
            parts = replace(parts, class_given_doc=told.rows.astype(parts.word_given_node.dtype))
            return Stage(parts, told.total, charge, inverse_temperature, by_document=told.by_document)
        shared = self.engine.to_device(shared)
        if self.heldout_tokens:
            rows, likelihoods = model.judged(shared, self.block, None, inverse_temperature)
            likelihoods = likelihoods / self.heldout_tokens
        else:
            rows = model.fold_in(shared, self.block.training.rows, inverse_temperature, self.block.vectors)
            likelihoods = np.zeros(0)
        parts = replace(parts, word_given_node=shared.word_given_node, class_given_doc=rows)
        charge = self.charge(parts) if self.levels else 0.0
        told = self._told(rows, shared)
        return Stage(
            parts, float(likelihoods.sum()), charge, inverse_temperature,
            by_document=likelihoods + told, vectors=float(told.sum()),
        )  # fmt: skip

    def _told(self, rows: Array, shared: cam.Params) -> Any:
        """What each document adds to the likelihood of vectors, per token of the collection; 0 without vectors."""
        if self.joined is None or self.block.vectors is None or shared.directions is None:
            return np.float64(0.0)
        told = foretold(self.engine, rows, self.block.vectors, shared.directions, self.joined)
        return told / max(self.tokens, 1.0)


def seeds_under(words: Mapping[int, Sequence[int]], parts: Parts, rows: Side) -> Seeds | None:
    """Prior tokens of words by node, in proportion to the tokens of the documents that lie under each node now."""
    if not words:
        return None
    tokens = lengths_of(rows) @ tables.at_home(parts.class_given_doc).astype(np.float64) @ parts.path_mask
    return Seeds.of(words, tokens * parts.each)


def lengths_of(rows: Side) -> Array:
    """n(d), the tokens of each document."""
    running = np.concatenate([[0.0], np.cumsum(rows.data, dtype=np.float64)])
    lengths: Array = np.diff(running[rows.indptr])
    return lengths


def cam_params(tree: TreeModel | Parts) -> cam.Params:
    """A tree as the cluster-abstraction model takes it."""
    return cam.Params(tree.word_given_node, tree.node_given_class, tree.class_prior)


def flattened(parts: Parts) -> Parts:
    """All weight of every path at its leaf."""
    mix = np.zeros_like(parts.node_given_class)
    mix[np.arange(parts.n_classes), parts.class_nodes] = 1.0
    return replace(parts, node_given_class=mix)


def heldout_likelihoods(shard: Any, log_likelihoods: Callable[[Side], Array]) -> Array:
    """What each document adds to the log-likelihood per held-out token; nothing where there are none."""
    tokens = _tokens(shard)
    return log_likelihoods(shard.rows) / tokens if tokens else np.zeros(0)


def charged(tokens: float, parts: Parts) -> float:
    """A nat for each weight on a path that so many held-out tokens were free to choose, per held-out token."""
    free = int(np.count_nonzero(parts.path_mask)) - parts.n_classes
    return free / tokens if tokens else 0.0


def _tokens(shard: Any) -> float:
    return float(shard.rows.data.sum(dtype=np.float64)) if shard is not None else 0.0
